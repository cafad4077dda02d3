"""A goal as a model wrote it: ``(:goal ..)``, a formula, or literals one by one."""

from __future__ import annotations

import re
from collections.abc import Collection

from plansafe.grammar.sexpr import Node
from plansafe.llm.answers.expressions import cleaned, expressions, inside
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
