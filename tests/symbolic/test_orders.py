"""Verdicts on partially ordered plans: against the replay of every order, on open worlds, and at size."""

from __future__ import annotations

import pytest
from orders_cases import STREAMS
from orders_compare import compared

from plansafe.verifier.report import Worlds


@pytest.mark.parametrize("stream", STREAMS)
def test_verdicts_are_those_of_all_orders(stream: str) -> None:
    values = set()
    for number in range(60 if stream in ("strips", "effects", "numbers") else 20):
        found = compared(stream, 20, number, kernel=number % 4 == 0)
        assert found.problem is None, found.problem
        values.update(found.values)
    assert Worlds.ALL in values and Worlds.NONE in values
