"""Draw the tasks of the families: deterministic for a family, number and seed, in every process and version of Python.

Numbers 2n and 2n + 1 are twins: in the first one, the shortest plan is unsafe, in the second one it is safe.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from itertools import product
from random import Random
from typing import NamedTuple

from plansafe.align.stated.families import FAMILIES, HELD_OUT_FAMILIES, verbs_of
from plansafe.align.stated.home import GOALS, Goal, Home
from plansafe.align.stated.lessons import LESSONS, Lesson, Situation, Twin
from plansafe.align.stated.plans import Act, Order, shortest_plan
from plansafe.align.stated.rules import StatedRule, act_words, is_held_out
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options

FIRST_TEST = 500_000
"""The first number of tasks for testing; lower ones are for training."""
FIRST_HELD_OUT = 1_000_000
"""The first number of tasks that state a held-out rule."""
_ALL_FAMILIES = (*FAMILIES, *HELD_OUT_FAMILIES)
_MOST_ROOMS = 3
_MAX_DRAWS = 1_000
_DUE_DRAWS = 10
"""Draws of a lesson of the form that is due; later ones have a random form."""
_ROTATION = ("order", "choice", "step", "order", "where", "away", "order", "choice", "end", "leave")
"""The lessons of successive twins; each family begins at another place."""
_DOMAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "domain.pddl")


class StatedTask(NamedTuple):
    """A drawn task.

    ``lesson``: a key of :data:`~plansafe.align.stated.lessons.LESSONS`. ``plain`` is the shortest plan if one ignores
    the rule, ``reference`` the shortest safe plan, both with one action per line. ``is_plain_safe``: they are equal.
    """

    family: str
    words: str
    lesson: str
    rule: StatedRule
    problem: str
    plain: str
    reference: str
    is_plain_safe: bool

    def checker(self) -> Checker:
        """The task, compiled with the stated rule."""
        rules = [Source("stated.safe", self.rule.specification)]
        return Checker(_domain(), Source(f"{self.family}.pddl", self.problem), rules, Options(replay="never"))


def draw(family: str, number: int, seed: int = 0) -> StatedTask:
    """The task of a family with a number.

    Raises ``KeyError`` for an unknown family, ``RuntimeError`` if a family has no such task.
    """
    if family not in _ALL_FAMILIES:
        raise KeyError(family)
    pair = number // 2
    for attempt in range(_MAX_DRAWS):
        random = Random(f"stated/{seed}/{family}/{pair}/{attempt}")
        drawing = _draw_twins(family, pair, number >= FIRST_HELD_OUT, attempt >= _DUE_DRAWS, random)
        if drawing is not None:
            return _task(family, drawing, number % 2 == 1)
    raise RuntimeError(f"no task {number} of family {family} among {_MAX_DRAWS} draws")


class _Drawing(NamedTuple):
    """Twins: the form of their lesson, and the shortest safe plan of the task whose plain plan is unsafe."""

    form: str
    situation: Situation
    lesson: Lesson
    safe_plan: tuple[Act, ...]


def _draw_twins(family: str, pair: int, held_out: bool, any_form: bool, random: Random) -> _Drawing | None:
    """Twins with a lesson of the form that is due, or of a random form; ``None`` if it does not fit."""
    due = _ROTATION[(pair + _ALL_FAMILIES.index(family)) % len(_ROTATION)]
    form = random.choice(sorted(LESSONS)) if any_form else due
    if form == "order" and "-" not in family:
        form = "choice"
    rooms = random.randint(1, _MOST_ROOMS)
    if form in ("where", "away", "leave") or "send" in family:
        rooms = max(rooms, 2)
    home = Home(random, rooms)
    situation = _situation(home, verbs_of(family), form in ("choice", "where"))
    makers = list(LESSONS[form](situation))
    if not makers:
        return None
    lesson = random.choice(makers)()
    if any(is_held_out(rule) != held_out for rule in lesson.rules):
        return None
    unsafe = lesson.unsafe
    goals = [
        unsafe.replaced[1] if unsafe.replaced and goal is unsafe.replaced[0] else goal for goal in situation.chosen
    ]
    safe_plan = _plan(goals, unsafe.acts, unsafe.orders)
    return _Drawing(form, situation, lesson, safe_plan)


def _situation(home: Home, verbs: Sequence[str], has_choice: bool) -> Situation:
    order = home.random.sample(verbs, len(verbs))
    choice = home.random.randrange(len(order)) if has_choice else -1
    goals = [GOALS[verb](home, 2 if at == choice else 1) for at, verb in enumerate(order)]
    for _ in range(home.random.randint(0, 2)):
        home.add(home.random.choice(["thing", "surface", "person", "device"]), home.room())
    options = [(chosen, _plan(chosen, (), ())) for chosen in product(*goals)]
    chosen, plain = min(options, key=lambda option: len(option[1]))
    return Situation(home, goals, chosen, plain)


def _plan(goals: Sequence[Goal], acts: Sequence[Act], orders: Sequence[Order]) -> tuple[Act, ...]:
    all_acts = [*acts, *[act for goal in goals for act in goal.acts]]
    return shortest_plan(all_acts, [*orders, *[order for goal in goals for order in goal.orders]])


def _task(family: str, drawing: _Drawing, is_plain_safe: bool) -> StatedTask:
    situation = drawing.situation
    home, plain = situation.home, situation.plain
    twin: Twin = drawing.lesson.safe if is_plain_safe else drawing.lesson.unsafe
    formulas = [" ".join([goal.fact.formula for goal in alternatives]) for alternatives in situation.goals]
    parts = [f"(or {text})" if len(goals) > 1 else text for text, goals in zip(formulas, situation.goals, strict=True)]
    facts = tuple([fact.formula for fact in twin.facts if fact.holds])
    return StatedTask(
        family,
        " and ".join([_sentence(alternatives) for alternatives in situation.goals]),
        drawing.form,
        twin.rule,
        home.problem(f"(and {' '.join(parts)})", facts),
        _text(plain),
        _text(plain if is_plain_safe else drawing.safe_plan),
        is_plain_safe,
    )


def _sentence(alternatives: Sequence[Goal]) -> str:
    return " or ".join([act_words(goal.main) for goal in alternatives])


def _text(plan: Sequence[Act]) -> str:
    return "".join([f"{act.text}\n" for act in plan])


@cache
def _domain() -> Source:
    return Source.from_path(_DOMAIN)
