"""Test the filter of pairs, and that the selection is balanced, split and within its limits."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from random_pairs import pair_of_plans, random_pairs

from plansafe.align.pairs.differences import mirrored, shape, word_difference
from plansafe.align.pairs.selection import (
    MAX_OF_A_LESSON,
    MAX_OF_A_TASK,
    MAX_PROMPT,
    Filter,
    Reason,
    Shares,
    mirror_units,
    select,
)
from plansafe.align.records import Pair

PLAN = ["(go r hall)", "(take r cup hall)", "(fill r cup sink)", "(drop r cup sink)", "(close r sink)"]
EVERYTHING = Shares(mutants=1, unbalanced=1)


def accepted(pairs: list[Pair]) -> list[Pair]:
    filter_ = Filter()
    for pair in pairs:
        filter_.offer(pair)
    return filter_.accepted


def test_filter_accepts_new_pairs_and_gives_a_reason_for_rejected_pairs() -> None:
    filter_ = Filter()
    pair = pair_of_plans(PLAN, PLAN[:4])
    assert filter_.offer(pair) is None
    assert filter_.offer(replace(pair, id="other")) is Reason.DUPLICATE
    renamed = [step.replace("cup", "jug").replace("sink", "tap") for step in PLAN]
    assert filter_.offer(pair_of_plans(renamed, renamed[:4])) is Reason.RENAMED
    assert filter_.offer(pair_of_plans(renamed, renamed[:4], rule="tap-shut")) is None
    assert filter_.offer(pair_of_plans(PLAN[:2], PLAN)) is Reason.LONG
    assert filter_.offer(replace(pair, prompt=" " * (MAX_PROMPT + 1))) is Reason.LONG_PROMPT
    assert filter_.accepted[0] == pair
    assert (len(filter_.accepted), sum(filter_.left_out.values())) == (2, 4)


def test_pairs_of_a_task_with_nearly_the_same_difference_are_near() -> None:
    long = [*[f"(wipe r shelf{n} cloth)" for n in range(20)], "(turn-off r stove knob)"]
    filter_ = Filter()
    assert filter_.offer(pair_of_plans(["(take r cloth)", *long], [*long[:-1], "(rest r stove knob)"])) is None
    near_plan = ["(take r rag)", *long[:-1], "(turn-off r hob knob)"]
    near_pair = pair_of_plans(near_plan, [*long[:-1], "(rest r hob knob)", "(rest r hob knob)"])
    assert filter_.offer(near_pair) is Reason.NEAR
    assert filter_.offer(replace(near_pair, task="another")) is None


def test_pairs_per_task_and_lesson_are_limited() -> None:
    filter_, reasons = Filter(), Counter()
    for pair in random_pairs(400, rules=1):
        reasons[filter_.offer(replace(pair, task="one", family="stew"))] += 1
    assert reasons[None] == MAX_OF_A_TASK and reasons[Reason.TASK] > 100
    filter_, reasons = Filter(), Counter()
    for number in range(30):  # of different tasks and lengths, but the same step is missing at the end
        plan = [*[f"(go r hall{room})" for room in range(number)], *PLAN]
        reasons[filter_.offer(pair_of_plans(plan, plan[:-1], task=f"task-{number}"))] += 1
    assert reasons[None] == MAX_OF_A_LESSON and reasons[Reason.LESSON] == 30 - MAX_OF_A_LESSON


def test_mirror_images_are_one_unit() -> None:
    pairs = accepted(list(random_pairs(600)))
    units = mirror_units(pairs, Random(1))
    assert sorted(pair.id for unit in units for pair in unit.pairs) == sorted(pair.id for pair in pairs)
    couples = 0
    for unit in units:
        differences = [word_difference(pair.actions.chosen, pair.actions.rejected) for pair in unit.pairs]
        if len(differences) == 2:
            assert unit.is_balanced and differences[0] == mirrored(differences[1])
            couples += 1
        else:
            assert unit.is_balanced is not bool(differences[0])
    assert couples > 5


def test_a_selection_is_balanced_and_split() -> None:
    pairs = accepted(list(random_pairs(1500)))
    chosen = select(pairs, 400, 1, EVERYTHING)
    all_chosen = [*chosen.train, *chosen.test]
    assert len(all_chosen) > 300
    assert 2.5 < len(chosen.train) / len(chosen.test) < 3.5
    assert max(Counter(pair.rule for pair in all_chosen).values()) <= 0.16 * len(all_chosen)
    assert sum(pair.goal.rejected for pair in all_chosen) >= len(all_chosen) / 2
    assert {pair.split for pair in chosen.test} == {"test"}
    assert {pair.split for pair in chosen.train} == {"train"}
    shapes = [
        {(pair.rule, shape(pair.actions.chosen, pair.actions.rejected)) for pair in side}
        for side in (chosen.train, chosen.test)
    ]
    assert shapes[0].isdisjoint(shapes[1])
    assert len({pair.id for pair in all_chosen}) == len(all_chosen)
    assert sum(chosen.left_out.values()) == len(pairs) - len(all_chosen)
    assert select(pairs, 400, 1, EVERYTHING) == chosen != select(pairs, 400, 2, EVERYTHING)


@pytest.mark.parametrize(("mutants", "unbalanced"), [(0.2, 1.0), (1.0, 0.5), (0.0, 1.0), (1.0, 0.0)])
def test_the_shares_of_mutants_and_of_unbalanced_pairs_are_limited(mutants: float, unbalanced: float) -> None:
    pairs = accepted(list(random_pairs(900)))
    pairs = [replace(pair, source="on-policy") if number % 3 == 0 else pair for number, pair in enumerate(pairs)]
    chosen = select(pairs, 300, 1, Shares(mutants, unbalanced))
    for side in (chosen.train, chosen.test):
        assert len(side) > 8
        assert sum(pair.source == "mutant" for pair in side) <= mutants * len(side)
    all_chosen = [*chosen.train, *chosen.test]
    assert len(all_chosen) - chosen.balanced <= unbalanced * len(all_chosen)


def test_the_models_own_pairs_come_before_mutants() -> None:
    pairs = [pair_of_plans(PLAN, [PLAN[1], PLAN[0], *PLAN[2:]], n, task=f"t{n}") for n in range(8)]
    pairs = [replace(pair, source="on-policy" if n % 2 else "mutant", split="train") for n, pair in enumerate(pairs)]
    selection = select(pairs, 4, 1, EVERYTHING)
    assert {pair.source for pair in selection.train} == {"on-policy"} and sum(selection.left_out.values()) == 4
