"""Rules and their parts (docs/language.md, section 5)."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.model.nodes import Atom, Formula, Quantified, Variable


def shown_names(names: list[str]) -> list[str]:
    """Names of variables as the user wrote them: macros number their own (``?x~2``), shown only to tell two apart."""
    plain = [name.partition("~")[0] for name in names]
    return [short if plain.count(short) == 1 else name for short, name in zip(plain, names, strict=True)]


class StepPattern(NamedTuple):
    """A step that a rule is about: the action predicate's atom. ``factor``: bindings of parameters it leaves open."""

    atom: Atom
    bindings_per_match: int


def step_predicate(step: Formula) -> int:
    """The action predicate of a step pattern: an atom, below ``exists`` if some arguments may be anything."""
    atom = step.body if isinstance(step, Quantified) else step
    assert isinstance(atom, Atom)
    return atom.predicate


class RulePart(NamedTuple):
    """One thing to monitor for each binding of ``parameters``.

    ``mode``: ``always`` (``body`` at every letter; findings are blocks), ``each`` (at every letter where ``step``
    matches and ``guard`` holds, ``body`` holds there, or with ``after`` at the next), ``end`` (at the last letter),
    ``whole`` (``body`` is a formula over the trace).
    """

    rule: int
    parameters: tuple[Variable, ...]
    mode: str
    body: Formula
    step: Formula | None = None
    guard: Formula | None = None
    after: bool = False


class Rule(NamedTuple):
    """A rule, elaborated. ``kind`` is what it was written as; ``preference`` says that a violation is only counted."""

    name: str
    kind: str
    parts: tuple[RulePart, ...]
    declared: tuple[Variable, ...]
    step_patterns: tuple[StepPattern, ...]
    at: Place
    source: str
    preference: bool = False
    hazard: str | None = None
    targets: tuple[str, ...] = ()
    severity: str = "high"
    message: str | None = None
    rationale: str | None = None
    fix: str | None = None
    applicable: bool = True
    missing_names: tuple[tuple[str, str], ...] = ()
    """Why it is not applicable: what neither the domain nor a mapping has, as kind and name; or ``rule``, with the
    reason for which the mapping leaves it out."""
