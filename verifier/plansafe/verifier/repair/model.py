"""Repairs as data: edits, weights, options and results (see docs/repair.md)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.plan_purpose import PlanPurpose, PurposeHints
from plansafe.verifier.reporting.report import Report


class EditKind(Enum):
    """Kinds of edits, in the order in which ties prefer them.

    A replacement uses another object instead of one, in a step and in all later steps.
    """

    INSERT = "insert"
    MOVE = "move"
    REPLACE = "replace"
    SUBSTITUTE = "substitute"
    DELETE = "delete"


class Weights(NamedTuple):
    """What an edit of each kind costs; positive.

    In home worlds with main actions, a plan without a goal has 2 for substitutions and moves, unless the user sets
    weights (docs/repair.md).
    """

    insert: Number = 1
    delete: Number = 1
    substitute: Number = 1
    move: Number = 1
    replace: Number = 1

    @property
    def step_edit_costs(self) -> tuple[Number, ...]:
        """The costs of an insertion, a deletion, a substitution and a move."""
        return self.insert, self.delete, self.substitute, self.move

    def compute_cost(self, kinds: Iterable[str]) -> Number:
        """The cost of edits of these kinds."""
        weights: dict[str, Number] = self._asdict()
        return sum([weights[kind] for kind in kinds])


class Edit(NamedTuple):
    """An edit of one step; a replacement of an object has one entry for each step that it changes.

    ``step``: the number of the original step, from 1 (0: an insertion). ``position``: the number of the step in the
    repaired plan, from 1 (0: a deletion). ``before`` and ``after``: the texts of the original and of the new step,
    empty if there is none (a move has both, equal). ``reason``: a phrase such as ``gives (open fridge) to step 5``.
    ``earliest`` and ``latest``: the range of positions at which the step has the same effect (0: only here).
    """

    kind: EditKind
    step: int
    position: int
    before: str
    after: str
    reason: str = ""
    earliest: int = 0
    latest: int = 0


class Repair(NamedTuple):
    """A safe plan near the original.

    ``steps`` are its steps as PDDL text. ``origin[k]`` is the original step (from 1) of the step at position ``k``
    (from 0), which is kept, moved or substituted; 0 for an inserted step. ``report`` is the verdict of the replay,
    ``replayed`` whether the independent kernel confirmed it (``None``: it was not asked, or does not cover the task).
    """

    steps: tuple[str, ...]
    origin: tuple[int, ...]
    edits: tuple[Edit, ...]
    cost: Number
    report: Report
    replayed: bool | None = None

    @property
    def kinds(self) -> tuple[EditKind, ...]:
        """The kinds of its edits, sorted; a replacement counts once. Repairs with equal steps may differ in them."""
        kinds: list[EditKind] = [edit.kind for edit in self.edits if edit.kind is not EditKind.REPLACE]
        if len(kinds) < len(self.edits):
            kinds.append(EditKind.REPLACE)
        return tuple(sorted(kinds, key=lambda kind: kind.value))

    @property
    def text(self) -> str:
        """The plan, one step in a line."""
        return "".join([step + "\n" for step in self.steps])


class RepairStatus(Enum):
    """How a search for a repair ended."""

    ALREADY_SAFE = "already safe"
    FOUND = "found"
    NOT_FOUND = "not found"
    PROVED_NONE = "proved impossible"


class SameUse(NamedTuple):
    """Objects (by name) that serve the same ``use``, such as ``washing agent``."""

    use: str
    objects: frozenset[str]


BOUNDED_WORK = 200_000
"""``max_work`` for callers with other work to do (services, pages, loops): about three seconds of one processor."""


class RepairOptions(NamedTuple):
    """The options of a search for repairs.

    ``protected``: steps (from 1) that must be kept. ``max_cost``: the greatest cost of a repair; ``None``: search at
    rising costs until another limit. ``max_repairs``: the greatest number of tied repairs to list. ``time_limit_s``:
    for the whole search, which then returns its best result with a bound. ``max_work``: a limit as a number of search
    operations, which does not depend on the machine's speed.
    ``max_tie_work``: the search operations for finding the ties of a repair of least cost, and the steps of its ties
    that are checked; without a ``time_limit_s`` there is no such limit.
    ``purpose_hints``: if they are given and the task has no goal, the steps that the plan is for are kept
    (:mod:`.plan_purpose`), unless no repair that keeps them is found in a part of the time. ``same_use``: groups of
    objects that may replace each other; without groups, nothing is replaced.
    """

    weights: Weights = Weights()
    protected: frozenset[int] = frozenset()
    max_cost: Number | None = None
    max_repairs: int = 100
    time_limit_s: float | None = 30.0
    max_work: int | None = None
    max_tie_work: int = 50_000
    purpose_hints: PurposeHints | None = None
    same_use: tuple[SameUse, ...] = ()


class RepairResult(NamedTuple):
    """The result of a search for repairs.

    ``repairs`` are all tied optima in the documented order (the best first), each replayed. ``bound``: no repair costs
    less. ``optimal``: the cost of ``repairs`` is proved least; then no limit is named in ``detail``. ``complete``: all
    repairs of that cost are listed. ``detail`` says in words what limited the search or proved that there is none.
    ``expanded``: the number of expanded nodes. ``purpose``: the steps that a plan without a goal is for, and whether
    the repairs keep them.
    """

    status: RepairStatus
    repairs: tuple[Repair, ...] = ()
    bound: Number = 0
    optimal: bool = False
    complete: bool = False
    detail: str = ""
    expanded: int = 0
    purpose: PlanPurpose = PlanPurpose()
