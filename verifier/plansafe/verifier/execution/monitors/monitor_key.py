"""What the monitors of an untimed run remember, as a hashable key: what a search needs beside the state.

Two executions of one task that stand in equal states with equal keys have equal futures: the same continuations break
the same rules, and end alike. Equality is semantic where that is cheap. An instance that stands where the default does
is the default; a running deadline counts from now; the number of the letter counts only while a bound is ahead of it.
"""

from __future__ import annotations

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.latch import Latch
from plansafe.verifier.execution.monitors.program import Component, ComponentState, Program
from plansafe.verifier.execution.monitors.runtime import MonitorMemory, Runtime
from plansafe.verifier.rules.verdict_criteria import CAUSED_BLAMES, EVERY_VIOLATION, VerdictCriteria

Key = tuple[object, ...]


def monitor_key(runtime: Runtime | None, letter: int, criteria: VerdictCriteria = EVERY_VIOLATION) -> Key:
    """The memory of ``runtime`` after it has arrived at ``letter`` of an untimed trace, as far as it decides.

    Where only what the plan caused is in ``criteria``, what the blame of later findings depends on belongs to it, too.
    Linear in the number of live instances of the monitors that have read something since they were asked last. What is
    not in the key: what the state alone decides, how often rules came into play, and which violations there have been
    (only whether there were any).
    """
    if runtime is None:
        return ()
    idle, left_out, known = (
        runtime.rule_set.nondecisive_parts(criteria),
        _left_out(runtime, criteria),
        runtime.key_memories,
    )
    out: list[object] = []
    violated = undecided = False
    for number, monitor in enumerate(runtime.monitors):
        # A latch belongs to all rules that ask it, whichever comes first.
        if monitor.part in left_out and not isinstance(monitor, Latch):
            continue
        memory = known.get(number)
        if memory is None or (memory.early is None and criteria.only_introduced):
            memory = _memory(monitor, letter, criteria.only_introduced)
            if isinstance(monitor, Invariant) or not (monitor.program.clocked or monitor.program.horizon):
                known[number] = memory
        if memory.key:
            out.append(memory.key)
        if criteria.only_introduced and memory.early:
            out.append((number, memory.early))
        found = memory.caused if criteria.only_introduced else memory.violated
        violated = violated or (found and monitor.part not in idle)
        undecided = undecided or memory.undecided
    checks = [check for checks in runtime.checks.values() for check in checks if check.part not in left_out]
    violated = violated or any([bool(check.violations) and check.part not in idle for check in checks])
    undecided = undecided or any([bool(check.undecided) for check in checks])
    return (*out, violated, undecided)


def _memory(monitor: Invariant | Automaton, letter: int, introduced: bool) -> MonitorMemory:
    early, caused = _early(monitor) if introduced else (None, False)
    if isinstance(monitor, Invariant):
        # Its episodes are a function of the state, and what is undecided in the last state will be asked there.
        lasting = not monitor.final
        violated = bool(monitor.violations or (monitor.episodes and lasting))
        return MonitorMemory((), violated, bool(monitor.undecided and lasting), early, caused)
    key = _remembered(monitor, letter)
    if isinstance(monitor, Latch):
        key = (*key, frozenset(monitor.unknown))
    return MonitorMemory(key, bool(monitor.violations), bool(monitor.undecided), early, caused)


def _early(monitor: Invariant | Automaton) -> tuple[Key, bool]:
    """What the blame of what was wrong at letter 0 depends on yet, and whether anything is the plan's doing already."""
    if isinstance(monitor, Invariant):
        blames = {b: e.blame(monitor.mentions_actions) for b, e in monitor.episodes.items()}
        if monitor.final:
            # Only the last state counts: what was worsened so far may still be mended.
            old = frozenset([(b, blame) for b, blame in blames.items() if blame != "introduced"])
            return (old,) if old else (), False
        kept = frozenset([b for b, blame in blames.items() if blame not in CAUSED_BLAMES])
        caused = len(kept) < len(blames) or any([v.blame in CAUSED_BLAMES for v in monitor.violations])
        return (kept,) if kept else (), caused
    caused = any([monitor.blame(n) in CAUSED_BLAMES for n in range(len(monitor.violations))])
    if not monitor.tracks_initial:
        return (), caused
    waiting = frozenset(
        [(b, i.ceased, monitor.was_touched(b)) for b, i in monitor.instances.items() if i.violated_at_start]
    )
    open_ = frozenset([v.binding for n, v in enumerate(monitor.violations) if v.blame == "early" and not caused])
    default = monitor.default
    others: object = None
    if default.violated_at_start and not monitor.default_retired:
        others = default.ceased, frozenset([(n, frozenset(keys)) for n, keys in monitor.touched_since_start.items()])
    return (waiting, open_, others), caused


def program_key(program: Program, state: int, letter: int) -> Key:
    """What the automaton of one instance remembers after ``letter`` letters of an untimed trace."""
    return _state(program, state, letter), min(letter, program.horizon)


def _left_out(runtime: Runtime, criteria: VerdictCriteria) -> frozenset[int]:
    """The parts of preferences, and of rules that are not severe enough, which count for nothing.

    Where numbers may be undefined preferences do: one that cannot be decided makes the verdict UNKNOWN.
    """
    plan = runtime.rule_set
    return plan.parts_below_severity(criteria) if plan.task.functions else plan.nondecisive_parts(criteria)


def _remembered(automaton: Automaton, letter: int) -> Key:
    """The automaton states of all bindings, and how far its bounds are."""
    program = automaton.program
    states = {binding: _state(program, i.state, letter) for binding, i in automaton.instances.items()}
    if automaton.default_retired or not automaton.has_shared_bindings():
        default: object = None
        done: frozenset[object] = frozenset()
    else:
        default = _state(program, automaton.default.state, letter)
        states = {binding: state for binding, state in states.items() if state != default}
        done = frozenset(automaton.retired)
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
