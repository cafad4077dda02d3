"""Greedy shrinking: the smallest case, found by leaving things out, that still shows a difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from case import Case, Sexp

Shows = Callable[[Case], bool]
Items = tuple[Any, ...]
FIELDS = ("plans", "rules", "constraints", "laws", "structures", "init", "objects")


def shrink(case: Case, shows: Shows, budget: int = 3000) -> Case:
    """A smaller case for which ``shows`` is true. It is called at most ``budget`` times."""
    left = [budget]

    def good(candidate: Case) -> bool:
        left[0] -= 1
        return left[0] >= 0 and shows(candidate)

    before = None
    while before != case and left[0] > 0:
        before = case
        for field in FIELDS:
            case = without(case, getattr(case, field), partial(with_field, field=field), good)
        for number in range(len(case.plans)):
            case = without(case, case.plans[number], partial(with_plan, number=number), good)
        if case.goal != ("and",) and good(case._replace(goal=("and",))):
            case = case._replace(goal=("and",))
        for field in ("rules", "constraints", "laws", "structures"):
            for number in range(len(getattr(case, field))):
                case = simplify(case, field, number, good)
    return case


def with_field(case: Case, items: Items, field: str) -> Case:
    """The case with another value of a field."""
    changed: dict[str, Any] = {field: items}
    return case._replace(**changed)


def with_plan(case: Case, items: Items, number: int) -> Case:
    """The case with another plan."""
    return with_field(case, (*case.plans[:number], items, *case.plans[number + 1 :]), "plans")


def without(case: Case, items: Items, place: Callable[[Case, Items], Case], good: Shows) -> Case:
    """The case with as few of the items as ``good`` allows: removes halves first, then smaller and smaller parts."""
    size = max(len(items) // 2, 1)
    while size:
        first = 0
        while first < len(items):
            fewer = items[:first] + items[first + size :]
            candidate = place(case, fewer)
            if good(candidate):
                case, items = candidate, fewer
            else:
                first += size
        size //= 2
    return case


def simplify(case: Case, field: str, number: int, good: Callable[[Case], bool]) -> Case:
    """Replace subexpressions of one rule by smaller ones as long as that works."""
    again = True
    while again:
        again = False
        items = getattr(case, field)
        for smaller in reductions(items[number]):
            candidate = with_field(case, (*items[:number], smaller, *items[number + 1 :]), field)
            if good(candidate):
                case, again = candidate, True
                break
    return case


def reductions(expression: Sexp) -> Iterator[Sexp]:
    """The expression with one part replaced by one of its own parts or left out, large cuts first."""
    if isinstance(expression, str):
        return
    for part in expression:
        if isinstance(part, tuple):
            yield part
    if expression and expression[0] not in ("and", "p", "q", "n"):
        yield ("n",)
    for i in range(len(expression)):
        yield expression[:i] + expression[i + 1 :]
        if str(expression[i]).startswith(":"):
            yield expression[:i] + expression[i + 2 :]
        if expression[i + 1 : i + 2] == ("-",):
            yield expression[:i] + expression[i + 3 :]
    for i, part in enumerate(expression):
        for smaller in reductions(part):
            yield (*expression[:i], smaller, *expression[i + 1 :])
