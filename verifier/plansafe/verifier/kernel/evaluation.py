"""The value of a formula along a trace (docs/language.md, sections 2, *Conditions*, and 4).

Truth values are 0 (false), 1 (undefined) and 2 (true): Kleene's ``and`` is the least, ``or`` the greatest, and ``not``
is 2 - v. The *row* of a formula is the signal of its values; in a state it has a single letter.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

from .candidates import candidates
from .formulas import (
    OFF,
    Arithmetic,
    Atom,
    Binding,
    Compare,
    Connective,
    Count,
    Duration,
    Fluent,
    Node,
    Number,
    Off,
    Preference,
    Quantified,
    Same,
    Taken,
    Temporal,
    Unary,
    bindings,
    ground,
    unify,
)
from .reader import bounded
from .temporal import temporal
from .trace import CONSTANT, FALSE, TRUE, Signal, Trace, View, merged, normal

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


def row(f: Node, b: Binding, view: View) -> Signal:
    """The values of a formula at letters 0..n. Time linear in the changes of what it reads."""
    view.work.spend()
    return ROWS[type(f)](f, b, view)


def holds(f: Node, b: Binding, view: View) -> bool:
    """Whether a condition is true in a state; one that is undefined is not satisfied."""
    return bool(row(f, b, view)[0][1] == 2)


def _atom(f: Atom, b: Binding, view: View) -> Signal:
    return view.signal(ground(f.terms, b))


def _same(f: Same, b: Binding, _view: View) -> Signal:
    return TRUE if b.get(f.left, f.left) == b.get(f.right, f.right) else FALSE


def _not(f: Unary, b: Binding, view: View) -> Signal:
    return inverted(row(f.part, b, view))


def _connective(f: Connective, b: Binding, view: View) -> Signal:
    """``and`` is false as soon as a part is, ``or`` true as soon as a part is."""
    rows = (row(part, b, view) for part in f.members)
    if f.operator == "imply":
        left, right = f.members
        return greatest([inverted(row(left, b, view)), row(right, b, view)])
    return least(rows) if f.operator == "and" else greatest(rows)


def _quantified(f: Quantified, b: Binding, view: View) -> Signal:
    """Over nothing, ``forall`` is true and ``exists`` false."""
    domains = ((f.variable, f.objects),)
    rows = (row(f.part, found, view) for found in candidates(f.needs, domains, b, view))
    return greatest(rows) if f.operator == "exists" else least(rows)


def _compare(f: Compare, b: Binding, view: View) -> Signal:
    """A comparison that reads an undefined number is undefined."""
    compare = COMPARE[f.operator]
    both = _together([numbers(f.left, b, view), numbers(f.right, b, view)])
    return normal((letter, 1 if x is None or y is None else 2 * compare(x, y)) for letter, (x, y) in both)


def _preference(_f: Preference, _b: Binding, _view: View) -> Signal:
    return TRUE


def _count(f: Count, b: Binding, view: View) -> Signal:
    every = dict.fromkeys(ground(atom, c) for domains, atom in f.atoms for c in bindings(domains, b))
    rows = [FALSE, *(view.signal(fact) for fact in every)]
    return normal((letter, 2 * (sum(values) // 2 in f.allowed)) for letter, values in merged(rows))


def _taken(f: Taken, b: Binding, view: View) -> Signal:
    assert isinstance(view, Trace)
    changes = list[tuple[int, int]]()
    for fact in view.known.matching(f.terms, b):
        if unify(f.terms, fact, b) is not None:
            changes += [change for i in view.taken[fact] for change in ((i.first, 1), (i.last + 1, -1))]
    count, result = 0, [(0, 0)]
    for letter, more in sorted(changes):
        count += more
        result.append((letter, 2 if count else 0))
    return [change for change in normal(result) if change[0] <= view.last]


def _temporal(f: Temporal, b: Binding, view: View) -> Signal:
    assert isinstance(view, Trace)
    return temporal(f.operator, f.bounds, [row(part, b, view) for part in f.members], view.times)


ROWS: Mapping[type[Node], Callable[[Any, Binding, View], Signal]] = {
    Atom: _atom,
    Same: _same,
    Unary: _not,
    Connective: _connective,
    Quantified: _quantified,
    Compare: _compare,
    Preference: _preference,
    Count: _count,
    Taken: _taken,
    Temporal: _temporal,
}


def inverted(signal: Signal) -> Signal:
    """The values of ``not``."""
    return CONSTANT[2 - signal[0][1]] if len(signal) == 1 else [(letter, 2 - value) for letter, value in signal]


def least(rows: Iterable[Signal]) -> Signal:
    """The values of ``and``; what comes after one that is false throughout is not asked for."""
    return _extreme(rows, 0, min)


def greatest(rows: Iterable[Signal]) -> Signal:
    """The values of ``or``; what comes after one that is true throughout is not asked for."""
    return _extreme(rows, 2, max)


def _extreme(rows: Iterable[Signal], deciding: int, pick: Callable[..., int]) -> Signal:
    constant, changing = 2 - deciding, list[Signal]()
    for signal in rows:
        if len(signal) > 1:
            changing.append(signal)
            continue
        constant = pick(constant, signal[0][1])
        if constant == deciding:
            return CONSTANT[deciding]
    if not changing:
        return CONSTANT[constant]
    if len(changing) == 1 and constant == 2 - deciding:
        return changing[0]
    return _swept(changing, constant, pick)


def _swept(signals: Sequence[Signal], constant: int, pick: Callable[..., int]) -> Signal:
    """Letter by letter, how many are false, undefined and true."""
    events = sorted([(letter, i, value) for i, signal in enumerate(signals) for letter, value in signal])
    counts = [0, 0, 0]
    counts[constant] += 1
    now = list[int | None]([None] * len(signals))
    result = list[tuple[int, int]]()
    for letter, i, value in events:
        before = now[i]
        if before is not None:
            counts[before] -= 1
        now[i] = value
        counts[value] += 1
        result.append((letter, pick([v for v in (0, 1, 2) if counts[v]])))
    return normal(result)


def numbers(e: Node, b: Binding, view: View) -> Signal:
    """The values of a numeric expression; ``None`` where it is undefined or divides by zero."""
    match e:
        case Number(value):
            return ((0, value),)
        case Off():
            return ((0, b[OFF]),)
        case Duration():
            return ((0, b["?duration"]),)
        case Fluent(terms):
            return view.number(ground(terms, b))
    assert isinstance(e, Arithmetic)
    view.work.spend()
    operands = _together([numbers(part, b, view) for part in e.members])
    return normal((letter, _computed(e.operator, values)) for letter, values in operands)


def _together(signals: list[Signal]) -> Iterable[tuple[int, list[Any]]]:
    """Each letter at which one of the signals changes, with the values of all; in a state that is a single one."""
    if all([len(signal) == 1 for signal in signals]):
        return [(0, [signal[0][1] for signal in signals])]
    return merged(signals)


def _computed(op: str, values: Sequence[Fraction | None]) -> Fraction | None:
    defined = [value for value in values if value is not None]
    if len(defined) < len(values) or (op == "/" and not defined[1]):
        return None
    return bounded(reduce(ARITHMETIC[op], defined))
