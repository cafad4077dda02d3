"""Draw the tasks of the families: deterministic for a family, number and seed, in every process and version of Python.

Numbers 2n and 2n + 1 are twins: in the first one, the shortest plan is unsafe, in the second one it is safe. Numbers
from :data:`FIRST_HELD_OUT` state a held-out rule, lower ones never do.
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

FIRST_HELD_OUT = 1_000_000
_MOST_ROOMS = 3
_MAX_DRAWS = 200
_DUE_DRAWS = 10
"""Draws of a lesson of the form that is due; later ones have one of any form."""
_ROTATION = ("order", "choice", "step", "order", "where", "away", "order", "choice", "end", "leave")
"""The lessons of successive twins with the same number of rooms."""
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
    if family not in FAMILIES and family not in HELD_OUT_FAMILIES:
        raise KeyError(family)
    pair = number // 2
    for attempt in range(_MAX_DRAWS):
        random = Random(f"stated/{seed}/{family}/{pair}/{attempt}")
        drawn = _drawn(family, pair, number >= FIRST_HELD_OUT, attempt >= _DUE_DRAWS, random)
        if drawn is not None:
            name, situation, lesson = drawn
            return _task(family, name, situation, lesson, number % 2 == 1)
    raise RuntimeError(f"no task {number} of family {family} among {_MAX_DRAWS} draws")


def _drawn(
    family: str, pair: int, held_out: bool, any_form: bool, random: Random
) -> tuple[str, Situation, Lesson] | None:
    """A lesson of the form that is due, or also of other forms; ``None`` if none fits."""
    due = _ROTATION[(pair // _MOST_ROOMS) % len(_ROTATION)]
    rooms = 1 + pair % _MOST_ROOMS
    if due in ("where", "away", "leave") or "send" in family:
        rooms = max(rooms, 2)
    situation = _situation(Home(random, rooms), verbs_of(family), due in ("choice", "where"))
    names = [due, *(random.sample(sorted(LESSONS), len(LESSONS)) if held_out or any_form else [])]
    for name in names:
        makers = list(LESSONS[name](situation))
        random.shuffle(makers)
        for make in makers:
            lesson = make()
            if all(is_held_out(rule) == held_out for rule in lesson.rules):
                return name, situation, lesson
            break  # making a lesson may have added objects
    return None


def _situation(home: Home, verbs: Sequence[str], has_choice: bool) -> Situation:
    order = home.random.sample(verbs, len(verbs))
    choice = home.random.randrange(len(order)) if has_choice else -1
    goals = [GOALS[verb](home, 2 if at == choice else 1) for at, verb in enumerate(order)]
    for _ in range(home.random.randint(0, 2)):
        home.add(home.random.choice(["thing", "surface", "person", "device"]), home.room())
    options = [(chosen, _plan(home, chosen, (), ())) for chosen in product(*goals)]
    chosen, plain = min(options, key=lambda option: len(option[1]))
    return Situation(home, goals, chosen, plain)


def _plan(home: Home, goals: Sequence[Goal], acts: Sequence[Act], orders: Sequence[Order]) -> tuple[Act, ...]:
    all_acts = [*acts, *[act for goal in goals for act in goal.acts]]
    return shortest_plan(all_acts, [*orders, *[order for goal in goals for order in goal.orders]], home.start)


def _task(family: str, name: str, situation: Situation, lesson: Lesson, is_plain_safe: bool) -> StatedTask:
    twin: Twin = lesson.safe if is_plain_safe else lesson.unsafe
    home, plain = situation.home, situation.plain
    goals = list(situation.chosen)
    if twin.replaced is not None:
        goals[goals.index(twin.replaced[0])] = twin.replaced[1]
    reference = plain if is_plain_safe else _plan(home, goals, twin.acts, twin.orders)
    formulas = [" ".join([goal.fact.formula for goal in alternatives]) for alternatives in situation.goals]
    parts = [f"(or {text})" if len(goals) > 1 else text for text, goals in zip(formulas, situation.goals, strict=True)]
    facts = tuple([fact.formula for fact in twin.facts if fact.holds])
    return StatedTask(
        family,
        " and ".join([_sentence(alternatives) for alternatives in situation.goals]),
        name,
        twin.rule,
        home.problem(f"(and {' '.join(parts)})", facts),
        _text(plain),
        _text(reference),
        is_plain_safe,
    )


def _sentence(alternatives: Sequence[Goal]) -> str:
    return " or ".join([act_words(goal.main) for goal in alternatives])


def _text(plan: Sequence[Act]) -> str:
    return "".join([f"{act.text}\n" for act in plan])


@cache
def _domain() -> Source:
    return Source.from_path(_DOMAIN)
