"""The causal structure of a plan as a graph: for networkx, as DOT text, and in words for an edit (docs/diagnose.md).

The DOT text is printed here and not by a library: names of the plan's author reach it, and stay inside their quotes.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.causal_links import Link
from plansafe.verifier.diagnose.causal_structure import ILL_FORMED, CausalStructure, find_causal_structure
from plansafe.verifier.diagnose.model import Diagnosis
from plansafe.verifier.execution.purpose import find_supports
from plansafe.verifier.extras import how_to_install
from plansafe.verifier.repair.model import Edit, EditKind, Repair

START, GOAL, MISSING = "start", "goal", "missing"
MAX_PHRASES = 3
"""So many phrases explain one edit."""


class MissingExtraError(RuntimeError):
    """networkx is not installed; the text says how to install it."""


class GraphNode(NamedTuple):
    """``kind``: start, step, goal, rule, missing or inserted. ``edit``: what the shown repair does to it, or empty.

    ``step``: of a step its number, of a violated rule where that is, of an inserted step the one that it stands before
    (the goal: one more than there are steps; of what stands nowhere 0).
    """

    name: str
    kind: str
    label: str
    edit: str = ""
    step: int = 0


class GraphEdge(NamedTuple):
    """``kind``: link, open, threat, rule, or ``before`` (where an inserted step stands)."""

    source: str
    target: str
    kind: str
    label: str
    needed: bool = True


class PlanGraph(NamedTuple):
    """What both forms of the graph show."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


def plan_graph(structure: CausalStructure, diagnosis: Diagnosis | None = None, *, initial: bool = True) -> PlanGraph:
    """Nodes and edges. With a diagnosis, its best repair is marked. ``initial``: also links from the initial state."""
    nodes = {START: GraphNode(START, "start", "initial state")}
    for number, text in enumerate(structure.steps, 1):
        nodes[_name(structure, number)] = GraphNode(_name(structure, number), "step", f"{number} {text}", step=number)
    nodes[GOAL] = GraphNode(GOAL, "goal", "goal", step=structure.goal)
    edges: list[GraphEdge] = []
    for link in structure.links:
        if link.producer == 0 and not initial:
            continue
        target = _name(structure, link.consumer)
        if link.rule is not None:
            target = f"rule {link.rule} at {link.consumer}"
            nodes.setdefault(target, GraphNode(target, "rule", f"violated: {link.rule}", step=link.consumer))
        kind = "link" if link.rule is None else "rule"
        edges.append(GraphEdge(_name(structure, link.producer), target, kind, link.literal, link.needed))
    if structure.open:
        nodes[MISSING] = GraphNode(MISSING, "missing", "missing")
    edges += [GraphEdge(MISSING, _name(structure, o.consumer), "open", o.literal, o.alone) for o in structure.open]
    edges += [
        GraphEdge(_name(structure, t.step), _name(structure, t.consumer), "threat", f"undoes {t.literal}")
        for t in structure.threats
    ]
    if diagnosis is not None and diagnosis.repair.repairs:
        _mark(structure, diagnosis.repair.repairs[0], nodes, edges)
    return PlanGraph(tuple(nodes.values()), tuple(edges))


def _name(structure: CausalStructure, step: int) -> str:
    return START if step == 0 else GOAL if step > len(structure.steps) else f"step {step}"


def _mark(structure: CausalStructure, repair: Repair, nodes: dict[str, GraphNode], edges: list[GraphEdge]) -> None:
    for number, edit in enumerate(repair.edits, 1):
        if edit.kind is EditKind.INSERT:
            name = f"inserted {number}"
            later = [origin for origin in repair.origin[edit.position :] if origin]
            before = later[0] if later else structure.goal
            nodes[name] = GraphNode(name, "inserted", edit.after, "insert", before)
            target = _name(structure, before)
            edges.append(GraphEdge(name, target, "before", edit.reason))
            continue
        name = _name(structure, edit.step)
        label = nodes[name].label
        if edit.kind is EditKind.SUBSTITUTE:
            label += f" -> {edit.after}"
        elif edit.kind is EditKind.MOVE:
            label += f" -> place {edit.position}"
        nodes[name] = nodes[name]._replace(label=label, edit=edit.kind.value)


# -- networkx ---------------------------------------------------------------------------------------------------------


def networkx_graph(structure: CausalStructure, diagnosis: Diagnosis | None = None, *, initial: bool = True) -> Any:
    """A ``networkx.MultiDiGraph`` with the fields of :class:`GraphNode` and :class:`GraphEdge` as attributes.

    Raises :class:`MissingExtraError` without networkx.
    """
    try:
        networkx = import_module("networkx")
    except ImportError as error:
        raise MissingExtraError(f"networkx is not installed: {how_to_install('graph')}") from error
    out = networkx.MultiDiGraph()
    shown = plan_graph(structure, diagnosis, initial=initial)
    for node in shown.nodes:
        out.add_node(node.name, kind=node.kind, label=node.label, edit=node.edit)
    for edge in shown.edges:
        out.add_edge(edge.source, edge.target, kind=edge.kind, label=edge.label, needed=edge.needed)
    return out


# -- DOT --------------------------------------------------------------------------------------------------------------

_NODE = {
    "start": "shape=circle",
    "step": "shape=box",
    "goal": "shape=doublecircle",
    "rule": "shape=octagon, color=red",
    "missing": "shape=plaintext, fontcolor=red",
    "inserted": "shape=box, style=dotted, color=darkgreen",
}
_EDIT = {
    "": "",
    "insert": "",
    "delete": ", style=dashed, color=gray, fontcolor=gray",
    "move": ", style=bold, color=blue",
    "substitute": ", style=bold, color=orange",
}
_EDGE = {
    "link": "",
    "open": ", color=red, fontcolor=red, style=dashed",
    "threat": ", color=red, fontcolor=red, arrowhead=tee",
    "rule": ", color=red",
    "before": ", style=dotted, color=darkgreen",
}


def dot_text(structure: CausalStructure, diagnosis: Diagnosis | None = None, *, initial: bool = True) -> str:
    """The graph in the language of Graphviz. Names stand inside quotes; nodes are called n0, n1, .."""
    shown = plan_graph(structure, diagnosis, initial=initial)
    names = {node.name: f"n{number}" for number, node in enumerate(shown.nodes)}
    lines = ["digraph plan {", "  rankdir=TB;"]
    lines += [
        f"  {names[node.name]} [label={quote_dot(node.label)}, {_NODE[node.kind]}{_EDIT[node.edit]}];"
        for node in shown.nodes
    ]
    for edge in shown.edges:
        style = _EDGE[edge.kind] + ("" if edge.needed or edge.kind != "link" else ", style=dotted")
        lines.append(f"  {names[edge.source]} -> {names[edge.target]} [label={quote_dot(edge.label)}{style}];")
    return "\n".join([*lines, "}", ""])


def quote_dot(text: str) -> str:
    r"""A string of DOT that shows exactly ``text``: no quote ends it, and no backslash begins an escape such as ``\N``.

    What does not print becomes U+FFFD.
    """
    shown = "".join([c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text])
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") + '"'


# -- words ------------------------------------------------------------------------------------------------------------


def explain_class(checker: Checker, structure: CausalStructure, repair: Repair) -> tuple[str, ...]:
    """For each edit of a repair, in order, why it is there: what its error class's witness says.

    ``structure`` is the original plan's. An insertion (*missing*) fills an open precondition, serves the goal or keeps
    a rule; a move (*order*) ends a threat or brings a producer before its consumer; a deletion (*additional*) ends a
    threat, or the step was redundant; a substitution (*substitute*) does any of these. Steps are counted in the
    original plan. Where nothing of this is found, the reason that the repair itself gives, or an empty phrase.
    """
    repaired = checker.read(Source("repaired", repair.text)).steps
    after = find_causal_structure(checker, repaired)
    out = []
    for edit in repair.edits:
        found = list(dict.fromkeys(_phrases(structure, after, repair, edit)))
        if edit.position and not found:
            found = [
                _in_old_numbers(repair, s.kind, s.step, s.text)
                for s in find_supports(checker.engine, repaired, edit.position, checker.options.criteria)
            ]
        out.append("; ".join(found[:MAX_PHRASES]) or edit.reason)
    return tuple(out)


def _where(structure: CausalStructure, step: int) -> str:
    return "the goal" if step > len(structure.steps) else f"step {step} `{structure.steps[step - 1]}`"


def _place(structure: CausalStructure, repair: Repair, position: int) -> str:
    """A step of the repaired plan, named by where it stood in the original."""
    if position > len(repair.steps):
        return "the goal"
    origin = repair.origin[position - 1]
    return _where(structure, origin) if origin else f"the inserted `{repair.steps[position - 1]}`"


def _in_old_numbers(repair: Repair, kind: str, step: int, text: str) -> str:
    """A phrase of :func:`find_supports` about the repaired plan, with the original's numbers."""
    if kind != "step":
        return text
    origin = repair.origin[step - 1]
    whom = f"step {origin}" if origin else f"the inserted `{repair.steps[step - 1]}`"
    return text.removesuffix(f"step {step}") + whom


def _fills(structure: CausalStructure, after: CausalStructure, repair: Repair, edit: Edit) -> list[str]:
    """What a step at its new place gives: to open preconditions of the original plan first, then to new steps."""
    opened = {(o.consumer, o.literal) for o in structure.open}
    filled, other = [], []
    for link in after.links:
        if link.producer != edit.position or link.rule is not None:
            continue
        origin = len(structure.steps) + 1 if link.consumer > len(repair.steps) else repair.origin[link.consumer - 1]
        if (origin, link.literal) in opened:
            filled.append(f"gives {link.literal} to {_where(structure, origin)}, which lacked it")
        elif not origin:
            other.append(f"gives {link.literal} to {_place(structure, repair, link.consumer)}")
    return filled + other


def _phrases(structure: CausalStructure, after: CausalStructure, repair: Repair, edit: Edit) -> list[str]:
    if edit.step and structure.steps[edit.step - 1] == ILL_FORMED:
        return ["is not a step of this domain", *_fills(structure, after, repair, edit)]
    match edit.kind:
        case EditKind.INSERT:
            return _fills(structure, after, repair, edit)
        case EditKind.MOVE:
            found = _fills(structure, after, repair, edit) + _threatens(structure, edit.step)
            return found + _lacks(structure, edit.step, _givers(after, repair, edit)) + _breaks(structure, edit.step)
        case EditKind.SUBSTITUTE:
            found = _fills(structure, after, repair, edit) + _threatens(structure, edit.step)
            found += _lacks(structure, edit.step)
            return found + _breaks(structure, edit.step)
        case EditKind.DELETE:
            found = _threatens(structure, edit.step)
            found += _lacks(structure, edit.step) + _breaks(structure, edit.step)
            if edit.step in structure.redundant:
                found.append("redundant: neither the goal nor a rule needs it")
            return found or ["not needed after the other edits"]


def _threatens(structure: CausalStructure, step: int) -> list[str]:
    return [
        f"undoes {t.literal}, which {_where(structure, t.consumer)} needs" for t in structure.threats if t.step == step
    ]


def _givers(after: CausalStructure, repair: Repair, edit: Edit) -> dict[str, str]:
    """What each literal that a step needs at its new place comes from, in words."""
    return {
        link.literal: f"step {repair.origin[link.producer - 1]}" if repair.origin[link.producer - 1] else "a new step"
        for link in after.links
        if link.consumer == edit.position and link.producer
    }


def _lacks(structure: CausalStructure, step: int, givers: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """What a step lacked where it stood, and what undid it, or where it comes from at its new place."""
    out = []
    for opened in structure.open:
        if opened.consumer != step:
            continue
        spoilers = [t.step for t in structure.threats if (t.literal, t.consumer) == (opened.literal, step)]
        if spoilers:
            out.append(f"needs {opened.literal}, which {_where(structure, spoilers[0])} undoes")
        elif opened.literal in givers:
            out.append(f"needs {opened.literal}, which {givers[opened.literal]} gives")
        else:
            out.append(f"needs {opened.literal}, which no earlier step provides")
    return out


def _breaks(structure: CausalStructure, step: int) -> list[str]:
    """The violated rules in which a step plays a part: it made a fact that violates them, or the violation is at it."""

    def part(link: Link) -> bool:
        return link.rule is not None and (step in (link.producer, link.consumer))

    return [
        f"contributes to violating `{rule}`" for rule in dict.fromkeys([x.rule for x in structure.links if part(x)])
    ]
