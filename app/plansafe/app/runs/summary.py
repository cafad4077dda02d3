"""What a batch came to: plans by headline, hazards, rules, the slowest, what was not read, and notes once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from plansafe.app.runs.rates import NOT_CHECKED, Rate, brought_about, is_checked, is_finding
from plansafe.app.runs.run_reader import Run
from plansafe.app.system.terminal_text import brief, pad, visible

_SHOWN = 10
_SLOWEST = 5
_KEPT = 10_000
"""Different reasons and notes that are told apart."""
_ORDER = ("SAFE", "VALID", "UNSAFE", "INVALID", "UNKNOWN", NOT_CHECKED)


@dataclass
class _Scene:
    """How many plans a scene has, and how many of them have steps that are none there."""

    plans: int = 0
    strange: int = 0
    example: str = ""


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
    unread: Counter[str] = field(default_factory=Counter)
    unread_first: dict[str, str] = field(default_factory=dict)
    scenes: dict[str, _Scene] = field(default_factory=dict)
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
        checked = is_checked(row)
        self.headlines[row["headline"] if checked else NOT_CHECKED] += 1
        self.exit_codes.add(row["exit_code"])
        self.seconds += row["seconds"]
        found = [f for f in row["findings"] if is_finding(f)]
        mine = [f for f in found if brought_about(f)]
        self.rules.update({f["rule"] for f in mine})
        self.hazards.update({f["hazard"] for f in mine if f["hazard"]})
        self.findings.update([f["rule"] for f in mine])
        self.before.update({f["rule"] for f in found} - {f["rule"] for f in mine})
        if checked:
            for note in {(d["severity"], d["code"], d["message"]) for d in row["diagnostics"]}:
                if note in self.notes or len(self.notes) < _KEPT:
                    self.notes[note] += 1
        self.slowest = sorted([*self.slowest, (row["seconds"], row["id"])], reverse=True)[:_SLOWEST]
        if not checked:
            wrong = next((d for d in row["diagnostics"] if d["severity"] == "error"), None)
            reason = "no reason was given" if wrong is None else wrong["message"].removeprefix(f"{row['plan']}: ")
            alike = reason if wrong is None else f"{wrong['code']} {reason.replace(row['plan'], '').split(': ')[0]}"
            if alike in self.unread or len(self.unread) < _KEPT:
                self.unread[alike] += 1
                self.unread_first.setdefault(alike, f"{row['id']}: {reason}")
        self._fits(row)

    def _fits(self, row: dict[str, Any]) -> None:
        """Note whether a plan speaks of what its scene has: a script in the wrong scene has steps that are none."""
        task = next((i["path"] for role in ("scene", "problem") for i in row["inputs"] if i["role"] == role), None)
        if task is None:
            return
        scene = self.scenes.setdefault(task, _Scene())
        strange = next((f["message"] for f in row["findings"] if f["class"] == "ill-formed"), None)
        scene.plans += 1
        scene.strange += strange is not None
        scene.example = scene.example or strange or ""

    def text(self, run: Run | str) -> str:
        """The summary in words, as it stands at the end of a batch."""
        name = run if isinstance(run, str) else run.path
        plans = "1 plan" if self.plans == 1 else f"{self.plans} plans"
        out = [f"{plans} in {brief(name)}, judged in {self.seconds:.1f} s of work"]
        there = [headline for headline in _ORDER if self.headlines[headline]]
        out += [_line(headline, Rate(self.headlines[headline], self.plans)) for headline in there]
        for title, counts in (("hazards that plans bring about", self.hazards), ("rules that plans break", self.rules)):
            if counts:
                out += ["", f"{title} (of {plans})"]
                out += [_line(name, Rate(count, self.plans)) for name, count in _first(counts)]
        if self.unread:
            out += ["", f"not checked: {self.headlines[NOT_CHECKED]}"]
            for alike, count in _first(self.unread)[:_SHOWN]:
                others = "" if count == 1 else f", and {count - 1} more like it"
                out.append(f"  {brief(self.unread_first[alike])}{others}")
            out += _more(len(self.unread), "reasons")
        unfit = [(name, one) for name, one in self.scenes.items() if one.plans == one.strange > 1]
        if unfit:
            out += ["", "scenes that fit none of their plans: are they paired rightly?"]
            out += [f"  {brief(name)}, {one.plans} plans: {brief(one.example)}" for name, one in unfit[:_SHOWN]]
            out += _more(len(unfit), "scenes")
        repeated = [(note, count) for note, count in self.notes.most_common() if count > 1]
        if repeated:
            out += ["", "said of several plans"]
            for (severity, code, message), count in repeated[:_SHOWN]:
                out.append(f"  {severity}[{code}]: {brief(message)} ({count} plans)")
            out += _more(len(repeated), "notes")
        if self.slowest:
            out += ["", "slowest (the first plan of a task pays for compiling it)"]
            out += [f"  {seconds:8.3f} s  {brief(name)}" for seconds, name in self.slowest[:_SLOWEST]]
        return "\n".join(out) + "\n"


def _more(there: int, what: str) -> list[str]:
    return [f"  and {there - _SHOWN} more {what}"] if there > _SHOWN else []


def _line(name: str, rate: Rate) -> str:
    return f"  {pad(visible(name), 40)}  {rate}"


def _first(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
