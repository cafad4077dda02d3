"""The events of a timed plan with open durations: when they are, and which orders among them matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from plansafe.verifier.engine.replay import Engine
from plansafe.verifier.engine.steps import Taken, TimedStep
from plansafe.verifier.engine.timed import END, START, Event
from plansafe.verifier.model import Number
from plansafe.verifier.symbolic.durations.affine import Affine, Trail
from plansafe.verifier.symbolic.durations.cells import Box, extent
from plansafe.verifier.symbolic.durations.footprint import Footprints, clash, touches
from plansafe.verifier.symbolic.durations.watch import Watcher

ILL_FORMED = "ill-formed"


class Schedule(NamedTuple):
    """All that may happen. ``times[e]`` is when event ``e`` does; it may be open.

    ``partners[e]``: the events whose order with ``e`` matters, ``e`` itself left out. ``open_pairs``: those pairs
    (smaller first) whose order is not the same in all worlds. ``close[e]``: partners that may be closer to ``e`` than
    the tolerance. ``under_way``: by the number of a step, the events that its condition over all depends on.
    ``counting``: parts of rules that see every happening. ``exact``: so do all, and details of findings count.
    """

    steps: list[TimedStep]
    events: list[Event]
    times: list[Number]
    partners: list[set[int]]
    open_pairs: list[tuple[int, int]]
    close: list[list[int]]
    under_way: dict[int, frozenset[int]]
    counting: frozenset[int]
    exact: bool


def opened(steps: Sequence[TimedStep], variables: Mapping[int, int], trail: Trail) -> list[TimedStep]:
    """The steps, those in ``variables`` (step number -> variable) with open durations."""
    return [
        step._replace(duration=cast("Number", trail.variable(variables[step.number])))
        if step.number in variables
        else step
        for step in steps
    ]


def schedule(engine: Engine, steps: list[TimedStep], box: Box, tolerance: Number, exact: bool) -> Schedule:
    """What may happen, in order of steps; the literals last. Quadratic in the number of events.

    ``exact``: all orders matter.
    """
    events: list[Event] = []
    times: list[Number] = []
    for step in steps:
        if not isinstance(step.taken, Taken):
            events.append(Event(ILL_FORMED, step))
            times.append(step.time)
            continue
        events.append(Event(START, step))
        times.append(step.time)
        if step.taken.action.end is not None:
            events.append(Event(END, step))
            times.append(step.time + (0 if step.duration is None else step.duration))
    for literal in engine.task.timed_literals:
        if literal.time > 0:
            events.append(Event("literal", None, literal))
            times.append(literal.time)
    partners, under_way, counting = _partners(engine, events, exact)
    pairs = [(i, j) for i, own in enumerate(partners) for j in sorted(own) if i < j]
    close: list[list[int]] = [[] for _ in events]
    open_pairs = []
    for i, j in pairs:
        least, greatest = difference(times[j], times[i], box)
        if (least <= 0 or least < tolerance) and (greatest >= 0 or greatest > -tolerance):
            close[i].append(j)
            close[j].append(i)
        if isinstance(times[i], Affine) or isinstance(times[j], Affine):
            open_pairs.append((i, j))
    return Schedule(steps, events, times, partners, open_pairs, close, under_way, counting, exact)


def difference(later: Number, earlier: Number, box: Box) -> tuple[Number, Number]:
    """The least and the greatest time from one to the other."""
    gap = later - earlier
    if not isinstance(gap, Affine):
        return gap, gap
    least, greatest = extent(gap.items, box)
    return gap.constant + least, gap.constant + greatest


def _partners(
    engine: Engine, events: list[Event], exact: bool
) -> tuple[list[set[int]], dict[int, frozenset[int]], frozenset[int]]:
    footprints = Footprints(engine.task)
    prints = [footprints.of(event) for event in events]
    partners: list[set[int]] = [set() for _ in events]
    everyone = range(len(events))

    def ordered(pairs: Iterator[tuple[int, int]]) -> None:
        for i, j in pairs:
            partners[i].add(j)
            partners[j].add(i)

    def among(group: Sequence[int]) -> Iterator[tuple[int, int]]:
        return ((i, j) for at, i in enumerate(group) for j in group[at + 1 :])

    ordered((i, j) for i, j in among(everyone) if clash(prints[i], prints[j]))
    under_way: dict[int, frozenset[int]] = {}
    for number, event in enumerate(events):
        if event.kind != END or event.step is None:
            continue
        read = footprints.over_all(event)
        found = [e for e in everyone if touches(read, prints[e].changes)]
        found = sorted({*found, number - 1, number})  # its start and its end
        under_way[event.step.number] = frozenset(found)
        ordered(among(found))
    counting = set()
    for part_number, part in enumerate(engine.plan.parts):
        watcher = Watcher(part, engine, footprints)
        if watcher.everything or exact:
            counting.add(part_number)
        if engine.plan.rules[part.rule].preference and not engine.task.functions:
            continue  # it cannot be undecided, and is no violation
        if watcher.everything or exact:
            ordered(among(everyone))
            continue
        seen = [watcher.touches(event, own) for event, own in zip(events, prints, strict=True)]
        able = [e for e in everyone if seen[e]]
        ordered((i, j) for i, j in among(able) if j not in partners[i] and watcher.ordered(seen[i], seen[j]))
    return partners, under_way, frozenset(counting)


def components(events: list[int], partners: list[set[int]]) -> list[list[int]]:
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
