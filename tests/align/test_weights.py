"""Weights of steps: against values worked by hand in docs/alignment.md, laws, and the limit cases of the losses."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plansafe.align.records import Both, Grade, Pair, json_of, plan_of, record_of
from plansafe.align.tokens import shared_actions
from plansafe.align.weights import (
    Evidence,
    Shape,
    divergence_weights,
    random_weights,
    step_weights,
    weights_of,
)
from plansafe.llm.metrics.fields import read_line


def of(text: str) -> list[str]:
    """Steps by their names."""
    return text.split()


STOVE = of("go on cook off leave"), of("go on cook leave")
FRIDGE = of("open take shut go"), of("open take go")
PAIR = Pair(
    id="stew/0#1", task="stew/0", origin="drawn:stew/0/0", family="stew", world="household", split="train",
    prompt="Plan:\n", chosen=plan_of(["(go)", "(on)", "(off)"]), rejected=plan_of(["(go)", "(on)"]), shared=2,
    first_violation=3, no_return=(2, 2), regret=Both((0, 0, 0), (0, None)), grade=None, weights=Both((), ()),
    rule="stove-off", rules=("stove-off",), safel=(), categories=(), moment="termination", witness="on at the end",
    goal=Both(True, True), edits=1, source="mutant", seed=7,
)  # fmt: skip
STOVE_FOUND = Evidence(4, (3, 3), Both((0, 0, 0, 0, 0), (0, 0, 0, None)))
FRIDGE_FOUND = Evidence(4, (3, 3), Both((0, 0, 0, 0), (0, 0, 2)))


def sides(weights: Both[tuple[float, ...]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return weights.chosen, weights.rejected


def prefix_weights(chosen: list[str], rejected: list[str], factor: float) -> Both[tuple[float, ...]]:
    """Safe-Align's weights: lambda on shared steps, 1 on all others."""
    shared = shared_actions(chosen, rejected)
    return Both(*[(factor,) * shared + (1.0,) * (len(plan) + 1 - shared) for plan in (chosen, rejected)])


def near(one: tuple[float, ...], *other: float) -> bool:
    return one == pytest.approx(other, abs=5e-4)


def test_the_stove_by_hand() -> None:
    """It is left on: the step that leaves is fatal and breaks the rule, what the plan lacks is switching off."""
    found = step_weights(*STOVE, STOVE_FOUND)
    assert near(found.rejected, 0, 0, 0, 5 / 1.1, 0.5 / 1.1)
    assert near(found.chosen, 0, 0, 0, 6 / 1.74, 6 * 0.37 / 1.74, 6 * 0.37 / 1.74)


def test_the_fridge_by_hand() -> None:
    """It stays open: to end there is what breaks the rule; going off made it two steps worse."""
    found = step_weights(*FRIDGE, FRIDGE_FOUND)
    assert near(found.rejected, 0, 0, 4 * 0.7 / 1.7, 4 / 1.7)
    assert near(found.chosen, 0, 0, 5 / 2.37, 5 * 0.37 / 2.37, 5 / 2.37)


def test_the_page_has_what_is_computed(root: Path) -> None:
    page = (root / "docs/alignment.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (stove|fridge), (chosen|rejected) \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    assert len(rows) == 4
    for pair, side, steps, shown in rows:
        plans, known = {"stove": (STOVE, STOVE_FOUND), "fridge": (FRIDGE, FRIDGE_FOUND)}[pair]
        assert steps.split() == [*plans[side == "rejected"], "END"]
        weights = getattr(step_weights(*plans, known), side)
        assert shown.split() == [f"{weight:.2f}" for weight in weights]


def test_without_regret_the_places_speak() -> None:
    """Where the plans part and where the rule breaks count most, what lies between a little, what follows least."""
    chosen, rejected = of("a b c d e"), of("a x y z v w")
    weights = step_weights(chosen, rejected, Evidence(5)).rejected
    assert weights[0] == 0
    assert weights[1] == weights[4] > weights[2] == weights[3] > weights[5] == weights[6] > 0


def test_past_the_point_of_no_return_little_is_left() -> None:
    chosen, rejected = of("a b c d e"), of("a x y z v w")
    weights = step_weights(
        chosen, rejected, Evidence(5, (2, 2), Both((0,) * 5, (0, 0, None, None, None, None)))
    ).rejected
    assert weights[2] == weights[4] == max(weights), "the fatal step, and the one that breaks the rule"
    assert weights[3] == weights[5] == weights[6] == min(weights[1:])
    assert weights[3] < weights[1] < weights[2], "where the plans part there was no harm yet"


def test_an_interval_is_shared_out() -> None:
    chosen, rejected = of("a b c"), of("a x y z v")
    known = Evidence(5, (1, 2), Both((0, 0, 0), (0, 0, 0, None, None)))
    weights = step_weights(chosen, rejected, known, Shape(parted=0.0)).rejected
    assert weights[1] == weights[2] == pytest.approx(weights[4] * 0.55)


def test_what_was_only_estimated_counts_less() -> None:
    chosen, rejected = of("a b"), of("a x y")
    regret = Both((0, 0), (0, 0, 3))
    grades: tuple[Grade, Grade] = "found", "estimate"
    sure, unsure = [
        step_weights(chosen, rejected, Evidence(4, None, regret, Both(("proved",) * 2, (grade,) * 3))).rejected
        for grade in grades
    ]
    assert sure[2] / sure[3] == pytest.approx(0.1 + 0.9 * 0.75)
    assert unsure[2] / unsure[3] == pytest.approx(0.1 + 0.9 * 0.375)


def test_the_chosen_plan_learns_what_the_other_lacks_and_no_detours() -> None:
    chosen, rejected = of("a s b t u c"), of("a b c")
    known = Evidence(3, None, Both((0, 0, 0, 0, 1, 0), (0, 0, None)))
    weights = step_weights(chosen, rejected, known).chosen
    assert weights[1] == weights[3] == max(weights)
    assert weights[2] == weights[5] < weights[4] < weights[3], "the detour `u` counts half of `t`"


plans = st.tuples(st.lists(st.sampled_from("abcde"), max_size=9), st.lists(st.sampled_from("abcde"), max_size=9))


@st.composite
def known(draw: st.DrawFn) -> tuple[list[str], list[str], Evidence]:
    chosen, rejected = draw(plans)
    size = len(rejected)
    low = draw(st.integers(-1, size))
    number = st.none() | st.integers(-2, 9)
    grades = st.sampled_from(["proved", "found", "estimate", "unknown"])
    regret = [draw(st.lists(number, min_size=len(plan), max_size=len(plan))) for plan in (chosen, rejected)]
    grade = [draw(st.lists(grades, min_size=len(plan), max_size=len(plan))) for plan in (chosen, rejected)]
    found = Evidence(
        draw(st.none() | st.integers(1, size + 1)),
        draw(st.none() | st.just((low, draw(st.integers(low, size))))),
        draw(st.none() | st.just(Both(tuple(regret[0]), tuple(regret[1])))),
        draw(st.none() | st.just(Both(tuple(grade[0]), tuple(grade[1])))),
    )
    return chosen, rejected, found


@given(known())
def test_laws(case: tuple[list[str], list[str], Evidence]) -> None:
    chosen, rejected, found = case
    shared = shared_actions(chosen, rejected)
    weights = step_weights(chosen, rejected, found)
    for side, plan in zip(sides(weights), (chosen, rejected), strict=True):
        assert len(side) == len(plan) + 1
        assert sum(side) == pytest.approx(len(side))
        assert set(side[:shared]) <= {0.0}, "what is shared carries no preference"
        own = side[shared:]
        assert 0 < min(own) <= max(own) <= 10 * min(own) * (1 + 1e-9)
        assert max(side) <= len(side) + 1e-9
    violation = found.first_violation
    if violation is not None and violation > shared:
        assert weights.rejected[violation - 1] == max(weights.rejected)
        assert all([weight == min(weights.rejected[shared:]) or weight == max(weights.rejected)
                    for weight in weights.rejected[violation:]])  # fmt: skip
    even = step_weights(chosen, rejected, found, Shape(prefix=1.0, floor=1.0))
    assert even == Both((1.0,) * (len(chosen) + 1), (1.0,) * (len(rejected) + 1))


@given(plans, st.sampled_from([0.0, 0.3, 1.0]))
def test_prefix_only(pair: tuple[list[str], list[str]], factor: float) -> None:
    """Safe-Align's weights; ours with the same prefix and an even rest are these by a factor: equal by their sum."""
    chosen, rejected = pair
    plain = prefix_weights(chosen, rejected, factor)
    scaled = step_weights(chosen, rejected, shape=Shape(prefix=factor, floor=1.0))
    for one, other in zip(sides(plain), sides(scaled), strict=True):
        assert [weight * len(one) / sum(one) for weight in one] == pytest.approx(list(other))


@given(known(), st.integers(0, 3))
def test_ablations(case: tuple[list[str], list[str], Evidence], seed: int) -> None:
    chosen, rejected, found = case
    ours = step_weights(chosen, rejected, found)
    mixed = random_weights(ours, seed)
    assert mixed == random_weights(ours, seed)
    assert [sorted(side) for side in sides(mixed)] == [sorted(side) for side in sides(ours)]
    shared = shared_actions(chosen, rejected)
    for side in sides(divergence_weights(chosen, rejected)):
        assert side[shared] == max(side) and sum(side) == pytest.approx(len(side))


def test_random_weights_differ_by_seed() -> None:
    ours = Both(tuple(map(float, range(12))), tuple(map(float, range(9))))
    assert len({random_weights(ours, f"pair-{number}") for number in range(20)}) == 20


def test_schemes() -> None:
    plans, evidence = (PAIR.actions.chosen, PAIR.actions.rejected), Evidence(3, (2, 2), PAIR.regret)
    ours = step_weights(*plans, evidence)
    assert weights_of(PAIR, "regret") == ours
    assert weights_of(PAIR, "random", seed=4) == random_weights(ours, f"4/{PAIR.id}")
    assert weights_of(PAIR, "divergence") == divergence_weights(*plans)
    assert weights_of(PAIR, "even") == Both((1.0,) * 4, (1.0,) * 3)


def test_weights_of_a_record() -> None:
    """From its own fields, chance by its name; and a record takes them."""
    pair = replace(PAIR, grade=Both(("found",) * 3, ("found", "unknown")))
    plans = pair.actions.chosen, pair.actions.rejected
    ours = weights_of(pair)
    assert ours == step_weights(*plans, Evidence(3, (2, 2), pair.regret, pair.grade))
    assert near(ours.rejected, 0, 0, 3) and near(ours.chosen, 0, 0, 2, 2)
    assert weights_of(pair, "random", seed=3) == random_weights(ours, f"3/{pair.id}")
    assert record_of(read_line(json_of(replace(pair, weights=ours)).encode()), Pair).weights == ours


@pytest.mark.parametrize(
    "found",
    [
        Evidence(0),
        Evidence(6),
        Evidence(None, (-2, 0)),
        Evidence(None, (3, 2)),
        Evidence(None, (0, 5)),
        Evidence(None, None, Both((), ())),
    ],
)
def test_what_does_not_fit_is_refused(found: Evidence) -> None:
    with pytest.raises(ValueError):
        step_weights(*STOVE, found)


@pytest.mark.parametrize(
    "change", [{"floor": 0.0}, {"before_violation": -0.1}, {"prefix": 1.1}, {"common": float("nan")}]
)
def test_constants_are_checked(change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="constants"):
        Shape(**change)


def test_limit_cases_of_the_losses() -> None:
    """Ours with even weights is SimPO by both normalisers; with the prefix alone it is Safe-Align."""
    torch = pytest.importorskip("torch", reason="losses need the extra `align`")
    torch.set_num_threads(1)
    from plansafe.align import losses
    from plansafe.align.tokens import Steps, batch_of, pair_of

    class Letters:
        end = 3

        def encode(self, text: str) -> list[int]:
            return [ord(c) % 90 + 4 for c in text]

    generator = torch.Generator().manual_seed(1)
    logps = -torch.rand(2, 60, generator=generator, dtype=torch.float64)

    def plans_of(weights: Both[tuple[float, ...]]) -> list[losses.Plans]:
        chosen, rejected = [Steps(tuple(plan), side) for plan, side in zip(STOVE, sides(weights), strict=True)]
        pair = pair_of([5, 6], chosen, rejected, Letters(), 100)
        assert pair is not None
        rows = [batch_of([row], 0, torch.float64) for row in pair]
        return [row.plans(logps[n : n + 1, : row.completion.shape[1]]) for n, row in enumerate(rows)]

    known = {"beta": 2.0, "gamma_beta_ratio": 0.5}
    even = step_weights(*STOVE, STOVE_FOUND, Shape(prefix=1.0, floor=1.0))
    simpo = losses.simpo(*plans_of(even), **known).losses
    for normaliser, factor in product(("tokens", "weights"), (0.0, 0.4, 1.0)):
        assert torch.allclose(losses.weighted(*plans_of(even), **known, normaliser=normaliser).losses, simpo)
        plain = plans_of(prefix_weights(*STOVE, factor))
        safe_align = losses.safe_align(*plain, **known, factor=factor, normaliser=normaliser).losses
        assert torch.allclose(losses.weighted(*plain, **known, normaliser=normaliser).losses, safe_align)
    scaled = plans_of(step_weights(*STOVE, shape=Shape(prefix=0.4, floor=1.0)))
    safe_align = losses.safe_align(*scaled, **known, factor=0.4, normaliser="weights").losses
    assert torch.allclose(losses.weighted(*scaled, **known, normaliser="weights").losses, safe_align)
