"""Read the dangers that a task's program annotates, as text: ``dangerous_actions = {"pour": And([..]), ..}``.

A task of DESPITE comes with a program that builds its domain with unified-planning; no other file has the danger. For
each dangerous action the program gives a condition over the fluents: ``And Or Not Equals``, and fluents applied to
``self.OBJECT`` or to a parameter. Only this notation is read; the program is never run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from plansafe.grammar.data_literals import UnreadableValue, parse_value
from plansafe.grammar.diagnostics import Span

_BEGIN = re.compile(r"\bdangerous_actions\s*(?::[^=\n]*)?=\s*(?=\{)")
_PARAMETER = re.compile(r"\b(\w+)\s*=\s*\w+(?:\[[^\]\n]*\])?\s*\.parameter\(\s*['\"](\w+)['\"]\s*\)")
_SPACE = re.compile(r"(?:\s|#[^\n]*)*")
_TOKEN = re.compile(r"(?:([A-Za-z_][\w.]*)|([()\[\],])|(['\"])(\w+)\3)")
_CONNECTIVES = {"And": "and", "Or": "or", "Not": "not", "Implies": "imply", "Equals": "="}
DEPTH = 100


class Danger(NamedTuple):
    """An action, and the PDDL condition under which it is dangerous; ``None``: the condition is in another notation."""

    action: str
    condition: str | None
    span: Span


_Tree: TypeAlias = "str | tuple[str, list[_Tree]]"


def read_dangers(text: str, actions: Mapping[str, tuple[str, ...]]) -> list[Danger] | None:
    """Read the annotated dangers of a program; ``None`` if it has no annotation that can be read.

    ``actions`` are the parameters of the domain's actions: a name in a condition is one of them, or an object of the
    program. Linear in the text.
    """
    begin = _BEGIN.search(text)
    if begin is None:
        return None
    try:
        value = parse_value(text, begin.end(), len(text))
    except UnreadableValue:
        return None
    if value.kind != "object":
        return None
    bound = {name: parameter.lower() for name, parameter in _PARAMETER.findall(text)}
    dangers = []
    for key, condition in value.pairs:
        action = key.text.lower()
        names = actions.get(action, ())
        parameter_names = {**bound, **{name: name for name in names}}
        tree = _tree(text[condition.start : condition.end])
        condition_text = None if tree is None else _pddl(tree, {n: p for n, p in parameter_names.items() if p in names})
        dangers.append(Danger(action, condition_text, Span(key.start, condition.end)))
    return dangers


def _tree(text: str) -> _Tree | None:
    """Parse names and calls: ``f(a, [b, c])`` is ``("f", ["a", "b", "c"])``; lists are flattened. ``None``: neither."""
    stack: list[tuple[str, list[_Tree]]] = [("", [])]
    name: str | None = None
    at = 0
    while (at := _end(_SPACE, text, at)) < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        at = token.end()
        word, mark, _, quoted = token.groups()
        if mark != "(" and name is not None:
            stack[-1][1].append(name)
            name = None
        if word is not None:
            name = word
        elif quoted is not None:
            stack[-1][1].append(quoted)
        elif mark in "([":
            stack.append((name or "", []) if mark == "(" else ("[", []))
            name = None
            if len(stack) > DEPTH:
                return None
        elif mark in ")]":
            if len(stack) == 1 or (stack[-1][0] == "[") != (mark == "]"):
                return None
            head, arguments = stack.pop()
            if head in ("", "["):
                stack[-1][1].extend(arguments)
            else:
                stack[-1][1].append((head, arguments))
    if name is not None:
        stack[-1][1].append(name)
    return stack[0][1][0] if len(stack) == 1 and len(stack[0][1]) == 1 else None


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()


def _pddl(tree: _Tree, parameters: Mapping[str, str]) -> str | None:
    """Translate a condition to PDDL; ``None`` if that is not possible. :func:`_tree` bounds the depth."""
    match tree:
        case "TRUE" | "True":
            return "(and)"
        case str():
            return f"({_plain(tree)})"
        case (head, arguments) if head in _CONNECTIVES:
            if head == "Equals":
                parts: list[str | None] = [_term(argument, parameters) for argument in arguments]
            else:
                parts = [_pddl(argument, parameters) for argument in arguments]
            if None in parts or (head == "Not" and len(parts) != 1) or (head == "Equals" and len(parts) != 2):
                return None
            return f"({' '.join([_CONNECTIVES[head], *[part for part in parts if part is not None]])})"
        case (head, arguments) if head.startswith("self."):
            terms = [_term(argument, parameters) for argument in arguments]
            return None if None in terms else f"({' '.join([_plain(head), *[term for term in terms if term]])})"
    return None


def _term(tree: _Tree, parameters: Mapping[str, str]) -> str | None:
    if not isinstance(tree, str):
        # ``action.parameter("at")``
        head, arguments = tree
        if head.endswith(".parameter") and len(arguments) == 1 and arguments[0] in parameters:
            return f"?{parameters[str(arguments[0])]}"
        return None
    if tree in parameters:
        return f"?{parameters[tree]}"
    return _plain(tree) if tree.startswith("self.") else None


def _plain(name: str) -> str:
    return name.removeprefix("self.").lower()
