"""What the monitors of an untimed run remember, as a hashable key: what a search needs beside the state.

Two executions of one task that stand in equal states with equal keys have equal futures: the same continuations break
the same rules, and end alike. Equality is semantic where that is cheap. An instance that stands where the default does
is the default; a running deadline counts from now; the number of the letter counts only while a bound is ahead of it.
"""

from __future__ import annotations

from plansafe.verifier.execution.monitors.automaton import Automaton, Instance
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.latch import Latch
from plansafe.verifier.execution.monitors.program import Component, Program
from plansafe.verifier.execution.monitors.runtime import Runtime

Key = tuple[object, ...]


def monitor_key(runtime: Runtime | None, letter: int, blame: bool = False) -> Key:
    """The memory of ``runtime`` after it has arrived at ``letter`` of an untimed trace.

    With ``blame``, what the blame of later findings depends on belongs to it, too (for verdicts that count only some of
    the findings). Linear in the number of live instances. What is not in the key: what the state alone decides, how
    often rules came into play, and which violations there have been (only whether there were any).
    """
    if runtime is None:
        return ()
    soft = _soft(runtime)
    out: list[object] = []
    violated = undecided = False
    for monitor in runtime.monitors:
        if monitor.part in soft:
            continue
        violated = violated or bool(monitor.violations)
        if isinstance(monitor, Invariant):
            # Its episodes are a function of the state, and what is undecided in the last state will be asked there.
            undecided = undecided or bool(monitor.undecided and not monitor.final)
            violated = violated or bool(monitor.episodes and not monitor.final)
            if blame:
                out.append(frozenset([(b, e.start == 0, e.touched) for b, e in monitor.episodes.items()]))
        else:
            undecided = undecided or bool(monitor.undecided)
            out.append(_remembered(monitor, letter))
            if isinstance(monitor, Latch):
                out.append(frozenset(monitor.unknown))
            if blame and monitor._early:
                out.append(_blamed(monitor))
    for checks in runtime.checks.values():
        for check in checks:
            if check.part not in soft:
                violated = violated or bool(check.violations)
                undecided = undecided or bool(check.undecided)
    out += [violated, undecided]
    if blame and violated:
        out.append(frozenset([(v.part, v.binding, v.blame) for v in _hard(runtime, soft)]))
    return tuple(out)


def program_key(program: Program, state: int, letter: int) -> Key:
    """What the automaton of one instance remembers after ``letter`` letters of an untimed trace."""
    return _state(program, state, letter), min(letter, _horizon(program))


def _soft(runtime: Runtime) -> frozenset[int]:
    """The parts of preferences, which count for nothing.

    Where numbers may be undefined they do: a preference that cannot be decided makes the verdict UNKNOWN.
    """
    plan = runtime.plan
    if plan.task.functions:
        return frozenset()
    return frozenset([n for n, part in enumerate(plan.parts) if plan.rules[part.rule].preference])


def _hard(runtime: Runtime, soft: frozenset[int]) -> list[Violation]:
    return [v for v in runtime.violations() if v.part not in soft]


def _remembered(automaton: Automaton, letter: int) -> Key:
    """The automaton states of all bindings, and how far its bounds are."""
    program = automaton.program
    states = {binding: _state(program, i.state, letter) for binding, i in automaton.instances.items()}
    if automaton.closed or not automaton.open_bindings():
        default: object = None
        done: frozenset[object] = frozenset()
    else:
        default = _state(program, automaton.default.state, letter)
        states = {binding: state for binding, state in states.items() if state != default}
        done = frozenset(automaton.done)
    live = default is not None or bool(states)
    return (default, frozenset(states.items()), done, min(letter, _horizon(program)) if live else 0)


def _state(program: Program, state: int, letter: int) -> object:
    """A state of a program; where a clock runs, the time since it started instead of the time at which it did."""
    if not program.clocked:
        return state
    past, components, output = program._states[state]
    return past, tuple([_since(c, own, letter) for c, own in zip(program._components, components, strict=True)]), output


def _since(component: Component, own: object, letter: int) -> object:
    if component.kind == "always-within" and own is not None and not isinstance(own, str):
        return letter - own  # type: ignore[operator]
    return own


def _horizon(program: Program) -> int:
    """The first letter of an untimed trace at which no bound of the formula makes a difference any more."""
    bounds = [
        bound
        for component in program._components
        if component.kind in ("within", "hold-during", "hold-after")
        for bound in component.bounds
    ]
    return max(0, int(max(bounds)) + 2) if bounds else 0


def _blamed(automaton: Automaton) -> Key:
    """What decides whether findings of an automaton are pre-existing or worsened."""
    everyone: list[tuple[object, Instance]] = [(None, automaton.default), *automaton.instances.items()]
    everyone += [(binding, instance) for binding, (instance, _) in automaton._tracked.items()]
    return (
        frozenset([(b, i.at_start, i.ceased, i.violated) for b, i in everyone]),
        frozenset([(n, frozenset(keys)) for n, keys in automaton._touched_early.items()]),
    )
