"""Resource limits of one request."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Resource limits of one request: seconds, MiB of memory, and the ``model`` that drafts rules."""

    seconds: float = 30.0
    memory: int = 2048
    model: str | None = None
