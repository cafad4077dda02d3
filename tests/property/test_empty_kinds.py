"""A kind that a mapping leaves empty means what a kind without objects means (docs/safety-rules.md, "Mappings").

Quantifiers over it are constant; a parameter of the kind makes the rule inapplicable. The kernel reads the same rules.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Report

DOMAIN = """(define (domain d) (:types thing nothing - object) (:predicates (p ?x - object) (q ?x ?y - object))
  (:action m :parameters (?x - thing) :effect (p ?x))
  (:action n :parameters (?x ?y - thing) :effect (and (q ?x ?y) (not (p ?y)))))"""
PROBLEM = "(define (problem x) (:domain d) (:objects a b - thing) (:init (p a)) (:goal (and)))"
PLAN = "(n a b)\n(m b)\n(n b a)\n"
MAPPING = """(define (mapping m) (:specification s) (:domain d)
  (:types (item thing) ({}))
  (:predicates ((lit ?x) (p ?x)) ((near ?x ?y) (or (q ?x ?y) (q ?y ?x)))))"""
VOCABULARY = "(:vocabulary (:types item ghost - object) (:predicates (lit ?x - object) (near ?x ?y - object)))"
KINDS = ("item", "ghost", "(either ghost item)", "(either ghost ghost)")


@st.composite
def formula(draw: st.DrawFn, names: tuple[str, ...] = (), depth: int = 3) -> str:
    """A state formula over the vocabulary, with quantifiers over kinds that may be empty."""
    kinds = ["quantifier", "quantifier", "and", "or", "not", "imply"] if depth else []
    head = draw(st.sampled_from(kinds + ["atom"] * bool(names) or ["and"]))
    if head == "quantifier":
        word, name = draw(st.sampled_from(("exists", "forall"))), f"?v{depth}"
        inner = draw(formula((*names, name), depth - 1))
        return f"({word} ({name} - {draw(st.sampled_from(KINDS))}) {inner})"
    if head == "atom":
        first, second = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        return draw(st.sampled_from((f"(lit {first})", f"(near {first} {second})", f"(= {first} {second})")))
    if not depth:
        return "(and)"
    count = {"not": 1, "imply": 2}.get(head, 2)
    return f"({head} {' '.join([draw(formula(names, depth - 1)) for _ in range(count)])})"


def audit(rules: str, ghost: str, mode: str = "always") -> Report:
    """The report on the plan, with SC901 if engine and kernel differ."""
    specs = [Source("s", f"(define (safety s) {VOCABULARY} {rules})"), Source("m", MAPPING.format(ghost))]
    checker = Checker(Source("d", DOMAIN), Source("x", PROBLEM), specs, Options(replay=mode))
    assert checker.ok, checker.diagnostics
    return checker.check(Source("plan", PLAN))


def first_steps(report: Report) -> dict[tuple[str | None, str], int]:
    """The first step of each rule's violations for each object; the parts of a rule may have more bindings."""
    first: dict[tuple[str | None, str], int] = {}
    for finding in report.findings:
        key = finding.rule, dict(finding.binding)["?x"]
        first[key] = min(finding.step, first.get(key, finding.step))
    return first


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(when=formula(), demand=formula(("?x",)), key=st.sampled_from((":forbid", ":require")))
def test_an_empty_kind_is_a_kind_without_objects(when: str, demand: str, key: str) -> None:
    rules = f"""(:process held :parameters (?x - item) :when {when} {key} {demand})
      (:process taken :parameters (?x - item) :on (n ?x _) :when {when} {key} {demand})
      (:termination ended :parameters (?x - item) :when {when} {key} {demand})
      (:obligation owed :parameters (?x - item) :when {when} :then {demand})"""
    empty, without_objects = audit(rules, "ghost"), audit(rules, "ghost nothing")
    assert not [diagnostic for diagnostic in empty.diagnostics if diagnostic.code == "SC901"]
    assert first_steps(empty) == first_steps(without_objects)
    applied = {rule.name for rule in empty.rules if rule.status != "not applicable"}
    assert {finding.rule for finding in without_objects.findings} <= applied


@settings(deadline=None, max_examples=50)
@given(demand=formula(("?x", "?g")))
def test_a_parameter_of_an_empty_kind_makes_the_rule_inapplicable(demand: str) -> None:
    report = audit(f"(:process r :parameters (?x - item ?g - ghost) :forbid {demand})", "ghost")
    assert [rule.status for rule in report.rules] == ["not applicable"]
