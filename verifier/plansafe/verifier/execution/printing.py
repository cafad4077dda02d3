"""A compiled task as text: the typed model, the rules with their parts, and the monitors of each part.

It helps to find a mistake in a domain, a specification or the engine, because it shows the compiled form.
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
from plansafe.verifier.model.printing import Printer, task_text
from plansafe.verifier.rules.model import PartMode, Rule, RulePart

_SIGNS = {True: "+", False: "-", None: "+-"}
_MODE_TEXTS: dict[PartMode, str] = {"always": "at every letter", "end": "at the last letter", "whole": "of the trace"}


def model_text(engine: Engine) -> str:
    """The compiled form of a domain, a problem and their rules as lines; no plan is run."""
    return task_text(engine.task) + rules_text(engine)


def rules_text(engine: Engine) -> str:
    """The rules with their parts, and for each part the states that violate it and its monitors."""
    lines: list[str] = []
    number = 0
    for rule in engine.rules:
        lines.append(_rule_text(engine.task, rule))
        lines += [f"  {text}" for text in _match_texts(engine.task, rule)]
        for part in rule.parts:
            lines.append(f"  {_part_text(engine.task, part)}")
            lines += [
                f"    {text}"
                for text in (*_describe_violating_states(engine.task, part), *_monitor_texts(engine, number))
            ]
            number += 1
    return "".join([line + "\n" for line in lines])


def _rule_text(task: Task, rule: Rule) -> str:
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
        missing_names = ", ".join([" ".join(name) for name in rule.missing_names])
        words.append(f"not applicable: {rule.exclusion_reason or f'lacks {missing_names}'}")
    return f"rule {rule.name}: {', '.join(words)}"


def _match_texts(task: Task, rule: Rule) -> Iterator[str]:
    """Print the step patterns by which a rule about steps counts its instances."""
    for pattern in rule.step_patterns:
        wildcards = {-1 - argument: "_" for argument in pattern.atom.arguments if argument < 0}
        printer = Printer(task, wildcards).with_variables(rule.declared_parameters)
        count_text = f", {pattern.bindings_per_match} bindings each" if pattern.bindings_per_match != 1 else ""
        yield f"matches {printer.print_formula(pattern.atom)}{count_text}"


def _part_text(task: Task, part: RulePart) -> str:
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


def _describe_violating_states(task: Task, part: RulePart) -> Iterator[str]:
    """The states that violate a part about single states: its negation in disjunctive normal form."""
    if is_temporal(part.body) or part.mode == "whole":
        return
    body = drop_impossible_equations(part.body, {v.slot: v.domain for v in part.parameters}, task.domains)
    disjuncts = convert_to_dnf(body, False)
    if disjuncts is None:
        yield "breaks in too many ways to list"
        return
    printer = Printer(task).with_variables(part.parameters)
    for disjunct in disjuncts:
        yield f"breaks where {_disjunct_text(printer, disjunct)}"


def _disjunct_text(printer: Printer, disjunct: Disjunct) -> str:
    disjunct_printer = printer.with_variables(disjunct.variables)
    literals = [
        ("" if literal.positive else "not ") + disjunct_printer.print_formula(literal.formula)
        for literal in disjunct.literals
    ]
    prefix = f"for some {disjunct_printer.print_variables(disjunct.variables)}, " if disjunct.variables else ""
    return prefix + (" and ".join(literals) or "anything")


def _monitor_texts(engine: Engine, number: int) -> Iterator[str]:
    runtime = engine.prototype
    if runtime is None:
        yield "watched by nothing: there are too many instances"
        return
    part = engine.rule_set.parts[number]
    if not all([engine.task.domains[v.domain] for v in part.parameters]):
        yield "watched by nothing: it has no instance"
        return
    is_watched = False
    for monitor in runtime.monitors:
        if monitor.part == number:
            is_watched = True
            yield f"watched by {_monitor_text(engine, part, monitor)}, on {_triggers_text(engine, monitor)}"
    for checks in runtime.checks.values():
        for check in checks:
            if check.part == number:
                is_watched = True
                latched = ", with latches for the past" if isinstance(check, LatchedCheck) else ""
                when = "after" if check.after else "before"
                name = engine.task.predicates[check.predicate].name
                yield f"watched by a check {when} each `{name}`{latched}"
    if not is_watched:
        yield "watched by nothing: there are too many instances"


def _monitor_text(engine: Engine, part: RulePart, monitor: InvariantMonitor | Automaton) -> str:
    if isinstance(monitor, InvariantMonitor):
        return "the bindings that break it"
    kind = "a latch" if isinstance(monitor, Latch) else "an automaton"
    printer = Printer(engine.task).with_variables(part.parameters)
    return f"{kind} that reads {', '.join(printer.print_formulas(monitor.program.leaves)) or 'nothing'}"


def _triggers_text(engine: Engine, monitor: InvariantMonitor | Automaton) -> str:
    """The changes that may change a binding's value: facts that become true (``+``) or false (``-``)."""
    changes = list(list_changes(engine.emitter, monitor.list_triggers()))
    if isinstance(monitor, Automaton):  # changes of leaves without parameters wake it without a search
        searched = {predicate for predicate, _ in changes}
        changes += [(predicate, None) for predicate in monitor.all_readers.by_predicate if predicate not in searched]
    return " ".join(
        [f"{_SIGNS[added]}`{engine.task.get_symbol(predicate).name}`" for predicate, added in dict.fromkeys(changes)]
    )
