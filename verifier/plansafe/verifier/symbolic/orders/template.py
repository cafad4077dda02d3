"""The steps of a plan as functions of an arbitrary state before them, and the moments at which they are instantiated.

In the template state, every fact that some step may change is an input of its own (:class:`HeldInput`); every other
fact keeps its value in S0. Conditions, effects and rules are evaluated once on this state. At a moment of an order,
their inputs are replaced by what holds at that moment (:mod:`.moments`). Whether a step is before another is a constant
where the plan orders the two, else an input.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.terms import Sum
from plansafe.verifier.symbolic.orders.partial_order import END, PartialOrder
from plansafe.verifier.symbolic.worlds.encoding import OrderInput
from plansafe.verifier.symbolic.worlds.formula_compiler import DerivedFacts, FormulaCompiler, TooManyRounds
from plansafe.verifier.symbolic.worlds.initial_state import make_initial_state
from plansafe.verifier.symbolic.worlds.symbolic_state import Quantity, SymbolicState
from plansafe.verifier.symbolic.worlds.trace import StepEncoder
from plansafe.verifier.symbolic.worlds.world_replay import list_oneof_statements

Fact = tuple[int, int]
"""(predicate, code); or, past the predicates, (number of predicates + function, code): that the fluent has a value."""


class TooHard(Exception):
    """What the encoding over orders does not cover, or not within its limits."""


class HeldInput(NamedTuple):
    """An input of the template: whether a fact holds at the moment that is asked about.

    Of an action predicate: whether the step that is about to be taken there is this one.
    """

    predicate: int
    code: int


class StepTemplate(NamedTuple):
    """A step: in which worlds it can be taken, and what it leaves behind where it is, over the template's inputs."""

    able: Literal
    facts: dict[Fact, Literal]
    numbers: dict[Fact, Sum]


class Openings(NamedTuple):
    """What is open beside the order: a circuit with inputs for it, S0 over them, and the worlds that there are."""

    circuit: Circuit
    start: SymbolicState
    evaluation: FormulaCompiler
    allowed: Literal = TRUE


def no_openings(engine: Engine) -> Openings:
    """Nothing is open beside the order."""
    circuit = Circuit()
    evaluation = FormulaCompiler(engine.task, circuit)
    return Openings(circuit, make_initial_state(engine.task, circuit, ()).state, evaluation)


class PlanTemplate:
    """The template of a plan. Raises :class:`TooHard`, ``LimitReached``.

    Finding what may change takes as many rounds over the plan as a fact needs to spread, most often two.
    """

    def __init__(
        self,
        engine: Engine,
        openings: Openings,
        steps: Sequence[GroundAction | IllFormed],
        deadline: float | None = None,
    ) -> None:
        self.engine = engine
        self.task = engine.task
        self.circuit = openings.circuit
        self.evaluation = openings.evaluation
        self.start = openings.start.copy()
        self.state = openings.start.copy()
        self.size = len(self.task.predicates)
        self.stepper = StepEncoder(openings.evaluation)
        self.statements = list_oneof_statements(steps)
        self.open_values: list[Fact] = [
            (function, code)
            for function, quantities in enumerate(openings.start.quantities)
            for code, quantity in quantities.items()
            if quantity.value.weighted_atoms
        ]
        self.held: dict[Fact, Literal] = {}
        self.initial: dict[Fact, Literal] = {}
        self.values: dict[Fact, Sum] = {}
        self.action_facts: dict[int, Fact] = {}
        """Step -> its fact of an action predicate, where rules read one."""
        self._derived = DerivedFacts(openings.evaluation) if self.task.axioms else None
        try:
            self._derive()
            self.steps = self._settle(steps, deadline)
        except NumberTooLarge:
            raise TooHard("a number grew beyond 65,536 bits") from None
        except TooManyRounds:
            raise TooHard("a recursive derived predicate depends on too many facts") from None
        for number, step in enumerate(steps, 1):
            action_fact = engine.action_fact("start", step) if isinstance(step, GroundAction) else None
            if action_fact is not None:
                self.action_facts[number] = action_fact
                self.state.put(*action_fact, self.circuit.input(HeldInput(*action_fact)))

    def _derive(self) -> None:
        if self._derived is not None:
            self._derived.update(self.state)

    def _settle(self, steps: Sequence[GroundAction | IllFormed], deadline: float | None) -> list[StepTemplate]:
        while True:
            out, changed = [StepTemplate(TRUE, {}, {})], False
            for number, step in enumerate(steps, 1):
                if deadline is not None and monotonic() > deadline:
                    raise LimitReached(LimitKind.TIME)
                if isinstance(step, IllFormed):
                    out.append(StepTemplate(FALSE, {}, {}))
                    continue
                able, changes = self.stepper.encode_step(self.state, step, number)
                facts = {(predicate, code): literal for predicate, code, literal in changes.facts}
                numbers: dict[Fact, Sum] = {}
                for function, code, quantity in changes.quantities:
                    facts[self.size + function, code] = quantity.defined
                    numbers[function, code] = quantity.value
                    changed |= self._vary(function, code)
                for fact, literal in list(facts.items()):
                    if literal == self._now(fact):
                        del facts[fact]
                    elif fact not in self.held:
                        self._hold(fact)
                        changed = True
                out.append(StepTemplate(able, facts, numbers))
            if not changed:
                return out
            self._derive()

    def _now(self, fact: Fact) -> Literal:
        predicate, code = fact
        if predicate < self.size:
            return self.state.get(predicate, code)
        return self.state.quantity(predicate - self.size, code).defined

    def _hold(self, fact: Fact) -> None:
        """Give a fact that changes an input of its own."""
        predicate, code = fact
        self.initial[fact] = self._now(fact)
        held = self.held[fact] = self.circuit.input(HeldInput(predicate, code))
        if predicate < self.size:
            self.state.put(predicate, code, held)
        else:
            quantities = self.state.quantities[predicate - self.size]
            quantities[code] = Quantity(held, quantities[code].value if code in quantities else Sum(0))

    def _vary(self, function: int, code: int) -> bool:
        """Give a fluent that changes a variable of its own."""
        if (function, code) in self.values:
            return False
        before = self.state.quantity(function, code)
        self.values[function, code] = before.value
        here = Sum(0, ((("here", function, code), 1),))
        self.state.quantities[function][code] = Quantity(before.defined, here)
        return True


MAX_GATES = 1_500_000
"""Gates beyond which an encoding is given up: about a gigabyte."""
TimePoint = int
"""``END``, a step (the moment before it), or one of :meth:`Timeline.following` and :attr:`Timeline.start`."""


class Timeline:
    """The order of the steps of a template, in the circuit of the template."""

    def __init__(self, template: PlanTemplate, order: PartialOrder, deadline: float | None) -> None:
        self.template = template
        self.circuit = template.circuit
        self.order = order
        self.deadline = deadline
        self.start = 2 * order.size + 1

    def following(self, step: int) -> TimePoint:
        """The moment after a step."""
        return self.order.size + step

    def precedes(self, first: int, second: int) -> Literal:
        """In which orders one step is taken before another."""
        if self.order.after[first] >> second & 1:
            return TRUE
        if self.order.before[first] >> second & 1 or first == second:
            return FALSE
        if first < second:
            return self.circuit.input(OrderInput(first, second))
        return self.circuit.input(OrderInput(second, first)) ^ 1

    def between(self, first: int, middle: int, moment: int) -> Literal:
        """In which orders a step is taken after another and before a moment (a step, or the end)."""
        late = TRUE if moment == END else self.precedes(middle, moment)
        return self.circuit.both(self.precedes(first, middle), late)

    def check(self) -> None:
        """Raise ``LimitReached`` or :class:`TooHard` where a limit is passed."""
        if len(self.circuit.gates) > MAX_GATES:
            raise TooHard("the encoding of the orders is too large")
        if self.deadline is not None and monotonic() > self.deadline:
            raise LimitReached(LimitKind.TIME)
