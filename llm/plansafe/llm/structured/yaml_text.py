"""YAML as values, by PyYAML's parser of events: without anchors, tags and several documents (extra ``formats``)."""

from __future__ import annotations

from typing import Any

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.names import Refused
from plansafe.llm.structured.tree import (
    DEPTH,
    MOST_NODES,
    Document,
    Format,
    Kind,
    Node,
    NotThisFormat,
    Unreadable,
    not_understood,
    too_deep,
)

LONGEST = 200_000
"""Characters of a YAML document: PyYAML reads some 100,000 a second."""


def read_yaml(text: str, start: int, end: int) -> Document:
    """Return the YAML document of a range of a text.

    Raises :class:`NotThisFormat` if it is only words, :class:`Unreadable` if it is not YAML, or more than values.
    """
    try:
        import yaml  # noqa: PLC0415 - an extra
    except ImportError:
        from plansafe.verifier.extras import how_to_install  # noqa: PLC0415 - for this message alone

        message = "YAML is read with PyYAML, which is not installed (extra `formats`)"
        raise Unreadable(Refused(SC.NOT_UNDERSTOOD, message, how_to_install("formats")), start, start + 1) from None
    if end - start > LONGEST:
        refused = Refused(SC.TEXT_TOO_LARGE, f"a YAML answer may have {LONGEST:,} characters")
        raise Unreadable(refused, start, start + 1)
    body = text[start:end].replace("\t", " ")
    try:
        node = _tree(yaml, body, start)
        comments = _comments(yaml, body, start)
    except yaml.YAMLError as error:
        at = getattr(getattr(error, "problem_mark", None), "index", 0)
        problem = getattr(error, "problem", None) or "unexpected character"
        raise not_understood(f"this is not YAML: {problem}", start + at, start + at + 1) from None
    if node.kind not in (Kind.LIST, Kind.MAP):
        raise NotThisFormat
    return Document(Format.YAML, (node,), start, end, comments)


class _Open:
    """A list or map that is being read."""

    def __init__(self, kind: Kind, start: int) -> None:
        self.kind, self.start = kind, start
        self.items: list[Node] = []

    def close(self, end: int) -> Node:
        if self.kind is Kind.LIST:
            return Node(Kind.LIST, "", self.start, end, tuple(self.items))
        keys = self.items[::2]
        if not all([key.kind in (Kind.TEXT, Kind.WORD) for key in keys]):
            raise not_understood("a key that is a list or a map is not understood", self.start, end)
        return Node(Kind.MAP, "", self.start, end, tuple(self.items[1::2]), tuple([key.text for key in keys]))


def _tree(yaml: Any, body: str, start: int) -> Node:
    """The one value of a text. It keeps its own stack, and never follows an alias."""
    stack: list[_Open] = []
    done: list[Node] = []
    documents = 0
    for count, event in enumerate(yaml.parse(body, Loader=yaml.SafeLoader)):
        begin, end = start + event.start_mark.index, start + event.end_mark.index
        documents += isinstance(event, yaml.DocumentStartEvent)
        if count > MOST_NODES:
            raise Unreadable(Refused(SC.TEXT_TOO_LARGE, f"more than {MOST_NODES:,} values"), begin, end)
        if documents > 1:
            message = "several YAML documents stand one after another"
            raise Unreadable(Refused(SC.PLANS_DIFFER, message, "give the final plan alone"), begin, end)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise not_understood("anchors and aliases of YAML are not read", begin, end, "write each step in full")
        if getattr(event, "tag", None) is not None:
            raise not_understood("tags of YAML are not read", begin, end, "write plain values")
        node: Node | None = None
        if isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            stack.append(_Open(Kind.LIST if isinstance(event, yaml.SequenceStartEvent) else Kind.MAP, begin))
            if len(stack) > DEPTH:
                raise too_deep(begin)
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            node = stack.pop().close(max(end, begin))
        elif isinstance(event, yaml.ScalarEvent):
            node = Node(Kind.TEXT if event.style else Kind.WORD, event.value, begin, end)
        if node is not None:
            (stack[-1].items if stack else done).append(node)
    if not done:
        raise NotThisFormat
    return done[0]


def _comments(yaml: Any, body: str, start: int) -> tuple[Span, ...]:
    """Where comments stand: between two tokens nothing else has a ``#``."""
    spans: list[Span] = []
    if "#" not in body:
        return ()
    position = 0
    for token in yaml.scan(body, Loader=yaml.SafeLoader):
        begin = token.start_mark.index
        spans += _hashes(body, position, begin, start)
        position = max(position, token.end_mark.index)
    return (*spans, *_hashes(body, position, len(body), start))


def _hashes(body: str, position: int, end: int, start: int) -> list[Span]:
    spans = []
    while position < end and (hash := body.find("#", position, end)) >= 0:
        stop = body.find("\n", hash, end)
        stop = end if stop < 0 else stop
        spans.append(Span(start + hash, start + stop))
        position = stop + 1
    return spans
