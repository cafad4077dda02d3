"""Texts in the dialects of docs/language.md mean what their plain form means, to the engine and to the kernel."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from dialects_generate import SETS, Texts, plan, texts, written

from plansafe.grammar.expected_syntax import find_refusal
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.kernel import Kernel
from plansafe.verifier.reporting.report import Headline
from quick import quick_every

SEEDS = (0, 1, 7, 8)


@cache
def plans(seed: int) -> list[list[tuple[str, ...]]]:
    """Some steps that can be taken, and the same with a step left out."""
    right = plan(seed, 7)
    place = Random(seed).randrange(len(right))
    return [right, right[:place] + right[place + 1 :], right[::-1]]


def checker(task: Texts) -> Checker:
    return Checker(Source("domain", task.domain), Source("problem", task.problem), options=Options(replay="never"))


@cache
def expected(seed: int) -> list[tuple[Headline | None, str | None]]:
    """The headline and the cost of each plan of a seed, for the plain form of its task."""
    plain = checker(texts(seed, frozenset()))
    assert plain.diagnostics == ()
    reports = [plain.check(Source("plan", written(steps, frozenset()))) for steps in plans(seed)]
    return [(report.headline, report.metric) for report in reports]


@pytest.mark.parametrize("features", quick_every(8, SETS), ids=lambda features: "+".join(sorted(features)))
def test_a_dialect_means_what_its_plain_form_means(features: frozenset[str]) -> None:
    for seed in SEEDS:
        task = texts(seed, features)
        assert find_refusal("domain", task.domain) is None, task.domain
        assert find_refusal("problem", task.problem) is None, task.problem
        found = checker(task)
        assert found.ok, [d.message for d in found.diagnostics]
        assert {d.code for d in found.diagnostics} == {"SC706"}
        kernel = Kernel(*task)
        for steps, (headline, cost) in zip(plans(seed), expected(seed), strict=True):
            text = written(steps, features)
            report = found.check(Source("plan", text))
            assert (report.headline, report.metric) == (headline, cost), text
            assert headline is not None
            assert kernel.audit(text).headline == headline.value, text


def test_plans_differ() -> None:
    assert len({headline for seed in SEEDS for headline, _ in expected(seed)}) > 1
    assert len(SETS) * len(SEEDS) >= 200
