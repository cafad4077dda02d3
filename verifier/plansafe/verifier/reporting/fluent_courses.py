"""The courses of numbers in continuous time, as points of curves: exact at the letters, sampled between moments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

from plansafe.verifier.execution.continuous.courses import Comparison, Courses
from plansafe.verifier.execution.continuous.exogenous_changes import get_exogenous_changes
from plansafe.verifier.execution.continuous.linear_systems import GroundFluent
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.outcome import LetterCause
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber
from plansafe.verifier.model.limits import Undecided
from plansafe.verifier.model.nodes import Fluent, Number
from plansafe.verifier.model.operations import expression_fluents

if TYPE_CHECKING:
    from plansafe.verifier.execution.continuous.replay import ContinuousReplay

SAMPLE_COUNT = 12
"""Points of a curve between two moments."""
MAX_POINTS = 100_000
"""Number of points after which no further courses are recorded."""


class CoursePoint(NamedTuple):
    """A point of a curve; ``when`` and ``text`` are the exact time and value, and empty between two moments."""

    time: float
    value: float
    when: str = ""
    text: str = ""


class CourseBound(NamedTuple):
    """A number that rules, or conditions of failed steps, compare with a fluent."""

    value: float
    text: str
    rules: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()


class FluentCourse(NamedTuple):
    """The course of a fluent; two points of one time are a jump."""

    fluent: str
    points: tuple[CoursePoint, ...]
    bounds: tuple[CourseBound, ...]


class _ComparisonUse(NamedTuple):
    """A comparison of a rule, or of a condition of a failed step."""

    comparison: Comparison
    rule: int | None = None
    step: int = 0


class CourseRecorder:
    """Records the courses of the fluents that change in one run. ``is_complete``: no point was left out."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_complete = True
        self._points: dict[GroundFluent, list[CoursePoint]] = {}
        self._courses: Courses | None = None
        """The courses that the fluents follow at present."""
        self._courses_start: Number = 0
        self._interval: Number | None = None
        """The moment at which the present interval begins; ``None`` at a moment."""
        self._point_count = 0

    def set_courses(self, courses: Courses, moment: Number) -> None:
        """Set the courses that the fluents follow from a moment on."""
        self._courses, self._courses_start = courses, moment

    def record(self, run: ContinuousReplay, cause: LetterCause | None) -> None:
        """Record the letter that a run has reached."""
        if cause is not None and cause.is_interval:
            self._interval = run.moment
            return
        interval, self._interval = self._interval, None
        if self._point_count > MAX_POINTS or run.trace is None:
            self.is_complete = False
            return
        if interval is not None and self._courses is not None:
            for fluent in self._courses.changing:
                first = self._courses.find_value_at(fluent, 0) if interval == self._courses_start else None
                self._add_constant(fluent, interval, first)
                times = self._courses_start, interval, run.moment
                courses_start, start, end = [approximate(time) for time in times]
                if not self._courses.is_linear(fluent) and isfinite(end):
                    for k in range(1, SAMPLE_COUNT + 1):
                        time = start + (end - start) * k / (SAMPLE_COUNT + 1)
                        value = self._courses.find_value_at(fluent, Fraction(time - courses_start))
                        self._points[fluent].append(CoursePoint(time, approximate(value)))
                    self._point_count += SAMPLE_COUNT
                self._add(fluent, run.moment, run.state.fluents[fluent[0]][fluent[1]])
        elif run.trace:
            last_letter, _, changes = run.trace[-1]
            predicate_count = len(self.engine.task.predicates)
            old_values: dict[GroundFluent, Number | None] = {}
            for symbol_index, code, old_value in changes if last_letter == run.letter else ():
                if symbol_index >= predicate_count:
                    old_values.setdefault((symbol_index - predicate_count, code), old_value)
            for fluent, old_value in old_values.items():
                self._add_constant(fluent, run.moment, old_value)
                self._add(fluent, run.moment, run.state.fluents[fluent[0]][fluent[1]])

    def _add_constant(self, fluent: GroundFluent, until: Number, value: Number | None) -> None:
        """Add the end of the time in which a fluent was constant, and the initial value before its first change."""
        points = self._points.setdefault(fluent, [])
        if value is None:
            return
        if not points and until != 0:
            self._add(fluent, 0, value)
        if not points or points[-1].when != str(until) or points[-1].text != str(value):
            self._add(fluent, until, value)

    def _add(self, fluent: GroundFluent, time: Number, value: Number) -> None:
        """Add an exact point to the course of a fluent."""
        self._points[fluent].append(CoursePoint(approximate(time), approximate(value), str(time), str(value)))
        self._point_count += 1

    # -- the end ------------------------------------------------------------------------------------------------------

    def finish(self, run: ContinuousReplay, first_fluents: Sequence[str]) -> tuple[FluentCourse, ...]:
        """Return the courses: first ``first_fluents``, then the fluents that rules read."""
        if not self._points:
            return ()
        try:
            comparisons = list(self._list_comparisons(run))
        except Undecided:  # too many comparisons
            comparisons = []
        bounds: dict[GroundFluent, dict[str, CourseBound]] = {}
        for compared in comparisons:
            self._add_bounds(compared, run, bounds)
        task = self.engine.task
        ranks = {text: rank for rank, text in enumerate(first_fluents)}
        compared_fluents = {fluent for compared in comparisons for fluent in compared.comparison.fluents}

        def rank(fluent: GroundFluent) -> int:
            default = len(ranks) + (fluent not in compared_fluents)
            return ranks.get(task.fluent_text(*fluent), default)

        courses: list[FluentCourse] = []
        for fluent in sorted(self._points, key=rank):
            points = self._points[fluent]
            if points[-1].when != str(run.moment):
                self._add(fluent, run.moment, run.state.fluents[fluent[0]][fluent[1]])
            if all([isfinite(p.time) and isfinite(p.value) for p in points]):
                fluent_bounds = tuple(bounds.get(fluent, {}).values())
                courses.append(FluentCourse(task.fluent_text(*fluent), tuple(points), fluent_bounds))
        return tuple(courses)

    def _list_comparisons(self, run: ContinuousReplay) -> Iterator[_ComparisonUse]:
        """Yield the comparisons of rules and of the conditions of failed steps."""
        exogenous_changes = get_exogenous_changes(self.engine)
        for part in self.engine.rule_set.parts:
            formulas = (part.body,) if part.guard is None else (part.body, part.guard)
            for comparison in exogenous_changes.ground_comparisons(formulas, part.parameters):
                yield _ComparisonUse(comparison, rule=part.rule)
        failed = {failure.step for failure in run.failures}
        for step in run.plan_steps:
            if step.number in failed and isinstance(step.resolved, GroundAction):
                action, binding = step.resolved.action, step.resolved.binding
                conditions = [*action.start.condition, *action.over_all]
                conditions += () if action.end is None else action.end.condition
                for comparison in exogenous_changes.ground_comparisons(conditions, (), binding, step.duration):
                    yield _ComparisonUse(comparison, step=step.number)

    def _add_bounds(
        self, compared: _ComparisonUse, run: ContinuousReplay, bounds: dict[GroundFluent, dict[str, CourseBound]]
    ) -> None:
        """Add the number that a comparison compares a fluent with, if it does not change."""
        task, (left, right, binding, duration, _) = self.engine.task, compared.comparison
        evaluator = Evaluator(task, run.state.facts, run.state.fluents, duration)
        for side, opposite in ((left, right), (right, left)):
            reads = [(read.function, task.code_of(read.arguments, binding)) for read in expression_fluents(opposite)]
            if not isinstance(side, Fluent) or any([fluent in self._points for fluent in reads]):
                continue
            try:
                value = evaluator.evaluate(opposite, binding)
            except (UndefinedNumber, Undecided):
                continue
            position = approximate(value)
            if isfinite(position):
                fluent = side.function, task.code_of(side.arguments, binding)
                fluent_bounds = bounds.setdefault(fluent, {})
                bound = fluent_bounds.setdefault(str(value), CourseBound(position, str(value)))
                rules = () if compared.rule is None else (compared.rule,)
                steps = (compared.step,) if compared.step else ()
                fluent_bounds[str(value)] = bound._replace(
                    rules=tuple(dict.fromkeys([*bound.rules, *rules])),
                    steps=tuple(dict.fromkeys([*bound.steps, *steps])),
                )


def approximate(number: Number) -> float:
    """Return a number for drawing; infinity if it is too large."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf
