"""Rules that no plan can violate, because their connectives decide them."""

from __future__ import annotations

import pytest

from plansafe.grammar.sexpr import parse_nodes
from plansafe.grammar.source import Source
from plansafe.verifier.rules.impossible_steps import is_vacuous

VACUOUS = """
(rule r :forbid (or))
(rule r :require (and))
(rule r :on (a) :when (or) :require (p))
(rule r :forbid (and (p) (or)))
(rule r :forbid (not (or (p) (and))))
(rule r :require (imply (or) (p)))
(rule r :require (imply (p) (and)))
(rule r :forbid (not (imply (or) (p))))
(rule r :forbid (imply (and) (or)))
(rule r :require (forall (?x - t) (and)))
(rule r :forbid (exists (?x - t) (or)))
(rule r :formula (always (and)))
(rule r :forbid (once (or)))
(rule r :forbid (since (p) (or)))
(rule r :formula (until (p) (and)))
(rule r :forbid (yesterday (or)))
"""
NOT_DECIDED = """
(rule r :require (p))
(rule r :forbid (and))
(rule r :require (or))
(rule r :on (a) :when (and) :require (p))
(rule r :on (a) :when (or (p) (or)) :require (p))
(rule r :require (imply (and) (p)))
(rule r :forbid (imply (p) (p)))
(rule r :require (forall (?x - t) (or)))
(rule r :forbid (forall (?x - t) (or)))
(rule r :require (exists (?x - t) (and)))
(rule r :require (yesterday (and)))
(rule r :require (since (and) (p)))
(rule r :formula (sometime-after (p) (and)))
(rule r :require (and) :forbid (p))
"""


def _rules(text: str) -> list[object]:
    return list(parse_nodes(Source("rules", text)) or [])


@pytest.mark.parametrize("rule", _rules(VACUOUS), ids=str)
def test_rules_decided_by_their_connectives(rule: list[object]) -> None:
    assert is_vacuous(rule)


@pytest.mark.parametrize("rule", _rules(NOT_DECIDED), ids=str)
def test_rules_not_decided_by_their_connectives(rule: list[object]) -> None:
    assert not is_vacuous(rule)
