"""Rules about steps that look back: latches over their own variables, evaluated where a step matches.

The expected verdicts are computed by hand, and compared with the kernel.
"""

from __future__ import annotations

import random

import pytest
from engine_texts import checker, domain, judge, problem, safety, verdict

from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.latch import Latch, LatchedCheck
from plansafe.verifier.execution.online_monitor import Monitor
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.kernel import Kernel
from plansafe.verifier.reporting.report import Headline

DOMAIN = domain(
    "(:constants a b - cup l - lid)",
    "(:derived (shining ?x - thing) (and (clean ?x) (not (on ?x))))",
    "(:action put :parameters (?x - thing) :effect (on ?x))",
    "(:action take :parameters (?x - thing) :effect (not (on ?x)))",
    "(:action wash :parameters (?x - cup) :effect (clean ?x))",
    "(:action soil :parameters (?x - cup) :effect (not (clean ?x)))",
    "(:action cover :parameters (?x - cup ?y - lid) :effect (on ?y))",
    "(:action measure :parameters (?x - cup) :effect (assign (heat ?x) 5))",
    "(:action cool :parameters (?x - cup) :effect (assign (heat ?x) 1))",
    "(:action rest)",
    "(:durative-action boil :parameters (?x - cup) :duration (= ?duration 4)"
    " :effect (and (at start (on ?x)) (at end (clean ?x)) (at end (not (on ?x)))))",
    types="thing - object cup lid ghost - thing",
    predicates="(on ?x - thing) (clean ?x - thing) (shining ?x - thing)",
    functions="(heat ?x - cup) (level) - number",
)


def task(rule: str, init: str = "") -> Checker:
    """A task with one rule ``r``, which latches check."""
    checked = checker(DOMAIN, problem(init=init), safety(rule))
    assert checked.ok, checked.diagnostics
    prototype = checked.engine.prototype
    assert prototype is not None
    checks = [check for step_checks in prototype.checks.values() for check in step_checks]
    assert any(isinstance(check, LatchedCheck) for check in checks) or ("- ghost" in rule and not checks)
    return checked


def kernel_verdict(rule: str, plan: str, init: str = "") -> str:
    """The kernel's findings in the notation of :func:`verdict`."""
    judgement = Kernel(DOMAIN, problem(init=init), [safety(rule)]).audit(plan)
    places = sorted((finding.step, sorted(finding.binding)) for finding in judgement.findings)
    texts = [(step, ",".join(f"{name}={value}" for name, value in binding)) for step, binding in places]
    return " ".join(
        [judgement.headline, *[(f"r({binding})" if binding else "r") + f"@{step}" for step, binding in texts]]
    )


def common_verdict(rule: str, plan: str, init: str = "") -> str:
    """The verdict of engine and kernel, which must agree (except for undecided rules, ``@end``)."""
    text = verdict(judge(task(rule, init), plan))
    headline, *findings = [word for word in text.split() if not word.endswith("@end")]
    kernel_headline, *kernel_findings = kernel_verdict(rule, plan, init).split()
    assert (headline, sorted(findings)) == (kernel_headline, sorted(kernel_findings))
    return text


CLEANED = "(:process r :on (put ?x) :require (once (clean ?x)))"
CUPS = ":parameters (?c - cup)"

CASES = [
    # once
    (CLEANED, "(put a) (wash a) (soil a) (put a) (put b)", "UNSAFE r(?x=a)@1 r(?x=b)@5"),
    (CLEANED, "(wash a) (put a) (rest) (put a)", "SAFE"),
    ("(:process r :on (put ?x) :forbid (once (clean ?x)))", "(put a) (wash a) (soil a) (put a)", "UNSAFE r(?x=a)@4"),
    ("(:process r :on (put ?x) :require (once (clean a)))", "(put b) (wash a) (put b)", "UNSAFE r(?x=b)@1"),
    # historically: the letter itself counts
    ("(:process r :on (put ?x) :require (historically (not (on ?x))))", "(put a) (put b) (put a)", "UNSAFE r(?x=a)@3"),
    (
        "(:process r :on (put ?x) :forbid (historically (not (on ?x))))",
        "(put a) (take a) (put a) (put b)",
        "UNSAFE r(?x=a)@1 r(?x=b)@4",
    ),
    # yesterday at letter 0, and after it
    ("(:process r :on (rest) :require (yesterday (on a)))", "(rest) (put a) (rest) (rest)", "UNSAFE r@1 r@3"),
    ("(:process r :on (rest) :require (weak-yesterday (on a)))", "(rest) (put a) (rest) (rest)", "UNSAFE r@3"),
    ("(:process r :on (rest) :require (yesterday (yesterday (on a))))", "(put a) (rest) (rest) (rest)",
     "UNSAFE r@2 r@3"),
    # since
    (
        "(:process r :on (take ?x) :require (since (on ?x) (clean ?x)))",
        "(wash a) (put a) (soil a) (take a) (put a) (take a) (wash b) (take b)",
        "UNSAFE r(?x=a)@6",
    ),
    ("(:process r :on (rest) :forbid (since (on a) (clean b)))", "(wash b) (put a) (soil b) (rest)", "UNSAFE r@4"),
    # one inside another
    (
        "(:process r :on (put ?x) :require (once (and (clean ?x) (yesterday (on ?x)))))",
        "(wash a) (put a) (wash a) (put a)",
        "UNSAFE r(?x=a)@2",
    ),
    (
        "(:process r :on (put ?x) :require (historically (imply (on ?x) (once (clean ?x)))))",
        "(wash a) (put a) (put a) (put b) (put b)",
        "UNSAFE r(?x=b)@5",
    ),
    # several latches in one condition, with state formulas between
    (
        "(:process r :on (put ?x) :require (or (on l) (and (once (clean ?x)) (not (once (on ?x))))))",
        "(put b) (wash a) (put a) (put a) (put l) (put b)",
        "UNSAFE r(?x=b)@1 r(?x=a)@4 r(?x=l)@5",
    ),
    ("(:process r :on (put ?x) :require (imply (on l) (once (clean ?x))))", "(put a) (put l) (put a)",
     "UNSAFE r(?x=a)@3"),
    # a quantifier between the step and the latch
    (
        "(:process r :on (put ?x) :require (exists (?k - cup) (once (clean ?k))))",
        "(put l) (wash b) (soil b) (put l)",
        "UNSAFE r(?x=l)@1",
    ),
    (
        "(:process r :on (rest) :forbid (not (exists (?k - cup) (and (on ?k) (once (clean ?k))))))",
        "(wash a) (put b) (rest) (put a) (soil a) (rest)",
        "UNSAFE r@3",
    ),
    (
        "(:process r :on (put ?x) :require (or (on l) (forall (?k - cup) (or (= ?k ?x) (once (clean ?k))))))",
        "(put a) (wash b) (put a) (put b) (wash a) (put b)",
        "UNSAFE r(?x=a)@1 r(?x=b)@4",
    ),
    (
        "(:process r :on (put ?x) :require (exists (?k - cup) (since (on ?k) (and (clean ?k) (on ?x)))))",
        "(put a) (wash a) (put a) (take a) (put a)",
        "UNSAFE r(?x=a)@1 r(?x=a)@5",
    ),
    # parts: each conjunct its own, variables of a quantifier that moves out
    (
        "(:process r :on (rest) :require (forall (?k - cup) (once (clean ?k))))",
        "(wash b) (rest)",
        "UNSAFE r(?k=a)@2",
    ),
    ("(:process r :on (put ?x) :require (and (clean ?x) (once (on b))))", "(put b) (wash a) (put a)",
     "UNSAFE r(?x=b)@1"),
    # guards, and parameters that the step leaves open
    (f"(:process r {CUPS} :on (rest) :when (on ?c) :require (once (clean ?c)))", "(put a) (rest) (wash a) (rest)",
     "UNSAFE r(?c=a)@2"),
    ("(:process r :on (put _) :require (once (clean a)))", "(put b) (wash a) (put l)", "UNSAFE r@1"),
    ("(:process r :on (cover ?x ?y) :when (not (on ?y)) :require (once (on ?x)))", "(cover a l) (cover b l)",
     "UNSAFE r(?x=a,?y=l)@1"),
    ("(:process r :on (or (put ?x) (take ?x)) :require (once (clean ?x)))", "(take a) (wash a) (put a) (put b)",
     "UNSAFE r(?x=a)@1 r(?x=b)@4"),
    # guards about the past, with a condition on the state before the step or after it
    ("(:process r :on (put ?x) :when (once (clean ?x)) :forbid (on l))", "(put l) (put a) (wash a) (put a) (put b)",
     "UNSAFE r(?x=a)@4"),
    (
        "(:process r :on (put ?x) :when (and (clean ?x) (once (on ?x))) :require (once (on l)))",
        "(wash a) (put a) (put a) (put l) (put a)",
        "UNSAFE r(?x=a)@3",
    ),
    ("(:process r :on (put ?x) :when (once (clean ?x)) :forbid-after (on ?x))", "(put a) (wash a) (put a) (rest)",
     "UNSAFE r(?x=a)@3"),
    (
        f"(:process r {CUPS} :on (take _) :when (and (on ?c) (since (on ?c) (clean ?c))) :require-after (on ?c))",
        "(put a) (take a) (wash a) (put a) (put b) (take b) (take a)",
        "UNSAFE r(?c=a)@7",
    ),
    # guards and conditions about the actions of the letter
    ("(:process r :on (or (put ?x) (take ?x)) :when (or (action (take ?x)) (once (clean ?x))) :forbid (on l))",
     "(put l) (put a) (take a) (wash b) (put b)", "UNSAFE r(?x=a)@3 r(?x=b)@5"),
    ("(:process r :on (or (put ?x) (take ?x)) :forbid (and (on l) (action (take ?x))))", "(put l) (put a) (take a)",
     "UNSAFE r(?x=a)@3"),
    # steps of the past, the present one included
    ("(:process r :on (put ?x) :require (once (action (wash ?x))))", "(wash a) (put a) (put b)", "UNSAFE r(?x=b)@3"),
    (
        "(:process r :on (put ?x) :forbid (yesterday (once (action (put ?x)))))",
        "(put a) (put b) (put a)",
        "UNSAFE r(?x=a)@3",
    ),
    ("(:process r :on (put ?x) :require (once (action (put ?x))))", "(put a) (put b)", "SAFE"),
    ("(:process r :on (put ?x) :forbid (and (action (put a)) (once (on b))))", "(put b) (put l) (put a)",
     "UNSAFE r(?x=a)@3"),
    # derived predicates
    ("(:process r :on (put ?x) :require (once (shining ?x)))", "(put a) (wash a) (put a) (take a) (put a)",
     "UNSAFE r(?x=a)@1 r(?x=a)@3"),
    # types without objects
    ("(:process r :parameters (?g - ghost) :on (put ?x) :require (once (clean ?g)))", "(put a)", "VALID"),
    ("(:process r :on (put ?x) :require (exists (?g - ghost) (once (clean ?g))))", "(put a)", "UNSAFE r(?x=a)@1"),
    ("(:process r :on (put ?x) :require (or (on l) (forall (?g - ghost) (once (clean ?g)))))", "(put a)", "SAFE"),
]  # fmt: skip


def test_rules_share_latches() -> None:
    """The same past formula has one latch, also with other variables or types."""
    rules = (
        CLEANED,
        "(:process s :on (take ?y) :when (once (clean ?y)) :forbid (on l))",
        f"(:process t {CUPS} :on (rest) :when (on ?c) :require (once (clean ?c)))",
        "(:process u :on (cover ?x ?y) :forbid (since (on ?y) (clean ?x)))",
        "(:process v :on (cover ?a ?b) :forbid (not (since (on ?b) (clean ?a))))",
    )
    checked = checker(DOMAIN, problem(), safety("".join(rules)))
    assert checked.ok, checked.diagnostics
    prototype = checked.engine.prototype
    assert prototype is not None
    assert [type(monitor) for monitor in prototype.monitors] == [Latch, Latch]
    report = judge(checked, "(put a) (rest) (wash a) (put l) (take a) (cover a l)")
    assert [(finding.rule, finding.step) for finding in report.findings] == [
        ("r", 1),
        ("t", 2),
        ("r", 4),
        ("s", 5),
        ("u", 6),
    ]


@pytest.mark.parametrize(("rule", "plan", "expected"), CASES)
def test_by_hand(rule: str, plan: str, expected: str) -> None:
    assert common_verdict(rule, plan) == expected


def test_the_initial_state_is_a_letter() -> None:
    assert common_verdict(CLEANED, "(soil a) (put a) (put b)", "(clean a)") == "UNSAFE r(?x=b)@3"
    assert common_verdict("(:process r :on (put ?x) :forbid (once (on ?x)))", "(put a)", "(on a)") == "UNSAFE r(?x=a)@1"


def test_instances_are_the_matches() -> None:
    report = judge(task(CLEANED), "(wash a) (put a) (rest) (put b) (put b)")
    assert [(rule.name, rule.instances) for rule in report.rules] == [("r", 3)]


# -- undefined numbers ------------------------------------------------------------------------------------------------

HOT = "(:process r :on (put ?x) :parameters (?x - cup) :require (once (> (heat ?x) 3)))"
LEVEL = "(:process r :on (put ?x) :require (once (and (not (clean ?x)) (> (level) 1))))"


@pytest.mark.parametrize(
    ("rule", "plan", "init", "expected"),
    [
        (HOT, "(put a) (rest)", "(= (heat a) 5)", "SAFE"),  # no step reads the heat of b
        (HOT, "(put b)", "(= (heat a) 5)", "UNKNOWN r(?x=b)@end"),
        (HOT, "(put a) (put b)", "(= (heat a) 1)", "UNSAFE r(?x=a)@1 r(?x=b)@end"),
        (HOT, "(rest) (measure b)", "", "VALID"),  # no step matches
        # a part that decides alone needs no number
        ("(:process r :on (rest) :require (or (on l) (once (> (heat a) 3))))", "(put l) (rest)", "", "SAFE"),
        ("(:process r :on (rest) :require (or (on l) (once (> (heat a) 3))))", "(rest)", "", "UNKNOWN r@end"),
        ("(:process r :on (rest) :when (on l) :require (once (> (heat a) 3)))", "(rest)", "", "SAFE"),
        ("(:process r :on (rest) :when (> (level) 1) :require (once (on a)))", "(rest)", "", "UNKNOWN r@end"),
        ("(:process r :on (rest) :when (> (level) 1) :require (once (on a)))", "(put a)", "", "VALID"),
        # a number that all instances read
        (LEVEL, "(put a)", "", "UNKNOWN r(?x=a)@end"),
        (LEVEL, "(put a)", "(on a)", "UNKNOWN r(?x=a)@end"),
        (LEVEL, "(rest)", "", "VALID"),
        # in a quantifier, one true instance is enough
        (
            "(:process r :on (rest) :require (exists (?k - cup) (once (> (heat ?k) 3))))",
            "(rest)",
            "(= (heat b) 5)",
            "SAFE",
        ),
        (
            "(:process r :on (rest) :require (exists (?k - cup) (once (> (heat ?k) 3))))",
            "(rest)",
            "(= (heat b) 1)",
            "UNKNOWN r@end",
        ),
    ],
)
def test_undefined_numbers_matter_where_a_step_asks(rule: str, plan: str, init: str, expected: str) -> None:
    assert common_verdict(rule, plan, init) == expected


def test_undefined_conditions_are_undecided_or_agree_with_the_kernel() -> None:
    plan = "(measure a) (put a)"
    assert judge(task(HOT), plan).headline in (Headline.UNKNOWN, Headline.SAFE)
    assert kernel_verdict(HOT, plan) == "SAFE"
    assert common_verdict(HOT, "(measure a) (cool a) (put a)", "(= (heat a) 1)") == "SAFE"


# -- timed plans ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "plan", "expected"),
    [
        (CLEANED, "0: (wash a)\n2: (put a)\n2: (put b)", "UNSAFE r(?x=b)@3"),
        # steps of one happening are read in the state before it
        (CLEANED, "1: (wash a)\n1: (put a)", "UNSAFE r(?x=a)@2"),
        ("(:process r :on (put _) :require (once (clean a)))", "1: (put a)\n1: (put b)", "UNSAFE r@1 r@2"),
        # the end of a durative action cleans the cup
        (CLEANED, "0: (boil a) [4]\n2: (put b)\n6: (put a)", "UNSAFE r(?x=b)@2"),
        ("(:process r :at-end (boil ?x) :require (once (clean ?x)))", "0: (boil a) [4]\n5: (boil a) [4]",
         "UNSAFE r(?x=a)@1"),
        ("(:process r :on (rest) :require (once (action-end (boil a))))", "0: (boil a) [4]\n2: (rest)\n6: (rest)",
         "UNSAFE r@2"),
        ("(:process r :on (rest) :require (once (action-during (boil a))))", "0: (rest)\n1: (boil a) [4]\n6: (rest)",
         "UNSAFE r@1"),
    ],
)  # fmt: skip
def test_timed_plans(rule: str, plan: str, expected: str) -> None:
    assert common_verdict(rule, plan) == expected


# -- runs that part ways ----------------------------------------------------------------------------------------------


def executed(start: Execution, steps: str) -> Execution:
    """A fork of an execution that has taken steps: ``put a, rest``."""
    for text in steps.split(", "):
        step = start.engine.resolver.resolve_tokens(text.split())
        assert isinstance(step, GroundAction)
        after = start.after(step)
        assert after is not None
        start = after
    return start


def test_forks_have_separate_histories() -> None:
    engine = task(CLEANED).engine
    root = Execution.initial(engine, True)
    washed, soiled = executed(root, "wash a, soil a"), executed(root, "soil a")
    runs = [executed(washed, "put a"), executed(soiled, "put a"), executed(washed, "put b"), executed(root, "put a")]
    assert [run.broken for run in runs] == [False, True, True, True]
    assert [run.broken for run in (root, washed, soiled)] == [False, False, False]
    assert washed.key() != soiled.key()  # the states are equal, the histories are not
    assert soiled.key() == root.key()


def test_forks_do_not_share_undecided_rules() -> None:
    engine = task(HOT, "(= (heat b) 5)").engine
    root = Execution.initial(engine, True)
    assert [executed(root, step).undecided for step in ("put a", "put b", "rest")] == [True, False, False]
    assert not root.undecided


@pytest.mark.parametrize("case", range(0, len(CASES), 3))
def test_a_question_ahead_changes_nothing(case: int) -> None:
    """The online monitor forks its runtime for every question: many of them, then the plan."""
    rule, plan, expected = CASES[case]
    watch, rng = Monitor(task(rule).compiled), random.Random(case)
    broken: list[int] = []
    for number, step in enumerate(plan.replace(") (", ")|(").split("|"), 1):
        legal = watch.legal()
        for action in rng.sample(legal, min(4, len(legal))):
            assert watch.allowed(action) == watch.allowed(action)
        broken += [number] * len(watch.take(step).breaks)
    assert broken == [int(text.rpartition("@")[2]) for text in expected.split()[1:]]


def test_verdicts_and_findings_online_are_of_the_rule_not_of_its_latches() -> None:
    watch = Monitor(task(CLEANED).compiled)
    assert watch.verdicts() == {"r": "presently satisfied"}
    assert watch.take("(put a)").breaks[0].binding == (("?x", "a"),)
    assert watch.verdicts() == {"r": "permanently violated"}


def test_checks_of_one_checker_do_not_meet() -> None:
    checked = task(CLEANED)
    for _ in range(2):
        assert judge(checked, "(wash a) (put a)").headline is Headline.SAFE
        assert judge(checked, "(put a)").headline is Headline.UNSAFE
