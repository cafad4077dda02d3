"""What the rules still demand of the future: conditions that must hold at some later letter, or at the end.

Sound and incomplete: whoever keeps all rules makes each of these true (or finds it so), and there may be more.
"""

from __future__ import annotations

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.program import Program, Skeleton, Value
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.model.nodes import FALSE, TRUE, And, Formula, Not, Or, Truth

Demand = tuple[Formula, tuple[tuple[int, int], ...]]
"""A state formula, and the objects of its slots."""


def pending(runtime: Runtime, blame: bool = False) -> list[Demand]:
    """What must come true. With ``blame``, nothing of what was wrong at letter 0 is demanded."""
    plan = runtime.plan
    out: list[Demand] = []
    for monitor in runtime.monitors:
        if plan.rules[plan.parts[monitor.part].rule].preference:
            continue
        if isinstance(monitor, Invariant):
            if monitor.final:
                slots = monitor.holds.slots
                out += [
                    (monitor.holds.formula, tuple(zip(slots, binding, strict=True)))
                    for binding, episode in monitor.episodes.items()
                    if not (blame and episode.start == 0)
                ]
        elif not monitor.program.past_mode:
            out += _of(monitor, blame)
    return out


def _of(automaton: Automaton, blame: bool) -> list[Demand]:
    program = automaton.program
    slots = [v.slot for v in automaton.parameters]
    instances = list(automaton.instances.items())
    if not automaton.closed and not automaton.parameters:
        instances.append(((), automaton.default))
    return [
        (formula, tuple(zip(slots, binding, strict=True)))
        for binding, instance in instances
        if not (blame and instance.at_start)
        for formula in _demanded(program, program.skeleton, program.states[instance.state][1])
    ]


def _demanded(program: Program, skeleton: Skeleton, components: tuple[object, ...]) -> list[Formula]:
    kind, content = skeleton
    if kind == "and":
        return [f for part in content for f in _demanded(program, part, components)]  # type: ignore[attr-defined]
    if kind != "component" or not isinstance(content, int):
        return []
    component, own = program.components[content], components[content]
    values = component.values
    match component.kind:
        case "ltl" if isinstance(own, int):
            return _residual(program, own)
        case "always-within" if own is not None and not isinstance(own, str):
            return [_condition(program, values[1])]
        case "within" if own == 0:
            return [_condition(program, values[0])]
        case "at-end" | "hold-during" | "hold-after" if own is False:
            return [_condition(program, values[0])]
        case _:
            return []


def _residual(program: Program, number: int) -> list[Formula]:
    """The conditions that a residual formula says will hold."""
    node = program.progression.nodes[number]
    match node[0]:
        case "and":
            return [f for part in node[1] for f in _residual(program, part)]  # type: ignore[attr-defined]
        case "sometime":
            return [_state_formula(program, node[1])]  # type: ignore[arg-type]
        case "until":
            return [_state_formula(program, node[2])]  # type: ignore[arg-type]
        case _:
            return []


def _state_formula(program: Program, number: int) -> Formula:
    """What a formula of the progression demands of the letter where it holds."""
    node = program.progression.nodes[number]
    match node[0]:
        case "bit" if node[1] % 2 == 0:  # type: ignore[operator]
            leaf = program.leaves[node[1] // 2]  # type: ignore[operator]
            return leaf if node[2] else Not(leaf)
        case "and":
            return And(tuple([_state_formula(program, part) for part in node[1]]))  # type: ignore[attr-defined]
        case "or":
            return Or(tuple([_state_formula(program, part) for part in node[1]]))  # type: ignore[attr-defined]
        case "false":
            return FALSE
        case _:
            return TRUE


def _condition(program: Program, value: Value, positive: bool = True) -> Formula:
    """A past formula as a state formula that it implies: what it says of the past counts as true."""
    kind, content = value
    match kind:
        case "leaf":
            assert isinstance(content, int)
            leaf = program.leaves[content]
            return leaf if positive else Not(leaf)
        case "constant":
            return Truth(bool(content) == positive)
        case "not":
            return _condition(program, content, not positive)  # type: ignore[arg-type]
        case "and" | "or":
            parts = tuple([_condition(program, part, positive) for part in content])  # type: ignore[attr-defined]
            return And(parts) if (kind == "and") == positive else Or(parts)
        case _:
            return TRUE
