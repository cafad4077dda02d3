"""Cases in which engine, kernel or direct evaluation once differed."""

from __future__ import annotations

import pytest
from hybrid_compare import compare_case
from hybrid_random import HybridCase

INIT = ("(= (x o1) 0)", "(= (x o2) 0)", "(= (y) 0)", "(= (z) 0)", "(= (k) 1)", "(= (clock) 0)")
NOTHING = "(:action a0 :parameters () :precondition () :effect ())"
SQUARE = "(:process p0 :parameters () :precondition () :effect (increase (y) (* #t (clock))))"

CASES = {
    "a bound of time after an irrational moment": HybridCase(
        (SQUARE, "(:event e0 :parameters () :precondition (and (not (b0)) (>= (y) 1)) :effect (b0))", NOTHING),
        INIT,
        ("(always-within 2 (b0) (b1))", "(always-within 2 (>= (y) 1) (> (y) 5))"),
        (),
        ("6: (a0)",),
    ),
    "a bound of time at the moment of a happening": HybridCase(
        (NOTHING,), INIT, ("(always-within 2 (not (b0)) (b2))", "(hold-after 2 (b2))"), (), ("2: (a0)",)
    ),
    "a trace that stops before a letter": HybridCase(
        (
            "(:event e0 :parameters () :precondition (and (on o1) (>= (x o1) 4)) :effect (not (on o1)))",
            "(:process p0 :parameters () :precondition () :effect (increase (x o1) (* #t 4)))",
            "(:durative-action d0 :parameters () :duration (>= ?duration 1) :condition (over all (on o1)) :effect ())",
        ),
        ("(on o1)", *INIT),
        (),
        ("(:process r0 :forbid (not (on o1)))",),
        ("0: (d0) [2]",),
    ),
    "a trace that halts after an interval": HybridCase(
        (
            "(:process p0 :parameters () :precondition () :effect (increase (y) (* #t 1)))",
            "(:durative-action d0 :parameters () :duration (= ?duration 2) :condition (over all (< (y) 1)) :effect ())",
        ),
        INIT,
        ("(always-within 4 (not (b0)) (> (y) 0))",),
        (),
        ("0: (d0) [2]",),
    ),
    "the end of a step that is left out": HybridCase(
        (
            "(:process p0 :parameters () :precondition () :effect (increase (y) (* #t 1)))",
            "(:durative-action d0 :parameters () :duration (>= ?duration 1) :condition (at start (b0)) :effect ())",
        ),
        INIT,
        (),
        ("(:process r0 :forbid (> (y) 3))",),
        ("2: (d0) [4]",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_found_case(name: str) -> None:
    for rewriting in range(5):
        assert compare_case(CASES[name], 30, rewriting).differences == ()
