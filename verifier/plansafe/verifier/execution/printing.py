"""Print the compiled form of a task: the typed model, the rules with their parts, and the monitors of each part.

The text helps to find a mistake in a domain, a specification or the engine.
"""

from __future__ import annotations

from collections.abc import Iterator

from plansafe.verifier.compile.normal_forms import Disjunct, convert_to_dnf, drop_impossible_equations
from plansafe.verifier.compile.triggers import list_changes
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.latch import Latch, LatchedCheck
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.model.operations import is_temporal
from plansafe.verifier.model.printing import Printer, format_task
from plansafe.verifier.rules.model import PartMode, Rule, RulePart

_SIGNS = {True: "+", False: "-", None: "+-"}
"""By value that a change gives to a fact: its sign; ``None``: a change in either direction."""
_MODE_TEXTS: dict[PartMode, str] = {"always": "at every letter", "end": "at the last letter", "whole": "of the trace"}


def model_text(engine: Engine) -> str:
    """Return the compiled form of a domain, a problem and their rules; no plan is run."""
    return format_task(engine.task) + rules_text(engine)


def rules_text(engine: Engine) -> str:
    """Return the rules with their parts, and for each part the states that violate it and its monitors."""
    lines: list[str] = []
    part_number = 0
    for rule in engine.rules:
        lines.append(_rule_text(engine.task, rule))
        lines += [f"  {text}" for text in _step_pattern_texts(engine.task, rule)]
        for part in rule.parts:
            lines.append(f"  {_part_text(engine.task, part)}")
            lines += [f"    {text}" for text in _violation_texts(engine.task, part)]
            lines += [f"    {text}" for text in _monitor_texts(engine, part_number)]
            part_number += 1
    return "".join([line + "\n" for line in lines])


def _rule_text(task: Task, rule: Rule) -> str:
    """Return the kind, severity, hazard, targets and parameters of a rule; its parts are printed separately."""
    phrases = ["preference" if rule.preference else rule.kind, f"severity {rule.severity}"]
    if rule.hazard is not None:
        phrases.append(f"hazard {rule.hazard}")
    if rule.targets:
        phrases.append(f"targets {' '.join(rule.targets)}")
    if rule.declared_parameters:
        printer = Printer(task).with_variables(rule.declared_parameters)
        phrases.append(f"for {printer.format_variables(rule.declared_parameters)}")
    if not rule.applicable:
        missing_names = ", ".join([" ".join(name) for name in rule.missing_names])
        phrases.append(f"not applicable: {rule.exclusion_reason or f'lacks {missing_names}'}")
    return f"rule {rule.name}: {', '.join(phrases)}"


def _step_pattern_texts(task: Task, rule: Rule) -> Iterator[str]:
    """Yield the step patterns by which a rule about steps counts its instances."""
    for pattern in rule.step_patterns:
        wildcards = {-1 - argument: "_" for argument in pattern.atom.arguments if argument < 0}
        printer = Printer(task, wildcards).with_variables(rule.declared_parameters)
        count_text = f", {pattern.bindings_per_match} bindings each" if pattern.bindings_per_match != 1 else ""
        yield f"matches {printer.format_formula(pattern.atom)}{count_text}"


def _part_text(task: Task, part: RulePart) -> str:
    """Return where a part is checked, for which objects, and what must hold."""
    printer = Printer(task).with_variables(part.parameters)
    if part.step is None:
        where = _MODE_TEXTS[part.mode]
    else:
        where = f"where {printer.format_formula(part.step)}"
        if part.guard is not None:
            where += f" and {printer.format_formula(part.guard)}"
        if part.after:
            where += ", in the state after"
    parameters = f", for {printer.format_variables(part.parameters)}" if part.parameters else ""
    return f"part, {where}{parameters}: {printer.format_formula(part.body)}"


def _violation_texts(task: Task, part: RulePart) -> Iterator[str]:
    """Yield the states that violate a part about single states: one text for each disjunct of its negation."""
    if is_temporal(part.body) or part.mode == "whole":
        return
    body = drop_impossible_equations(part.body, {v.slot: v.domain for v in part.parameters}, task.domains)
    disjuncts = convert_to_dnf(body, False)
    if disjuncts is None:
        yield "too many disjuncts to list"
        return
    printer = Printer(task).with_variables(part.parameters)
    for disjunct in disjuncts:
        yield f"breaks where {_disjunct_text(printer, disjunct)}"


def _disjunct_text(printer: Printer, disjunct: Disjunct) -> str:
    """Return the variables and literals of a disjunct as a sentence."""
    disjunct_printer = printer.with_variables(disjunct.variables)
    literals = [
        ("" if literal.positive else "not ") + disjunct_printer.format_formula(literal.formula)
        for literal in disjunct.literals
    ]
    prefix = f"for some {disjunct_printer.format_variables(disjunct.variables)}, " if disjunct.variables else ""
    return prefix + (" and ".join(literals) or "anything")


def _monitor_texts(engine: Engine, part_number: int) -> Iterator[str]:
    """Yield the monitors and checks of a part; if there are none, why there are none."""
    part = engine.rule_set.parts[part_number]
    runtime = engine.prototype
    if runtime is not None and not all([engine.task.domains[v.domain] for v in part.parameters]):
        yield "watched by nothing: it has no instance"
        return
    monitors = [] if runtime is None else [m for m in runtime.monitors if m.part == part_number]
    all_checks = [] if runtime is None else [check for checks in runtime.checks.values() for check in checks]
    checks = [check for check in all_checks if check.part == part_number]
    for monitor in monitors:
        yield f"watched by {_monitor_text(engine, part, monitor)}, on {_triggers_text(engine, monitor)}"
    for check in checks:
        latched = ", with latches for the past" if isinstance(check, LatchedCheck) else ""
        when = "after" if check.after else "before"
        name = engine.task.predicates[check.predicate].name
        yield f"watched by a check {when} each `{name}`{latched}"
    if not monitors and not checks:
        yield "watched by nothing: there are too many instances"


def _monitor_text(engine: Engine, part: RulePart, monitor: InvariantMonitor | Automaton) -> str:
    """Return what a monitor keeps, and for an automaton the formulas that it reads."""
    if isinstance(monitor, InvariantMonitor):
        return "the bindings that break it"
    kind = "a latch" if isinstance(monitor, Latch) else "an automaton"
    printer = Printer(engine.task).with_variables(part.parameters)
    return f"{kind} that reads {', '.join(printer.format_formulas(monitor.program.leaves)) or 'nothing'}"


def _triggers_text(engine: Engine, monitor: InvariantMonitor | Automaton) -> str:
    """Return the changes that may change a binding's value: facts that become true (``+``) or false (``-``)."""
    changes = list(list_changes(engine.emitter, monitor.list_triggers()))
    if isinstance(monitor, Automaton):  # changes of leaves without parameters wake it without a search
        searched = {symbol_index for symbol_index, _ in changes}
        changes += [
            (symbol_index, None) for symbol_index in monitor.all_readers.pattern_numbers if symbol_index not in searched
        ]
    return " ".join(
        [
            f"{_SIGNS[added]}`{engine.task.get_symbol(symbol_index).name}`"
            for symbol_index, added in dict.fromkeys(changes)
        ]
    )
