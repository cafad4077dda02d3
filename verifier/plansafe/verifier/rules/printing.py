"""Print rules and their parts; :mod:`plansafe.verifier.model.printing` prints the task."""

from __future__ import annotations

from collections.abc import Iterator

from plansafe.verifier.model.nodes import Task
from plansafe.verifier.model.printing import Printer
from plansafe.verifier.rules.model import PartMode, Rule, RulePart

_MODE_TEXTS: dict[PartMode, str] = {"always": "at every letter", "end": "at the last letter", "whole": "of the trace"}


def rule_text(task: Task, rule: Rule) -> str:
    """Print the kind, severity, hazard, targets and parameters of a rule; its parts are printed separately."""
    words = ["preference" if rule.preference else rule.kind, f"severity {rule.severity}"]
    if rule.hazard is not None:
        words.append(f"hazard {rule.hazard}")
    if rule.targets:
        words.append(f"targets {' '.join(rule.targets)}")
    if rule.declared_parameters:
        words.append(
            f"for {Printer(task).with_variables(rule.declared_parameters).print_variables(rule.declared_parameters)}"
        )
    if not rule.applicable:
        reasons = [" ".join(name) for name in rule.missing_names]
        if rule.exclusion_reason is not None:
            reasons.append(f"rule {rule.exclusion_reason}")
        words.append(f"not applicable: lacks {', '.join(reasons)}")
    return f"rule {rule.name}: {', '.join(words)}"


def match_texts(task: Task, rule: Rule) -> Iterator[str]:
    """Print the step patterns by which a rule about steps counts its instances."""
    for pattern in rule.step_patterns:
        wildcards = {-1 - argument: "_" for argument in pattern.atom.arguments if argument < 0}
        printer = Printer(task, wildcards).with_variables(rule.declared_parameters)
        count_text = f", {pattern.bindings_per_match} bindings each" if pattern.bindings_per_match != 1 else ""
        yield f"matches {printer.print_formula(pattern.atom)}{count_text}"


def part_text(task: Task, part: RulePart) -> str:
    """Print where a part is checked, for which objects, and what must hold."""
    printer = Printer(task).with_variables(part.parameters)
    if part.step is None:
        where = _MODE_TEXTS[part.mode]
    else:
        where = f"where {printer.print_formula(part.step)}"
        if part.guard is not None:
            where += f" and {printer.print_formula(part.guard)}"
        if part.after:
            where += ", in the state after"
    parameters = f", for {printer.print_variables(part.parameters)}" if part.parameters else ""
    return f"part, {where}{parameters}: {printer.print_formula(part.body)}"
