"""What `make test` runs of many cases: every n-th of them; `make test-all` runs the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def every(number: int, values: Iterable[Any], one: bool = False) -> list[Any]:
    """Parameters of a test of which every n-th is quick, the first among them, and the others are marked slow.

    A plain tuple is the values of several arguments, or with ``one`` the value of a single argument.
    """
    return [value if place % number == 0 else _slow(value, one) for place, value in enumerate(values)]


def _slow(value: Any, one: bool) -> Any:
    if hasattr(value, "marks"):  # a parameter set
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.slow], id=value.id)
    values = value if type(value) is tuple and not one else (value,)
    return pytest.param(*values, marks=pytest.mark.slow)
