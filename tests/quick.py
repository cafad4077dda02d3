"""Mark most of many cases slow: `make test` runs every n-th case, `make test-all` runs all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def quick_every(number: int, values: Iterable[Any], single: bool = False) -> list[Any]:
    """Return the parameters of a test with all marked slow except every n-th; the first is not slow.

    A plain tuple holds the values of several arguments, or with ``single`` the value of a single argument.
    """
    return [value if place % number == 0 else _mark_slow(value, single) for place, value in enumerate(values)]


def _mark_slow(value: Any, single: bool) -> Any:
    if hasattr(value, "marks"):  # a pytest.param
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.slow], id=value.id)
    values = value if type(value) is tuple and not single else (value,)
    return pytest.param(*values, marks=pytest.mark.slow)
