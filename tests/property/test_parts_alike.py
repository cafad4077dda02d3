"""Engine and kernel split rules into the same parts, however connectives nest (docs/language.md, "Parts")."""

from __future__ import annotations

from random import Random

import pytest

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options

DOMAIN = """(define (domain d) (:predicates (p ?x) (q ?x) (z)) (:functions (f))
  (:action n :parameters (?x) :effect (p ?x)) (:action m :parameters (?x) :effect (and (not (p ?x)) (z))))"""
PROBLEM = "(define (problem x) (:domain d) (:objects a b) (:init (p a) (q b) (= (f) 1)) (:goal (and)))"
PLAN = "(n b) (m a) (n a) (m b)"
ATOMS = ("(z)", "(p a)", "(q b)", "(<= (f) 1)")


def formula(random: Random, depth: int, names: tuple[str, ...] = ()) -> str:
    """A state formula in which connectives often have no parts, one, or their like among them."""
    if depth == 0:
        return random.choice((*ATOMS, *[f"({p} {name})" for name in names for p in "pq"]))
    match random.choice(("and", "or", "or", "not", "imply", "forall", "forall", "exists", "()")):
        case "()":
            return "()"
        case "not":
            return f"(not {formula(random, depth - 1, names)})"
        case "imply":
            return f"(imply {formula(random, depth - 1, names)} {formula(random, depth - 1, names)})"
        case ("forall" | "exists") as quantifier:
            name = random.choice(("?v", f"?v{depth}"))
            return f"({quantifier} ({name}) {formula(random, depth - 1, (*names, name))})"
        case connective:
            parts = [formula(random, depth - 1, names) for _ in range(random.choice((0, 1, 1, 2, 2)))]
            return f"({' '.join([connective, *parts])})"


def rule(random: Random, name: str) -> str:
    """A rule of one of the kinds that are split."""
    body, key = formula(random, random.choice((2, 3, 4))), random.choice((":require", ":forbid"))
    return random.choice(
        (
            f"(:process {name} {key} {body})",
            f"(:process {name} :on (n ?o) {key} {body})",
            f"(:process {name} :on (n ?o) {key}-after {body})",
            f"(:process {name} :when {formula(random, 2)} {key} {body})",
            f"(:termination {name} {key} {body})",
            f"(:trajectory {name} :formula (always {body}))",
            f"(:trajectory {name} :formula (and (sometime {body}) (or (or) (forall (?w) (always {body})))))",
        )
    )


@pytest.mark.parametrize("block", range(20))
def test_the_same_findings(block: int) -> None:
    random = Random(f"parts {block}")
    for _ in range(5):
        rules = [rule(random, f"r{number}") for number in range(6)]
        spec = Source("s.safe", "\n  ".join(["(define (safety s)", *rules]) + ")")
        checker = Checker(
            Source("d", DOMAIN), Source("p", PROBLEM), [spec], Options(replay="always", max_findings=10_000)
        )
        assert checker.ok, (spec.text, checker.diagnostics)
        report = checker.check(Source("plan", PLAN))
        assert report.headline is not None, (spec.text, report.diagnostics)
        assert all(finding.replayed is not False for finding in report.findings)


@pytest.mark.parametrize(
    "formula",
    ["(or (or) (forall (?v) (q ?v)))", "(or (forall (?v) (q ?v)))", "(not (and (and) (exists (?v) (not (q ?v)))))"],
)
def test_what_counts_as_one_part_names_objects(formula: str) -> None:
    spec = Source("s.safe", f"(define (safety s) (:process r :require {formula}))")
    report = Checker(Source("d", DOMAIN), Source("p", PROBLEM), [spec], Options(replay="always")).check(
        Source("x", "(n b)")
    )
    assert [dict(finding.binding) for finding in report.findings] == [{"?v": "a"}]


def test_a_part_among_others_names_none() -> None:
    spec = Source("s.safe", "(define (safety s) (:process r :require (or (z) (forall (?v) (q ?v)))))")
    report = Checker(Source("d", DOMAIN), Source("p", PROBLEM), [spec], Options(replay="always")).check(
        Source("x", "(n b)")
    )
    assert [finding.binding for finding in report.findings] == [()]
