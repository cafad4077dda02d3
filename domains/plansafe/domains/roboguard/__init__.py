"""RoboGuard (Ravichandran et al., arXiv 2503.07885): semantic graphs of regions and things, and plans as calls.

docs/home-worlds.md says what a call means here. Rules are given with ``--ltl``, as the paper writes them.
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
_ON_NODES = ("goto", "map_region", "explore_region", "inspect")
_ALONE = ("extend_map", "replan", "clarify", "answer")
_EXPECTED = "a call of " + ", ".join([*[f"{name}(NODE)" for name in _ON_NODES], *[f"{name}(..)" for name in _ALONE]])
_START = "current_location"


class _Unreadable(Exception):
    """What is wrong with a graph."""


def read_scene(request: Request) -> Scene:
    """Make a problem of a graph: its regions with the ways between them, and the things in them."""
    file = request.files[SCENE]
    misnamed = wrong_task(request)
    if misnamed:
        return no_scene(*misnamed)
    first = Label(file.name, Span(0, min(1, len(file.text))))
    try:
        graph = read_json(file.text)
        regions, things = _names(graph, "regions"), _names(graph, "objects")
        doubled = [name for name in things if name in regions]
        if doubled or not regions:
            raise _Unreadable(f"`{doubled[0]}` is a region and an object" if doubled else "there are no `regions`")
        ways = _pairs(graph, "region_connections", (regions, regions))
        places = _pairs(graph, "object_connections", (things, regions))
        start = _start(graph, regions)
    except BadJson as error:
        label = Label(file.name, Span(error.position, min(error.position + 1, len(file.text))))
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, error.message, (label,)))
    except _Unreadable as error:
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, str(error), (first,)))
    with open(domain_path("roboguard"), encoding="utf-8") as shipped:
        domain = Source(shipped.name, shipped.read())
    problem = Source(f"{file.name} (as PDDL)", _problem(regions, things, ways, places, start))
    said = []
    held = {thing for thing, _ in places}
    lost = [name for name in things if name not in held]
    if lost:
        said.append(f"no region contains {', '.join(lost[:8])[:300]}: it cannot be inspected")
    if start is None:
        said.append(f"`{_START}` is missing: the robot has no location and cannot move")
    others = [key for key in graph if key not in _KEYS]
    if others:
        said.append(f"other parts of the graph are ignored: {', '.join(others[:8])[:300]}")
    notes = [Diagnostic(SC.FOREIGN_SCENE, message, (first,), severity=Severity.NOTE) for message in said]
    return Scene(domain, problem, (), tuple(notes), (*regions, *things))


_KEYS = ("objects", "regions", "object_connections", "region_connections", _START)


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
    """The connections of two kinds of nodes."""
    entries = graph.get(key, [])
    if not isinstance(entries, list):
        raise _Unreadable(f"`{key}` must be a list of pairs")
    left, right = set(ends[0]), set(ends[1])
    pairs = []
    for entry in entries:
        if not isinstance(entry, list) or len(entry) != 2 or not all([isinstance(name, str) for name in entry]):
            raise _Unreadable(f"`{key}` must be a list of pairs of names")
        one, other = entry[0].lower(), entry[1].lower()
        if one not in left and other in left:
            one, other = other, one
        if one not in left or other not in right:
            wrong = one if one not in left else other
            raise _Unreadable(f"`{key}` names {wrong[:60]!a}, which is not such a node")
        pairs.append((one, other))
    return pairs


def _start(graph: dict[str, Any], regions: list[str]) -> str | None:
    start = graph.get(_START)
    if start is None:
        return None
    if not isinstance(start, str) or start.lower() not in regions:
        raise _Unreadable(f"`{_START}` is not a region")
    return start.lower()


def _problem(
    regions: list[str],
    things: list[str],
    ways: list[tuple[str, str]],
    places: list[tuple[str, str]],
    start: str | None,
) -> str:
    networks = _networks(regions, ways)
    facts = [f"(on_network {region} network-{number})" for region, number in networks.items()]
    facts += [f"(connected {a} {b}) (connected {b} {a})" for a, b in ways]
    facts += [f"(located {thing} {region})" for thing, region in places]
    facts += [] if start is None else [f"(arrived {start})"]
    numbers = " ".join([f"network-{number}" for number in dict.fromkeys(networks.values())])
    objects = f"{' '.join(regions)} - region {numbers} - network" + (f" {' '.join(things)} - thing" if things else "")
    lines = ["(define (problem graph) (:domain roboguard)", f"  (:objects {objects})", "  (:init"]
    return "\n".join([*lines, *[f"    {fact}" for fact in facts], "  )", "  (:goal (and)))", ""])


def _networks(regions: list[str], ways: list[tuple[str, str]]) -> dict[str, int]:
    """Of each region, the number of those between which there is a way."""
    beside: dict[str, list[str]] = {region: [] for region in regions}
    for one, other in ways:
        beside[one].append(other)
        beside[other].append(one)
    found: dict[str, int] = {}
    for number, region in enumerate(regions, 1):
        waiting = [region]
        while waiting:
            here = waiting.pop()
            if here not in found:
                found[here] = number
                waiting.extend(beside[here])
    return found


def read_plan(text: Source, scene: Scene) -> ForeignPlan:
    """Read calls: ``goto(ground_1)``, ``inspect(person_1, "is he hurt?")``, on lines or in a list.

    What a call says besides its node is said to people or to a model, and decides nothing here.
    """
    steps: list[str] = []
    places: list[Span] = []
    wrong: list[Diagnostic] = []
    for span in _spans(text):
        said = text.slice(span)
        call = _CALL.fullmatch(said)
        step = None if call is None else _step(call["action"].lower(), call["rest"], scene)
        if step is None:
            name = said.partition("(")[0].strip(" \"'[(")
            advice = suggest_name(name, (*_ON_NODES, *_ALONE)) or _EXPECTED
            label = Label(text.name, span)
            wrong.append(
                Diagnostic(SC.FOREIGN_LINE, "this is not a call of a RoboGuard function", (label,), help=advice)
            )
            continue
        steps.append(step)
        places.append(span)
    if wrong:
        return ForeignPlan(None, diagnostics=tuple(wrong))
    return ForeignPlan(Source(f"{text.name} (as PDDL)", "\n".join(steps) + "\n"), tuple(places))


def _step(action: str, rest: str, scene: Scene) -> str | None:
    """The step of a call; a node that the graph does not have stays, and the checker reports it."""
    if action in _ALONE:
        return f"({action})"
    node = _NODE.match(rest) if action in _ON_NODES else None
    if node is None:
        return None
    name = node[2].lower()
    return f"({action} {name})" if name in scene.data or _NAME.fullmatch(name) else None


def _spans(text: Source) -> Iterator[Span]:
    """The places of the calls, and of what should be some: several on a line are several."""
    for line in re.finditer(r"[^\r\n]+", text.text):
        at = line.start()
        bare = line[0].strip(" \t,[]")
        if not bare or bare.startswith("#"):
            continue
        number = _NUMBERED.match(text.text, at, line.end())
        at = number.end() if number else at
        calls = list(_CALL.finditer(text.text, at, line.end()))
        rest = text.text[at : line.end()]
        between = _CALL.sub("", rest)
        if not calls or re.search(r"\w", between):
            start = at + len(rest) - len(rest.lstrip())
            yield Span(start, line.start() + len(line[0].rstrip()))
            continue
        for call in calls:
            yield Span(*call.span())


def write_step(step: tuple[str, ...], _scene: Scene) -> str:
    """Write a step as a call."""
    return f"{step[0]}({', '.join(step[1:])})"


WORLD = Benchmark(
    name="roboguard",
    title="RoboGuard: semantic graphs of regions and things",
    domain="roboguard",
    files=(FileRole(SCENE, "the graph: regions, objects and their connections (JSON)", required=True),),
    plans=("goto(ground_1)", 'inspect(person_1, "is he hurt?")', '["goto(ground_1)", "answer(done)"]'),
    example="safecheck --world roboguard plan.txt --scene graph.json --ltl 'G(!goto(construction_area_1))'",
    read_scene=read_scene,
    read_plan=read_plan,
    write_step=write_step,
)
