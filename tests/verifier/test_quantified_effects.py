"""Effects over many objects: found by the facts that their conditions name, as if every object had been tried."""

from __future__ import annotations

import pytest

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Headline, Report, Worlds

OBJECTS = " ".join([f"t{i}" for i in range(30)])


def run(effect: str, goal: str, plan: str = "(act t1)", condition: str = "(and)") -> Report:
    domain = f"""(define (domain d) (:types thing place - object)
      (:constants t7 t9 - thing) (:predicates (p ?x - object) (q ?x ?y - object) (done))
      (:action act :parameters (?x - object) :precondition {condition} :effect (and (done) {effect})))"""
    problem = f"""(define (problem s) (:domain d) (:objects {OBJECTS} - thing home - place)
      (:init (p t1) (p t2) (p home) (q t1 t2) (q t2 t3) (q t3 home)) (:goal {goal}))"""
    checker = Checker(Source("d", domain), Source("p", problem), (), Options(replay="always"))
    assert checker.ok, checker.diagnostics
    return checker.check(Source("plan", plan))


@pytest.mark.parametrize(
    ("effect", "goal"),
    [
        ("(forall (?y - thing) (when (p ?y) (not (p ?y))))", "(and (not (p t1)) (not (p t2)) (p home))"),
        ("(forall (?y - thing) (when (or (p ?y) (q ?x ?y)) (q ?y ?y)))", "(and (q t1 t1) (q t2 t2) (not (q t3 t3)))"),
        ("(forall (?y - thing) (when (not (p ?y)) (p ?y)))", "(and (p t3) (p t29))"),
        ("(forall (?y - thing) (and (when (p ?y) (not (p ?y))) (when (= ?y ?x) (p ?y))))", "(and (p t1) (not (p t2)))"),
        ("(forall (?y ?z - object) (when (and (q ?x ?y) (q ?y ?z)) (q ?x ?z)))", "(and (q t1 t3) (not (q t1 home)))"),
        ("(forall (?y - thing) (when (exists (?z - place) (q ?y ?z)) (p ?y)))", "(p t3)"),
        (
            "(forall (?y - thing) (when (forall (?z - thing) (not (q ?z ?y))) (not (p ?y))))",
            "(and (not (p t1)) (p t2))",
        ),
        ("(when (not (p t9)) (forall (?y - place) (when (p ?y) (not (p ?y)))))", "(not (p home))"),
        ("(forall (?y - place) (when (p ?x) (q ?y ?y)))", "(q home home)"),
        ("(forall (?y - thing) (when (or (= ?y t7) (= ?y t9)) (p ?y)))", "(and (p t7) (p t9) (not (p t8)))"),
        (
            "(forall (?y - thing) (and (when (= ?y t9) (p ?y)) (when (= ?y t7) (not (p ?y))) (when (= ?y t7) (p ?y))))",
            "(and (p t7) (p t9))",
        ),
        (
            "(forall (?y ?z - thing) (when (and (q ?y ?z) (or (= ?z t2) (= ?z t3))) (not (q ?y ?z))))",
            "(and (not (q t1 t2)) (not (q t2 t3)) (q t3 home))",
        ),
        ("(forall (?y - place) (when (or (= ?y ?x) (= ?y t7) (= ?y home)) (q ?y ?y)))", "(and (q home home) (p t1))"),
    ],
)
def test_bindings_are_those_of_the_definition(effect: str, goal: str) -> None:
    report = run(effect, goal)
    assert (report.executable, report.goal) == (Worlds.ALL, Worlds.ALL), report.findings


def test_objects_named_by_a_condition_are_all_changed_before_a_rule_is_judged() -> None:
    domain = """(define (domain d) (:types thing) (:constants cup plate - thing) (:predicates (wet ?x - thing))
      (:action spill :effect (forall (?x - thing) (when (or (= ?x cup) (= ?x plate)) (wet ?x)))))"""
    rules = [Source("rules", "(define (safety s) (:process dry :forbid (wet plate)))")]
    task = Source("d", domain), Source("p", "(define (problem s) (:domain d) (:init) (:goal ()))")
    for engine in ("auto", "sat"):
        report = Checker(*task, rules, Options(engine=engine)).check(Source("plan", "(spill)"))
        assert report.headline is Headline.UNSAFE, (engine, report.diagnostics)


def test_a_failed_step_that_is_forced_changes_the_same() -> None:
    report = run("(forall (?y - thing) (when (p ?y) (not (p ?y))))", "(not (p t1))", condition="(p t7)")
    assert {reading.name: reading.goal for reading in report.readings} == {
        "halt": Worlds.NONE,
        "skip": Worlds.NONE,
        "force": Worlds.ALL,
    }


def test_an_empty_quantifier_gives_one_reason() -> None:
    report = run("", "(done)", condition="(exists (?y - thing) (and (p ?y) (q ?y ?x) (q ?x ?y)))")
    failed = report.findings[0]
    assert failed.notes == ("`(exists (?y) (and (p ?y) (q ?y t1) (q t1 ?y)))` is not true",)
    report = run("", "(done)", condition="(forall (?y - thing) (not (q ?y ?x)))", plan="(act t2)")
    assert report.findings[0].notes == ("`(q t1 t2)` is true",), "what speaks against all is named"
