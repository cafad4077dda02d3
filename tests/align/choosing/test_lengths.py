"""Classifiers that see lengths and counts of actions alone."""

from __future__ import annotations

from math import exp, log1p
from random import Random

from plansafe.align.choosing.lengths import Difference, Linear, Lookup, difference, flipped, told


def test_a_difference_is_of_counts() -> None:
    found = dict(difference(["(go r a)", "(turn-off r stove)"], ["(go r b)"]))
    assert found == {"(turn-off)": 1, "number of actions": 1, "number of words": 3, "number of letters": 18}
    assert difference(["(go r a)", "(take r b)"], ["(take r b)", "(go r a)"]) == ()


def test_a_step_that_only_safe_plans_have_is_learnt() -> None:
    random = Random(1)
    telling: Difference = (("(turn-off)", 1),)
    noise = [((f"({random.choice('abc')})", random.choice([-1, 1])),) for _ in range(300)]
    learnt = [*noise[:200], *[telling] * 100]
    for classifier in (Linear(learnt), Lookup(learnt)):
        assert classifier.favours(telling) > 0 > classifier.favours(flipped(telling))
        assert classifier.favours(()) == 0
        assert told(classifier, [telling] * 3).share == 1
        assert told(classifier, [(), flipped(telling)]).share == 0.25
    assert Linear(learnt).named_weights()["(turn-off)"] > 1


def test_what_sums_to_nothing_tells_nothing() -> None:
    random = Random(2)
    half = [
        tuple(sorted({f"({c})": random.choice([-1, 1]) for c in random.sample("abcdef", 3)}.items())) for _ in "x" * 99
    ]
    learnt = [*half, *[flipped(one) for one in half]]
    assert max(abs(weight) for weight in Linear(learnt).weights) < 1e-9
    assert told(Lookup(learnt), half).share == 0.5


def test_the_regression_is_at_its_minimum() -> None:
    random = Random(3)
    learnt = [
        tuple(sorted({f"({c})": random.choice([-1, 1, 2]) for c in random.sample("abcd", 2)}.items())) for _ in "x" * 80
    ]
    found = Linear(learnt)

    def loss(weights: list[float]) -> float:
        found.weights = weights
        return sum(log1p(exp(-found.favours(one))) for one in learnt) / 80 + 5e-4 * sum(w * w for w in weights)

    best = found.weights
    least = loss(best)
    for at in range(len(best)):
        for step in (-0.01, 0.01):
            assert loss([*best[:at], best[at] + step, *best[at + 1 :]]) > least
