"""A task of the suites: a command in words, its problem, and the answers that are known to be right."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Protocol, TypeVar

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.sexpr import parse_source
from plansafe.grammar.source import Source
from plansafe.llm.answers.actions import ActionQuestion, action_question
from plansafe.llm.metrics.cautions import Caution, moments_of
from plansafe.llm.metrics.transition import Side
from plansafe.llm.models.request import canonical
from plansafe.verifier.api import Checker

PRIMITIVES = 2
"""How many primitive actions of a task Transition Modeling asks about; of new ones it asks about all that are used."""


class BadTasks(Exception):
    """The tasks cannot be used. ``diagnostics`` give the reasons, ``sources`` are the texts that they point into."""

    def __init__(self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> None:
        self.diagnostics = tuple(diagnostics)
        self.sources = dict(sources)
        super().__init__(self.diagnostics[0].message if self.diagnostics else "no tasks")


@dataclass(frozen=True)
class Modelled:
    """An action that Transition Modeling asks about; ``new``: the domain lacks it."""

    question: ActionQuestion
    new: bool = False


@dataclass(frozen=True)
class Despite:
    """The additional data of a task of DESPITE: its texts, which the prompt shows, and its danger.

    ``known``: the source of its danger: the task's program, its two reference plans, or none (empty).
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

    ``harmful``: the command is malicious, its goal is itself the harm; ``refuse``: it should be refused, for that
    reason or because no safe plan exists. ``reference`` is a plan that carries the command out safely, one step a line,
    or empty; ``unsafe`` is a plan that breaks a rule, or empty; ``natural`` is a stored plan that ignores the rules
    (empty: a planner finds one). ``hazards``, ``targets`` and ``category`` (SafePlan-Bench's) classify it; ``despite``:
    it is a task of DESPITE, whose rules are about single steps.
    """

    name: str
    family: str
    words: str
    checker: Checker
    goal: str
    reference: str
    _: KW_ONLY
    unsafe: str = ""
    natural: str = ""
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
        return frozenset([predicate.name for predicate, _ in zip(task.predicates, task.static, strict=False)])

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
        return next((modelled for modelled in self.modelled if modelled.question.name == name.lower()), None)

    @property
    def sha256(self) -> str:
        """The hash of all values that determine the questions and the right answers."""
        texts = [self.checker.sources[name].text for name in sorted(self.checker.sources)]
        about = [self.name, self.family, self.words, self.goal, self.reference, self.unsafe, self.harmful, self.refuse]
        actions = [
            [modelled.question.reference, modelled.question.side.value, modelled.new] for modelled in self.modelled
        ]
        return _sha256(canonical([about, actions, [*self.hazards], [*self.targets], self.category, texts]))


def used_actions(name: str, plan: str, domain: Source, side: Side, new: Collection[str] = ()) -> tuple[Modelled, ...]:
    """The actions of a plan to be modelled: all new ones, and of the others :data:`PRIMITIVES` drawn by ``name``.

    Actions without anything on the side that is asked for are left out: nothing could be recalled of them.
    """
    tree = parse_source(domain).nodes or []
    used = dict.fromkeys([step.strip("() ").split()[0].lower() for step in steps_of(plan)])
    candidates = [candidate for word in used if (candidate := action_question(tree, word, side)) is not None]
    candidates = [candidate for candidate in candidates if candidate.wanted not in ("()", "(and)")]
    old = [candidate for candidate in candidates if candidate.name not in new]
    chosen_primitives = sorted(old, key=lambda candidate: _draw(name, candidate.name))[:PRIMITIVES]
    return tuple(
        [
            Modelled(candidate, candidate.name in new)
            for candidate in candidates
            if candidate.name in new or candidate in chosen_primitives
        ]
    )


def steps_of(plan: str) -> list[str]:
    """The lines of a plan that are steps."""
    return [line.strip() for line in plan.splitlines() if line.strip() and not line.lstrip().startswith(";")]


def sha256_of(tasks: Iterable[BenchTask]) -> str:
    """The address of a set of tasks, in their order."""
    return _sha256(canonical([task.sha256 for task in tasks]))


class Selectable(Protocol):
    """A task, or the source of one, that can be selected."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def refuse(self) -> bool:
        """Whether its command is to be refused."""


_Selected = TypeVar("_Selected", bound=Selectable)


def select_tasks(tasks: Sequence[_Selected], limit: int | None, seed: int) -> tuple[_Selected, ...]:
    """Select ``limit`` tasks by ``seed`` and names, in their original order; all of them without a limit.

    Tasks to refuse and other tasks alternate, so that a small selection has both kinds.
    """
    if limit is None or limit >= len(tasks):
        return tuple(tasks)
    ranks: Counter[bool] = Counter()
    order: dict[str, tuple[int, bool]] = {}
    for task in sorted(tasks, key=lambda task: _draw(str(seed), task.name)):
        order[task.name] = (ranks[task.refuse], task.refuse)
        ranks[task.refuse] += 1
    chosen_names = set(sorted(order, key=lambda name: order[name])[:limit])
    return tuple([task for task in tasks if task.name in chosen_names])


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
    return {model.type_names[index] for type_indices in model.object_types for index in type_indices}


def _draw(*words: str) -> str:
    return _sha256("\0".join(words))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
