"""The curves of the page against the kernel's trace of random tasks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hybrid_compare import make_checker
from hybrid_random import HybridCase, generate_case
from kernel_trace import record_letters

from plansafe.grammar.source import Source
from plansafe.verifier.kernel import KernelLimit
from plansafe.verifier.reporting.fluent_courses import CoursePoint
from plansafe.verifier.reporting.timeline import Timeline, record_timeline


def read_curve(points: tuple[CoursePoint, ...], time: float) -> list[float]:
    """Return the values of a curve at a time: several at a jump."""
    here = [point.value for point in points if abs(point.time - time) < 1e-9]
    if here:
        return here
    before = max([place for place, point in enumerate(points) if point.time < time], default=None)
    if before is None or before + 1 == len(points):
        return []
    (t, a, *_), (u, b, *_) = points[before : before + 2]
    return [a + (b - a) * (time - t) / (u - t)]


def find_differences(case: HybridCase, line: Timeline) -> list[Any]:
    """Return the letters of the kernel's trace at which a curve has another value."""
    wrong = []
    try:
        letters = record_letters(case)[1]
    except KernelLimit:
        return []
    for course in line.courses:
        fluent = tuple(course.fluent.strip("()").split())
        for letter in letters:
            if letter.courses.get(fluent) is None:
                continue
            course_of_letter = letter.courses[fluent]
            times = [float(letter.time)]
            if letter.end is not None:
                times = [p.time for p in course.points if float(letter.time) < p.time < float(letter.end)]
                if set(course_of_letter) <= {0} and len(course_of_letter.get(0, ())) < 3:
                    times.append((float(letter.time) + float(letter.end)) / 2)
                elif len(times) < 3:
                    wrong.append((course.fluent, letter, "no samples"))
            for time in times:
                value = float(letter.value(fluent, Fraction(time)))
                if not any([abs(value - read) < 1e-6 * (1 + abs(value)) for read in read_curve(course.points, time)]):
                    wrong.append((course.fluent, letter, time, value))
    return wrong


@pytest.mark.parametrize(("seed", "linear"), [(0, 0), (1, 0), (2, 1), (3, 1)])
def test_curves_follow_the_kernels_trace(seed: int, linear: float) -> None:
    curves = 0
    for number in range(15):
        case = generate_case(seed, number, linear=linear)
        checker = make_checker(case)
        resolved = checker.read(Source("random.plan", case.plan()))
        if not checker.ok or resolved.text.diagnostics:
            continue
        line = record_timeline(checker.compiled, resolved)
        times = [[point.time for point in course.points] for course in line.courses]
        assert all(moments == sorted(moments) for moments in times)
        if not line.failures and line.complete:  # the kernel's trace halts at a failure
            curves += len(line.courses)
            assert find_differences(case, line) == [], case.texts()
    assert curves > 10
