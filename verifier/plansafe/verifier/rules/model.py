"""Rules and their parts (docs/language.md, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.model.nodes import And, Atom, Formula, Or, Quantified, Temporal, Variable
from plansafe.verifier.model.operations import negate
from plansafe.verifier.rules.mapping import WordName

RuleKind = Literal["process", "trajectory", "termination", "obligation", "constraint"]
"""The section of a rule in its specification; ``constraint``: a constraint of the domain or the problem."""
PartMode = Literal["always", "each", "end", "whole"]
"""At which letters of the trace the body of a part must hold.

``always``: at every letter; one finding covers consecutive letters. ``each``: at every letter at which the step of the
part matches and its guard holds. ``end``: at the last letter. ``whole``: the body is a formula over the whole trace.
"""


def shorten_variable_names(names: list[str]) -> list[str]:
    """Remove the numbers of macros from variable names (``?x~2``), except where two names would become equal."""
    short_names = [name.partition("~")[0] for name in names]
    return [short if short_names.count(short) == 1 else name for short, name in zip(short_names, names, strict=True)]


class StepPattern(NamedTuple):
    """A step that a rule is about: the atom of the action predicate.

    ``bindings_per_match``: how many instances of the rule a matching step has. It is the number of combinations of
    objects for the parameters of the rule that the atom does not name.
    """

    atom: Atom
    bindings_per_match: int


def find_action_atom(step: Formula) -> Atom:
    """Return the action atom of a step pattern, without the ``exists`` that binds arguments that may be anything."""
    atom = step.body if isinstance(step, Quantified) else step
    assert isinstance(atom, Atom)
    return atom


def find_action_predicate(step: Formula) -> int:
    """Return the action predicate of a step pattern."""
    return find_action_atom(step).predicate


class RulePart(NamedTuple):
    """One formula to monitor for each binding of ``parameters``.

    ``rule`` is the number of the rule. ``step``, ``guard`` and ``after`` belong to the mode ``each``: where ``step``
    matches and ``guard`` holds (``None``: always), ``body`` must hold at the same letter. With ``after``, it must hold
    at the next letter.
    """

    rule: int
    parameters: tuple[Variable, ...]
    mode: PartMode
    body: Formula
    step: Formula | None = None
    guard: Formula | None = None
    after: bool = False

    def make_invariant_part(self) -> RulePart:
        """Return a part of mode ``each`` as a part that must hold at every letter."""
        assert self.step is not None
        premise: Formula = self.step if self.guard is None else And((self.step, self.guard))
        if self.after:
            premise = Temporal("yesterday", (premise,))
        body = Or((negate(premise), self.body))
        return self._replace(mode="always", body=body, step=None, guard=None, after=False)

    def show_binding(self, objects: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Return the shown names of the parameters with their objects, sorted by name."""
        names = shorten_variable_names([v.name for v in self.parameters])
        return tuple(sorted(zip(names, objects, strict=True)))


class Rule(NamedTuple):
    """An elaborated rule.

    ``declared_parameters``: the parameters of the whole rule. The parameters of a part also include variables of
    quantifiers that were moved out of its formula. ``source``: the name of the text that contains the rule;
    ``rationale_source``: the text of its field `:source`, such as a standard.
    ``preference``: violations are only counted. ``severity`` is one of ``SEVERITIES``.

    If the rule is not ``applicable``, one of two fields gives the reason. ``missing_names``: the words of the rule that
    neither the domain nor a mapping has, or a step that no action matches (its kind is ``step``).
    ``exclusion_reason``: why the rule is excluded from this domain although no word is missing.
    """

    name: str
    kind: RuleKind
    parts: tuple[RulePart, ...]
    declared_parameters: tuple[Variable, ...]
    step_patterns: tuple[StepPattern, ...]
    at: Place
    source: str
    preference: bool = False
    hazard: str | None = None
    targets: tuple[str, ...] = ()
    severity: str = "high"
    message: str | None = None
    rationale: str | None = None
    rationale_source: str | None = None
    fix: str | None = None
    applicable: bool = True
    missing_names: tuple[WordName, ...] = ()
    exclusion_reason: str | None = None
