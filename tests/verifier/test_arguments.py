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
    ("domain", "problem", "specs", "said"),
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
def test_a_checker_says_what_it_wants(domain: Any, problem: Any, specs: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        Checker(domain, problem, specs)


@pytest.mark.parametrize("ask", [lambda c, p: c.check(p), repair, diagnose])
def test_so_do_those_who_take_a_plan(ask: Any) -> None:
    with pytest.raises(TypeError, match=r"^plan takes a .*Source.from_path\('x.plan'\)$"):
        ask(Checker(DOMAIN, PROBLEM), "x.plan")


def test_so_does_audit() -> None:
    with pytest.raises(TypeError, match=r"^plans takes a list, not a str: write \[..\] around it$"):
        audit("x.plan")
    with pytest.raises(TypeError, match=r"^specs takes a list, not a str"):
        audit(["x.plan"], Settings(specs="household"))  # type: ignore[arg-type]


def test_what_is_advised_works(tmp_path: Path) -> None:
    for source in (DOMAIN, PROBLEM):
        (tmp_path / source.name).write_bytes(b"\xef\xbb\xbf" + source.text.encode())
    read = [Source.from_path(tmp_path / source.name) for source in (DOMAIN, PROBLEM)]
    assert [source.text for source in read] == [DOMAIN.text, PROBLEM.text]
    assert Checker(*read).check(Source("a plan", "(a)")).exit_code == 0
    with pytest.raises(FileNotFoundError):
        Source.from_path(tmp_path / "gone")
