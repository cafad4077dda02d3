"""Plans: their text, and their steps in the order of execution (docs/language.md, section 3)."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from .formulas import Fact
from .polynomials import Real
from .reader import NUMBER, Sexp, parse_number, read_definition, read_expressions, require
from .task import Action, Task

Ordering = set[tuple[int, int]]
"""Pairs (earlier, later) of steps, counted from 1."""
DURATION = rf"\[\s*({NUMBER.pattern})\s*(?:\+-\s*({NUMBER.pattern})\s*)?\]"
GAP = re.compile(rf"\s*(?:{DURATION})?\s*(?:({NUMBER.pattern})\s*:)?\s*")
"""The text between two steps; its groups are the fields of ``_Gap``."""


class World(NamedTuple):
    """A possible world; ``facts`` are the open facts that are true (docs/worlds.md).

    ``choose(step, number, objects, alternatives)`` returns the index of the effect of the action's oneof statement
    ``number`` (from 0) that happens; the quantifiers around it bind ``objects``. ``order`` lists the steps of a
    partially ordered plan by their numbers in the text. A number or duration may be the number of an ``OpenRange``.
    """

    facts: Collection[Fact] = ()
    numbers: Mapping[Fact, Real] = {}  # (function, object ..) -> value
    choose: Callable[[int, int, tuple[str, ...], int], int] | None = None
    order: Sequence[int] = ()
    durations: Mapping[int, Real] = {}


class _Gap(NamedTuple):
    """The duration and tolerance of the step before a gap, and the time of the step after it, if it has them."""

    duration: str | None
    tolerance: str | None
    time: str | None


class PlanLine(NamedTuple):
    """A step in the text of a plan; ``decimals`` is the largest number of decimals of its time and duration."""

    time: Fraction | None
    duration: Fraction | None
    tolerance: Fraction | None
    step: Sexp
    decimals: int = 0


class Step(NamedTuple):
    """A step of a plan, or a timed literal (number 0). ``action`` is ``None`` if the step is ill-formed."""

    number: int
    time: Fraction
    duration: Fraction
    terms: Fact
    action: Action | None
    binding: dict[str, Any]
    duration_tolerance: Fraction = Fraction(0)


class TimedSteps(NamedTuple):
    """Steps in the order of execution; the least separation of interfering steps (``None``: they have no times)."""

    steps: list[Step]
    separation: Fraction | None


def parse_plan(text: str) -> tuple[list[PlanLine], Ordering | None]:
    """Parse the steps, and the ordering of a partially ordered plan."""
    expressions = read_expressions(text.replace("[", " [ ").replace("]", " ] "))
    is_definition = len(expressions) == 1 and expressions[0][:1] == ("define",)
    if is_definition and not all(isinstance(token, str) for token in expressions[0]):
        return _parse_definition(expressions)
    return _parse_lines(expressions), None


def _parse_lines(expressions: tuple[Sexp, ...]) -> list[PlanLine]:
    """Parse ``time: (step) [duration +- tolerance]``; times and durations are in the gaps between the steps."""
    gaps, steps = [""], list[Sexp]()
    for expr in expressions:
        if isinstance(expr, str):
            gaps[-1] += " " + expr
        else:
            steps.append(expr)
            gaps.append("")
    parsed_gaps = [_Gap(*match.groups()) for match in map(GAP.fullmatch, gaps) if match]
    is_plan = len(parsed_gaps) == len(gaps) and not parsed_gaps[0].duration and not parsed_gaps[-1].time
    require(is_plan, "not a plan")
    lines = list[PlanLine]()
    for step, (before, after) in zip(steps, pairwise(parsed_gaps), strict=True):
        numbers = (before.time, after.duration, after.tolerance)
        time, duration, tolerance = (parse_number(token) if token else None for token in numbers)
        lines.append(PlanLine(time, duration, tolerance, step, _count_decimals(before.time, after.duration)))
    return lines


def _parse_definition(expressions: tuple[Sexp, ...]) -> tuple[list[PlanLine], Ordering | None]:
    """Parse ``(define (plan name) ..)``."""
    body = read_definition(expressions, "plan", ":domain :problem :steps :ordering", "")
    labels, lines = dict[str, int](), list[PlanLine]()
    for position, expr in enumerate(body.get(":steps", [()])[0], 1):
        is_labelled = isinstance(expr, tuple) and len(expr) == 2 and isinstance(expr[1], tuple)
        label, step = expr if is_labelled else (str(position), expr)
        require(isinstance(label, str) and label not in labels, "not a new label")
        labels[label] = position
        lines.append(_parse_step(step))
    if ":ordering" not in body:
        return lines, None
    order = body[":ordering"][0]
    require(all(isinstance(c, tuple) and c[:1] == ("<",) and {*c[1:]} <= {*labels} for c in order), "an unknown label")
    require(all(line.time is None for line in lines), "an order of steps with times")
    return lines, {(labels[first], labels[second]) for chain in order for first, second in pairwise(chain[1:])}


def _parse_step(expr: Sexp) -> PlanLine:
    """Parse a step, or ``(at TIME STEP DURATION TOLERANCE)``."""
    if isinstance(expr, tuple) and len(expr) in (3, 4, 5) and expr[0] == "at" and isinstance(expr[2], tuple):
        time, duration, tolerance, *_ = (*map(parse_number, (expr[1], *expr[3:])), None, None)
        return PlanLine(time, duration, tolerance, expr[2], _count_decimals(expr[1], *expr[3:4]))
    return PlanLine(None, None, None, expr)


def _count_decimals(*numbers: str | None) -> int:
    """Return the largest number of decimals."""
    return max(len((number or "").partition(".")[2]) for number in numbers)


def read_steps(text: str, task: Task, world: World) -> TimedSteps:
    """Read the steps of a plan. Raises ``KernelRejects``."""
    lines, pairs = parse_plan(text)
    are_steps = all(
        isinstance(line.step, tuple) and line.step and all(isinstance(token, str) for token in line.step)
        for line in lines
    )
    require(are_steps, "not a step")
    require(len({line.time is None for line in lines}) < 2, "some steps with, some without time")
    numbered_lines = [*enumerate(sorted(lines, key=lambda line: line.time or 0), 1)]
    if pairs is not None:
        numbered_lines = _order_steps(numbered_lines, pairs, world)
    timed = bool(lines) and lines[0].time is not None
    unit = Fraction(1, 10 ** max([line.decimals for line in lines], default=0))
    rounding_error = unit if timed and unit < task.tolerance / 10 else Fraction(0)
    steps = [
        _make_step(task, world, place, number, line)._replace(duration_tolerance=task.tolerance + rounding_error)
        for place, (number, line) in enumerate(numbered_lines, 1)
    ]
    return TimedSteps(steps, task.tolerance - rounding_error if timed else None)


def _order_steps(
    numbered_lines: list[tuple[int, PlanLine]], pairs: Ordering, world: World
) -> list[tuple[int, PlanLine]]:
    """Put the steps of a partially ordered plan into the order of the world."""
    require(sorted(world.order) == [number for number, _ in numbered_lines], "not an order of the steps")
    positions = {number: position for position, number in enumerate(world.order)}
    require(all(positions[first] < positions[second] for first, second in pairs), "an order that is not allowed")
    return [numbered_lines[number - 1] for number in world.order]


def _make_step(task: Task, world: World, place: int, number: int, line: PlanLine) -> Step:
    """Make the step of a line; ``place``: in the order of execution, ``number``: in the text."""
    time, duration, tolerance, terms, _ = line
    if duration is not None and tolerance:
        chosen_duration = world.durations.get(number)
        require(chosen_duration is not None and abs(chosen_duration - duration) <= tolerance, "not a duration of it")
        duration = world.durations[number]
    action = task.actions.get(terms[0])
    is_durative = action is not None and action.end is not None
    if is_durative:
        has_valid_times = time is not None and time >= 0 and duration is not None and duration >= 0
    else:
        has_valid_times = (time is None or time >= 0) and not tolerance
    if not has_valid_times or not task.vocabulary.is_well_formed(terms, task.formulas.actions):
        action = None
    require(not action or world.choose or not action.chooses, "outcomes that are open")
    binding = dict[str, Any](zip(action.params, terms[1:], strict=True)) if action else {}
    lasts = duration if action and action.end else None  # the duration of an instantaneous action is ignored
    return Step(number, Fraction(place) if time is None else time, lasts or Fraction(0), terms, action, binding)
