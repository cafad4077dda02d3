"""Mirror images, and trees that would tell pairs without them."""

from __future__ import annotations

from io import BytesIO
from random import Random

from made_pairs import made_pairs

from plansafe.align.choosing.lengths import Difference, Linear, difference, flipped, side_of, told
from plansafe.align.choosing.mirrors import units
from plansafe.align.choosing.pool import Pool, Sketch
from plansafe.align.choosing.trees import Trees


def test_a_difference_and_its_opposite_are_of_one_kind() -> None:
    found = difference(["(go a)", "(take a)", "(put a)"], ["(go a)", "(drop a)"])
    here, there = side_of(found), side_of(flipped(found))
    assert here.kind == there.kind and {here.side, there.side} == {1, -1} and here.letters == there.letters
    assert side_of(()) == ((), 0, 0)
    longer = difference(["(go abc)"], ["(go a)"])
    assert side_of(longer) == ((), 1, 2) and side_of(flipped(longer)) == ((), -1, 2)


def sketches(count: int) -> list[Sketch]:
    pool = Pool(BytesIO(), count)
    for pair in made_pairs(count):
        pool.offer(pair)
    return pool.sketches


def test_what_is_even_is_alone_or_has_its_mirror_image() -> None:
    found = sketches(1500)
    even, alone = units(found, Random(1))
    places = [sketch.place for unit in [*even, *alone] for sketch in unit]
    assert sorted(places) == sorted(sketch.place for sketch in found)
    assert sum(len(unit) for unit in even) > 200
    for unit in even:
        if len(unit) == 1:
            assert not unit[0].difference
            continue
        one, other = [side_of(sketch.difference) for sketch in unit]
        assert one.kind == other.kind and one.side == -other.side != 0
        assert abs(one.letters - other.letters) <= 40


def test_trees_learn_what_a_regression_cannot() -> None:
    # The safe plan has more letters where these are few, and fewer where they are many.
    random = Random(5)
    seen: list[Difference] = []
    for _ in range(800):
        letters = random.randint(1, 9)
        seen.append((("number of letters", letters if letters < 5 else -letters),))
    learnt, held = seen[:600], seen[600:]
    shares = {one.__name__: told(one(learnt), held).share for one in (Linear, Trees)}
    assert shares["Trees"] > 0.7 and shares["Trees"] > shares["Linear"] + 0.05
    even = [one for found in learnt for one in (found, flipped(found))]
    assert abs(told(Trees(even), held).share - 0.5) < 1e-9
    assert told(Trees([]), held).share == 0.5
