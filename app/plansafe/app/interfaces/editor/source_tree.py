"""Parse a text into a tree of forms with spans. Unclosed lists end at the end of the text.

The tree has the shape of :func:`plansafe.grammar.sexpr.span_tree`, with the text of each word added.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.node_places import SpanNode, parse_spans
from plansafe.grammar.source import Source

MAX_TEXT = 2_000_000
"""Maximum text length. Longer texts have no tree: they are analysed, but have no other editor features."""
MAX_DEPTH = 200
"""Maximum nesting depth; deeper lists are omitted."""


class Word(NamedTuple):
    """A token, in lower case; a string keeps its quotes."""

    span: Span
    text: str


class Form(NamedTuple):
    """A list. ``head`` is its first word, or empty."""

    span: Span
    parts: tuple[Word | Form, ...]

    @property
    def head(self) -> str:
        """The first word, or an empty string."""
        return self.parts[0].text if self.parts and isinstance(self.parts[0], Word) else ""

    @property
    def arguments(self) -> tuple[Word | Form, ...]:
        """All but the first part."""
        return self.parts[1:]


Part: TypeAlias = Word | Form


def parse_tree(source: Source) -> tuple[Part, ...]:
    """Return the top-level words and forms of a text."""
    if len(source.text) > MAX_TEXT:
        return ()
    return tuple([_part(node, source.text, 1) for node in parse_spans(source)])


def _part(node: Span | SpanNode, text: str, depth: int) -> Part:
    if not isinstance(node, SpanNode):
        word = text[node.start : node.end]
        return Word(node, word if word[:1] == '"' else word.lower())
    if depth >= MAX_DEPTH:
        return Form(node.span, ())
    return Form(node.span, tuple([_part(child, text, depth + 1) for child in node.children]))


def enclosing_forms(top: tuple[Part, ...], offset: int) -> list[Form]:
    """Return the forms that contain an offset, outermost first."""
    out: list[Form] = []
    parts = top
    while True:
        inner = next((p for p in parts if isinstance(p, Form) and p.span.start < offset < p.span.end), None)
        if inner is None:
            open_at_end = parts[-1] if parts and isinstance(parts[-1], Form) else None
            if open_at_end is None or not open_at_end.span.start < offset == open_at_end.span.end:
                return out
            inner = open_at_end
        out.append(inner)
        parts = inner.parts
