"""The verdict on a partially ordered plan over all of its orders, and over whatever else is open.

An order that the plan is written in, one that is as different as can be, and the orders that the criterion of threats
constructs are replayed first. What they leave open, a solver decides, or, where no circuit covers the plan, an
enumeration. Worlds that are found count for what their replay says.
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
from plansafe.verifier.symbolic.orders.partial_order import (
    PartialOrder,
    Precedence,
    find_failing_order,
    holds_in_every_order,
)
from plansafe.verifier.symbolic.orders.rule_violations import InstanceViolation, RuleEncoding, encode_goal
from plansafe.verifier.symbolic.orders.template import Openings, PlanTemplate, TooHard, no_openings
from plansafe.verifier.symbolic.orders.world_search import WorldAnswer, WorldSearch
from plansafe.verifier.symbolic.worlds.verdict import WorldsVerdict
from plansafe.verifier.symbolic.worlds.world_replay import make_certain_world

EXECUTABLE, GOAL, SAFE = range(3)
MAX_WORLDS = 1_000
"""Worlds of which all orders are looked at."""
MAX_STRAIGHTENED = 50_000
"""Steps that are replayed for the sake of orders that are easy to read."""
MAX_OUTCOMES = 1_000
"""Orders of worlds that are replayed to know what becomes of each rule, where no circuit says."""
MAX_FAILING = 3
"""Orders of the criterion that are replayed."""


class OpenWorlds(NamedTuple):
    """What is open beside the order, and how a world is judged in which it is not.

    The replay takes the steps in the order of the world, from its initial facts and numbers, with its outcomes.
    ``each``, where there are finitely many worlds but for the order: each with its engine and steps, or ``None`` if
    they could not all be found.
    """

    openings: Openings
    replay: Callable[[Completion], OrderVerdict]
    each: Callable[[], Iterator[ClosedWorld | None]] | None = None


class ClosedWorld(NamedTuple):
    """A world without an order: a task and steps in which nothing else is open."""

    world: Completion
    engine: Engine
    steps: Sequence[GroundAction | IllFormed]


def audit_orders(
    engine: Engine,
    steps: Sequence[GroundAction | IllFormed],
    pairs: Sequence[Precedence],
    deadline: float | None = None,
    *,
    criteria: VerdictCriteria = EVERY_VIOLATION,
    open_worlds: OpenWorlds | None = None,
    solver: str = "auto",
) -> WorldsVerdict:
    """Judge steps of which ``pairs`` (numbers from 1) say which come before which.

    ``deadline`` is a ``time.monotonic`` value; what is not decided by then is UNKNOWN, and ``limits`` say why.
    ``criteria`` says which violations count; ``solver`` is ``auto``, ``sat`` or ``smt``. Raises
    ``Cyclic``, and ``SolverMissing`` if a solver is needed and not installed. Whether all orders can be executed is
    polynomial for steps that add and delete unconditionally, under conditions that are conjunctions; the rest is not,
    in general.
    """
    order = PartialOrder(len(steps), pairs)
    return OrderAudit(engine, steps, order, deadline, criteria, open_worlds, solver).verdict()


class OrderAudit:
    """A verdict in the making: for each of the three properties, a world in which it is so, and one where it is not."""

    def __init__(
        self,
        engine: Engine,
        steps: Sequence[GroundAction | IllFormed],
        order: PartialOrder,
        deadline: float | None,
        criteria: VerdictCriteria,
        open_worlds: OpenWorlds | None,
        solver: str,
    ) -> None:
        self.engine = engine
        self.steps = steps
        self.order = order
        self.deadline = deadline
        self.criteria = criteria
        self.open = open_worlds
        self.certain = make_certain_world(steps)
        self.solver = solver
        self.example_worlds: list[dict[bool | None, Completion]] = [{}, {}, {}]
        self.settled: list[set[bool]] = [set(), set(), set()]
        """For each property the values that are known to have a world, or to have none."""
        self.limits: dict[str, None] = {}
        self.enumeration_reason = ""
        self.moments: Moments | None = None
        self.search: WorldSearch | None = None
        self.violations: list[InstanceViolation] | None = None
        self._reachable: Literal | None = None

    def verdict(self) -> WorldsVerdict:
        """The verdict."""
        try:
            if self.open is None:
                self._replay_some()
            if not self._complete():
                self._decide()
            if self.open is None:
                self._straighten()
        except LimitReached as limit:
            if not self._complete():
                self.limits[str(limit)] = None
        values = [self._value(which) for which in range(3)]
        failing = [seen.get(False) for seen in self.example_worlds]
        executable, goal, safe = values
        return WorldsVerdict(executable, goal, safe, failing[0], failing[1], failing[2], tuple(self.limits))

    def _value(self, which: int) -> Worlds:
        seen, settled = self.example_worlds[which], self.settled[which]
        if True in seen and False in seen:
            return Worlds.SOME
        if None in seen or settled != {True, False}:
            return Worlds.UNKNOWN
        return Worlds.ALL if True in seen else Worlds.NONE

    # -- replays ------------------------------------------------------------------------------------------------------

    def _note(self, judged: OrderVerdict, world: Completion) -> None:
        for which, value in enumerate(judged):
            self.example_worlds[which].setdefault(value, world)
            if value is not None:
                self.settled[which].add(value)

    def _replay(self, world: Completion) -> OrderVerdict:
        if self.open is not None:
            judged = self.open.replay(world)
        else:
            judged = replay_order(self.engine, self.steps, world.order, self.criteria, self.deadline)
        self._note(judged, world)
        return judged

    def _replay_order(self, order: tuple[int, ...]) -> OrderVerdict:
        return self._replay(self.certain._replace(order=order))

    def _replay_some(self) -> None:
        listed = self.order.linear_extension()
        assert listed is not None
        self._replay_order(listed)
        backwards = self.order.linear_extension([1 << step for step in range(self.order.size, 0, -1)])
        assert backwards is not None
        if backwards != listed:
            self._replay_order(backwards)
        else:  # the order is linear
            self.settled = [{True, False} for _ in range(3)]
            return
        if True in self._missing(EXECUTABLE):
            self._replay_order(find_greedy_order(self.engine, self.steps, self.order, self.deadline))

    def _straighten(self) -> None:
        """Bring the orders in which something fails nearer to that of the plan's text, which is easier to read."""
        work = WorkBudget(MAX_STRAIGHTENED)
        for order in dict.fromkeys([seen[False].order for seen in self.example_worlds if False in seen]):
            about = [
                which for which, seen in enumerate(self.example_worlds) if False in seen and seen[False].order == order
            ]
            found = self._straightened(list(order), about, work)
            for which in about:
                self.example_worlds[which][False] = self.certain._replace(order=tuple(found))

    def _straightened(self, order: list[int], about: list[int], work: WorkBudget) -> list[int]:
        """As many steps as possible where the text has them: runs of them, from the first step on, in which all fails.

        A run doubles as long as that goes well, so there are few replays where the order differs in few places.
        """
        place, run = 0, 1
        while place < len(order) and work.left > 0:
            wanted = self.order.linear_extension([1 << step for step in order[:place]])
            assert wanted is not None
            ahead = list(wanted[place : place + run])
            moved = [*order[:place], *ahead, *[step for step in order[place:] if step not in ahead]]
            work.left -= len(order)
            if moved != order:
                judged = replay_order(self.engine, self.steps, moved, self.criteria, self.deadline)
                if any([judged[which] is not False for which in about]):
                    place += run == 1
                    run = max(1, run // 2)
                    continue
            order = moved
            place += run
            run *= 2
        return order

    def _missing(self, which: int) -> list[bool]:
        return [value for value in (True, False) if value not in self.settled[which]]

    def _complete(self) -> bool:
        return not any([self._missing(which) for which in range(3)])

    # -- circuits -----------------------------------------------------------------------------------------------------

    def _prepare(self) -> tuple[Moments, WorldSearch]:
        """The circuit, before anything is asked of it."""
        if self.moments is None or self.search is None:
            openings = self.open.openings if self.open is not None else no_openings(self.engine)
            template = PlanTemplate(self.engine, openings, self.steps, self.deadline)
            self.moments = Moments(template, self.order, self.deadline)
            self.search = WorldSearch(self.moments, openings.allowed, self.solver)
        return self.moments, self.search

    def _decide(self) -> None:
        try:
            self._prepare()
            assert self.moments is not None
            if self.open is not None:
                self._ask(TRUE)  # some world, to begin with
            self._executability(self.moments)
        except (TooHard, NumberTooLarge, Unsupported) as reason:
            self._one_by_one(reason)
            return
        for which in (GOAL, SAFE):
            try:
                if self._missing(which):
                    self._settle(which, encode_goal(self.moments) if which == GOAL else self._safe(self.moments))
            except (TooHard, NumberTooLarge, Unsupported) as reason:
                self._one_by_one(reason)
        if self.limits and not self._complete():
            limits, self.limits = self.limits, {}
            self._one_by_one(TooHard("; ".join(limits)))

    def _executability(self, moments: Moments) -> None:
        doubtful = list(self._doubtful(moments))
        if not doubtful:
            self.settled[EXECUTABLE] |= {True, False}
            moments.assure()
            return
        for step, condition in doubtful[:MAX_FAILING]:
            if False not in self._missing(EXECUTABLE):
                break
            self._replay_failing(moments, step, condition)
        circuit = moments.circuit
        if self._missing(EXECUTABLE):
            literal = moments.executable()
            if False in self._missing(EXECUTABLE):
                self._look(EXECUTABLE, False, literal ^ 1)
            if True in self._missing(EXECUTABLE):
                found = find_implied_literals(moments)
                self._look(
                    EXECUTABLE, True, circuit.conjunction([literal, *[part for p in found.values() for part in p]])
                )
        if False in self.settled[EXECUTABLE] and False not in self.example_worlds[EXECUTABLE]:
            moments.assure()

    def _doubtful(self, moments: Moments) -> Iterator[tuple[int, Literal]]:
        """Steps, with the parts of their conditions that need not hold in every order as far as the criterion tells."""
        for step in range(1, self.order.size + 1):
            for part in moments.conjuncts(moments.template.steps[step].able):
                fact = moments.held(part)
                if fact is None:
                    if moments.at(part, step) != TRUE:
                        yield step, part
                elif not holds_in_every_order(self.order, moments.writers(fact), step, not part & 1):
                    yield step, part

    def _replay_failing(self, moments: Moments, step: int, condition: Literal) -> None:
        """Replay an order in which the condition of a step fails, where the criterion constructs one."""
        fact = moments.held(condition)
        if fact is None or self.open is not None or not moments.writers(fact).unconditional:
            return
        order = find_failing_order(self.order, moments.writers(fact), step, not condition & 1)
        if order is not None:
            self._replay_order(order)

    def _safe(self, moments: Moments) -> Literal:
        if self.criteria != EVERY_VIOLATION:
            raise TooHard("which violations count is judged on single orders")
        self.violations = RuleEncoding(moments).encode_violations()
        return moments.circuit.disjunction([v.literal for v in self.violations]) ^ 1

    def _reached(self, literal: Literal) -> Literal:
        """A literal, with what is known to hold in the states that a plan reaches."""
        moments, _ = self._prepare()
        circuit = moments.circuit
        if moments.assured:
            return literal
        if self._reachable is None:
            self._reachable = circuit.conjunction(
                [
                    circuit.either(moments.taken(step) ^ 1, circuit.conjunction(parts))
                    for step, parts in find_implied_literals(moments).items()
                ]
            )
        return circuit.both(literal, self._reachable)

    def _settle(self, which: int, literal: Literal) -> None:
        """Look for a world for each value that has none yet."""
        for value in self._missing(which):
            self._look(which, value, self._reached(literal ^ (not value)))

    def _look(self, which: int, value: bool, literal: Literal) -> None:
        """Look for a world in which a property has a value; finding none settles that value."""
        judged = self._ask(literal)
        if judged is None:
            return
        if not judged:
            self.settled[which].add(value)
        elif judged[which] is None:
            self.limits["a rule reads an undefined number in a world that the solver gave"] = None
        elif judged[which] is not value:
            self.limits["a replay does not confirm a world that the solver gave"] = None

    def _ask(self, literal: Literal) -> OrderVerdict | tuple[()] | None:
        """The judgement on a world in which a literal is true; nothing if there is none, ``None`` if that is open."""
        answer = self._prepare()[1].find_world(literal)
        if answer.world is not None:
            return self._replay(answer.world)
        if not answer.decided:
            self.limits["the solver gave up"] = None
            return None
        return ()

    # -- in how many worlds -------------------------------------------------------------------------------------------

    def any_replayed_world(self) -> Completion | None:
        """Some world that has been replayed; after :meth:`verdict`."""
        return next((world for seen in self.example_worlds for world in seen.values()), None)

    def may_matter(self, choice: tuple[int, int, tuple[int, ...]]) -> bool:
        """Whether a choice (step, number, objects) may change anything; after :meth:`verdict`."""
        return self.moments is None or choice in self.moments.template.stepper.alternative_counts

    def share_violating(self, instances: Iterable[tuple[int, tuple[int, ...]]]) -> Worlds:
        """In which worlds some of these instances (part, binding) are violated; after :meth:`verdict`."""
        try:
            moments, _ = self._prepare()
            if self.violations is None:
                self._safe(moments)
            wanted = set(instances)
            literals = [v.literal for v in self.violations or () if (v.part, v.binding) in wanted]
            return self._how_many(moments.circuit.disjunction(literals))
        except (TooHard, NumberTooLarge, Unsupported, LimitReached):
            return Worlds.UNKNOWN

    def find_violation(self, parts: Iterable[int]) -> WorldAnswer:
        """A world in which some of these parts of rules is violated, if there is one; after :meth:`verdict`."""
        try:
            moments, search = self._prepare()
            if self.violations is None:
                self._safe(moments)
            wanted = set(parts)
            literals = [v.literal for v in self.violations or () if v.part in wanted]
            return search.find_world(self._reached(moments.circuit.disjunction(literals)))
        except (TooHard, NumberTooLarge, Unsupported, LimitReached):
            return WorldAnswer(None, False)

    def find_world_taking(self, step: int) -> WorldAnswer:
        """A world in which a step is taken, if there is one; after :meth:`verdict`."""
        try:
            moments, search = self._prepare()
            return search.find_world(self._reached(moments.taken(step)))
        except (TooHard, NumberTooLarge, Unsupported, LimitReached):
            return WorldAnswer(None, False)

    def collect_outcomes(self) -> list[Outcome] | None:
        """What becomes of the plan in every order of every world; ``None`` if they are too many."""
        if self.open is None:
            closed_worlds: Iterable[ClosedWorld | None] = [ClosedWorld(self.certain, self.engine, self.steps)]
        elif self.open.each is not None:
            closed_worlds = self.open.each()
        else:
            return None
        out: list[Outcome] = []
        for closed_world in closed_worlds:
            if closed_world is None:
                return None
            for order in self.order.linear_extensions():
                if len(out) == MAX_OUTCOMES or (self.deadline is not None and monotonic() > self.deadline):
                    return None
                out.append(execute_order(closed_world.engine, closed_world.steps, order))
        return out

    def share_failing_at(self, step: int) -> Worlds:
        """In which worlds a step is the first that cannot be taken; after :meth:`verdict`."""
        try:
            moments, _ = self._prepare()
            return self._how_many(moments.circuit.both(moments.reached(step), moments.able(step) ^ 1))
        except (TooHard, NumberTooLarge, Unsupported, LimitReached):
            return Worlds.UNKNOWN

    def _how_many(self, literal: Literal) -> Worlds:
        _, search = self._prepare()
        found, missed = [search.find_world(self._reached(part)) for part in (literal, literal ^ 1)]
        if not found.decided or not missed.decided:
            return Worlds.UNKNOWN
        if found.world is None:
            return Worlds.NONE
        return Worlds.ALL if missed.world is None else Worlds.SOME

    # -- orders one by one --------------------------------------------------------------------------------------------

    def _one_by_one(self, reason: Exception) -> None:
        """Decide what is still missing by looking at all orders, of each world if others are open too."""
        why = str(reason) or "a number grew beyond 65,536 bits"
        self.enumeration_reason = why
        try:
            if self.open is None:
                enumerate_orders(self.engine, self.steps, self.order, self.criteria, self.deadline, self._enumerated)
            elif not self._each_world(self.open):
                return
        except TooHard as limit:
            self.limits[why] = None
            self.limits[str(limit)] = None
        else:
            self.settled = [{True, False} for _ in range(3)]

    def _each_world(self, worlds: OpenWorlds) -> bool:
        """Judge one world after the other; whether these were all."""
        if worlds.each is None:
            raise TooHard("there are too many worlds to judge one by one")
        for number, closed_world in enumerate(worlds.each()):
            if closed_world is None or number >= MAX_WORLDS:
                raise TooHard("there are too many worlds to judge one by one")
            world, engine, steps = closed_world
            inner = OrderAudit(engine, steps, self.order, self.deadline, self.criteria, None, self.solver)
            inner.verdict()
            for which in range(3):
                for value, found in inner.example_worlds[which].items():
                    self.example_worlds[which].setdefault(value, world._replace(order=found.order))
                    if value is not None:
                        self.settled[which].add(value)
            self.limits.update(inner.limits)
            if inner.limits or self._complete():
                return False
        return True

    def _enumerated(self, judged: OrderVerdict, path: tuple[int, ...]) -> bool:
        if any([value not in self.example_worlds[which] for which, value in enumerate(judged)]):
            order = self.order.linear_extension([1 << step for step in path])
            assert order is not None
            if self._replay_order(order) != judged:
                self._note(judged, self.certain._replace(order=order))
        return self._complete()
