"""The conformance cases: VALID is exit code 0, INVALID 1, REJECT 2."""

from __future__ import annotations

import pytest

from case_files import Case, conformance_cases
from plansafe.verifier.api import Checker

CASES = conformance_cases().values()
CODES = {"VALID": 0, "INVALID": 1, "REJECT": 2}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_conformance(case: Case) -> None:
    checker = Checker(case.source("domain.pddl"), case.source("problem.pddl"))
    report = checker.check(case.source("plan"))
    assert report.exit_code == CODES[case.lines[0]]


def test_there_are_fifty_cases() -> None:
    assert len(CASES) == 50
