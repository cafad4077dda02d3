"""A small planning task with rules and plans, as data that tests generate, compare, shrink and print."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

Sexp: TypeAlias = "str | tuple[Sexp, ...]"


class Step(NamedTuple):
    """A step of a plan; without a time in an untimed plan."""

    words: tuple[str, ...]
    time: Fraction | None = None
    duration: Fraction | None = None


Plan: TypeAlias = tuple[Step, ...]


class Case(NamedTuple):
    """A task with rules and plans. The name gives its origin: stream, seed and number.

    ``objects`` are (name, type); the domain declares ``constants``. ``structures`` are the
    domain's actions and derived predicates. ``constraints`` belong to the problem, ``laws`` to the domain.
    """

    name: str
    objects: tuple[tuple[str, str], ...]
    constants: frozenset[str]
    structures: tuple[Sexp, ...]
    init: tuple[Sexp, ...]
    goal: Sexp
    laws: tuple[Sexp, ...]
    constraints: tuple[Sexp, ...]
    rules: tuple[Sexp, ...]
    plans: tuple[Plan, ...]

    def domain_text(self) -> str:
        """The domain as PDDL. It declares basic and derived predicates together."""
        lines = [
            "(:types thing agent - object cup pan - thing)",
            f"(:constants {typed(pair for pair in self.objects if pair[0] in self.constants)})",
            f"(:predicates {' '.join(write(head) for head in PREDICATES.values())})",
            f"(:functions {' '.join(write(head) for head in FUNCTIONS.values())})",
            *[write(structure) for structure in self.structures],
        ]
        if self.laws:
            lines.append(write((":constraints", ("and", *self.laws))))
        return "(define (domain random)\n  " + "\n  ".join(lines) + ")\n"

    def problem_text(self) -> str:
        """The problem as PDDL."""
        lines = [
            "(:domain random)",
            f"(:objects {typed(pair for pair in self.objects if pair[0] not in self.constants)})",
            write((":init", *self.init)),
            write((":goal", self.goal)),
        ]
        if self.constraints:
            lines.append(write((":constraints", ("and", *self.constraints))))
        return "(define (problem random)\n  " + "\n  ".join(lines) + ")\n"

    def safety_text(self) -> str:
        """The rules as a safety specification; empty if there are none."""
        if not self.rules:
            return ""
        rules = "\n  ".join(write(_graded(rule)) for rule in self.rules)
        return f"(define (safety random)\n  (:domain random)\n  {rules})\n"


def _graded(rule: tuple[Any, ...]) -> tuple[Any, ...]:
    """A rule with a severity: what decides depends on it, and nothing else does; one in five has none."""
    grade = len(write(rule)) % 5
    return rule if grade == 4 else (*rule, ":severity", ("critical", "high", "medium", "low")[grade])


PREDICATES: dict[str, tuple[str, ...]] = {
    "p": ("p", "?x", "-", "object"),
    "q": ("q", "?x", "-", "thing"),
    "r": ("r", "?x", "?y", "-", "object"),
    "s": ("s", "?x", "-", "cup", "?y", "-", "agent"),
    "n": ("n",),
    "d": ("d", "?x", "-", "object"),
    "e": ("e", "?x", "?y", "-", "object"),
}
FUNCTIONS: dict[str, tuple[str, ...]] = {"f": ("f", "?x", "-", "object"), "g": ("g",)}


def typed(objects: Iterable[tuple[str, str]]) -> str:
    """A typed list of (name, type)."""
    return " ".join(f"{name} - {kind}" for name, kind in objects)


def write(expression: Sexp) -> str:
    """An expression as text."""
    return expression if isinstance(expression, str) else "(" + " ".join(write(part) for part in expression) + ")"


def plan_text(plan: Plan) -> str:
    """A plan, one step a line."""
    lines = []
    for step in plan:
        line = write(step.words)
        if step.time is not None:
            line = f"{decimal(step.time)}: {line}"
            line += "" if step.duration is None else f" [{decimal(step.duration)}]"
        lines.append(line + "\n")
    return "".join(lines)


def decimal(value: Fraction) -> str:
    """A rational with few decimals, exactly."""
    text = f"{value.numerator * 10_000 // value.denominator:+06d}"
    return f"{text[:-4]}.{text[-4:]}".removeprefix("+")
