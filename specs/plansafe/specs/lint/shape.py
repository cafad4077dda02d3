"""SC758: what can be seen on the text of a rule alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plansafe.grammar.diagnostics import Label
from plansafe.grammar.source import Source
from plansafe.verifier.model.operations import variable_slots
from plansafe.verifier.rules.model import Rule, shown_names


def unused_parameters(rule: Rule, label: Label, source: Source | None) -> Iterator[str]:
    """The declared parameters that occur in no formula and no step.

    A parameter that the text mentions elsewhere, but that a mapping or a macro left out, is no fault of the rule.
    """
    used: set[int] = set()
    for part in rule.parts:
        for formula in (part.body, part.guard, part.step):
            if formula is not None:
                used |= variable_slots(formula)
    used |= {-1 - a for match in rule.step_patterns for a in match.atom.arguments if a < 0}
    text = "" if source is None else re.sub(r'"(?:\\.|[^"\\])*"|;[^\r\n]*', "", source.slice(label.span)).lower()
    names = shown_names([v.name for v in rule.declared])
    for variable, name in zip(rule.declared, names, strict=True):
        if variable.slot not in used and len(re.findall(rf"{re.escape(name)}(?![^\s()])", text)) == 1:
            yield name


def missing_hazard_fields(rule: Rule) -> list[str]:
    """Which of hazard and target a rule of a specification does not name."""
    if rule.kind == "constraint":
        return []
    return [word for word, said in ((":hazard", rule.hazard), (":target", rule.targets)) if not said]
