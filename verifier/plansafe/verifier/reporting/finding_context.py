"""The context of the findings of one plan: its readings, their histories, and the texts and places of its steps."""

from __future__ import annotations

import re

from plansafe.grammar.diagnostics import Label, Span
from plansafe.verifier.execution.plan_steps import resolve_plan
from plansafe.verifier.execution.replay import HALT
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import UnmetLiteral
from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.model.nodes import TRUE, Action, Atom
from plansafe.verifier.model.printing import format_formula
from plansafe.verifier.reporting.consequences import Consequences, ExecutedPlan
from plansafe.verifier.reporting.fact_history import Fact, FactChanges, FactHistory, FailureReasons

ChangesByFact = dict[Fact, FactChanges]
"""For the facts that findings are about, their values over time."""
_TOKEN_OR_COMMENT = re.compile(r";[^\r\n]*|[^\s();]+")
"""A token of a step, or a comment."""
_MAX_STEP_LENGTH = 200
"""Maximum number of characters of a step in a message."""


class FindingContext:
    """The plan, its outcomes and histories by reading, and the causes of its findings."""

    def __init__(self, executed: ExecutedPlan, consequences: Consequences) -> None:
        self.compiled, self.plan, resolved, outcomes = executed
        self.task = self.compiled.task
        self.resolved = resolved or resolve_plan(self.compiled.engine, self.plan)
        self.outcomes = {outcome.reading: outcome for outcome in outcomes}
        self.consequences = consequences
        halt_history = FactHistory(self.compiled, self.resolved, outcomes[0])
        self.histories = {HALT: halt_history}
        for outcome in outcomes[1:]:
            self.histories[outcome.reading] = FactHistory(self.compiled, self.resolved, outcome, halt_history)

    @memoized
    def find_setting_steps(self, predicate: int, value: bool) -> dict[int, list[int]]:
        """Return the steps with an unconditional effect that gives facts of a predicate a value, by the fact's code."""
        steps_by_code: dict[int, list[int]] = {}
        atoms_by_action: dict[int, list[Atom]] = {}
        for number, step in enumerate(self.resolved.steps, 1):
            if not isinstance(step, GroundAction):
                continue
            atoms = atoms_by_action.get(id(step.action))
            if atoms is None:
                atoms = atoms_by_action[id(step.action)] = _find_unconditional_atoms(step.action, predicate, value)
            if atoms:
                binding = step.binding
                for code in {self.task.code_of(atom.arguments, binding) for atom in atoms}:
                    steps_by_code.setdefault(code, []).append(number)
        return steps_by_code

    def find_step_span(self, step: int) -> Span | None:
        """Return the place of a step in the plan."""
        return self.resolved.spans[step - 1] if 1 <= step <= len(self.resolved.spans) else None

    def find_token_span(self, step: int, token: int) -> Span | None:
        """Return the place of a token of a step, counted from 0; the place of the step if there is no such token."""
        span = self.find_step_span(step)
        if span is None:
            return None
        matches = [match for match in _TOKEN_OR_COMMENT.finditer(self.plan.slice(span)) if match[0][0] != ";"]
        if token >= len(matches):
            return span
        return Span(span.start + matches[token].start(), span.start + matches[token].end())

    def label_step(self, step: int, text: str) -> list[Label]:
        """Return a secondary label at a step; no label if the step has no place."""
        span = self.find_step_span(step)
        return [] if span is None else [Label(self.plan.name, span, text, False)]

    def step_text(self, step: int) -> str:
        """Return a step as ``(action object ..)``, cut after ``_MAX_STEP_LENGTH`` characters."""
        text = self.histories["halt"].format_action(step)
        return f"({text if len(text) <= _MAX_STEP_LENGTH else text[: _MAX_STEP_LENGTH - 3] + '...'})"

    def explain_literals(self, literals: tuple[UnmetLiteral, ...]) -> list[str]:
        """Return a text for each literal, which says that the literal does not have the required value."""
        texts = []
        for literal in literals:
            text = f"`{format_formula(self.task, literal.formula, literal.binding)}`"
            negative = "false" if isinstance(literal.formula, Atom) else "not true"
            texts.append(f"{text} is {negative if literal.required_value else 'true'}")
        return texts

    def label_changes(self, reasons: FailureReasons, changes_by_fact: ChangesByFact, letter: int) -> list[Label]:
        """Return labels at the steps that last changed the facts in the reasons, up to a letter."""
        texts_by_step: dict[int, list[str]] = {}
        for fact in reasons.facts:
            earlier_changes = [change for change in changes_by_fact[fact].changes if change.letter <= letter]
            for change in earlier_changes[-1:]:
                new_value = str(change.value).lower() if isinstance(change.value, bool) else str(change.value)
                for step in change.steps:
                    texts_by_step.setdefault(step, []).append(f"`{self.task.key_text(*fact)}` becomes {new_value}")
        return [
            label
            for step, texts in sorted(texts_by_step.items())
            for label in self.label_step(step, " and ".join(texts) + " here")
        ]

    def describe_stop(self) -> str:
        """Describe where the plan stops because of a failed step.

        A timed plan stops after a time, because the failed step may have begun earlier.
        """
        halt = self.outcomes["halt"]
        if self.resolved.timed is None:
            return f"before step {halt.failures[0].step}"
        if not halt.last_letter:
            return "before the first happening"
        try:
            return f"after time {float(halt.end_time):g}"
        except OverflowError:
            return f"after time {halt.end_time}"


def _find_unconditional_atoms(action: Action, predicate: int, value: bool) -> list[Atom]:
    """Return the atoms of a predicate to which an action always gives a value."""
    effects = [*action.start.effects, *(action.end.effects if action.end else ())]
    unconditional = [effect for effect in effects if not effect.variables and effect.condition is TRUE]
    atoms = [atom for effect in unconditional for atom in (effect.adds if value else effect.deletes)]
    return [atom for atom in atoms if atom.predicate == predicate]
