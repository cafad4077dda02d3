"""The value of a formula along a trace (docs/language.md, sections 2, *Conditions*, and 4).

Connectives are Kleene's, on three truth values. A formula's value is a signal: its values at the letters; in a state
it has a single letter.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

from .candidates import iterate_candidate_bindings
from .formulas import (
    DURATION_TOLERANCE,
    Arithmetic,
    Atom,
    AtomCount,
    Binding,
    Compare,
    Connective,
    Duration,
    DurationTolerance,
    EqualTerms,
    Fluent,
    Node,
    Number,
    Preference,
    Quantified,
    StepAtom,
    Temporal,
    Unary,
    ground,
    iterate_bindings,
    unify,
)
from .reader import check_length
from .temporal import evaluate_operator
from .trace import (
    ALWAYS_FALSE,
    ALWAYS_TRUE,
    CONSTANT_SIGNALS,
    FALSE,
    TRUE,
    UNDEFINED,
    Signal,
    Trace,
    View,
    merge_signals,
    normalize,
)

COMPARE: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
ARITHMETIC: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def evaluate(formula: Node, binding: Binding, view: View) -> Signal:
    """Return the values of a formula at letters 0..n. Time linear in the changes of the facts that it reads."""
    view.work.spend()
    return EVALUATORS[type(formula)](formula, binding, view)


def find_first_value(signal: Signal) -> Any:
    """Return the value at letter 0; in a state it is the only value."""
    return signal[0][1]


def holds(formula: Node, binding: Binding, view: View) -> bool:
    """Whether a condition is true in a state (of a trace: at letter 0); an undefined condition is not satisfied."""
    return bool(find_first_value(evaluate(formula, binding, view)) == TRUE)


def _evaluate_equal_terms(formula: EqualTerms, binding: Binding, _view: View) -> Signal:
    left, right = formula.left, formula.right
    return ALWAYS_TRUE if binding.get(left, left) == binding.get(right, right) else ALWAYS_FALSE


def _evaluate_connective(formula: Connective, binding: Binding, view: View) -> Signal:
    """Return the values of ``and``, ``or`` or ``imply``."""
    signals = (evaluate(part, binding, view) for part in formula.members)
    if formula.operator == "imply":
        left, right = formula.members
        return compute_maximum([negate_signal(evaluate(left, binding, view)), evaluate(right, binding, view)])
    return compute_minimum(signals) if formula.operator == "and" else compute_maximum(signals)


def _evaluate_quantified(formula: Quantified, binding: Binding, view: View) -> Signal:
    """Return the values of a quantified formula. Without objects, ``forall`` is true and ``exists`` is false."""
    domains = ((formula.variable, formula.objects),)
    inner_bindings = iterate_candidate_bindings(formula.supports, domains, binding, view)
    signals = (evaluate(formula.part, inner_binding, view) for inner_binding in inner_bindings)
    return compute_maximum(signals) if formula.operator == "exists" else compute_minimum(signals)


def _evaluate_comparison(formula: Compare, binding: Binding, view: View) -> Signal:
    """Return the values of a comparison, which is undefined where it reads an undefined number."""
    compare = COMPARE[formula.operator]
    sides = [evaluate_number(side, binding, view) for side in (formula.left, formula.right)]
    changes = list[tuple[int, int]]()
    for letter, (left, right) in _align_signals(sides):
        is_undefined = left is None or right is None
        changes.append((letter, UNDEFINED if is_undefined else TRUE if compare(left, right) else FALSE))
    return normalize(changes)


def _evaluate_atom_count(formula: AtomCount, binding: Binding, view: View) -> Signal:
    """Return the values of "an allowed number of the facts is true"."""
    facts = dict.fromkeys(
        ground(atom, b) for domains, atom in formula.atoms for b in iterate_bindings(domains, binding)
    )
    signals = [ALWAYS_FALSE, *(view.signal(fact) for fact in facts)]
    return normalize(
        (letter, TRUE if values.count(TRUE) in formula.allowed else FALSE) for letter, values in merge_signals(signals)
    )


def _evaluate_step_atom(formula: StepAtom, binding: Binding, view: View) -> Signal:
    """Return the values of "a step that fits the pattern happens"."""
    assert isinstance(view, Trace)
    edges = list[tuple[int, int]]()
    for fact in view.possible_facts.find_matching(formula.terms, binding):
        if unify(formula.terms, fact, binding) is not None:
            edges += [edge for i in view.step_intervals[fact] for edge in ((i.first, 1), (i.last + 1, -1))]
    count, changes = 0, [(0, FALSE)]
    for letter, difference in sorted(edges):
        count += difference
        changes.append((letter, TRUE if count else FALSE))
    return [change for change in normalize(changes) if change[0] <= view.last]


def _evaluate_temporal(formula: Temporal, binding: Binding, view: View) -> Signal:
    assert isinstance(view, Trace)
    signals = [evaluate(part, binding, view) for part in formula.members]
    return evaluate_operator(formula.operator, formula.bounds, signals, view.starts)


EVALUATORS: Mapping[type[Node], Callable[[Any, Binding, View], Signal]] = {
    Atom: lambda formula, binding, view: view.signal(ground(formula.terms, binding)),
    EqualTerms: _evaluate_equal_terms,
    Unary: lambda formula, binding, view: negate_signal(evaluate(formula.part, binding, view)),
    Connective: _evaluate_connective,
    Quantified: _evaluate_quantified,
    Compare: _evaluate_comparison,
    Preference: lambda *_: ALWAYS_TRUE,
    AtomCount: _evaluate_atom_count,
    StepAtom: _evaluate_step_atom,
    Temporal: _evaluate_temporal,
}


def negate_signal(signal: Signal) -> Signal:
    """Return the values of ``not``."""
    return CONSTANT_SIGNALS[TRUE - signal[0][1]] if len(signal) == 1 else [(letter, TRUE - v) for letter, v in signal]


def compute_minimum(signals: Iterable[Signal]) -> Signal:
    """Return the values of ``and``. Stops after a signal that is false at all letters."""
    return _compute_extreme(signals, FALSE, min)


def compute_maximum(signals: Iterable[Signal]) -> Signal:
    """Return the values of ``or``. Stops after a signal that is true at all letters."""
    return _compute_extreme(signals, TRUE, max)


def _compute_extreme(signals: Iterable[Signal], deciding_value: int, pick: Callable[..., int]) -> Signal:
    """Return the least or greatest value at each letter; a signal with only the ``deciding_value`` is this value."""
    neutral_value = TRUE - deciding_value
    constant, changing = neutral_value, list[Signal]()
    for signal in signals:
        if len(signal) > 1:
            changing.append(signal)
            continue
        constant = pick(constant, signal[0][1])
        if constant == deciding_value:
            return CONSTANT_SIGNALS[deciding_value]
    if not changing:
        return CONSTANT_SIGNALS[constant]
    if len(changing) == 1 and constant == neutral_value:
        return changing[0]
    return _pick_by_letter(changing, constant, pick)


def _pick_by_letter(signals: Sequence[Signal], constant: int, pick: Callable[..., int]) -> Signal:
    """Pick the extreme value letter by letter, from the numbers of signals that are false, undefined and true."""
    value_changes = sorted(
        [(letter, position, value) for position, signal in enumerate(signals) for letter, value in signal]
    )
    counts = [0, 0, 0]
    counts[constant] += 1
    current_values = list[int | None]([None] * len(signals))
    changes = list[tuple[int, int]]()
    for letter, position, value in value_changes:
        before = current_values[position]
        if before is not None:
            counts[before] -= 1
        current_values[position] = value
        counts[value] += 1
        changes.append((letter, pick([v for v in (FALSE, UNDEFINED, TRUE) if counts[v]])))
    return normalize(changes)


def evaluate_number(expression: Node, binding: Binding, view: View) -> Signal:
    """Return the values of a numeric expression; ``None`` where it is undefined or divides by zero."""
    match expression:
        case Number(value):
            return ((0, value),)
        case DurationTolerance():
            return ((0, binding[DURATION_TOLERANCE]),)
        case Duration():
            return ((0, binding["?duration"]),)
        case Fluent(terms):
            return view.read_number(ground(terms, binding))
    assert isinstance(expression, Arithmetic)
    view.work.spend()
    operands = _align_signals([evaluate_number(part, binding, view) for part in expression.members])
    return normalize((letter, _compute_arithmetic(expression.operator, values)) for letter, values in operands)


def _align_signals(signals: list[Signal]) -> Iterable[tuple[int, list[Any]]]:
    """Return each letter at which a signal changes, with the values of all signals."""
    if all([len(signal) == 1 for signal in signals]):
        return [(0, [signal[0][1] for signal in signals])]
    return merge_signals(signals)


def _compute_arithmetic(op: str, values: Sequence[Fraction | None]) -> Fraction | None:
    """Return the value of an operation on numbers; ``None`` if it is undefined."""
    defined = [value for value in values if value is not None]
    if len(defined) < len(values) or (op == "/" and not defined[1]):
        return None
    value: Fraction = check_length(reduce(ARITHMETIC[op], defined))
    return value
