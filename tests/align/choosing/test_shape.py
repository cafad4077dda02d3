"""Plans up to names, their chains, and what is left out for being too simple."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from made_pairs import pair_of_plans

from plansafe.align.choosing.filters import MOST_PROMPT, Reason, unfit
from plansafe.align.choosing.shape import chain, parts, shape
from plansafe.align.records import Both

NAMES = st.sampled_from(["pot", "cup", "hall", "stove", "lamp"])
PLANS = st.lists(st.tuples(st.sampled_from(["go", "take"]), NAMES, NAMES).map(lambda a: f"({' '.join(a)})"))


@given(PLANS, PLANS, st.permutations(["pot", "cup", "hall", "stove", "lamp"]))
def test_a_renaming_of_objects_changes_nothing(one: list[str], other: list[str], order: list[str]) -> None:
    renamed = dict(zip(["pot", "cup", "hall", "stove", "lamp"], order, strict=True))

    def moved(plan: list[str]) -> list[str]:
        return [f"({parts(a)[0]} {' '.join(renamed[name] for name in parts(a)[1:])})" for a in plan]

    assert shape(one, other) == shape(moved(one), moved(other))


def test_other_actions_another_order_and_a_joined_object_change_it() -> None:
    plan = ["(take cup)", "(take pot)"]
    assert shape(plan) == shape(["(take pot)", "(take cup)"])
    assert len({shape(plan), shape(["(take cup)", "(drop pot)"]), shape(["(take cup)", "(take cup)"])}) == 3
    assert shape(plan, plan) != shape(plan, ["(take pot)", "(take cup)"])
    assert shape(plan, []) != shape([], plan)


def test_a_chain_is_of_actions_with_an_object_of_the_one_before() -> None:
    robot = ["(go r hall)", "(take r cup)", "(fill r cup sink)", "(wipe r shelf)", "(clean r sink)"]
    assert chain(robot) == 3  # take, fill, clean; the robot, which all name, is no link
    assert chain(["(go r hall)", "(go r kitchen)"]) == 1
    assert chain([]) == 0


LONG = ["(go r hall)", "(take r cup hall)", "(fill r cup sink)", "(drop r cup sink)"]


def test_what_is_too_simple_is_left_out() -> None:
    pair = pair_of_plans(LONG, LONG[:3])
    assert unfit(pair) is None
    assert unfit(replace(pair, goal=Both(False, True))) is Reason.UNFINISHED
    assert unfit(replace(pair, prompt=" " * (MOST_PROMPT + 1))) is Reason.LONG_PROMPT
    assert unfit(pair_of_plans(LONG, LONG[:2])) is Reason.TOO_SHORT
    assert unfit(pair_of_plans(LONG[:2], LONG)) is Reason.TOO_SHORT
    assert unfit(pair_of_plans(LONG, LONG * 3)) is Reason.PADDED
    loose = ["(go r hall)", "(take r cup)", "(wipe r shelf)", "(open r door)"]
    assert unfit(pair_of_plans(loose, loose[:3])) is Reason.NO_CHAIN
