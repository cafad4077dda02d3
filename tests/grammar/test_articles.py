"""Messages say "an object" and "a unit": the article fits the sound of the noun, also in quotes."""

from __future__ import annotations

import pytest

from plansafe.grammar.diagnostics import with_article


@pytest.mark.parametrize(
    "noun",
    ["object", "`object`", "action", "obligation rule", "oven", "egg", "umbrella", "urn", "`item` or `room`", "Agent"],
)
def test_an(noun: str) -> None:
    assert with_article(noun) == f"an {noun}"


@pytest.mark.parametrize(
    "noun", ["room", "`stove`", "process rule", "unit", "utensil", "user", "one-way street", "euro", "hob", "", "1x"]
)
def test_a(noun: str) -> None:
    assert with_article(noun) == f"a {noun}"
