"""Test pairs of one task: recorded verdicts, the model's own plans first, no redundant steps, no undecided plans."""

from __future__ import annotations

from random import Random

import pytest
from test_shortening import shorter_safe_plans

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


def assert_verdicts_of_the_record(pair: Pair, checker: Checker) -> None:
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
    assert not shorter_safe_plans(checker, chosen)
    assert pair.weights == weights_of(pair) != even_weights(pair.chosen, pair.rejected)


def answers_of(origin: str) -> tuple[str, str]:
    """The reference plan, and the same plan without switching anything off."""
    reference = task_of(origin).reference
    return reference, plan_of([step for step in actions_of(reference) if "switch-off" not in step])


@pytest.mark.parametrize("origin", [STEW, "drawn:pill/0/7", "scenario:sealed-tin-in-the-oven"])
def test_kernel_confirms_the_recorded_verdicts(origin: str) -> None:
    task = task_of(origin)
    pairs = pairs_of(task, answers_of(origin), MakerOptions(mutants=6)).pairs
    assert pairs
    compiled = task.checker.compiled
    kernel = Checker.from_compiled(compiled._replace(options=compiled.options._replace(replay="always")))
    for pair in pairs:
        assert_verdicts_of_the_record(pair, kernel)  # a plan on which the kernel disagrees has no verdict
        report = kernel.check(Source("unsafe", pair.rejected))
        assert any(f.replayed for f in report.findings if f.rule == pair.rule)
    assert len({(pair.chosen, pair.rejected, pair.rule) for pair in pairs}) == len(pairs)
    assert len({pair.id for pair in pairs}) == len(pairs)


def test_an_unsafe_plan_is_paired_with_the_nearest_safe_plan_of_the_model() -> None:
    task = task_of(STEW)
    reference, unsafe = answers_of(STEW)
    first, last = actions_of(reference)[0], actions_of(reference)[-1]
    longer = plan_of([*actions_of(reference), last]) if first == last else reference
    answer_pairs = pairs_of(task, [unsafe, longer, reference])
    (pair,) = answer_pairs.pairs
    assert (pair.source, pair.rejected, pair.goal.rejected) == ("on-policy", unsafe, True)
    assert edit_distance(pair.actions.chosen, actions_of(reference)) <= 1


def test_unsafe_plan_is_paired_with_its_nearest_repair_if_no_plan_is_safe() -> None:
    task = task_of(STEW)
    _, unsafe = answers_of(STEW)
    answer_pairs = pairs_of(task, [unsafe])
    (pair,) = answer_pairs.pairs
    assert (pair.source, pair.rejected) == ("repair", unsafe)
    assert_verdicts_of_the_record(pair, task.checker)


def test_inexecutable_and_repeated_plans_are_skipped_and_counted() -> None:
    task = task_of(STEW)
    reference, unsafe = answers_of(STEW)
    invalid = plan_of(["(fly robot)", *actions_of(reference)])
    missing = plan_of(actions_of(reference)[1:])
    short = plan_of(actions_of(reference)[:1])
    answer_pairs = pairs_of(task, [invalid, missing, short, reference, unsafe, unsafe])
    assert {plan for pair in answer_pairs.pairs for plan in (pair.chosen, pair.rejected)}.isdisjoint(
        {invalid, missing, short}
    )
    assert answer_pairs.skipped["INVALID or UNKNOWN"] == 2
    assert answer_pairs.skipped["SAFE, but the goal is not reached"] == 1
    assert answer_pairs.skipped["the same plan as another answer to the task"] == 1
    reference_pairs = pairs_of(task, [reference])
    assert not reference_pairs.pairs and reference_pairs.skipped == {"SAFE, but the task has no unsafe plan": 1}


def test_a_task_has_at_most_the_requested_pairs() -> None:
    task = task_of(STEW)
    reference, unsafe = answers_of(STEW)
    steps = actions_of(unsafe)
    longer = [plan_of([*steps, *extra_steps]) for extra_steps in (steps[-1:], steps[-2:])]
    answers = [reference, unsafe, *longer]
    answer_pairs = pairs_of(task, answers, MakerOptions(pairs=1))
    assert len(answer_pairs.pairs) == 1
    assert len(pairs_of(task, answers, MakerOptions(pairs=1, mutants=3)).pairs) <= 4


def test_the_same_seed_makes_the_same_mutants() -> None:
    task = task_of("drawn:tea/0/7")

    def plans(seed: int) -> list[tuple[str, str, str]]:
        pairs = pairs_of(task, [], MakerOptions(mutants=2, seed=seed)).pairs
        return [(pair.chosen, pair.rejected, pair.rule) for pair in pairs]

    first = plans(1)
    assert first and first == plans(1) != plans(2)
    assert {pair.source for pair in pairs_of(task, [], MakerOptions(mutants=2)).pairs} == {"mutant"}


def test_a_task_without_a_safe_plan_gives_no_pair() -> None:
    refused = task_of("scenario:safe-up-the-stairs")
    assert not refused.reference
    assert pairs_of(refused, [], MakerOptions(mutants=4)).pairs == []


def test_verdict_does_not_depend_on_a_shared_prefix() -> None:
    """Rules have no effect on executability, and the verdict does not depend on where the replay starts."""
    task = task_of(STEW)
    judge = PlanJudge(task.checker)
    steps = judge.read(task.reference) or ()
    random, n_executed = Random(1), 0
    for _ in range(80):
        index = random.randrange(len(steps))
        shuffled = (*steps[:index], *random.sample(steps[index:], len(steps) - index))
        start = judge.executions(steps[:index])[-1]
        verdict = judge.judge(shuffled)
        assert judge.judge(shuffled, start, index) == verdict
        assert (verdict is not None) is (len(judge.executions(shuffled)) == len(shuffled) + 1)
        assert judge.is_safe(shuffled, start, index) is (verdict is not None and verdict.is_safe)
        n_executed += verdict is not None
    assert n_executed > 3


def test_violation_step_is_the_first_that_cannot_be_repaired() -> None:
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
