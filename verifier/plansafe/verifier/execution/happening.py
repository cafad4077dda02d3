"""The events of a happening of a timed plan, and the interference between events (PDDL 2.1, definition 12)."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.verifier.execution.action_effects import SnapEffects
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.outcome import Failure
from plansafe.verifier.execution.steps import GroundAction, TimedStep, Tolerance
from plansafe.verifier.model.footprints import Footprint, find_interference
from plansafe.verifier.model.nodes import Number, Snap, TimedLiteral

START, END, ILL_FORMED = "start", "end", "ill-formed"


class Event(NamedTuple):
    """A part of a happening: an instantaneous action or a start (``start``), an end (``end``), or a timed literal.

    A timed literal has no ``step``.
    """

    kind: str
    step: TimedStep | None
    literal: TimedLiteral | None = None

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


class InterferenceChecker:
    """Finds events that interfere within a happening or with a recent happening.

    A happening is recent if less time than the tolerance has passed since.
    """

    def __init__(self, engine: Engine, tolerance: Tolerance, rounded: set[int]) -> None:
        self.engine, self.task, self.tolerance = engine, engine.task, tolerance
        self.rounded = rounded
        """The steps that would fail under the exact tolerance; the checker adds to them."""
        self._recent: list[tuple[Number, Event, SnapEffects]] = []
        """The executed events of the recent happenings, each with its time and effects."""
        self._present: list[tuple[Number, Event, SnapEffects]] = []
        """The events of the happening that was checked last, in the same form."""
        self._footprints: dict[int, Footprint] = {}
        """The footprints of recent and present events, by the event's identity."""

    def find_failures(self, time: Number, executable: list[EventEffects]) -> list[Failure]:
        """Return the failures of steps that interfere within a happening, or with a recent one."""
        self._recent = [recent for recent in self._recent if time - recent[0] < self.tolerance.exact]
        self._present = [(time, event, effects) for event, effects in executable]
        recent_events = {id(event) for _, event, _ in self._recent}
        self._footprints = {event: footprint for event, footprint in self._footprints.items() if event in recent_events}
        failures: dict[int, Failure] = {}
        for number, (_, event, effects) in enumerate(self._present):
            neighbours = [*self._recent, *self._present[:number]]
            for position, (neighbour_time, neighbour, neighbour_effects) in enumerate(neighbours):
                step = event.step or neighbour.step
                if step is None:
                    continue
                clash = self.find_clash(
                    self._find_footprint(event, effects), self._find_footprint(neighbour, neighbour_effects)
                )
                is_earlier = position < len(self._recent)
                if clash is not None and is_earlier and time - neighbour_time >= self.tolerance.separation:
                    self.rounded.add(step.number)
                elif clash is not None:
                    failure = make_interference_failure(event, neighbour, clash, is_earlier=is_earlier)
                    failures.setdefault(failure.step, failure)
        return [*failures.values()]

    def record_executed(self, events: list[Event]) -> None:
        """Record the events of the happening that are executed: they are recent at the next happening."""
        identities = {id(event) for event in events}
        self._recent += [present for present in self._present if id(present[1]) in identities]

    def _find_footprint(self, event: Event, effects: SnapEffects) -> Footprint:
        """An event's footprint; only events with a neighbour need one."""
        footprint = self._footprints.get(id(event))
        if footprint is None:
            footprint = self._footprints[id(event)] = self.compute_footprint(event, effects)
        return footprint

    def find_clash(self, first: Footprint, second: Footprint) -> str | None:
        """A fact or fluent over which two events interfere, as PDDL."""
        key = find_interference(first, second)
        return None if key is None else self.task.key_text(*key)

    def compute_footprint(self, event: Event, effects: SnapEffects) -> Footprint:
        """The facts and fluents that an event reads, and those that it changes in the present state."""
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
    number, neighbour_number = [0 if e.step is None else e.step.number for e in (event, neighbour)]
    failed = number if is_earlier and number else max(number, neighbour_number)
    return Failure(failed, SC.INTERFERENCE, clash, None, number + neighbour_number - failed)
