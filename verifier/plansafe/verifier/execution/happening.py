"""The events of a happening of a timed plan, and the interference between events (PDDL 2.1, definition 12)."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.action_effects import SnapEffects
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.outcome import Failure
from plansafe.verifier.execution.steps import GroundAction, TimedStep, Tolerance
from plansafe.verifier.model.footprints import Footprint, find_interference
from plansafe.verifier.model.nodes import Number, Snap, TimedLiteral

START, END, ILL_FORMED, LITERAL = "start", "end", "ill-formed", "literal"
"""The kinds of events; an instantaneous action is a start."""


class Event(NamedTuple):
    """A part of a happening: a start, an end or an error of a step, or a timed literal, which has no ``step``."""

    kind: str
    step: TimedStep | None
    literal: TimedLiteral | None = None

    @property
    def step_number(self) -> int:
        """The number of the event's step; 0 for a timed literal."""
        return 0 if self.step is None else self.step.number

    @property
    def snap(self) -> Snap:
        """The snap action of an event that has a step."""
        assert self.step is not None
        assert isinstance(self.step.resolved, GroundAction)
        action = self.step.resolved.action
        if self.kind == START:
            return action.start
        assert action.end is not None
        return action.end


EventEffects = tuple[Event, SnapEffects]
"""An event with its effects."""


class _TimedEvent(NamedTuple):
    """An event of a happening, with the time of the happening and its effects."""

    time: Number
    event: Event
    effects: SnapEffects


class InterferenceChecker:
    """Finds events that interfere within a happening or with a recent happening.

    A happening is recent if less time than the tolerance has passed since.
    """

    def __init__(self, engine: Engine, tolerance: Tolerance, rounded_steps: set[int]) -> None:
        self.engine, self.task, self.tolerance = engine, engine.task, tolerance
        self.rounded_steps = rounded_steps
        """The steps that would fail under the exact tolerance; the checker adds to them."""
        self._recent: list[_TimedEvent] = []
        """The executed events of the recent happenings."""
        self._present: list[_TimedEvent] = []
        """The events of the happening that was checked last."""
        self._footprints: dict[int, Footprint] = {}
        """The footprints of recent and present events, by the event's identity."""

    def find_failures(self, time: Number, executable: list[EventEffects]) -> list[Failure]:
        """Return the failures of steps that interfere within a happening, or with a recent one."""
        self._recent = [recent for recent in self._recent if time - recent.time < self.tolerance.exact]
        self._present = [_TimedEvent(time, event, effects) for event, effects in executable]
        recent_identities = {id(recent.event) for recent in self._recent}
        self._footprints = {i: footprint for i, footprint in self._footprints.items() if i in recent_identities}
        failures: dict[int, Failure] = {}
        for position, present in enumerate(self._present):
            neighbours = [(recent, True) for recent in self._recent]
            neighbours += [(simultaneous, False) for simultaneous in self._present[:position]]
            for neighbour, is_earlier in neighbours:
                step = present.event.step or neighbour.event.step
                if step is None:
                    continue
                clash = self.find_clash(self._get_footprint(present), self._get_footprint(neighbour))
                if clash is not None and is_earlier and time - neighbour.time >= self.tolerance.separation:
                    self.rounded_steps.add(step.number)
                elif clash is not None:
                    failure = make_interference_failure(present.event, neighbour.event, clash, is_earlier=is_earlier)
                    failures.setdefault(failure.step, failure)
        return [*failures.values()]

    def record_executed(self, events: list[Event]) -> None:
        """Record the events of the happening that are executed: they are recent at the next happening."""
        identities = {id(event) for event in events}
        self._recent += [present for present in self._present if id(present.event) in identities]

    def _get_footprint(self, event: _TimedEvent) -> Footprint:
        """Return an event's footprint, computed when it is first needed: only events with a neighbour need one."""
        identity = id(event.event)
        footprint = self._footprints.get(identity)
        if footprint is None:
            footprint = self._footprints[identity] = self.compute_footprint(event.event, event.effects)
        return footprint

    def find_clash(self, first: Footprint, second: Footprint) -> str | None:
        """Return a fact or fluent over which two events interfere, as PDDL; ``None`` if they do not."""
        state_variable = find_interference(first, second)
        return None if state_variable is None else self.task.key_text(*state_variable)

    def compute_footprint(self, event: Event, effects: SnapEffects) -> Footprint:
        """Return the facts and fluents that an event reads, and those that it changes in the present state."""
        footprints = self.engine.footprints
        footprint = Footprint(set(), set(), {*effects.adds}, {*effects.deletes}, {})
        for update in effects.updates:
            footprints.add_assignment(update.function, update.code, update.operator, footprint)
        if event.step is not None and isinstance(event.step.resolved, GroundAction):
            footprints.add_action_reads(
                event.step.resolved.action, event.step.resolved.binding, event.kind == END, footprint
            )
        return footprint


def make_interference_failure(event: Event, neighbour: Event, clash: str, *, is_earlier: bool) -> Failure:
    """Return the failure of a step because of interference over ``clash``, a fact or fluent.

    Within a happening the later step fails. If the happening of ``neighbour`` ``is_earlier``, ``event`` fails, unless
    it is a literal, which cannot fail.
    """
    failing, interfering = event, neighbour
    if neighbour.step_number > event.step_number and not (is_earlier and event.step is not None):
        failing, interfering = neighbour, event
    return Failure(failing.step_number, SC.INTERFERENCE, clash, None, interfering.step_number)
