"""The conformance cases: VALID is exit code 0, INVALID 1, REJECT 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker

CASES = sorted((Path(__file__).parents[1] / "conformance").iterdir())
CODES = {"VALID": 0, "INVALID": 1, "REJECT": 2}
UNSUPPORTED = ("s47_event_pddlplus", "s48_event_pddlplus_ok")


def read(path: Path) -> Source:
    return Source.from_bytes(path.name, path.read_bytes())


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_conformance(case: Path) -> None:
    checker = Checker(read(case / "domain.pddl"), read(case / "problem.pddl"))
    report = checker.check(read(case / "plan"))
    if case.name in UNSUPPORTED:
        assert report.exit_code == 2
        assert {d.code for d in report.diagnostics} == {"SC004"}
        return
    assert report.exit_code == CODES[(case / "expected").read_text().strip()]


def test_there_are_fifty_cases() -> None:
    assert len(CASES) == 50
