"""Shares, intervals, paired tests and kappa: worked by hand, and their laws."""

from __future__ import annotations

import itertools
import random
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plansafe.llm.metrics.bootstrap import Observation, difference, interval, quantile
from plansafe.llm.metrics.paired import Pair, TooManyPairs, by_family, cohen, flipped, mcnemar, sign_test
from plansafe.llm.metrics.shares import Retrieval, Share, mean, percent, pooled, share


def test_nothing_to_count_is_not_applicable() -> None:
    assert Share(0, 0).value is None
    assert (Share(0, 3).value, Share(3, 3).value) == (0.0, 1.0)
    assert str(Share(0, 0)) == "n/a (0/0)"
    assert str(Share(5, 12)) == "41.7 % (5/12)"
    assert percent(None) == "n/a"
    assert mean([]) is None
    assert mean([None, 0.5, 1.0]) == 0.75
    assert share([True, None, False, True]) == Share(2, 3)


def test_a_share_is_a_share() -> None:
    for hits, of in ((1, 0), (-1, 2), (3, 2)):
        with pytest.raises(ValueError, match="not a share"):
            Share(hits, of)
    with pytest.raises(ValueError, match="cannot match"):
        Retrieval(2, 1, 5)


def test_retrieval_by_hand() -> None:
    found = Retrieval(matched=2, predicted=4, reference=3)
    assert found.recall == 2 / 3
    assert found.precision == 2 / 4
    assert found.f1 == 4 / 7 == pytest.approx(2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3))  # the harmonic mean
    assert Retrieval(0, 0, 3).precision is None
    assert Retrieval(0, 0, 3).f1 == 0.0
    assert Retrieval(0, 2, 0).recall is None
    assert Retrieval(0, 0, 0).f1 is None
    assert pooled([found, Retrieval(1, 1, 4)]) == Retrieval(3, 5, 7)  # 3/7, where the mean of recalls is 11/24


def test_intervals_by_hand() -> None:
    # Two families, all of one right and all of the other wrong: of the draws of two families 1/4 have 0, 1/2 have 1/2
    # and 1/4 have 1, so the 2.5 % and 97.5 % quantiles are 0 and 1.
    seen = [Observation("a", 1, 1)] * 2 + [Observation("b", 0, 1)] * 2
    found = interval(seen, seed=7)
    assert (found.value, found.low, found.high, found.families) == (0.5, 0.0, 1.0, 2)
    assert interval(seen, level=0.2).low == 0.5  # the quantiles 0.4 and 0.6 lie within the half in the middle
    same = interval([Observation(str(i), 1, 2) for i in range(5)])
    assert (same.value, same.low, same.high) == (0.5, 0.5, 0.5)
    assert quantile([1.0, 2.0, 4.0], 0.75) == 3.0  # at 1.5: half way from 2 to 4


def test_intervals_of_nothing_and_of_one_family() -> None:
    nothing = interval([Observation("a", 0, 0), Observation("b", 0, 0)])
    assert (nothing.value, nothing.low, nothing.high, nothing.families) == (None, None, None, 0)
    one = interval([Observation("a", 1, 1)] * 9 + [Observation("b", 0, 0)])
    assert (one.value, one.low, one.families) == (1.0, None, 1)
    for level, draws in ((1.0, 10), (0.9, 0)):
        with pytest.raises(ValueError, match="level"):
            interval([], draws=draws, level=level)


def test_families_make_intervals_wider() -> None:
    numbers = random.Random(5)
    right = [numbers.random() < 0.5 for _ in range(20)]
    clustered = interval([Observation(str(f), right[f], 1) for f in range(20) for _ in range(10)])
    alone = interval([Observation(f"{f} {i}", right[f], 1) for f in range(20) for i in range(10)])
    assert clustered.value == alone.value
    assert clustered.low is not None
    assert clustered.high is not None
    assert alone.low is not None
    assert alone.high is not None
    # Ten copies say nothing new: the width is that of 20 scenarios, about sqrt(10) times that of 200.
    assert 2 < (clustered.high - clustered.low) / (alone.high - alone.low) < 5


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 4), st.integers(0, 3)), max_size=12),
    st.integers(0, 99),
    st.randoms(),
)
def test_intervals_hold_their_bounds_and_do_not_see_order(
    drawn: list[tuple[str, int, int]], seed: int, shuffler: random.Random
) -> None:
    seen = [Observation(family, min(part, whole), whole) for family, part, whole in drawn]
    found = interval(seen, seed, draws=50)
    mixed = list(seen)
    shuffler.shuffle(mixed)
    assert interval(mixed, seed, draws=50) == found
    renamed = [Observation(f"x{one.family}", one.part, one.whole) for one in seen]
    assert interval(renamed, seed, draws=50) == found
    if found.low is not None:
        assert found.high is not None
        assert 0 <= found.low <= found.high <= 1


def pairs(*outcomes: tuple[str, int | None, int | None]) -> list[Pair]:
    return [
        Pair(family, None if first is None else bool(first), None if second is None else bool(second))
        for family, first, second in outcomes
    ]


def test_mcnemar_by_hand() -> None:
    seen = pairs(*[("", 1, 0)] * 1, *[("", 0, 1)] * 6, *[("", 1, 1)] * 9, *[("", 0, 0)] * 3, ("", None, 1))
    found = mcnemar(seen)
    assert (found.only_first, found.only_second, found.ties, found.left_out) == (1, 6, 12, 1)
    assert found.p == 2 * (1 + 7) / 2**7 == 0.125  # 2 (C(7,0) + C(7,1)) / 2^7
    assert mcnemar(pairs(("", 1, 0), ("", 0, 1))).p == 1.0  # twice 3/4, cut at 1
    assert mcnemar(pairs(("", 1, 1), ("", None, 0))).p is None


def test_families_by_hand() -> None:
    # d = 3, 2, -1. Of the 8 sign vectors |sum| is 6, 4, 2, 0, 0, 2, 4, 6 (3+2+1, 3+2-1, 3-2+1, 3-2-1, and negated).
    seen = pairs(*[("a", 1, 0)] * 3, *[("b", 1, 0)] * 2, ("c", 0, 1), ("d", 1, 1))
    found = by_family(seen)
    assert (found.only_first, found.only_second, found.ties) == (5, 1, 1)
    assert found.p == 4 / 8  # observed |3 + 2 - 1| = 4: 6, 4, 4, 6
    assert mcnemar(seen).p == 2 * (1 + 6) / 2**6
    assert sign_test(seen).p == 1.0  # two families against one: min(1, 2 (1 + 3) / 8)
    assert (sign_test(seen).only_first, sign_test(seen).only_second, sign_test(seen).ties) == (2, 1, 1)


def test_one_family_never_convinces() -> None:
    seen = pairs(*[("a", 1, 0)] * 50)
    assert mcnemar(seen).p == 2 / 2**50
    assert by_family(seen).p == 1.0


def test_pairs_that_cancel_out_in_each_family_say_nothing() -> None:
    assert by_family(pairs(("a", 1, 0), ("a", 0, 1))).p is None
    with pytest.raises(TooManyPairs):
        flipped([10_000] * 1000, 4)


@given(st.lists(st.integers(-4, 4).filter(bool), min_size=1, max_size=9))
def test_the_convolution_is_the_enumeration(differences: list[int]) -> None:
    observed = abs(sum(differences))
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    assert flipped([abs(d) for d in differences], observed) == sum(abs(s) >= observed for s in sums) / len(sums)


@given(st.integers(0, 30), st.integers(0, 30))
def test_alone_in_their_families_it_is_mcnemar(first: int, second: int) -> None:
    seen = pairs(*[(f"a{i}", 1, 0) for i in range(first)], *[(f"b{i}", 0, 1) for i in range(second)])
    assert by_family(seen).p == mcnemar(seen).p == sign_test(seen).p
    if first + second:
        assert mcnemar(seen).p == min(
            1, 2 * sum(comb(first + second, i) for i in range(min(first, second) + 1)) / 2 ** (first + second)
        )


def test_kappa_by_hand() -> None:
    # Cohen: 50 plans; both say safe 20, both unsafe 15, 5 and 10 differ. p_o = 35/50; the first says safe 25 times, the
    # second 30 times: p_e = (25 * 30 + 25 * 20) / 2500 = 0.5; kappa = (0.7 - 0.5) / 0.5.
    seen = [("s", "s")] * 20 + [("u", "u")] * 15 + [("s", "u")] * 5 + [("u", "s")] * 10
    found = cohen([*seen, (None, "s")])
    assert found.observed == Share(35, 50)
    assert found.expected == 0.5
    assert found.kappa == pytest.approx(0.4)
    assert found.left_out == 1


def test_kappa_where_it_does_not_apply() -> None:
    assert cohen([]).kappa is None
    assert cohen([("s", "s")] * 9).kappa is None
    assert cohen([("s", "u")] * 9).kappa == 0.0  # no agreement, and none expected
    assert cohen([("s", "u"), ("u", "s")]).kappa == -1.0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=20))
def test_kappa_holds_its_bounds_and_does_not_see_names(seen: list[tuple[str, str]]) -> None:
    found = cohen(seen).kappa
    names = {"a": "z", "b": "x", "c": "y"}
    assert cohen([(names[a], names[b]) for a, b in seen]).kappa == found
    assert cohen([(b, a) for a, b in seen]).kappa == found
    if found is not None:
        assert -1 <= found <= 1
        assert (found == 1) == all(a == b for a, b in seen)


def test_the_difference_of_two_systems_is_drawn_from_the_families_of_both() -> None:
    first = [Observation(f"t{number}", number % 2, 1) for number in range(40)]
    second = [Observation(f"t{number}", number % 4 != 0, 1) for number in range(40)]
    found = difference(first, second, seed=1)
    assert found.value == pytest.approx(0.25)
    assert found.low is not None and found.high is not None and found.error is not None
    assert found.low < 0.25 < found.high
    # Paired: the second system differs from the first in every fourth family alone.
    assert found.error == pytest.approx((0.25 * 0.75 / 40) ** 0.5, rel=0.1)
    assert difference(second, first, seed=1).value == pytest.approx(-0.25)
    assert difference(first, first).low == difference(first, first).high == 0.0
    assert difference(reversed(first), second, seed=1) == found


def test_a_difference_of_what_applies_to_few_families_is_that_of_the_draws_where_it_is_defined() -> None:
    many = [Observation(f"t{number}", 1, 1) for number in range(8)]
    one = [Observation("t0", 0, 1)]
    found = difference(many, one)
    assert (found.value, found.low, found.high) == (-1.0, -1.0, -1.0)
    none = difference(many, [Observation("t0", 0, 0)])
    assert (none.value, none.low) == (None, None)
    assert difference(one, one).low is None  # one family
    with pytest.raises(ValueError, match="level"):
        difference(many, one, level=1.0)
