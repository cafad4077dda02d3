"""Execution by docs/language.md, sections 2 and 3: states, failures and readings, computed by hand."""
# ruff: noqa: E501

from __future__ import annotations

import sys
from fractions import Fraction

import pytest

from plansafe.verifier.kernel import Kernel, KernelLimit, KernelRejects, KernelVerdict, World


def audit_plan(domain: str, problem: str, plan: str, lenient: bool = False) -> KernelVerdict:
    return Kernel(f"(define (domain d) {domain})", f"(define (problem p) {problem})", lenient=lenient).audit(plan)


def headline(domain: str, problem: str, plan: str) -> str:
    return audit_plan(domain, problem, plan).headline


def test_delete_then_add() -> None:
    domain = "(:predicates (p)) (:action a :effect (and (p) (not (p))))"
    assert headline(domain, "(:init (p)) (:goal (p))", "(a)") == "VALID"
    assert headline(domain, "(:goal (p))", "(a)") == "VALID"


def test_conditions_are_read_in_the_state_before() -> None:
    domain = "(:predicates (p) (q)) (:action swap :effect (and (when (p) (and (q) (not (p)))) (when (q) (and (p) (not (q))))))"
    assert headline(domain, "(:init (p)) (:goal (and (q) (not (p))))", "(swap)") == "VALID"
    assert headline(domain, "(:init (p) (q)) (:goal (and (q) (p)))", "(swap)") == "VALID"


def test_nested_and_quantified_effects() -> None:
    domain = ("(:types t) (:predicates (r ?x - t) (s ?x ?y - t))"
              "(:action a :effect (forall (?x - t) (when (r ?x) (forall (?y - t) (when (not (= ?x ?y)) (s ?x ?y))))))")  # fmt: skip
    kernel = Kernel(
        f"(define (domain d) {domain})", "(define (problem p) (:objects a b c - t) (:init (r a)) (:goal ()))"
    )
    assert kernel.states("(a)")[1] == {("r", "a"), ("s", "a", "b"), ("s", "a", "c")}


NUMERIC = """(:predicates (g)) (:functions (n) (m) (u))
(:action double :effect (and (increase (n) (n)) (increase (n) 1)))
(:action scale :effect (and (scale-up (n) 3) (scale-down (n) 2)))
(:action clash :effect (and (assign (n) 1) (increase (n) 1)))
(:action unknown :effect (increase (u) 1))
(:action set :effect (assign (u) 1))
(:action zero :effect (assign (n) (/ (n) (- (n) (n)))))
(:action guarded :precondition (or (> (u) 1) (> (n) 0)) :effect (g))
(:action both :precondition (and (> (u) 1) (> (n) 0)) :effect (g))
(:action grow :effect (assign (n) (* (n) (n))))"""


@pytest.mark.parametrize(
    ("plan", "goal", "expected"),
    [
        ("(double)", "(= (n) 7)", "VALID"),
        ("(scale)", "(= (n) 4.5)", "VALID"),
        ("(clash)", "()", "INVALID"),
        ("(unknown)", "()", "INVALID"),
        ("(set) (unknown)", "(= (u) 2)", "VALID"),
        ("(zero)", "()", "INVALID"),
        ("(guarded)", "(g)", "VALID"),  # undefined or true is true
        ("(both)", "()", "INVALID"),
        ("", "(not (> (u) 0))", "INVALID"),  # undefined is not reached
        ("", "(or (> (u) 0) (> (n) 2.9999999999999999999))", "VALID"),
        ("", "(> (n) 3)", "INVALID"),
        ("", "(= (* 3 0.1) 0.3)", "VALID"),
        ("", "(= (- 2) (- 1 3))", "VALID"),
    ],
)
def test_numbers(plan: str, goal: str, expected: str) -> None:
    assert headline(NUMERIC, f"(:init (= (n) 3)) (:goal {goal})", plan) == expected


def test_numbers_have_a_limit() -> None:
    with pytest.raises(KernelLimit):
        headline(NUMERIC, "(:init (= (n) 3)) (:goal ())", "(grow)" * 20)


def test_quantifiers_over_nothing() -> None:
    domain = "(:types t u) (:predicates (p ?x - t))"
    assert headline(domain, "(:goal (forall (?x - t) (p ?x)))", "") == "VALID"
    assert headline(domain, "(:goal (exists (?x - t) (not (p ?x))))", "") == "INVALID"


def test_derived_predicates_by_strata() -> None:
    domain = """(:predicates (e ?x ?y) (r ?x ?y) (far ?x ?y))
    (:derived (far ?x ?y) (not (r ?x ?y)))
    (:derived (r ?x ?y) (or (e ?x ?y) (exists (?z) (and (r ?x ?z) (r ?z ?y)))))
    (:action cut :parameters (?x ?y) :precondition (r ?x ?y) :effect (not (e ?x ?y)))"""
    problem = "(:objects a b c) (:init (e a b) (e b c)) (:goal (and (far a c) (r b c)))"
    assert headline(domain, problem, "(cut a b)") == "VALID"
    assert headline(domain, problem, "") == "INVALID"
    with pytest.raises(KernelRejects):
        audit_plan("(:predicates (p) (q)) (:derived (p) (not (q))) (:derived (q) (p))", "(:goal ())", "")
    with pytest.raises(KernelRejects):
        audit_plan("(:predicates (p)) (:derived (p) ()) (:action a :effect (p))", "(:goal ())", "")


READINGS = """(:predicates (p) (q) (r)) (:action make-q :precondition (p) :effect (q))
(:action use-q :precondition (q) :effect (r)) (:action make-p :effect (p))"""


def test_three_readings() -> None:
    verdict = audit_plan(READINGS, "(:goal (r))", "(make-q) (make-p) (use-q)")
    assert verdict.headline == "INVALID" and not verdict.executable
    assert verdict.failed_steps == {"halt": (1,), "skip": (1, 3), "force": (1,)}
    assert verdict.ill_formed == ()


def test_ill_formed_steps() -> None:
    verdict = audit_plan(READINGS, "(:objects x) (:goal (p))", "(make-p) (fly) (make-p x) (make-q)")
    assert verdict.ill_formed == (2, 3)
    assert verdict.headline == "INVALID"
    assert verdict.goal  # the plan stops after (make-p)
    with pytest.raises(KernelRejects):
        audit_plan(READINGS, "(:goal (p))", "(make-p) make-q")
    with pytest.raises(KernelRejects):
        audit_plan(READINGS, "(:goal (p))", "1: (make-p) (make-q)")


def test_plan_formats() -> None:
    domain, problem = f"(define (domain d) {READINGS})", "(define (problem p) (:goal (r)))"
    kernel = Kernel(domain, problem)
    for plan in (
        "(MAKE-P)(make-q) ; comment\r\n(use-q)",
        "\ufeff3: (use-q)\n 1:(make-p)\n2.5 : (make-q) [0.001]",
        "(define (plan x) (:domain d) (:problem p) (:steps (make-p) (make-q) (use-q)))",
        "(define (plan x) (:steps (at 2 (make-q)) (at 1 (make-p)) (at 3 (use-q) 0)))",
    ):
        assert kernel.audit(plan).headline == "VALID", plan
    assert kernel.audit("1: (make-p) [2]").ill_formed == ()
    assert kernel.audit("1: (make-p) [2 +- 1]", World(durations={1: Fraction(2)})).ill_formed == (1,)
    assert kernel.audit("-1: (make-p)\n0: (make-p)").ill_formed == (1,)


TIMED = """(:predicates (p) (q) (r) (open))
(:durative-action d :parameters () :duration (and (>= ?duration 2) (<= ?duration 4))
  :condition (and (at start (p)) (over all (open)) (at end (q)))
  :effect (and (at start (not (p))) (at end (r))))
(:action need-p :precondition (p) :effect (q)) (:action make-p :effect (p)) (:action make-q :effect (q))
(:action shut :effect (not (open))) (:action set-r :effect (r)) (:action unset-r :effect (not (r)))"""


@pytest.mark.parametrize(
    ("init", "plan", "expected"),
    [
        ("(p) (open)", "0: (d) [3]\n1: (make-q)", "VALID"),
        ("(p) (open)", "0: (d) [3]", "INVALID"),  # (q) at its end
        ("(p) (open)", "0: (d) [1]\n0.5: (make-q)", "INVALID"),  # too short
        ("(p) (open)", "0: (d) [4.001]\n1: (make-q)", "VALID"),  # within the tolerance
        ("(p) (open)", "0: (d) [4.0011]\n1: (make-q)", "INVALID"),
        ("(p) (open)", "0: (d) [3]\n1: (make-q)\n2: (shut)", "INVALID"),  # breaks over all
        ("(p) (open)", "0: (d) [3]\n1: (make-q)\n3: (shut)", "VALID"),  # at its end: over all is up to the end
        ("(p) (open)", "0: (d) [3]\n3: (make-q)", "INVALID"),  # mutex with the end, which reads (q)
        ("(p) (open)", "0: (d) [3]\n2.9995: (make-q)", "INVALID"),  # closer than the tolerance
        ("(p) (open)", "0: (d) [3]\n2.999: (make-q)", "VALID"),
        ("(p) (open)", "0: (d) [3]\n0: (need-p)", "INVALID"),  # reads (p), which the start deletes
        ("(p) (open)", "0: (set-r)\n0: (set-r)\n0: (make-q)", "VALID"),
        ("(p) (open)", "0: (set-r)\n0: (unset-r)", "INVALID"),
        ("(p) (at 1 (open)) (at 5 (not (open)))", "1.5: (d) [3]\n2: (make-q)", "VALID"),
        ("(p) (at 1 (open)) (at 4 (not (open)))", "1.5: (d) [3]\n2: (make-q)", "INVALID"),
        ("(p) (at 0 (open))", "0: (d) [3]\n1: (make-q)", "VALID"),  # at time 0: part of S0
        ("(open) (at 1 (p))", "1: (need-p)\n2: (set-r)", "INVALID"),  # mutex with the timed literal
        ("(open) (at 1 (p))", "1.001: (need-p)\n2: (set-r)", "VALID"),
        ("(open) (r) (at 9 (not (r)))", "1: (make-p)", "VALID"),  # later than the last action: does not happen
    ],
)
def test_timed(init: str, plan: str, expected: str) -> None:
    assert headline(TIMED, f"(:init {init}) (:goal (r))", plan) == expected


def test_a_failed_start_takes_its_end_along() -> None:
    verdict = audit_plan(TIMED, "(:init (open) (q)) (:goal (r))", "0: (d) [3]")
    assert verdict.failed_steps == {"halt": (1,), "skip": (1,), "force": (1,)}
    kernel = Kernel(f"(define (domain d) {TIMED})", "(define (problem p) (:init (open) (q)) (:goal (r)))",
                    ["(define (safety s) (:termination t :forbid (r)))"])  # fmt: skip
    (finding,) = kernel.audit("0: (d) [3]").findings
    assert finding.readings == {"force"}


def test_numeric_mutex() -> None:
    domain = "(:functions (n)) (:action up :effect (increase (n) 1)) (:action set :effect (assign (n) 1)) (:action read :precondition (> (n) 0))"
    problem = "(:init (= (n) 1)) (:goal (> (n) 1))"
    assert headline(domain, problem, "1: (up)\n1: (up)") == "VALID"
    assert headline(domain, problem, "1: (up)\n1: (set)") == "INVALID"
    assert headline(domain, problem, "1: (up)\n1: (read)") == "INVALID"


@pytest.mark.slow
def test_deep_nesting_ends_in_a_verdict_or_a_limit() -> None:
    deep = "(" * 100_000
    shut = ")" * 100_000
    for problem in (f"(:goal {deep}{shut})", f"(:init {deep}{shut}) (:goal ())", f"(:goal {'(and ' * 100_000}{shut})"):
        with pytest.raises(KernelRejects):
            audit_plan("(:predicates (p))", problem, "")
    with pytest.raises(KernelRejects):
        audit_plan("(:predicates (p))", "(:goal ())", deep + shut)
    many = " ".join(f"?x{i}" for i in range(5000))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # whoever ran before may have raised it
    try:
        with pytest.raises(KernelLimit):
            audit_plan("(:predicates (p))", f"(:objects o) (:goal (forall ({many}) (p)))", "")
    finally:
        sys.setrecursionlimit(limit)
    with pytest.raises(KernelRejects):
        audit_plan(f"(:predicates (p)) (:types {'(either ' * 100_000}{shut})", "(:goal ())", "")


def test_states_are_a_trace() -> None:
    kernel = Kernel(f"(define (domain d) {READINGS})", "(define (problem p) (:goal (r)))")
    assert kernel.states("(make-p) (make-q)") == (set(), {("p",)}, {("p",), ("q",)})


@pytest.mark.parametrize(
    ("domain", "problem"),
    [
        ("(:types a - b b - a)", "(:goal ())"),
        ("(:types object - a a)", "(:goal ())"),
        ("(:predicates (p) (p))", "(:goal ())"),
        ("(:predicates (within))", "(:goal ())"),
        ("(:predicates (p)) (:predicates (q))", "(:goal ())"),
        ("(:functions (f) - t)", "(:goal ())"),
        ("(:action a) (:action a)", "(:goal ())"),
        ("(:action a :effect ())(:durative-action a :duration ())", "(:goal ())"),
        ("(:action a :effects ())", "(:goal ())"),
        ("(:predicates (p ?x)) (:action a :parameters (?x) :effect (p ?y))", "(:goal ())"),
        ("(:predicates (p))", "(:goal (and (p) (q)))"),
        ("(:predicates (p))", "(:goal (p x))"),
        ("(:predicates (p))", "(:init (p) (not (p))) (:goal ())"),
        ("(:functions (f))", "(:init (= (f) 1) (= (f) 2)) (:goal ())"),
        ("(:functions (f))", "(:init (= (f) (+ 1 1))) (:goal ())"),
        ("(:predicates (p))", "(:init (at -1 (p))) (:goal ())"),
        ("(:types t u) (:predicates (p ?x - t))", "(:objects o - u) (:init (p o)) (:goal ())"),
        ("", "(:objects o o) (:goal ())"),
        ("", "(:objects o - a o - b) (:goal ())"),
        ("(:types a b)", "(:objects o - a o - b) (:goal ())"),
        ("(:types a b - c)", "(:objects o - a o - a) (:goal ())"),
        ("(:types a b - c) (:constants o - a)", "(:objects o - b) (:goal ())"),
        ("(:action a :effect (increase (f) 1))", "(:init (= (f) 0)) (:goal ())"),
        ("", "(:init (= (f) 0)) (:goal (> (f) 0))"),
        ("", "(:init (= (f) 0) (at 3 (= (f) 1))) (:goal ())"),
        ("", "(:init (= (total-cost) 0)) (:goal ())"),
        ("(:constraint ())", "(:constraint ()) (:constraints ()) (:goal ())"),
        ("(:durative-action a :duration () :condition (at start (preference p ())))", "(:goal ())"),
        ("(:durative-action a :duration () :condition (preference p (and (at start ()))))", "(:goal ())"),
        ("", "(:goal ())) )"),
        ("", "(:goal ())) ("),
        ("", "(:goal (not))"),
        ("", "(:goal (hold-after))"),
        ("(:action a :precondition (always-within))", "(:goal ())"),
        ("(:predicates (p))", '(:goal "p")'),
        ("", ""),
    ],
)
def test_rejected(domain: str, problem: str) -> None:
    with pytest.raises(KernelRejects):
        audit_plan(domain, problem, "")


def test_types_of_arguments() -> None:
    domain = """(:types animal thing - object cat dog - animal) (:predicates (p ?x - (either cat thing)) (q ?x - animal))
    (:action a :parameters (?x - animal) :precondition (p ?x)) (:action b :parameters (?x - (either cat dog)) :effect (q ?x))"""
    problem = "(:objects tom - cat rex - dog it - thing) (:init (p tom) (p it)) (:goal ())"
    assert headline(domain, problem, "(a tom) (b rex)") == "VALID"
    assert audit_plan(domain, problem, "(b it)").ill_formed == (1,)
    with pytest.raises(KernelRejects):
        audit_plan(domain, "(:objects rex - dog) (:init (p rex)) (:goal ())", "")
    assert (
        audit_plan(domain, "(:objects rex - dog) (:init (p rex)) (:goal ())", "(a rex)", lenient=True).headline
        == "VALID"
    )


def test_one_name_in_four_name_spaces() -> None:
    domain = "(:types at) (:predicates (at ?x - at) (over ?x - at) (next ?x ?y - at)) (:action at :parameters (?x - at) :effect (at ?x))"
    problem = "(:objects at start end - at) (:init (next at end)) (:goal (and (at end) (next at end)))"
    assert headline(domain, problem, "(at end)") == "VALID"


def test_tolerance_is_settable() -> None:
    domain, problem = f"(define (domain d) {TIMED})", "(define (problem p) (:init (p) (open)) (:goal (r)))"
    assert Kernel(domain, problem, tolerance=Fraction(1)).audit("0: (d) [4.5]\n2: (make-q)").headline == "VALID"
