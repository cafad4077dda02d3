"""Rules and their parts (docs/language.md, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.model.nodes import Atom, Formula, Quantified, Variable


def shown_names(names: list[str]) -> list[str]:
    """Return variable names without the numbers of macros (``?x~2``), which are shown only to distinguish two names."""
    plain = [name.partition("~")[0] for name in names]
    return [short if plain.count(short) == 1 else name for short, name in zip(plain, names, strict=True)]


class StepPattern(NamedTuple):
    """A step that a rule is about: the atom of the action predicate.

    ``bindings_per_match`` counts the bindings of the rule's parameters that the atom does not name.
    """

    atom: Atom
    bindings_per_match: int


def action_atom_of(step: Formula) -> Atom:
    """Return the action atom of a step pattern; it is below ``exists`` if some arguments may be anything."""
    atom = step.body if isinstance(step, Quantified) else step
    assert isinstance(atom, Atom)
    return atom


def step_predicate(step: Formula) -> int:
    """Return the action predicate of a step pattern."""
    return action_atom_of(step).predicate


class RulePart(NamedTuple):
    """One formula to monitor for each binding of ``parameters``.

    ``mode``: ``always`` (``body`` at every letter; a finding covers consecutive letters), ``each`` (at every letter
    where ``step`` matches and ``guard`` holds, ``body`` holds there, or with ``after`` at the next), ``end`` (at the
    last letter), ``whole`` (``body`` is a formula over the trace).
    """

    rule: int
    parameters: tuple[Variable, ...]
    mode: str
    body: Formula
    step: Formula | None = None
    guard: Formula | None = None
    after: bool = False

    def shown_binding(self, objects: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Return the shown names of the parameters with their objects, sorted by name."""
        names = shown_names([v.name for v in self.parameters])
        return tuple(sorted(zip(names, objects, strict=True)))


class Rule(NamedTuple):
    """An elaborated rule. ``kind`` is its section in the specification; a violated ``preference`` is only counted.

    ``missing_names`` are the kind and name of each word that neither the domain nor a mapping has; or ``rule`` and
    the reason for which the mapping leaves the rule out.
    """

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
