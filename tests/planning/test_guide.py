"""The guide: allowed steps lead to safe plans, for every policy that chooses them."""

from __future__ import annotations

from random import Random

import pytest

from plansafe.grammar.source import Source
from plansafe.llm.instances.drawn import draw
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning.guide import Guide
from plansafe.verifier.reporting.report import Headline
from quick import quick_every

DOMAIN = """
(define (domain kitchen)
  (:types room stove - object)
  (:predicates (robot-in ?r - room) (in ?s - stove ?r - room) (on ?s - stove) (warm ?r - room))
  (:action switch-on :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (not (on ?s))) :effect (and (on ?s) (warm ?r)))
  (:action switch-off :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (on ?s)) :effect (not (on ?s)))
  (:action go :parameters (?from ?to - room)
    :precondition (and (robot-in ?from) (not (= ?from ?to)))
    :effect (and (not (robot-in ?from)) (robot-in ?to))))
"""
RULES = """
(define (safety kitchen)
  (:process nobody-leaves-a-stove :on (go ?from ?to)
    :forbid (exists (?s - stove) (and (in ?s ?from) (on ?s))))
  (:termination off-at-the-end :parameters (?s - stove) :forbid (on ?s)))
"""


def checker(goal: str, init: str = "(robot-in kitchen) (in hob kitchen)", judge: str = "all") -> Checker:
    problem = f"""
(define (problem p) (:domain kitchen) (:objects hob spare - stove kitchen hall - room)
  (:init {init}) (:goal {goal}))
"""
    checker_for_guide = Checker(
        Source("d.pddl", DOMAIN), Source("p.pddl", problem), [Source("r.safe", RULES)], Options(judge=judge)
    )
    assert checker_for_guide.ok, checker_for_guide.diagnostics
    return checker_for_guide


def text(task: Checker, steps: list[GroundAction]) -> str:
    return "".join([f"{step_text(step, task.engine.task.objects)}\n" for step in steps])


def wander(task: Checker, guide: Guide, budget: int, seed: int) -> Headline:
    """A policy that chooses random legal steps that violate no rule, and takes them if the guide allows them."""
    random = Random(seed)
    while not guide.may_end:
        steps = [option.step for option in guide.options() if not option.broken]
        random.shuffle(steps)
        for step in steps:
            continuation = guide.allows(step, budget - len(guide.steps) - 1)
            if continuation.exists:
                guide.take(step, continuation)
                break
        else:
            raise AssertionError("no step is allowed although a continuation was known")
    assert len(guide.steps) <= budget
    return task.check(Source("x.plan", text(task, guide.steps))).headline


@pytest.mark.parametrize(
    "family", quick_every(3, ["tea", "groceries", "mop", "pill", "warm-room", "wipe", "plants", "tidy"])
)
def test_every_policy_reaches_the_goal_within_the_budget(family: str) -> None:
    task = draw(family, 0, seed=11).checker()
    best = len(Guide(task.compiled).continuation().steps)
    for seed in range(2):
        assert wander(task, Guide(task.compiled, max_states=30), int(1.5 * best), seed) is Headline.SAFE


def test_a_step_along_the_kept_continuation_needs_no_search() -> None:
    task = draw("tea", 0, seed=11).checker()
    guide = Guide(task.compiled)
    steps = guide.continuation().steps
    for number, step in enumerate(steps, 1):
        continuation = guide.allows(step, within=len(steps) - number)
        assert continuation.exists
        guide.take(step, continuation)
    assert guide.searches == 1
    assert guide.may_end


def test_unsafe_and_impossible_steps_are_not_allowed() -> None:
    task = checker("(robot-in hall)")
    guide = Guide(task.compiled)
    legal = {text(task, [option.step]).strip(): option.step for option in guide.options()}
    assert set(legal) == {"(switch-on hob kitchen)", "(go kitchen hall)"}
    guide.take(legal["(switch-on hob kitchen)"])
    assert not guide.may_end
    assert guide.allows(legal["(go kitchen hall)"]).exists is False
    assert guide.allows(legal["(switch-on hob kitchen)"]).exists is False
    assert guide.estimate() == 2
    with pytest.raises(ValueError, match="cannot be taken"):
        guide.take(legal["(switch-on hob kitchen)"])


def test_the_budget_counts_the_steps_after_the_tested_step() -> None:
    task = checker("(and (warm kitchen) (robot-in hall))")
    guide = Guide(task.compiled)
    on = next(option.step for option in guide.options() if option.step.action.name == "switch-on")
    go = next(option.step for option in guide.options() if option.step.action.name == "go")
    assert guide.allows(on, within=2).exists
    assert guide.allows(on, within=1).exists is False
    assert guide.allows(go, within=3).exists is False
    assert guide.allows(go, within=4).exists


def test_a_task_without_a_safe_plan_allows_no_step() -> None:
    task = checker("(and (on hob) (robot-in hall))")
    guide = Guide(task.compiled)
    assert guide.continuation().exists is False
    assert guide.estimate() is None
    assert not any(guide.allows(option.step).exists for option in guide.options())
    assert Guide(task.compiled, rules=False).continuation().exists


def test_the_judge_option_decides_whether_pre_existing_violations_count() -> None:
    init = "(robot-in kitchen) (in hob kitchen) (in spare hall) (on spare)"
    all_violations, introduced = (checker("(robot-in kitchen)", init, judge) for judge in ("all", "introduced"))
    assert not Guide(all_violations.compiled).may_end
    assert Guide(introduced.compiled).may_end
    assert len(Guide(all_violations.compiled).continuation().steps) == 3


def test_a_durative_task_is_refused() -> None:
    timed = Source(
        "d.pddl",
        """
(define (domain t) (:requirements :durative-actions) (:predicates (p))
  (:durative-action a :parameters () :duration (= ?duration 1) :condition () :effect (at end (p))))
""",
    )
    task = Checker(timed, Source("p.pddl", "(define (problem p) (:domain t) (:init) (:goal (p)))"))
    with pytest.raises(ValueError, match="durative"):
        Guide(task.compiled)
