"""What counts in a row, and rates with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, NamedTuple

_Z = 1.959963984540054
"""The quantile 0.975 of the standard normal distribution."""


class Rate(NamedTuple):
    """``hits`` of ``of``, with the 95 % interval of Wilson (1927), which is right for rare things, too."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """The share; ``None`` of nothing."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """The lower and the upper bound; all of 0 to 1 of nothing."""
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
"""The headline of a row whose plan could not be read or judged; its diagnostics say why."""


def is_checked(row: Mapping[str, Any]) -> bool:
    """Whether the plan of a row was judged."""
    return row["headline"] not in (None, NOT_CHECKED)


READINGS = ("halt", "skip", "force", "any")
"""How a plan is read past a step that cannot be taken; ``any`` is that one of them finds it."""


def is_finding(finding: Mapping[str, Any], reading: str = "halt") -> bool:
    """Whether a finding says that a rule is broken: where the plan stops at its first failed step, or as it is read."""
    return bool(finding["rule"] and finding["class"] != "undecided" and seen_in(finding, reading))


def seen_in(finding: Mapping[str, Any], reading: str) -> bool:
    """Whether a finding is one of a reading."""
    return reading == "any" or reading in finding["readings"]


def brought_about(finding: Mapping[str, Any]) -> bool:
    """Whether the plan itself introduced or worsened what was found; with no blame, it is the plan's."""
    return bool(finding["blame"] != "pre-existing")
