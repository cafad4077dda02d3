"""Pending obligations of rules: conditions that must hold at some later letter, or at the end.

Sound but incomplete: every plan that keeps all rules satisfies each of these, and there may be more.
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.program import Program
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.trace_operators import BooleanExpression, ComponentState
from plansafe.verifier.model.nodes import FALSE, TRUE, And, Formula, Not, Or, Truth
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria


class Obligation(NamedTuple):
    """A state formula that must become true, and the objects of its slots, as pairs."""

    formula: Formula
    binding: tuple[tuple[int, int], ...]


def find_pending_obligations(runtime: Runtime, criteria: VerdictCriteria = EVERY_VIOLATION) -> list[Obligation]:
    """Find the conditions that must become true.

    If only introduced violations decide (``criteria``), the instances that were violated at letter 0 are left out.
    """
    nondecisive_parts = runtime.rule_set.find_nondecisive_parts(criteria)
    only_introduced = criteria.ignores_preexisting
    obligations: list[Obligation] = []
    for monitor in runtime.monitors:
        if monitor.part in nondecisive_parts:
            continue
        if isinstance(monitor, InvariantMonitor):
            if monitor.final:
                slots = monitor.holds.slots
                obligations += [
                    Obligation(monitor.holds.formula, tuple(zip(slots, binding, strict=True)))
                    for binding, episode in monitor.episodes.items()
                    if not (only_introduced and episode.start == 0)
                ]
        elif not monitor.program.past_mode:
            obligations += _find_automaton_obligations(monitor, only_introduced)
    return obligations


def _find_automaton_obligations(automaton: Automaton, only_introduced: bool) -> list[Obligation]:
    """Find the obligations of the instances that an automaton monitors."""
    program = automaton.program
    slots = [v.slot for v in automaton.parameters]
    instances = list(automaton.instances.items())
    if not automaton.default_retired and not automaton.parameters:
        instances.append(((), automaton.default_instance))
    return [
        Obligation(formula, tuple(zip(slots, binding, strict=True)))
        for binding, instance in instances
        if not (only_introduced and instance.violated_at_start)
        for formula in _find_component_conditions(program, program.skeleton, program.states[instance.state][1])
    ]


def _find_component_conditions(
    program: Program, skeleton: BooleanExpression, components: tuple[ComponentState, ...]
) -> list[Formula]:
    """Find the conditions that the components of a conjunction require at some later letter, or at the end."""
    if skeleton.kind == "and":
        return [formula for part in skeleton.parts for formula in _find_component_conditions(program, part, components)]
    if skeleton.kind != "component":
        return []
    component, state = program.components[skeleton.number], components[skeleton.number]
    values = component.values
    match component.kind:
        case "ltl" if isinstance(state, int):
            return _find_residual_conditions(program, state)
        case "always-within" if state is not None and not isinstance(state, str):
            return [_make_necessary_condition(program, values[1])]
        case "within" if state == 0:
            return [_make_necessary_condition(program, values[0])]
        case "at-end" | "hold-during" | "hold-after" if state is False:
            return [_make_necessary_condition(program, values[0])]
        case "ltl" | "always-within" | "within" | "at-end" | "hold-during" | "hold-after":
            return []
        case "at-most-once" | "sometime-before":
            return []
        case _:
            assert_never(component.kind)


def _find_residual_conditions(program: Program, number: int) -> list[Formula]:
    """Return the conditions that a residual formula requires at some later letter."""
    node = program.progression.nodes[number]
    match node.kind:
        case "and":
            return [formula for part in node.parts for formula in _find_residual_conditions(program, part)]
        case "sometime":
            return [_make_necessary_letter_condition(program, node.operands[0])]
        case "until":
            return [_make_necessary_letter_condition(program, node.operands[1])]
        case _:
            return []


def _make_necessary_letter_condition(program: Program, number: int) -> Formula:
    """Return a state formula that a residual formula implies at the letter at which it holds."""
    node = program.progression.nodes[number]
    match node.kind:
        case "bit" if node.bit % 2 == 0:
            leaf = program.leaves[node.bit // 2]
            return leaf if node.positive else Not(leaf)
        case "and":
            return And(tuple([_make_necessary_letter_condition(program, part) for part in node.parts]))
        case "or":
            return Or(tuple([_make_necessary_letter_condition(program, part) for part in node.parts]))
        case "false":
            return FALSE
        case _:
            return TRUE


def _make_necessary_condition(program: Program, value: BooleanExpression, positive: bool = True) -> Formula:
    """Return a state formula that a past formula implies: its past subformulas count as true."""
    match value.kind:
        case "leaf":
            leaf = program.leaves[value.number]
            return leaf if positive else Not(leaf)
        case "constant":
            return Truth(bool(value.number) == positive)
        case "not":
            return _make_necessary_condition(program, value.parts[0], not positive)
        case "and" | "or":
            parts = tuple([_make_necessary_condition(program, part, positive) for part in value.parts])
            return And(parts) if (value.kind == "and") == positive else Or(parts)
        case _:
            return TRUE
