"""Quantifiers evaluated by the facts, or compiled, have the values and reasons that trying all objects gives."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from engine_texts import checker

from plansafe.verifier.compile.normal_forms import push_quantifiers_inwards
from plansafe.verifier.model import evaluation as evaluate
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.printing import format_formula

KINDS = ("object",) * 6 + ("small",) * 6 + ("none",)  # `none` has no objects
OBJECTS = [f"o{n}" for n in range(5)]
DOMAIN = """(define (domain d) (:types small none - object) (:constants s1 s2 - small)
  (:predicates (p ?x) (q ?x ?y) (r ?x ?y ?z)) (:functions (n ?x)) (:action a :effect (p s1)))"""


def _formula(chance: random.Random, variables: list[str], depth: int) -> str:
    terms = [*variables, *OBJECTS[:2]]
    kind = chance.choice(
        ("atom", "atom", "not", "and", "or", "equal", "compare", "exists", "forall") if depth else ("atom",)
    )
    inner = depth - 1
    match kind:
        case "atom":
            name, arity = chance.choice((("p", 1), ("q", 2), ("r", 3)))
            return f"({name} {' '.join(chance.choices(terms, k=arity))})"
        case "not":
            return f"(not {_formula(chance, variables, inner)})"
        case "and" | "or":
            parts = [_formula(chance, variables, inner) for _ in range(chance.randint(1, 4))]
            return f"({kind} {' '.join(parts)})"
        case "equal":
            return f"(= {chance.choice(terms)} {chance.choice(terms)})"
        case "compare":
            return f"(> (n {chance.choice(terms)}) 1)"
        case _:
            bound = [f"?v{len(variables) + number}" for number in range(chance.randint(1, 3))]
            kinds = " ".join(f"{name} - {chance.choice(KINDS)}" for name in bound)
            return f"({kind} ({kinds}) {_formula(chance, [*variables, *bound], inner)})"


@pytest.mark.parametrize("seed", range(12))
def test_evaluation_by_facts_equals_enumeration(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    values = set()
    for _ in range(25):
        facts = [f"(p {name})" for name in OBJECTS if chance.random() < 0.5]
        facts += [f"(q {a} {b})" for a in OBJECTS for b in OBJECTS if chance.random() < 0.3]
        facts += [f"(r {chance.choice(OBJECTS)} {chance.choice(OBJECTS)} {chance.choice(OBJECTS)})" for _ in range(6)]
        facts += [f"(= (n {name}) {chance.randint(0, 2)})" for name in OBJECTS if chance.random() < 0.6]
        goal = _formula(chance, [], 4)
        problem = f"""(define (problem p) (:domain d) (:objects {" ".join(OBJECTS)})
          (:init {" ".join(dict.fromkeys(facts))}) (:goal {goal}))"""
        checked = checker(DOMAIN, problem)
        assert checked.ok, (checked.diagnostics, goal)
        state = checked.engine.make_initial_state()
        formula = model.And(checked.engine.task.goal)
        answers = []
        for few in (10**9, 0):
            monkeypatch.setattr(evaluate, "MAX_TRIED", few)
            evaluator = Evaluator(checked.engine.task, state.facts, state.fluents)
            value = evaluator.holds(formula, {})
            answers.append(
                (
                    value,
                    evaluator.find_unmet_literals(formula, {}, True),
                    evaluator.find_unmet_literals(formula, {}, False),
                )
            )
        assert answers[0] == answers[1], goal
        with suppress(KeyError):  # an undefined number
            compiled = checked.engine.emitter.compile_condition(formula, [])
            assert compiled(state.facts, state.fluents) is answers[0][0], goal
        values.add(answers[0][0])
    assert len(values) > 1


def test_a_quantifier_is_pushed_to_the_parts_with_its_variable() -> None:
    goal = "(exists (?x) (forall (?y) (exists (?z) (or (q ?x ?y) (and (p ?x) (p ?z)) (p s1)))))"
    checked = checker(DOMAIN, f"(define (problem p) (:domain d) (:goal {goal}))")
    task = checked.engine.task
    pushed = push_quantifiers_inwards(task.goal[0], task.domains)
    expected = "(or (and (exists (?z) (p ?z)) (exists (?x) (p ?x))) (p s1) (exists (?x) (forall (?y) (q ?x ?y))))"
    assert format_formula(task, pushed, {}) == expected
