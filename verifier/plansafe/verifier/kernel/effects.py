"""What an effect does, how effects combine, and which actions interfere (docs/language.md, sections 2 and 3)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from .candidates import candidates
from .evaluation import numbers, row
from .formulas import (
    ASSIGNMENTS,
    Add,
    Assign,
    Binding,
    Connective,
    Delete,
    Fact,
    Node,
    OneOf,
    Quantified,
    When,
    ground,
    symbol,
)
from .reader import bounded, need
from .trace import Change, Earlier, State

SUMS, FACTORS = {"increase", "decrease"}, {"scale-up", "scale-down"}


class Undefined(ArithmeticError):
    """An effect reads an undefined number, divides by zero, or clashes with another."""


class Reading(NamedTuple):
    """What an effect is read in: the state before; for the end of a durative action the one before its start, too."""

    now: State
    start: Earlier | None = None
    choose: Callable[[int, tuple[str, ...], int], int] | None = None  # number, objects, alternatives


def outcome(e: Node, b: Binding, reading: Reading, asked: int = 2, bound: tuple[str, ...] = ()) -> Iterator[Change]:
    """What an effect does. ``asked``: the value of the conditions around it, false ones left out.

    Raises ``Undefined``, also where it is undefined whether something happens.
    """
    match e:
        case Connective(_, members):
            for part in members:
                yield from outcome(part, b, reading, asked, bound)
        case Quantified(_, variable, objects, part):
            for found in candidates(e.needs, ((variable, objects),), b, reading.now):
                yield from outcome(part, found, reading, asked, (*bound, found[variable]))
        case OneOf(number, members):
            assert reading.choose is not None
            chosen = reading.choose(number, bound, len(members))
            need(chosen in range(len(members)), "no effect")
            yield from outcome(members[chosen], b, reading, asked, bound)
        case When(_, effect):
            value = min(asked, _condition(e, b, reading))  # below another, both are one condition
            if value:
                yield from outcome(effect, b, reading, value, bound)
        case _ if asked == 1:
            raise Undefined
        case _:
            yield _change(e, b, reading.now)


def _condition(e: When, b: Binding, reading: Reading) -> int:
    value: int = row(e.condition, b, reading.now)[0][1]
    if e.earlier is not None and reading.start is not None:
        value = min(value, row(e.earlier, b, reading.start)[0][1])
    return value


def _change(e: Node, b: Binding, now: State) -> Change:
    match e:
        case Add(terms) | Delete(terms):
            return e.operator, ground(terms, b), None
        case Assign(operator, fluent, value):
            found = numbers(value, b, now)[0][1]
            if found is None:
                raise Undefined
            return operator, ground(fluent.terms, b), found
    raise AssertionError(e)


def combined(changes: Iterable[Change], before: Mapping[Fact, Fraction]) -> dict[Fact, Fraction]:
    """The values of fluents that are changed at once. Raises ``Undefined`` where they clash or have no value."""
    result, done = dict[Fact, Fraction](), dict[Fact, set[str]]()
    for op, fluent, x in changes:
        if op not in ASSIGNMENTS:
            continue
        kinds = {op} | done.get(fluent, set())
        alike = kinds <= SUMS or kinds <= FACTORS or fluent not in done
        if not alike or (op != "assign" and fluent not in before) or (op, x) == ("scale-down", 0):
            raise Undefined
        done[fluent] = kinds
        result[fluent] = bounded(_assigned(op, result.get(fluent, before.get(fluent, Fraction(0))), x))
    return result


def _assigned(op: str, old: Fraction, x: Fraction) -> Fraction:
    match op:
        case "increase":
            return old + x
        case "decrease":
            return old - x
        case "scale-up":
            return old * x
        case "scale-down":
            return old / x
    return x


class Deed(NamedTuple):
    """What an action does at a happening, and what it reads there; a derived fact it reads as ("*", predicate)s."""

    changes: list[Change]
    reads: frozenset[Fact]


def interfere(one: Deed, other: Deed) -> bool:
    """*Mutex* (PDDL 2.1, definition 12)."""
    if _touches(one, other) or _touches(other, one):
        return True
    return any(f == g and not _together(a, b) for a, f, _ in one.changes for b, g, _ in other.changes)


def _touches(one: Deed, other: Deed) -> bool:
    """Whether the other changes what the one reads."""
    return any(f in one.reads or ("*", *symbol(f)) in one.reads for _, f, _ in other.changes)


def _together(a: str, b: str) -> bool:
    """Whether both may be done to one fact or fluent."""
    return (a == b and a in ("add", "delete")) or {a, b} <= SUMS


def touched(deed: Deed) -> frozenset[Fact]:
    """What a deed reads or changes: two that have nothing of it in common do not interfere."""
    return deed.reads.union(*[(f, ("*", *symbol(f))) for _, f, _ in deed.changes])
