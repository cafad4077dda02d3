"""The causal structure of a plan as a graph: for networkx, and as DOT text (docs/diagnose.md).

The DOT text is made here and not by a library: it contains names from the plan, which must stay inside their quotes.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from plansafe.verifier.diagnose.causal_structure import CausalStructure
from plansafe.verifier.diagnose.model import Diagnosis
from plansafe.verifier.extras import how_to_install
from plansafe.verifier.repair.model import EditKind, Repair

START, GOAL, MISSING = "start", "goal", "missing"


class MissingExtraError(RuntimeError):
    """networkx is not installed; the text says how to install it."""


class GraphNode(NamedTuple):
    """``kind``: start, step, goal, rule, missing or inserted. ``edit``: the edit by the shown repair, or empty.

    ``step``: the number of a step, the step of a violation, the step after an inserted step (the goal: one more than
    there are steps); otherwise 0.
    """

    name: str
    kind: str
    label: str
    edit: str = ""
    step: int = 0


class GraphEdge(NamedTuple):
    """``kind``: link, open, threat, rule, or ``before`` (from an inserted step to the next step)."""

    source: str
    target: str
    kind: str
    label: str
    needed: bool = True


class PlanGraph(NamedTuple):
    """The nodes and edges of a plan's causal structure."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


def make_plan_graph(
    structure: CausalStructure, diagnosis: Diagnosis | None = None, *, initial: bool = True
) -> PlanGraph:
    """Return nodes and edges. A diagnosis' best repair is marked. ``initial``: show links from the initial state."""
    nodes = {START: GraphNode(START, "start", "initial state")}
    for number, text in enumerate(structure.steps, 1):
        name = _get_node_name(structure, number)
        nodes[name] = GraphNode(name, "step", f"{number} {text}", step=number)
    nodes[GOAL] = GraphNode(GOAL, "goal", "goal", step=structure.goal)
    edges: list[GraphEdge] = []
    for link in structure.links:
        if link.producer == 0 and not initial:
            continue
        target = _get_node_name(structure, link.consumer)
        if link.rule is not None:
            target = f"rule {link.rule} at {link.consumer}"
            nodes.setdefault(target, GraphNode(target, "rule", f"violated: {link.rule}", step=link.consumer))
        kind = "link" if link.rule is None else "rule"
        edges.append(GraphEdge(_get_node_name(structure, link.producer), target, kind, link.literal, link.needed))
    if structure.open_preconditions:
        nodes[MISSING] = GraphNode(MISSING, "missing", "missing")
    for condition in structure.open_preconditions:
        consumer = _get_node_name(structure, condition.consumer)
        edges.append(GraphEdge(MISSING, consumer, "open", condition.literal, condition.alone))
    for threat in structure.threats:
        source, target = _get_node_name(structure, threat.step), _get_node_name(structure, threat.consumer)
        edges.append(GraphEdge(source, target, "threat", f"undoes {threat.literal}"))
    if diagnosis is not None and diagnosis.repair.repairs:
        _mark_repair(structure, diagnosis.repair.repairs[0], nodes, edges)
    return PlanGraph(tuple(nodes.values()), tuple(edges))


def _get_node_name(structure: CausalStructure, step: int) -> str:
    """Return the name of the node of a step, of the initial state (0) or of the goal."""
    return START if step == 0 else GOAL if step > len(structure.steps) else f"step {step}"


def _mark_repair(
    structure: CausalStructure, repair: Repair, nodes: dict[str, GraphNode], edges: list[GraphEdge]
) -> None:
    """Add the inserted steps of a repair, and mark the steps that it edits."""
    for number, edit in enumerate(repair.edits, 1):
        if edit.kind is EditKind.INSERT:
            name = f"inserted {number}"
            later_steps = [origin for origin in repair.origin[edit.position :] if origin]
            next_step = later_steps[0] if later_steps else structure.goal
            nodes[name] = GraphNode(name, "inserted", edit.after, "insert", next_step)
            edges.append(GraphEdge(name, _get_node_name(structure, next_step), "before", edit.reason))
            continue
        name = _get_node_name(structure, edit.step)
        label = nodes[name].label
        if edit.kind in (EditKind.SUBSTITUTE, EditKind.REPLACE):
            label += f" -> {edit.after}"
        elif edit.kind is EditKind.MOVE:
            label += f" -> place {edit.position}"
        nodes[name] = nodes[name]._replace(label=label, edit=edit.kind.value)


# -- networkx ---------------------------------------------------------------------------------------------------------


def make_networkx_graph(structure: CausalStructure, diagnosis: Diagnosis | None = None, *, initial: bool = True) -> Any:
    """Return a ``networkx.MultiDiGraph`` with the fields of :class:`GraphNode` and :class:`GraphEdge` as attributes.

    Raises :class:`MissingExtraError` without networkx.
    """
    try:
        networkx = import_module("networkx")
    except ImportError as error:
        raise MissingExtraError(f"networkx is not installed: {how_to_install('graph')}") from error
    digraph = networkx.MultiDiGraph()
    graph = make_plan_graph(structure, diagnosis, initial=initial)
    for node in graph.nodes:
        digraph.add_node(node.name, kind=node.kind, label=node.label, edit=node.edit)
    for edge in graph.edges:
        digraph.add_edge(edge.source, edge.target, kind=edge.kind, label=edge.label, needed=edge.needed)
    return digraph


# -- DOT --------------------------------------------------------------------------------------------------------------

_NODE_STYLES = {
    "start": "shape=circle",
    "step": "shape=box",
    "goal": "shape=doublecircle",
    "rule": "shape=octagon, color=red",
    "missing": "shape=plaintext, fontcolor=red",
    "inserted": "shape=box, style=dotted, color=darkgreen",
}
_EDIT_STYLES = {
    "": "",
    "insert": "",
    "delete": ", style=dashed, color=gray, fontcolor=gray",
    "move": ", style=bold, color=blue",
    "substitute": ", style=bold, color=orange",
}
_EDGE_STYLES = {
    "link": "",
    "open": ", color=red, fontcolor=red, style=dashed",
    "threat": ", color=red, fontcolor=red, arrowhead=tee",
    "rule": ", color=red",
    "before": ", style=dotted, color=darkgreen",
}


def make_dot_text(structure: CausalStructure, diagnosis: Diagnosis | None = None, *, initial: bool = True) -> str:
    """Return the graph in Graphviz' DOT language. Labels are quoted; nodes are called n0, n1, .."""
    graph = make_plan_graph(structure, diagnosis, initial=initial)
    node_ids = {node.name: f"n{number}" for number, node in enumerate(graph.nodes)}
    lines = ["digraph plan {", "  rankdir=TB;"]
    for node in graph.nodes:
        style = _NODE_STYLES[node.kind] + _EDIT_STYLES[node.edit]
        lines.append(f"  {node_ids[node.name]} [label={quote_dot(node.label)}, {style}];")
    for edge in graph.edges:
        style = _EDGE_STYLES[edge.kind] + ("" if edge.needed or edge.kind != "link" else ", style=dotted")
        lines.append(f"  {node_ids[edge.source]} -> {node_ids[edge.target]} [label={quote_dot(edge.label)}{style}];")
    return "\n".join([*lines, "}", ""])


def quote_dot(text: str) -> str:
    r"""Return a DOT string that shows exactly ``text``: quotes and backslashes, such as in ``\N``, are escaped.

    Characters that do not print become U+FFFD.
    """
    printable_text = "".join(
        [character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text]
    )
    return '"' + printable_text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") + '"'
