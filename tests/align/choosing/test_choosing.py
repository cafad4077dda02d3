"""The pool, and what is chosen from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import BytesIO
from random import Random

import pytest
from made_pairs import made_pairs, pair_of_plans

from plansafe.align.choosing.balance import choose, quotas
from plansafe.align.choosing.filters import Reason
from plansafe.align.choosing.needs import Draft, Needs
from plansafe.align.choosing.pool import MOST_OF_A_TASK, Pool
from plansafe.align.choosing.splits import split_of

PLAN = ["(go r hall)", "(take r cup hall)", "(fill r cup sink)", "(drop r cup sink)", "(close r sink)"]


def pool(wanted: int = 100) -> Pool:
    return Pool(BytesIO(), wanted)


def test_the_pool_keeps_what_is_new_and_says_why_it_does_not() -> None:
    found = pool()
    pair = pair_of_plans(PLAN, PLAN[:4])
    assert found.offer(pair) is None
    assert found.offer(replace(pair, id="other")) is Reason.DUPLICATE
    renamed = [step.replace("cup", "jug").replace("sink", "tap") for step in PLAN]
    assert found.offer(pair_of_plans(renamed, renamed[:4])) is Reason.RENAMED
    assert found.offer(pair_of_plans(renamed, renamed[:4], rule="tap-shut")) is None
    assert found.offer(pair_of_plans(PLAN, PLAN[:2])) is Reason.TOO_SHORT
    assert (found.offered, len(found.sketches), sum(found.rejected.values())) == (5, 2, 3)
    assert found.pair(found.sketches[0]) == replace(pair, split=split_of("stew"))


def test_pairs_that_part_alike_are_near() -> None:
    long = [*[f"(wipe r shelf{n} cloth)" for n in range(20)], "(turn-off r stove knob)"]
    found = pool()
    assert found.offer(pair_of_plans(["(take r cloth)", *long], [*long[:-1], "(rest r stove knob)"])) is None
    near = ["(take r rag)", *long[:-1], "(turn-off r hob knob)"]
    assert found.offer(pair_of_plans(near, [*long[:-1], "(rest r hob knob)", "(rest r hob knob)"])) is Reason.NEAR


def test_what_repeats_a_kept_pair_is_known_before_it_is_offered() -> None:
    """Who makes pairs asks that of plans that nobody has judged yet, and spares the trouble."""
    needs = Needs()
    found = Pool(BytesIO(), 10_000, needs)
    said = Counter()
    made = list(made_pairs(400, rules=2))
    random = Random(1)
    for pair in [*made, *[random.choice(made) for _ in range(200)]]:
        chosen, rejected = pair.actions.chosen, pair.actions.rejected
        if random.random() < 0.5:  # the same with another shelf, and perhaps a step more at the end
            more = ["(rest robot)"] * random.randrange(2)
            chosen, rejected = [
                tuple([step.replace("pot-", "pan-") for step in (*plan, *more)]) for plan in (chosen, rejected)
            ]
        pair = pair_of_plans(chosen, rejected, family=pair.family, rule=pair.rule, task=pair.task)
        draft = Draft(split_of(pair.family), pair.task, pair.rule, chosen, rejected)
        repeats = needs.repeats(draft)
        reason = found.offer(pair)
        said[repeats, reason] += 1
        assert not repeats or reason is not None, pair
        assert repeats or reason is not Reason.RENAMED
        assert reason is not None or (needs.repeats(draft) and found.offer(pair) is Reason.DUPLICATE)
    assert said[True, Reason.RENAMED] > 20 and said[True, Reason.NEAR] > 5 and said[False, None] > 200, said


def test_no_task_fills_the_pool() -> None:
    found = pool()
    reasons = Counter()
    for pair in made_pairs(400, rules=1):
        reasons[found.offer(replace(pair, task="one", family="stew"))] += 1
    assert reasons[None] == MOST_OF_A_TASK
    assert reasons[Reason.CROWDED] > 100


@pytest.mark.parametrize(
    ("available", "wanted", "expected"),
    [
        ({}, 10, {}),
        ({"a": 5}, 3, {"a": 3}),
        ({"a": 2, "b": 100}, 50, {"a": 2, "b": 2}),
        (dict.fromkeys("abcdefghij", 100), 100, dict.fromkeys("abcdefghij", 10)),
        ({**dict.fromkeys("abcdefghi", 5), "j": 1000}, 100, {**dict.fromkeys("abcdefghi", 5), "j": 7}),
    ],
)
def test_rules_get_equal_shares_as_far_as_they_have_them(
    available: dict[str, int], wanted: int, expected: dict[str, int]
) -> None:
    assert quotas(available, wanted) == expected


@pytest.mark.slow
def test_what_is_chosen_is_balanced_and_split() -> None:
    found = pool(400)
    for pair in made_pairs(3000):
        found.offer(pair)
    chosen = choose(found.sketches, 400, 1)
    both = [*chosen.train, *chosen.test]
    assert len(both) > 300
    assert 2.5 < len(chosen.train) / len(chosen.test) < 3.5
    assert max(Counter(sketch.rule for sketch in both).values()) <= 0.16 * len(both)
    assert sum(sketch.goal for sketch in both) >= len(both) / 2
    assert {sketch.split for sketch in chosen.test} == {"test"}
    assert {sketch.split for sketch in chosen.train} == {"train"}
    shapes = [{one for sketch in side for one in sketch.shapes} for side in (chosen.train, chosen.test)]
    assert shapes[0].isdisjoint(shapes[1])
    assert chosen.most_told <= 0.65
    assert len({sketch.place for sketch in both}) == len(both)
    assert choose(found.sketches, 400, 1) == chosen


def test_pairs_that_lengths_tell_too_surely_are_left_out() -> None:
    found = pool(200)
    for pair in made_pairs(2500):
        chosen, rejected = pair.actions.chosen, pair.actions.rejected
        more = len(chosen) - len(rejected)
        if more > 0 or (not more and len(found.sketches) % 3 == 0):  # the safe plan is longer, or neither is
            found.offer(pair)
    chosen = choose(found.sketches, 200, 1)
    assert chosen.most_told == max(chosen.linear.share, chosen.lookup.share, chosen.trees.share) <= 0.65
    assert len(chosen.train) >= 30
