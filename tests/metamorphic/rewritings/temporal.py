"""Temporal operators written by others (docs/language.md, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from metamorphic_task import List, Task, Tree
from traversal import Scope, map_formulas, operands
from verdicts import EQUIVALENT_FORMULAS

from rewritings.base import rewriting
from rewritings.connectives import negated

TRUE: Tree = ("and",)
FALSE: Tree = ("or",)
LAST: Tree = ("weak-next", FALSE)
FIRST: Tree = ("weak-yesterday", FALSE)
MOST_STEPS = 12

Unfolding = Callable[..., Tree]

BY_OTHERS: dict[str, tuple[Unfolding, ...]] = {
    "always": (
        lambda f: ("not", ("sometime", negated(f))),
        lambda f: ("release", FALSE, f),
    ),
    "sometime": (
        lambda f: ("until", TRUE, f),
        lambda f: ("not", ("always", negated(f))),
    ),
    "next": (
        lambda f: ("not", ("weak-next", negated(f))),
        lambda f: ("and", ("not", LAST), ("weak-next", f)),
    ),
    "weak-next": (
        lambda f: ("not", ("next", negated(f))),
        lambda f: ("or", LAST, ("next", f)),
    ),
    "until": (
        lambda f, g: ("not", ("release", negated(f), negated(g))),
        lambda f, g: ("and", ("sometime", g), ("release", g, ("or", f, g))),
    ),
    "release": (
        lambda f, g: ("not", ("until", negated(f), negated(g))),
        lambda f, g: ("or", ("always", g), ("until", g, ("and", f, g))),
    ),
    "sometime-after": (
        lambda f, g: ("always", ("imply", f, ("sometime", g))),
        lambda f, g: ("not", ("sometime", ("and", f, ("not", ("sometime", g))))),
    ),
    "once": (
        lambda f: ("since", TRUE, f),
        lambda f: ("not", ("historically", negated(f))),
    ),
    "historically": (
        lambda f: ("not", ("once", negated(f))),
        lambda f: ("not", ("since", TRUE, negated(f))),
    ),
    "yesterday": (lambda f: ("not", ("weak-yesterday", negated(f))),),
    "weak-yesterday": (lambda f: ("not", ("yesterday", negated(f))),),
}
"""Operators of LTLf and past operators; past operators not by ``and`` and ``or``, which may cut a rule into parts."""

BY_NEIGHBOURS: dict[str, Unfolding] = {
    "always": lambda f: ("and", f, ("weak-next", ("always", f))),
    "sometime": lambda f: ("or", f, ("next", ("sometime", f))),
    "until": lambda f, g: ("or", g, ("and", f, ("next", ("until", f, g)))),
    "release": lambda f, g: ("and", g, ("or", f, ("weak-next", ("release", f, g)))),
    "yesterday": lambda f: ("and", ("not", FIRST), ("weak-yesterday", f)),
    "weak-yesterday": lambda f: ("or", FIRST, ("yesterday", f)),
    "once": lambda f: ("or", f, ("yesterday", ("once", f))),
    "historically": lambda f: ("and", f, ("weak-yesterday", ("historically", f))),
    "since": lambda f, g: ("or", g, ("and", f, ("yesterday", ("since", f, g)))),
}

OF_PDDL3: dict[str, tuple[Unfolding, ...]] = {
    "at-most-once": (
        lambda f: ("always", ("imply", f, ("or", ("yesterday", f), ("not", ("yesterday", ("once", f)))))),
        lambda f: ("always", ("imply", f, ("release", ("always", ("not", f)), ("or", f, ("always", ("not", f)))))),
        lambda f: ("not", ("sometime", ("and", f, ("next", ("and", ("not", f), ("sometime", f)))))),
    ),
    "sometime-before": (
        lambda f, g: ("always", ("imply", f, ("yesterday", ("once", g)))),
        lambda f, g: ("or", ("always", ("not", f)), ("until", ("not", f), ("and", g, ("not", f)))),
    ),
    "at": (
        lambda _, f: ("sometime", ("and", LAST, f)),
        lambda _, f: ("always", ("or", ("next", TRUE), f)),
    ),
}


def count_of(text: str) -> int | None:
    """A small natural number; None for other numbers."""
    return int(text) if text.isdigit() and int(text) <= MOST_STEPS else None


def soon(steps: int, formula: Tree) -> Tree:
    """Return a formula that means ``formula`` within a number of steps."""
    out = formula
    for _ in range(steps):
        out = ("or", formula, ("next", out))
    return out


def hold_after(start: int, formula: Tree) -> Tree:
    """``(hold-after START F)`` where step i happens at time i."""
    if start == 0:
        return ("always", formula)
    return ("or", ("and", LAST, formula), ("next", hold_after(start - 1, formula)))


def hold_during(start: int, end: int, formula: Tree) -> Tree:
    """``(hold-during START END F)`` where step i happens at time i."""
    if start > 0:
        return ("or", ("and", LAST, formula), ("next", hold_during(start - 1, end - 1, formula)))
    out = formula
    for _ in range(end - 1):
        out = ("and", formula, ("weak-next", out))
    return out


def by_steps(tree: List) -> Tree:
    """An operator with times by ``next``, where step i happens at time i; the tree itself if that is long."""
    match tree:
        case ("within", time, formula) if (steps := count_of(time)) is not None:
            return soon(steps, formula)
        case ("always-within", time, trigger, answer) if (steps := count_of(time)) is not None:
            return ("always", ("imply", trigger, soon(steps, answer)))
        case ("hold-after", time, formula) if (steps := count_of(time)) is not None:
            return hold_after(steps, formula)
        case ("hold-during", first, last, formula):
            start, end = count_of(first), count_of(last)
            if start is not None and end is not None:
                return hold_during(start, end, formula)
    return tree


@rewriting(EQUIVALENT_FORMULAS._replace(bindings=False))
def operators_by_others(task: Task, random: Random) -> Task:
    """Write operators of LTLf and past operators by other operators."""

    def change(tree: List, scope: Scope) -> Tree:
        if scope.level in ("state", "constraint") or tree[0] not in BY_OTHERS or not operands(tree):
            return tree
        return tree if random.random() < 0.3 else random.choice(BY_OTHERS[tree[0]])(*tree[1:])

    return map_formulas(task, change)


@rewriting(EQUIVALENT_FORMULAS._replace(bindings=False, steps=False))
def operators_by_neighbours(task: Task, random: Random) -> Task:
    """Write operators of LTLf and past operators by the letter and its neighbour."""

    def change(tree: List, scope: Scope) -> Tree:
        if scope.level in ("state", "constraint") or tree[0] not in BY_NEIGHBOURS or not operands(tree):
            return tree
        return tree if random.random() < 0.5 else BY_NEIGHBOURS[tree[0]](*tree[1:])

    return map_formulas(task, change)


@rewriting(EQUIVALENT_FORMULAS._replace(bindings=False))
def constraint_operators(task: Task, random: Random) -> Task:
    """Write the operators of PDDL3 as operators of LTLf."""

    def change(tree: List, scope: Scope) -> Tree:
        if scope.level != "trajectory" or tree[0] not in OF_PDDL3 or not operands(tree):
            return tree
        return random.choice(OF_PDDL3[tree[0]])(*tree[1:])

    return map_formulas(task, change)


@rewriting(EQUIVALENT_FORMULAS._replace(bindings=False, failures=False))
def timed_operators_by_steps(task: Task, random: Random) -> Task:
    """Write ``within``, ``always-within``, ``hold-during`` and ``hold-after`` by ``next`` in tasks without times.

    Step i happens at time i, also after a failed step that led to no letter, so these plans are not compared.
    """
    if task.is_timed():
        return task

    def change(tree: List, scope: Scope) -> Tree:
        return by_steps(tree) if scope.level == "trajectory" else tree

    return map_formulas(task, change)
