"""Parse formulas of the Embodied Agent Interface: ``(exists x0. (TYPE(x0)) then ON(computer.417))``.

A formula without ``then`` is a condition on a state and the action taken in it. ``f then g`` holds if f holds at some
time and g at a later time. The result is a list of operations in postfix order, so that nothing recurses on depth.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

DEPTH = 100

_TOKEN = re.compile(r"\s*(?:([A-Za-z_][\w-]*(?:\.\d+)?|\d+)|([(),.]))")
_LEVEL = {"then": 1, "or": 2, "and": 3, "not": 4, "forall": 4, "exists": 4}


class Malformed(Exception):
    """The text is not a formula; ``position`` is the place of the error."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


class Term(NamedTuple):
    """An argument: a variable that a quantifier binds, or the name of an object (``computer.417``)."""

    name: str
    bound: bool


class Primitive(NamedTuple):
    """A proposition or an action, at a place in the text."""

    name: str
    terms: tuple[Term, ...]
    start: int
    end: int


class Operator(NamedTuple):
    """``then``, ``or``, ``and`` of two operands, ``not`` of one, or a quantifier over ``variable``."""

    word: str
    variable: str
    start: int


Operation = Primitive | Operator


class _Kind(Enum):
    WORD = 1
    MARK = 2


class _Token(NamedTuple):
    kind: _Kind
    text: str
    start: int
    end: int


def read_formula(text: str) -> list[Operation]:
    """Parse a formula into operations, operands before operators. Linear in its length. Raises :class:`Malformed`."""
    tokens = _tokens(text)
    out: list[Operation] = []
    pending: list[Operator] = []  # operators that wait for their last operand; "(" among them
    scope: list[str] = []
    operand = True  # whether an operand is expected
    position = 0
    while position < len(tokens):
        token = tokens[position]
        word = token.text.lower() if token.kind is _Kind.WORD else token.text
        following = tokens[position + 1].text if position + 1 < len(tokens) else ""
        if operand:
            if word == "(":
                pending.append(Operator("(", "", token.start))
            elif word == "not" and following != ")":
                pending.append(Operator(word, "", token.start))
            elif word in ("forall", "exists"):
                position, variable = _binding(tokens, position, text)
                pending.append(Operator(word, variable, token.start))
                scope.append(variable)
                if len(scope) > DEPTH:
                    raise Malformed(f"quantifiers nest deeper than {DEPTH}", token.start)
            elif word == "forn":
                raise Malformed("`forn` is not supported", token.start)
            elif token.kind is _Kind.WORD and following == "(" and word not in _LEVEL:
                position, primitive = _primitive(tokens, position, text, scope)
                out.append(primitive)
                operand = False
            else:
                raise Malformed(f"a formula is expected here, not `{token.text}`", token.start)
        elif word == ")":
            _reduce(out, pending, scope, 0)
            if not pending:
                raise Malformed("this closes nothing", token.start)
            pending.pop()
        elif word in ("then", "or", "and"):
            _reduce(out, pending, scope, _LEVEL[word])
            pending.append(Operator(word, "", token.start))
            operand = True
        else:
            raise Malformed(f"`then`, `or`, `and` or `)` is expected here, not `{token.text}`", token.start)
        position += 1
    if operand:
        raise Malformed("the formula ends too early", len(text))
    _reduce(out, pending, scope, 0)
    if pending:
        raise Malformed("this is not closed", pending[-1].start)
    return out


def _reduce(out: list[Operation], pending: list[Operator], scope: list[str], level: int) -> None:
    """Close operators that bind at least as tightly as ``level``, up to the last parenthesis."""
    while pending and pending[-1].word != "(" and _LEVEL[pending[-1].word] >= level:
        operator = pending.pop()
        if operator.variable:
            scope.pop()
        out.append(operator)


def _tokens(text: str) -> list[_Token]:
    out = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            start = len(text) - len(text[position:].lstrip())
            raise Malformed(f"`{text[start]}` is not a symbol of formulas", start)
        kind = _Kind.WORD if match[1] else _Kind.MARK
        out.append(_Token(kind, match[1] or match[2], match.start(match.lastindex or 1), match.end()))
        position = match.end()
    return out


def _binding(tokens: list[_Token], position: int, text: str) -> tuple[int, str]:
    """The position of the point after a quantifier's variable, and the variable."""
    if position + 3 >= len(tokens):
        raise Malformed("the formula ends too early", len(text))
    variable, point, opening = tokens[position + 1 : position + 4]
    if variable.kind is not _Kind.WORD or point.text != "." or opening.text != "(":
        raise Malformed("write a quantifier as `exists x. (..)` or `forall x. (..)`", tokens[position].start)
    return position + 2, variable.text


def _primitive(tokens: list[_Token], position: int, text: str, scope: list[str]) -> tuple[int, Primitive]:
    """The position of the closing parenthesis of a proposition or action, and its name with arguments."""
    name = tokens[position]
    terms: list[Term] = []
    position += 2
    while position < len(tokens) and tokens[position].text != ")":
        token = tokens[position]
        if token.kind is not _Kind.WORD:
            raise Malformed(f"an object or variable is expected here, not `{token.text}`", token.start)
        terms.append(Term(token.text, token.text in scope))
        position += 1
        if position < len(tokens) and tokens[position].text == ",":
            position += 1
        elif position < len(tokens) and tokens[position].text != ")":
            raise Malformed("`,` or `)` is expected here", tokens[position].start)
    if position == len(tokens):
        raise Malformed("the formula ends too early", len(text))
    return position, Primitive(name.text, tuple(terms), name.start, tokens[position].end)
