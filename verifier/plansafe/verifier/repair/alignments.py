"""From the graph of a finished search to repairs: every path of least cost is a plan with its edits."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple, TypeAlias

from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.model import EditKind
from plansafe.verifier.repair.replacements import Replacement
from plansafe.verifier.repair.search_graph import Edge, EdgeKind, Node

_Path: TypeAlias = "tuple[_Path, Edge] | None"
"""A path from the root as a linked list: the path up to its last edge, and this edge; ``None`` at the root."""


class Alignment(NamedTuple):
    """A plan, and its correspondence to the original plan.

    ``origin``: the original step (from 1) at each position, 0 for an inserted one. ``moved`` and ``substituted``:
    positions (from 0). ``deleted``: original steps. ``replacement``: a replaced object; the steps contain the new one.
    """

    steps: tuple[GroundAction, ...]
    origin: tuple[int, ...]
    moved: frozenset[int]
    substituted: frozenset[int]
    deleted: tuple[int, ...]
    replacement: Replacement | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the edits, sorted."""
        kinds = [EditKind.INSERT.value for origin in self.origin if not origin]
        kinds += [EditKind.REPLACE.value] * (self.replacement is not None)
        kinds += [EditKind.MOVE.value] * len(self.moved) + [EditKind.SUBSTITUTE.value] * len(self.substituted)
        return tuple(sorted(kinds + [EditKind.DELETE.value] * len(self.deleted)))

    @property
    def new_positions(self) -> tuple[int, ...]:
        """The positions of inserted and substituted steps."""
        return tuple([p for p, origin in enumerate(self.origin) if not origin or p in self.substituted])

    def steps_without(self, positions: frozenset[int]) -> tuple[GroundAction, ...]:
        """The steps at all other positions than these."""
        return tuple([step for position, step in enumerate(self.steps) if position not in positions])


def enumerate_alignments(
    root: Node, terminals: list[Node], cost: Number, max_visits: int | None
) -> Iterator[Alignment | None]:
    """Yield the plans of the paths of a cost through the graph; paths that keep the original plan longest come first.

    A plan is listed once for each set of original steps that are deleted or substituted. After ``max_visits`` visits of
    nodes (``None``: no limit) the last item is ``None``: some plans may be missing.
    """
    _set_costs_to_go(root, terminals)
    listed_keys: set[tuple[object, ...]] = set()
    stack: list[tuple[Node, Number, _Path]] = [(root, 0, None)]
    visit_count = 0
    while stack:
        node, spent, path = stack.pop()
        visit_count += 1
        if max_visits is not None and visit_count > max_visits:
            yield None
            return
        if node.is_terminal and spent == cost:
            alignment = _make_alignment(path)
            substituted_steps = frozenset([alignment.origin[place] for place in alignment.substituted])
            step_keys = [step.key for step in alignment.steps]
            key = (*step_keys, *alignment.kinds, frozenset(alignment.deleted), substituted_steps)
            if key not in listed_keys:
                listed_keys.add(key)
                yield alignment
        edges = []
        for edge in node.edges:
            cost_to_go = edge.target.cost_to_go
            if cost_to_go is not None and spent + edge.cost + cost_to_go <= cost:
                edges.append(edge)
        edges.sort(key=_rank_edge, reverse=True)
        stack += [(edge.target, spent + edge.cost, (path, edge)) for edge in edges]


_EDGE_ORDER = (
    EdgeKind.KEEP,
    EdgeKind.SKIP,
    EdgeKind.INSERT,
    EdgeKind.PLACE,
    EdgeKind.BORROW,
    EdgeKind.DEFER,
    EdgeKind.SUBSTITUTE,
    EdgeKind.DELETE,
)
"""The order in which edges are followed. Half substitutions lead to no repair."""


def _rank_edge(edge: Edge) -> int:
    """The place of an edge in the order in which a node's edges are followed."""
    return _EDGE_ORDER.index(edge.kind)


def _set_costs_to_go(root: Node, terminals: list[Node]) -> None:
    """Set ``cost_to_go`` of every node from which a terminal can be reached."""
    stack = [root]
    while stack:  # remove the costs of an earlier call
        for edge in stack.pop().edges:
            if edge.target.cost_to_go is not None:
                edge.target.cost_to_go = None
                stack.append(edge.target)
    numbers = count()
    heap: list[tuple[Number, int, Node]] = [(0, next(numbers), node) for node in terminals]
    while heap:
        distance, _, node = heappop(heap)
        if node.cost_to_go is not None and node.cost_to_go <= distance:
            continue
        node.cost_to_go = distance
        for edge in node.parents:
            if edge.source.cost_to_go is None or edge.source.cost_to_go > distance + edge.cost:
                heappush(heap, (distance + edge.cost, next(numbers), edge.source))


def _make_alignment(path: _Path) -> Alignment:
    edges: list[Edge] = []
    while path is not None:
        path, edge = path
        edges.append(edge)
    steps: list[GroundAction] = []
    origin: list[int] = []
    moved, substituted = set(), set()
    deleted: list[int] = []
    for edge in reversed(edges):
        if edge.kind == EdgeKind.DELETE:
            deleted.append(edge.number)
        if edge.step is None:
            continue
        if edge.kind == EdgeKind.SUBSTITUTE:
            substituted.add(len(steps))
        elif edge.kind in (EdgeKind.PLACE, EdgeKind.BORROW):
            moved.add(len(steps))
        steps.append(edge.step)
        origin.append(edge.number)
    return Alignment(tuple(steps), tuple(origin), frozenset(moved), frozenset(substituted), tuple(deleted))
