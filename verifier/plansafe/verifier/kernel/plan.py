"""Plans: their text, and their steps in the order in which they are taken (docs/language.md, section 3)."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from .formulas import Fact
from .reader import NUMBER, Sexp, definition, need, number, read_expressions
from .task import Action, Task

LAST = rf"\[\s*({NUMBER.pattern})\s*(?:\+-\s*({NUMBER.pattern})\s*)?\]"
GAP = re.compile(rf"\s*(?:{LAST})?\s*(?:({NUMBER.pattern})\s*:)?\s*")  # between two steps


class World(NamedTuple):
    """One way in which all that is open can be; ``facts`` are the open ones that are true (docs/worlds.md).

    ``choose(step, number, objects, alternatives)``: the effect of the action's oneof statement ``number`` that happens
    (both from 0), ``objects`` being bound by the quantifiers around it. In ``order``, steps count as the text has them.
    """

    facts: Collection[Fact] = ()
    numbers: Mapping[Fact, Fraction] = {}  # (function, object ..) -> value
    choose: Callable[[int, int, tuple[str, ...], int], int] | None = None
    order: Sequence[int] = ()
    durations: Mapping[int, Fraction] = {}


class Line(NamedTuple):
    """A step as the text has it."""

    time: Fraction | None
    duration: Fraction | None
    slack: Fraction | None
    step: Sexp
    decimals: int = 0  # the most that its time or duration is written with


class Step(NamedTuple):
    """A step of a plan, or a timed literal (number 0). ``action`` is ``None`` if the step is ill-formed."""

    number: int
    time: Fraction
    duration: Fraction
    terms: Fact
    action: Action | None
    binding: dict[str, Any]
    off: Fraction = Fraction(0)  # how far its duration may be off


def parse_plan(text: str) -> tuple[list[Line], set[tuple[int, int]] | None]:
    """The steps; and of a partially ordered plan the pairs of which the first comes earlier, counted from 1."""
    items = read_expressions(text.replace("[", " [ ").replace("]", " ] "))
    if len(items) == 1 and items[0][:1] == ("define",) and not all(isinstance(x, str) for x in items[0]):
        return _definition(items)
    return _lines(items), None


def _lines(items: tuple[Sexp, ...]) -> list[Line]:
    """``time: (step) [duration +- tolerance]``; what is numbered at most is in the gaps between the steps."""
    gaps, steps = [""], list[Sexp]()
    for item in items:
        if isinstance(item, str):
            gaps[-1] += " " + item
        else:
            steps.append(item)
            gaps.append("")
    found = [match.groups() for match in map(GAP.fullmatch, gaps) if match]
    need(len(found) == len(gaps) and not found[0][0] and not found[-1][2], "not a plan")
    result = list[Line]()
    for (_, _, at), step, (last, slack, _) in zip(found, steps, found[1:], strict=False):
        time, duration, tolerance = (number(x) if x else None for x in (at, last, slack))
        result.append(Line(time, duration, tolerance, step, _decimals(at, last)))
    return result


def _definition(items: tuple[Sexp, ...]) -> tuple[list[Line], set[tuple[int, int]] | None]:
    """``(define (plan name) ..)``."""
    body = definition(items, "plan", ":domain :problem :steps :ordering", "")
    labels, lines = dict[str, int](), list[Line]()
    for i, e in enumerate(body.get(":steps", [()])[0], 1):
        labelled = isinstance(e, tuple) and len(e) == 2 and isinstance(e[1], tuple)
        label, step = e if labelled else (str(i), e)
        need(isinstance(label, str) and label not in labels, "not a new label")
        labels[label] = i
        lines.append(_line(step))
    if ":ordering" not in body:
        return lines, None
    order = body[":ordering"][0]
    need(all(isinstance(c, tuple) and c[:1] == ("<",) and {*c[1:]} <= {*labels} for c in order), "an unknown label")
    need(all(line.time is None for line in lines), "an order of steps with times")
    return lines, {(labels[x], labels[y]) for c in order for x, y in pairwise(c[1:])}


def _line(e: Sexp) -> Line:
    """A step, or ``(at TIME STEP DURATION TOLERANCE)``."""
    if isinstance(e, tuple) and len(e) in (3, 4, 5) and e[0] == "at" and isinstance(e[2], tuple):
        given = [*map(number, (e[1], *e[3:])), None, None]
        return Line(given[0], given[1], given[2], e[2], _decimals(e[1], *e[3:4]))
    return Line(None, None, None, e)


def _decimals(*written: str | None) -> int:
    """The largest number of decimals that one of the numbers is written with."""
    return max(len((x or "").partition(".")[2]) for x in written)


def steps(text: str, task: Task, world: World) -> tuple[list[Step], Fraction | None]:
    """The steps in the order in which they are taken, and the least separation of those that interfere.

    The latter is ``None`` if the steps have no times. Raises ``KernelRejects``.
    """
    lines, pairs = parse_plan(text)
    plain = all(isinstance(x.step, tuple) and x.step and all(isinstance(t, str) for t in x.step) for x in lines)
    need(plain, "not a step")
    need(len({x.time is None for x in lines}) < 2, "some steps with, some without time")
    order = [*enumerate(sorted(lines, key=lambda line: line.time or 0), 1)]
    if pairs is not None:
        order = _ordered(order, pairs, world)
    unit = Fraction(1, 10 ** max([x.decimals for x in lines], default=0))
    forgiven = unit if lines and lines[0].time is not None and unit < task.tolerance / 10 else Fraction(0)
    off = task.tolerance + forgiven
    result = [_step(task, world, place, i, line)._replace(off=off) for place, (i, line) in enumerate(order, 1)]
    return result, task.tolerance - forgiven if lines and lines[0].time is not None else None


def _ordered(order: list[tuple[int, Line]], pairs: set[tuple[int, int]], world: World) -> list[tuple[int, Line]]:
    """The steps of a partially ordered plan in the order that the world has for them."""
    need(sorted(world.order) == [i for i, _ in order], "not an order of the steps")
    place = {i: at for at, i in enumerate(world.order)}
    need(all(place[x] < place[y] for x, y in pairs), "an order that is not allowed")
    return [order[i - 1] for i in world.order]


def _step(task: Task, world: World, place: int, i: int, line: Line) -> Step:
    time, duration, slack, e, _ = line
    if duration is not None and slack:
        need(i in world.durations and abs(world.durations[i] - duration) <= slack, "not a duration of it")
        duration = Fraction(world.durations[i])
    action = task.actions.get(e[0])
    if not task.vocabulary.well_formed(e, task.conditions.actions):
        action = None
    if action and action.end:
        fits = time is not None and duration is not None and duration >= 0
    else:
        fits = not slack
    if (time or 0) < 0 or not fits:
        action = None
    need(not action or world.choose or not action.chooses, "outcomes that are open")
    binding = dict[str, Any](zip(action.params, e[1:], strict=True)) if action else {}
    lasts = duration if action and action.end else None  # that of an instantaneous action means nothing
    return Step(i, Fraction(place) if time is None else time, lasts or Fraction(0), e, action, binding)
