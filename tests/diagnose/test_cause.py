"""Minimal causes: by hand, and against all subsets of steps and facts with the kernel as judge."""

from __future__ import annotations

import pytest
from case import write
from causal_cases import checker_of, kitchen, walk
from cause_brute import Brute, cut, draw_small_case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.minimal_cause import Cause, find_minimal_cause, find_smallest_hitting_set
from plansafe.verifier.execution.purpose import NotCovered
from plansafe.verifier.reporting.report import FindingClass
from quick import quick_every


def causes_of(checker: Checker, text: str) -> dict[tuple[str, int], Cause]:
    """The cause of each finding, by rule (or code) and step."""
    plan = Source("p", text)
    findings = checker.check(plan).findings
    return {
        (finding.rule or finding.code, finding.step): find_minimal_cause(checker, plan, finding) for finding in findings
    }


def test_a_violated_step_rule() -> None:
    causes = causes_of(kitchen(), "(light kitchen) (switch-on hob kitchen) (go kitchen hall)")
    assert causes == {
        ("off-before-leaving", 3): Cause(
            (2, 3),
            ("(in hob kitchen)",),
            True,
            "rule `off-before-leaving` is violated for kitchen, hob, hall: step 2 `(switch-on hob kitchen)`, "
            "step 3 `(go kitchen hall)` and `(in hob kitchen)` from the start are enough, and no smaller set is",
        ),
    }


def test_the_step_that_deleted_a_fact_is_the_cause() -> None:
    causes = causes_of(
        kitchen(goal="(lit kitchen)"), "(go kitchen hall) (go hall kitchen) (go kitchen hall) (go hall kitchen)"
    )
    assert causes["home", 4].steps == (4,)
    causes = causes_of(kitchen(), "(go kitchen hall) (switch-on hob kitchen)")
    assert causes["SC301", 2][:3] == ((1,), (), True)


def test_a_fact_that_was_never_true_has_no_cause() -> None:
    causes = causes_of(kitchen(), "(switch-off hob kitchen) (go kitchen hall)")
    assert causes["SC301", 1][:3] == ((), (), True)
    assert causes["SC301", 1].text == (
        "step 1 cannot be taken: no earlier step and no initial fact makes its condition true"
    )
    assert causes["home", 0].text == "rule `home` is violated: no step and no initial fact prevents it"


def test_the_condition_of_an_effect_is_part_of_the_cause() -> None:
    rules = "(define (safety s) (:process cold :parameters (?s - stove) :forbid (warm ?s)))"
    causes = causes_of(kitchen(rules=rules, goal="(warm hob)"), "(light kitchen) (switch-on hob kitchen) (cook hob)")
    assert causes["cold", 3][:3] == ((2, 3), (), True)


def test_a_rule_over_time_needs_only_the_relevant_steps() -> None:
    rules = """(define (safety s)
      (:trajectory once-on :parameters (?s - stove) :formula (at-most-once (on ?s)))
      (:process lit-first :parameters (?r - room) :on (cook ?s) :require (once (and (robot-in ?r) (lit ?r)))))"""
    text = "(switch-on hob kitchen) (light kitchen) (switch-off hob kitchen) (light kitchen) (switch-on hob kitchen)"
    causes = causes_of(kitchen(rules=rules, goal="(on hob)"), text)
    assert causes["once-on", 5][:3] == ((1, 3, 5), (), True)
    causes = causes_of(kitchen(rules=rules, goal="()"), "(light kitchen) (cook hob)")
    assert causes["lit-first", 2][:3] == ((2,), (), True)


def test_numbers_keep_their_initial_values() -> None:
    domain = """(define (domain d) (:functions (level)) (:predicates (open))
      (:action fill :effect (increase (level) 2))
      (:action leak :effect (when (open) (decrease (level) 1)))
      (:action wait))"""
    problem = "(define (problem p) (:domain d) (:init (= (level) 1) (open)) (:goal ()))"
    rules = "(define (safety s) (:process full :forbid (>= (level) 5)) (:process low :forbid (< (level) 1)))"
    checker = Checker(Source("d", domain), Source("p", problem), [Source("s", rules)])
    causes = causes_of(checker, "(fill) (wait) (leak) (fill) (fill)")
    assert causes["full", 5][:3] == ((1, 4, 5), (), True)
    assert causes_of(checker, "(wait) (leak)")["low", 2][:3] == ((2,), ("(open)",), True)


def test_a_long_plan_is_proved_by_the_conjunct_that_fails() -> None:
    """Many steps may touch the precondition of the last one; one conjunct of it never holds."""
    checker = kitchen(rules="")
    laps = "(light kitchen) (switch-on hob kitchen) (switch-off hob kitchen) (go kitchen hall) (go hall kitchen) " * 8
    causes = causes_of(checker, laps + "(go kitchen hall) (switch-on hob kitchen)")
    assert causes["SC301", 42][:3] == ((41,), (), True)


def test_ill_formed_and_timed_and_foreign() -> None:
    checker = kitchen()
    plan = Source("p", "(jump) (go kitchen hall)")
    finding = next(
        finding for finding in checker.check(plan).findings if finding.finding_class is FindingClass.ILL_FORMED
    )
    assert find_minimal_cause(checker, plan, finding) == Cause((1,), (), True, "step 1 is not a step of this domain")
    finding = next(
        finding for finding in checker.check(Source("p", "(switch-on hob kitchen) (go kitchen hall)")).findings
    )
    with pytest.raises(NotCovered, match="SC201"):
        find_minimal_cause(checker, Source("q", "(go kitchen hall)"), finding)
    with pytest.raises(NotCovered, match="times"):
        find_minimal_cause(checker, Source("q", "1: (go kitchen hall)"), finding)


def test_after_the_time_limit_the_cause_is_sufficient_but_not_proved() -> None:
    checker = kitchen()
    plan = Source("p", "(light kitchen) (switch-on hob kitchen) (go kitchen hall)")
    (finding,) = checker.check(plan).findings
    cause = find_minimal_cause(checker, plan, finding, time_limit_s=0)
    assert cause[:3] == ((2, 3), ("(in hob kitchen)",), False)
    assert cause.text.endswith("are enough")


def test_smallest_hitting_set() -> None:
    cost = {(-1, n): 10 + n for n in range(5)}
    sets = [frozenset([(-1, a), (-1, b)]) for a, b in ((0, 1), (1, 2), (2, 3), (3, 4))]
    assert find_smallest_hitting_set(sets, cost) == {(-1, 1), (-1, 3)}
    assert find_smallest_hitting_set([], cost) == frozenset()


STREAMS = ("steps", "past", "ends", "ltl", "pddl3", "mixed")


@pytest.mark.parametrize("numbers", [range(8), range(8, 16)])
@pytest.mark.parametrize("stream", quick_every(12, STREAMS))
def test_causes_are_smallest_by_brute_force(stream: str, numbers: range) -> None:
    """More than 300 findings in all, each over all its worlds."""
    assert compare(stream, numbers) >= 1


def compare(stream: str, numbers: range) -> int:
    """Hold causes against brute force; how many."""
    compared = 0
    for number in numbers:
        case = draw_small_case(stream, number)
        checker = None if case is None else checker_of(case)
        if case is None or checker is None or not checker.ok:
            continue
        for turn in range(2):
            plan = walk(checker, f"{stream} {number} {turn}", 3 + turn)
            source = Source("p", "\n".join(plan))
            findings = checker.check(source).findings
            brute = Brute(case, plan)
            for finding in [
                finding for finding in findings if "halt" in finding.readings and brute.answerable(finding)
            ][:4]:
                last = cut(plan, findings, finding)
                cause = find_minimal_cause(checker, source, finding, time_limit_s=20)
                elements = brute.elements(cause.steps, cause.facts)
                init = [write(fact) for fact in case.init]
                where = f"{stream} {number} {plan} {init} {finding.rule} {finding.step} {cause}"
                assert cause.minimum, where
                assert brute.sufficient(finding, elements, last), where
                assert (len(elements), len(cause.facts)) == brute.minimum(finding, last), where
                compared += 1
    return compared
