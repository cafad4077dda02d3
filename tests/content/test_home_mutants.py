"""The cases of the library notice when a rule changes; a sample, ``mutate_rules.py`` runs them all."""

from __future__ import annotations

import mutate_rules
import pytest

from plansafe.grammar.sexpr import format_node


@pytest.mark.slow
def test_a_sample_of_mutants_is_caught() -> None:
    result = mutate_rules.run(every=29)
    assert sum(result.counts.values()) >= 30
    assert result.score >= 0.9, [f"{m.rule}: {m.kind}: {m.change}" for m in result.missed]


def test_the_rules_themselves_are_not_caught() -> None:
    """A mutant that changes nothing is missed, so that what is caught is caught for a reason."""
    rules = mutate_rules.expanded()
    for name in list(rules)[::10]:
        text = f"(define (safety mutant) {format_node(rules[name])})".replace("~", "-")
        assert mutate_rules.verdict(mutate_rules.Mutant(name, "none", "", text)) == "missed"


def test_every_kind_of_change_occurs_and_differs() -> None:
    kinds = set()
    for node in mutate_rules.expanded().values():
        original = f"(define (safety mutant) {format_node(node)})".replace("~", "-")
        for mutant in mutate_rules.mutants(node):
            kinds.add(mutant.kind)
            assert mutant.text != original
    assert kinds >= {
        "negate",
        "drop a conjunct",
        "drop an alternative",
        "widen a type",
        "and <-> or",
        "remove :when",
        "forbid <-> require",
        "before <-> after",
    }


def test_what_is_called_equivalent_occurs() -> None:
    named = {rule for rule, _ in mutate_rules.EQUIVALENT}
    found = {
        (mutant.rule, f"{mutant.kind} | {mutant.change}")
        for node in mutate_rules.expanded(named).values()
        for mutant in mutate_rules.mutants(node)
    }
    assert found >= mutate_rules.EQUIVALENT.keys()
