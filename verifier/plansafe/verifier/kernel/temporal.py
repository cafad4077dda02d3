"""Past, future and PDDL3 operators (docs/language.md, section 4), from the signals of their formulas.

A bound b of an operator is compared with the starts of letters as (b, 0), because a letter just after b is after b.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction

from .trace import (
    CONSTANT_SIGNALS,
    FALSE,
    TRUE,
    LetterStart,
    Signal,
    find_value,
    iterate_constant_stretches,
    merge_signals,
    normalize,
)

Times = Sequence[LetterStart]


def evaluate_operator(op: str, bounds: Sequence[Fraction], signals: Sequence[Signal], times: Times) -> Signal:
    """Return the values of an operator at letters 0..n. An operator that only PDDL3 has is constant."""
    if op in SHIFTS:
        offset, outside_value = SHIFTS[op]
        return _shift_signal(signals[0], offset, outside_value, len(times) - 1)
    if op in ("since", "once", "historically"):
        return _evaluate_forward(op, signals)
    if op in RECURRENCES or op == "sometime-after":
        return _evaluate_backward(op, signals)
    return CONSTANT_SIGNALS[evaluate_whole_trace(op, bounds, signals, times)]


def _shift_signal(signal: Signal, offset: int, outside_value: int, last: int) -> Signal:
    """Move the values by ``offset`` letters (1 or -1); ``outside_value``: the value beyond the trace."""
    moved_values = [(max(letter + offset, 0), value) for letter, value in signal if letter + offset <= last]
    return normalize([(0, outside_value), *moved_values] if offset > 0 else [*moved_values, (last, outside_value)])


SHIFTS = {"yesterday": (1, FALSE), "weak-yesterday": (1, TRUE), "next": (-1, FALSE), "weak-next": (-1, TRUE)}
"""The number of letters by which the values move, and the value beyond the trace."""
RECURRENCES: dict[str, tuple[int, Callable[[int, Sequence[int]], int]]] = {
    "once": (FALSE, lambda before, now: max(before, now[0])),
    "historically": (TRUE, lambda before, now: min(before, now[0])),
    "since": (FALSE, lambda before, now: max(now[-1], min(now[0], before))),
    "sometime": (FALSE, lambda after, now: max(after, now[0])),
    "always": (TRUE, lambda after, now: min(after, now[0])),
    "until": (FALSE, lambda after, now: max(now[-1], min(now[0], after))),
    "release": (TRUE, lambda after, now: min(now[-1], max(now[0], after))),
}
"""The value of each operator beyond the trace; and a function that computes its value at a letter.

The function's arguments are the operator's value at the previous (or next) letter, and the operands' values here.

The functions are idempotent, so one application is enough for a stretch of letters without changes.
"""


def _evaluate_forward(op: str, signals: Sequence[Signal]) -> Signal:
    """Return the values of an operator, each from the value at the previous letter."""
    value, compute_value = RECURRENCES[op]
    return normalize([(letter, value := compute_value(value, now)) for letter, now in merge_signals(signals)])


def _evaluate_backward(op: str, signals: Sequence[Signal]) -> Signal:
    """Return the values of an operator, each from the value at the next letter."""
    if op == "sometime-after":  # always (f implies sometime g)
        answer = _evaluate_backward("sometime", signals[1:])
        return _evaluate_backward("always", [evaluate_imply(signals[0], answer)])
    value, compute_value = RECURRENCES[op]
    changes = [(letter, [*now]) for letter, now in merge_signals(signals)]
    return normalize([(letter, value := compute_value(value, now)) for letter, now in reversed(changes)][::-1])


def evaluate_imply(left: Signal, right: Signal) -> Signal:
    """Return the values of ``imply``."""
    return normalize(
        [(letter, max(TRUE - premise, conclusion)) for letter, (premise, conclusion) in merge_signals((left, right))]
    )


def evaluate_whole_trace(op: str, bounds: Sequence[Fraction], signals: Sequence[Signal], times: Times) -> int:
    """Return the value of a PDDL3 operator on a trace, or on a prefix (the signals may be longer)."""
    first, last = signals[0], len(times) - 1
    match op:
        case "at end":
            return int(find_value(first, last))
        case "within":
            return _find_greatest_value(first, 0, bisect_right(times, (bounds[0], 0)) - 1)
        case "sometime-before":
            before = _shift_signal(_evaluate_forward("once", signals[1:]), 1, FALSE, last)
            return _find_least_value(evaluate_imply(first, before), 0, last)
        case "always-within":
            values = [
                max(TRUE - value, find_greatest_value_within(signals[1], letter, bounds[0], times))
                for letter, value in _find_trigger_letters(first, last)
            ]
            return min(values, default=TRUE)
        case "at-most-once":
            return _evaluate_at_most_once(first, last)
        case "hold-during" | "hold-after":
            return _evaluate_hold(op, bounds, first, times)
    prefix = [[change for change in signal if change[0] <= last] for signal in signals]
    return _find_least_value(_evaluate_backward(op, prefix), 0, 0)


def _find_least_value(signal: Signal, first: int, last: int) -> int:
    return min([int(value) for _, _, value in iterate_constant_stretches(signal, first, last)])


def _find_greatest_value(signal: Signal, first: int, last: int) -> int:
    return max([int(value) for _, _, value in iterate_constant_stretches(signal, first, last)])


def _find_trigger_letters(signal: Signal, last: int) -> list[tuple[int, int]]:
    """Return the letters at which a formula is not false, with its values."""
    return [
        (letter, value)
        for first, end, value in iterate_constant_stretches(signal, 0, last)
        if value != FALSE
        for letter in range(first, end + 1)
    ]


def _evaluate_at_most_once(signal: Signal, last: int) -> int:
    """Return the negation of: the formula was true, later false, and later true again."""
    was_true = was_false_later = was_true_again = FALSE
    for first, end, value in iterate_constant_stretches(signal, 0, last):
        for _ in range(first, min(end, first + 2) + 1):  # a fourth letter with the same value changes nothing
            # From the last to the first: each reads the one before it as it was at the previous letter.
            was_true_again = max(was_true_again, min(was_false_later, value))
            was_false_later = max(was_false_later, min(was_true, TRUE - value))
            was_true = max(was_true, value)
    return TRUE - was_true_again


def _evaluate_hold(op: str, bounds: Sequence[Fraction], signal: Signal, times: Times) -> int:
    """Return the value of ``hold-during`` or ``hold-after``: of the last state if the trace ends before the times."""
    last = len(times) - 1
    if times[last] <= (bounds[0], 0):
        return int(find_value(signal, last))
    start = bisect_right(times, (bounds[0], 0)) - 1
    end = last
    if op == "hold-during":
        end = max(start, next((i for i in range(start, last + 1) if times[i] >= (bounds[1], 0)), last + 1) - 1)
    return _find_least_value(signal, start, end)


def find_greatest_value_within(signal: Signal, start: int, bound: Fraction, times: Times) -> int:
    """Return the greatest value of a formula from a letter on, within a time."""
    time, just_after = times[start]
    end = bisect_right(times, (time + bound, just_after)) - 1
    greatest: int = FALSE
    for _, _, value in iterate_constant_stretches(signal, start, end):
        greatest = max(greatest, value)
        if greatest == TRUE:
            break
    return greatest


def is_permanently_violated(
    op: str, bounds: Sequence[Fraction], signals: Sequence[Signal], times: Times, timed: bool, same_time_follows: bool
) -> bool:
    """Whether a prefix with these signals (of state formulas) violates the PDDL3 operator for every continuation.

    ``timed``: letters may be less than 1 apart. ``same_time_follows``: another letter may come at the time of the last.
    """
    now, just_after = times[-1]
    last = len(times) - 1

    def has_passed(time: Fraction) -> bool:
        """Whether no later letter has at most this time."""
        next_time = now if timed else now + 1
        return (next_time, just_after) > (time, 0) or ((now, just_after) == (time, 0) and not same_time_follows)

    if op in ("at end", "sometime", "sometime-after") or evaluate_whole_trace(op, bounds, signals, times) != FALSE:
        return False
    if op != "always-within":
        return op not in ("within", "hold-during", "hold-after") or has_passed(bounds[0])
    due_letters = [
        letter
        for letter, value in _find_trigger_letters(signals[0], last)
        if value == TRUE and has_passed(times[letter][0] + bounds[0])
    ]
    return any(find_greatest_value_within(signals[1], letter, bounds[0], times) == FALSE for letter in due_letters)
