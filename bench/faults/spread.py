"""How measured values are summed up."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum of at least one value."""
    found = sorted(values)
    return {
        "median": round(statistics.median(found), 3),
        "95 %": round(found[min(len(found) - 1, int(0.95 * len(found)))], 3),
        "max": round(found[-1], 3),
    }
