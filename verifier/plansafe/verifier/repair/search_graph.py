"""Nodes, edges and transitions of the alignment graph (see :mod:`.search`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import BrokenInstance
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.ground_effects import GroundEffects
from plansafe.verifier.repair.repair_task import RepairTask

KEEP, SKIP, INSERT, DELETE, SUBSTITUTE, DEFER, PLACE, BORROW, HALF_SUBSTITUTE = range(9)
"""Kinds of edges. ``DEFER`` and ``PLACE`` are a move to a later place, ``BORROW`` and ``SKIP`` one to an earlier place.

``HALF_SUBSTITUTE``: a deletion with the cost of a substitution, if that is the cheaper one. It leads to no repair; its
flaws show which substitutions are worth trying."""

HALF_SUBSTITUTED = 0
"""A pseudo-step in ``borrowed``: an earlier step was left out by a half substitution."""

BORROW_STEP, ANY_CHANGE, FEWER_STEPS = -1, -2, -3
"""Pseudo-subjects of demands: move a step (its number is the code) to an earlier place; change anything; remove one of
the last steps (as many as the code)."""

TaskKey = tuple[object, ...]
"""Identifies a task among the tasks of a node."""
TaskFunction = Callable[[], None]


class Transition(NamedTuple):
    """What an edge does.

    ``number``: the original step concerned (from 1; 0 for an insertion). ``step``: the step that is executed, if any.
    ``position``, ``deferred`` and ``borrowed`` describe the target.
    """

    kind: int
    number: int
    step: GroundAction | None
    cost: Number
    position: int
    deferred: frozenset[int]
    borrowed: frozenset[int]

    @property
    def deleted(self) -> int:
        """The step that it deletes, as a bit."""
        return 1 << self.number if self.kind in (DELETE, HALF_SUBSTITUTE) else 0


class Edge(NamedTuple):
    """An edge made by a :class:`Transition`; ``effects``: of the executed step."""

    source: Node
    target: Node
    kind: int
    number: int
    step: GroundAction | None
    effects: GroundEffects | None
    cost: Number
    deleted: int

    def is_indifferent_to(self, demand: Demand, full: bool, task: RepairTask) -> bool:
        """Whether a demand passes unchanged, because the step that is executed or left out cannot affect it."""
        if self.effects is None:
            return not (full and self.deleted)
        subject = demand.subject
        return subject == BORROW_STEP or (subject >= 0 and not task.may_change(self.effects, demand))


class Node:
    """A node (see :mod:`.search`). If it has ``broken`` rules, only that flaw matters.

    ``faults``: the remaining faults as bits, once estimated. ``deleted``: the steps, as bits, that some path to the
    node deletes; a substitution instead costs only the surcharge. ``demands``: for each demand, the cost of the edits
    between the node and the flaw, and whether it arrived in full (see :meth:`RepairSearch.receive`).
    """

    __slots__ = (
        "borrowed", "broken", "cost", "cost_to_go", "deferred", "deleted", "demands", "done", "edges", "execution",
        "expanded", "faults", "flaws", "parents", "position", "tasks", "terminal",
    )  # fmt: skip

    def __init__(self, position: int, execution: Execution, deferred: frozenset[int], borrowed: frozenset[int]) -> None:
        self.position = position
        self.execution = execution
        self.deferred = deferred
        self.borrowed = borrowed
        self.cost: Number = 0
        self.faults: int | None = None
        self.broken: tuple[BrokenInstance, ...] = ()
        self.edges: list[Edge] = []
        self.parents: list[Edge] = []
        self.demands: dict[Demand, tuple[Number, bool]] = {}
        self.tasks: dict[TaskKey, tuple[Number, TaskFunction]] = {}
        self.done: set[TaskKey] = set()
        self.flaws: list[tuple[TaskKey, TaskFunction, Number]] = []
        self.expanded = False
        self.deleted = 0
        self.terminal = False
        self.cost_to_go: Number | None = None

    @property
    def state(self) -> State:
        """The state after the steps up to this node."""
        return self.execution.state
