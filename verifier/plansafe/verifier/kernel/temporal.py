"""Past, future and PDDL3 operators (docs/language.md, section 4), from the rows of what they are about."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction

from .trace import CONSTANT, Signal, merged, normal, stretches, value_at

Times = Sequence[Fraction]


def temporal(op: str, bounds: Sequence[Fraction], rows: Sequence[Signal], times: Times) -> Signal:
    """The values of an operator at letters 0..n; one of PDDL3 alone has the same at all letters."""
    last = len(times) - 1
    first = rows[0]
    match op:
        case "yesterday":
            return _moved(first, 1, 0, last)
        case "weak-yesterday":
            return _moved(first, 1, 2, last)
        case "next":
            return _moved(first, -1, 0, last)
        case "weak-next":
            return _moved(first, -1, 2, last)
        case "since" | "once" | "historically":
            return _forward(op, rows)
        case "until" | "release" | "sometime" | "always" | "sometime-after":
            return _backward(op, rows)
    return CONSTANT[whole(op, bounds, rows, times)]


def _moved(f: Signal, by: int, beyond: int, last: int) -> Signal:
    """The value one letter before (by = 1) or after (by = -1); beyond the trace it is the one given."""
    moved = [(max(letter + by, 0), value) for letter, value in f if letter + by <= last]
    return normal([(0, beyond), *moved] if by > 0 else [*moved, (last, beyond)])


STEPS: dict[str, tuple[int, Callable[[int, Sequence[int]], int]]] = {
    "once": (0, lambda before, now: max(before, now[0])),
    "historically": (2, lambda before, now: min(before, now[0])),
    "since": (0, lambda before, now: max(now[-1], min(now[0], before))),
    "sometime": (0, lambda after, now: max(after, now[0])),
    "always": (2, lambda after, now: min(after, now[0])),
    "until": (0, lambda after, now: max(now[-1], min(now[0], after))),
    "release": (2, lambda after, now: min(now[-1], max(now[0], after))),
}
"""The value beyond the trace; and the value here from that of the letter before (or after) and those of the formulas.

Doing a step twice is doing it once, so that one is enough for a stretch of letters in which nothing changes.
"""


def _forward(op: str, rows: Sequence[Signal]) -> Signal:
    value, step = STEPS[op]
    return normal([(letter, value := step(value, now)) for letter, now in merged(rows)])


def _backward(op: str, rows: Sequence[Signal]) -> Signal:
    if op == "sometime-after":  # always (f implies sometime g)
        answered = _backward("sometime", rows[1:])
        return _backward("always", [implied(rows[0], answered)])
    value, step = STEPS[op]
    changes = [(letter, [*now]) for letter, now in merged(rows)]
    return normal([(letter, value := step(value, now)) for letter, now in reversed(changes)][::-1])


def implied(f: Signal, g: Signal) -> Signal:
    """The values of ``imply``."""
    return normal([(letter, max(2 - v, w)) for letter, (v, w) in merged((f, g))])


def whole(op: str, bounds: Sequence[Fraction], rows: Sequence[Signal], times: Times) -> int:
    """The value of a PDDL3 operator on an entire trace, or on a prefix (of which the rows may be longer)."""
    first, last = rows[0], len(times) - 1
    match op:
        case "at end":
            return int(value_at(first, last))
        case "within":
            return _greatest(first, 0, bisect_right(times, bounds[0]) - 1)
        case "sometime-before":
            before = _moved(_forward("once", rows[1:]), 1, 0, last)
            return _least(implied(first, before), 0, last)
        case "always-within":
            late = [max(2 - value, answer(rows[1], i, bounds[0], times)) for i, value in _triggers(first, last)]
            return min(late, default=2)
        case "at-most-once":
            return _at_most_once(first, last)
        case "hold-during" | "hold-after":
            return _hold(op, bounds, first, times)
    return _least(_backward(op, _cut(rows, last)), 0, 0)


def _cut(rows: Sequence[Signal], last: int) -> list[Signal]:
    return [[change for change in signal if change[0] <= last] for signal in rows]


def _least(signal: Signal, first: int, last: int) -> int:
    return min([int(value) for _, _, value in stretches(signal, first, last)])


def _greatest(signal: Signal, first: int, last: int) -> int:
    return max([int(value) for _, _, value in stretches(signal, first, last)])


def _triggers(f: Signal, last: int) -> list[tuple[int, int]]:
    """The letters at which a formula is not false, with its values."""
    found = [x for x in stretches(f, 0, last) if x[2]]
    return [(i, value) for first, end, value in found for i in range(first, end + 1)]


def _at_most_once(f: Signal, last: int) -> int:
    """Not: f, later not f, later f."""
    held = ceased = again = 0
    for first, end, v in stretches(f, 0, last):
        for _ in range(first, min(end, first + 2) + 1):  # a fourth letter with the same value tells nothing new
            held, ceased, again = max(held, v), max(ceased, min(held, 2 - v)), max(again, min(ceased, v))
    return 2 - again


def _hold(op: str, bounds: Sequence[Fraction], f: Signal, times: Times) -> int:
    last = len(times) - 1
    if times[last] <= bounds[0]:
        return int(value_at(f, last))
    in_force = bisect_right(times, bounds[0]) - 1
    end = last
    if op == "hold-during":
        end = max(in_force, next((i for i in range(in_force, last + 1) if times[i] >= bounds[1]), last + 1) - 1)
    return _least(f, in_force, end)


def answer(g: Signal, start: int, within: Fraction, times: Times) -> int:
    """The greatest value of a formula from a letter on, in time."""
    end = bisect_right(times, times[start] + within) - 1
    best = 0
    for _, _, value in stretches(g, start, end):
        best = max(best, value)
        if best == 2:
            break
    return best


def violated_for_good(
    op: str, bounds: Sequence[Fraction], rows: Sequence[Signal], times: Times, timed: bool, more: bool
) -> bool:
    """Whether a prefix with these rows (of state formulas) violates the PDDL3 operator whatever comes after.

    ``more``: another letter may come at the time of its last one.
    """
    last = len(times) - 1

    def closed(time: Fraction) -> bool:  # no later letter has at most this time
        return times[last] + (not timed) > time or (times[last] == time and not more)

    if op in ("at end", "sometime", "sometime-after") or whole(op, bounds, rows, times) > 0:
        return False
    if op != "always-within":
        return op not in ("within", "hold-during", "hold-after") or closed(bounds[0])
    due = [i for i, value in _triggers(rows[0], last) if value == 2 and closed(times[i] + bounds[0])]
    return any(answer(rows[1], i, bounds[0], times) == 0 for i in due)
