"""A task of the suites: a command in words, its problem, and the answers that are known to be right."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

from plansafe.grammar.sexpr import parse_source
from plansafe.grammar.source import Source
from plansafe.llm.answers.actions import Asked, asked_of
from plansafe.llm.metrics.cautions import Caution, moments_of
from plansafe.llm.metrics.transition import Side
from plansafe.llm.models.request import canonical
from plansafe.verifier.api import Checker

PRIMITIVES = 2
"""How many primitive actions of a task Transition Modeling asks about; of new ones it asks about all that are used."""


@dataclass(frozen=True)
class Modelled:
    """An action that Transition Modeling asks about; ``new``: it is no primitive of the domain."""

    asked: Asked
    new: bool = False


@dataclass(frozen=True)
class Despite:
    """What a task of DESPITE has beside: its own texts, which its prompt shows, and what the danger is about.

    ``known``: where its danger is known from: the task's program, its two reference plans, or nowhere (empty).
    """

    domain: str
    problem: str
    group: str = ""
    entity: str = ""
    origin: str = ""
    known: str = ""


@dataclass(frozen=True)
class BenchTask:
    """One task, compiled.

    ``harmful``: the command is malicious, its goal is itself the harm; ``refuse``: it is to be refused, for that or
    since nobody can carry it out safely. ``reference`` is a plan that carries the command out safely, one step a line,
    empty where there is none; ``unsafe`` one that breaks a rule, or empty. ``hazards``, ``targets`` and ``category``
    (SafePlan-Bench's) say what it is about; ``despite``: it is one of DESPITE, whose rules are about single steps.
    """

    name: str
    family: str
    words: str
    checker: Checker
    goal: str
    reference: str
    unsafe: str = ""
    harmful: bool = False
    refuse: bool = False
    modelled: tuple[Modelled, ...] = ()
    hazards: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    category: str = ""
    despite: Despite | None = None

    @cached_property
    def predicates(self) -> frozenset[str]:
        """The names that formulas may use."""
        task = self.checker.engine.task
        return frozenset([one.name for one, _ in zip(task.predicates, task.static, strict=False)])

    @cached_property
    def moments(self) -> Mapping[str, Caution]:
        """When each of its rules asks for care."""
        return moments_of(self.checker)

    @property
    def planned(self) -> bool:
        """Whether a plan is asked for: the command is to be accepted, and it is known how it is carried out."""
        return not self.harmful and not self.refuse and bool(self.reference or self.despite)

    def action(self, name: str) -> Modelled | None:
        """The action of that name, if Transition Modeling asks about it."""
        return next((one for one in self.modelled if one.asked.name == name.lower()), None)

    @property
    def sha256(self) -> str:
        """The address of all that decides what is asked and what is right."""
        texts = [self.checker.sources[name].text for name in sorted(self.checker.sources)]
        about = [self.name, self.family, self.words, self.goal, self.reference, self.unsafe, self.harmful, self.refuse]
        actions = [[one.asked.reference, one.asked.side.value, one.new] for one in self.modelled]
        return _sha256(canonical([about, actions, [*self.hazards], [*self.targets], self.category, texts]))


def used_actions(name: str, plan: str, domain: Source, side: Side, new: Collection[str] = ()) -> tuple[Modelled, ...]:
    """The actions of a plan to be modelled: all new ones, and of the others :data:`PRIMITIVES` drawn by ``name``.

    Actions without anything on the side that is asked for are left out: nothing could be recalled of them.
    """
    tree = parse_source(domain).nodes or []
    used = dict.fromkeys([step.strip("() ").split()[0].lower() for step in steps_of(plan)])
    found = [one for word in used if (one := asked_of(tree, word, side)) is not None]
    found = [one for one in found if one.wanted not in ("()", "(and)")]
    old = [one for one in found if one.name not in new]
    kept = sorted(old, key=lambda one: _draw(name, one.name))[:PRIMITIVES]
    return tuple([Modelled(one, one.name in new) for one in found if one.name in new or one in kept])


def steps_of(plan: str) -> list[str]:
    """The lines of a plan that are steps."""
    return [line.strip() for line in plan.splitlines() if line.strip() and not line.lstrip().startswith(";")]


def sha256_of(tasks: Iterable[BenchTask]) -> str:
    """The address of a set of tasks, in their order."""
    return _sha256(canonical([task.sha256 for task in tasks]))


class Named(Protocol):
    """What is drawn from: tasks, or what they are made of."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def refuse(self) -> bool:
        """Whether its command is to be refused."""


_Drawn = TypeVar("_Drawn", bound=Named)


def chosen(every: Sequence[_Drawn], limit: int | None, seed: int) -> tuple[_Drawn, ...]:
    """``limit`` of them, drawn by ``seed`` and names, in the order in which they stand; all without a limit.

    What is to be refused and what is not are taken in turn, so that a few tasks have some of both.
    """
    if limit is None or limit >= len(every):
        return tuple(every)
    ranks: Counter[bool] = Counter()
    order: dict[str, tuple[int, bool]] = {}
    for one in sorted(every, key=lambda one: _draw(str(seed), one.name)):
        order[one.name] = (ranks[one.refuse], one.refuse)
        ranks[one.refuse] += 1
    kept = set(sorted(order, key=lambda name: order[name])[:limit])
    return tuple([one for one in every if one.name in kept])


class Statistics:
    """What the data are about: how many tasks have a hazard, a target, a type of thing."""

    def __init__(self, tasks: Collection[BenchTask]) -> None:
        self.tasks = len(tasks)
        self.families = len({task.family for task in tasks})
        self.harmful = sum([task.harmful for task in tasks])
        self.refused = sum([task.refuse for task in tasks])
        self.categories = Counter([task.category for task in tasks if task.category])
        self.hazards = Counter([name for task in tasks for name in dict.fromkeys(task.hazards)])
        self.targets = Counter([name for task in tasks for name in dict.fromkeys(task.targets)])
        self.objects = Counter([kind for task in tasks for kind in _kinds(task)])
        self.names = Counter([name for task in tasks for name in task.checker.engine.task.objects])
        self.steps = [len(steps_of(task.reference)) for task in tasks if task.reference]


def _kinds(task: BenchTask) -> set[str]:
    """The most special types of a task's objects."""
    model = task.checker.engine.task
    return {model.type_names[index] for found in model.object_types for index in found}


def _draw(*words: str) -> str:
    return _sha256("\0".join(words))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
