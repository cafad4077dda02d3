"""The value of a formula along a trace (docs/language.md, sections 2, *Conditions*, and 4).

Truth values are 0 (false), 1 (undefined) and 2 (true): Kleene's ``and`` is the least, ``or`` the greatest, and ``not``
is 2 - v. A formula's value is a signal: its values at the letters; in a state it has a single letter.
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
from .trace import CONSTANT_SIGNALS, FALSE, TRUE, Signal, Trace, View, merge_signals, normalize

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
    return bool(find_first_value(evaluate(formula, binding, view)) == 2)


def _evaluate_equal_terms(formula: EqualTerms, binding: Binding, _view: View) -> Signal:
    left, right = formula.left, formula.right
    return TRUE if binding.get(left, left) == binding.get(right, right) else FALSE


def _evaluate_connective(formula: Connective, binding: Binding, view: View) -> Signal:
    """Return the values of ``and`` (false where a part is), of ``or`` (true where a part is), or of ``imply``."""
    signals = (evaluate(part, binding, view) for part in formula.members)
    if formula.operator == "imply":
        left, right = formula.members
        return compute_maximum([invert(evaluate(left, binding, view)), evaluate(right, binding, view)])
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
    both = _align([evaluate_number(formula.left, binding, view), evaluate_number(formula.right, binding, view)])
    return normalize(
        (letter, 1 if left_value is None or right_value is None else 2 * compare(left_value, right_value))
        for letter, (left_value, right_value) in both
    )


def _evaluate_atom_count(formula: AtomCount, binding: Binding, view: View) -> Signal:
    facts = dict.fromkeys(
        ground(atom, b) for domains, atom in formula.atoms for b in iterate_bindings(domains, binding)
    )
    signals = [FALSE, *(view.signal(fact) for fact in facts)]
    return normalize((letter, 2 * (sum(values) // 2 in formula.allowed)) for letter, values in merge_signals(signals))


def _evaluate_step_atom(formula: StepAtom, binding: Binding, view: View) -> Signal:
    assert isinstance(view, Trace)
    edges = list[tuple[int, int]]()
    for fact in view.possible_facts.find_matching(formula.terms, binding):
        if unify(formula.terms, fact, binding) is not None:
            edges += [edge for i in view.step_intervals[fact] for edge in ((i.first, 1), (i.last + 1, -1))]
    count, changes = 0, [(0, 0)]
    for letter, difference in sorted(edges):
        count += difference
        changes.append((letter, 2 if count else 0))
    return [change for change in normalize(changes) if change[0] <= view.last]


def _evaluate_temporal(formula: Temporal, binding: Binding, view: View) -> Signal:
    assert isinstance(view, Trace)
    signals = [evaluate(part, binding, view) for part in formula.members]
    return evaluate_operator(formula.operator, formula.bounds, signals, view.starts)


EVALUATORS: Mapping[type[Node], Callable[[Any, Binding, View], Signal]] = {
    Atom: lambda formula, binding, view: view.signal(ground(formula.terms, binding)),
    EqualTerms: _evaluate_equal_terms,
    Unary: lambda formula, binding, view: invert(evaluate(formula.part, binding, view)),
    Connective: _evaluate_connective,
    Quantified: _evaluate_quantified,
    Compare: _evaluate_comparison,
    Preference: lambda *_: TRUE,
    AtomCount: _evaluate_atom_count,
    StepAtom: _evaluate_step_atom,
    Temporal: _evaluate_temporal,
}


def invert(signal: Signal) -> Signal:
    """Return the values of ``not``."""
    return CONSTANT_SIGNALS[2 - signal[0][1]] if len(signal) == 1 else [(letter, 2 - v) for letter, v in signal]


def compute_minimum(signals: Iterable[Signal]) -> Signal:
    """Return the values of ``and``. Stops after a signal that is false at all letters."""
    return _compute_extreme(signals, 0, min)


def compute_maximum(signals: Iterable[Signal]) -> Signal:
    """Return the values of ``or``. Stops after a signal that is true at all letters."""
    return _compute_extreme(signals, 2, max)


def _compute_extreme(signals: Iterable[Signal], deciding: int, pick: Callable[..., int]) -> Signal:
    constant, changing = 2 - deciding, list[Signal]()
    for signal in signals:
        if len(signal) > 1:
            changing.append(signal)
            continue
        constant = pick(constant, signal[0][1])
        if constant == deciding:
            return CONSTANT_SIGNALS[deciding]
    if not changing:
        return CONSTANT_SIGNALS[constant]
    if len(changing) == 1 and constant == 2 - deciding:
        return changing[0]
    return _sweep(changing, constant, pick)


def _sweep(signals: Sequence[Signal], constant: int, pick: Callable[..., int]) -> Signal:
    """Pick the extreme value letter by letter, from the numbers of signals that are false, undefined and true."""
    events = sorted([(letter, position, value) for position, signal in enumerate(signals) for letter, value in signal])
    counts = [0, 0, 0]
    counts[constant] += 1
    current_values = list[int | None]([None] * len(signals))
    changes = list[tuple[int, int]]()
    for letter, number, value in events:
        before = current_values[number]
        if before is not None:
            counts[before] -= 1
        current_values[number] = value
        counts[value] += 1
        changes.append((letter, pick([v for v in (0, 1, 2) if counts[v]])))
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
    operands = _align([evaluate_number(part, binding, view) for part in expression.members])
    return normalize((letter, _compute(expression.operator, values)) for letter, values in operands)


def _align(signals: list[Signal]) -> Iterable[tuple[int, list[Any]]]:
    """Return each letter at which a signal changes, with the values of all signals."""
    if all([len(signal) == 1 for signal in signals]):
        return [(0, [signal[0][1] for signal in signals])]
    return merge_signals(signals)


def _compute(op: str, values: Sequence[Fraction | None]) -> Fraction | None:
    defined = [value for value in values if value is not None]
    if len(defined) < len(values) or (op == "/" and not defined[1]):
        return None
    value: Fraction = check_length(reduce(ARITHMETIC[op], defined))
    return value
