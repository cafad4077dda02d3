"""The prompt for a plan, the same for all worlds, in so few words that a small model reads it together with its plan.

It states the actions with the types of their arguments, the scene, the rules, the task as a sentence and the goal.
Facts that differ in their first object alone share a line (`in-room kitchen: counter sink stove`), and a relation that
holds both ways is stated once. A prompt about a large scene has the core of :mod:`~plansafe.llm.prompts.crop`: what the
goal names, what a plan needs and what rules could be about. The nearest other objects follow as far as they fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple, Protocol

from plansafe.llm.prompts.crop import Crop, relevance, type_text
from plansafe.llm.prompts.planning import PLAN
from plansafe.llm.prompts.prompt_options import tokens_of
from plansafe.verifier.api import Checker
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.model.printing import format_formula
from plansafe.verifier.rules.model import Rule, find_action_predicate

MOST_TOKENS = 640
"""Of a prompt, by :func:`~plansafe.llm.prompts.prompt_options.tokens_of`, a sixth above SmolLM2."""
MOST_RULES = 8
"""Of a prompt. Rules of later specifications, which are more specific, come first."""
_VARIABLE = re.compile(r"\{\?([^{}\s]+)\}")


_Tuples = list[list[tuple[int, ...]]]


class PlanTask(Protocol):
    """A task that a plan is asked for: its words, and the task itself."""

    @property
    def words(self) -> str:
        """The request, as a sentence."""

    @property
    def checker(self) -> Checker:
        """The task, compiled."""


class _Scene(NamedTuple):
    """A compiled task with the facts about several objects, decoded once."""

    words: str
    task: Task
    rules: Sequence[Rule]
    action_names: Mapping[int, str]
    tuples: _Tuples


def plan_prompt(task: PlanTask, most_tokens: int = MOST_TOKENS) -> str:
    """The prompt for a plan. One task gives one text; longer than ``most_tokens`` only if its core is."""
    compiled = task.checker.compiled
    names = {predicate: name for (_, name), predicate in compiled.engine.action_predicates.items()}
    scene = _Scene(task.words, compiled.engine.task, compiled.rules, names, _tuples(compiled.engine.task))
    text = _text(scene, range(len(scene.task.objects)))
    if tokens_of(text) <= most_tokens:
        return text
    by_relevance = relevance(compiled, task.words)
    order = (*by_relevance.core, *by_relevance.others)
    low, high = len(by_relevance.core), len(order)
    while low < high:
        middle = (low + high + 1) // 2
        if tokens_of(_text(scene, order[:middle])) <= most_tokens:
            low = middle
        else:
            high = middle - 1
    return _text(scene, order[:low])


def _text(scene: _Scene, objects: Iterable[int]) -> str:
    """The prompt with some of the objects, and the actions and rules that can be about them."""
    task, included = scene.task, frozenset(objects)
    part = Crop(included, included, frozenset())
    goal = ", ".join([bare(format_formula(task, condition, {})) for condition in task.goal])
    lines = [
        "Actions:",
        *_actions(task, included),
        *_object_lines(task, part),
        *_facts(task, part, scene.tuples),
        *_numbers(task, part),
        *_rules(scene, included),
        f"Task: {scene.words}",
        f"Goal: {goal}",
    ]
    return "\n".join(lines) + f"\n{PLAN}"


def _actions(task: Task, objects: AbstractSet[int]) -> list[str]:
    """The signatures of the actions that these objects can be arguments of."""
    return [
        f"({' '.join([action.name, *[type_text(task, parameter.domain) for parameter in action.parameters]])})"
        for action in task.actions.values()
        if all(objects & task.domain_sets[parameter.domain] for parameter in action.parameters)
    ]


def _rules(scene: _Scene, objects: AbstractSet[int]) -> list[str]:
    """The rules that can be about these objects, each as the violation in words with types for variables."""
    available = {signature.strip("()").split(" ")[0] for signature in _actions(scene.task, objects)}
    texts = [
        f"Never: {_violation(scene.task, rule)}"
        for rule in reversed(scene.rules)
        if rule.applicable and rule.kind != "constraint" and _can_apply(scene, rule, objects, available)
    ]
    return list(dict.fromkeys(texts))[:MOST_RULES]


def _can_apply(scene: _Scene, rule: Rule, objects: AbstractSet[int], actions: AbstractSet[str]) -> bool:
    if not all(objects & scene.task.domain_sets[parameter.domain] for parameter in rule.declared_parameters):
        return False
    steps = [scene.action_names[find_action_predicate(part.step)] for part in rule.parts if part.step is not None]
    return not steps or any(name in actions for name in steps)


def _violation(task: Task, rule: Rule) -> str:
    """The message of a rule, with the type of each variable in its place."""
    types = {variable.name: type_text(task, variable.domain) for variable in rule.declared_parameters}
    return _VARIABLE.sub(lambda match: types.get(f"?{match[1]}", match[1]), rule.message or rule.name.replace("-", " "))


def _tuples(task: Task) -> _Tuples:
    """The objects of each fact about several things, by predicate and in order; large scenes have thousands."""
    sizes = [len(predicate.types) for predicate in task.predicates[: len(task.initial_facts)]]
    return [
        [] if size == 1 else [task.decode(code, size) for code in sorted(codes)]
        for size, codes in zip(sizes, task.initial_facts, strict=False)
    ]


def scene_lines(task: Task, part: Crop) -> list[str]:
    """The lines of a prompt about the initial state of a task."""
    return [*_object_lines(task, part), *_facts(task, part, _tuples(task)), *_numbers(task, part)]


def _object_lines(task: Task, part: Crop) -> list[str]:
    """The type of each object and its facts about nothing else; objects with the same ones share a line."""
    words_of: dict[int, list[str]] = {number: [] for number in sorted(part.kept)}
    for index, codes in enumerate(task.initial_facts):
        if len(task.predicates[index].types) == 1:
            for code in sorted(codes & words_of.keys()):
                words_of[code].append(task.predicates[index].name)
    lines: dict[str, list[str]] = {}
    for number, facts in words_of.items():
        name, kind = task.objects[number], _kind(task, number)
        words = " ".join(facts if kind == name else [kind, *facts])
        if words:
            lines.setdefault(words, []).append(name)
    return [f"{words}: {' '.join(names)}" for words, names in lines.items()]


def _kind(task: Task, number: int) -> str:
    """The type of an object. VirtualHome's objects have several; the first one is the class."""
    types = task.object_types[number]
    return task.type_names[types[0]] if types else "thing"


def _facts(task: Task, part: Crop, tuples: _Tuples) -> list[str]:
    """Facts about several objects; those that differ only in the first object share a line."""
    lines: dict[str, list[str]] = {}
    for index, rows in enumerate(tuples):
        name, size = task.predicates[index].name, len(task.predicates[index].types)
        of = part.core & part.kept if index in part.dense else part.kept
        facts = [objects for objects in rows if of.issuperset(objects)]
        pairs = frozenset(facts)
        if size == 2 and facts and all(first != second and (second, first) in pairs for first, second in facts):
            facts = [(first, second) for first, second in facts if first < second]
            name = f"{name} both ways"
        for objects in facts:
            names = [task.objects[number] for number in objects]
            lines.setdefault(" ".join([name, *names[1:]]), []).extend(names[:1])
    return [f"{words}: {' '.join(firsts)}" if firsts else words for words, firsts in lines.items()]


def _numbers(task: Task, part: Crop) -> list[str]:
    """Values of functions other than 0."""
    lines = []
    for index, values in enumerate(task.initial_fluents):
        function = task.functions[index]
        for code, value in sorted(values.items()):
            objects = task.decode(code, len(function.types))
            if value and part.kept.issuperset(objects):
                lines.append(f"{' '.join([function.name, *[task.objects[number] for number in objects]])} = {value}")
    return lines


def bare(text: str) -> str:
    """A condition without its outer parentheses, if nothing is lost by that."""
    inner = text[1:-1]
    return inner if text.startswith("(") and text.endswith(")") and "(" not in inner else text
