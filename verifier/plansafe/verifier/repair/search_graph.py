"""Nodes and edges of the alignment graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import BrokenInstance
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.effects import GroundEffects
from plansafe.verifier.repair.repair_task import RepairTask

KEEP, SKIP, INSERT, DELETE, SUBSTITUTE, DEFER, PLACE, BORROW, HALF_SUBSTITUTE = range(9)
"""Kinds of edges. ``DEFER`` and ``PLACE`` are a move to a later place, ``BORROW`` and ``SKIP`` one to an earlier.

``HALF_SUBSTITUTE``: a deletion at the price of a substitution, where that is the cheaper one. It leads to no repair;
its flaws say which substitutions are worth trying."""

HALF_SUBSTITUTED = 0
"""A pseudo-step in ``borrowed``: some step before was left out by a half substitution."""

BORROW_STEP, ANYTHING, FEWER = -1, -2, -3
"""Pseudo-subjects of demands: that a step (the code) be moved to an earlier place; that anything be changed; that one
of the last steps (so many as the code) be taken out."""

Key = tuple[object, ...]
"""What tells the tasks of a node apart."""
Act = Callable[[], None]


class Edge(NamedTuple):
    """``step``: the original step concerned (from 1; 0 for an insertion). ``taken``: what is executed, if anything.

    ``own``: its effects.
    """

    source: Node
    target: Node
    kind: int
    step: int
    taken: GroundAction | None
    own: GroundEffects | None
    cost: Number

    def indifferent(self, demand: Demand, full: bool, task: RepairTask) -> bool:
        """Whether a demand passes as it is, since what is executed (or left out) here has nothing to do with it."""
        if self.own is None:
            return not (full and self.kind in (DELETE, HALF_SUBSTITUTE))
        subject = demand.subject
        return subject == BORROW_STEP or (subject >= 0 and not task.touches(self.own, demand))


class Node:
    """See :mod:`.graph`. Where a rule is ``broken``, nothing but the flaw matters."""

    __slots__ = (
        "borrowed",
        "bound",
        "broken",
        "cost",
        "cost_to_go",
        "deferred",
        "demands",
        "done",
        "edges",
        "expanded",
        "flaws",
        "now",
        "parents",
        "position",
        "swaps",
        "tasks",
        "terminal",
    )

    def __init__(
        self,
        position: int,
        now: Execution,
        deferred: frozenset[int],
        borrowed: frozenset[int],
    ) -> None:
        self.position = position
        self.now = now
        self.deferred = deferred
        self.borrowed = borrowed
        self.cost: Number = 0
        self.bound: int | None = None  # the faults ahead, as bits, once estimated
        self.broken: tuple[BrokenInstance, ...] = ()
        self.edges: list[Edge] = []
        self.parents: list[Edge] = []
        self.demands: dict[Demand, tuple[Number, bool]] = {}
        self.tasks: dict[Key, tuple[Number, Act]] = {}
        self.done: set[Key] = set()
        self.flaws: list[tuple[Key, Act, Number]] = []
        self.expanded = False
        self.swaps = 0  # the steps, as bits, that some way here deletes; a substitution may cost no more
        self.terminal = False
        self.cost_to_go: Number | None = None

    @property
    def state(self) -> State:
        """The state that the steps up to this node lead to."""
        return self.now.state


def swapped(edge: Edge) -> int:
    """The step, as a bit, that an edge deletes."""
    return 1 << edge.step if edge.kind in (DELETE, HALF_SUBSTITUTE) else 0
