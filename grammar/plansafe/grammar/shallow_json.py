"""Read untrusted JSON to a bounded depth."""

from __future__ import annotations

import json
import sys
from typing import Any

_MAX_RECURSION = 500


def loads(text: str | bytes, **hooks: Any) -> Any:
    """Like ``json.loads``, but raises ``RecursionError`` for deep nesting even if Python's limit is raised.

    Generated code needs a high recursion limit, with which ``json.loads`` could overflow the stack of the process.
    """
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(min(_MAX_RECURSION, limit))
        return json.loads(text, **hooks)
    finally:
        sys.setrecursionlimit(limit)
