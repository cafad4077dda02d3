"""The words of a sentence next to a plan: actions and objects of its steps, known words, or not understood.

The facts that are certain in each state of a plan: what a step's arguments contain (``plan_words``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple

from plansafe.llm.loose.names import Names, key
from plansafe.llm.loose.vocabulary import ARTICLES, KNOWN, REACHED, verb_forms, vocabulary
from plansafe.verifier.model.nodes import And, Atom, Binding, Effect, Formula, Task, Truth

_TOKEN = re.compile(
    r"\(\s*[a-z][^()]*\)|[a-z][\w.-]*\([^()]*\)|[a-z0-9_]+(?:[-'][a-z0-9_]+)*|[.,;:!?/\u2014()]|\u0001|-+|\S"
)


_CONTAINS = ("contains", "holds")
_COUNTS = {"both": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


class Token(NamedTuple):
    """``kind``: ``word``, ``verb``, ``state``, ``objects``, ``step`` or ``mark``; ``names`` are groups or objects."""

    kind: str
    text: str
    names: frozenset[str] = frozenset()
    forms: frozenset[str] = frozenset()


class NotUnderstood(Exception):
    """Something in the sentence is not known to be harmless."""


def _of_action(verb: str) -> str:
    """The group of the actions whose name begins with a verb."""
    return f"action {verb}"


class PlanWords:
    """The steps of a plan, as sentences may name them."""

    def __init__(self, steps: Sequence[str], names: Names) -> None:
        self.names = names
        self.vocabulary = vocabulary()
        self.steps = [tuple(step.lower().strip("()").split()) for step in steps]
        self.arguments = [frozenset(tokens[1:]) for tokens in self.steps]
        self.predicates = {key(predicate.name) for predicate in names.task.predicates}
        self.used = frozenset().union(*self.arguments)
        self.groups: list[frozenset[str]] = []
        for tokens in self.steps:
            first, *more = re.split(r"[-_]", tokens[0])
            groups = self.vocabulary.lemmas.get(first, frozenset()) | {first}
            side = {"on", "off"} & set(more) if "switch" in groups else set()
            groups = frozenset(f"switch-{state}" for state in side) if side else groups
            reached = self._effects(tokens[0]) & REACHED
            self.groups.append(groups | {self.vocabulary.states[word] for word in reached} | {_of_action(first)})
        # The name of one of the task's actions means that action, never a synonym: "stack" is not "put down".
        action_verbs: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        for verb in {re.split(r"[-_]", name)[0] for name in names.task.actions}:
            for form, kind in verb_forms(verb):
                groups, kinds = action_verbs.get(form, (frozenset(), frozenset()))
                if "switch" in self.vocabulary.lemmas.get(verb, ()):  # its side, on or off, decides
                    groups |= self.vocabulary.verbs.get(form, (frozenset(), frozenset()))[0] | {verb}
                kinds |= self.vocabulary.verbs.get(form, (frozenset(), frozenset()))[1] | {kind}
                action_verbs[form] = (groups | {_of_action(verb)}, kinds)
        self.verbs = self.vocabulary.verbs | action_verbs
        self.effects = [self._effects(tokens[0]) for tokens in self.steps]
        self.heads: dict[str, frozenset[str]] = {}
        for name in self.used:
            for word in {re.split(r"[-_]", name)[-1], re.split(r"[-_]", re.sub(r"[-_]?\d+$", "", name))[-1]}:
                self.heads[word] = self.heads.get(word, frozenset()) | {name}

    @cached_property
    def handled(self) -> list[frozenset[str]]:
        """The arguments of each step, and their contents before or after it."""
        task = self.names.task
        size = len(task.objects)
        states = certain_facts(task, self.steps)
        extended = []
        for number, arguments in enumerate(self.arguments):
            facts = states[number] | states[number + 1] if states else frozenset()
            inside = {
                task.objects[code % size]
                for predicate, code in facts
                if task.predicates[predicate].name.lower() in _CONTAINS
                and len(task.predicates[predicate].domains) == 2
                and task.objects[code // size] in arguments
            }
            extended.append(arguments | inside)
        return extended

    def _effects(self, name: str) -> frozenset[str]:
        """The words of the facts that an action makes true."""
        action = self.names.task.actions.get(name)
        snaps = () if action is None else (action.start, *(() if action.end is None else (action.end,)))
        predicates = {atom.predicate for snap in snaps for effect in snap.effects for atom in effect.adds}
        names = [self.names.task.predicates[predicate].name for predicate in predicates]
        return frozenset(word for argument_name in names for word in re.split(r"[-_]", argument_name.lower()))

    def names_arguments(self, text: str, targets: frozenset[int]) -> bool:
        """Whether a text is nothing but arguments of the steps that it is next to."""
        words = re.findall(r"[^\s,;]+", text.lower())
        argument_keys = {key(name) for number in targets for name in self.arguments[number]}
        return bool(words) and all([key(word.strip("*`_|")) in argument_keys for word in words])

    def is_action(self, text: str) -> bool:
        """Whether a text is the name of an action that the plan has."""
        return key(text) in {key(tokens[0]) for tokens in self.steps}

    def tokens_of(self, text: str) -> list[Token]:
        """The words of a sentence. Raises :class:`NotUnderstood`."""
        raw = _TOKEN.findall(text)
        tokens: list[Token] = []
        position = 0
        while position < len(raw):
            count, token = self._token(raw, position)
            tokens.append(token)
            position += count
        return [
            Token("word", token.text) if token.text == "on" and takes_object(tokens, at) else token
            for at, token in enumerate(tokens)
        ]

    def _token(self, raw: list[str], at: int) -> tuple[int, Token]:
        word = raw[at]
        if word[-1] == ")" and len(word) > 1:
            if (steps := self._steps_written(word)) is not None:
                return 1, Token("step", word, steps)
            raw[at : at + 1] = re.findall(r"[a-z0-9_]+(?:[-'][a-z0-9_]+)*|\S", word)
            word = raw[at]
        if not word[0].isalnum():
            if word in ".,;:!/\u2014()\u0001" or set(word) == {"-"}:
                return 1, Token("word" if word == "\u0001" else "mark", word)
            raise NotUnderstood(word)
        if word not in self.vocabulary.words or len(word) > 2:
            for count in range(min(4, len(raw) - at), 0, -1):
                if names := self.objects("-".join(raw[at : at + count])):
                    return count, Token("objects", " ".join(raw[at : at + count]), names)
        if word in _COUNTS and at + 1 < len(raw) and len(self.objects(raw[at + 1]) & self.used) == _COUNTS[word]:
            return 1, Token("word", "both")
        if word in self.verbs:
            groups, forms = self.verbs[word]
            if word in self.vocabulary.states:
                return 1, Token("state", word, groups | {self.vocabulary.states[word]}, forms)
            return 1, Token("verb", word, groups, forms)
        if word not in self.vocabulary.words and any([word in words for words in self.effects]):
            return 1, Token("state", word, frozenset((self.vocabulary.states.get(word, word),)))
        if word in self.vocabulary.states:
            return 1, Token("state", word, frozenset((self.vocabulary.states[word],)))
        if word in self.vocabulary.words or word in self.vocabulary.persons or word in KNOWN:
            return 1, Token("word", word)
        if "-" in word or "_" in word:
            raw[at : at + 1] = [part for part in re.split(r"[-_]", word) if part] or ["?"]
            return self._token(raw, at)
        if word.endswith("'s"):
            raw[at] = word[:-2]
            return self._token(raw, at)
        raise NotUnderstood(word)

    def objects(self, text: str) -> frozenset[str]:
        """The objects that words may name."""
        names: set[str] = set()
        for form in {text, text.removesuffix("s"), text.removesuffix("es")}:
            names.update(self.names.named(form))
            names |= self.heads.get(form, frozenset())
            for synonym in self.vocabulary.synonyms.get(form, ()):
                names.update(self.names.named(synonym))
                names |= self.heads.get(synonym, frozenset())
        return frozenset(names)

    def _steps_written(self, text: str) -> frozenset[str] | None:
        """The steps that ``(action object ..)`` or ``action(object, ..)`` is; ``None`` for other texts."""
        head, _, body = text.partition("(")
        parts = [key(part.strip(" \"'")) for part in re.split(r"[\s,]+", f"{head} {body.rstrip(')')}") if part]
        same = {
            str(number)
            for number, step in enumerate(self.steps)
            if parts in ([key(step_word) for step_word in step], [key(step[0]), *map(key, step[2:])])
        }
        is_fact = parts[:1] and parts[0] in self.predicates and all([self.names.find(part) for part in parts[1:]])
        if not same and (head or is_fact or self.names.action(parts[0] if parts else "") is not None):
            raise NotUnderstood(text)
        return frozenset(same) or None


def takes_object(tokens: list[Token], at: int) -> bool:
    """Whether a word is followed by an object, as a preposition is."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    return following is not None and (following.kind == "objects" or following.text in ARTICLES)


MAX_FACTS = 500_000
"""Facts of all states together. For a longer plan no fact is certain."""
MAX_INSTANCES = 2_000
"""Instances of an effect under quantifiers. With more, no fact is certain."""

Fact = tuple[int, int]
"""The number of a predicate, and the code of its arguments."""


def certain_facts(task: Task, steps: Sequence[Sequence[str]]) -> list[frozenset[Fact]]:
    """Return the facts that hold for certain in the initial state and after each step; an empty list if unknown."""
    first = frozenset((number, code) for number, codes in enumerate(task.initial_facts) for code in codes)
    if task.timed_literals or len(first) * (len(steps) + 1) > MAX_FACTS:
        return []
    states = [first]
    for name, *arguments in steps:
        action = task.actions.get(name)
        values = [task.object_index.get(argument, -1) for argument in arguments]
        if action is None or action.end is not None or len(values) != len(action.parameters) or -1 in values:
            return []
        binding = {variable.slot: value for variable, value in zip(action.parameters, values, strict=True)}
        following = _apply(task, states[-1], action.start.effects, binding)
        if following is None:
            return []
        states.append(following)
    return states


def _apply(task: Task, state: frozenset[Fact], effects: Sequence[Effect], binding: Binding) -> frozenset[Fact] | None:
    """Return the certain facts of the next state; ``None`` if the effects have too many instances."""
    adds: set[Fact] = set()
    deletes: set[Fact] = set()
    for effect in effects:
        instances = [binding]
        if effect.variables:
            if prod([len(task.domains[variable.domain]) for variable in effect.variables]) > MAX_INSTANCES:
                return None
            instances = [{**binding, **inner} for inner in task.bindings(effect.variables, binding)]
        for inner in instances:
            if not effect.choices and _is_certain(task, state, effect.condition, inner):
                adds |= {(atom.predicate, task.code_of(atom.arguments, inner)) for atom in effect.adds}
            deletes |= {(atom.predicate, task.code_of(atom.arguments, inner)) for atom in effect.deletes}
    return (state - deletes) | adds


def _is_certain(task: Task, state: frozenset[Fact], formula: Formula, binding: Binding) -> bool:
    """True if a formula certainly holds; other kinds of formulas are never certain."""
    if isinstance(formula, Truth):
        return formula.value
    if isinstance(formula, Atom):
        return (formula.predicate, task.code_of(formula.arguments, binding)) in state
    return isinstance(formula, And) and all([_is_certain(task, state, part, binding) for part in formula.parts])
