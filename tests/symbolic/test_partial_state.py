"""Equal terms of a partial state share their domains."""

from __future__ import annotations

import pytest

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.symbolic.invariants.knowledge import DomainRelations
from plansafe.verifier.symbolic.invariants.refutation import PartialState

DOMAIN = """(define (domain d) (:types cup red - object both - (either cup red))
  (:predicates (a ?x - cup) (b ?x - red)))"""
PROBLEM = "(define (problem p) (:domain d) (:objects c - cup r - red cr - (either cup red)) (:init) (:goal (and)))"


@pytest.mark.parametrize(("first", "second"), [("cup", "red"), ("red", "cup")])
def test_merged_variables_have_both_domains(first: str, second: str) -> None:
    task = Checker(Source("d", DOMAIN), Source("p", PROBLEM)).engine.task
    number = {name: code for code, name in enumerate(task.objects)}
    cups, reds = frozenset([number["c"], number["cr"]]), frozenset([number["r"], number["cr"]])
    domains = {"cup": task.domain_sets.index(cups), "red": task.domain_sets.index(reds)}
    state = PartialState(DomainRelations(task), {})
    state.add_variable(-1, domains[first])
    state.add_variable(-2, domains[second])
    state.merge(-1, -2)
    assert not state.closed
    for term in (-1, -2):
        assert [name for name in ("c", "r", "cr") if not state.differ(term, number[name])] == ["cr"]
        assert state.is_within(term, domains["cup"]) and state.is_within(term, domains["red"])
