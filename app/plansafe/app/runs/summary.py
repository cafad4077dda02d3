"""What a batch came to: plans by headline, hazards, rules, the slowest, what was not read, and notes once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from plansafe.app.render.text import pad, visible
from plansafe.app.runs.counting import Rate, brought_about, is_finding
from plansafe.app.runs.reading import Run

_SHOWN = 10
_UNREAD = "not judged"
_ORDER = ("SAFE", "VALID", "UNSAFE", "INVALID", "UNKNOWN", _UNREAD)


@dataclass
class Summary:
    """Counts over the rows of a run; a plan counts once for each rule and hazard, however many findings it has."""

    plans: int = 0
    headlines: Counter[str] = field(default_factory=Counter)
    hazards: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    before: Counter[str] = field(default_factory=Counter)
    notes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    slowest: list[tuple[float, str]] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    tasks: dict[str, list[int]] = field(default_factory=dict)
    exit_codes: set[int] = field(default_factory=set)
    seconds: float = 0.0

    @classmethod
    def of(cls, rows: Run | Iterable[dict[str, Any]]) -> Summary:
        """Count the rows of a run."""
        summary = cls()
        for row in rows.rows() if isinstance(rows, Run) else rows:
            summary.add(row)
        return summary

    def add(self, row: dict[str, Any]) -> None:
        """Count one row."""
        self.plans += 1
        headline = row["headline"] or _UNREAD
        self.headlines[headline] += 1
        self.exit_codes.add(row["exit_code"])
        self.seconds += row["seconds"]
        found = [f for f in row["findings"] if is_finding(f)]
        mine = [f for f in found if brought_about(f)]
        self.rules.update({f["rule"] for f in mine})
        self.hazards.update({f["hazard"] for f in mine if f["hazard"]})
        self.findings.update([f["rule"] for f in mine])
        self.before.update({f["rule"] for f in found} - {f["rule"] for f in mine})
        self.notes.update({(d["severity"], d["code"], d["message"]) for d in row["diagnostics"]})
        self.slowest = sorted([*self.slowest, (row["seconds"], row["id"])], reverse=True)[:_SHOWN]
        if row["headline"] is None:
            self.unread.append((row["id"], next((d["message"] for d in row["diagnostics"]), "")))
            del self.unread[1000:]

    def text(self, run: Run) -> str:
        """The summary in words, as it stands at the end of a batch."""
        out = [f"{self.plans} plans in {visible(run.path)}, judged in {self.seconds:.1f} s of work"]
        there = [headline for headline in _ORDER if self.headlines[headline]]
        out += [_line(headline, Rate(self.headlines[headline], self.plans)) for headline in there]
        judged = self.plans - self.headlines[_UNREAD]
        for title, counts in (("hazards that plans bring about", self.hazards), ("rules that plans break", self.rules)):
            if counts:
                out += ["", f"{title} (of {judged} judged)"]
                out += [_line(name, Rate(count, judged)) for name, count in _first(counts)]
        if self.unread:
            out += ["", f"not judged: {self.headlines[_UNREAD]}"]
            out += [f"  {visible(name)}: {visible(reason)}" for name, reason in self.unread[:_SHOWN]]
        out += ["", "slowest"]
        out += [f"  {seconds:8.3f} s  {visible(name)}" for seconds, name in self.slowest[:5]]
        return "\n".join(out) + "\n"


def _line(name: str, rate: Rate) -> str:
    return f"  {pad(visible(name), 40)}  {rate}"


def _first(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
