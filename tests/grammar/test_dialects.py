"""Texts in the dialects of docs/language.md have the meaning of their plain form, in the engine and the kernel."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from dialects_generate import FEATURE_SETS, DialectTask, generate_task, random_plan, write_plan

from plansafe.grammar.expected_syntax import find_rejection
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.kernel import Kernel
from plansafe.verifier.reporting.report import Headline
from quick import quick_every

SEEDS = (0, 1, 7, 8)


@cache
def plans(seed: int) -> list[list[tuple[str, ...]]]:
    """A legal plan, the plan without one of its steps, and the reversed plan."""
    legal_plan = random_plan(seed, 7)
    dropped_step = Random(seed).randrange(len(legal_plan))
    return [legal_plan, legal_plan[:dropped_step] + legal_plan[dropped_step + 1 :], legal_plan[::-1]]


def make_checker(task: DialectTask) -> Checker:
    return Checker(Source("domain", task.domain), Source("problem", task.problem), options=Options(replay="never"))


@cache
def plain_results(seed: int) -> list[tuple[Headline | None, str | None]]:
    """The headline and the cost of each plan of a seed, for the plain form of its task."""
    plain = make_checker(generate_task(seed, frozenset()))
    assert plain.diagnostics == ()
    reports = [plain.check(Source("plan", write_plan(steps, frozenset()))) for steps in plans(seed)]
    return [(report.headline, report.metric) for report in reports]


@pytest.mark.parametrize("features", quick_every(8, FEATURE_SETS), ids=lambda features: "+".join(sorted(features)))
def test_a_dialect_means_what_its_plain_form_means(features: frozenset[str]) -> None:
    for seed in SEEDS:
        task = generate_task(seed, features)
        assert find_rejection("domain", task.domain) is None, task.domain
        assert find_rejection("problem", task.problem) is None, task.problem
        dialect_checker = make_checker(task)
        assert dialect_checker.ok, [d.message for d in dialect_checker.diagnostics]
        assert {d.code for d in dialect_checker.diagnostics} == {"SC706"}
        kernel = Kernel(*task)
        for steps, (headline, cost) in zip(plans(seed), plain_results(seed), strict=True):
            text = write_plan(steps, features)
            report = dialect_checker.check(Source("plan", text))
            assert (report.headline, report.metric) == (headline, cost), text
            assert headline is not None
            assert kernel.audit(text).headline == headline.value, text


def test_plans_differ() -> None:
    assert len({headline for seed in SEEDS for headline, _ in plain_results(seed)}) > 1
    assert len(FEATURE_SETS) * len(SEEDS) >= 200
