"""What steps support, against hand-made plans and against the kernel."""

from __future__ import annotations

import pytest
from causal_cases import kitchen, random_case

from plansafe.grammar.source import Source
from plansafe.verifier.diagnose.causal import NotCovered, Support, supports
from plansafe.verifier.kernel import KernelLimit


def test_supports_of_each_kind() -> None:
    checker = kitchen()
    steps = checker.read(Source("p", "(switch-on hob kitchen) (switch-off hob kitchen) (go kitchen hall)")).steps
    assert supports(checker, steps, 1) == (Support("step", 2, "(on hob)", None, "gives (on hob) to step 2"),)
    text = "keeps rule `off-before-leaving` for kitchen, hall, hob"
    assert supports(checker, steps, 2) == (Support("rule", 3, "", "off-before-leaving", text),)
    assert supports(checker, steps, 3) == (
        Support("goal", 4, "(robot-in hall)", None, "gives (robot-in hall) to the goal"),
        Support("rule", 2, "", "home", "keeps rule `home`"),
    )


def test_ill_formed_steps_support_nothing_and_do_not_disturb() -> None:
    checker = kitchen()
    steps = checker.read(Source("p", "(jump) (switch-on hob kitchen) (fly) (switch-off hob kitchen)")).steps
    assert supports(checker, steps, 1) == ()
    assert [s.text for s in supports(checker, steps, 2)] == ["gives (on hob) to step 4"]


def test_what_conditional_effects_give_reaches_the_goal() -> None:
    checker = kitchen(goal="(and (warm hob) (not (lit kitchen)))", init="", rules="")
    steps = checker.read(Source("p", "(switch-on hob kitchen) (cook hob)")).steps
    assert [s.text for s in supports(checker, steps, 1)] == ["gives (warm hob) to the goal"]


def test_unknown_steps_and_time_are_refused() -> None:
    checker = kitchen()
    with pytest.raises(IndexError):
        supports(checker, (), 1)
    durative = Source(
        "d",
        "(define (domain d) (:durative-action a :parameters () :duration (= ?duration 1) :effect ()))",
    )
    problem = Source("p", "(define (problem p) (:domain d) (:init) (:goal ()))")
    checker = type(checker)(durative, problem)
    steps = checker.read(Source("p", "0: (a) [1]")).steps
    with pytest.raises(NotCovered):
        supports(checker, steps, 1)


@pytest.mark.parametrize("stream", ["steps", "past", "ends", "ltl", "pddl3"])
def test_supports_are_what_the_kernel_loses_without_the_step(stream: str) -> None:
    compared = kinds = 0
    for number in range(12):
        drawn = random_case(stream, number)
        if drawn is None:
            continue
        for plan in drawn.plans:
            try:
                full = drawn.kernel.judge("\n".join(plan))
            except KernelLimit:
                continue
            steps = drawn.checker.read(Source("p", "\n".join(plan))).steps
            for k in range(1, len(plan) + 1):
                rest = "\n".join(plan[: k - 1] + plan[k:])
                less = drawn.kernel.judge(rest)
                found = supports(drawn.checker, steps, k)
                failed = {s + (s >= k) for s in less.failed_steps["force"]} - set(full.failed_steps["force"])
                assert {s.step for s in found if s.kind == "step"} == {s for s in failed if s > k}
                violated = {f.rule for f in less.findings if "force" in f.readings and f.rule in drawn.timeless}
                before = {f.rule for f in full.findings if "force" in f.readings}
                rules = {s.rule for s in found if s.kind == "rule" and s.rule in drawn.timeless}
                assert rules - before == violated - before
                compared += 1
                kinds += bool(found)
    assert compared > 100
    assert kinds > 8
