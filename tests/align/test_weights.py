"""Test step weights against hand-computed values in docs/alignment.md, laws, and limit cases of the losses."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from letter_tokenizer import Letters

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


def steps_of(text: str) -> list[str]:
    """Split a text into names of steps."""
    return text.split()


STOVE = steps_of("go on cook off leave"), steps_of("go on cook leave")
FRIDGE = steps_of("open take shut go"), steps_of("open take go")
PAIR = Pair(
    id="stew/0#1", task="stew/0", origin="drawn:stew/0/0", family="stew", world="household", split="train",
    prompt="Plan:\n", chosen=plan_of(["(go)", "(on)", "(off)"]), rejected=plan_of(["(go)", "(on)"]), shared=2,
    first_violation=3, no_return=(2, 2), regret=Both((0, 0, 0), (0, None)), grade=None, weights=Both((), ()),
    rule="stove-off", rules=("stove-off",), safel=(), categories=(), moment="termination", witness="on at the end",
    goal=Both(True, True), edits=1, source="mutant", seed=7,
)  # fmt: skip
STOVE_EVIDENCE = Evidence(4, (3, 3), Both((0, 0, 0, 0, 0), (0, 0, 0, None)))
FRIDGE_EVIDENCE = Evidence(4, (3, 3), Both((0, 0, 0, 0), (0, 0, 2)))


def sides(weights: Both[tuple[float, ...]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return weights.chosen, weights.rejected


def prefix_weights(chosen: list[str], rejected: list[str], factor: float) -> Both[tuple[float, ...]]:
    """Safe-Align's weights: lambda on shared steps, 1 on the steps after them."""
    shared = shared_actions(chosen, rejected)
    return Both(*[(factor,) * shared + (1.0,) * (len(plan) + 1 - shared) for plan in (chosen, rejected)])


def is_near(weights: tuple[float, ...], *expected: float) -> bool:
    return weights == pytest.approx(expected, abs=5e-4)


def test_stove_by_hand() -> None:
    """The stove is left on: the last step is fatal and breaks the rule; the missing step is switching off."""
    weights = step_weights(*STOVE, STOVE_EVIDENCE)
    assert is_near(weights.rejected, 0, 0, 0, 5 / 1.1, 0.5 / 1.1)
    assert is_near(weights.chosen, 0, 0, 0, 6 / 1.74, 6 * 0.37 / 1.74, 6 * 0.37 / 1.74)


def test_fridge_by_hand() -> None:
    """The fridge stays open: the end breaks the rule; going away costs two more steps."""
    weights = step_weights(*FRIDGE, FRIDGE_EVIDENCE)
    assert is_near(weights.rejected, 0, 0, 4 * 0.7 / 1.7, 4 / 1.7)
    assert is_near(weights.chosen, 0, 0, 5 / 2.37, 5 * 0.37 / 2.37, 5 / 2.37)


def test_page_shows_the_computed_weights(root: Path) -> None:
    page = (root / "docs/alignment.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (stove|fridge), (chosen|rejected) \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    assert len(rows) == 4
    for pair, side, steps, printed in rows:
        plans, evidence = {"stove": (STOVE, STOVE_EVIDENCE), "fridge": (FRIDGE, FRIDGE_EVIDENCE)}[pair]
        assert steps.split() == [*plans[side == "rejected"], "END"]
        weights = getattr(step_weights(*plans, evidence), side)
        assert printed.split() == [f"{weight:.2f}" for weight in weights]


def test_weights_follow_positions_without_regret() -> None:
    """Weights are largest at the divergence and the violation, smaller between them, and smallest after."""
    chosen, rejected = steps_of("a b c d e"), steps_of("a x y z v w")
    weights = step_weights(chosen, rejected, Evidence(5)).rejected
    assert weights[0] == 0
    assert weights[1] == weights[4] > weights[2] == weights[3] > weights[5] == weights[6] > 0


def test_weights_are_small_after_the_point_of_no_return() -> None:
    chosen, rejected = steps_of("a b c d e"), steps_of("a x y z v w")
    weights = step_weights(
        chosen, rejected, Evidence(5, (2, 2), Both((0,) * 5, (0, 0, None, None, None, None)))
    ).rejected
    assert weights[2] == weights[4] == max(weights), "the fatal step, and the one that breaks the rule"
    assert weights[3] == weights[5] == weights[6] == min(weights[1:])
    assert weights[3] < weights[1] < weights[2], "the divergence came before any harm"


def test_interval_shares_the_weight() -> None:
    chosen, rejected = steps_of("a b c"), steps_of("a x y z v")
    evidence = Evidence(5, (1, 2), Both((0, 0, 0), (0, 0, 0, None, None)))
    weights = step_weights(chosen, rejected, evidence, Shape(parted=0.0)).rejected
    assert weights[1] == weights[2] == pytest.approx(weights[4] * 0.55)


def test_estimated_regret_has_less_weight() -> None:
    chosen, rejected = steps_of("a b"), steps_of("a x y")
    regret = Both((0, 0), (0, 0, 3))
    grades: tuple[Grade, Grade] = "found", "estimate"
    sure, unsure = [
        step_weights(chosen, rejected, Evidence(4, None, regret, Both(("proved",) * 2, (grade,) * 3))).rejected
        for grade in grades
    ]
    assert sure[2] / sure[3] == pytest.approx(0.1 + 0.9 * 0.75)
    assert unsure[2] / unsure[3] == pytest.approx(0.1 + 0.9 * 0.375)


def test_missing_steps_have_more_weight_than_detours() -> None:
    chosen, rejected = steps_of("a s b t u c"), steps_of("a b c")
    evidence = Evidence(3, None, Both((0, 0, 0, 0, 1, 0), (0, 0, None)))
    weights = step_weights(chosen, rejected, evidence).chosen
    assert weights[1] == weights[3] == max(weights)
    assert weights[2] == weights[5] < weights[4] < weights[3], "the detour `u` counts half of `t`"


plans = st.tuples(st.lists(st.sampled_from("abcde"), max_size=9), st.lists(st.sampled_from("abcde"), max_size=9))


@st.composite
def evidence_cases(draw: st.DrawFn) -> tuple[list[str], list[str], Evidence]:
    chosen, rejected = draw(plans)
    size = len(rejected)
    low = draw(st.integers(-1, size))
    number = st.none() | st.integers(-2, 9)
    grades = st.sampled_from(["proved", "found", "estimate", "unknown"])
    regret = [draw(st.lists(number, min_size=len(plan), max_size=len(plan))) for plan in (chosen, rejected)]
    grade = [draw(st.lists(grades, min_size=len(plan), max_size=len(plan))) for plan in (chosen, rejected)]
    evidence = Evidence(
        draw(st.none() | st.integers(1, size + 1)),
        draw(st.none() | st.just((low, draw(st.integers(low, size))))),
        draw(st.none() | st.just(Both(tuple(regret[0]), tuple(regret[1])))),
        draw(st.none() | st.just(Both(tuple(grade[0]), tuple(grade[1])))),
    )
    return chosen, rejected, evidence


@given(evidence_cases())
def test_laws(case: tuple[list[str], list[str], Evidence]) -> None:
    chosen, rejected, evidence = case
    shared = shared_actions(chosen, rejected)
    weights = step_weights(chosen, rejected, evidence)
    for side, plan in zip(sides(weights), (chosen, rejected), strict=True):
        assert len(side) == len(plan) + 1
        assert sum(side) == pytest.approx(len(side))
        assert set(side[:shared]) <= {0.0}, "shared steps carry no preference"
        differing = side[shared:]
        assert 0 < min(differing) <= max(differing) <= 10 * min(differing) * (1 + 1e-9)
        assert max(side) <= len(side) + 1e-9
    violation = evidence.first_violation
    if violation is not None and violation > shared:
        assert weights.rejected[violation - 1] == max(weights.rejected)
        assert all([weight == min(weights.rejected[shared:]) or weight == max(weights.rejected)
                    for weight in weights.rejected[violation:]])  # fmt: skip
    even = step_weights(chosen, rejected, evidence, Shape(prefix=1.0, floor=1.0))
    assert even == Both((1.0,) * (len(chosen) + 1), (1.0,) * (len(rejected) + 1))


@given(plans, st.sampled_from([0.0, 0.3, 1.0]))
def test_prefix_only(pair: tuple[list[str], list[str]], factor: float) -> None:
    """Ours with the same prefix and even weights after it are proportional to Safe-Align's."""
    chosen, rejected = pair
    plain = prefix_weights(chosen, rejected, factor)
    scaled = step_weights(chosen, rejected, shape=Shape(prefix=factor, floor=1.0))
    for expected, weights in zip(sides(plain), sides(scaled), strict=True):
        assert [weight * len(expected) / sum(expected) for weight in expected] == pytest.approx(list(weights))


@given(evidence_cases(), st.integers(0, 3))
def test_ablations(case: tuple[list[str], list[str], Evidence], seed: int) -> None:
    chosen, rejected, evidence = case
    ours = step_weights(chosen, rejected, evidence)
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
    """A record's fields determine its weights, its id the random ones; a record can store them."""
    pair = replace(PAIR, grade=Both(("found",) * 3, ("found", "unknown")))
    plans = pair.actions.chosen, pair.actions.rejected
    ours = weights_of(pair)
    assert ours == step_weights(*plans, Evidence(3, (2, 2), pair.regret, pair.grade))
    assert is_near(ours.rejected, 0, 0, 3) and is_near(ours.chosen, 0, 0, 2, 2)
    assert weights_of(pair, "random", seed=3) == random_weights(ours, f"3/{pair.id}")
    assert record_of(read_line(json_of(replace(pair, weights=ours)).encode()), Pair).weights == ours


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence(0),
        Evidence(6),
        Evidence(None, (-2, 0)),
        Evidence(None, (3, 2)),
        Evidence(None, (0, 5)),
        Evidence(None, None, Both((), ())),
    ],
)
def test_inconsistent_evidence_is_refused(evidence: Evidence) -> None:
    with pytest.raises(ValueError):
        step_weights(*STOVE, evidence)


@pytest.mark.parametrize(
    "change", [{"floor": 0.0}, {"before_violation": -0.1}, {"prefix": 1.1}, {"common": float("nan")}]
)
def test_constants_are_checked(change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="constants"):
        Shape(**change)


def test_limit_cases_of_the_losses() -> None:
    """Ours with even weights is SimPO with both normalisers; with prefix weights it is Safe-Align."""
    torch = pytest.importorskip("torch", reason="losses need the extra `align`")
    torch.set_num_threads(1)
    from plansafe.align import losses
    from plansafe.align.tokens import Steps, batch_of, pair_of

    generator = torch.Generator().manual_seed(1)
    logps = -torch.rand(2, 60, generator=generator, dtype=torch.float64)

    def plans_of(weights: Both[tuple[float, ...]]) -> list[losses.Plans]:
        chosen, rejected = [Steps(tuple(plan), side) for plan, side in zip(STOVE, sides(weights), strict=True)]
        pair = pair_of([5, 6], chosen, rejected, Letters(), 100)
        assert pair is not None
        rows = [batch_of([row], 0, torch.float64) for row in pair]
        return [row.plans(logps[n : n + 1, : row.completion.shape[1]]) for n, row in enumerate(rows)]

    constants = {"beta": 2.0, "gamma_beta_ratio": 0.5}
    even = step_weights(*STOVE, STOVE_EVIDENCE, Shape(prefix=1.0, floor=1.0))
    simpo = losses.simpo(*plans_of(even), **constants).losses
    for normaliser, factor in product(("tokens", "weights"), (0.0, 0.4, 1.0)):
        assert torch.allclose(losses.weighted(*plans_of(even), **constants, normaliser=normaliser).losses, simpo)
        plain = plans_of(prefix_weights(*STOVE, factor))
        safe_align = losses.safe_align(*plain, **constants, factor=factor, normaliser=normaliser).losses
        assert torch.allclose(losses.weighted(*plain, **constants, normaliser=normaliser).losses, safe_align)
    scaled = plans_of(step_weights(*STOVE, shape=Shape(prefix=0.4, floor=1.0)))
    safe_align = losses.safe_align(*scaled, **constants, factor=0.4, normaliser="weights").losses
    assert torch.allclose(losses.weighted(*scaled, **constants, normaliser="weights").losses, safe_align)
