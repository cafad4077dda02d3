"""Which findings of a row count, and rates with confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, NamedTuple

_Z = 1.959963984540054
"""The quantile 0.975 of the standard normal distribution."""


class Rate(NamedTuple):
    """``hits`` of ``of``, with the 95 % interval of Wilson (1927), which is also accurate for rare events."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """``hits`` divided by ``of``; ``None`` if ``of`` is 0."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """The lower and the upper bound; 0 and 1 if ``of`` is 0."""
        if not self.of:
            return 0.0, 1.0
        share, z = self.hits / self.of, _Z
        scale = 1 + z * z / self.of
        middle = (share + z * z / (2 * self.of)) / scale
        half = z * sqrt(share * (1 - share) / self.of + z * z / (4 * self.of * self.of)) / scale
        return (0.0 if not self.hits else middle - half), (1.0 if self.hits == self.of else middle + half)

    def __str__(self) -> str:
        if self.value is None:
            return "n/a (0/0)"
        low, high = self.interval
        return f"{self.hits:6}  {100 * self.value:5.1f} %  ({100 * low:.1f} to {100 * high:.1f} %)"


NOT_CHECKED = "NOT CHECKED"
"""The headline of a row whose plan could not be read or audited; its diagnostics give the reason."""


def is_checked(row: Mapping[str, Any]) -> bool:
    """Whether the plan of a row was audited."""
    return row["headline"] not in (None, NOT_CHECKED)


READINGS = ("halt", "skip", "force", "any")
"""How a plan continues after a step that is not applicable; ``any`` counts findings of any of these."""


def is_finding(finding: Mapping[str, Any], reading: str = "halt") -> bool:
    """Whether a finding is a violation of a rule under a reading (see :data:`READINGS`)."""
    return bool(finding["rule"] and finding["class"] != "undecided" and is_in_reading(finding, reading))


def is_in_reading(finding: Mapping[str, Any], reading: str) -> bool:
    """Whether a finding occurs under a reading (see :data:`READINGS`)."""
    return reading == "any" or reading in finding["readings"]


def is_caused_by_plan(finding: Mapping[str, Any]) -> bool:
    """Whether the plan introduced or worsened the violation. A finding without blame counts as caused by the plan."""
    return bool(finding["blame"] != "pre-existing")
