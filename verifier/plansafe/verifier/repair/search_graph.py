"""Nodes, edges and transitions of the alignment graph (see :mod:`.search`)."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import BrokenInstance
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.ground_effects import GroundEffects
from plansafe.verifier.repair.repair_task import RepairTask


class EdgeKind(IntEnum):
    """What an edge does with an original step or a new one.

    A move to a later place has two edges, ``DEFER`` at the old place and ``PLACE`` at the new one. A move to an earlier
    place has two edges, ``BORROW`` at the new place and ``SKIP`` at the old one.
    """

    KEEP = 0
    SKIP = 1
    INSERT = 2
    DELETE = 3
    SUBSTITUTE = 4
    DEFER = 5
    PLACE = 6
    BORROW = 7
    HALF_SUBSTITUTE = 8
    """A deletion at the cost of a substitution, tried if a substitution is cheaper than a deletion.

    It leads to no repair. Its flaws show which substitutions are worth trying.
    """


HALF_SUBSTITUTED = 0
"""A step number that no step has. In ``borrowed`` it says that an earlier step was left out by a half substitution."""

BORROW_STEP, ANY_CHANGE, FEWER_STEPS = -1, -2, -3
"""Subjects of demands that are not about facts (predicates and fluents have numbers from 0).

``BORROW_STEP``: move a step to an earlier place; the demand's code is the number of the step. ``ANY_CHANGE``: change
anything. ``FEWER_STEPS``: remove one of the last steps; the demand's code says how many steps these are.
"""

NodeKey = tuple[object, ...]
"""Position, deferred and borrowed steps, and the key of the execution: nodes with the same key are one node."""
TaskKey = tuple[object, ...]
"""Identifies a task (a unit of the search's agenda) among the tasks of a node."""
TaskFunction = Callable[[], None]
"""Runs a task."""
ReceivedDemand = tuple[Number, bool]
"""``cost_to_flaw`` and ``all_edits`` of a demand that a node has received (see :class:`Node`)."""


class Transition(NamedTuple):
    """What an edge does.

    ``number``: the number of the original step that the edge is about, from 1; 0 for an insertion. ``step``: the step
    that is executed; ``None`` if the edge executes none. ``position``, ``deferred`` and ``borrowed`` belong to the
    edge's target.
    """

    kind: EdgeKind
    number: int
    step: GroundAction | None
    cost: Number
    position: int
    deferred: frozenset[int]
    borrowed: frozenset[int]

    @property
    def deleted(self) -> int:
        """The step that the edge deletes, as a bit; 0 if it deletes none."""
        return 1 << self.number if self.kind in (EdgeKind.DELETE, EdgeKind.HALF_SUBSTITUTE) else 0


class Edge(NamedTuple):
    """An edge, made by a :class:`Transition`. ``effects``: of the executed step; ``None`` if no step is executed."""

    source: Node
    target: Node
    kind: EdgeKind
    number: int
    step: GroundAction | None
    effects: GroundEffects | None
    cost: Number
    deleted: int

    def is_indifferent_to(self, demand: Demand, all_edits: bool, repair_task: RepairTask) -> bool:
        """Whether the step that the edge executes or leaves out cannot affect a demand, which then passes unchanged.

        ``all_edits``: see :class:`Node`.
        """
        if self.effects is None:
            return not (all_edits and self.deleted)
        subject = demand.subject
        return subject == BORROW_STEP or (subject >= 0 and not repair_task.may_change(self.effects, demand))


class Flaw(NamedTuple):
    """A flaw that a task examines; ``cost_to_flaw``: the cost of the edits between its node and the flaw."""

    key: TaskKey
    function: TaskFunction
    cost_to_flaw: Number


class Node:
    """A node (see :mod:`.search`). If it has ``broken_instances`` of rules, only that flaw matters.

    ``demands``: for each demand received, two values. The first, ``cost_to_flaw``, is the cost of the edits between the
    node and the flaw. The second, ``all_edits``, says whether every edit may be offered for the demand; if false, only
    steps before the node are looked for that could be moved to after it.
    ``tasks``: for each task, the lower bound of the cost, beyond the node's, of the repairs that need it; and its
    function.
    ``remaining_faults``: the faults after the node, as bits; ``None`` until they are estimated.
    ``deleted``: the steps, as bits, that some path to the node deletes. To substitute such a step instead of deleting
    it costs only the difference of the two weights.
    ``done``: the keys of the tasks that have run.
    ``cost_to_go``: the least cost from the node to a terminal, set after the search; ``None`` if it reaches none.
    """

    __slots__ = (
        "borrowed", "broken_instances", "cost", "cost_to_go", "deferred", "deleted", "demands", "done", "edges",
        "execution", "flaws", "is_expanded", "is_terminal", "parents", "position", "remaining_faults", "tasks",
    )  # fmt: skip

    def __init__(self, position: int, execution: Execution, deferred: frozenset[int], borrowed: frozenset[int]) -> None:
        self.position = position
        self.execution = execution
        self.deferred = deferred
        self.borrowed = borrowed
        self.cost: Number = 0
        self.remaining_faults: int | None = None
        self.broken_instances: tuple[BrokenInstance, ...] = ()
        self.edges: list[Edge] = []
        self.parents: list[Edge] = []
        self.demands: dict[Demand, ReceivedDemand] = {}
        self.tasks: dict[TaskKey, tuple[Number, TaskFunction]] = {}
        self.done: set[TaskKey] = set()
        self.flaws: list[Flaw] = []
        self.is_expanded = False
        self.deleted = 0
        self.is_terminal = False
        self.cost_to_go: Number | None = None

    @property
    def state(self) -> State:
        """The state after the steps up to this node."""
        return self.execution.state
