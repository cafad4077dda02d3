"""Rules of alternating quantifiers: the engine, which stores their matches, compared with the kernel.

Each task has one rule, so that no other rule makes the engine follow the facts that this rule reads. The actions change
several facts at once.
"""

from __future__ import annotations

from random import Random

import pytest
from compare import OPTIONS, differences, from_judgement, from_report, only_halt

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.monitors import index
from plansafe.verifier.kernel import Kernel

DOMAIN = """(define (domain links)
  (:requirements :adl)
  (:types node tag)
  (:predicates (linked ?x ?y - node) (has ?x - node ?t - tag) (lit ?x - node) (free ?t - tag) (near ?x ?y - node)
    (old ?t - tag ?x - node))
  (:action link :parameters (?x ?y - node) :effect (and (linked ?x ?y) (not (lit ?x))))
  (:action cut :parameters (?x ?y - node) :effect (and (not (linked ?x ?y)) (not (lit ?y)) (not (linked ?y ?x))))
  (:action give :parameters (?x - node ?t - tag)
    :effect (and (has ?x ?t) (not (free ?t)) (when (lit ?x) (old ?t ?x))))
  (:action drop :parameters (?x - node ?t - tag) :effect (and (not (has ?x ?t)) (free ?t) (not (old ?t ?x))))
  (:action light :parameters (?x - node) :effect (lit ?x))
  (:action clear :parameters (?x - node)
    :effect (forall (?t - tag) (and (not (has ?x ?t)) (not (old ?t ?x)) (not (lit ?x)) (free ?t)))))
"""
PREDICATES = {
    "linked": ("node", "node"),
    "has": ("node", "tag"),
    "lit": ("node",),
    "free": ("tag",),
    "near": ("node", "node"),
    "old": ("tag", "node"),
}
ACTIONS = {
    "link": ("node", "node"),
    "cut": ("node", "node"),
    "give": ("node", "tag"),
    "drop": ("node", "tag"),
    "light": ("node",),
    "clear": ("node",),
}
OBJECTS = {"node": ("n1", "n2", "n3"), "tag": ("t1", "t2")}


class Generator:
    """Random rules, problems and plans."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def atom(self, scope: dict[str, str], name: str | None = None) -> str:
        """An atom; most of its terms are variables."""
        predicate = name or self.random.choice([*PREDICATES])
        terms = []
        for kind in PREDICATES[predicate]:
            variables = [variable for variable, declared in scope.items() if declared == kind]
            recent = variables[-2:] if self.random.random() < 0.7 else variables
            terms.append(self.random.choice(recent or OBJECTS[kind]))
        return f"({predicate} {' '.join(terms)})"

    def literal(self, scope: dict[str, str]) -> str:
        """An atom, a negated atom or an equation."""
        roll = self.random.random()
        if roll < 0.05 and len(scope) > 1:
            return f"(= {' '.join(self.random.sample([*scope], 2))})"
        return f"(not {self.atom(scope)})" if roll < 0.35 else self.atom(scope)

    def formula(self, depth: int, scope: dict[str, str]) -> str:
        """Alternating quantifiers, most of them restricted by literals."""
        if depth == 0:
            return self.literal(scope)
        kind = self.random.choice(("node", "node", "tag"))
        variable = f"?v{len(scope)}"
        inner = {**scope, variable: kind}
        guards = [self.literal(inner) for _ in range(self.random.choice((0, 1, 1, 2)))]
        parts = [self.formula(depth - 1, inner) for _ in range(self.random.choice((1, 1, 1, 2)))]
        if self.random.random() < 0.5:
            body = f"(imply (and {' '.join(guards)}) (or {' '.join(parts)}))" if guards else f"(or {' '.join(parts)})"
            return f"(forall ({variable} - {kind}) {body})"
        connective = self.random.choice(("and", "and", "or"))
        return f"(exists ({variable} - {kind}) ({connective} {' '.join([*guards, *parts])}))"

    def rule(self) -> str:
        """A rule of any kind."""
        depth = self.random.randint(2, 4)
        match self.random.randrange(6):
            case 0:
                return f"(:process r :on (give ?x ?t) :require {self.formula(depth, {'?x': 'node', '?t': 'tag'})})"
            case 1:
                return f"(:process r :on (cut ?x ?y) :forbid-after {self.formula(depth, {'?x': 'node', '?y': 'node'})})"
            case 2:
                return f"(:process r :parameters (?x - node) :forbid {self.formula(depth, {'?x': 'node'})})"
            case 3:
                return f"(:process r :when (once {self.atom({})}) :require {self.formula(depth, {})})"
            case 4:
                return f"(:trajectory r :formula (sometime-before {self.atom({})} {self.formula(depth, {})}))"
            case _:
                return f"(:process r :require {self.formula(depth, {})})"

    def case(self) -> tuple[str, str, str]:
        """A problem, a specification and a plan."""
        facts = [
            f"({name} {' '.join(terms)})"
            for name, kinds in PREDICATES.items()
            for terms in _tuples(kinds)
            if self.random.random() < 0.4
        ]
        objects = " ".join([f"{' '.join(names)} - {kind}" for kind, names in OBJECTS.items()])
        problem = f"(define (problem p) (:domain links) (:objects {objects}) (:init {' '.join(facts)}) (:goal (and)))"
        steps = []
        for _ in range(self.random.randint(5, 25)):
            action = self.random.choice([*ACTIONS])
            steps.append(f"({action} {' '.join([self.random.choice(OBJECTS[kind]) for kind in ACTIONS[action]])})")
        return problem, f"(define (safety s) (:domain links) {self.rule()})", "\n".join(steps) + "\n"


def _tuples(kinds: tuple[str, ...]) -> list[tuple[str, ...]]:
    tuples: list[tuple[str, ...]] = [()]
    for kind in kinds:
        tuples = [(*objects, name) for objects in tuples for name in OBJECTS[kind]]
    return tuples


def check_seed(seed: int) -> None:
    """Compare the findings of engine and kernel on one task."""
    problem, rules, plan = Generator(seed).case()
    checker = Checker(Source("domain", DOMAIN), Source("problem", problem), [Source("rules", rules)], OPTIONS)
    report = from_report(checker.check(Source("plan", plan)))
    verdict = only_halt(from_judgement(Kernel(DOMAIN, problem, [rules]).audit(plan), timed=False))
    assert differences(report, verdict) == [], (seed, rules)


@pytest.mark.parametrize("seed", range(12))
def test_the_engine_finds_what_the_kernel_finds(seed: int) -> None:
    """Twenty tasks for each seed."""
    for number in range(20):
        check_seed(100 * seed + number)


@pytest.mark.parametrize("seed", [52825, 64140])
def test_the_engine_forgets_what_depends_on_deleted_matches(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views delete their matches at a limit. In both tasks another view has used the matches."""
    check_seed(seed)
    monkeypatch.setattr(index, "MAX_STORED_MATCHES", 1)
    check_seed(seed)
