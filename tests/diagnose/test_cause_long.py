"""Causes in long plans: the number of tested worlds grows with the relevant elements, not quadratically."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from time import monotonic

import pytest

from plansafe.app.session import diagnosis
from plansafe.app.session.model import Settings
from plansafe.app.session.repair import ExaminationOptions, examine
from plansafe.grammar.source import Source
from plansafe.verifier.diagnose.minimal_cause import _change_by_blocks  # type: ignore[attr-defined] # of its own file alone

Set = frozenset[tuple[int, int]]


def hits_all(sets: list[Set]) -> Callable[[Set], bool]:
    """Return a monotone test: whether a set has an element of each of some sets."""
    return lambda candidate: all(candidate & elements for elements in sets)


def test_removal_in_blocks_equals_removal_one_by_one() -> None:
    draw = Random(5)
    for _ in range(300):
        order = [(-1, number) for number in range(draw.randrange(1, 40))]
        enough = hits_all([frozenset(draw.sample(order, draw.randrange(1, len(order) + 1))) for _ in range(3)])
        full = frozenset(order)
        one_by_one = full
        for element in order:
            if enough(one_by_one - {element}):
                one_by_one -= {element}
        reduced = _change_by_blocks(
            full, order, lambda base, block, ok=enough: base - block if ok(base - block) else None, monotonic() + 60
        )
        assert reduced == (one_by_one, True)


def test_few_worlds_of_a_long_plan_are_tested() -> None:
    order = [(-1, number) for number in range(20_000)]
    calls = 0
    required = frozenset(order[::7_000])

    def remove(base: Set, block: Set) -> Set | None:
        nonlocal calls
        calls += 1
        return base - block if required <= base - block else None

    assert _change_by_blocks(frozenset(order), order, remove, monotonic() + 60) == (required, True)
    assert calls < 150


def test_an_expired_deadline_is_reported() -> None:
    order = [(-1, number) for number in range(5)]
    assert _change_by_blocks(frozenset(order), order, lambda base, block: base - block, monotonic() - 1) == (
        frozenset(order),
        False,
    )


def test_causes_end_with_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "_CAUSES_S", -1.0)
    with open("examples/dinner/stove-left-alone.plan", encoding="utf-8") as file:
        plan = Source("examples/dinner/stove-left-alone.plan", file.read())
    (examined,) = examine([plan], Settings(), ExaminationOptions(causes=True))
    assert examined.result.report.findings
    assert [reason.cause for reason in examined.causes] == [None] * len(examined.result.report.findings)
    assert "time limit for the causes of this plan was reached" in examined.causes[0].text
