"""Temporal formulas as small automata, shared by all instances of a rule and built as far as they are visited.

A program reads letters: an integer of *leaf* bits (state formulas, whose truth the runtime supplies) and an integer of
*time* bits. Its states are numbers. Past operators are bits (Havelund and Rosu 2004); future operators progress
(:mod:`.progression`); the PDDL3 operators that look at the whole trace are automata of two to four states (Gerevini et
al. 2009). Only ``always-within`` needs a clock in its state.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, NamedTuple, assert_never

from plansafe.verifier.compile.triggers import binds_all_parameters
from plansafe.verifier.execution.monitors import progression
from plansafe.verifier.execution.monitors.progression import Progression
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Number,
    Or,
    PastOperator,
    Quantified,
    Task,
    Temporal,
    TraceOperator,
    Truth,
    Variable,
)
from plansafe.verifier.model.operations import (
    PAST_OPERATORS,
    TRACE_OPERATORS,
    free_slots,
    is_temporal,
    past_operator,
    subformulas,
    substitute,
    trace_operator,
)

PERMANENTLY_VIOLATED, PRESENTLY_VIOLATED, PRESENTLY_SATISFIED, PERMANENTLY_SATISFIED = range(4)
MAX_EXPANSION = 20_000


class LetterTime(NamedTuple):
    """When a letter is: its number, its time, and whether the trace is timed.

    ``shared``: an action of no duration has just started, and may end in another letter of the same time.
    """

    letter: int
    time: Number
    timed: bool
    shared: bool = False

    def later_at_most(self, bound: Number) -> bool:
        """Whether a later letter may have a time <= ``bound``."""
        if not self.timed:
            return self.time + 1 <= bound
        return self.time < bound or ((self.letter == 0 or self.shared) and self.time <= bound)

    def later_before(self, bound: Number) -> bool:
        """Whether a later letter may have a time < ``bound``."""
        return self.time + 1 < bound if not self.timed else self.time < bound


class Program:
    """The automaton of one part.

    ``leaves`` are the state formulas whose truth makes a letter, in order of their bits.
    """

    def __init__(self, task: Task, mode: str, formula: Formula, parameters: tuple[Variable, ...] = ()) -> None:
        self.task = task
        self.past_mode = mode != "whole"
        self.leaves: list[Formula] = []
        self._leaf_index: dict[tuple[object, ...], int] = {}
        self._past: list[tuple[PastOperator, list[Combination]]] = []
        self.past_index: dict[int, int] = {}
        self.components: list[Component] = []
        self._bounds: list[tuple[Number, Number | None]] = []
        self.progression = Progression()
        formula = ground_temporal(task, formula, parameters)
        self.formula = formula  # identities index past subformulas
        if self.past_mode:
            self._output = self._value(formula)
            self.skeleton = Combination("component")
        else:
            self.skeleton = self._boolean(formula)
        self.timed = any([c.kind in ("within", "hold-during", "hold-after", "always-within") for c in self.components])
        self.clocked = any([c.kind == "always-within" for c in self.components])
        self.states: list[ProgramState] = []
        self._numbers: dict[ProgramState, int] = {}
        self._next: dict[tuple[int, int, int], int] = {}
        self._moves: dict[tuple[int, int, int], tuple[int, bool]] = {}
        self._verdicts: dict[int, int] = {}
        initial_past = 0
        for number, (operator, _) in enumerate(self._past):
            if operator in ("historically", "weak-yesterday"):
                initial_past |= 1 << number
        self.start = self._number((initial_past, tuple([c.start for c in self.components]), True))

    @cached_property
    def horizon(self) -> int:
        """The first letter of an untimed trace at which no bound of the formula makes a difference any more."""
        bounds = [
            bound
            for component in self.components
            if component.kind in ("within", "hold-during", "hold-after")
            for bound in component.bounds
        ]
        return max(0, int(max(bounds)) + 2) if bounds else 0

    # -- building -----------------------------------------------------------------------------------------------------

    def leaf(self, formula: Formula) -> int:
        """The number of a state formula among the leaves, where it gets one."""
        key = structural_key(formula)
        if key not in self._leaf_index:
            self._leaf_index[key] = len(self.leaves)
            self.leaves.append(formula)
        return self._leaf_index[key]

    def _value(self, formula: Formula) -> Combination:
        """A past formula as an expression over leaf bits and past bits."""
        if isinstance(formula, Truth):
            return Combination("constant", int(formula.value))
        if not is_temporal(formula):
            return Combination("leaf", self.leaf(formula))
        match formula:
            case Not():
                return Combination("not", parts=(self._value(formula.body),))
            case And() | Or():
                return _junction(formula, [self._value(p) for p in formula.parts])
            case Temporal():
                if id(formula) not in self.past_index:
                    operands = [self._value(p) for p in formula.operands]
                    self.past_index[id(formula)] = len(self._past)
                    self._past.append((past_operator(formula), operands))
                return Combination("past", self.past_index[id(formula)])
            case Atom() | Equal() | Compare() | Quantified():
                raise AssertionError("quantifiers over temporal formulas are ground")
            case _:
                assert_never(formula)

    def _boolean(self, formula: Formula) -> Combination:
        """The Boolean top of a formula over the trace; maximal formulas without whole-trace operators become LTLf."""
        if not any([isinstance(p, Temporal) and p.operator in TRACE_OPERATORS for p in subformulas(formula)]):
            node = self.progression.normal(formula, True, self._bit, _ground)
            return self._component(Component("ltl", [], (), node))
        match formula:
            case Not():
                return Combination("not", parts=(self._boolean(formula.body),))
            case And() | Or():
                return _junction(formula, [self._boolean(p) for p in formula.parts])
            case Temporal():
                values = [self._value(p) for p in formula.operands]
                operator = trace_operator(formula)
                return self._component(Component(operator, values, formula.bounds, start_state(operator)))
            case Truth() | Atom() | Equal() | Compare() | Quantified():
                raise AssertionError("quantifiers over temporal formulas are ground")
            case _:
                assert_never(formula)

    def _component(self, component: Component) -> Combination:
        self.components.append(component)
        return Combination("component", len(self.components) - 1)

    def _bit(self, formula: Formula) -> int | None:
        """The bit of a leaf or of a past subformula (see :meth:`_interleave`); ``None`` of anything else."""
        if not is_temporal(formula):
            return 2 * self.leaf(formula)
        if isinstance(formula, Temporal) and formula.operator in PAST_OPERATORS:
            return 2 * self._value(formula).number + 1
        return None

    # -- running ------------------------------------------------------------------------------------------------------

    def _number(self, state: ProgramState) -> int:
        found = self._numbers.get(state)
        if found is None:
            found = self._numbers[state] = len(self.states)
            self.states.append(state)
        return found

    def time_bits(self, moment: LetterTime) -> int:
        """The comparisons of a letter's time with the bounds of the formula, as bits.

        0 for a formula without bounds.
        """
        bits = 0
        shift = 0
        for component in self.components:
            if component.kind in ("within", "hold-during", "hold-after"):
                low, high = component.bounds[0], component.bounds[-1]
                flags = [moment.time <= low, moment.later_at_most(low), False, False]
                if component.kind == "hold-during":
                    flags[2:] = moment.time < high, moment.later_before(high)
                for flag in flags:
                    bits |= flag << shift
                    shift += 1
        return bits

    def step(self, state: int, letter: int, time_bits: int, moment: LetterTime) -> int:
        """The state after a letter. Memoised, unless the formula has a clock."""
        if self.clocked:
            return self._step(state, letter, time_bits, moment)
        key = (state, letter, time_bits)
        found = self._next.get(key)
        if found is None:
            found = self._next[key] = self._step(state, letter, time_bits, moment)
        return found

    def move(self, state: int, letter: int, time_bits: int, moment: LetterTime) -> tuple[int, bool]:
        """The state after a letter, and whether the same letter again would change nothing."""
        if self.clocked:
            after = self._step(state, letter, time_bits, moment)
            return after, not self.pending(after) and self._step(after, letter, time_bits, moment) == after
        key = (state, letter, time_bits)
        found = self._moves.get(key)
        if found is None:
            after = self.step(state, letter, time_bits, moment)
            found = self._moves[key] = after, self.step(after, letter, time_bits, moment) == after
        return found

    def _step(self, state: int, letter: int, time_bits: int, moment: LetterTime) -> int:
        stored, components, _ = self.states[state]
        now, after = self._past_step(stored, letter)
        output = True
        out: list[ComponentState] = []
        if self.past_mode:
            output = self._evaluate(self._output, letter, now)
        extended = -1
        shift = 0
        for component, own in zip(self.components, components, strict=True):
            if component.kind == "ltl":
                if extended < 0:
                    extended = self._interleave(letter, now)
                assert isinstance(own, int)
                out.append(self.progression.progress(own, extended))
                continue
            values = [self._evaluate(value, letter, now) for value in component.values]
            flags = 0
            if component.kind in ("within", "hold-during", "hold-after"):
                flags = time_bits >> shift & 15
                shift += 4
            out.append(advance_component(component, own, values, flags, moment))
        return self._number((after, tuple(out), output))

    def _past_step(self, stored: int, letter: int) -> tuple[int, int]:
        """The values of past subformulas at this letter, and what is stored for the next one."""
        now = 0
        after = 0
        for number, (operator, operands) in enumerate(self._past):
            before = bool(stored >> number & 1)
            first = self._evaluate(operands[0], letter, now)
            match operator:
                case "yesterday" | "weak-yesterday":
                    value, kept = before, first
                case "once":
                    value = kept = before or first
                case "historically":
                    value = kept = before and first
                case "since":
                    value = kept = self._evaluate(operands[1], letter, now) or (first and before)
                case _:
                    assert_never(operator)
            now |= value << number
            after |= kept << number
        return now, after

    def _evaluate(self, value: Combination, letter: int, past: int) -> bool:
        kind, number, parts = value
        match kind:
            case "leaf":
                return bool(letter >> number & 1)
            case "past":
                return bool(past >> number & 1)
            case "constant":
                return bool(number)
            case "not":
                return not self._evaluate(parts[0], letter, past)
            case "and":
                return all([self._evaluate(part, letter, past) for part in parts])
            case _:
                return any([self._evaluate(part, letter, past) for part in parts])

    def _interleave(self, letter: int, past: int) -> int:
        """One integer for the progression: leaf ``b`` at bit ``2b``, past subformula ``b`` at ``2b + 1``."""
        out = 0
        for bit in range(len(self.leaves)):
            out |= (letter >> bit & 1) << 2 * bit
        for bit in range(len(self._past)):
            out |= (past >> bit & 1) << 2 * bit + 1
        return out

    def output(self, state: int) -> bool:
        """In a past formula: its value at the letter just read."""
        return self.states[state][2]

    def verdict(self, state: int) -> int:
        """The verdict on the prefix just read (RV-LTL).

        Permanent verdicts are sound; complete for the PDDL3 operators.
        """
        found = self._verdicts.get(state)
        if found is None:
            found = self._verdicts[state] = self._judge(self.skeleton, self.states[state][1])
        return found

    def _judge(self, skeleton: Combination, components: tuple[ComponentState, ...]) -> int:
        kind, number, parts = skeleton
        if kind == "component":
            component, own = self.components[number], components[number]
            if component.kind != "ltl":
                return component_verdict(component, own)
            if own in (progression.TRUE, progression.FALSE):
                return PERMANENTLY_SATISFIED if own == progression.TRUE else PERMANENTLY_VIOLATED
            assert isinstance(own, int)
            return PRESENTLY_SATISFIED if self.progression.accepts_empty(own) else PRESENTLY_VIOLATED
        if kind == "not":
            return PERMANENTLY_SATISFIED - self._judge(parts[0], components)
        inner = [self._judge(part, components) for part in parts]
        return min(inner, default=PERMANENTLY_SATISFIED) if kind == "and" else max(inner, default=PERMANENTLY_VIOLATED)

    def pending(self, state: int) -> bool:
        """Whether the formula has a clock that is running, so that time alone changes its state."""
        return self.clocked and any(
            [
                c.kind == "always-within" and own is not None and own is not _BAD
                for c, own in zip(self.components, self.states[state][1], strict=True)
            ]
        )


class Combination(NamedTuple):
    """What Boolean connectives make of leaves and past subformulas, or of components: each named by its number.

    The number of a constant is its value.
    """

    kind: str
    number: int = 0
    parts: tuple[Combination, ...] = ()


def _ground(formula: Quantified) -> list[Formula]:  # noqa: ARG001 - whatever it is
    raise AssertionError("quantifiers over temporal formulas are ground")


def _junction(formula: And | Or, parts: list[Combination]) -> Combination:
    return Combination("and" if isinstance(formula, And) else "or", parts=tuple(parts))


ComponentState = Number | str | None
"""A residual formula, or what :func:`advance_component` says of the operator."""
ProgramState = tuple[int, tuple[ComponentState, ...], bool]
"""The bits that past operators store, the states of the components, and in a past formula its value."""


class Component(NamedTuple):
    """One operator at the top of a formula over the trace, with the past formulas it reads."""

    kind: Literal["ltl"] | TraceOperator
    values: list[Combination]
    bounds: tuple[Number, ...]
    start: ComponentState


_BAD, _GOOD = "bad", "good"


def start_state(operator: TraceOperator) -> ComponentState:
    """The state of a whole-trace operator before the first letter."""
    match operator:
        case "at-most-once" | "sometime-before" | "within":
            return 0
        case "at-end":
            return False
        case "always-within" | "hold-during" | "hold-after":
            return None
        case _:
            assert_never(operator)


def advance_component(
    component: Component, own: ComponentState, values: list[bool], flags: int, moment: LetterTime
) -> ComponentState:
    """The next state of a whole-trace operator.

    ``at-end``: the last value. ``at-most-once``: 0 before, 1 in, 2 after the block. ``sometime-before``: 0 waiting.
    ``within``: 0 waiting. ``hold-*``: the last value. ``always-within``: the time since which an answer is due, or
    ``None``. ``_BAD`` and ``_GOOD`` are final.
    """
    if own is _BAD or own is _GOOD:
        return own
    first = values[0]
    match component.kind:
        case "at-end":
            return first
        case "at-most-once":
            if first:
                return _BAD if own == 2 else 1
            return 0 if own == 0 else 2
        case "sometime-before":
            return _BAD if first else _GOOD if values[1] else 0
        case "within":
            return _GOOD if first and flags & 1 else own if flags & 2 else _BAD
        case "always-within":
            return _respond(own, first, values[1], component.bounds[0], moment)
        case "hold-during" | "hold-after":
            return _hold(own, first, flags, for_good=component.kind == "hold-after")
        case "ltl":
            raise AssertionError("a residual progresses")
        case _:
            assert_never(component.kind)


def _hold(own: ComponentState, first: bool, flags: int, *, for_good: bool) -> ComponentState:
    at_most, later_at_most, before, later_before = bool(flags & 1), bool(flags & 2), bool(flags & 4), bool(flags & 8)
    if at_most:
        if later_at_most:
            return first
        if not first:
            return _BAD
        return first if for_good or later_before else _GOOD
    if own is False:
        return _BAD
    if for_good:
        return first or _BAD
    if not before:
        return _GOOD
    return _BAD if not first else True if later_before else _GOOD


def _respond(own: ComponentState, trigger: bool, answer: bool, bound: Number, moment: LetterTime) -> ComponentState:
    due = own if own is not None else (moment.time if trigger else None)
    if due is None:
        return None
    assert not isinstance(due, bool | str)
    deadline = due + bound
    if answer and moment.time <= deadline:
        return None
    if moment.time > deadline:
        return _BAD
    return due if moment.later_at_most(deadline) else _BAD


def component_verdict(component: Component, own: ComponentState) -> int:
    """The prefix verdict of a whole-trace operator in a state."""
    if own is _BAD:
        return PERMANENTLY_VIOLATED
    if own is _GOOD:
        return PERMANENTLY_SATISFIED
    match component.kind:
        case "at-end" | "hold-during" | "hold-after":
            return PRESENTLY_SATISFIED if own else PRESENTLY_VIOLATED
        case "within":
            return PRESENTLY_VIOLATED
        case "always-within":
            return PRESENTLY_SATISFIED if own is None else PRESENTLY_VIOLATED
        case "at-most-once" | "sometime-before":
            return PRESENTLY_SATISFIED
        case "ltl":
            raise AssertionError("a residual says itself whether it accepts the empty trace")
        case _:
            assert_never(component.kind)


# ---- formulas -------------------------------------------------------------------------------------------------------


def structural_key(formula: Formula) -> tuple[object, ...]:
    """A flat key: equal for equal formulas."""
    out: list[object] = []
    stack: list[object] = [formula]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            out.append((type(part).__name__, len(part)))
            stack.extend(part)
        else:
            out.append(part)
    return tuple(out)


def ground_temporal(task: Task, formula: Formula, parameters: tuple[Variable, ...] = ()) -> Formula:
    """Replace quantifiers over temporal formulas by conjunctions and disjunctions over their objects."""
    budget = [MAX_EXPANSION]

    def walk(part: Formula, values: dict[int, int]) -> Formula:
        budget[0] -= 1
        if budget[0] < 0:
            raise LimitReached(LimitKind.INSTANCES)
        if not is_temporal(part):
            return substitute(part, values) if values else part
        match part:
            case Not():
                return Not(walk(part.body, values))
            case And():
                return And(merge_state_parts(And, [walk(p, values) for p in part.parts], parameters))
            case Or():
                return Or(merge_state_parts(Or, [walk(p, values) for p in part.parts], parameters))
            case Temporal():
                return Temporal(part.operator, tuple([walk(p, values) for p in part.operands]), part.bounds)
            case Quantified():
                parts = tuple([walk(part.body, inner) for inner in task.bindings(part.variables, values)])
                return And(parts) if part.universal else Or(parts)
            case Truth() | Atom() | Equal() | Compare():
                return part
            case _:
                assert_never(part)

    return walk(formula, {})


def merge_state_parts(
    kind: type[And | Or], parts: list[Formula], parameters: tuple[Variable, ...]
) -> tuple[Formula, ...]:
    """The parts, those about single states and the parameters made one where that can be searched for.

    Fewer bindings differ in a conjunction than in each of its parts. What is the same for all bindings is kept apart:
    its changes would make all of them differ.
    """
    own = {v.slot for v in parameters}
    plain = [part for part in parts if not is_temporal(part) and free_slots(part) & own]
    together = kind(tuple(plain))
    if len(plain) < 2 or not any([binds_all_parameters(together, value, parameters) for value in (True, False)]):
        return tuple(parts)
    inside = {id(part) for part in plain}
    return (together, *[part for part in parts if id(part) not in inside])
