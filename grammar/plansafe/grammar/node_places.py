"""Find the places of the nodes of a tree in their source text."""

from __future__ import annotations

import re

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import TOKEN, Node
from plansafe.grammar.source import Source

_PARENTHESIS = re.compile(r'[()]|"(?:[^"\\]|\\.)*"|;[^\r\n]*', re.DOTALL)

_MAX_WALKS = 6
"""Maximum number of places that are found by following the path to the node; then the whole text is indexed."""


class SpanNode(NamedTuple):
    """The place of a list and of each of its children: a :class:`Span` for a token, a ``SpanNode`` for a list."""

    span: Span
    children: list[Span | SpanNode]


def parse_spans(source: Source) -> list[Span | SpanNode]:
    """Return the places of the nodes of a text, in the same shape as the tree of :func:`parse_nodes`.

    A list that is not closed ends at the end of the text.
    """
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
    """The places of the nodes of a tree in their source.

    Lists are found by identity, so the tree must be alive and unchanged. The first few places are found by following
    the path to the node through the text; after that the whole text is indexed.
    """

    def __init__(self, source: Source, top: list[Node]) -> None:
        self.source = source
        self._top = top
        self._spans: dict[int, SpanNode] | None = None
        """The places of all lists by identity; ``None`` while the text is not indexed."""
        self._ids: set[int] | None = None
        """The identities of all lists; ``None`` while they are not collected."""
        self._span_query_count = self._walk_count = 0
        self._last_path: tuple[list[Node], list[int] | None] | None = None
        """The last result of :meth:`_find_path`, with its argument."""

    def _index_lists(self) -> dict[int, SpanNode]:
        """Return the places of all lists by identity."""
        if self._spans is None:
            self._spans = {}
            root = SpanNode(Span(0, len(self.source.text)), parse_spans(self.source))
            stack: list[tuple[list[Node], SpanNode]] = [(self._top, root)]
            while stack:
                node, place = stack.pop()
                self._spans[id(node)] = place
                for child, child_place in zip(node, place.children, strict=False):
                    if isinstance(child, list) and isinstance(child_place, SpanNode):
                        stack.append((child, child_place))
        return self._spans

    def _find_path(self, target: list[Node]) -> list[int] | None:
        """Return the child numbers that lead from the top to a list; ``None`` if it is not in this tree."""
        if self._last_path is not None and self._last_path[0] is target:
            return self._last_path[1]
        parents: dict[int, tuple[list[Node], int]] = {}
        stack = [self._top]
        while stack and id(target) not in parents:
            node = stack.pop()
            for number, child in enumerate(node):
                if isinstance(child, list):
                    parents[id(child)] = (node, number)
                    stack.append(child)
        path: list[int] | None = None
        if target is self._top or id(target) in parents:
            path, node = [], target
            while node is not self._top:
                node, child_number = parents[id(node)]
                path.append(child_number)
            path.reverse()
        self._last_path = (target, path)
        return path

    def contains(self, node: list[Node]) -> bool:
        """Whether the list is part of this source's tree."""
        if self._spans is not None:
            return id(node) in self._spans
        if self._ids is None and self._walk_count < _MAX_WALKS:
            self._walk_count += 1
            return self._find_path(node) is not None
        if self._ids is None:
            self._ids = set()
            stack = [self._top]
            while stack:
                part = stack.pop()
                self._ids.add(id(part))
                stack += [child for child in part if isinstance(child, list)]
        return id(node) in self._ids

    def span(self, node: list[Node], child: int | None = None) -> Span:
        """Return the place of a list, or of its child number ``child``.

        Without such a child, it is the place of the closing parenthesis. If the list is not in the tree, it is an
        empty span at 0.
        """
        if self._spans is None and self._span_query_count < _MAX_WALKS:
            self._span_query_count += 1
            path = self._find_path(node)
            if path is None:
                return Span(0, 0)
            return self._follow(path if child is None else [*path, child])
        place = self._index_lists().get(id(node))
        if place is None:
            return Span(0, 0)
        if child is None:
            return place.span
        if child >= len(place.children):
            return Span(max(place.span.end - 1, place.span.start), place.span.end)
        child_place = place.children[child]
        return child_place.span if isinstance(child_place, SpanNode) else child_place

    def _find_section(self, path: list[int]) -> int | None:
        """Return the offset of the section that a path leads into, by a search for its head.

        The search skips the sections before it, which may have megabytes. ``None`` if the head may occur elsewhere.
        """
        form = self._top[path[0]] if len(path) > 2 else None
        section = form[path[1]] if isinstance(form, list) else None
        head = section[0] if isinstance(section, list) and section else None
        text = self.source.text
        if not isinstance(head, str) or head[0] != ":" or ";" in text or '"' in text:
            return None
        return text.find("(" + head) if text.count("(" + head) == 1 and text.lower().count(head) == 1 else None

    def _follow(self, path: list[int]) -> Span:
        """Follow child numbers through the text, skipping over the children before."""
        text = self.source.text
        list_start = self._find_section(path)
        if list_start is not None:
            path = path[2:]
        match: re.Match[str] | None = None
        for number in path:
            match = _find_child(text, 0 if list_start is None else list_start + 1, number)
            if match is None:  # no such child: use the closing parenthesis
                start, end = (0, len(text)) if list_start is None else (list_start, _find_list_end(text, list_start))
                return Span(max(end - 1, start), end)
            list_start = match.start()
        return Span(0, len(text)) if match is None else Span(match.start(), _find_end(text, match))


def _find_child(text: str, position: int, number: int) -> re.Match[str] | None:
    """Return the first token of child ``number``, counted from a position inside a list; ``None`` if the list ends."""
    while (match := TOKEN.search(text, position)) is not None and match.group() != ")":
        if match.group()[0] == ";":
            position = match.end()
        elif number == 0:
            return match
        else:
            number -= 1
            position = _find_end(text, match)
    return None


def _find_end(text: str, match: re.Match[str]) -> int:
    """Return the end of the node that begins with a token."""
    return _find_list_end(text, match.start()) if match.group() == "(" else match.end()


def _find_list_end(text: str, start: int) -> int:
    """Return the end of the list that begins at ``start``; the end of the text if the list is not closed."""
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
