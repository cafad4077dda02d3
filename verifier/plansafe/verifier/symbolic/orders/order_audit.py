"""The audit of a partially ordered plan over all of its orders, and over everything else that the task leaves open.

The order in which the plan is written, an order as different as possible, and the orders that the truth criterion
constructs are replayed first. A solver decides the rest or, if no circuit covers the plan, an enumeration. Every world
that is found is replayed, and the replay decides its verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.outcome import Outcome
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitReached, WorkBudget
from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria
from plansafe.verifier.symbolic.circuits.circuit import TRUE, Literal
from plansafe.verifier.symbolic.orders.exclusive_pairs import find_implied_literals
from plansafe.verifier.symbolic.orders.explicit_orders import (
    OrderVerdict,
    enumerate_orders,
    execute_order,
    find_greedy_order,
    replay_order,
)
from plansafe.verifier.symbolic.orders.fact_timeline import FactTimeline
from plansafe.verifier.symbolic.orders.order_encoding import UNDECIDABLE_ERRORS, OrderEncoding
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder, find_failing_order
from plansafe.verifier.symbolic.orders.rule_violations import encode_goal
from plansafe.verifier.symbolic.orders.template import Openings, TooHard
from plansafe.verifier.symbolic.worlds.verdict import WorldsVerdict
from plansafe.verifier.symbolic.worlds.world_replay import make_certain_world


class PlanProperty(IntEnum):
    """The properties of a verdict, by their place in :class:`OrderVerdict`."""

    EXECUTABLE = 0
    GOAL = 1
    SAFE = 2


MAX_WORLDS = 1_000
"""Maximum number of worlds whose orders are audited one by one."""
MAX_STRAIGHTENING_STEPS = 50_000
"""Maximum number of steps that are replayed to make orders easier to read."""
MAX_OUTCOMES = 1_000
"""Maximum number of orders of worlds that are replayed for the status of each rule, if no circuit decides it."""
MAX_FAILING_ORDERS = 3
"""Maximum number of orders of the truth criterion that are replayed."""


class WorldSource(NamedTuple):
    """What the task leaves open in addition to the order, and a function that replays a world.

    ``replay`` takes the steps in the order of the world, from its initial facts and numbers, with its outcomes.
    ``iterate_worlds`` yields the worlds without their orders, and ``None`` at the end if it could not find all of them.
    It is ``None`` if there are infinitely many.
    """

    openings: Openings
    replay: Callable[[Completion], OrderVerdict]
    iterate_worlds: Callable[[], Iterator[ClosedWorld | None]] | None = None


class ClosedWorld(NamedTuple):
    """A world without an order: the engine and the steps of a task in which nothing else is open."""

    world: Completion
    engine: Engine
    steps: Sequence[GroundAction | IllFormed]


class _ReplayedAnswer(NamedTuple):
    """The verdict on a world that the solver found; ``None`` if it found none.

    ``is_decided`` is false if the solver gave up, so that there may be a world nevertheless.
    """

    is_decided: bool
    verdict: OrderVerdict | None


class OrderAudit:
    """Audits partially ordered steps.

    ``deadline`` is a ``time.monotonic`` value. Properties that are undecided by then are UNKNOWN, and ``limits`` say
    why. ``criteria`` says which violations count. ``open_worlds`` is ``None`` if only the order is open. ``solver`` is
    ``auto``, ``sat`` or ``smt``.

    ``example_worlds``: for each property and each value (``None``: undecided), a world in which it has this value.
    ``settled_values``: for each property, the values for which it is known whether such a world exists.
    ``enumeration_reason``: why all orders were enumerated; empty if they were not.

    The time is polynomial to decide whether all orders can be executed, if steps add and delete unconditionally and
    conditions are conjunctions. In general, the other questions are not polynomial.
    """

    def __init__(
        self,
        engine: Engine,
        steps: Sequence[GroundAction | IllFormed],
        order: PartialOrder,
        deadline: float | None = None,
        criteria: VerdictCriteria = EVERY_VIOLATION,
        open_worlds: WorldSource | None = None,
        solver: str = "auto",
    ) -> None:
        self.engine = engine
        self.steps = steps
        self.order = order
        self.deadline = deadline
        self.criteria = criteria
        self.open_worlds = open_worlds
        self.certain_world = make_certain_world(steps)
        self.solver = solver
        self.example_worlds: dict[PlanProperty, dict[bool | None, Completion]] = {
            plan_property: {} for plan_property in PlanProperty
        }
        self.settled_values: dict[PlanProperty, set[bool]] = {plan_property: set() for plan_property in PlanProperty}
        self.limits: dict[str, None] = {}
        self.enumeration_reason = ""
        openings = None if open_worlds is None else open_worlds.openings
        self.encoding = OrderEncoding(engine, steps, order, deadline, criteria, openings, solver)

    def decide_verdict(self) -> WorldsVerdict:
        """Audit the plan and return the verdict. Raises ``SolverMissing`` if a solver is needed and not installed."""
        try:
            if self.open_worlds is None:
                self._replay_first_orders()
            if not self._is_complete():
                self._settle_missing_values()
            if self.open_worlds is None:
                self._straighten_failing_orders()
        except LimitReached as limit:
            if not self._is_complete():
                self.limits[str(limit)] = None
        executable, goal, safe = [self._decide_share_of_worlds(plan_property) for plan_property in PlanProperty]
        inexecutable, unmet_goal, unsafe = [
            self.example_worlds[plan_property].get(False) for plan_property in PlanProperty
        ]
        return WorldsVerdict(executable, goal, safe, inexecutable, unmet_goal, unsafe, tuple(self.limits))

    def _decide_share_of_worlds(self, plan_property: PlanProperty) -> Worlds:
        """Decide from the examples and the settled values whether a property holds in all, some or no worlds."""
        worlds, settled_values = self.example_worlds[plan_property], self.settled_values[plan_property]
        if True in worlds and False in worlds:
            return Worlds.SOME
        if None in worlds or settled_values != {True, False}:
            return Worlds.UNKNOWN
        return Worlds.ALL if True in worlds else Worlds.NONE

    def _list_missing_values(self, plan_property: PlanProperty) -> list[bool]:
        """The values of a property for which it is not settled whether some world has them."""
        return [value for value in (True, False) if value not in self.settled_values[plan_property]]

    def _is_complete(self) -> bool:
        return not any([self._list_missing_values(plan_property) for plan_property in PlanProperty])

    def _settle_all_values(self) -> None:
        self.settled_values = {plan_property: {True, False} for plan_property in PlanProperty}

    # -- replays ------------------------------------------------------------------------------------------------------

    def _store_verdict(self, verdict: OrderVerdict, world: Completion) -> None:
        """Store the value of each property in a world."""
        for plan_property, value in zip(PlanProperty, verdict, strict=True):
            self._store_value(plan_property, value, world)

    def _store_value(self, plan_property: PlanProperty, value: bool | None, world: Completion) -> None:
        self.example_worlds[plan_property].setdefault(value, world)
        if value is not None:
            self.settled_values[plan_property].add(value)

    def _replay(self, world: Completion) -> OrderVerdict:
        """Replay a world, store its verdict and return it."""
        if self.open_worlds is not None:
            verdict = self.open_worlds.replay(world)
        else:
            verdict = replay_order(self.engine, self.steps, world.order, self.criteria, self.deadline)
        self._store_verdict(verdict, world)
        return verdict

    def _replay_order(self, order: tuple[int, ...]) -> OrderVerdict:
        return self._replay(self.certain_world._replace(order=order))

    def _replay_first_orders(self) -> None:
        """Replay the order of the text, one as different as possible and, if both fail, one of executable steps."""
        first_order = self.order.find_linear_extension()
        self._replay_order(first_order)
        reversed_order = self.order.find_linear_extension([1 << step for step in range(self.order.size, 0, -1)])
        if reversed_order == first_order:  # the order is linear
            self._settle_all_values()
            return
        self._replay_order(reversed_order)
        if True in self._list_missing_values(PlanProperty.EXECUTABLE):
            self._replay_order(find_greedy_order(self.engine, self.steps, self.order, self.deadline))

    def _straighten_failing_orders(self) -> None:
        """Make the failing orders more similar to the order of the plan's text, so that people can read them."""
        work = WorkBudget(MAX_STRAIGHTENING_STEPS)
        failing_worlds = {
            failed_property: worlds[False] for failed_property, worlds in self.example_worlds.items() if False in worlds
        }
        for order in dict.fromkeys([world.order for world in failing_worlds.values()]):
            properties = [plan_property for plan_property, world in failing_worlds.items() if world.order == order]
            straightened_order = tuple(self._straighten_order(list(order), properties, work))
            for plan_property in properties:
                self.example_worlds[plan_property][False] = self.certain_world._replace(order=straightened_order)

    def _straighten_order(self, order: list[int], properties: list[PlanProperty], work: WorkBudget) -> list[int]:
        """Move steps to their places in the text, from the first step on, as long as all properties fail.

        Several steps are moved at once. Their number doubles after each success and halves after each failure, so there
        are few replays if the order differs from the text in few places.
        """
        start, move_count = 0, 1
        while start < len(order) and work.left > 0:
            textual_order = self.order.find_linear_extension([1 << step for step in order[:start]])
            next_steps = textual_order[start : start + move_count]
            changed_order = [*order[:start], *next_steps, *[step for step in order[start:] if step not in next_steps]]
            work.left -= len(order)
            if changed_order != order:
                verdict = replay_order(self.engine, self.steps, changed_order, self.criteria, self.deadline)
                if any([verdict[plan_property] is not False for plan_property in properties]):
                    if move_count == 1:
                        start += 1  # a single step that cannot be moved stays where it is
                    move_count = max(1, move_count // 2)
                    continue
            order = changed_order
            start += move_count
            move_count *= 2
        return order

    # -- circuits -----------------------------------------------------------------------------------------------------

    def _settle_missing_values(self) -> None:
        """Settle the missing values by a solver, or by enumeration if no circuit decides them."""
        try:
            timeline = self.encoding.build()
            if self.open_worlds is not None:
                self._search_and_replay(TRUE)  # any world, as a first example
            self._decide_executability(timeline)
        except UNDECIDABLE_ERRORS as reason:
            self._enumerate_orders(reason)
            return
        for plan_property in (PlanProperty.GOAL, PlanProperty.SAFE):
            try:
                missing_values = self._list_missing_values(plan_property)
                if not missing_values:
                    continue
                is_goal = plan_property == PlanProperty.GOAL
                literal = encode_goal(timeline) if is_goal else self.encoding.encode_is_safe(timeline)
                for value in missing_values:
                    has_value = literal if value else literal ^ 1
                    self._settle_value(plan_property, value, self.encoding.restrict_to_reachable(has_value))
            except UNDECIDABLE_ERRORS as reason:
                self._enumerate_orders(reason)
        if self.limits and not self._is_complete():
            limits, self.limits = self.limits, {}
            self._enumerate_orders(TooHard("; ".join(limits)))

    def _decide_executability(self, timeline: FactTimeline) -> None:
        """Settle in which worlds all steps can be taken, by the truth criterion first and then by the solver."""
        doubtful_conjuncts = list(self.encoding.iterate_doubtful_preconditions(timeline))
        if not doubtful_conjuncts:
            self.settled_values[PlanProperty.EXECUTABLE] |= {True, False}
            timeline.assume_all_taken()
            return
        for step, condition in doubtful_conjuncts[:MAX_FAILING_ORDERS]:
            if False not in self._list_missing_values(PlanProperty.EXECUTABLE):
                break
            self._replay_failing_order(timeline, step, condition)
        if self._list_missing_values(PlanProperty.EXECUTABLE):
            executable = timeline.encode_is_executable()
            if False in self._list_missing_values(PlanProperty.EXECUTABLE):
                self._settle_value(PlanProperty.EXECUTABLE, False, executable ^ 1)
            if True in self._list_missing_values(PlanProperty.EXECUTABLE):
                implied_literals = [part for parts in find_implied_literals(timeline).values() for part in parts]
                reachable = timeline.circuit.conjunction([executable, *implied_literals])
                self._settle_value(PlanProperty.EXECUTABLE, True, reachable)
        is_settled = False in self.settled_values[PlanProperty.EXECUTABLE]
        if is_settled and False not in self.example_worlds[PlanProperty.EXECUTABLE]:
            timeline.assume_all_taken()

    def _replay_failing_order(self, timeline: FactTimeline, step: int, condition: Literal) -> None:
        """Replay an order in which the condition of a step fails, if the truth criterion constructs one."""
        fact = timeline.find_fact(condition)
        if fact is None or self.open_worlds is not None or not timeline.find_writers(fact).is_unconditional:
            return
        order = find_failing_order(self.order, timeline.find_writers(fact), step, not condition & 1)
        if order is not None:
            self._replay_order(order)

    def _settle_value(self, plan_property: PlanProperty, value: bool, literal: Literal) -> None:
        """Settle whether some world, in which ``literal`` is true, gives a property a value: search for one."""
        is_decided, verdict = self._search_and_replay(literal)
        if verdict is None:
            if is_decided:
                self.settled_values[plan_property].add(value)
        elif verdict[plan_property] is None:
            self.limits["a rule reads an undefined number in a world that the solver gave"] = None
        elif verdict[plan_property] is not value:
            self.limits["a replay does not confirm a world that the solver gave"] = None

    def _search_and_replay(self, literal: Literal) -> _ReplayedAnswer:
        """Search for a world in which a literal is true, and replay it."""
        answer = self.encoding.find_world(literal)
        if answer.world is not None:
            return _ReplayedAnswer(True, self._replay(answer.world))
        if not answer.is_decided:
            self.limits["the solver gave up"] = None
        return _ReplayedAnswer(answer.is_decided, None)

    # -- after the verdict --------------------------------------------------------------------------------------------

    def find_replayed_world(self) -> Completion | None:
        """Some world that has been replayed; ``None`` if none has. Call it after :meth:`decide_verdict`."""
        return next((world for worlds in self.example_worlds.values() for world in worlds.values()), None)

    def collect_outcomes(self) -> list[Outcome] | None:
        """The plan's outcomes in every order of every world; ``None`` if there are too many."""
        if self.open_worlds is None:
            closed_worlds: Iterable[ClosedWorld | None] = [ClosedWorld(self.certain_world, self.engine, self.steps)]
        elif self.open_worlds.iterate_worlds is not None:
            closed_worlds = self.open_worlds.iterate_worlds()
        else:
            return None
        outcomes: list[Outcome] = []
        for closed_world in closed_worlds:
            if closed_world is None:
                return None
            for order in self.order.iterate_linear_extensions():
                if len(outcomes) == MAX_OUTCOMES or (self.deadline is not None and monotonic() > self.deadline):
                    return None
                outcomes.append(execute_order(closed_world.engine, closed_world.steps, order))
        return outcomes

    # -- enumeration --------------------------------------------------------------------------------------------------

    def _enumerate_orders(self, error: Exception) -> None:
        """Decide the missing values by executing all orders, in each world if the task leaves more than the order open.

        ``error`` is the reason why the solver did not decide them.
        """
        reason = self.enumeration_reason = str(error) or "a number grew beyond 65,536 bits"
        try:
            if self.open_worlds is None:
                enumerate_orders(
                    self.engine, self.steps, self.order, self.criteria, self.deadline, self._store_enumerated_verdict
                )
            elif not self._audit_each_world(self.open_worlds):
                return
        except TooHard as limit:
            self.limits[reason] = None
            self.limits[str(limit)] = None
        else:
            self._settle_all_values()

    def _audit_each_world(self, open_worlds: WorldSource) -> bool:
        """Audit the worlds one by one; return whether all were audited."""
        if open_worlds.iterate_worlds is None:
            raise TooHard("there are too many worlds to judge one by one")
        for number, closed_world in enumerate(open_worlds.iterate_worlds()):
            if closed_world is None or number >= MAX_WORLDS:
                raise TooHard("there are too many worlds to judge one by one")
            world, engine, steps = closed_world
            audit = OrderAudit(engine, steps, self.order, self.deadline, self.criteria, None, self.solver)
            audit.decide_verdict()
            for plan_property in PlanProperty:
                for value, example in audit.example_worlds[plan_property].items():
                    self._store_value(plan_property, value, world._replace(order=example.order))
            self.limits.update(audit.limits)
            if audit.limits or self._is_complete():
                return False
        return True

    def _store_enumerated_verdict(self, verdict: OrderVerdict, taken_order: tuple[int, ...]) -> bool:
        """Store the verdict of an enumerated order; return whether no further order is needed.

        ``taken_order`` ends with the first failed step, if one fails. All orders that continue it have this verdict.
        """
        values = zip(PlanProperty, verdict, strict=True)
        if any([value not in self.example_worlds[plan_property] for plan_property, value in values]):
            order = self.order.find_linear_extension([1 << step for step in taken_order])
            if self._replay_order(order) != verdict:
                self._store_verdict(verdict, self.certain_world._replace(order=order))
        return self._is_complete()
