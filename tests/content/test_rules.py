"""Every shipped rule has plans that break it and plans that keep it.

They are files: ``rules/RULE/{problem.pddl,breaks*.plan,keeps*.plan}``, and a new case is a new file. A plan that breaks
a rule breaks that one alone and is otherwise in order; one that keeps it is SAFE, and the rule applied to it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from plansafe.app.session.audit import audit
from plansafe.app.session.model import Settings

RULES = Path(__file__).resolve().parent / "rules"
PLANS = sorted(path.relative_to(RULES).as_posix() for path in RULES.rglob("*.plan"))


@pytest.mark.parametrize("name", PLANS)
def test_rule(name: str) -> None:
    rule, plan = name.split("/")
    (result,) = audit([str(RULES / name)], Settings())
    report = result.report
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


def test_every_rule_has_cases() -> None:
    (result,) = audit([str(RULES / "stove-attended" / "keeps.plan")], Settings())
    assert {count.name for count in result.report.rules} == {path.name for path in RULES.iterdir()}
    for folder in RULES.iterdir():
        assert (folder / "breaks.plan").is_file()
        assert (folder / "keeps.plan").is_file()


def test_the_data_shows_every_action() -> None:
    """An action that no plan takes is one whose effects nothing tests."""
    from plansafe.domains import domain_path

    root = RULES.parents[2]
    steps = "".join(
        path.read_text(encoding="utf-8") for top in (RULES, root / "examples") for path in top.rglob("*.plan")
    )
    domain = Path(domain_path("household")).read_text(encoding="utf-8")
    actions = [line.split()[1] for line in domain.splitlines() if line.lstrip().startswith("(:action")]
    assert len(actions) >= 20
    assert [name for name in actions if f"({name} " not in steps] == []
