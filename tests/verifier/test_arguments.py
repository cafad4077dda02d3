"""A path where a text is wanted is refused with what to write instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plansafe.app.session.audit import audit
from plansafe.app.session.model import Settings
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.api import diagnose
from plansafe.verifier.repair.api import repair

DOMAIN = Source("d.pddl", "(define (domain d) (:predicates (p)) (:action a :effect (p)))")
PROBLEM = Source("p.pddl", "(define (problem q) (:domain d) (:init) (:goal (p)))")


@pytest.mark.parametrize(
    ("domain", "problem", "specs", "message"),
    [
        ("domain.pddl", PROBLEM, (), r"^domain takes a .*Source, not str: write Source.from_path\('domain.pddl'\)$"),
        (DOMAIN, Path("p.pddl"), (), r"^problem takes a .*Source, not PosixPath: write Source.from_path\('p.pddl'\)$"),
        (DOMAIN, PROBLEM, ["r.safe"], r"^specs takes a .*Source.from_path\('r.safe'\)$"),
        (DOMAIN, PROBLEM, "r.safe", r"^specs takes a sequence of Sources, not one str: write \[..\] around it$"),
        (DOMAIN, PROBLEM, DOMAIN, r"^specs takes a sequence of Sources, not one Source"),
        ("(define (domain d))", PROBLEM, (), r'not str: write Source\("a name", \.\.\.\)$'),
        (DOMAIN, None, (), r"^problem takes a .*Source, not NoneType$"),
    ],
)
def test_a_checker_reports_wrong_argument_types(domain: Any, problem: Any, specs: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Checker(domain, problem, specs)


@pytest.mark.parametrize("ask", [lambda c, p: c.check(p), repair, diagnose])
def test_functions_with_a_plan_report_wrong_types(ask: Any) -> None:
    with pytest.raises(TypeError, match=r"^plan takes a .*Source.from_path\('x.plan'\)$"):
        ask(Checker(DOMAIN, PROBLEM), "x.plan")


def test_audit_reports_wrong_types() -> None:
    with pytest.raises(TypeError, match=r"^plans takes a list, not a str: write \[..\] around it$"):
        audit("x.plan")
    with pytest.raises(TypeError, match=r"^specs takes a list, not a str"):
        audit(["x.plan"], Settings(specs="household"))  # type: ignore[arg-type]


def test_the_suggested_calls_work(tmp_path: Path) -> None:
    for source in (DOMAIN, PROBLEM):
        (tmp_path / source.name).write_bytes(b"\xef\xbb\xbf" + source.text.encode())
    read = [Source.from_path(tmp_path / source.name) for source in (DOMAIN, PROBLEM)]
    assert [source.text for source in read] == [DOMAIN.text, PROBLEM.text]
    assert Checker(*read).check(Source("a plan", "(a)")).exit_code == 0
    with pytest.raises(FileNotFoundError):
        Source.from_path(tmp_path / "gone")
