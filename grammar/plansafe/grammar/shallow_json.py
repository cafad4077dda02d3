"""JSON that others wrote: read to a bounded depth."""

from __future__ import annotations

import json
import sys
from typing import Any

_DEEPEST = 500


def loads(text: str | bytes, **hooks: Any) -> Any:
    """What ``json.loads`` reads, or its ``ValueError``; ``RecursionError`` where it is nested too deeply.

    Whoever compiles raises Python's limit beyond what the stack of json's own reader stands: it would end the process.
    """
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(min(_DEEPEST, limit))
        return json.loads(text, **hooks)
    finally:
        sys.setrecursionlimit(limit)
