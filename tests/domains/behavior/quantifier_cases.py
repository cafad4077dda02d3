"""Random goals in BDDL, and their meaning by the definition, executed literally."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product

UNARY = ("open", "toggled_on")
BINARY = ("inside", "nextto")
CATEGORIES = ("cup.n.01", "plate.n.04", "box.n.01")

# The shipped domain takes milliseconds to load; the meaning of a goal depends only on the predicates.
SMALL_DOMAIN = """(define (domain omnigibson)
  (:types agent_n_01 cup_n_01 plate_n_04 box_n_01)
  (:predicates (open ?x) (toggled_on ?x) (inside ?x ?y) (nextto ?x ?y) (real ?x)))"""


@dataclass(frozen=True)
class Case:
    """Instances by category, the facts, and a goal as a nested list."""

    objects: dict[str, list[str]]
    facts: frozenset[tuple[str, ...]]
    goal: list

    def text(self) -> str:
        objects = "\n    ".join(f"{' '.join(names)} - {category}" for category, names in self.objects.items() if names)
        init = " ".join(f"({' '.join(fact)})" for fact in sorted(self.facts))
        return f"""(define (problem random-0)
  (:domain omnigibson)
  (:objects {objects} agent.n.01_1 - agent.n.01)
  (:init {init})
  (:goal {written(self.goal)}))"""

    def holds(self) -> bool:
        return holds(self.goal, {}, self)


def written(node: list | str) -> str:
    return node if isinstance(node, str) else f"({' '.join(written(child) for child in node)})"


def random_case(rng: random.Random) -> Case:
    objects = {
        category: [f"{category}_{number}" for number in range(1, rng.choice((1, 2, 2, 3, 4)) + 1)]
        for category in rng.sample(CATEGORIES, rng.choice((1, 2, 3)))
    }
    everything = [name for names in objects.values() for name in names]
    likely = rng.choice((0.15, 0.4, 0.7, 0.9))
    facts = {(predicate, name) for predicate in UNARY for name in everything if rng.random() < likely}
    facts |= {
        (predicate, a, b) for predicate in BINARY for a, b in product(everything, repeat=2) if rng.random() < likely
    }
    return Case(objects, frozenset(facts), _formula(rng, objects, [], rng.choice((1, 2, 2, 3))))


def _formula(rng: random.Random, objects: dict[str, list[str]], bound: list[str], depth: int) -> list:
    if depth == 0 or (bound and rng.random() < 0.15):
        return _atom(rng, objects, bound)
    head = rng.choice(
        ("and", "or", "not", "imply", "forall", "exists", "forn", "forn", "forpairs", "forpairs", "fornpairs")
    )
    if head in ("and", "or"):
        return [head, *[_formula(rng, objects, bound, depth - 1) for _ in range(rng.choice((0, 1, 2, 2)))]]
    if head in ("not", "imply"):
        return [head, *[_formula(rng, objects, bound, depth - 1) for _ in range(1 if head == "not" else 2)]]
    pairs = head in ("forpairs", "fornpairs")
    categories = [rng.choice(list(objects)) for _ in range(2 if pairs else 1)]
    labels = [rng.choice((category, category, "x", "y")) for category in categories]
    count = [[str(rng.choice((0, 1, 1, 2, 2, 3, 4, 6)))]] if head.startswith("forn") else []
    bindings = [[f"?{label}", "-", category] for label, category in zip(labels, categories, strict=True)]
    return [head, *count, *bindings, _formula(rng, objects, [*bound, *labels], depth - 1)]


def _atom(rng: random.Random, objects: dict[str, list[str]], bound: list[str]) -> list:
    names = [name for members in objects.values() for name in members]

    def term() -> str:
        return "?" + rng.choice(bound if bound and rng.random() < 0.8 else names)

    return [rng.choice(UNARY), term()] if rng.random() < 0.4 else [rng.choice(BINARY), term(), term()]


def holds(node: list, names: dict[str, str], case: Case) -> bool:
    """Evaluate a goal by the definition of docs/home-worlds.md."""
    head = node[0]
    if head == "and":
        return all([holds(child, names, case) for child in node[1:]])
    if head == "or":
        return any([holds(child, names, case) for child in node[1:]])
    if head == "not":
        return not holds(node[1], names, case)
    if head == "imply":
        return not holds(node[1], names, case) or holds(node[2], names, case)
    if head in ("forall", "exists", "forn"):
        label, _, category = node[-2]
        values = [holds(node[-1], names | {label[1:]: instance}, case) for instance in case.objects[category]]
        if head == "forn":
            return sum(values) == int(node[1][0])
        return all(values) if head == "forall" else any(values)
    if head in ("forpairs", "fornpairs"):
        (first, _, category), (second, _, second_category) = node[-3:-1]
        rows = case.objects[category]
        # Each row leaves itself out: within one category, columns are positions in the row.
        table = [
            [
                holds(node[-1], names | {first[1:]: row} | {second[1:]: column}, case)
                for column in case.objects[second_category]
                if column != row
            ]
            for row in rows
        ]
        width = len(table[0])
        least = int(node[1][0]) if head == "fornpairs" else min(len(rows), width)
        return (
            sum(any(values) for values in table) >= least
            and sum(any(values[column] for values in table) for column in range(width)) >= least
        )
    terms = [names.get(token[1:], token[1:]) for token in node[1:]]
    return (head, *terms) in case.facts
