"""Temporal formulas as small automata, shared by all instances of a rule; states are made when they are first reached.

A program reads letters: an integer of *leaf* bits (the truth of state formulas, which the monitor supplies) and an
integer of *time* bits. Its states are numbers. Past operators are bits (Havelund and Rosu 2004). Future operators are
progressed (:mod:`.progression`). The PDDL3 operators about the whole trace are automata of two to four states (Gerevini
et al. 2009; :mod:`.trace_operators`). Only ``always-within`` needs a clock in its state.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, assert_never

from plansafe.verifier.execution.monitors import progression
from plansafe.verifier.execution.monitors.progression import Progression
from plansafe.verifier.execution.monitors.temporal_grounding import (
    ground_temporal,
    make_structural_key,
    split_by_parameters,
)
from plansafe.verifier.execution.monitors.trace_operators import (
    BOUND_COMPARISONS,
    NO_COMPARISONS,
    PERMANENTLY_SATISFIED,
    PERMANENTLY_VIOLATED,
    PRESENTLY_SATISFIED,
    PRESENTLY_VIOLATED,
    BooleanExpression,
    Component,
    ComponentState,
    FinalState,
    LetterTime,
    advance_component,
    find_component_verdict,
    find_start_state,
)
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    PastOperator,
    Quantified,
    Task,
    Temporal,
    Truth,
    Variable,
)
from plansafe.verifier.model.operations import (
    PAST_OPERATORS,
    TRACE_OPERATORS,
    is_temporal,
    past_operator,
    subformulas,
    trace_operator,
)
from plansafe.verifier.rules.model import PartMode

ProgramState = tuple[int, tuple[ComponentState, ...], bool]
"""The bits that past operators store, the states of the components, and the value of a past formula (else true)."""
MonitorMode = PartMode | Literal["latch"]
"""The mode of a rule part, or ``latch`` for a past formula whose truth checks of steps read (:mod:`.latch`)."""
_BOUNDED = ("within", "hold-during", "hold-after")
"""The operators whose bounds are compared with the time of a letter."""


class Program:
    """The automaton of one rule part.

    ``leaves`` are the state formulas whose truth makes a letter, by bit. In the ``past_mode`` the formula is about the
    past, and has a value at each letter. Otherwise it is about the whole trace, and each prefix has a verdict:
    ``skeleton`` is its Boolean structure over the ``components``. ``timed``: time affects the state; ``clocked``: the
    state contains the time of a letter, so that the states are not finitely many.
    """

    def __init__(self, task: Task, mode: MonitorMode, formula: Formula, parameters: tuple[Variable, ...] = ()) -> None:
        self.task = task
        self.past_mode = mode != "whole"
        self._parameters = parameters
        self.leaves: list[Formula] = []
        self._leaf_index: dict[tuple[object, ...], int] = {}
        self._past: list[tuple[PastOperator, list[BooleanExpression]]] = []
        """By number of a past subformula, its operator and operands."""
        self.past_index: dict[int, int] = {}
        """By identity of a past subformula, its number."""
        self.components: list[Component] = []
        self.progression = Progression()
        formula = ground_temporal(task, formula, parameters)
        self.formula = formula  # past_index has the identities of its past subformulas
        if self.past_mode:
            self._output = self._make_past_expression(formula)
            self.skeleton = BooleanExpression("component")  # never read in this mode
        else:
            self.skeleton = self._make_trace_expression(formula)
        self.timed = any([c.kind in (*_BOUNDED, "always-within") for c in self.components])
        self.clocked = any([c.kind == "always-within" for c in self.components])
        self.states: list[ProgramState] = []
        self._outputs: list[bool] = []
        """By number of a state, the value of a past formula in it."""
        self._numbers: dict[ProgramState, int] = {}
        self._next_states: dict[tuple[int, int, int], int] = {}
        """By state, leaf bits and time bits: the result of :meth:`step`."""
        self._moves: dict[tuple[int, int, int], tuple[int, bool]] = {}
        """By state, leaf bits and time bits: the result of :meth:`move`."""
        self._verdicts: dict[int, int] = {}
        initial_past = 0
        for number, (operator, _) in enumerate(self._past):
            if operator in ("historically", "weak-yesterday"):
                initial_past |= 1 << number
        self.start = self._number_state((initial_past, tuple([c.start for c in self.components]), True))

    @cached_property
    def horizon(self) -> int:
        """The first letter of an untimed trace at which no bound of the formula matters any more; 0 without bounds."""
        bounds = [bound for component in self.components if component.kind in _BOUNDED for bound in component.bounds]
        return max(0, int(max(bounds)) + 2) if bounds else 0

    # -- building -----------------------------------------------------------------------------------------------------

    def number_leaf(self, formula: Formula) -> int:
        """Return the number of a state formula among the leaves; it is added if it is missing."""
        key = make_structural_key(formula)
        if key not in self._leaf_index:
            self._leaf_index[key] = len(self.leaves)
            self.leaves.append(formula)
        return self._leaf_index[key]

    def _make_past_expression(self, formula: Formula) -> BooleanExpression:
        """Return a formula without trace operators as an expression over leaves and past subformulas."""
        if isinstance(formula, Truth):
            return BooleanExpression("constant", int(formula.value))
        if not is_temporal(formula):
            parts = split_by_parameters(formula, self._parameters) if self.past_mode else (formula,)
            leaves = [BooleanExpression("leaf", self.number_leaf(part)) for part in parts]
            return _combine(formula, leaves) if isinstance(formula, And | Or) and len(leaves) > 1 else leaves[0]
        match formula:
            case Not():
                return BooleanExpression("not", parts=(self._make_past_expression(formula.body),))
            case And() | Or():
                return _combine(formula, [self._make_past_expression(p) for p in formula.parts])
            case Temporal():
                if id(formula) not in self.past_index:
                    operands = [self._make_past_expression(p) for p in formula.operands]
                    self.past_index[id(formula)] = len(self._past)
                    self._past.append((past_operator(formula), operands))
                return BooleanExpression("past", self.past_index[id(formula)])
            case Atom() | Equal() | Compare() | Quantified():
                raise AssertionError("quantifiers over temporal formulas are ground")
            case _:
                assert_never(formula)

    def _make_trace_expression(self, formula: Formula) -> BooleanExpression:
        """Return a formula about the trace as an expression over components, which are added.

        Each maximal subformula without trace operators becomes one LTLf component.
        """
        if not any([isinstance(p, Temporal) and p.operator in TRACE_OPERATORS for p in subformulas(formula)]):
            node = self.progression.make_normal_form(formula, True, self._find_interleaved_bit, _expect_no_quantifier)
            return self._add_component(Component("ltl", [], (), node))
        match formula:
            case Not():
                return BooleanExpression("not", parts=(self._make_trace_expression(formula.body),))
            case And() | Or():
                return _combine(formula, [self._make_trace_expression(p) for p in formula.parts])
            case Temporal():
                values = [self._make_past_expression(p) for p in formula.operands]
                operator = trace_operator(formula)
                return self._add_component(Component(operator, values, formula.bounds, find_start_state(operator)))
            case Truth() | Atom() | Equal() | Compare() | Quantified():
                raise AssertionError("quantifiers over temporal formulas are ground")
            case _:
                assert_never(formula)

    def _add_component(self, component: Component) -> BooleanExpression:
        self.components.append(component)
        return BooleanExpression("component", len(self.components) - 1)

    def _find_interleaved_bit(self, formula: Formula) -> int | None:
        """Return the bit of a leaf or of a past subformula in :meth:`_interleave`; ``None`` for another formula."""
        if not is_temporal(formula):
            return 2 * self.number_leaf(formula)
        if isinstance(formula, Temporal) and formula.operator in PAST_OPERATORS:
            return 2 * self._make_past_expression(formula).number + 1
        return None

    # -- running ------------------------------------------------------------------------------------------------------

    def _number_state(self, state: ProgramState) -> int:
        """Return the number of a state, a new one if the state is reached for the first time."""
        number = self._numbers.get(state)
        if number is None:
            number = self._numbers[state] = len(self.states)
            self.states.append(state)
            self._outputs.append(state[2])
        return number

    def compare_time(self, letter_time: LetterTime) -> int:
        """Return the comparisons of a letter's time with the bounds of the formula; 0 without bounds.

        They are one integer, because it is a part of cache keys: for each component with bounds, the fields of
        :class:`BoundComparisons` in the next four bits.
        """
        bits = 0
        shift = 0
        for component in self.components:
            if component.kind in _BOUNDED:
                low, high = component.bounds[0], component.bounds[-1]
                comparisons = [letter_time.time <= low, letter_time.later_at_most(low), False, False]
                if component.kind == "hold-during":
                    comparisons[2:] = letter_time.time < high, letter_time.later_before(high)
                for is_true in comparisons:
                    bits |= is_true << shift
                    shift += 1
        return bits

    def step(self, state: int, letter: int, time_bits: int, letter_time: LetterTime) -> int:
        """Return the state after a letter; cached unless the formula has a clock."""
        if self.clocked:
            return self._step(state, letter, time_bits, letter_time)
        key = (state, letter, time_bits)
        after = self._next_states.get(key)
        if after is None:
            after = self._next_states[key] = self._step(state, letter, time_bits, letter_time)
        return after

    def move(self, state: int, letter: int, time_bits: int, letter_time: LetterTime) -> tuple[int, bool]:
        """Return the state after a letter, and whether the same letter again would not change that state.

        A pair rather than a type of its own: every step of every instance calls this.
        """
        if self.clocked:
            after = self._step(state, letter, time_bits, letter_time)
            if self.has_running_clock(after):
                return after, False
            return after, self._step(after, letter, time_bits, letter_time) == after
        key = (state, letter, time_bits)
        move = self._moves.get(key)
        if move is None:
            after = self.step(state, letter, time_bits, letter_time)
            move = self._moves[key] = after, self.step(after, letter, time_bits, letter_time) == after
        return move

    def _step(self, state: int, letter: int, time_bits: int, letter_time: LetterTime) -> int:
        """Compute the state after a letter."""
        stored_bits, component_states, _ = self.states[state]
        past_bits, next_stored_bits = self._advance_past(stored_bits, letter)
        output = True
        new_states: list[ComponentState] = []
        if self.past_mode:
            output = self._evaluate(self._output, letter, past_bits)
        interleaved: int | None = None  # needed only by LTLf formulas
        shift = 0
        for component, component_state in zip(self.components, component_states, strict=True):
            if component.kind == "ltl":
                if interleaved is None:
                    interleaved = self._interleave(letter, past_bits)
                assert isinstance(component_state, int)
                new_states.append(self.progression.progress(component_state, interleaved))
                continue
            values = [self._evaluate(value, letter, past_bits) for value in component.values]
            comparisons = NO_COMPARISONS
            if component.kind in _BOUNDED:
                comparisons = BOUND_COMPARISONS[time_bits >> shift & 15]
                shift += 4
            new_states.append(advance_component(component, component_state, values, comparisons, letter_time))
        return self._number_state((next_stored_bits, tuple(new_states), output))

    def _advance_past(self, stored_bits: int, letter: int) -> tuple[int, int]:
        """Return the values of the past subformulas at this letter, and the values to store for the next letter.

        Both are integers with one bit for each past subformula. A subformula comes after those that it contains.
        """
        past_bits = 0
        next_stored_bits = 0
        for number, (operator, operands) in enumerate(self._past):
            before = bool(stored_bits >> number & 1)
            first = self._evaluate(operands[0], letter, past_bits)
            match operator:
                case "yesterday" | "weak-yesterday":
                    value, stored_value = before, first
                case "once":
                    value = stored_value = before or first
                case "historically":
                    value = stored_value = before and first
                case "since":
                    value = self._evaluate(operands[1], letter, past_bits) or (first and before)
                    stored_value = value
                case _:
                    assert_never(operator)
            past_bits |= value << number
            next_stored_bits |= stored_value << number
        return past_bits, next_stored_bits

    def _evaluate(self, expression: BooleanExpression, letter: int, past_bits: int) -> bool:
        """Return the value of an expression over leaves and past subformulas at a letter."""
        kind, number, parts = expression
        match kind:
            case "leaf":
                return bool(letter >> number & 1)
            case "past":
                return bool(past_bits >> number & 1)
            case "constant":
                return bool(number)
            case "not":
                return not self._evaluate(parts[0], letter, past_bits)
            case "and":
                return all([self._evaluate(part, letter, past_bits) for part in parts])
            case "or":
                return any([self._evaluate(part, letter, past_bits) for part in parts])
            case "component":
                raise AssertionError("only the skeleton of a formula about the trace has components")
            case _:
                assert_never(kind)

    def _interleave(self, letter: int, past_bits: int) -> int:
        """Return one letter for the progression: leaf ``b`` at bit ``2b``, past subformula ``b`` at bit ``2b + 1``."""
        interleaved = 0
        for bit in range(len(self.leaves)):
            interleaved |= (letter >> bit & 1) << 2 * bit
        for bit in range(len(self._past)):
            interleaved |= (past_bits >> bit & 1) << 2 * bit + 1
        return interleaved

    def read_output(self, state: int) -> bool:
        """Return the value of a past formula at the letter just read."""
        return self._outputs[state]

    def find_verdict(self, state: int) -> int:
        """Return the verdict on the prefix just read (RV-LTL).

        A permanent verdict is always right. For PDDL3 operators, a verdict that is permanent is also always found.
        """
        verdict = self._verdicts.get(state)
        if verdict is None:
            _, component_states, _ = self.states[state]
            verdict = self._verdicts[state] = self._find_prefix_verdict(self.skeleton, component_states)
        return verdict

    def _find_prefix_verdict(self, skeleton: BooleanExpression, component_states: tuple[ComponentState, ...]) -> int:
        """Return the verdict for an expression over components, from the states of the components."""
        kind, number, parts = skeleton
        if kind == "component":
            component, state = self.components[number], component_states[number]
            if component.kind != "ltl":
                return find_component_verdict(component, state)
            if state in (progression.TRUE, progression.FALSE):
                return PERMANENTLY_SATISFIED if state == progression.TRUE else PERMANENTLY_VIOLATED
            assert isinstance(state, int)
            return PRESENTLY_SATISFIED if self.progression.accepts_empty(state) else PRESENTLY_VIOLATED
        if kind == "not":
            return PERMANENTLY_SATISFIED - self._find_prefix_verdict(parts[0], component_states)
        verdicts = [self._find_prefix_verdict(part, component_states) for part in parts]
        if kind == "and":
            return min(verdicts, default=PERMANENTLY_SATISFIED)
        return max(verdicts, default=PERMANENTLY_VIOLATED)

    def has_running_clock(self, state: int) -> bool:
        """Whether a clock of the formula is running, so that time alone changes the state."""
        if not self.clocked:
            return False
        _, component_states, _ = self.states[state]
        components = zip(self.components, component_states, strict=True)
        clocks = [clock for component, clock in components if component.kind == "always-within"]
        return any([clock is not None and clock is not FinalState.VIOLATED for clock in clocks])


def _expect_no_quantifier(formula: Quantified) -> list[Formula]:  # noqa: ARG001 - none is left
    """Raise an error, in place of the instances of a quantifier."""
    raise AssertionError("quantifiers over temporal formulas are ground")


def _combine(formula: And | Or, parts: list[BooleanExpression]) -> BooleanExpression:
    """Return the expression of a conjunction or disjunction from the expressions of its parts."""
    return BooleanExpression("and" if isinstance(formula, And) else "or", parts=tuple(parts))
