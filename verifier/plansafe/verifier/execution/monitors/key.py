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
from plansafe.verifier.execution.monitors.program import Component, ComponentState, Program
from plansafe.verifier.execution.monitors.runtime import Memory, Runtime

Key = tuple[object, ...]


def monitor_key(runtime: Runtime | None, letter: int, exact: bool = False) -> Key:
    """The memory of ``runtime`` after it has arrived at ``letter`` of an untimed trace.

    With ``exact``, what the blame of later findings depends on belongs to it, too (for verdicts that count only some of
    the findings). Linear in the number of live instances of the monitors that have read something since they were asked
    last. What is not in the key: what the state alone decides, how often rules came into play, and which violations
    there have been (only whether there were any).
    """
    if runtime is None:
        return ()
    soft, known = _soft(runtime), runtime.memories
    memories: list[Memory] = []
    out: list[object] = []
    for number, monitor in enumerate(runtime.monitors):
        if monitor.part in soft:
            continue
        memory = known.get(number)
        if memory is None:
            memory = _memory(monitor, letter)
            if isinstance(monitor, Invariant) or not (monitor.program.clocked or monitor.program.horizon):
                known[number] = memory
        memories.append(memory)
        if exact:
            out.append(_blamed(monitor))
    out += [memory.key for memory in memories if memory.key]
    checks = [check for checks in runtime.checks.values() for check in checks if check.part not in soft]
    violated = any([memory.violated for memory in memories]) or any([bool(check.violations) for check in checks])
    undecided = any([memory.undecided for memory in memories]) or any([bool(check.undecided) for check in checks])
    out += [violated, undecided]
    if exact and violated:
        out.append(frozenset([(v.part, v.binding, v.blame) for v in _hard(runtime, soft)]))
    return tuple(out)


def _memory(monitor: Invariant | Automaton, letter: int) -> Memory:
    if isinstance(monitor, Invariant):
        # Its episodes are a function of the state, and what is undecided in the last state will be asked there.
        lasting = not monitor.final
        violated = bool(monitor.violations or (monitor.episodes and lasting))
        return Memory((), violated, bool(monitor.undecided and lasting))
    key = _remembered(monitor, letter)
    if isinstance(monitor, Latch):
        key = (*key, frozenset(monitor.unknown))
    return Memory(key, bool(monitor.violations), bool(monitor.undecided))


def program_key(program: Program, state: int, letter: int) -> Key:
    """What the automaton of one instance remembers after ``letter`` letters of an untimed trace."""
    return _state(program, state, letter), min(letter, program.horizon)


def _soft(runtime: Runtime) -> frozenset[int]:
    """The parts of preferences, which count for nothing.

    Where numbers may be undefined they do: a preference that cannot be decided makes the verdict UNKNOWN.
    """
    return frozenset() if runtime.plan.task.functions else runtime.plan.soft


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
    return (default, frozenset(states.items()), done, min(letter, program.horizon) if live else 0)


def _state(program: Program, state: int, letter: int) -> object:
    """A state of a program; where a clock runs, the time since it started instead of the time at which it did."""
    if not program.clocked:
        return state
    past, components, output = program.states[state]
    return past, tuple([_since(c, own, letter) for c, own in zip(program.components, components, strict=True)]), output


def _since(component: Component, own: ComponentState, letter: int) -> ComponentState:
    if component.kind == "always-within" and own is not None and not isinstance(own, str):
        return letter - own
    return own


def _blamed(monitor: Invariant | Automaton) -> Key:
    """What decides whether findings are pre-existing or worsened."""
    if isinstance(monitor, Invariant):
        return (frozenset([(b, e.start == 0, e.touched) for b, e in monitor.episodes.items()]),)
    if not monitor.early:
        return ()
    everyone: list[tuple[object, Instance]] = [(None, monitor.default), *monitor.instances.items()]
    everyone += [(binding, instance) for binding, (instance, _) in monitor.tracked.items()]
    return (
        frozenset([(b, i.at_start, i.ceased, i.violated) for b, i in everyone]),
        frozenset([(n, frozenset(keys)) for n, keys in monitor.touched_early.items()]),
    )
