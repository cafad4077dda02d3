"""What one request may cost."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """What one request may cost: seconds in all, MiB of memory; ``model`` writes rules where no drafts are given."""

    seconds: float = 30.0
    memory: int = 2048
    model: str | None = None
