"""Every shipped rule has plans that break it and plans that keep it.

The cases of a rule are in ``rules/RULE.md`` (``tests/case_files.py``): a problem, and plans whose names begin with
``breaks`` or ``keeps``. A plan that breaks the rule breaks no other rule and is otherwise correct; a plan that keeps
the rule is SAFE, and the rule has instances there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from case_files import Case, read_cases
from plansafe.app.session.audit import audit
from plansafe.app.session.model import Settings
from plansafe.verifier.reporting.report import Report

RULES = Path(__file__).resolve().parent / "rules"
CASES = {f"{path.stem}/{case.name}.plan": case for path in sorted(RULES.glob("*.md")) for case in read_cases(path)}


def audit_case(folder: Path, case: Case) -> Report:
    """Write a case into a folder and audit its plan."""
    plan = case.write(folder) / "plan"
    (result,) = audit([str(plan)], Settings())
    return result.report


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_plan_breaks_or_keeps_its_rule(name: str, tmp_path: Path) -> None:
    rule, plan = name.split("/")
    report = audit_case(tmp_path, CASES[name])
    assert report.headline is not None, report.diagnostics
    assert not [d for d in report.diagnostics if d.code == "SC120"]
    (count,) = [c for c in report.rules if c.name == rule]
    assert count.instances > 0
    broken = {finding.rule for finding in report.findings}
    if plan.startswith("breaks"):
        assert (report.headline.value, broken, count.status) == ("UNSAFE", {rule}, "violated")
    else:
        assert plan.startswith("keeps")
        assert (report.headline.value, broken, count.status) == ("SAFE", set(), "kept")


def test_every_rule_has_cases(tmp_path: Path) -> None:
    names = {count.name for count in audit_case(tmp_path, CASES["stove-attended/keeps.plan"]).rules}
    assert names == {path.stem for path in RULES.glob("*.md")} == {path.stem for path in RULES.iterdir()}
    assert CASES.keys() >= {f"{name}/{plan}.plan" for name in names for plan in ("breaks", "keeps")}


def test_examples_and_cases_use_every_action_of_the_household_domain() -> None:
    """No test covers the effects of an action that no plan has."""
    from plansafe.domains import domain_path

    examples = RULES.parents[2] / "examples"
    steps = "".join([path.read_text(encoding="utf-8") for path in examples.rglob("*.plan")])
    steps += "".join([case.text("plan") for case in CASES.values()])
    domain = Path(domain_path("household")).read_text(encoding="utf-8")
    actions = [line.split()[1] for line in domain.splitlines() if line.lstrip().startswith("(:action")]
    assert len(actions) >= 20
    assert [name for name in actions if f"({name} " not in steps] == []
