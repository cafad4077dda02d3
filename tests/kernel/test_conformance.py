"""The conformance cases, audited by the kernel."""

from __future__ import annotations

import pytest

from case_files import Case, conformance_cases
from plansafe.verifier.kernel import Kernel, KernelRejects

CASES = conformance_cases()
UNSUPPORTED = {"s47_event_pddlplus", "s48_event_pddlplus_ok"}
ACCEPTED = {"VALID": {"SAFE", "VALID"}, "INVALID": {"INVALID", "UNSAFE"}, "REJECT": {"REJECT"}}


def outcome(case: Case) -> str:
    """Return the headline, or REJECT for texts and plans that the kernel does not accept."""

    def text(name: str) -> str:
        return case.files[name].decode("utf-8", "surrogateescape")

    try:
        verdict = Kernel(text("domain.pddl"), text("problem.pddl")).audit(text("plan"))
    except KernelRejects:
        return "REJECT"
    return "REJECT" if verdict.ill_formed else verdict.headline


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    (expected,) = CASES[name].lines
    headline = outcome(CASES[name])
    assert headline in ACCEPTED[expected] or (name in UNSUPPORTED and headline == "REJECT")


def test_there_are_fifty() -> None:
    assert len(CASES) == 50
