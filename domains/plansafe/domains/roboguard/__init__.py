"""RoboGuard (Ravichandran et al., arXiv 2503.07885): semantic graphs of regions and objects, and plans as calls.

docs/home-worlds.md defines the calls. Rules are given with ``--ltl``, in the notation of the paper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from plansafe.domains import domain_path
from plansafe.domains.json_text import BadJson, read_json
from plansafe.domains.world import SCENE, Benchmark, FileRole, ForeignPlan, Request, Scene, no_scene, wrong_task
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span, suggest_name
from plansafe.grammar.source import Source

_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_CALL = re.compile(
    r"""(?P<open>[(\[]\s*["'])?(?P<action>[A-Za-z_]\w*)(?(open)["']\s*,?|\s*\()"""
    r"""\s*(?P<rest>(?:"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|[^"'()\[\]\n])*+)[)\]]"""
)
_NODE = re.compile(r"""\s*(?:[A-Za-z_]\w*\s*=\s*)?(["']?)([\w.-]+)\1\s*(?:,.*)?\Z""", re.DOTALL)
_NUMBERED = re.compile(r"\s*(?:\d+\s*[.):]|[-*])\s*")
_NODE_CALLS = ("goto", "map_region", "explore_region", "inspect")
_OTHER_CALLS = ("extend_map", "replan", "clarify", "answer")
_EXPECTED_CALLS = "a call of " + ", ".join(
    [*[f"{name}(NODE)" for name in _NODE_CALLS], *[f"{name}(..)" for name in _OTHER_CALLS]]
)
_START_KEY = "current_location"


class _Unreadable(Exception):
    """A graph that cannot be read; the message is the reason."""


def read_scene(request: Request) -> Scene:
    """Read a graph as a problem: its regions with their connections, and the objects in them."""
    file = request.files[SCENE]
    misnamed = wrong_task(request)
    if misnamed:
        return no_scene(*misnamed)
    first = Label(file.name, Span(0, min(1, len(file.text))))
    try:
        graph = read_json(file.text)
        regions, objects = _names(graph, "regions"), _names(graph, "objects")
        doubled = [name for name in objects if name in regions]
        if doubled or not regions:
            raise _Unreadable(f"`{doubled[0]}` is a region and an object" if doubled else "there are no `regions`")
        connections = _pairs(graph, "region_connections", (regions, regions))
        locations = _pairs(graph, "object_connections", (objects, regions))
        start = _start(graph, regions)
    except BadJson as error:
        label = Label(file.name, Span(error.position, min(error.position + 1, len(file.text))))
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, error.message, (label,)))
    except _Unreadable as error:
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, str(error), (first,)))
    with open(domain_path("roboguard"), encoding="utf-8") as shipped:
        domain = Source(shipped.name, shipped.read())
    problem = Source(f"{file.name} (as PDDL)", _problem(regions, objects, connections, locations, start))
    messages = []
    located = {item for item, _ in locations}
    unlocated = [name for name in objects if name not in located]
    if unlocated:
        messages.append(f"no region contains {', '.join(unlocated[:8])[:300]}: it cannot be inspected")
    if start is None:
        messages.append(f"`{_START_KEY}` is missing: the robot has no location and cannot move")
    ignored = [key for key in graph if key not in _KEYS]
    if ignored:
        messages.append(f"other parts of the graph are ignored: {', '.join(ignored[:8])[:300]}")
    notes = [Diagnostic(SC.FOREIGN_SCENE, message, (first,), severity=Severity.NOTE) for message in messages]
    return Scene(domain, problem, (), tuple(notes), (*regions, *objects))


_KEYS = ("objects", "regions", "object_connections", "region_connections", _START_KEY)


def _names(graph: Any, key: str) -> list[str]:
    """The names of nodes, in lower case."""
    entries = graph.get(key, []) if isinstance(graph, dict) else None
    if not isinstance(entries, list):
        raise _Unreadable(f"expected an object with a list `{key}`")
    names = []
    for entry in entries:
        name = entry.get("name") if isinstance(entry, dict) else entry
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise _Unreadable(f"a node of `{key}` needs a `name` of letters, digits and underscores")
        names.append(name.lower())
    if len(set(names)) < len(names):
        raise _Unreadable(f"two nodes of `{key}` have the same name")
    return names


def _pairs(graph: dict[str, Any], key: str, ends: tuple[list[str], list[str]]) -> list[tuple[str, str]]:
    """The connections between two kinds of nodes; the first node of each pair is of the first kind."""
    entries = graph.get(key, [])
    if not isinstance(entries, list):
        raise _Unreadable(f"`{key}` must be a list of pairs")
    source_names, target_names = set(ends[0]), set(ends[1])
    pairs = []
    for entry in entries:
        if not isinstance(entry, list) or len(entry) != 2 or not all([isinstance(name, str) for name in entry]):
            raise _Unreadable(f"`{key}` must be a list of pairs of names")
        source, target = entry[0].lower(), entry[1].lower()
        if source not in source_names and target in source_names:
            source, target = target, source
        if source not in source_names or target not in target_names:
            unknown = source if source not in source_names else target
            raise _Unreadable(f"`{key}` names {unknown[:60]!a}, which is not such a node")
        pairs.append((source, target))
    return pairs


def _start(graph: dict[str, Any], regions: list[str]) -> str | None:
    start = graph.get(_START_KEY)
    if start is None:
        return None
    if not isinstance(start, str) or start.lower() not in regions:
        raise _Unreadable(f"`{_START_KEY}` is not a region")
    return start.lower()


def _problem(
    regions: list[str],
    objects: list[str],
    connections: list[tuple[str, str]],
    locations: list[tuple[str, str]],
    start: str | None,
) -> str:
    networks = _networks(regions, connections)
    facts = [f"(on_network {region} network-{number})" for region, number in networks.items()]
    facts += [f"(connected {a} {b}) (connected {b} {a})" for a, b in connections]
    facts += [f"(located {item} {region})" for item, region in locations]
    facts += [] if start is None else [f"(arrived {start})"]
    numbers = " ".join([f"network-{number}" for number in dict.fromkeys(networks.values())])
    declarations = f"{' '.join(regions)} - region {numbers} - network" + (
        f" {' '.join(objects)} - thing" if objects else ""
    )
    lines = ["(define (problem graph) (:domain roboguard)", f"  (:objects {declarations})", "  (:init"]
    return "\n".join([*lines, *[f"    {fact}" for fact in facts], "  )", "  (:goal (and)))", ""])


def _networks(regions: list[str], connections: list[tuple[str, str]]) -> dict[str, int]:
    """The number of the network (connected component) of each region."""
    neighbours: dict[str, list[str]] = {region: [] for region in regions}
    for source, target in connections:
        neighbours[source].append(target)
        neighbours[target].append(source)
    network_of: dict[str, int] = {}
    for number, region in enumerate(regions, 1):
        waiting = [region]
        while waiting:
            current = waiting.pop()
            if current not in network_of:
                network_of[current] = number
                waiting.extend(neighbours[current])
    return network_of


def read_plan(text: Source, scene: Scene) -> ForeignPlan:
    """Read calls: ``goto(ground_1)``, ``inspect(person_1, "is he hurt?")``, on lines or in a list.

    Other arguments are texts for people or for a model, and are ignored.
    """
    steps: list[str] = []
    places: list[Span] = []
    errors: list[Diagnostic] = []
    for span in _spans(text):
        call_text = text.slice(span)
        call = _CALL.fullmatch(call_text)
        step = None if call is None else _step(call["action"].lower(), call["rest"], scene)
        if step is None:
            name = call_text.partition("(")[0].strip(" \"'[(")
            advice = suggest_name(name, (*_NODE_CALLS, *_OTHER_CALLS)) or _EXPECTED_CALLS
            label = Label(text.name, span)
            errors.append(
                Diagnostic(SC.FOREIGN_LINE, "this is not a call of a RoboGuard function", (label,), help=advice)
            )
            continue
        steps.append(step)
        places.append(span)
    if errors:
        return ForeignPlan(None, diagnostics=tuple(errors))
    return ForeignPlan(Source(f"{text.name} (as PDDL)", "\n".join(steps) + "\n"), tuple(places))


def _step(action: str, arguments: str, scene: Scene) -> str | None:
    """The PDDL step of a call, also with an unknown node, which the checker reports; ``None`` if it is not a call."""
    if action in _OTHER_CALLS:
        return f"({action})"
    node = _NODE.match(arguments) if action in _NODE_CALLS else None
    if node is None:
        return None
    name = node[2].lower()
    return f"({action} {name})" if name in scene.data or _NAME.fullmatch(name) else None


def _spans(text: Source) -> Iterator[Span]:
    """Yield the places of the calls, several on a line separately, and of lines that are not calls."""
    for line in re.finditer(r"[^\r\n]+", text.text):
        start = line.start()
        bare = line[0].strip(" \t,[]")
        if not bare or bare.startswith("#"):
            continue
        number = _NUMBERED.match(text.text, start, line.end())
        start = number.end() if number else start
        calls = list(_CALL.finditer(text.text, start, line.end()))
        line_text = text.text[start : line.end()]
        text_between = _CALL.sub("", line_text)
        if not calls or re.search(r"\w", text_between):
            text_start = start + len(line_text) - len(line_text.lstrip())
            yield Span(text_start, line.start() + len(line[0].rstrip()))
            continue
        for call in calls:
            yield Span(*call.span())


def write_step(step: tuple[str, ...], _scene: Scene) -> str:
    """Write a step as a call."""
    return f"{step[0]}({', '.join(step[1:])})"


WORLD = Benchmark(
    name="roboguard",
    title="RoboGuard: semantic graphs of regions and objects",
    domain="roboguard",
    files=(FileRole(SCENE, "the graph: regions, objects and their connections (JSON)", required=True),),
    plans=("goto(ground_1)", 'inspect(person_1, "is he hurt?")', '["goto(ground_1)", "answer(done)"]'),
    example="safecheck --world roboguard plan.txt --scene graph.json --ltl 'G(!goto(construction_area_1))'",
    read_scene=read_scene,
    read_plan=read_plan,
    write_step=write_step,
)
