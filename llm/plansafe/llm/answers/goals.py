"""A goal as a model wrote it: ``(:goal ..)``, a formula, or literals one by one.

Parenthesised expressions in what a model wrote: the outermost ones that close, in any surrounding text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.metrics.literals import Literal, NotAFormula, literals_of

_WORDS = frozenset(("and", "or", "not", "imply", "forall", "exists"))
_CALL = re.compile(r"(\bnot\s+|!\s*)?\b([a-z][\w-]*)\s*\(([^()\n]*)\)", re.IGNORECASE)
_MOST_CALLS = 2_000


def goal_of(answer: str, predicates: Collection[str]) -> frozenset[Literal] | None:
    """The literals of the first goal in an answer; ``None`` if there is none that can be read.

    Without ``(:goal ..)`` all formulas about declared predicates are its conjuncts; without any, texts of the form
    ``predicate(object, object)``. Whether its names mean something is for the comparison.
    """
    nodes = expressions(answer)
    for node in inside(nodes):
        if node[:1] == [":goal"]:
            return _literals(["and", *node[1:]])
    formulas = formulas_of(nodes, predicates)
    if formulas:
        return _literals(["and", *formulas])
    called = calls(answer, predicates)
    return _literals(["and", *called]) if called else None


def formulas_of(nodes: list[Node], predicates: Collection[str]) -> list[Node]:
    """The outermost lists that are formulas by their first word: prose in parentheses is passed over."""
    declared = _WORDS | frozenset(predicates)
    return [
        node for node in nodes if isinstance(node, list) and node and isinstance(node[0], str) and node[0] in declared
    ]


def calls(answer: str, predicates: Collection[str]) -> list[Node]:
    """Literals as programs write them, ``on(cup, table)`` and ``not on(cup, table)``, as far as they are declared."""
    nodes: list[Node] = []
    for number, match in enumerate(_CALL.finditer(cleaned(answer).lower())):
        if number >= _MOST_CALLS:
            break
        if match[2] in predicates:
            atom: Node = [match[2], *match[3].split()]
            nodes.append(["not", atom] if match[1] else atom)
    return nodes


def _literals(node: Node) -> frozenset[Literal] | None:
    try:
        return literals_of(node)
    except NotAFormula:
        return None


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
