"""Specifications that extend the next one, up to a maximum length of the chain."""

from __future__ import annotations

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.rules.expand import MAX_DEPTH

DOMAIN = Source("d", "(define (domain d) (:predicates (p)))")
PROBLEM = Source("p", "(define (problem p) (:domain d) (:init) (:goal (and)))")


def _compile_chain(length: int, last_extends: str = "") -> list[str]:
    """The messages for a specification with a chain of ``length`` extended ones; the last has the rule."""

    def resolve(name: str, _extending: Source) -> Source:
        number = int(name.removeprefix("s"))
        more = f"(:extends s{number + 1})" if number < length else last_extends + "(:process r :forbid (p))"
        return Source(name, f"(define (safety {name}) {more})")

    checker = Checker(DOMAIN, PROBLEM, [resolve("s0", DOMAIN)], resolve=resolve)
    assert [diagnostic.message for diagnostic in checker.diagnostics] or [
        rule.name for rule in checker.engine.rule_set.rules
    ] == ["r"]
    return [diagnostic.message for diagnostic in checker.diagnostics]


def test_the_longest_chain_is_read() -> None:
    assert _compile_chain(MAX_DEPTH) == []


def test_a_longer_chain_is_an_error() -> None:
    [message] = _compile_chain(MAX_DEPTH + 1)
    assert message.startswith(f"a chain of more than {MAX_DEPTH} extended specifications: s0 -> s1 -> ")


def test_a_cycle_is_an_error() -> None:
    assert _compile_chain(2, "(:extends s1)") == ["specifications extend each other: s0 -> s1 -> s2 -> s1"]
