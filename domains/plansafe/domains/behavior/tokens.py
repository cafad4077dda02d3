"""Scenes in which conditions are lists of words: prompts and ``behavior_bddl_info`` of the Embodied Agent Interface.

There ``(forall (?x - c) (not (open ?x)))`` has become ``forall x - c not open x``. The words keep their meaning:
predicates and quantifiers have a fixed number of arguments, and ``and`` and ``or`` take the rest.

A prompt of the action sequencing task is a whole scene: its initial state, its goal, and which objects there
are, in the names of the simulator (``bottom_cabinet_2``) with their categories; nothing else links the two.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.domains.behavior.bddl import AGENT, Activity, ActivityLiteral
from plansafe.domains.behavior.vocabulary import IGIBSON, Vocabulary, vocabulary
from plansafe.grammar.codes import SC
from plansafe.grammar.data_literals import DataValue, UnreadableValue, parse_value
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import Node
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import Context, Place, did_you_mean, is_object_name

INITIAL = "initial environment state:"
TARGET = "target environment state:"
OBJECTS = "interactable objects:"
_LINE = re.compile(r"[^\r\n]+")
_PLAIN = re.compile(r"[^\s()\";?]+\Z")
_INSTANCE = re.compile(r".+\.n\.\d+_\d+\Z")


class Words(NamedTuple):
    """A condition as words, with its place."""

    words: list[str]
    span: Span


class LinePlaces(Places):
    """Places of nodes that were made from words: the place of each is the whole condition."""

    def __init__(self, source: Source) -> None:
        super().__init__(source, [])
        self.spans: dict[int, Span] = {}

    def contains(self, node: list[Node]) -> bool:
        """Whether the list was made from this source."""
        return id(node) in self.spans

    def span(self, node: list[Node], child: int | None = None) -> Span:  # noqa: ARG002 - words have no finer places
        """The condition that a list was made from."""
        return self.spans.get(id(node), Span(0, 0))


def is_prompt(text: str) -> bool:
    """Whether a text is a prompt of the action sequencing task."""
    return INITIAL in text and OBJECTS in text


def read_prompt(source: Source, span: Span, name: str) -> tuple[Activity | None, Context]:
    """Read the scene of a prompt at ``span`` of its file. The last of each heading counts."""
    context = Context()
    text = source.text[span.start : span.end]
    objects_at = text.rfind(OBJECTS)
    target_at = text.rfind(TARGET, 0, objects_at)
    initial_at = text.rfind(INITIAL, 0, target_at)
    if min(objects_at, target_at, initial_at) < 0:
        where = Label(source.name, Span(span.start, min(span.start + 1, span.end)))
        message = f"expected the headings `{INITIAL}`, `{TARGET}` and `{OBJECTS}`"
        _add(context, SC.UNREADABLE_WORLD, message, where)
        return None, context
    init = _values(context, source, Span(span.start + initial_at + len(INITIAL), span.start + target_at))
    goals = _values(context, source, Span(span.start + target_at + len(TARGET), span.start + objects_at))
    listed = _values(context, source, Span(span.start + objects_at + len(OBJECTS), span.end))
    objects: dict[str, str] = {}
    for value in listed:
        fields = {key.text: item.text.lower() for key, item in value.pairs} if value.kind == "object" else {}
        if not _is_name(fields.get("name", "")) or not _is_name(fields.get("category", "")):
            message = "expected `{'name': .., 'category': ..}`"
            _add(context, SC.UNREADABLE_WORLD, message, Label(source.name, Span(value.start, value.end)))
        else:
            objects[fields["name"]] = fields["category"]
    return _activity(context, source, name, objects, _words(context, source, init), _words(context, source, goals))


def read_info(source: Source, value: DataValue) -> tuple[Activity | None, Context]:
    """Read a scene of ``behavior_bddl_info``: initial and goal conditions, and the category of each name."""
    context = Context()
    fields = {key.text: item for key, item in value.pairs}
    objects: dict[str, str] = {}
    for key in ("initial_condition", "goal_condition", "name_category"):
        kind = "object" if key == "name_category" else "list"
        if key not in fields or fields[key].kind != kind:
            message = f"the field `{key}` is missing, or not {'an object' if kind == 'object' else 'a list'}"
            _add(context, SC.UNREADABLE_WORLD, message, Label(source.name, Span(value.start, value.start + 1)))
    if context.errors:
        return None, context
    for name, category in fields["name_category"].pairs:
        if _is_name(name.text) and _is_name(category.text):
            objects[name.text.lower()] = category.text.lower()
        else:
            _add(
                context,
                SC.UNREADABLE_WORLD,
                "expected a name and its category",
                Label(source.name, Span(name.start, name.end)),
            )
    init = _words(context, source, fields["initial_condition"].items)
    goals = _words(context, source, fields["goal_condition"].items)
    return _activity(context, source, "scene", objects, init, goals)


def _is_name(text: str) -> bool:
    """Whether a text is a name that stays one in PDDL."""
    return _PLAIN.match(text) is not None and is_object_name(text)


def _words(context: Context, source: Source, values: list[DataValue] | tuple[DataValue, ...]) -> list[Words]:
    conditions: list[Words] = []
    for value in values:
        words = Words(_flat(value), Span(value.start, value.end))
        if all([_PLAIN.match(word) for word in words.words]):
            conditions.append(words)
        else:
            _add(context, SC.UNREADABLE_WORLD, "a condition must be a list of words", Label(source.name, words.span))
    return conditions


def _flat(value: DataValue) -> list[str]:
    """All words of a nested list, in order."""
    words: list[str] = []
    waiting = [value]
    while waiting:
        at = waiting.pop()
        if at.kind == "list":
            waiting.extend(reversed(at.items))
        else:
            words.append(at.text.lower())
    return words


def _values(context: Context, source: Source, span: Span) -> list[DataValue]:
    """The lists and objects of a section, one on each line; other lines are prose."""
    values: list[DataValue] = []
    for line in _LINE.finditer(source.text, span.start, span.end):
        start = line.start() + len(line[0]) - len(line[0].lstrip())
        if source.text[start : start + 1] in ("[", "{"):
            try:
                values.append(parse_value(source.text, start, line.end()))
            except UnreadableValue as broken:
                label = Label(source.name, Span(broken.start, line.end()))
                _add(context, SC.UNREADABLE_WORLD, "the value is not a list or an object", label)
    return values


def _activity(
    context: Context, source: Source, name: str, objects: dict[str, str], init: list[Words], goals: list[Words]
) -> tuple[Activity | None, Context]:
    places = LinePlaces(source)
    context.places.append(places)
    igibson = vocabulary(IGIBSON)
    literals: list[ActivityLiteral] = []
    for words in init:
        literal = _literal(context, source, words, objects, igibson)
        if literal is not None:
            literals.append(literal)
    goal: list[Node] = ["and"]
    places.spans[id(goal)] = Span(0, 0)
    for words in goals:
        formula = _formula(context, source, words, igibson, places)
        if formula is not None:
            goal.append(formula)
    return (None if context.errors else Activity(name, IGIBSON, objects, literals, goal, Place(goal))), context


def _literal(
    context: Context, source: Source, words: Words, objects: dict[str, str], igibson: Vocabulary
) -> ActivityLiteral | None:
    positive = words.words[:1] != ["not"]
    predicate, *arguments = (words.words if positive else words.words[1:]) or [""]
    label = Label(source.name, words.span)
    if igibson.predicates.get(predicate) != len(arguments):
        if predicate in igibson.predicates:
            count = igibson.predicates[predicate]
            _add(context, SC.ARITY, f"`{predicate}` takes {count} arguments, not {len(arguments)}", label)
        else:
            help_text = did_you_mean(predicate, igibson.predicates)
            _add(context, SC.UNKNOWN_PREDICATE, f"unknown predicate `{predicate}`", label, help_text)
        return None
    for argument in arguments:
        if argument not in objects:
            if _INSTANCE.match(argument) and argument.startswith(f"{AGENT}_"):
                objects[argument] = AGENT  # prompts do not list the agent
                continue
            _add(
                context,
                SC.UNKNOWN_OBJECT,
                f"`{argument}` is not among the objects",
                label,
                did_you_mean(argument, objects),
            )
            return None
    return ActivityLiteral(positive, predicate, tuple(arguments))


class _Open(NamedTuple):
    """A formula that is being read, and how many parts it still takes (-1: all that come)."""

    node: list[Node]
    missing: int


def _formula(
    context: Context, source: Source, words: Words, igibson: Vocabulary, places: LinePlaces
) -> list[Node] | None:
    """Give the words their parentheses back."""
    top: list[Node] = []
    stack = [_Open(top, 1)]
    position = 0
    tokens = words.words
    broken = False
    while position < len(tokens) and not broken:
        while stack and stack[-1].missing == 0:
            stack.pop()
        if not stack:
            break
        word = tokens[position]
        position += 1
        node: list[Node] = [word]
        places.spans[id(node)] = words.span
        parent = stack.pop()
        parent.node.append(node)
        stack.append(parent._replace(missing=parent.missing - 1 if parent.missing > 0 else -1))
        if word in ("and", "or"):
            stack.append(_Open(node, -1))
        elif word in ("not", "imply"):
            stack.append(_Open(node, 1 if word == "not" else 2))
        elif word in ("forall", "exists", "forn", "forpairs", "fornpairs"):
            if word.startswith("forn"):
                node.append([tokens[position] if position < len(tokens) else ""])
                position += 1
            for _ in range(2 if word.endswith("pairs") else 1):
                binding: list[Node] = [*tokens[position : position + 3]]
                places.spans[id(binding)] = words.span
                node.append(binding)
                position += 3
            stack.append(_Open(node, 1))
        elif word in igibson.predicates:
            count = igibson.predicates[word]
            node.extend(tokens[position : position + count])
            position += count
        else:
            help_text = did_you_mean(word, igibson.predicates)
            _add(
                context, SC.UNKNOWN_PREDICATE, f"unknown predicate `{word}`", Label(source.name, words.span), help_text
            )
            broken = True
    if not broken and (position != len(tokens) or any([part.missing > 0 for part in stack])):
        _add(context, SC.UNREADABLE_WORLD, "the condition is incomplete or too long", Label(source.name, words.span))
        broken = True
    return None if broken or not top or not isinstance(top[0], list) else top[0]


def _add(context: Context, code: str, message: str, label: Label, help_text: str | None = None) -> None:
    context.errors += 1
    context.diagnostics.append(Diagnostic(code, message, (label,), help=help_text, severity=Severity.ERROR))
