"""JSON and Python literals with places: lists, tuples, objects with repeated keys, and calls as text.

Language models mix the two notations, so one reader accepts both: either kind of quotes, trailing commas, comments.
Nothing is evaluated. The reader does not recurse; nesting beyond ``DEPTH`` is an error.
"""

from __future__ import annotations

import re
from typing import Literal

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.named_tuple import NamedTuple

DEPTH = 32
"""Maximum nesting of lists, objects and parentheses."""

_SPACE = re.compile(r"(?:[ \t\n]|//[^\n]*|#[^\n]*)*")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\n", "b": " ", "f": " "}
_BARE_DELIMITER = re.compile(r"[()\[\]{},\n]|[\"']")
_STRING = {quote: re.compile(rf"(?:[^{quote}\\]|\\.)*{quote}", re.DOTALL) for quote in "\"'"}


class UnreadableValue(Exception):
    """A value that cannot be read; ``start`` is the place of the mistake."""

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.start = start


class TruncatedValue(UnreadableValue):
    """The text ends inside a value that began at ``start``."""


class NestedTooDeep(UnreadableValue):
    """Values are nested deeper than ``DEPTH``."""


class MalformedValue(UnreadableValue):
    """A syntax error, such as a missing comma or brackets that do not match."""


ValueKind = Literal["string", "bare", "list", "object"]
"""``bare``: a number, a word or a call."""


class DataValue(NamedTuple):
    """A value that was read.

    ``text`` is a string's content or a bare value as written; ``items`` are the values of a list, or the keys and
    values of an object in turn. ``exact``: the characters of ``text`` are those from ``start + 1``; it is ``False`` for
    a string with escapes.
    """

    kind: ValueKind
    text: str
    items: tuple[DataValue, ...]
    start: int
    end: int
    exact: bool = True

    @property
    def pairs(self) -> list[tuple[DataValue, DataValue]]:
        """The pairs of an object, in order, repeated keys included."""
        return list(zip(self.items[::2], self.items[1::2], strict=True))


def parse_value(text: str, start: int, end: int, comments: list[Span] | None = None) -> DataValue:
    """Read the list or object that begins at ``start`` with its bracket; its ``end`` is the offset after it.

    Linear in its length. The places of comments are added to ``comments``. Raises ``TruncatedValue`` if the value does
    not end before ``end``, ``NestedTooDeep`` if it nests too deeply, ``MalformedValue`` if it is neither JSON nor
    Python.
    """
    stack: list[_OpenValue] = []
    position = start
    while True:
        space = _SPACE.match(text, position, end)
        if space and space.end() > position:
            if comments is not None:
                comments += [Span(*comment.span()) for comment in _COMMENT.finditer(text, position, space.end())]
            position = space.end()
        char = text[position : position + 1] if position < end else ""
        if not char:
            raise TruncatedValue(stack[0].start if stack else start)
        if char in "]})":
            value = _close(stack.pop(), char, position)
            position += 1
            if not stack:
                return value
        elif char in ",:":
            stack[-1].read_separator(char, position)
            position += 1
            continue
        else:
            if stack:
                stack[-1].require_separator(position)
            if char in "[{" or (char == "(" and _is_tuple(text, position, end)):
                if len(stack) == DEPTH:
                    raise NestedTooDeep(position)
                stack.append(_OpenValue(char, position))
                position += 1
                continue
            if char in "\"'":
                value = _read_string(text, position, end, stack[0].start)
            else:
                value = _read_bare(text, position, end, stack[-1].expects_key)
            position = value.end
        stack[-1].add(value)


class _OpenValue:
    """A list or object that is being read. ``expects_value``: no separator is missing before the next value."""

    def __init__(self, bracket: str, start: int) -> None:
        self.bracket, self.start = bracket, start
        self.items: list[DataValue] = []
        self.expects_value = True

    @property
    def expects_key(self) -> bool:
        return self.bracket == "{" and len(self.items) % 2 == 0

    def read_separator(self, char: str, position: int) -> None:
        has_key = self.bracket == "{" and len(self.items) % 2 == 1
        if self.expects_value or (char == ":") != has_key:
            raise MalformedValue(position)
        self.expects_value = True

    def require_separator(self, position: int) -> None:
        if not self.expects_value:
            raise MalformedValue(position)

    def add(self, value: DataValue) -> None:
        self.items.append(value)
        self.expects_value = False


def _is_tuple(text: str, position: int, end: int) -> bool:
    """Whether a parenthesis opens a tuple of strings; otherwise it belongs to a call."""
    space = _SPACE.match(text, position + 1, end)
    return space is not None and space.end() < end and text[space.end()] in "\"'"


def _close(open_value: _OpenValue, char: str, position: int) -> DataValue:
    if open_value.bracket + char not in ("[]", "{}", "()"):
        raise MalformedValue(position)
    if open_value.bracket == "{" and len(open_value.items) % 2:
        raise MalformedValue(position)
    kind: ValueKind = "object" if open_value.bracket == "{" else "list"
    return DataValue(kind, "", tuple(open_value.items), open_value.start, position + 1)


def _read_string(text: str, start: int, end: int, outermost: int) -> DataValue:
    match = _STRING[text[start]].match(text, start + 1, end)
    if match is None:
        raise TruncatedValue(outermost)
    content = match.group()[:-1]
    if "\\" not in content:
        return DataValue("string", content, (), start, match.end())
    return DataValue("string", _ESCAPE.sub(_unescape, content), (), start, match.end(), False)


def _unescape(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return _ESCAPES.get(match[2], match[2])


def _read_bare(text: str, start: int, end: int, is_key: bool) -> DataValue:
    """Read text up to the next comma, line break or closing bracket that is not inside parentheses.

    A key of an object (``is_key``) ends at its colon.
    """
    depth = 0
    position = start
    for match in _BARE_DELIMITER.finditer(text, start, end):
        char = match.group()
        position = match.start()
        if char == "(":
            depth += 1
        elif char == ")" and depth:
            depth -= 1
        elif char in "]}),\n" and not depth:
            break
        if depth > DEPTH:
            raise NestedTooDeep(position)
    else:
        raise TruncatedValue(start)
    if is_key and (colon := text.find(":", start, position)) >= 0:
        position = colon
    position = max(position, start + 1)
    return DataValue("bare", text[start:position].rstrip(), (), start, position)
