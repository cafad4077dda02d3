"""The steps of a plan as functions of an arbitrary state before them, and the moments at which they are instantiated.

In the template state, every fact that some step may change is an input of its own (:class:`HeldInput`); every other
fact keeps its value in S0. Conditions, effects and rules are evaluated once on this state. At a moment of an order,
their inputs are replaced by what holds at that moment (:mod:`.moments`). Whether a step is before another is a constant
where the plan orders the two, else an input.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import check_deadline
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
"""(predicate, code); or (number of predicates + function, code): that the fluent has a value."""
TimePoint = int
"""``END``, a step (the moment before it), :meth:`Timeline.following`, or :attr:`Timeline.start`."""
MAX_GATES = 1_500_000
"""Gates beyond which an encoding is given up: about a gigabyte."""


class TooHard(Exception):
    """The encoding over orders does not cover this, or not within its limits."""


class HeldInput(NamedTuple):
    """An input of the template: whether a fact holds at the moment in question.

    Of an action predicate: whether the next step is this action.
    """

    predicate: int
    code: int


class StepTemplate(NamedTuple):
    """In which worlds a step can be taken, and the facts and numbers after it, over the template's inputs."""

    precondition: Literal
    facts: dict[Fact, Literal]
    numbers: dict[Fact, Sum]


class Openings(NamedTuple):
    """What is open next to the order: a circuit with inputs for it, S0 over them, and the allowed worlds."""

    circuit: Circuit
    start: SymbolicState
    compiler: FormulaCompiler
    allowed: Literal = TRUE


def no_openings(engine: Engine) -> Openings:
    """The openings of a plan in which only the order is open."""
    circuit = Circuit()
    compiler = FormulaCompiler(engine.task, circuit)
    return Openings(circuit, make_initial_state(engine.task, circuit, ()).state, compiler)


class PlanTemplate:
    """The template of a plan. Raises :class:`TooHard`, ``LimitReached``.

    ``held`` are the inputs of facts that may change, ``initial`` their values in S0; ``values`` are the values in S0 of
    fluents that may change; ``action_facts`` the facts of action predicates that rules read, by step. Construction
    takes as many rounds over the plan as a fact needs to spread, most often two.
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
        self.compiler = openings.compiler
        self.state = openings.start.copy()
        self.predicate_count = len(self.task.predicates)
        self.step_encoder = StepEncoder(openings.compiler)
        self.oneof_statements = list_oneof_statements(steps)
        self.open_numbers: list[Fact] = [
            (function, code)
            for function, quantities in enumerate(openings.start.quantities)
            for code, quantity in quantities.items()
            if quantity.value.weighted_atoms
        ]
        self.held: dict[Fact, Literal] = {}
        self.initial: dict[Fact, Literal] = {}
        self.values: dict[Fact, Sum] = {}
        self.action_facts: dict[int, Fact] = {}
        self._derived = DerivedFacts(openings.compiler) if self.task.axioms else None
        try:
            self.steps = self._encode_steps(steps, deadline)
        except NumberTooLarge:
            raise TooHard("a number grew beyond 65,536 bits") from None
        except TooManyRounds:
            raise TooHard("a recursive derived predicate depends on too many facts") from None
        for number, step in enumerate(steps, 1):
            action_fact = engine.action_fact("start", step) if isinstance(step, GroundAction) else None
            if action_fact is not None:
                self.action_facts[number] = action_fact
                self.state.put(*action_fact, self.circuit.input(HeldInput(*action_fact)))

    def _encode_steps(self, steps: Sequence[GroundAction | IllFormed], deadline: float | None) -> list[StepTemplate]:
        """Encode the steps, again and again until no further fact or fluent is found to change."""
        while True:
            if self._derived is not None:
                self._derived.update(self.state)
            templates, changed = [StepTemplate(TRUE, {}, {})], False
            for number, step in enumerate(steps, 1):
                check_deadline(deadline)
                if isinstance(step, IllFormed):
                    templates.append(StepTemplate(FALSE, {}, {}))
                    continue
                precondition, changes = self.step_encoder.encode_step(self.state, step, number)
                facts = {(predicate, code): literal for predicate, code, literal in changes.facts}
                numbers: dict[Fact, Sum] = {}
                for function, code, quantity in changes.quantities:
                    facts[self.predicate_count + function, code] = quantity.defined
                    numbers[function, code] = quantity.value
                    changed |= self._add_variable(function, code)
                for fact, literal in list(facts.items()):
                    if literal == self._value(fact):
                        del facts[fact]
                    elif fact not in self.held:
                        self._add_held_input(fact)
                        changed = True
                templates.append(StepTemplate(precondition, facts, numbers))
            if not changed:
                return templates

    def _value(self, fact: Fact) -> Literal:
        predicate, code = fact
        if predicate < self.predicate_count:
            return self.state.get(predicate, code)
        return self.state.quantity(predicate - self.predicate_count, code).defined

    def _add_held_input(self, fact: Fact) -> None:
        """Replace the value of a fact that may change by an input."""
        predicate, code = fact
        self.initial[fact] = self._value(fact)
        held_input = self.held[fact] = self.circuit.input(HeldInput(predicate, code))
        if predicate < self.predicate_count:
            self.state.put(predicate, code, held_input)
        else:
            quantities = self.state.quantities[predicate - self.predicate_count]
            quantities[code] = Quantity(held_input, quantities[code].value if code in quantities else Sum(0))

    def _add_variable(self, function: int, code: int) -> bool:
        """Replace the value of a fluent that may change by a variable; return ``False`` if it has one."""
        if (function, code) in self.values:
            return False
        initial = self.state.quantity(function, code)
        self.values[function, code] = initial.value
        here = Sum(0, ((("here", function, code), 1),))
        self.state.quantities[function][code] = Quantity(initial.defined, here)
        return True


class Timeline(ABC):
    """The order of a template's steps, as literals in the circuit of the template. ``start`` is the moment of S0."""

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
        """In which orders a step is taken before another step."""
        if self.order.after[first] >> second & 1:
            return TRUE
        if self.order.before[first] >> second & 1 or first == second:
            return FALSE
        if first < second:
            return self.circuit.input(OrderInput(first, second))
        return self.circuit.input(OrderInput(second, first)) ^ 1

    def is_before(self, step: int, moment: int) -> Literal:
        """In which orders a step is taken before a moment: before a step, or the end."""
        return TRUE if moment == END else self.precedes(step, moment)

    def between(self, first: int, middle: int, moment: int) -> Literal:
        """In which orders a step is taken after another step and before a moment: before a step, or the end."""
        late = self.is_before(middle, moment)
        return self.circuit.both(self.precedes(first, middle), late)

    @abstractmethod
    def depends_on_moment(self, literal: Literal) -> bool:
        """Whether a template literal depends on the moment."""

    @abstractmethod
    def literal_at(self, literal: Literal, moment: TimePoint) -> Literal:
        """A template literal at a moment."""

    @abstractmethod
    def fires_at(self, condition: Literal, step: int) -> Literal:
        """The condition of a step's effect, before the step; an input with a definition if it depends on the order."""

    def check_limits(self) -> None:
        """Raise ``LimitReached`` or :class:`TooHard` if a limit is exceeded."""
        if len(self.circuit.gates) > MAX_GATES:
            raise TooHard("the encoding of the orders is too large")
        check_deadline(self.deadline)
