"""Where the nodes of a tree are in their source text."""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.sexpr import TOKEN, Node
from plansafe.grammar.source import Source

_PARENTHESIS = re.compile(r'[()]|"(?:[^"\\]|\\.)*"|;[^\r\n]*', re.DOTALL)

_WALKS = 6


class SpanNode(NamedTuple):
    """The place of a list and of each of its children: a :class:`Span` for a token, a ``SpanNode`` for a list."""

    span: Span
    children: list[Span | SpanNode]


def parse_spans(source: Source) -> list[Span | SpanNode]:
    """The places of :func:`read_all`'s nodes, in the same shape. Unclosed lists end with the text."""
    top: list[Span | SpanNode] = []
    children = top
    stack: list[tuple[int, list[Span | SpanNode]]] = []
    text = source.text
    for match in TOKEN.finditer(text):
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
            whole = SpanNode(Span(0, len(self.source.text)), parse_spans(self.source))
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

    def contains(self, node: list[Node]) -> bool:
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
                match = TOKEN.search(text, at)
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
