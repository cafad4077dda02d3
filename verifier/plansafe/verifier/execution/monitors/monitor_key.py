"""The memory of the monitors of an untimed run as a hashable key; with the state, it identifies a node of a search.

Two executions of one task with equal states and equal keys have equal futures: the same continuations break the same
rules, and both may end at the same states. Where it is cheap, keys of equivalent memories are equal: an instance in the
default state is left out, a running deadline counts from now, and the letter counts only while a bound is ahead of it.
"""

from __future__ import annotations

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.latch import Latch
from plansafe.verifier.execution.monitors.program import Program
from plansafe.verifier.execution.monitors.runtime import MonitorMemory, Runtime
from plansafe.verifier.execution.monitors.trace_operators import Component, ComponentState, FinalState
from plansafe.verifier.execution.monitors.violation_log import EARLY
from plansafe.verifier.rules.verdict_criteria import CAUSED_BLAMES, EVERY_VIOLATION, VerdictCriteria

MonitorKey = tuple[object, ...]


def make_monitor_key(runtime: Runtime | None, letter: int, criteria: VerdictCriteria = EVERY_VIOLATION) -> MonitorKey:
    """Return the memory of ``runtime`` at ``letter`` of an untimed trace, as far as it affects decisive violations.

    The key is empty without monitors. If only violations that the plan caused decide, it includes what the blame for
    later violations depends on. It excludes all that follows from the state, and the numbers of violations and
    candidates. Linear in the live instances of the monitors that have changed since their memory was last computed.
    """
    if runtime is None:
        return ()
    nondecisive, memories = runtime.rule_set.find_nondecisive_parts(criteria), runtime.key_memories
    # If numbers may be undefined, preferences count: an undecided one makes the verdict UNKNOWN.
    has_numbers = bool(runtime.rule_set.task.functions)
    ignored = runtime.rule_set.find_parts_below_severity(criteria) if has_numbers else nondecisive
    key: list[object] = []
    is_violated = is_undecided = False
    for number, monitor in enumerate(runtime.monitors):
        # All rules that use a latch share it, so its part does not matter.
        if monitor.part in ignored and not isinstance(monitor, Latch):
            continue
        memory = memories.get(number)
        if memory is None or (memory.blame_key is None and criteria.ignores_preexisting):
            memory = _compute_memory(monitor, letter, criteria.ignores_preexisting)
            if isinstance(monitor, InvariantMonitor) or not (monitor.program.clocked or monitor.program.horizon):
                memories[number] = memory
        if memory.key:
            key.append(memory.key)
        if criteria.ignores_preexisting and memory.blame_key:
            key.append((number, memory.blame_key))
        counts = memory.is_caused if criteria.ignores_preexisting else memory.is_violated
        is_violated = is_violated or (counts and monitor.part not in nondecisive)
        is_undecided = is_undecided or memory.is_undecided
    checks = [check for checks in runtime.checks.values() for check in checks if check.part not in ignored]
    is_violated = is_violated or any([bool(check.violations) and check.part not in nondecisive for check in checks])
    is_undecided = is_undecided or any([bool(check.undecided) for check in checks])
    return (*key, is_violated, is_undecided)


def _compute_memory(monitor: InvariantMonitor | Automaton, letter: int, ignores_preexisting: bool) -> MonitorMemory:
    """Return the memory of a monitor at a letter, with the key of blame if the criteria need it."""
    blame_key, is_caused = _make_blame_key(monitor) if ignores_preexisting else (None, False)
    if isinstance(monitor, InvariantMonitor):
        # The episodes follow from the state; undecided instances of the last state are evaluated again.
        lasts = not monitor.final
        is_violated = bool(monitor.violations or (monitor.episodes and lasts))
        return MonitorMemory((), is_violated, bool(monitor.undecided and lasts), blame_key, is_caused)
    key = _make_automaton_key(monitor, letter)
    if isinstance(monitor, Latch):
        key = (*key, frozenset(monitor.unknown_bindings))
    return MonitorMemory(key, bool(monitor.violations), bool(monitor.undecided), blame_key, is_caused)


def _make_blame_key(monitor: InvariantMonitor | Automaton) -> tuple[MonitorKey, bool]:
    """Return what the blame for violations at letter 0 depends on, and whether the plan has caused a violation."""
    if isinstance(monitor, InvariantMonitor):
        blames = {
            binding: episode.decide_blame(mentions_actions=monitor.mentions_actions)
            for binding, episode in monitor.episodes.items()
        }
        if monitor.final:
            # Only the last state counts: a worsened violation may still end.
            initial_blames = frozenset([(binding, blame) for binding, blame in blames.items() if blame != "introduced"])
            return (initial_blames,) if initial_blames else (), False
        pre_existing = frozenset([binding for binding, blame in blames.items() if blame not in CAUSED_BLAMES])
        is_caused = len(pre_existing) < len(blames) or any([v.blame in CAUSED_BLAMES for v in monitor.violations])
        return (pre_existing,) if pre_existing else (), is_caused
    log = monitor.violation_log
    is_caused = any([log.decide_blame(n) in CAUSED_BLAMES for n in range(len(monitor.violations))])
    if not log.tracks_initial:
        return (), is_caused
    instances = [(binding, i) for binding, i in monitor.instances.items() if i.violated_at_start]
    instances_key = frozenset([(binding, i.was_satisfied, log.was_affected(binding)) for binding, i in instances])
    unsettled_bindings = frozenset([v.binding for v in monitor.violations if v.blame == EARLY and not is_caused])
    default_instance = monitor.default_instance
    default_key: object = None
    if default_instance.violated_at_start and not monitor.default_retired:
        affected_keys = frozenset([(pattern, frozenset(keys)) for pattern, keys in log.affected_keys.items()])
        default_key = default_instance.was_satisfied, affected_keys
    return (instances_key, unsettled_bindings, default_key), is_caused


def make_program_key(program: Program, state: int, letter: int) -> MonitorKey:
    """Return the memory of one instance's automaton after ``letter`` letters of an untimed trace."""
    return _make_state_key(program, state, letter), min(letter, program.horizon)


def _make_automaton_key(automaton: Automaton, letter: int) -> MonitorKey:
    """Return the automaton states of all bindings, and the letter as far as a bound is ahead of it."""
    program = automaton.program
    states = {binding: _make_state_key(program, i.state, letter) for binding, i in automaton.instances.items()}
    default_key: object = None
    retired: frozenset[object] = frozenset()
    if not automaton.default_retired and automaton.has_shared_bindings():
        default_key = _make_state_key(program, automaton.default_instance.state, letter)
        states = {binding: state for binding, state in states.items() if state != default_key}
        retired = frozenset(automaton.retired)
    is_live = default_key is not None or bool(states)
    return (default_key, frozenset(states.items()), retired, min(letter, program.horizon) if is_live else 0)


def _make_state_key(program: Program, state: int, letter: int) -> object:
    """Return a state of a program, with each running clock replaced by the time since it started."""
    if not program.clocked:
        return state
    past, component_states, output = program.states[state]
    components = zip(program.components, component_states, strict=True)
    return past, tuple([_subtract_letter(component, state, letter) for component, state in components]), output


def _subtract_letter(component: Component, state: ComponentState, letter: int) -> ComponentState:
    """Return the state of a component, with the time of a trigger replaced by the time since the trigger."""
    if component.kind == "always-within" and state is not None and not isinstance(state, FinalState):
        return letter - state
    return state
