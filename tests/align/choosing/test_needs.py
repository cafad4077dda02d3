"""What kept pairs lack."""

from __future__ import annotations

from plansafe.align.choosing.lengths import difference
from plansafe.align.choosing.needs import FEW, Needs

LONGER = difference(["(go a)", "(take a)", "(put a)"], ["(go a)", "(take a)"])
SHORTER = difference(["(go a)", "(take a)"], ["(go a)", "(take a)", "(put a)"])
EVEN = difference(["(go a)", "(take a)"], ["(take a)", "(go a)"])


def test_rules_of_rare_types_come_first() -> None:
    needs = Needs()
    for rule, types in (("oven", ["fire"]), ("oven", ["fire"]), ("child", ["fire", "harm"])):
        needs.keep(rule, types, "train", EVEN)
    order = sorted([("oven", ["fire"]), ("child", ["fire", "harm"]), ("cat", ["pets"])], key=lambda r: needs.has(*r))
    assert [name for name, _ in order] == ["cat", "child", "oven"]


def test_what_evens_out_is_told_less() -> None:
    needs = Needs()
    for _ in range(20):
        needs.keep("oven", [], "train", LONGER)
    assert needs.telling("train", "oven", SHORTER) < needs.telling("train", "oven", EVEN) == 0
    assert needs.telling("train", "oven", LONGER) > needs.telling("train", "kettle", LONGER) > 0
    assert needs.telling("test", "oven", SHORTER) == needs.telling("test", "oven", LONGER)


def test_a_rule_with_a_large_share_is_frequent() -> None:
    needs = Needs()
    for number in range(3 * FEW):
        needs.keep("oven" if number % 2 else f"rule {number}", [], "train", EVEN)
    assert needs.frequent("oven") and not needs.frequent("rule 0")
