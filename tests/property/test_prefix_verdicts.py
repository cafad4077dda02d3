"""Prefix verdicts (RV-LTL) of the engine's automata, by enumeration of all continuations over two propositions."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from case import Sexp, write
from prefixes import (
    LETTERS,
    Automaton,
    check_prefixes,
    compute_values,
    decode_trace,
    generate_timed_prefixes,
    list_timed_continuations,
    list_untimed_continuations,
    untimed,
)

A, B = ("a",), ("b",)
LONGEST = 4
WINDOWS = (("0", "0"), ("0", "1"), ("0.5", "1.5"), ("0.75", "1"), ("1", "1"), ("1", "2.25"), ("2", "1"))
UNTIMED_PDDL3: list[Sexp] = [
    ("at-end", A),
    ("always", A),
    ("sometime", A),
    ("at-most-once", A),
    ("sometime-after", A, B),
    ("sometime-before", A, B),
    *[("within", t, A) for t in ("0", "1", "2", "2.5", "3")],
    *[("always-within", t, A, B) for t in ("0", "0.5", "1", "2", "3")],
    *[("hold-during", u, v, A) for u in ("0", "1", "1.5", "2") for v in ("0", "1", "2", "2.5", "3")],
    *[("hold-after", u, A) for u in ("0", "0.5", "1", "2", "3")],
]
TIMED_PDDL3: list[Sexp] = [
    ("at-end", A),
    ("always", A),
    ("sometime", A),
    ("at-most-once", A),
    ("sometime-after", A, B),
    ("sometime-before", A, B),
    *[("within", t, A) for t in ("0", "0.5", "0.75", "1", "2")],
    *[("always-within", t, A, B) for t in ("0", "0.5", "0.75", "1", "2")],
    *[("hold-during", u, v, A) for u, v in WINDOWS],
    *[("hold-after", u, A) for u in ("0", "0.5", "0.75", "2")],
]
UNARY = ("next", "weak-next", "always", "sometime", "not")
BINARY = ("until", "release", "sometime-after", "and", "or", "imply")
PAST_UNARY = ("yesterday", "weak-yesterday", "once", "historically", "not")
PAST_BINARY = ("since", "and", "or", "imply")


def random_formula(random: Random, depth: int, past: bool) -> Sexp:
    """A future formula (with past ones below), or a past one."""
    if depth == 0 or random.random() < 0.1:
        return random.choice((A, B))
    if not past and random.random() < 0.25:
        past = True
    unary, binary = (PAST_UNARY, PAST_BINARY) if past else (UNARY, BINARY)
    if random.random() < 0.5:
        return (random.choice(unary), random_formula(random, depth - 1, past))
    return (random.choice(binary), random_formula(random, depth - 1, past), random_formula(random, depth - 1, past))


def whole_combination(random: Random) -> Sexp:
    """A Boolean combination of PDDL3 operators over past formulas, and of a future formula."""
    operator = random.choice(UNTIMED_PDDL3)
    parts: list[Sexp] = [tuple(random_formula(random, 1, True) if isinstance(p, tuple) else p for p in operator)]
    parts.append(random.choice((random.choice(UNTIMED_PDDL3), random_formula(random, 2, False))))
    return (random.choice(("and", "or", "imply")), *[("not", p) if random.random() < 0.3 else p for p in parts])


@pytest.mark.parametrize("formula", UNTIMED_PDDL3, ids=write)
def test_untimed_pddl3(formula: Sexp) -> None:
    for length in range(1, LONGEST + 1):
        wrong = check_prefixes(
            formula, untimed(length), list_untimed_continuations(length, 4), timed=False, complete=True
        )
        assert list(wrong) == []


@pytest.mark.parametrize("formula", TIMED_PDDL3, ids=write)
def test_timed_pddl3(formula: Sexp) -> None:
    # Three letters before and three after; distances finer than the bounds, so that no time is out of reach.
    for prefix in generate_timed_prefixes(3, ("0.5", "1")):
        later = list_timed_continuations(prefix, 3, ("0.125", "0.5", "1.5"))
        assert list(check_prefixes(formula, prefix, later, timed=True, complete=True)) == []


@pytest.mark.parametrize("seed", range(60))
def test_future_and_past(seed: int) -> None:
    formula = random_formula(Random(seed), 3, False)
    for length in range(1, LONGEST + 1):
        wrong = check_prefixes(
            formula, untimed(length), list_untimed_continuations(length, 4), timed=False, complete=False
        )
        assert list(wrong) == []


@pytest.mark.parametrize("seed", range(40))
def test_combinations(seed: int) -> None:
    formula = whole_combination(Random(seed))
    for length in range(1, LONGEST + 1):
        wrong = check_prefixes(
            formula, untimed(length), list_untimed_continuations(length, 4), timed=False, complete=False
        )
        assert list(wrong) == []


@pytest.mark.parametrize("seed", range(40))
def test_past_formula_letter_by_letter(seed: int) -> None:
    formula = random_formula(Random(seed), 3, True)
    automaton = Automaton(formula, False, "always")
    for length in range(1, LONGEST + 1):
        times = [Fraction(i) for i in range(length)]
        truth = compute_values(formula, times)[-1]
        for trace in range(LETTERS**length):
            letters = decode_trace(trace, length)
            state = automaton.run(letters, times)
            assert automaton.program.read_output(state) == bool((truth >> trace) & 1), (formula, letters)
