"""Measure the hazard library on pairs of everyday plans: a dangerous plan and a similar harmless plan.

usage: python -m bench.hazards.everyday [PAIRS] [--list] [--limit N]

PAIRS is a file of JSON lines (default: `everyday.jsonl`). Each line has the fields ``id``, ``world``, ``label``
(``dangerous`` or ``harmless``), ``danger`` (one sentence), ``scene`` and ``plan`` (texts in the formats of the world).
The authors of the plans had not read the rules. A plan counts as flagged if it violates a rule; violations that the
scene had before the plan, and steps that cannot be executed, do not count. ``--list`` prints each plan with its
findings.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.hazards.library import find_violations
from bench.hazards.safeagentbench import format_table

from plansafe.app.runs.rates import Rate
from plansafe.app.session.audit import audit
from plansafe.app.session.model import Settings
from plansafe.verifier.reporting.report import Worlds

PAIRS = Path(__file__).resolve().parent / "everyday.jsonl"


class EverydayPlan(NamedTuple):
    """A line of the file."""

    id: str
    world: str
    label: str
    danger: str
    scene: str
    plan: str


class AuditedPlan(NamedTuple):
    """A plan with its verdict: its violations as (rule, severity, message), and why it could not be audited."""

    plan: EverydayPlan
    headline: str
    executable: bool
    violations: tuple[tuple[str, str, str], ...] = ()
    error: str | None = None

    @property
    def flagged(self) -> bool:
        """Whether a rule is violated."""
        return bool(self.violations)


def read_plans(path: Path) -> list[EverydayPlan]:
    """Read the plans of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return [EverydayPlan(*[row[field] for field in EverydayPlan._fields]) for row in rows]


def audit_plans(plans: Iterable[EverydayPlan]) -> Iterator[AuditedPlan]:
    """Audit each plan in its scene with the rules of its world."""
    with tempfile.TemporaryDirectory() as folder:
        for number, plan in enumerate(plans):
            plan_file, scene_file = Path(folder, f"{number}.txt"), Path(folder, f"{number}.scene")
            plan_file.write_text(plan.plan, encoding="utf-8")
            scene_file.write_text(plan.scene, encoding="utf-8")
            settings = Settings(world=plan.world, scene=str(scene_file), max_findings=10_000, replay="never")
            (result,) = audit([str(plan_file)], settings)
            report = result.report
            if report.headline is None:
                messages = [diagnostic.message for diagnostic in report.diagnostics]
                yield AuditedPlan(plan, "unreadable", False, error="; ".join(messages[:3]))
                continue
            violations = [
                (rule, finding.severity or "high", finding.message) for rule, finding in find_violations(report)
            ]
            yield AuditedPlan(plan, report.headline.value, report.executable is Worlds.ALL, tuple(violations))


def summarize(audited: list[AuditedPlan]) -> list[str]:
    """Return the table of recall and precision, for each world and for all."""
    rows = []
    for world in (*sorted({entry.plan.world for entry in audited}), "all"):
        entries = [entry for entry in audited if world in (entry.plan.world, "all")]
        dangerous = [entry for entry in entries if entry.plan.label == "dangerous"]
        flagged = [entry for entry in entries if entry.flagged]
        true_positives = [entry for entry in flagged if entry.plan.label == "dangerous"]
        executable = [entry for entry in entries if entry.executable]
        rows.append(
            (
                world,
                len(entries),
                len(executable),
                f"{len(true_positives)} of {len(dangerous)}: {Rate(len(true_positives), len(dangerous))}",
                f"{len(true_positives)} of {len(flagged)}: {Rate(len(true_positives), len(flagged))}",
            )
        )
    return format_table(("world", "plans", "executable", "recall", "precision"), rows)


def list_findings(audited: list[AuditedPlan]) -> list[str]:
    """Return a line for each plan, and one for each of its violations."""
    lines = []
    for entry in audited:
        is_right = entry.flagged == (entry.plan.label == "dangerous")
        lines.append(f"{'  ' if is_right else '! '}{entry.plan.id} ({entry.plan.label}) {entry.headline}")
        lines += [f"      danger: {entry.plan.danger}"] if entry.plan.label == "dangerous" else []
        lines += [f"      {rule} ({severity}): {message}" for rule, severity, message in entry.violations]
        lines += [f"      not audited: {entry.error}"] if entry.error else []
    return lines


def main() -> int:
    """Audit the plans and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pairs", nargs="?", type=Path, default=PAIRS)
    parser.add_argument("--list", action="store_true", help="print each plan with its findings")
    parser.add_argument("--limit", type=int, help="audit only the first N plans")
    options = parser.parse_args()
    audited = list(audit_plans(read_plans(options.pairs)[: options.limit]))
    print("\n".join([*(list_findings(audited) if options.list else []), *summarize(audited)]))
    return 1 if any([entry.error for entry in audited]) else 0


if __name__ == "__main__":
    sys.exit(main())
