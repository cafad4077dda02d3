"""What all findings of one plan share: its readings, their histories, and the texts and places of its steps."""

from __future__ import annotations

import re

from plansafe.grammar.diagnostics import Label, Span
from plansafe.verifier.execution.plan_steps import resolve_plan
from plansafe.verifier.execution.replay import HALT
from plansafe.verifier.model.evaluation import UnmetLiteral
from plansafe.verifier.model.nodes import Atom
from plansafe.verifier.model.printing import formula_text
from plansafe.verifier.reporting.consequences import Consequences, ExecutedPlan
from plansafe.verifier.reporting.fact_history import Fact, FactChanges, FactHistory, FailureReasons

PastFacts = dict[Fact, FactChanges]
_TOKEN = re.compile(r";[^\r\n]*|[^\s();]+")


class FindingContext:
    """The plan, its outcomes and histories by reading, and the causes of its findings."""

    def __init__(self, executed: ExecutedPlan, consequences: Consequences) -> None:
        self.compiled, self.plan, read, outcomes = executed
        self.task = self.compiled.task
        self.read = read or resolve_plan(self.compiled.engine, self.plan)
        self.outcomes = {outcome.reading: outcome for outcome in outcomes}
        self.consequences = consequences
        halted = FactHistory(self.compiled, self.read, outcomes[0])
        self.histories = {HALT: halted}
        for outcome in outcomes[1:]:
            self.histories[outcome.reading] = FactHistory(self.compiled, self.read, outcome, halted)

    def span(self, step: int) -> Span | None:
        """Return the place of a step in the plan."""
        return self.read.spans[step - 1] if 1 <= step <= len(self.read.spans) else None

    def token_span(self, step: int, token: int) -> Span | None:
        """Return the place of a token of a step."""
        span = self.span(step)
        if span is None:
            return None
        for number, match in enumerate(_TOKEN.finditer(self.plan.slice(span))):
            if number == token:
                return Span(span.start + match.start(), span.start + match.end())
        return span

    def step_label(self, step: int, text: str) -> list[Label]:
        """Return a secondary label at a step; no label if the step has no place."""
        span = self.span(step)
        return [] if span is None else [Label(self.plan.name, span, text, False)]

    def step_text(self, step: int) -> str:
        """Return a step as ``(action object ..)``, cut after 200 characters."""
        text = self.histories["halt"].action_text(step)
        return f"({text if len(text) <= 200 else text[:197] + '...'})"

    def literal_texts(self, literals: tuple[UnmetLiteral, ...]) -> list[str]:
        """Return for each literal that it does not have the required value."""
        texts = []
        for literal in literals:
            text = f"`{formula_text(self.task, literal.formula, literal.binding)}`"
            negative = "false" if isinstance(literal.formula, Atom) else "not true"
            texts.append(f"{text} is {negative if literal.required_value else 'true'}")
        return texts

    def change_labels(self, reasons: FailureReasons, past: PastFacts, letter: int) -> list[Label]:
        """Return labels at the steps that last changed the facts in the reasons."""
        texts_by_step: dict[int, list[str]] = {}
        for fact in reasons.facts:
            earlier = [change for change in past[fact].changes if change[0] <= letter]
            if earlier and earlier[-1][1]:
                _, steps, value = earlier[-1]
                value_name = "true" if value is True else "false" if value is False else str(value)
                for step in steps:
                    texts_by_step.setdefault(step, []).append(f"`{self.task.key_text(*fact)}` becomes {value_name}")
        return [
            label
            for step, texts in sorted(texts_by_step.items())
            for label in self.step_label(step, " and ".join(texts) + " here")
        ]

    def stop_text(self) -> str:
        """Return where the plan stops at a failed step; in a timed plan, the failed step may have begun earlier."""
        halt = self.outcomes["halt"]
        if self.read.timed is None:
            return f"before step {halt.failures[0].step}"
        return f"after time {float(halt.end):g}" if halt.letters else "before the first happening"
