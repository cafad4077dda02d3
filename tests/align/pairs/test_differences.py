"""Test differences between plans: words, order, names of objects, edits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plansafe.align.pairs.differences import (
    DifferenceKind,
    action_parts,
    difference_kind,
    edit_distance,
    mirrored,
    object_kind,
    shape,
    word_difference,
)

NAMES = st.sampled_from(["pot", "cup", "hall", "stove", "lamp"])
PLANS = st.lists(st.tuples(st.sampled_from(["go", "take"]), NAMES, NAMES).map(lambda a: f"({' '.join(a)})"))


@given(PLANS, PLANS, st.permutations(["pot", "cup", "hall", "stove", "lamp"]))
def test_a_renaming_of_objects_keeps_the_shape(first: list[str], second: list[str], order: list[str]) -> None:
    renamed = dict(zip(["pot", "cup", "hall", "stove", "lamp"], order, strict=True))

    def rename(plan: list[str]) -> list[str]:
        return [f"({action_parts(a)[0]} {' '.join(renamed[name] for name in action_parts(a)[1:])})" for a in plan]

    assert shape(first, second) == shape(rename(first), rename(second))


def test_other_actions_another_order_and_a_joined_object_change_the_shape() -> None:
    plan = ["(take cup)", "(take pot)"]
    assert shape(plan) == shape(["(take pot)", "(take cup)"])
    assert len({shape(plan), shape(["(take cup)", "(drop pot)"]), shape(["(take cup)", "(take cup)"])}) == 3
    assert shape(plan, plan) != shape(plan, ["(take pot)", "(take cup)"])
    assert shape(plan, []) != shape([], plan)


def test_the_kind_of_a_difference() -> None:
    plan = ["(go r hall)", "(take r cup)", "(wash r cup)"]
    assert difference_kind(plan, [plan[1], plan[0], plan[2]]) is DifferenceKind.ORDER
    assert difference_kind(plan, plan[:2]) is DifferenceKind.MISSING_STEP
    assert difference_kind(plan, [*plan, plan[0]]) is DifferenceKind.EXTRA_STEP
    assert difference_kind(plan, [*plan[:2], "(wash r pot)"]) is DifferenceKind.OTHER_STEPS


def test_a_word_difference_is_of_verbs_and_kinds_of_objects() -> None:
    difference = word_difference(["(go r a1)", "(turn-off r stove)"], ["(go r a2)"])
    assert dict(difference) == {"(turn-off": 1, "r": 1, "stove": 1}
    assert dict(mirrored(difference)) == {"(turn-off": -1, "r": -1, "stove": -1}
    assert mirrored(difference) == word_difference(["(go r a2)"], ["(go r a1)", "(turn-off r stove)"])
    assert word_difference(["(go r a)", "(take r b)"], ["(take r b)", "(go r a)"]) == ()
    names = ("mug_41", "mug2", "counter-socket", "42", "table_1.226")
    assert [object_kind(name) for name in names] == ["mug", "mug", "counter-socket", "42", "table"]


@given(PLANS, PLANS)
def test_an_edit_distance_is_a_distance(first: list[str], second: list[str]) -> None:
    difference = edit_distance(first, second)
    assert difference == edit_distance(second, first) and (difference == 0) is (first == second)
    assert abs(len(first) - len(second)) <= difference <= max(len(first), len(second))
