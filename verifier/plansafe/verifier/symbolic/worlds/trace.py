"""The trace of a plan in all worlds at once.

In a world, the trace ends at the first happening in which a step fails, so letter ``i`` exists only in the worlds of
``alive[i]``. States are computed as if every step were executed; their literals are not used for other worlds. The
trace stores the changes of each happening, not the states. In an untimed plan, step ``i`` happens alone at time ``i``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.happening import END, START, Event
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed, TimedStep, Tolerance
from plansafe.verifier.model.footprints import Footprint, make_empty_footprint
from plansafe.verifier.model.limits import check_deadline
from plansafe.verifier.model.nodes import TRUE as ALWAYS
from plansafe.verifier.model.nodes import Number, Snap
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.worlds.formula_compiler import DerivedFacts
from plansafe.verifier.symbolic.worlds.step_encoder import NumericUpdate, SnapEffects, StepEncoder
from plansafe.verifier.symbolic.worlds.symbolic_state import Quantity, StateChanges, SymbolicState

Happening = tuple[Number, list[Event]]
"""A time and the events that happen together."""
FailureLiterals = dict[int, list[Literal]]
"""By the number of a step, worlds in which it fails."""


class SymbolicTrace(NamedTuple):
    """``changes[i]`` lead to letter ``i`` from the letter before it (from ``start``, S0); ``changes[0]`` is empty.

    ``alive[i]``: the worlds in which the trace has letter ``i``. ``events[i]`` happen after letter ``i``, and
    ``times[i]`` is its time. The trace ends with the last letter that any world has, or where ``limit`` says why the
    next happening was not encoded; ``is_complete``: all were. ``failing``: the worlds in which a step ends the trace.
    """

    start: SymbolicState
    changes: list[StateChanges]
    alive: list[Literal]
    events: list[list[Event]]
    times: list[Number]
    failing: dict[int, Literal]
    is_complete: bool
    limit: str | None


def list_untimed_happenings(steps: Sequence[GroundAction | IllFormed]) -> list[Happening]:
    """The happenings of an untimed plan."""
    return [
        (number, [Event(START, TimedStep(number, number - 1, number, None, step))])
        for number, step in enumerate(steps, 1)
    ]


class _EncodedEvent(NamedTuple):
    """An event with its time and its effects."""

    time: Number
    event: Event
    effects: SnapEffects


class TraceEncoder:
    """Encodes the happenings of one plan."""

    def __init__(
        self, engine: Engine, encoder: StepEncoder, derived: DerivedFacts | None, tolerance: Tolerance, timed: bool
    ) -> None:
        self.engine, self.encoder, self.circuit = engine, encoder, encoder.circuit
        self.tolerance = tolerance
        self._derived, self._timed = derived, timed
        self._running: list[TimedStep] = []
        """The steps of the durative actions under way."""
        self._start_states: dict[int, SymbolicState] = {}
        """By step under way, the state before its start, if effects at its end depend on it."""
        self._recent_events: list[_EncodedEvent] = []
        """The events less than the tolerance before the next happening."""
        self._reads: dict[tuple[str, int], Footprint] = {}
        """By the kind and the step of an event, the footprint of its reads."""

    def build_trace(
        self, start: SymbolicState, happenings: Iterable[Happening], deadline: float | None
    ) -> SymbolicTrace:
        """Encode happenings up to the first that no world can execute. Raises :class:`LimitReached`."""
        circuit, state = self.circuit, start.copy()
        trace = SymbolicTrace(start, [StateChanges([], [])], [TRUE], [], [0], {}, True, None)
        for time, events in happenings:
            check_deadline(deadline)
            failures: FailureLiterals = {}
            try:
                changes = self._encode_happening(state, time, events, failures)
            except NumberTooLarge:
                number = max([event.step.number for event in events if event.step is not None], default=0)
                limit = f"a number grew beyond 65,536 bits at step {number}"
                return trace._replace(limit=limit, is_complete=False)
            alive = trace.alive[-1]
            for step, literals in failures.items():
                trace.failing[step] = circuit.both(alive, circuit.disjunction(literals))
            alive_after = circuit.both(alive, _encode_any_failure(circuit, failures) ^ 1)
            if alive_after == FALSE:
                return trace._replace(is_complete=False)
            trace.changes.append(changes)
            trace.alive.append(alive_after)
            trace.events.append(events)
            trace.times.append(time)
        return trace

    def _encode_happening(
        self, state: SymbolicState, time: Number, events: list[Event], failures: FailureLiterals
    ) -> StateChanges:
        """Change a state by a happening. Add the worlds in which steps fail to ``failures``."""
        encoded_events: list[_EncodedEvent] = []
        for event in events:
            encoded_events.append(_EncodedEvent(time, event, self._encode_event(state, event, failures)))
            if event.step is not None and event.kind == START and _reads_start(event.step):
                self._start_states[event.step.number] = state.copy()
        changes, undefined = self.encoder.combine_effects(state, [encoded.effects for encoded in encoded_events])
        for _, event, effects in encoded_events:
            if event.step is not None and effects.updates:
                if len(encoded_events) > 1:
                    undefined = self.encoder.combine_effects(state, [effects])[1]
                if undefined != FALSE:
                    failures.setdefault(event.step.number, []).append(undefined)
        if self._timed:
            separation = self.tolerance.separation
            self._recent_events = [recent for recent in self._recent_events if time - recent.time < separation]
            self._encode_interference(encoded_events, failures)
            self._recent_events += encoded_events
            changes.facts.extend(self._change_running_steps(events))
        changes.apply_to(state)
        if self._derived is not None:
            changes.facts.extend(_update_derived_facts(state, changes, self._derived))
        if self._running:
            self._encode_over_all(state, failures)
        return changes

    def _encode_over_all(self, state: SymbolicState, failures: FailureLiterals) -> None:
        """Add the worlds in which a condition over all is false after a happening without failures to ``failures``."""
        happens = _encode_any_failure(self.circuit, failures) ^ 1
        for step in self._running:
            assert isinstance(step.resolved, GroundAction)
            self.encoder.compiler.duration = step.duration or 0
            conditions = [self.encoder.compiler.compile_truth(part) for part in step.resolved.action.over_all]
            binding = step.resolved.binding
            holds = self.circuit.conjunction([condition(state, binding) for condition in conditions])
            failures.setdefault(step.number, []).append(self.circuit.both(happens, holds ^ 1))

    def _encode_event(self, state: SymbolicState, event: Event, failures: FailureLiterals) -> SnapEffects:
        """The effects of an event. Add the worlds in which its step fails to ``failures``."""
        effects = SnapEffects({}, {}, {}, [])
        literal, step = event.literal, event.step
        if literal is not None:
            fact = literal.predicate, self.engine.task.encode(literal.arguments)
            if literal.fluent:
                value = Quantity(TRUE, terms.constant(literal.value))
                effects.updates[fact] = [NumericUpdate(TRUE, "assign", value)]
            else:
                (effects.adds if literal.value else effects.deletes)[fact] = [TRUE]
            return effects
        assert step is not None
        if isinstance(step.resolved, IllFormed):
            failures[step.number] = [TRUE]
            return effects
        self.encoder.compiler.duration = step.duration or 0
        start = self._start_states.get(step.number) if event.kind == END else None
        binding = step.resolved.binding
        executable, effects = self.encoder.encode_snap(state, event.snap, binding, step.number, start)
        step_failures = [
            executable ^ 1,
            *effects.failures,
            *self._encode_duration_violations(state, event, step.resolved),
        ]
        if any([literal != FALSE for literal in step_failures]):
            failures[step.number] = [self.circuit.disjunction(step_failures)]
        return effects

    def _encode_duration_violations(self, state: SymbolicState, event: Event, ground: GroundAction) -> list[Literal]:
        """For each constraint on the duration of a step that its event reads, the worlds in which it is violated."""
        violations = []
        compiler, tolerance = self.encoder.compiler, self.tolerance.duration
        for constraint in ground.action.durations:
            if constraint.at_end == (event.kind == END):
                bound = compiler.compile_number(constraint.value)(state, ground.binding)
                conditions = [bound.defined]
                if constraint.operator in ("<=", "<", "="):
                    operator = ">" if constraint.operator == "<" else ">="
                    conditions.append(self._compare(bound, operator, compiler.duration - tolerance))
                if constraint.operator in (">=", ">", "="):
                    operator = "<" if constraint.operator == ">" else "<="
                    conditions.append(self._compare(bound, operator, compiler.duration + tolerance))
                violations.append(self.circuit.conjunction(conditions) ^ 1)
        return violations

    def _compare(self, bound: Quantity, operator: str, value: Number) -> Literal:
        return terms.compare(self.circuit, operator, bound.value, terms.constant(value))

    def _change_running_steps(self, events: list[Event]) -> list[tuple[int, int, Literal]]:
        """Start and end the actions of a happening; return the changes of facts about actions under way."""
        ended_steps = {event.step.number for event in events if event.step and event.kind == END}
        started_steps = [e.step for e in events if e.step and e.kind == START and _get_end_snap(e.step) is not None]
        facts_before = self._list_action_facts(self._running)
        self._running = [step for step in self._running if step.number not in ended_steps] + started_steps
        facts = self._list_action_facts(self._running)
        changes = [(*fact, FALSE) for fact in facts_before if fact not in facts]
        return changes + [(*fact, TRUE) for fact in facts if fact not in facts_before]

    def _list_action_facts(self, running: list[TimedStep]) -> dict[tuple[int, int], None]:
        """The facts by which rules read that these steps are under way."""
        facts = [
            self.engine.find_action_fact("during", s.resolved) for s in running if isinstance(s.resolved, GroundAction)
        ]
        return dict.fromkeys([fact for fact in facts if fact is not None])

    # -- interference -------------------------------------------------------------------------------------------------

    def _encode_interference(self, encoded_events: list[_EncodedEvent], failures: FailureLiterals) -> None:
        """Add the worlds in which events interfere within a happening, or with a recent one, to ``failures``."""
        can_happen = {step: self.circuit.disjunction(literals) ^ 1 for step, literals in failures.items()}
        for position, (_, event, effects) in enumerate(encoded_events):
            neighbours = [*self._recent_events, *encoded_events[:position]]
            for index, (_, neighbour, neighbour_effects) in enumerate(neighbours):
                number, neighbour_number = [0 if e.step is None else e.step.number for e in (event, neighbour)]
                is_neighbour_recent = index < len(self._recent_events)
                # The later event fails, or the step with the greater number; 0: literals alone do not fail.
                failed_step = number if is_neighbour_recent and number else max(number, neighbour_number)
                if failed_step:
                    clashes = [
                        *self._find_clashes(event, effects, neighbour_effects),
                        *self._find_clashes(neighbour, neighbour_effects, effects),
                        *_find_update_clashes(self.circuit, effects, neighbour_effects),
                    ]
                    both_happen = [can_happen.get(step, TRUE) for step in (number, neighbour_number)]
                    clash = self.circuit.conjunction([self.circuit.disjunction(clashes), *both_happen])
                    failures.setdefault(failed_step, []).append(clash)

    def _find_clashes(self, event: Event, effects: SnapEffects, neighbour_effects: SnapEffects) -> list[Literal]:
        """The worlds in which a neighbour changes a variable that an event reads, or deletes a fact that it adds."""
        circuit, footprint = self.circuit, self._find_reads(event)
        clashes: list[Literal] = []
        for (predicate, code), literals in (*neighbour_effects.adds.items(), *neighbour_effects.deletes.items()):
            if (predicate, code) in footprint.reads or predicate in footprint.unbounded_reads:
                clashes += literals
        for fact in effects.adds.keys() & neighbour_effects.deletes.keys():
            is_added = circuit.disjunction(effects.adds[fact])
            clashes.append(circuit.both(is_added, circuit.disjunction(neighbour_effects.deletes[fact])))
        for (function, code), updates in neighbour_effects.updates.items():
            subject = len(self.engine.task.predicates) + function
            if (subject, code) in footprint.reads or subject in footprint.unbounded_reads:
                clashes += [update.fires for update in updates]
        return clashes

    def _find_reads(self, event: Event) -> Footprint:
        """The footprint of what an event reads; empty for a literal or an ill-formed step."""
        if event.step is None or isinstance(event.step.resolved, IllFormed):
            return make_empty_footprint()
        key = event.kind, event.step.number
        if key not in self._reads:
            footprint = self._reads[key] = make_empty_footprint()
            action, binding = event.step.resolved.action, event.step.resolved.binding
            self.engine.footprints.add_action_reads(action, binding, event.kind == END, footprint)
        return self._reads[key]


def _find_update_clashes(circuit: Circuit, first: SnapEffects, second: SnapEffects) -> list[Literal]:
    """The worlds in which two events change a fluent in ways that do not commute."""
    sums = ("increase", "decrease")
    return [
        circuit.both(a.fires, b.fires)
        for fluent in first.updates.keys() & second.updates.keys()
        for a in first.updates[fluent]
        for b in second.updates[fluent]
        if not (a.operator in sums and b.operator in sums)
    ]


def _encode_any_failure(circuit: Circuit, failures: FailureLiterals) -> Literal:
    """The worlds in which some step fails."""
    return circuit.disjunction([literal for literals in failures.values() for literal in literals])


def _get_end_snap(step: TimedStep) -> Snap | None:
    """The end snap of a durative action; ``None`` for other steps."""
    return step.resolved.action.end if isinstance(step.resolved, GroundAction) else None


def _reads_start(step: TimedStep) -> bool:
    """Whether effects at the end of a step depend on the state before its start."""
    end = _get_end_snap(step)
    return end is not None and any([effect.at_start is not ALWAYS for effect in end.effects])


def encode_trace_ends(circuit: Circuit, alive: Sequence[Literal]) -> list[Literal]:
    """For each letter, the worlds in which the trace ends with it."""
    return [circuit.both(a, b ^ 1) for a, b in zip(alive, [*alive[1:], FALSE], strict=True)]


def _update_derived_facts(
    state: SymbolicState, changes: StateChanges, derived: DerivedFacts
) -> list[tuple[int, int, Literal]]:
    """Update the derived facts after changes of other facts; return the derived facts that change."""
    reads_changes = any([predicate in derived.input_predicates for predicate, _, _ in changes.facts])
    if not reads_changes and not (derived.reads_numbers and changes.quantities):
        return []
    before = {p: {code: state.get(p, code) for code in state.facts[p]} for p in derived.derived_predicates}
    derived.update(state)
    derived_changes = []
    for predicate, literals in before.items():
        for code in literals.keys() | state.facts[predicate]:
            literal = state.get(predicate, code)
            if literal != literals.get(code, FALSE):
                derived_changes.append((predicate, code, literal))
    return derived_changes
