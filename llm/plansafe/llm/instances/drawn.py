"""Test instances: solvable tasks of all families, drawn by seed and checked by the engine."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.instances.furnished import furnish
from plansafe.llm.instances.home import MOST_ROOMS, Home
from plansafe.llm.tasks import load
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import plan_text
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus

MAX_DRAWS = 20
MAX_NODES = 20_000
"""Of the search for the reference: a bound on states, not on time, so that every machine draws the same."""
TIME_LIMIT_S = 600.0


class Instance(NamedTuple):
    """A task of a family. ``reference``: a safe plan that the planner found, one step a line."""

    name: str
    family: str
    words: str
    problem: Source
    reference: str

    def checker(self) -> Checker:
        """The task, compiled with the rules of its world."""
        return load(self.problem)


def draw(family: str, number: int, seed: int = 0, most_rooms: int = MOST_ROOMS, full: bool = False) -> Instance:
    """The instance of a family with a number: the same for the same seed, in every process and version of Python.

    ``most_rooms``: other rooms than the kitchen; with fewer, plans are shorter. ``full``: with the things of other
    families put in afterwards; the reference is for the home without them, and thus not safe in all homes. Draws
    that have no safe plan, or none that the planner finds in time, are drawn again. Raises ``KeyError`` for an unknown
    family, ``RuntimeError`` where no draw can be solved.
    """
    build = FAMILIES[family]
    name = f"{family}-{number}"
    for attempt in range(MAX_DRAWS):
        home = Home(Random(f"{seed}/{family}/{number}/{attempt}"), most_rooms)
        task = build(home)
        problem = Source(f"{name}.pddl", home.problem(name, task.goal))
        checker = load(problem)
        if not checker.ok:
            raise RuntimeError(f"{name} does not compile: {checker.diagnostics[0].message}")
        solution = ForwardSearch(MAX_NODES).solve(PlanningQuery(checker, time_limit_s=TIME_LIMIT_S))
        if solution.status is PlanningStatus.SOLVED and solution.steps:
            plan = plan_text(solution.steps, checker.engine.task.objects)
            if full:
                furnish(home, Random(f"{seed}/{family}/{number}/full"))
                problem = Source(f"{name}.pddl", home.problem(name, task.goal))
            return Instance(name, family, task.words, problem, plan)
    raise RuntimeError(f"no solvable draw of {name} among {MAX_DRAWS}")


def instances(each: int = 4, seed: int = 0) -> Iterator[Instance]:
    """So many instances of each family: four make the sixty of the test split."""
    for family in FAMILIES:
        for number in range(each):
            yield draw(family, number, seed)
