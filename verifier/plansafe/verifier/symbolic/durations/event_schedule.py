"""The events of a timed plan with open durations: when they are, and which orders among them matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction, TimedStep
from plansafe.verifier.execution.timed import END, START, Event
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.durations.affine import Affine, ConstraintTrail
from plansafe.verifier.symbolic.durations.conjunctions import FactLiteral
from plansafe.verifier.symbolic.durations.plan_checks import EVERYTHING, Pair, PlanCheck, PlanCheckBuilder
from plansafe.verifier.symbolic.durations.world_cells import Box, value_bounds

ILL_FORMED = "ill-formed"


class Schedule(NamedTuple):
    """All that may happen. ``times[e]`` is when event ``e`` does; it may be open.

    ``partners[e]``: the events whose order with ``e`` matters to some item. ``open_pairs``: those pairs (smaller first)
    whose order is not the same in all worlds. ``close[e]``: events that interfere with ``e`` if they are closer than
    the tolerance, and may be. ``under_way``: by the number of a step, the events that its condition over all depends
    on. ``counting``: parts of rules that see every happening. ``exact``: so do all, and details of findings count.
    """

    steps: list[TimedStep]
    events: list[Event]
    times: list[Number]
    items: list[PlanCheck]
    partners: list[set[int]]
    open_pairs: list[Pair]
    close: list[list[int]]
    under_way: dict[int, frozenset[int]]
    counting: frozenset[int]
    exact: bool
    initial: State

    def initially(self, literal: FactLiteral) -> bool:
        """Whether a literal is true in S0."""
        return (literal.code in self.initial.facts[literal.predicate]) is literal.positive


def with_open_durations(
    steps: Sequence[TimedStep], variables: Mapping[int, int], trail: ConstraintTrail
) -> list[TimedStep]:
    """The steps, those in ``variables`` (step number -> variable) with open durations."""
    return [
        step._replace(duration=cast("Number", trail.variable(variables[step.number])))
        if step.number in variables
        else step
        for step in steps
    ]


def make_schedule(engine: Engine, steps: list[TimedStep], box: Box, tolerance: Number, exact: bool) -> Schedule:
    """What may happen, in order of steps; the literals last. ``exact``: all orders matter.

    Linear in the number of events, and in that of pairs which may come in either order or close to each other.
    """
    events: list[Event] = []
    times: list[Number] = []
    for step in steps:
        if not isinstance(step.resolved, GroundAction):
            events.append(Event(ILL_FORMED, step))
            times.append(step.time)
            continue
        events.append(Event(START, step))
        times.append(step.time)
        if step.resolved.action.end is not None:
            events.append(Event(END, step))
            times.append(step.time + (0 if step.duration is None else step.duration))
    for literal in engine.task.timed_literals:
        if literal.time > 0:
            events.append(Event("literal", None, literal))
            times.append(literal.time)
    near = _near(times, box, tolerance)
    builder = PlanCheckBuilder(engine, events, near)
    close = [[j for j in sorted(own) if j in near[i]] for i, own in enumerate(builder.clashing)]
    over_all, rules = list(builder.over_all()), list(builder.rules())
    if exact:
        items = [builder.everything(-1)]
    else:
        items = [*[builder.event(number, close[number]) for number in range(len(events))], *over_all, builder.goal()]
        items += rules
    partners: list[set[int]] = [set() for _ in events]
    for i, j in {pair for item in items for pair in item.pairs}:
        partners[i].add(j)
        partners[j].add(i)
    open_pairs = []
    for i, j in [(i, j) for i, own in enumerate(partners) for j in sorted(own) if i < j]:
        least, greatest = time_difference(times[j], times[i], box)
        if least <= 0 <= greatest and (isinstance(times[i], Affine) or isinstance(times[j], Affine)):
            open_pairs.append((i, j))
    counting = frozenset([item.number for item in rules if item.kind == EVERYTHING])
    if exact:
        counting = frozenset(range(len(engine.rule_set.parts)))
    return Schedule(
        steps, events, times, items, partners, open_pairs, close, builder.under_way, counting, exact, engine.initial()
    )


def _near(times: list[Number], box: Box, tolerance: Number) -> list[set[int]]:
    """The pairs of events that may come in either order, together, or closer than the tolerance."""
    ranges = [time_difference(time, 0, box) for time in times]
    out: list[set[int]] = [set() for _ in times]
    recent: list[int] = []
    for event in sorted(range(len(times)), key=lambda event: ranges[event]):
        recent = [other for other in recent if ranges[event][0] - ranges[other][1] <= tolerance]
        for other in recent:
            out[event].add(other)
            out[other].add(event)
        recent.append(event)
    return out


def time_difference(later: Number, earlier: Number, box: Box) -> tuple[Number, Number]:
    """The least and the greatest time from one to the other."""
    gap = later - earlier
    if not isinstance(gap, Affine):
        return gap, gap
    least, greatest = value_bounds(gap.items, box)
    return gap.constant + least, gap.constant + greatest


def connected_events(events: list[int], partners: list[set[int]]) -> list[list[int]]:
    """The classes of events that are partners, through however many others; in order."""
    left = dict.fromkeys(events)
    out = []
    for first in events:
        if first not in left:
            continue
        del left[first]
        found = [first]
        for event in found:
            near = [other for other in left if other in partners[event]]
            found += near
            for other in near:
                del left[other]
        out.append(sorted(found))
    return out
