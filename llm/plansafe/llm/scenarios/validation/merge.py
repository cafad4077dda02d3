"""A base domain and what a scenario adds to it, as one domain text whose places lead back to both."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.sexpr import Node, format_node
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.verifier.elaborate.context import Context, is_name, is_object_name, is_variable
from plansafe.verifier.elaborate.types import TypedName, parse_typed_list

REDEFINED = SC.SCENARIO_REDECLARES
_ROOT = ("object",)
_SECTIONS = (":requirements", ":types", ":constants", ":predicates", ":functions")
_MANY = (":action", ":durative-action")


class Piece(NamedTuple):
    """A run of the united text: a copy of ``source`` from ``start`` on, or glue (``source`` is ``None``)."""

    text: str
    source: str | None = None
    start: int = 0


class United(NamedTuple):
    """The domain as one text, the names of the new actions, and contradicting declarations."""

    source: Source
    pieces: tuple[Piece, ...]
    new_actions: tuple[str, ...]
    redefined: tuple[Diagnostic, ...]

    def label(self, label: Label) -> Label:
        """A label in the united text as one in the text that it comes from."""
        if label.source != self.source.name or not self.pieces:
            return label
        starts = []
        at = 0
        for piece in self.pieces:
            starts.append(at)
            at += len(piece.text)
        number = max(bisect_right(starts, label.span.start) - 1, 0)
        piece = self.pieces[number]
        if piece.source is None:  # glue: the nearest copy after it, or before it
            neighbours = [*self.pieces[number:], *reversed(self.pieces[:number])]
            near = next((piece for piece in neighbours if piece.source is not None), None)
            if near is None or near.source is None:
                return label
            return label._replace(source=near.source, span=Span(near.start, near.start + 1))
        start = piece.start + label.span.start - starts[number]
        last = piece.start + len(piece.text)
        return label._replace(
            source=piece.source, span=Span(start, min(start + label.span.end - label.span.start, last))
        )

    def diagnostic(self, diagnostic: Diagnostic) -> Diagnostic:
        """A diagnostic about the united text as one about the texts that it is made of."""
        return diagnostic._replace(labels=tuple([self.label(label) for label in diagnostic.labels]))


def alone(domain: Draft) -> United:
    """A domain without a base: nothing in it is new."""
    return United(domain.source, (), (), ())


def unite(base: Draft, extension: Draft | None) -> United:
    """A base and an extension as one domain. Both must be readable definitions. Linear in the texts.

    Sections are joined; what both declare is taken from the base, and reported where the extension says otherwise.
    """
    if extension is None:
        return United(base.source, (), (), ())
    return _Union(base, extension).united()


def same(first: list[Node], second: list[Node]) -> bool:
    """Whether two declarations are the same but for the names of their variables."""
    return _renamed(first) == _renamed(second)


def _renamed(node: list[Node]) -> str:
    names: dict[str, str] = {}
    words = format_node(node).replace("(", " ( ").replace(")", " ) ").split()
    return " ".join([names.setdefault(word, f"?{len(names)}") if word.startswith("?") else word for word in words])


class _Union:
    def __init__(self, base: Draft, extension: Draft) -> None:
        self.base = base
        self.extension = extension
        self.redefined: list[Diagnostic] = []
        self.inserted: dict[int, list[Piece]] = {}
        self.new: list[str] = []

    def united(self) -> United:
        base, extension = self.base, self.extension
        for head in _SECTIONS:
            entries = list(self._entries(head))
            if entries:
                self._join(head, entries)
        end = base.span(base.form).end - 1
        for node in extension.form[2:]:
            if isinstance(node, list) and node and node[0] not in _SECTIONS and self._is_new(node):
                self._insert(end, [Piece("\n  "), self._copy(extension.span(node))])
        out: list[Piece] = []
        at = 0
        name, header = _header(extension), _header(base)
        if name is not None and header is not None:
            self.inserted[header.start] = [self._copy(name)]
        for place in sorted(self.inserted):
            out += [Piece(base.text[at:place], base.name, at), *self.inserted[place]]
            at = header.end if header is not None and place == header.start else place
        out.append(Piece(base.text[at:], base.name, at))
        text = "".join([piece.text for piece in out])
        united = Source(f"{base.name} + {extension.name}", text)
        return United(united, tuple(out), tuple(self.new), tuple(self.redefined))

    def _copy(self, span: Span) -> Piece:
        return Piece(self.extension.text[span.start : span.end], self.extension.name, span.start)

    def _insert(self, place: int, pieces: list[Piece]) -> None:
        self.inserted.setdefault(place, []).extend(pieces)

    def _join(self, head: str, entries: list[list[Piece]]) -> None:
        pieces = [piece for entry in entries for piece in (Piece("\n    "), *entry)]
        sections = self.base.sections(head)
        if not sections:
            self._insert(self.base.span(self.base.form, 1).end, [Piece(f"\n  ({head}"), *pieces, Piece(")")])
            return
        section = sections[0]
        if head in (":types", ":constants") and len(section) > 1 and (len(section) < 3 or section[-2] != "-"):
            pieces = [Piece("\n    - object"), *pieces]
        self._insert(self.base.span(section).end - 1, pieces)

    # -- new entries -------------------------------------------------------------------------------------------------

    def _entries(self, head: str) -> Iterator[list[Piece]]:
        """The entries of a section that the base does not have."""
        for section in self.extension.sections(head):
            if head == ":requirements":
                base_flags = {flag for part in self.base.sections(head) for flag in part if isinstance(flag, str)}
                for child in range(1, len(section)):
                    if not isinstance(section[child], str) or section[child] not in base_flags:
                        yield [self._copy(self.extension.span(section, child))]
            elif head in (":types", ":constants"):
                yield from self._typed(head, section)
            else:
                yield from self._signatures(head, section)

    def _typed(self, head: str, section: list[Node]) -> Iterator[list[Piece]]:
        valid = is_name if head == ":types" else is_object_name
        base = {
            entry.name: entry
            for part in self.base.sections(head)
            for entry in parse_typed_list(Context(), part, 1, valid, "")
        }
        entries = parse_typed_list(Context(), section, 1, valid, "")
        if not _covers(section, entries):  # it contains an invalid name, which the checker reports
            yield [self._copy(_inner(self.extension, section))]
            return
        for entry in entries:
            base_declaration = base.get(entry.name)
            if base_declaration is not None:
                base_types, own_types = base_declaration.types or _ROOT, entry.types or _ROOT
                if set(own_types) - {*base_types, *_ROOT} or (
                    head == ":constants" and set(own_types) != set(base_types)
                ):
                    subject = "type" if head == ":types" else "constant"
                    self._differs(
                        subject,
                        entry.name,
                        section,
                        entry.at.child,
                        self.base.sections(head)[0],
                        base_declaration.at.child,
                    )
                continue
            piece = self._copy(self.extension.span(section, entry.at.child))
            if entry.types_at is None:
                yield [piece, Piece(" - object")]
            else:
                yield [piece, Piece(" - "), self._copy(self.extension.span(section, entry.types_at.child))]

    def _signatures(self, head: str, section: list[Node]) -> Iterator[list[Piece]]:
        subject = "predicate" if head == ":predicates" else "function"
        base: dict[str, list[Node]] = {}
        for part in self.base.sections(head):
            for node in part[1:]:
                if isinstance(node, list) and node and isinstance(node[0], str):
                    base.setdefault(node[0], node)
        for child in range(1, len(section)):
            node = section[child]
            if not isinstance(node, list):
                if head == ":functions" and (node == "-" or section[child - 1] == "-"):
                    continue  # all functions are numbers
                yield [self._copy(self.extension.span(section, child))]
                continue
            base_declaration = base.get(node[0]) if node and isinstance(node[0], str) else None
            if base_declaration is None:
                yield [self._copy(self.extension.span(section, child))]
            elif _signature(node) != _signature(base_declaration):
                self._differs(subject, str(node[0]), node, None, base_declaration, None)

    def _is_new(self, node: list[Node]) -> bool:
        """Whether an action (or anything else that may occur often) is not in the base."""
        if node[0] not in _MANY or len(node) < 2 or not isinstance(node[1], str):
            return True
        for base_declaration in [*self.base.sections(":action"), *self.base.sections(":durative-action")]:
            if len(base_declaration) > 1 and base_declaration[1] == node[1]:
                if not same(base_declaration, node):
                    self._differs("action", node[1], node, 1, base_declaration, 1)
                return False
        self.new.append(node[1])
        return True

    def _differs(
        self,
        subject: str,
        name: str,
        node: list[Node],
        child: int | None,
        base_declaration: list[Node],
        there: int | None,
    ) -> None:
        labels = (
            Label(self.extension.name, self.extension.span(node, child), "differs from the base"),
            Label(self.base.name, self.base.span(base_declaration, there), "declared here", False),
        )
        message = (
            f"{subject} `{name}` of the base is declared again, but differently; the declaration of the base is used"
        )
        help = "remove it, or rename the new item"
        self.redefined.append(Diagnostic(REDEFINED, message, labels, help=help))


def _header(draft: Draft) -> Span | None:
    """The place of the name of a domain."""
    head = draft.form[1] if len(draft.form) > 1 else None
    return draft.span(head, 1) if isinstance(head, list) and len(head) > 1 and isinstance(head[1], str) else None


def _inner(draft: Draft, section: list[Node]) -> Span:
    return Span(draft.span(section, 0).end, draft.span(section).end - 1)


def _covers(section: list[Node], entries: list[TypedName]) -> bool:
    """Whether a typed list was read without remainder."""
    name_count = len(entries)
    dashes = sum([node == "-" for node in section[1:]])
    return name_count + 2 * dashes == len(section) - 1


def _signature(node: list[Node]) -> list[tuple[str, ...]]:
    entries = parse_typed_list(Context(), node, 1, is_variable, "")
    return [tuple(sorted(entry.types or _ROOT)) for entry in entries]
