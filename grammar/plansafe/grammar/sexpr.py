"""S-expressions: a fast reader without places, and the places on demand.

PDDL files are megabytes of flat facts, and nearly all of them are right. So the reader keeps no places at all: it makes
nested lists of lower-case tokens. Only when something has to be pointed at is the text read a second time, with places,
into a tree of the same shape (:class:`Places`). Neither reader recurses, so nesting depth is bounded by memory alone.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source

Node: TypeAlias = str | list["Node"]
"""A token (lower case; strings keep their quotes and case) or a list of nodes."""

_COMMENT = re.compile(r";[^\r\n]*")
_TOKEN = re.compile(r'[()]|"(?:[^"\\]|\\.)*"|;[^\r\n]*|[^\s();"]+|"', re.DOTALL)
_PARENTHESIS = re.compile(r'[()]|"(?:[^"\\]|\\.)*"|;[^\r\n]*', re.DOTALL)
_SECTION = re.compile(
    r"\s*:(?:requirements|types|constants|predicates|functions|derived|action|durative-action|objects|init|goal|metric)\b(?!-)",
    re.IGNORECASE,
)
_TOO_LATE = 3
_WALKS = 6


class ReadText(NamedTuple):
    """The top-level nodes of a file, and the diagnostics about its parentheses and characters.

    ``nodes`` is ``None`` if one of the diagnostics is an error.
    """

    nodes: list[Node] | None
    diagnostics: tuple[Diagnostic, ...]


class SpanNode(NamedTuple):
    """The place of a list and of each of its children: a :class:`Span` for a token, a ``SpanNode`` for a list."""

    span: Span
    children: list[Span | SpanNode]


def is_foreign(text: str) -> bool:
    """Whether a text holds bytes that were not UTF-8 (as lone surrogates)."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def read_all(source: Source) -> list[Node] | None:
    """All top-level nodes of a text, or ``None`` if parentheses or characters are wrong (:func:`problems` says how).

    Linear in the text; about 25 ns a character.
    """
    text = source.text
    if '"' in text:
        return _read_quoted(text)
    if ";" in text:
        text = _COMMENT.sub(" ", text)
    if is_foreign(text):
        return None
    # Cut at the opening parentheses: nearly every piece is one flat list, which two splits in C take apart.
    before, *pieces = text.lower().split("(")
    if ")" in before:
        return None
    top: list[Node] = [*before.split()]
    current = top
    stack: list[list[Node]] = []
    for piece in pieces:
        parts = piece.split(")")
        child: list[Node] = [*parts[0].split()]  # a copy: split leaves room for twelve
        current.append(child)
        if len(parts) == 1:
            stack.append(current)
            current = child
            continue
        for tail in parts[1:-1]:  # each closes one more list
            if not stack:
                return None
            current.extend(tail.split())
            current = stack.pop()
        last = parts[-1]
        if last and not last.isspace():
            current.extend(last.split())
    return None if stack else top


def _read_quoted(text: str) -> list[Node] | None:
    """The same for texts with strings, token by token."""
    tokens = [t if t[0] == '"' else t.lower() for t in _TOKEN.findall(text) if t[0] != ";"]
    if '"' in tokens or any([is_foreign(t) for t in tokens]):
        return None
    top: list[Node] = []
    current = top
    stack: list[list[Node]] = []
    for token in tokens:
        if token == "(":
            stack.append(current)
            child: list[Node] = []
            current.append(child)
            current = child
        elif token == ")":
            if not stack:
                return None
            current = stack.pop()
        else:
            current.append(token)
    return None if stack else top


def read_text(source: Source) -> ReadText:
    """Read a file: like :func:`read_all`, but one surplus ``)`` at its end is a warning."""
    nodes = read_all(source)
    if nodes is not None:
        return ReadText(nodes, ())
    place = _surplus(source)
    if place is None:
        return ReadText(None, problems(source))
    nodes = read_all(Source(source.name, source.text[: place.start]))
    return ReadText(nodes, (surplus_warning(source, place),) if nodes is not None else problems(source))


def surplus_warning(source: Source, place: Span) -> Diagnostic:
    """The warning about a ``)`` at the end of a file that closes nothing."""
    label = Label(source.name, place, "closes nothing")
    message = "unmatched `)` at the end of the file: ignored"
    return Diagnostic(SC.DIALECT, message, (label,), help="remove it", severity=Severity.WARNING)


def _surplus(source: Source) -> Span | None:
    """The place of a ``)`` at the end of a text, if it closes nothing and nothing else is wrong with parentheses."""
    depth = 0
    lists = False
    place: Span | None = None
    for match in _TOKEN.finditer(source.text):
        token = match.group()
        if token[0] == ";":
            continue
        if place is not None or token == '"':
            return None
        if token == "(":
            depth += 1
            lists = True
        elif token == ")":
            depth -= 1
            if depth < 0:
                place = Span(*match.span())
    return place if lists else None


def span_tree(source: Source) -> list[Span | SpanNode]:
    """The places of :func:`read_all`'s nodes, in the same shape. Unclosed lists end with the text."""
    top: list[Span | SpanNode] = []
    children = top
    stack: list[tuple[int, list[Span | SpanNode]]] = []
    text = source.text
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        token = text[start]
        if token == ";":
            continue
        if token == "(":
            stack.append((start, children))
            children = []
        elif token == ")":
            if stack:
                opened, parent = stack.pop()
                parent.append(SpanNode(Span(opened, end), children))
                children = parent
        else:
            children.append(Span(start, end))
    while stack:
        opened, parent = stack.pop()
        parent.append(SpanNode(Span(opened, len(text)), children))
        children = parent
    return top


class Places:
    """Where the nodes of a tree stand in their source.

    Lists are found by identity, so the tree must be alive and unchanged. The first few questions are answered by
    walking to the node through the text; after that the whole text is indexed.
    """

    def __init__(self, source: Source, top: list[Node]) -> None:
        self.source = source
        self._top = top
        self._spans: dict[int, SpanNode] | None = None
        self._ids: set[int] | None = None
        self._asked = self._walks = 0
        self._last: tuple[list[Node], list[int] | None] | None = None

    def _index(self) -> dict[int, SpanNode]:
        if self._spans is None:
            self._spans = {}
            whole = SpanNode(Span(0, len(self.source.text)), span_tree(self.source))
            stack: list[tuple[list[Node], SpanNode]] = [(self._top, whole)]
            while stack:
                node, place = stack.pop()
                self._spans[id(node)] = place
                for child, where in zip(node, place.children, strict=False):
                    if isinstance(child, list) and isinstance(where, SpanNode):
                        stack.append((child, where))
        return self._spans

    def _path(self, wanted: list[Node]) -> list[int] | None:
        """The child numbers that lead from the top to a list; ``None`` if it is not in this tree."""
        if self._last is not None and self._last[0] is wanted:
            return self._last[1]
        found: list[int] | None = [] if wanted is self._top else None
        parents: dict[int, tuple[list[Node], int]] = {}
        queue = [self._top] if found is None else []
        while queue and found is None:
            node = queue.pop()
            for number, child in enumerate(node):
                if isinstance(child, list):
                    parents[id(child)] = (node, number)
                    if child is wanted:
                        found = []
                        at: list[Node] = child
                        while at is not self._top:
                            at, number_there = parents[id(at)]
                            found.append(number_there)
                        found.reverse()
                        break
                    queue.append(child)
        self._last = (wanted, found)
        return found

    def knows(self, node: list[Node]) -> bool:
        """Whether the list is part of this source's tree."""
        if self._spans is not None:
            return id(node) in self._spans
        if self._ids is None and self._walks < _WALKS:
            self._walks += 1
            return self._path(node) is not None
        if self._ids is None:
            self._ids = set()
            stack = [self._top]
            while stack:
                part = stack.pop()
                self._ids.add(id(part))
                stack += [child for child in part if isinstance(child, list)]
        return id(node) in self._ids

    def span(self, node: list[Node], child: int | None = None) -> Span:
        """The place of a list, or of its child number ``child``: of the closing parenthesis if there is none."""
        if self._spans is None and self._asked < _WALKS:
            self._asked += 1
            path = self._path(node)
            if path is None:
                return Span(0, 0)
            return self._walk(path if child is None else [*path, child])
        place = self._index().get(id(node))
        if place is None:
            return Span(0, 0)
        if child is None:
            return place.span
        if child >= len(place.children):
            return Span(max(place.span.end - 1, place.span.start), place.span.end)
        where = place.children[child]
        return where.span if isinstance(where, SpanNode) else where

    def _section(self, path: list[int]) -> int:
        """Where the section begins that a path leads into, if searching for its head finds it beyond doubt; else -1.

        So the megabytes of the sections before it need not be walked through.
        """
        form = self._top[path[0]] if len(path) > 2 else None
        section = form[path[1]] if isinstance(form, list) else None
        head = section[0] if isinstance(section, list) and section else None
        text = self.source.text
        if not isinstance(head, str) or head[0] != ":" or ";" in text or '"' in text:
            return -1
        return text.find("(" + head) if text.count("(" + head) == 1 and text.lower().count(head) == 1 else -1

    def _walk(self, path: list[int]) -> Span:
        """Follow child numbers through the text, skipping over the children before."""
        text = self.source.text
        span = Span(0, len(text))
        at = 0
        section = self._section(path)
        for level, number in enumerate(path, 1):
            if section >= 0 and level < 3:
                at, span = section + level - 1, Span(section, len(text))
                continue
            left = number
            while True:
                match = _TOKEN.search(text, at)
                if match is None or match.group() == ")":  # no such child: the closing parenthesis stands for it
                    end = _end_of_list(text, span.start) if level > 1 else len(text)
                    return Span(max(end - 1, span.start), end)
                if match.group()[0] == ";":
                    at = match.end()
                    continue
                if left == 0 and level < len(path):  # on the way: where it ends is not asked
                    span = Span(match.start(), len(text))
                    at = match.start() + 1
                    break
                end = _end_of_list(text, match.start()) if match.group() == "(" else match.end()
                if left == 0:
                    return Span(match.start(), end)
                left -= 1
                at = end
        return span


def _end_of_list(text: str, start: int) -> int:
    """Where the list that begins at ``start`` ends; at the end of the text if it is not closed."""
    depth = 0
    if text.find(";", start) < 0 and text.find('"', start) < 0:
        while (end := text.find(")", start)) >= 0:
            depth += text.count("(", start, end) - 1
            start = end + 1
            if depth <= 0:
                return start
        return len(text)
    for match in _PARENTHESIS.finditer(text, start):
        token = match.group()
        if token == "(":
            depth += 1
        elif token == ")":
            depth -= 1
            if depth == 0:
                return match.end()
    return len(text)


def problems(source: Source) -> tuple[Diagnostic, ...]:
    """Why :func:`read_all` refused a text.

    Every stray or missing parenthesis, open string and foreign byte, in order.
    """
    found: list[Diagnostic] = []
    text = source.text
    opened: list[int] = []
    open_string = False
    inside: tuple[int, int] | None = None
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        token = match.group()
        if token == "(":
            if inside is None and len(opened) > 1 and _SECTION.match(text, end):
                inside = start, opened[1]
            opened.append(start)
        elif token == ")":
            if opened:
                opened.pop()
            elif len(found) < _TOO_LATE:
                found.append(_problem(source, SC.UNBALANCED, "unmatched `)`", start, end, "nothing is open here"))
        elif token == '"':
            found.append(_problem(source, SC.UNBALANCED, "a string is not closed", start, end, "it begins here"))
            open_string = True
            break
        elif token[0] != ";" and is_foreign(token) and len(found) < _TOO_LATE:
            label = "these bytes are not UTF-8"
            found.append(_problem(source, SC.NOT_UTF8, "bytes outside a comment are not UTF-8", start, end, label))
    if opened and not open_string:
        found.append(_unclosed(source, opened, inside))
    return tuple(found)


def _unclosed(source: Source, opened: list[int], inside: tuple[int, int] | None) -> Diagnostic:
    """The text ends inside a parenthesis; ``inside``: a section that begins within another, and that other one."""
    count = len(opened)
    message = "the text ends inside a parenthesis" if count == 1 else f"the text ends inside {count} parentheses"
    if inside is None:
        diagnostic = _problem(source, SC.UNBALANCED, message, opened[-1], opened[-1] + 1, "this one is not closed")
        help = f"add `{')' * min(count, 20)}` at the end, or close it where it should end"
    else:
        start, outer = inside
        diagnostic = _problem(source, SC.UNBALANCED, message, start, start + 1, "a `)` is missing before this section")
        hint = Label(source.name, Span(outer, outer + 1), "this one is not closed", False)
        diagnostic = diagnostic._replace(labels=(*diagnostic.labels, hint))
        help = "close the section before this one begins"
    return diagnostic._replace(help=help)


def _problem(source: Source, code: str, message: str, start: int, end: int, text: str) -> Diagnostic:
    return Diagnostic(code, message, (Label(source.name, Span(start, end), text),))


def write(node: Node) -> str:
    """A node as text. ``read_all`` of the result gives the node back."""
    out: list[str] = []
    stack: list[Node] = [node]
    glue = ""
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            out.append(glue + "(")
            stack.append(")")
            stack.extend(reversed(item))
            glue = ""
        elif item == ")":
            out.append(")")
            glue = " "
        else:
            out.append(glue + item)
            glue = " "
    return "".join(out)
