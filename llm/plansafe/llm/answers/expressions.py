"""Parenthesised expressions in what a model wrote: the outermost ones that close, in any surrounding text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source

MOST_CHARACTERS = 200_000
MOST_DEPTH = 64
_COMMENT = re.compile(r";[^\r\n]*")
_PARENTHESIS = re.compile(r"[()]")
_OTHERWISE = str.maketrans({'"': " ", "`": " ", ",": " ", "\u00a0": " "})


def cleaned(text: str) -> str:
    """The beginning of a text without comments, quotes and commas, which PDDL has no use for; places change."""
    return _COMMENT.sub(" ", text[:MOST_CHARACTERS]).translate(_OTHERWISE)


def expressions(text: str) -> list[Node]:
    """The outermost expressions that close, as trees of lower-case tokens; what nests too deeply is left out.

    Linear in the text. A list that is never closed is looked into: answers are cut in the middle.
    """
    chars = cleaned(text)
    open_at: list[int] = []
    spans: list[tuple[int, int]] = []
    for match in _PARENTHESIS.finditer(chars):
        if match.group() == "(":
            open_at.append(match.start())
        elif open_at:
            start = open_at.pop()
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, match.end()))
    nodes: list[Node] = []
    for start, end in spans:
        read = parse_nodes(Source("answer", chars[start:end]))
        nodes += [node for node in read or () if isinstance(node, list) and not deep(node)]
    return nodes


def deep(node: Node) -> bool:
    """Whether a tree nests deeper than what reads it may recurse."""
    waiting: list[tuple[Node, int]] = [(node, 1)]
    while waiting:
        tree, depth = waiting.pop()
        if isinstance(tree, list):
            if depth > MOST_DEPTH:
                return True
            waiting += [(child, depth + 1) for child in tree]
    return False


def inside(nodes: list[Node]) -> Iterator[list[Node]]:
    """All lists of some trees, each before its content, in the order of the text."""
    waiting: list[Node] = list(reversed(nodes))
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, list):
            yield tree
            waiting += reversed(tree)


def written(node: Node) -> str:
    """A tree of bounded depth as text."""
    return node if isinstance(node, str) else f"({' '.join([written(child) for child in node])})"
