"""A tiny planning task with rules and one plan as data, to be generated, enumerated, shrunk and printed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import NamedTuple, TypeAlias

Sexp: TypeAlias = "str | tuple[Sexp, ...]"
Cost: TypeAlias = "int | Fraction"
KINDS = ("insert", "delete", "substitute", "move")
UNIT: tuple[Cost, ...] = (1, 1, 1, 1)


class Task(NamedTuple):
    """A task, its rules, a plan, and how the plan may be edited.

    ``types`` are (name, parent), ``objects`` (name, type), all unary in that each has one. ``plan`` holds the texts of
    the steps. ``weights`` follow ``KINDS``; ``bound`` is the highest cost that is looked at. ``judge`` and
    ``min_severity`` say what decides; ``exempt`` are rules that do not, whatever they name.
    """

    types: tuple[tuple[str, str], ...]
    objects: tuple[tuple[str, str], ...]
    predicates: tuple[Sexp, ...]
    functions: tuple[Sexp, ...]
    axioms: tuple[Sexp, ...]
    actions: tuple[Sexp, ...]
    init: tuple[Sexp, ...]
    goal: Sexp
    constraints: tuple[Sexp, ...]
    rules: tuple[Sexp, ...]
    plan: tuple[str, ...]
    weights: tuple[Cost, ...] = UNIT
    protected: frozenset[int] = frozenset()
    bound: Cost = 2
    judge: str = "all"
    min_severity: str = "low"
    exempt: frozenset[str] = frozenset()

    def domain_text(self) -> str:
        """The domain as PDDL."""
        lines = [
            f"(:types {typed(self.types)})",
            write((":predicates", *self.predicates)),
            *([write((":functions", *self.functions))] if self.functions else []),
            *[write(axiom) for axiom in self.axioms],
            *[write(action) for action in self.actions],
        ]
        return "(define (domain tiny)\n  " + "\n  ".join(lines) + ")\n"

    def problem_text(self) -> str:
        """The problem as PDDL."""
        lines = [
            "(:domain tiny)",
            f"(:objects {typed(self.objects)})",
            write((":init", *self.init)),
            write((":goal", self.goal)),
            *([write((":constraints", ("and", *self.constraints)))] if self.constraints else []),
        ]
        return "(define (problem tiny)\n  " + "\n  ".join(lines) + ")\n"

    def safety_texts(self) -> list[str]:
        """The rules as a safety specification, if there are any."""
        rules = "\n  ".join(write(rule) for rule in self.rules)
        return [f"(define (safety tiny)\n  (:domain tiny)\n  {rules})\n"] if self.rules else []

    def plan_text(self) -> str:
        """The plan, one step per line."""
        return "".join(step + "\n" for step in self.plan)

    def supertypes(self) -> dict[str, set[str]]:
        """Each type with itself and all types above it."""
        parents = dict(self.types)
        above: dict[str, set[str]] = {"object": {"object"}}
        for name in parents:
            chain = [name]
            while chain[-1] in parents:
                chain.append(parents[chain[-1]])
            above[name] = {*chain, "object"}
        return above

    def of_type(self, kind: str) -> list[str]:
        """The objects of a type."""
        above = self.supertypes()
        return [name for name, object_type in self.objects if kind in above[object_type]]

    def ground_steps(self) -> list[str]:
        """All well-typed ground actions, as text."""
        out = []
        for action in self.actions:
            domains = [self.of_type(kind) for _, kind in parameters(field(action, ":parameters"))]
            out += [write((str(action[1]), *objects)) for objects in product(*domains)]
        return out


def field(structure: Sexp, key: str) -> Sexp:
    """The content after a keyword; ``()`` if it is missing."""
    return structure[structure.index(key) + 1] if key in structure else ()


def parameters(declared: Sexp) -> list[tuple[str, str]]:
    """The (name, type) pairs of a typed list in which each name has its own type."""
    assert not isinstance(declared, str)
    words = [str(word) for word in declared]
    return list(zip(words[::3], words[2::3], strict=True))


def typed(names: Iterable[tuple[str, str]]) -> str:
    """A typed list."""
    return " ".join(f"{name} - {kind}" for name, kind in names)


def write(expression: Sexp) -> str:
    """An expression as text."""
    return expression if isinstance(expression, str) else "(" + " ".join(write(part) for part in expression) + ")"


def normal(step: str) -> str:
    """The text of a step in lower case and with single spaces."""
    return "(" + " ".join(step.lower().replace("(", " ").replace(")", " ").split()) + ")"


def read(text: str) -> Sexp:
    """One expression."""
    stack: list[list[Sexp]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            inner = tuple(stack.pop())
            stack[-1].append(inner)
        else:
            stack[-1].append(token)
    [[expression]] = stack
    return expression


def parse_task(domain: str, problem: str, rules: str = "", plan: str = "") -> Task:
    """A task from texts: a domain and a problem without ``either`` or constants, bare rules, and a plan.

    In typed lists each name needs a type of its own.
    """
    sections: dict[str, list[Sexp]] = {}
    for text in (domain, problem):
        for section in read(text)[2:]:
            sections.setdefault(str(section[0]), []).append(section)

    def first_section(key: str) -> tuple[Sexp, ...]:
        section = sections.get(key, [()])[0]
        assert not isinstance(section, str)
        return section[1:]

    constraints = first_section(":constraints")
    return Task(
        types=tuple(parameters(first_section(":types"))),
        objects=tuple(parameters(first_section(":objects"))),
        predicates=first_section(":predicates"),
        functions=first_section(":functions"),
        axioms=tuple(sections.get(":derived", [])),
        actions=tuple(sections.get(":action", [])),
        init=first_section(":init"),
        goal=first_section(":goal")[0],
        constraints=tuple(constraints[0][1:]) if constraints else (),
        rules=tuple(read(f"({rules})")),
        plan=tuple(re.findall(r"\([^()]*\)", plan)),
    )
