"""The shipped examples get the verdicts and findings in ``examples/expected.json``, and so says their README."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from plansafe.app.session.audit import audit
from plansafe.app.session.model import Settings
from quick import quick_every

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXPECTED: dict[str, dict[str, Any]] = json.loads((EXAMPLES / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", quick_every(6, EXPECTED))
def test_an_example_has_the_expected_verdict_and_findings(name: str) -> None:
    expected = EXPECTED[name]
    (result,) = audit([str(EXAMPLES / name)], Settings())
    report = result.report
    assert report.headline is not None, report.diagnostics
    assert report.headline.value == expected["headline"]
    assert report.exit_code == expected["exit"]

    violations = [f for f in report.findings if f.rule is not None and "halt" in f.readings]
    assert {f.rule for f in violations} == {f["rule"] for f in expected["findings"]}
    for finding in expected["findings"]:
        of_rule = [f for f in violations if f.rule == finding["rule"]]
        assert {f.blame.value if f.blame else None for f in of_rule} == {finding["blame"]}
        if "step" in finding:
            assert {f.step for f in of_rule} == {finding["step"]}

    if "worlds" in expected:
        assert report.worlds is not None
        assert report.safe.value == expected["worlds"]
        for finding in expected["findings"]:
            of_rule = [f for f in violations if f.rule == finding["rule"]]
            assert {f.worlds.value if f.worlds else None for f in of_rule} == {finding["worlds"]}
    else:
        assert report.worlds is None

    failures = [f for f in report.findings if f.finding_class.value in ("ill-formed", "inexecutable")]
    assert min((f.step for f in failures), default=None) == expected.get("failed_step")


def test_every_example_has_an_expectation() -> None:
    assert set(EXPECTED) == {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.plan")}


def test_the_table_of_the_readme_has_the_expected_verdicts_and_rules() -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `")]
    table = {row[0].strip(" `"): (row[1].split(",")[0].strip(), set(re.findall(r"`([^`]+)`", row[2]))) for row in rows}
    assert table == {name: (e["headline"], {f["rule"] for f in e["findings"]}) for name, e in EXPECTED.items()}


def test_a_specification_can_replace_and_disable_shipped_rules() -> None:
    plans = [str(EXAMPLES / name) for name in ("breakfast/wet-hands-open-fridge.plan", "visit/heater-left-on.plan")]
    reports = [r.report for r in audit(plans, Settings(specs=(str(EXAMPLES / "adults-only.safe"),)))]
    assert [{f.rule for f in report.findings} for report in reports] == [
        {"dry-hands-at-the-plug", "fridge-closed-again"},
        {"heat-off-at-the-end"},
    ]
    (replaced,) = [f for f in reports[0].findings if f.rule == "fridge-closed-again"]
    assert replaced.severity == "low"
    assert "cleaner-within-reach" not in {count.name for count in reports[1].rules}
