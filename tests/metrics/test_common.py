"""Shares, intervals, paired tests and kappa: values worked out by hand, and laws."""

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


def test_a_share_of_nothing_is_not_applicable() -> None:
    assert Share(0, 0).value is None
    assert (Share(0, 3).value, Share(3, 3).value) == (0.0, 1.0)
    assert str(Share(0, 0)) == "n/a (0/0)"
    assert str(Share(5, 12)) == "41.7 % (5/12)"
    assert percent(None) == "n/a"
    assert mean([]) is None
    assert mean([None, 0.5, 1.0]) == 0.75
    assert share([True, None, False, True]) == Share(2, 3)


def test_impossible_counts_are_refused() -> None:
    for hits, of in ((1, 0), (-1, 2), (3, 2)):
        with pytest.raises(ValueError, match="not a share"):
            Share(hits, of)
    with pytest.raises(ValueError, match="cannot match"):
        Retrieval(2, 1, 5)


def test_retrieval_by_hand() -> None:
    retrieval = Retrieval(matched=2, predicted=4, reference=3)
    assert retrieval.recall == 2 / 3
    assert retrieval.precision == 2 / 4
    assert retrieval.f1 == 4 / 7 == pytest.approx(2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3))  # the harmonic mean
    assert Retrieval(0, 0, 3).precision is None
    assert Retrieval(0, 0, 3).f1 == 0.0
    assert Retrieval(0, 2, 0).recall is None
    assert Retrieval(0, 0, 0).f1 is None
    assert pooled([retrieval, Retrieval(1, 1, 4)]) == Retrieval(3, 5, 7)  # 3/7, where the mean of recalls is 11/24


def test_intervals_by_hand() -> None:
    # Two families: one all right, one all wrong. Of the draws of two families 1/4 have 0, 1/2 have 1/2 and 1/4 have 1,
    # so the 2.5 % and 97.5 % quantiles are 0 and 1.
    observations = [Observation("a", 1, 1)] * 2 + [Observation("b", 0, 1)] * 2
    estimate = interval(observations, seed=7)
    assert (estimate.value, estimate.low, estimate.high, estimate.families) == (0.5, 0.0, 1.0, 2)
    assert interval(observations, level=0.2).low == 0.5  # the quantiles 0.4 and 0.6 are within the middle half
    constant = interval([Observation(str(family), 1, 2) for family in range(5)])
    assert (constant.value, constant.low, constant.high) == (0.5, 0.5, 0.5)
    assert quantile([1.0, 2.0, 4.0], 0.75) == 3.0  # at 1.5: half way from 2 to 4


def test_no_family_or_one_family_gives_no_interval() -> None:
    empty = interval([Observation("a", 0, 0), Observation("b", 0, 0)])
    assert (empty.value, empty.low, empty.high, empty.families) == (None, None, None, 0)
    single_family = interval([Observation("a", 1, 1)] * 9 + [Observation("b", 0, 0)])
    assert (single_family.value, single_family.low, single_family.families) == (1.0, None, 1)
    for level, draws in ((1.0, 10), (0.9, 0)):
        with pytest.raises(ValueError, match="level"):
            interval([], draws=draws, level=level)


def test_families_make_intervals_wider() -> None:
    numbers = random.Random(5)
    family_is_right = [numbers.random() < 0.5 for _ in range(20)]
    clustered = interval(
        [Observation(str(family), family_is_right[family], 1) for family in range(20) for _ in range(10)]
    )
    independent = interval(
        [Observation(f"{family} {sample}", family_is_right[family], 1) for family in range(20) for sample in range(10)]
    )
    assert clustered.value == independent.value
    assert clustered.low is not None
    assert clustered.high is not None
    assert independent.low is not None
    assert independent.high is not None
    # Ten copies add no information: the interval is as wide as for 20 scenarios, sqrt(10) times as wide as for 200.
    assert 2 < (clustered.high - clustered.low) / (independent.high - independent.low) < 5


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 4), st.integers(0, 3)), max_size=12),
    st.integers(0, 99),
    st.randoms(),
)
def test_intervals_are_bounded_and_do_not_depend_on_order(
    counts: list[tuple[str, int, int]], seed: int, shuffler: random.Random
) -> None:
    observations = [Observation(family, min(part, total), total) for family, part, total in counts]
    estimate = interval(observations, seed, draws=50)
    shuffled = list(observations)
    shuffler.shuffle(shuffled)
    assert interval(shuffled, seed, draws=50) == estimate
    renamed = [
        Observation(f"x{observation.family}", observation.part, observation.whole) for observation in observations
    ]
    assert interval(renamed, seed, draws=50) == estimate
    if estimate.low is not None:
        assert estimate.high is not None
        assert 0 <= estimate.low <= estimate.high <= 1


def pairs(*outcomes: tuple[str, int | None, int | None]) -> list[Pair]:
    return [
        Pair(family, None if first is None else bool(first), None if second is None else bool(second))
        for family, first, second in outcomes
    ]


def test_mcnemar_by_hand() -> None:
    outcomes = pairs(*[("", 1, 0)] * 1, *[("", 0, 1)] * 6, *[("", 1, 1)] * 9, *[("", 0, 0)] * 3, ("", None, 1))
    comparison = mcnemar(outcomes)
    assert (comparison.only_first, comparison.only_second, comparison.ties, comparison.left_out) == (1, 6, 12, 1)
    assert comparison.p == 2 * (1 + 7) / 2**7 == 0.125  # 2 (C(7,0) + C(7,1)) / 2^7
    assert mcnemar(pairs(("", 1, 0), ("", 0, 1))).p == 1.0  # twice 3/4, cut at 1
    assert mcnemar(pairs(("", 1, 1), ("", None, 0))).p is None


def test_families_by_hand() -> None:
    # d = 3, 2, -1. Of the 8 sign vectors |sum| is 6, 4, 2, 0, 0, 2, 4, 6 (3+2+1, 3+2-1, 3-2+1, 3-2-1, and negated).
    outcomes = pairs(*[("a", 1, 0)] * 3, *[("b", 1, 0)] * 2, ("c", 0, 1), ("d", 1, 1))
    comparison = by_family(outcomes)
    assert (comparison.only_first, comparison.only_second, comparison.ties) == (5, 1, 1)
    assert comparison.p == 4 / 8  # observed |3 + 2 - 1| = 4: 6, 4, 4, 6
    assert mcnemar(outcomes).p == 2 * (1 + 6) / 2**6
    assert sign_test(outcomes).p == 1.0  # two families against one: min(1, 2 (1 + 3) / 8)
    assert (sign_test(outcomes).only_first, sign_test(outcomes).only_second, sign_test(outcomes).ties) == (2, 1, 1)


def test_one_family_is_never_significant() -> None:
    outcomes = pairs(*[("a", 1, 0)] * 50)
    assert mcnemar(outcomes).p == 2 / 2**50
    assert by_family(outcomes).p == 1.0


def test_pairs_that_cancel_out_in_each_family_give_no_p_value() -> None:
    assert by_family(pairs(("a", 1, 0), ("a", 0, 1))).p is None
    with pytest.raises(TooManyPairs):
        flipped([10_000] * 1000, 4)


@given(st.lists(st.integers(-4, 4).filter(bool), min_size=1, max_size=9))
def test_the_convolution_agrees_with_an_enumeration(differences: list[int]) -> None:
    observed = abs(sum(differences))
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    assert flipped([abs(d) for d in differences], observed) == sum(abs(s) >= observed for s in sums) / len(sums)


@given(st.integers(0, 30), st.integers(0, 30))
def test_families_of_one_scenario_give_the_p_value_of_mcnemar(first: int, second: int) -> None:
    outcomes = pairs(*[(f"a{i}", 1, 0) for i in range(first)], *[(f"b{i}", 0, 1) for i in range(second)])
    assert by_family(outcomes).p == mcnemar(outcomes).p == sign_test(outcomes).p
    if first + second:
        assert mcnemar(outcomes).p == min(
            1, 2 * sum(comb(first + second, i) for i in range(min(first, second) + 1)) / 2 ** (first + second)
        )


def test_kappa_by_hand() -> None:
    # Cohen: 50 plans; both say safe 20, both unsafe 15, 5 and 10 differ. p_o = 35/50; the first says safe 25 times, the
    # second 30 times: p_e = (25 * 30 + 25 * 20) / 2500 = 0.5; kappa = (0.7 - 0.5) / 0.5.
    labels = [("s", "s")] * 20 + [("u", "u")] * 15 + [("s", "u")] * 5 + [("u", "s")] * 10
    agreement = cohen([*labels, (None, "s")])
    assert agreement.observed == Share(35, 50)
    assert agreement.expected == 0.5
    assert agreement.kappa == pytest.approx(0.4)
    assert agreement.left_out == 1


def test_kappa_where_it_does_not_apply() -> None:
    assert cohen([]).kappa is None
    assert cohen([("s", "s")] * 9).kappa is None
    assert cohen([("s", "u")] * 9).kappa == 0.0  # no agreement, and none expected
    assert cohen([("s", "u"), ("u", "s")]).kappa == -1.0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=20))
def test_kappa_is_bounded_and_does_not_depend_on_names(labels: list[tuple[str, str]]) -> None:
    kappa = cohen(labels).kappa
    names = {"a": "z", "b": "x", "c": "y"}
    assert cohen([(names[first], names[second]) for first, second in labels]).kappa == kappa
    assert cohen([(second, first) for first, second in labels]).kappa == kappa
    if kappa is not None:
        assert -1 <= kappa <= 1
        assert (kappa == 1) == all(first == second for first, second in labels)


def test_the_difference_of_two_systems_is_paired_by_family() -> None:
    first = [Observation(f"t{number}", number % 2, 1) for number in range(40)]
    second = [Observation(f"t{number}", number % 4 != 0, 1) for number in range(40)]
    estimate = difference(first, second, seed=1)
    assert estimate.value == pytest.approx(0.25)
    assert estimate.low is not None and estimate.high is not None and estimate.error is not None
    assert estimate.low < 0.25 < estimate.high
    # Paired: the second system differs from the first in every fourth family alone.
    assert estimate.error == pytest.approx((0.25 * 0.75 / 40) ** 0.5, rel=0.1)
    assert difference(second, first, seed=1).value == pytest.approx(-0.25)
    assert difference(first, first).low == difference(first, first).high == 0.0
    assert difference(reversed(first), second, seed=1) == estimate


def test_draws_without_a_defined_difference_are_left_out() -> None:
    many = [Observation(f"t{number}", 1, 1) for number in range(8)]
    single = [Observation("t0", 0, 1)]
    estimate = difference(many, single)
    assert (estimate.value, estimate.low, estimate.high) == (-1.0, -1.0, -1.0)
    undefined = difference(many, [Observation("t0", 0, 0)])
    assert (undefined.value, undefined.low) == (None, None)
    assert difference(single, single).low is None  # one family
    with pytest.raises(ValueError, match="level"):
        difference(many, single, level=1.0)
