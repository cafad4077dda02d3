"""The same comparison through the command line, with reports in JSON."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for scripts of this folder

from case import Case, plan_text
from compare import RULE_CLASSES, WORLDS, Bound, ComparedFinding, Verdict, cautious_rules, differences, kernel_verdicts

from in_process import safecheck

NAMES = {finding_class.value for finding_class in RULE_CLASSES}
EXITS = {"SAFE": 0, "VALID": 0, "INVALID": 1, "UNSAFE": 1, "UNKNOWN": 3}


def command_differences(case: Case) -> list[str]:
    """Differences between the command's reports on the plans of a case and the kernel's judgements."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "domain.pddl").write_text(case.domain_text())
        (folder / "problem.pddl").write_text(case.problem_text())
        (folder / "rules.safe").write_text(case.safety_text())
        plans = [f"{number}.plan" for number in range(len(case.plans))]
        for file, plan in zip(plans, case.plans, strict=True):
            (folder / file).write_text(plan_text(plan))
        specification = ["--spec", "rules.safe"] if case.rules else ["--no-default-spec"]
        options = ["--domain", "domain.pddl", "--problem", "problem.pddl", *specification]
        options += ["--format", "json", "--max-findings", "1000000", "--replay", "never"]
        done = safecheck(*options, *plans, cwd=folder)
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    if [report["plan"] for report in reports] != plans:
        return [f"the command reports on {[report['plan'] for report in reports]}: {done.stderr[-500:]}"]
    cautious = cautious_rules(case)
    out = []
    codes = set()
    for report, kernel in zip(reports, kernel_verdicts(case), strict=True):
        out += [f"{report['plan']}: {line}" for line in differences(from_json(report), kernel, cautious)]
        code = 2 if kernel.ill_formed else EXITS[report["headline"]]
        codes.add(code)
        if report["exit_code"] != code:
            out.append(f"{report['plan']}: exit code: engine {report['exit_code']}, expected {code}")
    expected = next((code for code in (2, 1, 3) if code in codes), 0)
    if done.returncode != expected:
        out.append(f"exit code of the batch: {done.returncode}, expected {expected}")
    return out


def from_json(report: dict[str, Any]) -> Verdict:
    """A report in JSON as a verdict."""
    findings: dict[tuple[str, Bound], list[ComparedFinding]] = {}
    for entry in report["findings"]:
        if entry["class"] in NAMES:
            finding = ComparedFinding(entry["step"], True, entry["blame"], frozenset(entry["readings"]))
            findings.setdefault((entry["rule"], tuple(sorted(entry["binding"].items()))), []).append(finding)
    soft = {rule["name"] for rule in report["rules"] if rule["status"] == "preference violated"}
    return Verdict(
        report["headline"],
        WORLDS[report["executable"]],
        WORLDS[report["goal"]],
        WORLDS[report["safe"]],
        frozenset(finding["step"] for finding in report["findings"] if finding["class"] == "ill-formed"),
        frozenset(
            (reading, finding["step"])
            for finding in report["findings"]
            if finding["class"] == "inexecutable"
            for reading in finding["readings"]
        ),
        findings,
        frozenset(finding["rule"] for finding in report["findings"] if finding["class"] == "undecided") - soft,
        {rule["name"]: rule["instances"] for rule in report["rules"]},
        {name: count for name, count in report["preferences_violated"].items() if count},
    )
