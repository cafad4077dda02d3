"""The conformance cases, judged by the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from plansafe.verifier.kernel import Kernel, KernelRejects

CASES = Path(__file__).parent.parent / "conformance"
UNSUPPORTED = {"s47_event_pddlplus", "s48_event_pddlplus_ok"}
ACCEPTED = {"VALID": {"SAFE", "VALID"}, "INVALID": {"INVALID", "UNSAFE"}, "REJECT": {"REJECT"}}


def verdict(case: Path) -> str:
    def text(name: str) -> str:
        return (case / name).read_bytes().decode("utf-8", "surrogateescape")

    try:
        judgement = Kernel(text("domain.pddl"), text("problem.pddl")).judge(text("plan"))
    except KernelRejects:
        return "REJECT"
    return "REJECT" if judgement.ill_formed else judgement.headline


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir() if path.is_dir()))
def test_case(name: str) -> None:
    expected = (CASES / name / "expected").read_text().strip()
    found = verdict(CASES / name)
    assert found in ACCEPTED[expected] or (name in UNSUPPORTED and found == "REJECT")


def test_there_are_fifty() -> None:
    assert sum(path.is_dir() for path in CASES.iterdir()) == 50
