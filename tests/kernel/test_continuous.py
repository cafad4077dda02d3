"""Continuous time in the replay kernel: the examples of docs/language.md, section 7, and its corner cases."""

from __future__ import annotations

from fractions import Fraction

import pytest

from plansafe.verifier.kernel import Kernel
from plansafe.verifier.kernel.kernel import KernelVerdict
from plansafe.verifier.kernel.reader import KernelLimit, KernelRejects
from plansafe.verifier.kernel.trace import find_value

BATH = """(define (domain bath)
  (:predicates (running) (dripping) (wet))
  (:functions (level) (drips))
  (:process fill :precondition (running) :effect (increase (level) (* #t 2)))
  (:process drip :precondition (dripping) :effect (increase (drips) (* #t (/ (level) 100))))
  (:event overflow :precondition (and (>= (level) 100) (not (wet))) :effect (wet))
  (:event splash :precondition (and (wet) (not (dripping))) :effect (dripping))
  (:action open :effect (running))
  (:action close :precondition (running) :effect (not (running)))
  (:durative-action empty :parameters () :duration (>= ?duration 1)
    :condition (over all (>= (level) 10)) :effect (decrease (level) (* #t 5))))"""
EVENING = """(define (problem evening) (:domain bath) (:init (= (level) 0) (= (drips) 0))
  (:goal (and (>= (level) 10) (not (running)))))"""
PLAN = "0: (open)\n60: (close)\n70: (empty) [{}]"


def run(body: str, plan: str, init: str = "(= (x) 0)", goal: str = "()", rules: str = "") -> KernelVerdict:
    """Audit a plan of a domain with the fluents x, y, the facts p, q, r and the action go, which does nothing."""
    domain = f"""(define (domain d) (:predicates (p) (q) (r)) (:functions (x) (y))
      (:action go :effect ()) (:action set-p :effect (p)) (:action reset :effect (assign (x) 0)) {body})"""
    problem = f"(define (problem one) (:domain d) (:init {init}) (:goal {goal}))"
    return Kernel(domain, problem, [f"(define (safety s) {rules})"] if rules else []).audit(plan)


def reaches(body: str, time: str, goal: str, init: str = "(= (x) 0)") -> bool:
    """Whether a goal holds at a time."""
    return run(body, f"{time}: (go)", init, goal).goal


GROW = "(:process grow :effect (increase (x) (* #t 1)))"


def test_the_letters_of_the_example() -> None:
    trace = Kernel(BATH, EVENING).trace(PLAN.format(20))
    levels = trace.read_number(("#", "level"))
    rows = [(trace.starts[i], find_value(levels, i)) for i in range(len(trace.times))]
    letters = [(time, value) for (time, after), value in rows if not after]
    assert letters[:9] == [(0, 0), (0, 0), *[(50, 100)] * 3, (60, 120), (60, 120), (70, 120), (70, 120)]
    assert letters[9:] == [(74, 100), (90, 20), (90, 20)]
    assert [time for (time, after), _ in rows if after] == [0, 50, 60, 70, 74]
    assert find_value(trace.read_number(("#", "drips")), trace.last) == 11 + 12 + Fraction(120 + 20, 2) * 20 / 100


def test_a_condition_over_all_between_two_steps() -> None:
    kernel = Kernel(BATH, EVENING)
    assert kernel.audit(PLAN.format(20)).headline == "VALID"
    assert kernel.audit(PLAN.format(22)).headline == "VALID"  # level 10 at the end
    verdict = kernel.audit(PLAN.format(24))
    assert verdict.headline == "INVALID" and verdict.failed_steps["halt"] == (3,)


def test_a_rule_between_two_steps() -> None:
    rule = "(define (safety dry) (:process never-overflows :forbid (>= (level) 100)))"
    (finding,) = Kernel(BATH, EVENING, [rule]).audit(PLAN.format(20)).findings
    assert (finding.rule, finding.step, finding.blame) == ("never-overflows", 1, "introduced")


@pytest.mark.parametrize(
    ("change", "rate"),
    [
        ("#t", 1),
        ("(* #t 3)", 3),
        ("(* 3 #t)", 3),
        ("(/ #t 2)", 0.5),
        ("(* 2 3 #t)", 6),
        ("(* 2 (* #t 3))", 6),
        ("(+ (* #t 2) #t)", 3),
        ("(- (* #t 2) (* 5 #t))", -3),
        ("(- #t)", -1),
    ],
)
def test_changes_over_time(change: str, rate: float) -> None:
    assert reaches(f"(:process grow :effect (increase (x) {change}))", "2", f"(= (x) {2 * rate})")


@pytest.mark.parametrize("change", ["1", "(* #t #t)", "(/ 2 #t)", "(* 2 3)", "(+ #t 1)", "(- 2 #t)"])
def test_what_is_not_a_change_over_time(change: str) -> None:
    with pytest.raises(KernelRejects):
        reaches(f"(:process grow :effect (increase (x) {change}))", "2", "()")


def test_rates_that_change() -> None:
    speed = f"{GROW} (:process move :effect (and (increase (y) (* #t (x)))))"
    assert reaches(speed, "4", "(= (y) 8)", "(= (x) 0) (= (y) 0)")


def test_a_touched_bound() -> None:
    parabola = "(:process slow :effect (and (decrease (y) (* #t 2)) (increase (x) (* #t (y)))))"
    touch = "(:event touch :precondition ({} (x) 4) :effect (p))"
    init = "(= (x) 0) (= (y) 4)"  # x = 4 t - t^2
    assert reaches(parabola + touch.format(">="), "5", "(p)", init)
    assert not reaches(parabola + touch.format(">"), "5", "(p)", init)
    assert not reaches(parabola + touch.format(">="), "1.9", "(p)", init)


def test_an_event_just_after_a_moment() -> None:
    event = "(:event high :precondition (> (x) 4) :effect (assign (y) (x)))"
    assert reaches(GROW + event, "5", "(= (y) 4)", "(= (x) 0) (= (y) 0)")
    assert reaches(GROW + event, "4", "(= (y) 0)", "(= (x) 0) (= (y) 0)")  # the trace ends before


def test_an_action_at_the_moment_of_an_event() -> None:
    event = "(:event high :precondition ({} (x) 4) :effect (p))"
    plan, init = "4: (reset)\n5: (go)", "(= (x) 0)"
    assert run(GROW + event.format(">="), plan, init, "(p)").goal
    assert not run(GROW + event.format(">"), plan, init, "(p)").goal


def test_an_event_happens_again_after_its_condition_ceased() -> None:
    event = "(:event full :precondition (>= (x) 2) :effect (and (assign (x) 0) (increase (y) 1)))"
    assert reaches(GROW + event, "7", "(and (= (y) 3) (= (x) 1))", "(= (x) 0) (= (y) 0)")
    event = "(:event full :precondition (>= (x) 2) :effect (increase (y) 1))"
    assert reaches(GROW + event, "7", "(= (y) 1)", "(= (x) 0) (= (y) 0)")


def test_events_that_cause_events() -> None:
    events = """(:event one :precondition (>= (x) 2) :effect (p)) (:event two :precondition (p) :effect (q))
      (:event three :precondition (and (p) (q)) :effect (r))"""
    assert reaches(GROW + events, "2", "(r)")
    assert not reaches(GROW + events, "1.999", "(p)")


def test_events_without_end() -> None:
    events = """(:event on :precondition (and (p) (not (q))) :effect (q))
      (:event off :precondition (and (p) (q)) :effect (not (q)))"""
    with pytest.raises(KernelLimit, match="without end"):
        run(GROW + events, "0: (go)\n1: (set-p)")


def test_events_that_interfere() -> None:
    events = (
        """(:event one :precondition (>= (x) 2) :effect (p)) (:event two :precondition (>= (x) 2) :effect (not (p)))"""
    )
    with pytest.raises(KernelLimit, match="interfere"):
        reaches(GROW + events, "3", "()")


@pytest.mark.parametrize(("condition", "level"), [("(< (x) 3)", 3), ("(not (p))", 5)])
def test_a_process_that_stops(condition: str, level: int) -> None:
    assert reaches(
        f"(:process grow :precondition {condition} :effect (increase (x) (* #t 1)))", "5", f"(= (x) {level})"
    )


def test_a_process_without_course() -> None:
    with pytest.raises(KernelLimit, match="switch"):
        reaches("(:process grow :precondition (<= (x) 3) :effect (increase (x) (* #t 1)))", "5", "()")


def test_a_process_that_keeps_its_own_condition() -> None:
    process = "(:process grow :precondition ({} (x) 0) :effect (increase (x) (* #t 1)))"
    assert reaches(process.format(">="), "2", "(= (x) 2)")
    assert reaches(process.format(">"), "2", "(= (x) 0)")


def test_irrational_moments() -> None:
    fall = f"""{GROW} (:process fall :effect (increase (y) (* #t (x))))
      (:event half :precondition (>= (y) 1) :effect (assign (x) 0))"""
    init = "(= (x) 0) (= (y) 0)"  # y = t^2 / 2 reaches 1 at the square root of 2
    assert reaches(fall, "2", "(= (* (- 2 (x)) (- 2 (x))) 2)", init)
    assert reaches(fall, "2", "(= (- (y) 1) (/ (* (x) (x)) 2))", init)
    assert not reaches(fall, "2", "(= (x) 0.585786437627)", init)


def test_simultaneous_events() -> None:
    events = (
        "(:event one :precondition (>= (x) 2) :effect (p)) (:event two :precondition (>= (* (x) (x)) 4) :effect (q))"
    )
    assert reaches(GROW + events, "2", "(and (p) (q))")


@pytest.mark.parametrize(
    ("formula", "violated"),
    [
        ("(always (< (x) 5))", True),
        ("(always (<= (x) 5))", False),
        ("(sometime (= (x) 3.7))", False),
        ("(within 2 (>= (x) 2))", False),
        ("(within 2 (> (x) 2))", True),
        ("(hold-during 1 2 (< (x) 2))", False),
        ("(hold-during 1 2 (> (x) 1))", True),
        ("(hold-after 3 (>= (x) 3))", False),
        ("(always-within 1 (>= (x) 2) (>= (x) 3))", False),
        ("(always-within 1 (>= (x) 2) (> (x) 3))", True),
        ("(always-within 1 (> (x) 2) (> (x) 3))", False),
        ("(sometime-before (> (x) 3) (= (x) 3))", False),
        ("(sometime-before (>= (x) 3) (= (x) 3))", True),
        ("(at-most-once (or (= (x) 1) (= (x) 3)))", True),
        ("(until (< (x) 3) (= (x) 3))", False),
        ("(until (< (x) 3) (> (x) 3))", True),
    ],
)
def test_operators_at_every_moment(formula: str, violated: bool) -> None:
    verdict = run(GROW, "5: (go)", rules=f"(:trajectory rule :formula {formula})")
    assert bool(verdict.findings) == violated


def test_refused() -> None:
    with pytest.raises(KernelRejects, match="without times"):
        run(GROW, "(go)")
    with pytest.raises(KernelRejects, match="continuous time"):
        run(GROW, "0: (go)", rules="(:process rule :require (weak-yesterday (p)))")
