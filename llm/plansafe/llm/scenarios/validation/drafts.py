"""Texts that are being corrected: edits by places, and the way back to the text that the user knows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import Node, parse_source
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.model import Correction

ORDER = (":domain", ":requirements", ":types", ":constants", ":objects", ":predicates", ":functions", ":init", ":goal")
"""In which order sections are written; those that are not named come last."""


class TextEdit(NamedTuple):
    """Text put in the place of a span; an empty span inserts."""

    draft: str
    span: Span
    text: str


class Edit(NamedTuple):
    """One correction: changes that belong together, the rule, and the reason. The first change is its place."""

    rule: str
    reason: str
    changes: tuple[TextEdit, ...]


class Piece(NamedTuple):
    """A run of the present text: from the original (``origin`` is where), or put in there."""

    text: str
    origin: int
    original: bool


class Draft:
    """A text with the tree of its nodes. Immutable: :meth:`edited` makes the next one.

    ``editable`` is false for a base.
    """

    def __init__(self, source: Source, editable: bool = True, pieces: tuple[Piece, ...] | None = None) -> None:
        self.source = source
        self.name = source.name
        self.text = source.text
        self.editable = editable
        self._pieces = pieces if pieces is not None else (Piece(source.text, 0, True),)

    @cached_property
    def top(self) -> list[Node] | None:
        """The nodes of the text; ``None`` where parentheses or characters are wrong."""
        return parse_source(self.source).nodes

    @cached_property
    def places(self) -> Places:
        """Where the nodes stand."""
        return Places(self.source, self.top or [])

    @cached_property
    def form(self) -> list[Node]:
        """The ``(define ..)`` form; empty if there is none."""
        for node in self.top or ():
            if isinstance(node, list) and node and node[0] == "define":
                return node
        return []

    def sections(self, head: str) -> list[list[Node]]:
        """The sections of that name, in order."""
        return [node for node in self.form[1:] if isinstance(node, list) and node and node[0] == head]

    def span(self, node: list[Node], child: int | None = None) -> Span:
        """The place of a node."""
        return self.places.span(node, child)

    def change(self, node: list[Node], child: int | None, text: str) -> TextEdit:
        """Put a text in the place of a node."""
        return TextEdit(self.name, self.span(node, child), text)

    def insert(self, at: int, text: str) -> TextEdit:
        """Put a text in."""
        return TextEdit(self.name, Span(at, at), text)

    def without(self, node: list[Node], child: int) -> TextEdit:
        """Leave a child out, with the blanks before it, and its line if the line is then empty."""
        return TextEdit(self.name, self.gap(self.span(node, child)), "")

    def gap(self, span: Span) -> Span:
        """A span with the blanks before it, so that leaving it out leaves no hole."""
        start = span.start
        while start > 0 and self.text[start - 1] in " \t":
            start -= 1
        if self.text[span.end : span.end + 1] == ")":
            before = self.text[:start].rstrip()
            if ";" not in before[before.rfind("\n") + 1 :]:  # else the next text would become a comment
                return Span(len(before), span.end)
        alone = start > 0 and self.text[start - 1] == "\n" and self.text[span.end : span.end + 1] in ("\n", "\r", "")
        if alone:
            start -= 1
        elif self.text[span.end : span.end + 1] not in (" ", "\t", "\n", "\r", ")", ""):
            start = span.start  # the next text needs its blank
        return Span(start, span.end)

    def add_to(self, head: str, texts: Sequence[str]) -> TextEdit:
        """Add entries to the end of a section, which is created if it is missing."""
        sections = self.sections(head)
        if not sections:
            return self._new_section(head, texts)
        section = sections[0]
        place = self.span(section)
        last = self.span(section, len(section) - 1)
        end = last.end
        line = self.text.rfind("\n", place.start, last.start)
        if line < 0 or self.text[line + 1 : last.start].strip(" \t"):
            return self.insert(end, "".join([" " + text for text in texts]))
        indent = self.text[line + 1 : last.start]
        return self.insert(end, "".join([f"\n{indent}{text}" for text in texts]))

    def _new_section(self, head: str, texts: Sequence[str]) -> TextEdit:
        text = f"({head} {' '.join(texts)})"
        before = 1
        for child in range(2, len(self.form)):
            node = self.form[child]
            name = node[0] if isinstance(node, list) and node else None
            if isinstance(name, str) and name in ORDER and ORDER.index(name) < _rank(head):
                before = child
        return self.insert(self.span(self.form, before).end, f"\n  {text}")

    # -- the way back -------------------------------------------------------------------------------------------------

    def edited(self, changes: Sequence[TextEdit]) -> Draft:
        """The text with changes that do not overlap."""
        ordered = sorted(changes, key=lambda change: (change.span.start, change.span.end))
        out: list[Piece] = []
        at = 0
        for change in ordered:
            out += self._cut(at, change.span.start)
            if change.text:
                out.append(Piece(change.text, self.original(change.span).start, False))
            at = change.span.end
        out += self._cut(at, len(self.text))
        text = "".join([piece.text for piece in out])
        return Draft(Source(self.name, text), self.editable, tuple(out))

    def _cut(self, start: int, end: int) -> list[Piece]:
        out = []
        at = 0
        for piece in self._pieces:
            low, high = max(start, at), min(end, at + len(piece.text))
            if low < high:
                origin = piece.origin + (low - at) if piece.original else piece.origin
                out.append(Piece(piece.text[low - at : high - at], origin, piece.original))
            at += len(piece.text)
        return out

    def original(self, span: Span) -> Span:
        """The place in the original text; for an insertion, the place where it was inserted."""
        return Span(start := self._origin(span.start), max(start, self._origin(span.end, True)))

    def _origin(self, offset: int, end: bool = False) -> int:
        at = 0
        last = 0
        for piece in self._pieces:
            inside = at < offset <= at + len(piece.text) if end else at <= offset < at + len(piece.text)
            if inside:
                return piece.origin + (offset - at) if piece.original else piece.origin
            at += len(piece.text)
            last = piece.origin + (len(piece.text) if piece.original else 0)
        return last


def _rank(head: str) -> int:
    return ORDER.index(head) if head in ORDER else len(ORDER)


def apply(drafts: dict[str, Draft], edits: Sequence[Edit]) -> list[Correction]:
    """Apply edits, each whole or not at all; one that overlaps an earlier one is left for the next round."""
    taken_spans: dict[str, list[Span]] = {}
    chosen: dict[str, list[TextEdit]] = {}
    out: list[Correction] = []
    for edit in edits:
        if any([_overlaps(taken_spans.get(change.draft, []), change.span) for change in edit.changes]):
            continue
        for change in edit.changes:
            taken_spans.setdefault(change.draft, []).append(change.span)
            chosen.setdefault(change.draft, []).append(change)
        first = edit.changes[0]
        draft = drafts[first.draft]
        before = draft.text[first.span.start : first.span.end]
        out.append(
            Correction(
                edit.rule, edit.reason, first.draft, draft.original(first.span), before.strip(), first.text.strip()
            )
        )
    for name, changes in chosen.items():
        drafts[name] = drafts[name].edited(changes)
    return out


def _overlaps(spans: Sequence[Span], new: Span) -> bool:
    return any([new.start < old.end and old.start < new.end for old in spans]) or any(
        [old == new or (new.start == new.end and old.start < new.start < old.end) for old in spans]
    )
