"""The events of a timed plan with open durations: their times, and which orders among them matter."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.happening import END, ILL_FORMED, LITERAL, START, Event
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction, TimedStep
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.durations.affine import Affine
from plansafe.verifier.symbolic.durations.plan_checks import CheckKind, Pair, PlanCheck, PlanCheckBuilder
from plansafe.verifier.symbolic.durations.world_cells import Box, compute_bounds


class Schedule(NamedTuple):
    """All events that may happen. ``times[e]`` is the time of event ``e``; it may be open.

    ``partners[e]``: the events whose order with ``e`` matters to some check. ``open_pairs``: the pairs of partners
    (smaller first) whose order is not the same in all worlds. ``clashing_events[e]``: events that interfere with ``e``
    if they are closer than the tolerance, and that may be so close. ``over_all_events``: by the number of a step, the
    events that its condition over all depends on. ``parts_reading_every_happening``: numbers of rule parts. ``exact``:
    all parts read every happening, and details of findings count.
    """

    steps: list[TimedStep]
    events: list[Event]
    times: list[Number]
    checks: list[PlanCheck]
    partners: list[set[int]]
    open_pairs: list[Pair]
    clashing_events: list[list[int]]
    over_all_events: dict[int, frozenset[int]]
    parts_reading_every_happening: frozenset[int]
    exact: bool
    initial_state: State


def make_schedule(engine: Engine, steps: list[TimedStep], box: Box, tolerance: Number, exact: bool) -> Schedule:
    """Make the schedule: the events in the order of the steps, the timed literals last. ``exact``: all orders matter.

    Linear in the number of events, and of pairs that may come in either order or close to each other.
    """
    timed_events = list(_list_timed_events(engine, steps))
    events, times = [event for event, _ in timed_events], [time for _, time in timed_events]
    near_events = _find_near_events(times, box, tolerance)
    builder = PlanCheckBuilder(engine, events, near_events)
    clashing_events = [sorted(clashes) for clashes in builder.clashing_events]
    over_all_checks = list(builder.make_over_all_checks())  # also fills over_all_events
    if exact:
        checks = [builder.make_whole_plan_check(-1)]
        parts_reading_every_happening = frozenset(range(len(engine.rule_set.parts)))
    else:
        event_checks = [builder.make_event_check(number) for number in range(len(events))]
        rule_checks = list(builder.make_rule_checks())
        checks = [*event_checks, *over_all_checks, builder.make_goal_check(), *rule_checks]
        parts_reading_every_happening = frozenset(
            [check.number for check in rule_checks if check.kind is CheckKind.EVERYTHING]
        )
    pairs = sorted({pair for check in checks for pair in check.pairs})
    partners: list[set[int]] = [set() for _ in events]
    for first, second in pairs:
        partners[first].add(second)
        partners[second].add(first)
    return Schedule(
        steps=steps,
        events=events,
        times=times,
        checks=checks,
        partners=partners,
        open_pairs=[pair for pair in pairs if _is_order_open(times, pair, box)],
        clashing_events=clashing_events,
        over_all_events=builder.over_all_events,
        parts_reading_every_happening=parts_reading_every_happening,
        exact=exact,
        initial_state=engine.make_initial_state(),
    )


def _is_order_open(times: list[Number], pair: Pair, box: Box) -> bool:
    """Whether the order of two events is not the same in all worlds."""
    first_time, second_time = times[pair[0]], times[pair[1]]
    least, greatest = bound_time_difference(second_time, first_time, box)
    return least <= 0 <= greatest and (isinstance(first_time, Affine) or isinstance(second_time, Affine))


def _list_timed_events(engine: Engine, steps: list[TimedStep]) -> list[tuple[Event, Number]]:
    """All events of the steps and the timed literals, with their times."""
    timed_events: list[tuple[Event, Number]] = []
    for step in steps:
        if not isinstance(step.resolved, GroundAction):
            timed_events.append((Event(ILL_FORMED, step), step.time))
            continue
        timed_events.append((Event(START, step), step.time))
        if step.resolved.action.end is not None:
            timed_events.append((Event(END, step), step.time + (0 if step.duration is None else step.duration)))
    literals = [literal for literal in engine.task.timed_literals if literal.time > 0]
    return [*timed_events, *[(Event(LITERAL, None, literal), literal.time) for literal in literals]]


def _find_near_events(times: list[Number], box: Box, tolerance: Number) -> list[set[int]]:
    """For each event, the events that may come before and after it, with it, or closer than the tolerance."""
    ranges = [bound_time_difference(time, 0, box) for time in times]
    greatest_times = [greatest for _, greatest in ranges]
    near_events: list[set[int]] = [set() for _ in times]
    recent_events: list[int] = []
    for event in sorted(range(len(times)), key=lambda event: ranges[event]):
        least_time, _ = ranges[event]
        recent_events = [earlier for earlier in recent_events if least_time - greatest_times[earlier] <= tolerance]
        for earlier in recent_events:
            near_events[event].add(earlier)
            near_events[earlier].add(event)
        recent_events.append(event)
    return near_events


def bound_time_difference(later: Number, earlier: Number, box: Box) -> tuple[Number, Number]:
    """The least and the greatest time from the earlier event to the later one; negative if they change places."""
    gap = later - earlier
    if not isinstance(gap, Affine):
        return gap, gap
    least, greatest = compute_bounds(gap.terms, box)
    return gap.constant + least, gap.constant + greatest


def group_connected_events(events: list[int], partners: list[set[int]]) -> list[list[int]]:
    """The connected components of events under the relation ``partners``, by their first events."""
    unassigned_events = dict.fromkeys(events)
    components = []
    for first in events:
        if first not in unassigned_events:
            continue
        del unassigned_events[first]
        component = [first]
        for event in component:
            neighbours = [candidate for candidate in unassigned_events if candidate in partners[event]]
            component += neighbours
            for neighbour in neighbours:
                del unassigned_events[neighbour]
        components.append(sorted(component))
    return components
