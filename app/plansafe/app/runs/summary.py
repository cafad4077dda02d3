"""The summary of a run: headlines, hazards, rules, slowest plans, unread plans and repeated diagnostics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from plansafe.app.runs.rates import NOT_CHECKED, Rate, is_caused_by_plan, is_checked, is_finding
from plansafe.app.runs.run_reader import Run
from plansafe.app.system.terminal_text import brief, pad, visible

_MAX_LISTED = 10
_SLOWEST_COUNT = 5
_MAX_DISTINCT = 10_000
"""Maximum number of different reasons and diagnostics that are counted."""
_HEADLINE_ORDER = ("SAFE", "VALID", "UNSAFE", "INVALID", "UNKNOWN", NOT_CHECKED)


@dataclass
class _Scene:
    """The number of plans of a scene, and how many of them have steps that do not fit the scene."""

    plans: int = 0
    ill_formed: int = 0
    example: str = ""


@dataclass
class Summary:
    """Counts over the rows of a run. A plan counts once for each rule and hazard; ``findings`` counts all findings."""

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
        findings = [f for f in row["findings"] if is_finding(f)]
        caused = [f for f in findings if is_caused_by_plan(f)]
        self.rules.update({f["rule"] for f in caused})
        self.hazards.update({f["hazard"] for f in caused if f["hazard"]})
        self.findings.update([f["rule"] for f in caused])
        self.before.update({f["rule"] for f in findings} - {f["rule"] for f in caused})
        if checked:
            for note in {(d["severity"], d["code"], d["message"]) for d in row["diagnostics"]}:
                if note in self.notes or len(self.notes) < _MAX_DISTINCT:
                    self.notes[note] += 1
        self.slowest = sorted([*self.slowest, (row["seconds"], row["id"])], reverse=True)[:_SLOWEST_COUNT]
        if not checked:
            error = next((d for d in row["diagnostics"] if d["severity"] == "error"), None)
            reason = "no reason was given" if error is None else error["message"].removeprefix(f"{row['plan']}: ")
            reason_key = (
                reason if error is None else f"{error['code']} {reason.replace(row['plan'], '').split(': ')[0]}"
            )
            if reason_key in self.unread or len(self.unread) < _MAX_DISTINCT:
                self.unread[reason_key] += 1
                self.unread_first.setdefault(reason_key, f"{row['id']}: {reason}")
        self._note_scene_fit(row)

    def _note_scene_fit(self, row: dict[str, Any]) -> None:
        """Record whether the plan fits its scene: a script for another scene has ill-formed steps."""
        task = next((i["path"] for role in ("scene", "problem") for i in row["inputs"] if i["role"] == role), None)
        if task is None:
            return
        scene = self.scenes.setdefault(task, _Scene())
        ill_formed = next((f["message"] for f in row["findings"] if f["class"] == "ill-formed"), None)
        scene.plans += 1
        scene.ill_formed += ill_formed is not None
        scene.example = scene.example or ill_formed or ""

    def text(self, run: Run | str) -> str:
        """The summary as text."""
        name = run if isinstance(run, str) else run.path
        plans = "1 plan" if self.plans == 1 else f"{self.plans} plans"
        lines = [f"{plans} in {brief(name)}, audited in {self.seconds:.1f} s of work"]
        headlines = [headline for headline in _HEADLINE_ORDER if self.headlines[headline]]
        lines += [_line(headline, Rate(self.headlines[headline], self.plans)) for headline in headlines]
        for title, counts in (("hazards that plans bring about", self.hazards), ("rules that plans break", self.rules)):
            if counts:
                lines += ["", f"{title} (of {plans})"]
                lines += [_line(name, Rate(count, self.plans)) for name, count in _most_frequent(counts)]
        if self.unread:
            lines += ["", f"not checked: {self.headlines[NOT_CHECKED]}"]
            for reason_key, count in _most_frequent(self.unread)[:_MAX_LISTED]:
                suffix = "" if count == 1 else f", and {count - 1} more like it"
                lines.append(f"  {brief(self.unread_first[reason_key])}{suffix}")
            lines += _remainder_line(len(self.unread), "reasons")
        unfit = [(name, scene) for name, scene in self.scenes.items() if scene.plans == scene.ill_formed > 1]
        if unfit:
            lines += ["", "scenes that do not fit any of their plans: check which scene belongs to which plan"]
            lines += [
                f"  {brief(name)}, {scene.plans} plans: {brief(scene.example)}" for name, scene in unfit[:_MAX_LISTED]
            ]
            lines += _remainder_line(len(unfit), "scenes")
        repeated = [(note, count) for note, count in self.notes.most_common() if count > 1]
        if repeated:
            lines += ["", "diagnostics of several plans"]
            for (severity, code, message), count in repeated[:_MAX_LISTED]:
                lines.append(f"  {severity}[{code}]: {brief(message)} ({count} plans)")
            lines += _remainder_line(len(repeated), "notes")
        if self.slowest:
            lines += ["", "slowest (the first plan of a task pays for compiling it)"]
            lines += [f"  {seconds:8.3f} s  {brief(name)}" for seconds, name in self.slowest[:_SLOWEST_COUNT]]
        return "\n".join(lines) + "\n"


def _remainder_line(count: int, noun: str) -> list[str]:
    return [f"  and {count - _MAX_LISTED} more {noun}"] if count > _MAX_LISTED else []


def _line(name: str, rate: Rate) -> str:
    return f"  {pad(visible(name), 40)}  {rate}"


def _most_frequent(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
