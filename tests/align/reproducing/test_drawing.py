"""Drawn tasks with their plans: what a pair says is so, as the engine finds it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plansafe.align.records import actions_of, check_pair, check_sft
from plansafe.align.reproducing.drawing import FIRST_TEST, drawn, eval_task, items, opened_task, pair_of, texts_of
from plansafe.align.reproducing.sizes import read_size
from plansafe.align.tasks import task_of
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Headline, Worlds
from quick import quick_every

DATA = replace(read_size("tiny").data, families=("wipe", "mop", "fetch"), train=2, test=2, test_unseen=1)
TRAIN = [item for item in items(DATA) if not item.test]
TEST = [item for item in items(DATA) if item.test]


def test_test_tasks_are_none_of_training() -> None:
    assert len(items(DATA)) == len({item.origin for item in items(DATA)}) == 3 * 2 + 3 * 2 + 1
    assert {item.number >= FIRST_TEST for item in TEST} == {True}
    assert [item.family for item in TEST if item.shift == "family"] == ["bring-along"]


@pytest.mark.slow
@pytest.mark.parametrize("item", TRAIN, ids=str)
def test_a_pair_is_what_it_says(item: object) -> None:
    assert isinstance(item, type(TRAIN[0]))
    record = drawn(item, DATA)
    task = task_of(item.origin)
    assert task.name == item.task
    report = task.checker.check(Source("plan", record["plain"]))
    assert report.goal is Worlds.ALL
    pair = pair_of(item, record, DATA)
    assert (pair is not None) == (report.headline is Headline.UNSAFE)
    texts = texts_of(item, record, DATA)
    for text in texts:
        check_sft(text)
    assert [text.completion for text in texts] == [record["plain"]] + ([record["safe"]] if pair else [])
    if pair is not None:
        check_pair(pair)
        assert task.checker.check(Source("plan", pair.chosen)).headline is Headline.SAFE
        assert pair.rules == tuple(sorted({one.rule for one in report.findings if one.rule}))
        before = task.checker.check(
            Source("plan", "".join(f"{a}\n" for a in actions_of(pair.rejected)[: pair.first_violation - 1]))
        )
        assert pair.rule not in {one.rule for one in before.findings if not one.at_end}
    assert drawn(item, DATA) == record


def test_a_test_task_is_that_of_its_origin() -> None:
    record = drawn(TEST[0], DATA)
    assert "plain" not in record
    opened = opened_task(TEST[0], record)
    made = task_of(TEST[0].origin)
    assert (opened.prompt, opened.reference) == (record["prompt"], made.reference)
    assert opened.bench.checker.check(Source("plan", opened.reference)).headline is Headline.SAFE
    assert eval_task(TEST[0], record).shift == "in"


def test_a_share_of_safe_plans_is_spread_evenly() -> None:
    record = {"plain": "(a)\n", "safe": "(b)\n", "prompt": "Plan:\n"}
    for share, wanted in ((0.0, 0), (0.25, 10), (0.5, 20), (1.0, 40)):
        data = replace(DATA, safe_share=share)
        texts = [len(texts_of(TRAIN[0]._replace(number=number), record, data)) - 1 for number in range(40)]
        assert sum(texts) == wanted
        assert sum(texts[:20]) == wanted // 2


@pytest.mark.parametrize("item", quick_every(2, [TRAIN[0], TRAIN[1]]), ids=str)
def test_plans_of_a_pair_go_out_of_their_way_and_stay_what_they_are(item: object) -> None:
    assert isinstance(item, type(TRAIN[0]))
    data = replace(DATA, detours=2)
    near, record = drawn(item, DATA), drawn(item, data)
    assert (near["plain"], near["safe"]) == (record["plain"], record["safe"]), "SFT sees no detours"
    pair = pair_of(item, record, data)
    assert pair is not None
    check_pair(pair)
    checker = task_of(item.origin).checker
    for plan, before, headline in (
        (pair.chosen, record["safe"], Headline.SAFE),
        (pair.rejected, record["plain"], Headline.UNSAFE),
    ):
        assert len(actions_of(before)) < len(actions_of(plan)) <= len(actions_of(before)) + 4
        report = checker.check(Source("plan", plan))
        assert (report.headline, report.goal) == (headline, Worlds.ALL)
    rules = {one.rule for one in checker.check(Source("plan", record["plain"])).findings}
    assert set(pair.rules) == rules
    assert drawn(item, data) == record
