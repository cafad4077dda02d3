"""Violations by when they happen and by category of hazard (Safe-BeAl, section 5.2, figure 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plansafe.llm.metrics.judged import Judged, Moment


@dataclass(frozen=True, slots=True)
class Counted:
    """``times``: violations; ``plans``: plans with at least one."""

    times: int
    plans: int


@dataclass(frozen=True, slots=True)
class Violations:
    """``by_moment``: process, termination, and other (what the paper's two definitions do not have).

    ``by_category``: one violation may belong to several categories and counts in each, so these do not add up;
    ``uncategorised`` belong to none. ``incomplete``: plans with more findings than their report lists, whose counts
    are too low.
    """

    whole: Counted
    by_moment: Mapping[Moment, Counted]
    by_category: Mapping[str, Counted]
    uncategorised: Counted
    incomplete: int


def count(plans: Iterable[Judged], categories: Iterable[str] = ()) -> Violations:
    """Counts over plans; ``categories`` are listed even without a violation."""
    all_plans = list(plans)
    violations = [violation for plan in all_plans for violation in plan.violations]
    listed = dict.fromkeys([*categories, *sorted({name for item in violations for name in item.categories})])
    return Violations(
        Counted(len(violations), sum([bool(plan.violations) for plan in all_plans])),
        {
            moment: _counted([[item.moment is moment for item in plan.violations] for plan in all_plans])
            for moment in Moment
        },
        {
            name: _counted([[name in item.categories for item in plan.violations] for plan in all_plans])
            for name in listed
        },
        _counted([[not item.categories for item in plan.violations] for plan in all_plans]),
        sum([plan.suppressed > 0 for plan in all_plans]),
    )


def by_rule(plans: Iterable[Judged]) -> Mapping[str, int]:
    """How often each rule was violated, most often first."""
    return dict(Counter([violation.rule for plan in plans for violation in plan.violations]).most_common())


def _counted(plans: list[list[bool]]) -> Counted:
    return Counted(sum([sum(plan) for plan in plans]), sum([any(plan) for plan in plans]))
