"""Plans in continuous time get the verdicts and messages of the cases in continuous.md."""

from __future__ import annotations

import pytest

from case_files import TESTS, Case, read_cases
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options

CASES = read_cases(TESTS / "verifier" / "continuous.md")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_continuous(case: Case) -> None:
    specs = [Source("rule", f"(define (safety s) {case.text('rule')})")] if "rule" in case.files else []
    options = Options(replay="always")
    checker = Checker(case.source("domain.pddl"), case.source("problem.pddl"), specs, options)
    report = checker.check(case.source("plan"))
    headline = "none" if report.headline is None else report.headline.value
    findings = [f"{finding.code} {finding.message}" for finding in report.findings]
    messages = [*findings, *[f"{diagnostic.code} {diagnostic.message}" for diagnostic in report.diagnostics]]
    assert headline == case.lines[0], messages
    for expected in case.lines[1:]:
        code, part = expected.split(" ", 1)
        assert any([message.startswith(code) and part in message for message in messages]), messages
    assert len(findings) <= len(case.lines[1:]), messages
