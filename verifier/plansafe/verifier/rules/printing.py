"""Rules and their parts as text, beside the task that :mod:`plansafe.verifier.model.printing` prints."""

from __future__ import annotations

from collections.abc import Iterator

from plansafe.verifier.model.nodes import OpenPredicate, Task, WorldInvariant
from plansafe.verifier.model.printing import Printer
from plansafe.verifier.rules.model import Rule, RulePart

_WHEN = {"always": "at every letter", "end": "at the last letter", "whole": "of the trace"}


def rule_text(task: Task, rule: Rule) -> str:
    """What a rule is: its kind, how it is reported, what it is about. Its parts are printed one by one."""
    words = ["preference" if rule.preference else rule.kind, f"severity {rule.severity}"]
    if rule.hazard is not None:
        words.append(f"hazard {rule.hazard}")
    if rule.targets:
        words.append(f"targets {' '.join(rule.targets)}")
    if rule.declared:
        words.append(f"for {Printer(task).inside(rule.declared).variables(rule.declared)}")
    if not rule.applicable:
        words.append(f"not applicable: lacks {', '.join([' '.join(lack) for lack in rule.missing_names])}")
    return f"rule {rule.name}: {', '.join(words)}"


def match_texts(task: Task, rule: Rule) -> Iterator[str]:
    """The steps that a rule about steps counts its instances by."""
    for match in rule.step_patterns:
        anything = {-1 - a: "_" for a in match.atom.arguments if a < 0}
        printer = Printer(task, anything).inside(rule.declared)
        each = f", {match.bindings_per_match} bindings each" if match.bindings_per_match != 1 else ""
        yield f"matches {printer.formula(match.atom)}{each}"


def part_text(task: Task, part: RulePart) -> str:
    """One part: when it is asked, for which objects, and what must hold."""
    printer = Printer(task).inside(part.parameters)
    if part.step is None:
        when = _WHEN[part.mode]
    else:
        when = f"where {printer.formula(part.step)}"
        if part.guard is not None:
            when += f" and {printer.formula(part.guard)}"
        if part.after:
            when += ", in the state after"
    whose = f", for {printer.variables(part.parameters)}" if part.parameters else ""
    return f"part, {when}{whose}: {printer.formula(part.body)}"


def opening_text(task: Task, opening: OpenPredicate) -> str:
    """Facts that a specification leaves open; equal numbers are equal objects."""
    printer = Printer(task)
    types = [printer.type(domain) for domain in opening.domains]
    words = [f"?{number} - {text}" for number, text in zip(opening.arguments, types, strict=True)]
    return f"open ({' '.join([task.predicates[opening.predicate].name, *words])})"


def invariant_text(task: Task, invariant: WorldInvariant) -> str:
    """What a specification says of the initial state in every world."""
    outer = Printer(task).inside(invariant.parameters)
    inner = outer.inside(invariant.counted)
    said = outer.formula(invariant.formula) if invariant.kind == "holds" else " ".join(inner.formulas(invariant.atoms))
    whose = f", for {outer.variables(invariant.parameters)}" if invariant.parameters else ""
    counted = f", counting {inner.variables(invariant.counted)}" if invariant.counted else ""
    return f"invariant {invariant.name}{whose}: {invariant.kind}{counted} {said}"
