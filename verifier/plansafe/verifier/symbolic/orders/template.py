"""The steps of a plan as functions of an arbitrary state before them, and the time points at which they are used.

In the template state, every fact that some step may change is an input of its own (:class:`CurrentFactInput`). Every
other fact keeps its value in S0. Conditions, effects and rules are evaluated once on this state. At a time point of an
order, the values at that time point replace these inputs (:mod:`.fact_timeline`). Whether a step is before another is a
constant if the plan orders the two; otherwise it is an input.
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
from plansafe.verifier.symbolic.worlds.step_encoder import StepEncoder
from plansafe.verifier.symbolic.worlds.symbolic_state import Quantity, SymbolicState
from plansafe.verifier.symbolic.worlds.world_replay import list_oneof_statements

Fact = tuple[int, int]
"""(predicate, code); or (number of predicates + function, code): that the fluent has a value."""
TimePoint = int
"""A number: ``END`` (after all steps), a step (before it), :meth:`Timeline.find_time_point_after` a step, or
:attr:`Timeline.start` (S0)."""
MAX_GATES = 1_500_000
"""Maximum number of gates of an encoding: about a gigabyte."""


class TooHard(Exception):
    """The encoding over orders does not cover a plan or a formula, or not within its limits."""


class CurrentFactInput(NamedTuple):
    """An input of the template: whether a fact holds at the current time point.

    For an action predicate: whether the next step is this action.
    """

    predicate: int
    code: int


def make_current_value(fluent: Fact) -> Sum:
    """The sum whose only term is the value of a fluent at the current time point."""
    return Sum(0, ((("current", *fluent), 1),))


class StepTemplate(NamedTuple):
    """A step over the template's inputs: its precondition, and the values after it of what it may change."""

    precondition: Literal
    facts: dict[Fact, Literal]
    numbers: dict[Fact, Sum]


class Openings(NamedTuple):
    """What the task leaves open in addition to the order of the steps.

    ``circuit`` has an input for each open fact, ``start`` is S0 over these inputs, and ``allowed`` is true in the
    worlds that exist.
    """

    circuit: Circuit
    start: SymbolicState
    compiler: FormulaCompiler
    allowed: Literal = TRUE


def make_empty_openings(engine: Engine) -> Openings:
    """The openings of a plan in which only the order is open."""
    circuit = Circuit()
    compiler = FormulaCompiler(engine.task, circuit)
    return Openings(circuit, make_initial_state(engine.task, circuit, ()).state, compiler)


class PlanTemplate:
    """The template of a plan. Raises :class:`TooHard`, ``LimitReached``.

    ``current_inputs``: for each fact that may change, its input. ``initial_facts``: for each of these, its value in S0.
    ``initial_values``: for each fluent that may change, its value in S0. ``action_facts``: for each step with an action
    predicate that rules read, its fact. Construction repeats until no further fact changes, most often twice.
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
        self.current_inputs: dict[Fact, Literal] = {}
        self.initial_facts: dict[Fact, Literal] = {}
        self.initial_values: dict[Fact, Sum] = {}
        self.action_facts: dict[int, Fact] = {}
        self._derived = DerivedFacts(openings.compiler) if self.task.axioms else None
        try:
            self.steps = self._encode_steps(steps, deadline)
        except NumberTooLarge:
            raise TooHard("a number grew beyond 65,536 bits") from None
        except TooManyRounds:
            raise TooHard("a recursive derived predicate depends on too many facts") from None
        for number, step in enumerate(steps, 1):
            action_fact = engine.find_action_fact("start", step) if isinstance(step, GroundAction) else None
            if action_fact is not None:
                self.action_facts[number] = action_fact
                self.state.put(*action_fact, self.circuit.input(CurrentFactInput(*action_fact)))

    def _encode_steps(self, steps: Sequence[GroundAction | IllFormed], deadline: float | None) -> list[StepTemplate]:
        """Encode the steps. Repeat this until no further fact or fluent changes, because each becomes an input."""
        while True:
            if self._derived is not None:
                self._derived.update(self.state)
            templates, has_changed = [StepTemplate(TRUE, {}, {})], False
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
                    has_changed |= self._add_variable(function, code)
                for fact, literal in list(facts.items()):
                    if literal == self._get_state_literal(fact):
                        del facts[fact]
                    elif fact not in self.current_inputs:
                        self._add_current_input(fact)
                        has_changed = True
                templates.append(StepTemplate(precondition, facts, numbers))
            if not has_changed:
                return templates

    def _get_state_literal(self, fact: Fact) -> Literal:
        """The value of a fact in the template state, or whether the fluent is defined there."""
        predicate, code = fact
        if predicate < self.predicate_count:
            return self.state.get(predicate, code)
        return self.state.get_quantity(predicate - self.predicate_count, code).defined

    def _add_current_input(self, fact: Fact) -> None:
        """Replace the value of a fact that may change by an input."""
        predicate, code = fact
        self.initial_facts[fact] = self._get_state_literal(fact)
        current_input = self.current_inputs[fact] = self.circuit.input(CurrentFactInput(predicate, code))
        if predicate < self.predicate_count:
            self.state.put(predicate, code, current_input)
        else:
            quantities = self.state.quantities[predicate - self.predicate_count]
            quantities[code] = Quantity(current_input, quantities[code].value if code in quantities else Sum(0))

    def _add_variable(self, function: int, code: int) -> bool:
        """Replace the value of a fluent that may change by a variable; return ``False`` if it has one."""
        if (function, code) in self.initial_values:
            return False
        initial = self.state.get_quantity(function, code)
        self.initial_values[function, code] = initial.value
        self.state.quantities[function][code] = Quantity(initial.defined, make_current_value((function, code)))
        return True


class Timeline(ABC):
    """The order of a template's steps, as literals in the template's circuit. ``start`` is the time point of S0."""

    def __init__(self, template: PlanTemplate, order: PartialOrder, deadline: float | None) -> None:
        self.template = template
        self.circuit = template.circuit
        self.order = order
        self.deadline = deadline
        self.start = 2 * order.size + 1

    def find_time_point_after(self, step: int) -> TimePoint:
        """The time point after a step."""
        return self.order.size + step

    def encode_precedence(self, first: int, second: int) -> Literal:
        """Return the orders in which a step is taken before another step."""
        if (self.order.after[first] >> second) & 1:
            return TRUE
        if (self.order.before[first] >> second) & 1 or first == second:
            return FALSE
        if first < second:
            return self.circuit.input(OrderInput(first, second))
        return self.circuit.input(OrderInput(second, first)) ^ 1

    def encode_is_before(self, step: int, time_point: int) -> Literal:
        """Return the orders in which a step is taken before a time point: before a step, or the end."""
        return TRUE if time_point == END else self.encode_precedence(step, time_point)

    def encode_is_between(self, first: int, middle: int, time_point: int) -> Literal:
        """Return the orders in which step ``middle`` is taken after ``first`` and before a step, or the end."""
        return self.circuit.both(self.encode_precedence(first, middle), self.encode_is_before(middle, time_point))

    @abstractmethod
    def varies_over_time(self, literal: Literal) -> bool:
        """Whether a template literal depends on the time point."""

    @abstractmethod
    def encode_literal(self, literal: Literal, time_point: TimePoint) -> Literal:
        """Return the value of a template literal at a time point."""

    @abstractmethod
    def encode_firing(self, condition: Literal, step: int) -> Literal:
        """Return the value of an effect's condition before the step; an input with a definition if orders differ."""

    def check_limits(self) -> None:
        """Raise ``LimitReached`` or :class:`TooHard` if a limit is exceeded."""
        if len(self.circuit.gates) > MAX_GATES:
            raise TooHard("the encoding of the orders is too large")
        check_deadline(self.deadline)
