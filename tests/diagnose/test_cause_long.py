"""Causes in long plans: what is asked grows with what matters, and not with the square of the plan."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from time import monotonic

import pytest

from plansafe.app.session import diagnosis
from plansafe.app.session.model import Settings
from plansafe.app.session.repair import ExaminationOptions, examine
from plansafe.grammar.source import Source
from plansafe.verifier.diagnose.minimal_cause import _gallop  # type: ignore[attr-defined] # of its own file alone

Set = frozenset[tuple[int, int]]


def monotone(needed: list[Set]) -> Callable[[Set], bool]:
    """Whether a set has something of each of some sets: what is larger has, too."""
    return lambda kept: all(kept & one for one in needed)


def test_many_at_once_come_to_what_one_by_one_comes_to() -> None:
    draw = Random(5)
    for _ in range(300):
        order = [(-1, number) for number in range(draw.randrange(1, 40))]
        enough = monotone([frozenset(draw.sample(order, draw.randrange(1, len(order) + 1))) for _ in range(3)])
        every = frozenset(order)
        one_by_one = every
        for element in order:
            if enough(one_by_one - {element}):
                one_by_one -= {element}
        found, whole = _gallop(
            every, order, lambda now, some, ok=enough: now - some if ok(now - some) else None, monotonic() + 60
        )
        assert (found, whole) == (one_by_one, True)


def test_few_questions_are_asked_of_a_long_plan() -> None:
    order = [(-1, number) for number in range(20_000)]
    asked = 0
    wanted = frozenset(order[::7_000])

    def shrunk(now: Set, some: Set) -> Set | None:
        nonlocal asked
        asked += 1
        return now - some if wanted <= now - some else None

    assert _gallop(frozenset(order), order, shrunk, monotonic() + 60) == (wanted, True)
    assert asked < 150


def test_where_time_is_up_it_is_said() -> None:
    order = [(-1, number) for number in range(5)]
    assert _gallop(frozenset(order), order, lambda now, some: now - some, monotonic() - 1) == (
        frozenset(order),
        False,
    )


def test_causes_end_with_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "_CAUSES_S", -1.0)
    with open("examples/dinner/stove-left-alone.plan", encoding="utf-8") as file:
        plan = Source("examples/dinner/stove-left-alone.plan", file.read())
    (done,) = examine([plan], Settings(), ExaminationOptions(causes=True))
    assert done.result.report.findings
    assert [one.cause for one in done.causes] == [None] * len(done.result.report.findings)
    assert "time limit for the causes of this plan was reached" in done.causes[0].text
