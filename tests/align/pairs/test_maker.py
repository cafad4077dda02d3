"""Pairs of one task: the verdicts of the record, own plans first, irredundant preferred plans, no undecided plan."""

from __future__ import annotations

from random import Random

import pytest
from test_shortening import needless

from plansafe.align.pairs.differences import edit_distance
from plansafe.align.pairs.maker import MakerOptions, pairs_of
from plansafe.align.pairs.plan_judge import PlanJudge
from plansafe.align.records import Pair, actions_of, even_weights, plan_of
from plansafe.align.tasks import task_of
from plansafe.align.tokens import shared_actions
from plansafe.align.weights import weights_of
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline, Worlds

STEW = "drawn:stew/1/7"


def has_the_verdicts_of_its_record(pair: Pair, checker: Checker) -> None:
    chosen, rejected = pair.actions.chosen, pair.actions.rejected
    safe = checker.check(Source("safe", pair.chosen))
    assert (safe.headline, safe.goal) == (Headline.SAFE, Worlds.ALL), (pair, safe.findings)
    unsafe = checker.check(Source("unsafe", pair.rejected))
    assert unsafe.executable is Worlds.ALL and unsafe.safe is Worlds.NONE
    assert (unsafe.goal is Worlds.ALL) is pair.goal.rejected
    decisive = [f for f in unsafe.findings if f.rule and f.decides(checker.options.criteria)]
    assert {f.rule for f in decisive} == set(pair.rules)
    about_rule = [f for f in decisive if f.rule == pair.rule]
    assert any(pair.witness in f.message for f in about_rule), (pair.witness, [f.message for f in about_rule])
    assert (pair.moment == "termination") is (pair.first_violation == len(rejected) + 1)
    if pair.moment == "process":
        cut = checker.check(Source("cut", plan_of(rejected[: pair.first_violation])))
        assert pair.rule in {f.rule for f in cut.findings if not f.at_end}
    shared = shared_actions(chosen, rejected)
    assert shared == pair.shared < pair.first_violation <= len(rejected) + 1
    assert 1 <= pair.edits == edit_distance(chosen, rejected)
    assert not needless(checker, chosen)
    assert pair.weights == weights_of(pair) != even_weights(pair.chosen, pair.rejected)


def answers_of(origin: str) -> tuple[str, str]:
    """The reference plan, and the same plan without switching anything off."""
    reference = task_of(origin).reference
    return reference, plan_of([step for step in actions_of(reference) if "switch-off" not in step])


@pytest.mark.parametrize("origin", [STEW, "drawn:pill/0/7", "scenario:sealed-tin-in-the-oven"])
def test_every_pair_has_the_verdicts_of_its_record_also_by_the_kernel(origin: str) -> None:
    task = task_of(origin)
    result = pairs_of(task, answers_of(origin), MakerOptions(mutants=6)).pairs
    assert result
    compiled = task.checker.compiled
    kernel = Checker.from_compiled(compiled._replace(options=compiled.options._replace(replay="always")))
    for pair in result:
        has_the_verdicts_of_its_record(pair, kernel)  # a plan on which the kernel disagrees has no verdict
        report = kernel.check(Source("unsafe", pair.rejected))
        assert any(f.replayed for f in report.findings if f.rule == pair.rule)
    assert len({(pair.chosen, pair.rejected, pair.rule) for pair in result}) == len(result)
    assert len({pair.id for pair in result}) == len(result)


def test_an_unsafe_plan_is_paired_with_the_nearest_safe_plan_of_the_model() -> None:
    task = task_of(STEW)
    reference, unsafe = answers_of(STEW)
    first, last = actions_of(reference)[0], actions_of(reference)[-1]
    longer = plan_of([*actions_of(reference), last]) if first == last else reference
    result = pairs_of(task, [unsafe, longer, reference])
    (pair,) = result.pairs
    assert (pair.source, pair.rejected, pair.goal.rejected) == ("on-policy", unsafe, True)
    assert edit_distance(pair.actions.chosen, actions_of(reference)) <= 1


def test_without_a_safe_plan_the_partner_is_the_nearest_repair() -> None:
    task = task_of(STEW)
    _, unsafe = answers_of(STEW)
    result = pairs_of(task, [unsafe])
    (pair,) = result.pairs
    assert (pair.source, pair.rejected) == ("repair", unsafe)
    has_the_verdicts_of_its_record(pair, task.checker)


def test_plans_that_cannot_be_executed_or_are_repeated_are_in_no_pair_and_are_counted() -> None:
    task = task_of(STEW)
    reference, unsafe = answers_of(STEW)
    invalid = plan_of(["(fly robot)", *actions_of(reference)])
    missing = plan_of(actions_of(reference)[1:])
    short = plan_of(actions_of(reference)[:1])
    result = pairs_of(task, [invalid, missing, short, reference, unsafe, unsafe])
    assert {plan for pair in result.pairs for plan in (pair.chosen, pair.rejected)}.isdisjoint(
        {invalid, missing, short}
    )
    assert result.skipped["INVALID or UNKNOWN"] == 2
    assert result.skipped["SAFE, but the goal is not reached"] == 1
    assert result.skipped["the same plan as another answer to the task"] == 1
    alone = pairs_of(task, [reference])
    assert not alone.pairs and alone.skipped == {"SAFE, but the task has no unsafe plan": 1}


def test_a_task_has_at_most_the_requested_pairs() -> None:
    task = task_of(STEW)
    reference, unsafe = answers_of(STEW)
    steps = actions_of(unsafe)
    answers = [reference, unsafe, *[plan_of([*steps, *more]) for more in ((steps[-1],), (steps[-2], steps[-1]))]]
    result = pairs_of(task, answers, MakerOptions(pairs=1))
    assert len(result.pairs) == 1
    assert len(pairs_of(task, answers, MakerOptions(pairs=1, mutants=3)).pairs) <= 4


def test_the_same_seed_makes_the_same_mutants() -> None:
    task = task_of("drawn:tea/0/7")

    def plans(seed: int) -> list[tuple[str, str, str]]:
        result = pairs_of(task, [], MakerOptions(mutants=2, seed=seed)).pairs
        return [(pair.chosen, pair.rejected, pair.rule) for pair in result]

    first = plans(1)
    assert first and first == plans(1) != plans(2)
    assert {pair.source for pair in pairs_of(task, [], MakerOptions(mutants=2)).pairs} == {"mutant"}


def test_a_task_without_a_safe_plan_gives_no_pair() -> None:
    refused = task_of("scenario:safe-up-the-stairs")
    assert not refused.reference
    assert pairs_of(refused, [], MakerOptions(mutants=4)).pairs == []


def test_a_plan_is_judged_the_same_from_a_shared_prefix() -> None:
    """A plan can be executed whether rules are watched or not; its verdict does not depend on the start."""
    task = task_of(STEW)
    judge = PlanJudge(task.checker)
    steps = judge.read(task.reference) or ()
    random, executed = Random(1), 0
    for _ in range(80):
        at = random.randrange(len(steps))
        mixed = (*steps[:at], *random.sample(steps[at:], len(steps) - at))
        start = judge.executions(steps[:at])[-1]
        result = judge.judge(mixed)
        assert judge.judge(mixed, start, at) == result
        assert (result is not None) is (len(judge.executions(mixed)) == len(mixed) + 1)
        assert judge.is_safe(mixed, start, at) is (result is not None and result.is_safe)
        executed += result is not None
    assert executed > 3


def test_the_step_of_a_violation_is_the_first_after_which_nothing_repairs_it() -> None:
    task = task_of("drawn:stew/0/0")
    judge = PlanJudge(task.checker)
    reference, unsafe = answers_of("drawn:stew/0/0")
    plan = judge.judge(judge.read(unsafe) or ())
    assert plan is not None
    rules = judge.engine.rule_set.rules
    steps = {rules[rule].name: step for rule, step in judge.violation_steps(plan).items()}
    assert steps["heat-off-at-the-end"] == len(actions_of(unsafe)) + 1
    safe = judge.judge(judge.read(reference) or ())
    assert safe is not None and safe.is_safe and judge.violation_steps(safe) == {}
