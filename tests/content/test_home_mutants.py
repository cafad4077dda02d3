"""A change of a rule of the library makes a case fail; this tests a sample, ``mutate_rules.py`` runs all changes."""

from __future__ import annotations

import mutate_rules
import pytest


@pytest.mark.slow
def test_a_sample_of_mutants_is_caught() -> None:
    result = mutate_rules.judge_mutants(interval=29)
    assert sum(result.counts.values()) >= 30
    assert result.score >= 0.9, [f"{m.rule}: {m.kind}: {m.change}" for m in result.missed]


def test_an_unchanged_rule_is_missed() -> None:
    """A caught mutant is therefore caught because of its change."""
    rules = mutate_rules.expanded_rules()
    for name in list(rules)[::10]:
        text = mutate_rules.make_specification(rules[name])
        assert mutate_rules.judge_mutant(mutate_rules.Mutant(name, "none", "", text)) == "missed"


def test_every_kind_of_mutation_occurs_and_changes_the_rule() -> None:
    kinds = set()
    for node in mutate_rules.expanded_rules().values():
        original = mutate_rules.make_specification(node)
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


def test_every_listed_equivalent_mutant_occurs() -> None:
    rules = {rule for rule, _ in mutate_rules.EQUIVALENT}
    occurring = {
        (mutant.rule, f"{mutant.kind} | {mutant.change}")
        for node in mutate_rules.expanded_rules(rules).values()
        for mutant in mutate_rules.mutants(node)
    }
    occurring |= {
        (mutant.rule, f"{mutant.kind} | {mutant.change}") for mutant in mutate_rules.definition_mutants(rules)
    }
    assert occurring >= mutate_rules.EQUIVALENT.keys()
