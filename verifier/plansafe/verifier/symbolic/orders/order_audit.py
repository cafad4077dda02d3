"""The audit of a partially ordered plan over all of its orders, and over everything else that the task leaves open.

The order in which the plan is written, an order as different as possible, and the orders that the truth criterion
constructs are replayed first. A solver decides the rest or, if no circuit covers the plan, an enumeration. Every world
that is found is replayed, and the replay decides its verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.replay import Outcome
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitReached, WorkBudget
from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria
from plansafe.verifier.symbolic.circuits.circuit import TRUE, Literal
from plansafe.verifier.symbolic.circuits.solvers import Unsupported
from plansafe.verifier.symbolic.orders.exclusive_pairs import find_implied_literals
from plansafe.verifier.symbolic.orders.explicit_orders import (
    OrderVerdict,
    enumerate_orders,
    execute_order,
    find_greedy_order,
    replay_order,
)
from plansafe.verifier.symbolic.orders.moments import Moments
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder, find_failing_order, holds_in_every_order
from plansafe.verifier.symbolic.orders.rule_violations import InstanceViolation, RuleEncoding, encode_goal
from plansafe.verifier.symbolic.orders.template import Openings, PlanTemplate, TooHard, no_openings
from plansafe.verifier.symbolic.orders.world_search import WorldAnswer, WorldSearch
from plansafe.verifier.symbolic.worlds.verdict import WorldsVerdict
from plansafe.verifier.symbolic.worlds.world_replay import make_certain_world

EXECUTABLE, GOAL, SAFE = range(3)
MAX_WORLDS = 1_000
"""Worlds whose orders are all audited, one by one."""
MAX_STRAIGHTENED = 50_000
"""Steps that are replayed to make orders easier to read."""
MAX_OUTCOMES = 1_000
"""Orders of worlds that are replayed for the status of each rule, if no circuit decides it."""
MAX_FAILING = 3
"""Orders of the truth criterion that are replayed."""


class WorldSource(NamedTuple):
    """What the task leaves open next to the order, and a function that replays a world.

    The replay takes the steps in the order of the world, from its initial facts and numbers, with its outcomes.
    ``each_world`` yields the worlds without their orders, if they are finitely many, and ``None`` if they are too many.
    """

    openings: Openings
    replay: Callable[[Completion], OrderVerdict]
    each_world: Callable[[], Iterator[ClosedWorld | None]] | None = None


class ClosedWorld(NamedTuple):
    """A world without an order: the engine and the steps of a task in which nothing else is open."""

    world: Completion
    engine: Engine
    steps: Sequence[GroundAction | IllFormed]


class OrderAudit:
    """Audits partially ordered steps.

    ``deadline`` is a ``time.monotonic`` value. Properties that are undecided by then are UNKNOWN, and ``limits`` say
    why. ``criteria`` says which violations count; ``solver`` is ``auto``, ``sat`` or ``smt``. Whether all orders can be
    executed is polynomial for steps that add and delete unconditionally, if conditions are conjunctions; the rest is
    not, in general. ``example_worlds`` has for each of the three properties a world for each value, ``settled`` the
    values that are known to have a world, or to have none.
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
        self.open = open_worlds
        self.certain_world = make_certain_world(steps)
        self.solver = solver
        self.example_worlds: list[dict[bool | None, Completion]] = [{}, {}, {}]
        self.settled: list[set[bool]] = [set(), set(), set()]
        self.limits: dict[str, None] = {}
        self.enumeration_reason = ""
        self.moments: Moments | None = None
        self.search: WorldSearch | None = None
        self._all_violations: list[InstanceViolation] | None = None
        self._reachability: Literal | None = None

    def verdict(self) -> WorldsVerdict:
        """The verdict. Raises ``SolverMissing`` if a solver is needed and not installed."""
        try:
            if self.open is None:
                self._replay_some()
            if not self._is_complete():
                self._decide()
            if self.open is None:
                self._straighten()
        except LimitReached as limit:
            if not self._is_complete():
                self.limits[str(limit)] = None
        executable, goal, safe = [self._value(which) for which in range(3)]
        failing = [worlds.get(False) for worlds in self.example_worlds]
        return WorldsVerdict(executable, goal, safe, failing[0], failing[1], failing[2], tuple(self.limits))

    def _value(self, which: int) -> Worlds:
        worlds, settled = self.example_worlds[which], self.settled[which]
        if True in worlds and False in worlds:
            return Worlds.SOME
        if None in worlds or settled != {True, False}:
            return Worlds.UNKNOWN
        return Worlds.ALL if True in worlds else Worlds.NONE

    def _missing(self, which: int) -> list[bool]:
        return [value for value in (True, False) if value not in self.settled[which]]

    def _is_complete(self) -> bool:
        return not any([self._missing(which) for which in range(3)])

    def _settle_all(self) -> None:
        self.settled = [{True, False} for _ in range(3)]

    # -- replays ------------------------------------------------------------------------------------------------------

    def _note(self, verdict: OrderVerdict, world: Completion) -> None:
        for which, value in enumerate(verdict):
            self._note_value(which, value, world)

    def _note_value(self, which: int, value: bool | None, world: Completion) -> None:
        self.example_worlds[which].setdefault(value, world)
        if value is not None:
            self.settled[which].add(value)

    def _replay(self, world: Completion) -> OrderVerdict:
        if self.open is not None:
            verdict = self.open.replay(world)
        else:
            verdict = replay_order(self.engine, self.steps, world.order, self.criteria, self.deadline)
        self._note(verdict, world)
        return verdict

    def _replay_order(self, order: tuple[int, ...]) -> OrderVerdict:
        return self._replay(self.certain_world._replace(order=order))

    def _replay_some(self) -> None:
        listed = self.order.linear_extension()
        self._replay_order(listed)
        backwards = self.order.linear_extension([1 << step for step in range(self.order.size, 0, -1)])
        if backwards == listed:  # the order is linear
            self._settle_all()
            return
        self._replay_order(backwards)
        if True in self._missing(EXECUTABLE):
            self._replay_order(find_greedy_order(self.engine, self.steps, self.order, self.deadline))

    def _straighten(self) -> None:
        """Change the failing orders to be closer to the order of the plan's text, which is easier to read."""
        work = WorkBudget(MAX_STRAIGHTENED)
        failing_worlds = {which: worlds[False] for which, worlds in enumerate(self.example_worlds) if False in worlds}
        for order in dict.fromkeys([world.order for world in failing_worlds.values()]):
            properties = [which for which, world in failing_worlds.items() if world.order == order]
            straightened = tuple(self._straighten_order(list(order), properties, work))
            for which in properties:
                self.example_worlds[which][False] = self.certain_world._replace(order=straightened)

    def _straighten_order(self, order: list[int], properties: list[int], work: WorkBudget) -> list[int]:
        """Move steps to where the text has them, from the first step on, as long as all properties fail.

        Runs of steps are moved. A run doubles after each success, so there are few replays if the order differs in few
        places.
        """
        place, run = 0, 1
        while place < len(order) and work.left > 0:
            ahead = self.order.linear_extension([1 << step for step in order[:place]])[place : place + run]
            moved = [*order[:place], *ahead, *[step for step in order[place:] if step not in ahead]]
            work.left -= len(order)
            if moved != order:
                verdict = replay_order(self.engine, self.steps, moved, self.criteria, self.deadline)
                if any([verdict[which] is not False for which in properties]):
                    place += run == 1
                    run = max(1, run // 2)
                    continue
            order = moved
            place += run
            run *= 2
        return order

    # -- circuits -----------------------------------------------------------------------------------------------------

    def _prepare(self) -> tuple[Moments, WorldSearch]:
        """Build the circuit, if it is not built yet."""
        if self.moments is None or self.search is None:
            openings = self.open.openings if self.open is not None else no_openings(self.engine)
            template = PlanTemplate(self.engine, openings, self.steps, self.deadline)
            self.moments = Moments(template, self.order, self.deadline)
            self.search = WorldSearch(self.moments, openings.allowed, self.solver)
        return self.moments, self.search

    def _decide(self) -> None:
        try:
            moments, _ = self._prepare()
            if self.open is not None:
                self._ask(TRUE)  # some world, to begin with
            self._decide_executability(moments)
        except (TooHard, NumberTooLarge, Unsupported) as reason:
            self._enumerate(reason)
            return
        for which in (GOAL, SAFE):
            try:
                if self._missing(which):
                    literal = encode_goal(moments) if which == GOAL else self._encode_safe(moments)
                    for value in self._missing(which):
                        self._look_for(which, value, self._restrict_to_reachable(literal ^ (not value)))
            except (TooHard, NumberTooLarge, Unsupported) as reason:
                self._enumerate(reason)
        if self.limits and not self._is_complete():
            limits, self.limits = self.limits, {}
            self._enumerate(TooHard("; ".join(limits)))

    def _decide_executability(self, moments: Moments) -> None:
        doubtful = list(self._doubtful_preconditions(moments))
        if not doubtful:
            self.settled[EXECUTABLE] |= {True, False}
            moments.assume_all_taken()
            return
        for step, condition in doubtful[:MAX_FAILING]:
            if False not in self._missing(EXECUTABLE):
                break
            self._replay_failing(moments, step, condition)
        if self._missing(EXECUTABLE):
            executable = moments.is_executable()
            if False in self._missing(EXECUTABLE):
                self._look_for(EXECUTABLE, False, executable ^ 1)
            if True in self._missing(EXECUTABLE):
                implied = [part for parts in find_implied_literals(moments).values() for part in parts]
                self._look_for(EXECUTABLE, True, moments.circuit.conjunction([executable, *implied]))
        if False in self.settled[EXECUTABLE] and False not in self.example_worlds[EXECUTABLE]:
            moments.assume_all_taken()

    def _doubtful_preconditions(self, moments: Moments) -> Iterator[tuple[int, Literal]]:
        """Steps, with parts of their preconditions that the truth criterion does not show to hold in every order."""
        for step in range(1, self.order.size + 1):
            for part in moments.conjuncts(moments.template.steps[step].precondition):
                fact = moments.held_fact(part)
                if fact is None:
                    if moments.literal_at(part, step) != TRUE:
                        yield step, part
                elif not holds_in_every_order(self.order, moments.writers(fact), step, not part & 1):
                    yield step, part

    def _replay_failing(self, moments: Moments, step: int, condition: Literal) -> None:
        """Replay an order in which the condition of a step fails, if the truth criterion constructs one."""
        fact = moments.held_fact(condition)
        if fact is None or self.open is not None or not moments.writers(fact).is_unconditional:
            return
        order = find_failing_order(self.order, moments.writers(fact), step, not condition & 1)
        if order is not None:
            self._replay_order(order)

    def _encode_safe(self, moments: Moments) -> Literal:
        return moments.circuit.disjunction([violation.literal for violation in self._violations(moments)]) ^ 1

    def _violations(self, moments: Moments) -> list[InstanceViolation]:
        if self._all_violations is None:
            if self.criteria != EVERY_VIOLATION:
                raise TooHard("which violations count is judged on single orders")
            self._all_violations = RuleEncoding(moments).encode_violations()
        return self._all_violations

    def _restrict_to_reachable(self, literal: Literal) -> Literal:
        """A literal, with the literals that are known to hold in all states that a plan reaches."""
        moments, _ = self._prepare()
        circuit = moments.circuit
        if moments.all_taken:
            return literal
        if self._reachability is None:
            self._reachability = circuit.conjunction(
                [
                    circuit.either(moments.is_taken(step) ^ 1, circuit.conjunction(parts))
                    for step, parts in find_implied_literals(moments).items()
                ]
            )
        return circuit.both(literal, self._reachability)

    def _look_for(self, which: int, value: bool, literal: Literal) -> None:
        """Look for a world in which a property has a value; if there is none, the value is settled."""
        decided, verdict = self._ask(literal)
        if verdict is None:
            if decided:
                self.settled[which].add(value)
        elif verdict[which] is None:
            self.limits["a rule reads an undefined number in a world that the solver gave"] = None
        elif verdict[which] is not value:
            self.limits["a replay does not confirm a world that the solver gave"] = None

    def _ask(self, literal: Literal) -> tuple[bool, OrderVerdict | None]:
        """Whether the solver decided if a literal is true in some world, and the verdict on such a world."""
        answer = self._prepare()[1].find_world(literal)
        if answer.world is not None:
            return True, self._replay(answer.world)
        if not answer.decided:
            self.limits["the solver gave up"] = None
        return answer.decided, None

    # -- queries after the verdict ------------------------------------------------------------------------------------

    def any_replayed_world(self) -> Completion | None:
        """Some world that has been replayed; after :meth:`verdict`."""
        return next((world for worlds in self.example_worlds for world in worlds.values()), None)

    def may_matter(self, choice: tuple[int, int, tuple[int, ...]]) -> bool:
        """Whether a choice (step, number, objects) may change anything; after :meth:`verdict`."""
        return self.moments is None or choice in self.moments.template.step_encoder.alternative_counts

    def share_violating(self, instances: Iterable[tuple[int, tuple[int, ...]]]) -> Worlds:
        """In which worlds some of these instances (part, binding) are violated; after :meth:`verdict`."""
        chosen = set(instances)
        return self._share(lambda moments: self._encode_some(moments, lambda v: (v.part, v.binding) in chosen))

    def share_failing_at(self, step: int) -> Worlds:
        """In which worlds a step is the first that cannot be taken; after :meth:`verdict`."""
        return self._share(lambda moments: moments.circuit.both(moments.is_reached(step), moments.can_take(step) ^ 1))

    def find_violation(self, parts: Iterable[int]) -> WorldAnswer:
        """A world in which some of these parts of rules is violated, if there is one; after :meth:`verdict`."""
        chosen = set(parts)
        return self._find(lambda moments: self._encode_some(moments, lambda v: v.part in chosen))

    def find_world_taking(self, step: int) -> WorldAnswer:
        """A world in which a step is taken, if there is one; after :meth:`verdict`."""
        return self._find(lambda moments: moments.is_taken(step))

    def _encode_some(self, moments: Moments, is_wanted: Callable[[InstanceViolation], bool]) -> Literal:
        violations = [violation for violation in self._violations(moments) if is_wanted(violation)]
        return moments.circuit.disjunction([violation.literal for violation in violations])

    def _share(self, encode: Callable[[Moments], Literal]) -> Worlds:
        satisfying = self._find(encode)
        falsifying = self._find(lambda moments: encode(moments) ^ 1) if satisfying.decided else satisfying
        if not falsifying.decided:
            return Worlds.UNKNOWN
        if satisfying.world is None:
            return Worlds.NONE
        return Worlds.ALL if falsifying.world is None else Worlds.SOME

    def _find(self, encode: Callable[[Moments], Literal]) -> WorldAnswer:
        try:
            moments, search = self._prepare()
            return search.find_world(self._restrict_to_reachable(encode(moments)))
        except (TooHard, NumberTooLarge, Unsupported, LimitReached):
            return WorldAnswer(None, False)

    def collect_outcomes(self) -> list[Outcome] | None:
        """The plan's outcomes in every order of every world; ``None`` if there are too many."""
        if self.open is None:
            closed_worlds: Iterable[ClosedWorld | None] = [ClosedWorld(self.certain_world, self.engine, self.steps)]
        elif self.open.each_world is not None:
            closed_worlds = self.open.each_world()
        else:
            return None
        outcomes: list[Outcome] = []
        for closed_world in closed_worlds:
            if closed_world is None:
                return None
            for order in self.order.linear_extensions():
                if len(outcomes) == MAX_OUTCOMES or (self.deadline is not None and monotonic() > self.deadline):
                    return None
                outcomes.append(execute_order(closed_world.engine, closed_world.steps, order))
        return outcomes

    # -- enumeration --------------------------------------------------------------------------------------------------

    def _enumerate(self, error: Exception) -> None:
        """Decide the missing values by executing all orders, in each world if the task leaves more open."""
        reason = self.enumeration_reason = str(error) or "a number grew beyond 65,536 bits"
        try:
            if self.open is None:
                enumerate_orders(self.engine, self.steps, self.order, self.criteria, self.deadline, self._note_path)
            elif not self._audit_each_world(self.open):
                return
        except TooHard as limit:
            self.limits[reason] = None
            self.limits[str(limit)] = None
        else:
            self._settle_all()

    def _audit_each_world(self, open_worlds: WorldSource) -> bool:
        """Audit the worlds one by one; return whether all were audited."""
        if open_worlds.each_world is None:
            raise TooHard("there are too many worlds to judge one by one")
        for number, closed_world in enumerate(open_worlds.each_world()):
            if closed_world is None or number >= MAX_WORLDS:
                raise TooHard("there are too many worlds to judge one by one")
            world, engine, steps = closed_world
            audit = OrderAudit(engine, steps, self.order, self.deadline, self.criteria, None, self.solver)
            audit.verdict()
            for which in range(3):
                for value, example in audit.example_worlds[which].items():
                    self._note_value(which, value, world._replace(order=example.order))
            self.limits.update(audit.limits)
            if audit.limits or self._is_complete():
                return False
        return True

    def _note_path(self, verdict: OrderVerdict, path: tuple[int, ...]) -> bool:
        if any([value not in self.example_worlds[which] for which, value in enumerate(verdict)]):
            order = self.order.linear_extension([1 << step for step in path])
            if self._replay_order(order) != verdict:
                self._note(verdict, self.certain_world._replace(order=order))
        return self._is_complete()
