"""Test the split of families."""

from __future__ import annotations

from plansafe.align.pairs.splits import SIBLINGS, split_of
from plansafe.llm.instances.families import FAMILIES


def test_a_quarter_of_the_drawn_families_is_for_testing() -> None:
    assert [name for name in FAMILIES if split_of(name) == "test"] == ["tea", "salad", "wash-up", "plants"]


def test_siblings_are_on_one_side() -> None:
    for name, sibling in SIBLINGS.items():
        assert sibling not in SIBLINGS
        assert split_of(name) == split_of(sibling)
    assert split_of("wash-clothes") == split_of("laundry")


def test_any_name_has_a_side() -> None:
    sides = [split_of(f"family-{number}") for number in range(4000)]
    assert 0.22 < sides.count("test") / len(sides) < 0.28
