"""The kernel counts its work, and gives up beyond a limit: the same everywhere, plan by plan."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.kernel import Kernel, KernelLimit
from plansafe.verifier.reporting import confirmation as confirm

DOMAIN = """(define (domain d) (:types lamp room) (:predicates (on ?l - lamp) (in ?l - lamp ?r - room) (lit ?r - room))
  (:derived (lit ?r - room) (exists (?l - lamp) (and (in ?l ?r) (on ?l))))
  (:action light :parameters (?l - lamp) :precondition (not (on ?l)) :effect (on ?l)))"""
PROBLEM = """(define (problem p) (:domain d) (:objects a b c d e f - lamp r s - room)
  (:init (in a r) (in b r) (in c s) (in d s) (in e s)) (:goal (exists (?r - room) (lit ?r))))"""
RULES = "(define (safety s) (:process dark :forbid (exists (?r - room) (and (lit ?r) (exists (?l - lamp) (on ?l))))))"
PLAN = "(light a) (light c) (light d) (light a)"


def work_of(plan: str) -> int:
    return Kernel(DOMAIN, PROBLEM, [RULES]).audit(plan).work


def test_a_plan_takes_as_much_as_it_is_given_and_no_less() -> None:
    kernel, work = Kernel(DOMAIN, PROBLEM, [RULES]), work_of(PLAN)
    assert kernel.audit(PLAN, limit=work).work == work
    with pytest.raises(KernelLimit, match="more work"):
        kernel.audit(PLAN, limit=work - 1)


def test_what_was_judged_before_does_not_matter() -> None:
    kernel = Kernel(DOMAIN, PROBLEM, [RULES])
    assert [kernel.audit(plan).work for plan in ("(light b)", PLAN, PLAN)] == [
        work_of("(light b)"),
        *[work_of(PLAN)] * 2,
    ]


def test_the_order_of_sets_does_not_matter() -> None:
    texts = f"{DOMAIN!r}, {PROBLEM!r}, [{RULES!r}]"
    script = f"from plansafe.verifier.kernel import Kernel\nprint(Kernel({texts}).audit({PLAN!r}).work)"
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert int(done.stdout) == work_of(PLAN)


def replayed(plans: list[str]) -> list[list[bool | None]]:
    checker = Checker(Source("d", DOMAIN), Source("p", PROBLEM), [Source("s", RULES)], Options(replay="auto"))
    reports = [checker.check(Source("plan", plan)) for plan in plans]
    return [[finding.replayed for finding in report.findings if finding.rule] for report in reports]


def test_every_plan_of_a_batch_is_replayed() -> None:
    assert replayed([PLAN] * 30) == [[True, True]] * 30


def test_a_plan_beyond_the_limit_is_not_replayed_whatever_else_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirm, "MAX_WORK", work_of(PLAN) - 1)
    assert replayed(["(light a)", PLAN, "(light a)"]) == [[True], [None, None], [True]]
