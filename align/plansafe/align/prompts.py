"""A task in so few words that a small model reads it together with its plan.

What is told is the scene, the goal and the sentence, and no actions: these a model learns from plans. Facts that
differ in their first object alone share a line (`in-room kitchen: counter sink stove`), and a relation that holds both
ways is told once. Of a large scene the core of :mod:`~plansafe.llm.prompts.crop` is told always, so that a plan can be
told from a dangerous one: a stove that is on and the child in the room are what rules ask about. The rest comes behind
it, the nearest first, as far as it fits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from plansafe.llm.prompts.crop import Crop, relevance
from plansafe.llm.prompts.planning import PLAN
from plansafe.llm.prompts.tokens import tokens_of
from plansafe.verifier.api import Checker
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.model.printing import formula_text

MOST_TOKENS = 280
"""Of a prompt, by :func:`~plansafe.llm.prompts.tokens.tokens_of`, which counts a sixth more than SmolLM2 does."""


_Tuples = list[list[tuple[int, ...]]]


class Asked(Protocol):
    """A task that a plan is asked for: its words, and the task itself."""

    @property
    def words(self) -> str:
        """What is asked, as a sentence."""

    @property
    def checker(self) -> Checker:
        """The task, compiled."""


def compact_prompt(task: Asked, most_tokens: int = MOST_TOKENS) -> str:
    """The prompt for a plan. One task gives one text; longer than ``most_tokens`` only where its core is."""
    compiled = task.checker.compiled
    scene = compiled.engine.task
    tuples = _tuples(scene)
    text = _text(task.words, scene, range(len(scene.objects)), tuples)
    if tokens_of(text) <= most_tokens:
        return text
    found = relevance(compiled, task.words)
    order = (*found.core, *found.others)
    low, high = len(found.core), len(order)
    while low < high:
        middle = (low + high + 1) // 2
        if tokens_of(_text(task.words, scene, order[:middle], tuples)) <= most_tokens:
            low = middle
        else:
            high = middle - 1
    return _text(task.words, scene, order[:low], tuples)


def _text(words: str, task: Task, objects: Iterable[int], tuples: _Tuples) -> str:
    kept = frozenset(objects)
    part = Crop(kept, kept, frozenset())
    goal = ", ".join([bare(formula_text(task, one, {})) for one in task.goal])
    lines = [
        *_things(task, part),
        *_facts(task, part, tuples),
        *_numbers(task, part),
        f"Task: {words}",
        f"Goal: {goal}",
    ]
    return "\n".join(lines) + f"\n{PLAN}"


def _tuples(task: Task) -> _Tuples:
    """The objects of each fact about several things, by predicate and in order; large scenes have thousands."""
    sizes = [len(predicate.types) for predicate in task.predicates[: len(task.initial_facts)]]
    return [
        [] if size == 1 else [task.decode(code, size) for code in sorted(codes)]
        for size, codes in zip(sizes, task.initial_facts, strict=False)
    ]


def scene_lines(task: Task, part: Crop) -> list[str]:
    """What is told of the initial state of a task."""
    return [*_things(task, part), *_facts(task, part, _tuples(task)), *_numbers(task, part)]


def _things(task: Task, part: Crop) -> list[str]:
    """What each thing is, things that are the same on a line: its type, and its facts about nothing else."""
    said: dict[int, list[str]] = {number: [] for number in sorted(part.kept)}
    for index, codes in enumerate(task.initial_facts):
        if len(task.predicates[index].types) == 1:
            for code in sorted(codes & said.keys()):
                said[code].append(task.predicates[index].name)
    lines: dict[str, list[str]] = {}
    for number, facts in said.items():
        name, kind = task.objects[number], _kind(task, number)
        words = " ".join(facts if kind == name else [kind, *facts])
        if words:
            lines.setdefault(words, []).append(name)
    return [f"{words}: {' '.join(names)}" for words, names in lines.items()]


def _kind(task: Task, number: int) -> str:
    """The type of a thing. VirtualHome's things have several; the first is what it is."""
    types = task.object_types[number]
    return task.type_names[types[0]] if types else "thing"


def _facts(task: Task, part: Crop, tuples: _Tuples) -> list[str]:
    """Facts about several things, those that are the same but for the first on a line."""
    lines: dict[str, list[str]] = {}
    for index, every in enumerate(tuples):
        name, size = task.predicates[index].name, len(task.predicates[index].types)
        of = part.core & part.kept if index in part.dense else part.kept
        told = [objects for objects in every if of.issuperset(objects)]
        known = frozenset(told)
        if size == 2 and told and all([one != other and (other, one) in known for one, other in told]):
            told = [(one, other) for one, other in told if one < other]
            name = f"{name} both ways"
        for objects in told:
            names = [task.objects[number] for number in objects]
            lines.setdefault(" ".join([name, *names[1:]]), []).extend(names[:1])
    return [f"{words}: {' '.join(firsts)}" if firsts else words for words, firsts in lines.items()]


def _numbers(task: Task, part: Crop) -> list[str]:
    """Values of functions but 0."""
    lines = []
    for index, values in enumerate(task.initial_fluents):
        function = task.functions[index]
        for code, value in sorted(values.items()):
            objects = task.decode(code, len(function.types))
            if value and part.kept.issuperset(objects):
                lines.append(f"{' '.join([function.name, *[task.objects[number] for number in objects]])} = {value}")
    return lines


def bare(text: str) -> str:
    """A condition without its outer parentheses, where nothing is lost by that."""
    inner = text[1:-1]
    return inner if text.startswith("(") and text.endswith(")") and "(" not in inner else text
