"""Conditions and effects as sets of literals, as far as they are conjunctions: what SAFEL's recall counts.

Recall over literals is defined for conjunctions of literals. Another part (``or``, ``imply``, quantified and
conditional parts, comparisons) is one item, equal to another if it is written the same up to the names of
bound variables and the order of ``and`` and ``or``. Parts of these that differ in free variables alone keep their
order: sorting them by name would make the comparison depend on names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source

MOST_CHARACTERS = 1_000_000
MOST_DEPTH = 64
_QUANTIFIERS = ("forall", "exists")
_COMPOUND = frozenset(
    ("or", "imply", "when", "=", "<", ">", "<=", ">=", "increase", "decrease", "assign", "scale-up", "scale-down")
) | frozenset(_QUANTIFIERS)


class NotAFormula(ValueError):
    """The text is not a formula of PDDL, nests too deeply or is too long; the message gives the reason."""


@dataclass(frozen=True, slots=True, order=True)
class Literal:
    """An atom or its negation; with a non-empty ``shape``, another part of a formula.

    ``shape`` is a compound part as written, with ``?`` for each free variable, whose names are then the arguments.
    """

    predicate: str
    arguments: tuple[str, ...] = ()
    negated: bool = False
    shape: str = ""

    @property
    def compound(self) -> bool:
        """Whether it is a part other than a literal in PDDL's sense."""
        return bool(self.shape)

    @property
    def relational(self) -> bool:
        """Whether it relates two or more objects."""
        return not self.shape and len(self.arguments) > 1

    def renamed(self, names: Mapping[str, str]) -> Literal:
        """With other names for variables; those that ``names`` lacks stay."""
        arguments = tuple([names.get(argument, argument) for argument in self.arguments])
        return Literal(self.predicate, arguments, self.negated, self.shape)


def literals(text: str) -> frozenset[Literal]:
    """The literals of one formula or effect in PDDL; none for an empty text and for ``()`` and ``(and)``.

    Raises :class:`NotAFormula`.
    """
    nodes = read(text)
    if len(nodes) > 1:
        raise NotAFormula("more than one formula: write a conjunction as `(and ..)`")
    return literals_of(nodes[0]) if nodes else frozenset()


def read(text: str) -> list[Node]:
    """The nodes of a text of bounded length and depth. Raises :class:`NotAFormula`."""
    if len(text) > MOST_CHARACTERS:
        raise NotAFormula(f"longer than {MOST_CHARACTERS} characters")
    nodes = parse_nodes(Source("formula", text))
    if nodes is None:
        raise NotAFormula("unbalanced parentheses or quotes")
    waiting: list[tuple[Node, int]] = [(node, 1) for node in nodes]
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, list):
            if depth > MOST_DEPTH:
                raise NotAFormula(f"nested deeper than {MOST_DEPTH}")
            waiting += [(child, depth + 1) for child in node]
    return nodes


def literals_of(node: Node) -> frozenset[Literal]:
    """The literals of a node whose depth is bounded. Raises :class:`NotAFormula`."""
    return frozenset(_conjuncts(node, False))


def _conjuncts(node: Node, negated: bool) -> Iterator[Literal]:
    if isinstance(node, str):
        raise NotAFormula(f"`{node[:40]}` is not a formula")
    if not node:
        return
    head = node[0]
    if head == "not":
        if len(node) != 2:
            raise NotAFormula("`not` takes one formula")
        yield from _conjuncts(node[1], not negated)
    elif head == "and" and (not negated or len(node) == 2):
        for child in node[1:]:
            yield from _conjuncts(child, negated)
    elif isinstance(head, str) and head != "and" and head not in _COMPOUND and _flat(node):
        yield Literal(head, tuple([str(argument) for argument in node[1:]]), negated)
    elif isinstance(head, str):
        free: list[str] = []
        shape = _shape(node, {}, free)
        yield Literal(head, tuple(free), negated, shape)
    else:
        raise NotAFormula("a formula must start with a name")


def _flat(node: list[Node]) -> bool:
    return all([isinstance(child, str) for child in node])


def _shape(node: Node, bound: Mapping[str, str], free: list[str]) -> str:
    """A node as text: free variables as ``?`` (their names are added to ``free``), bound ones by depth."""
    if isinstance(node, str):
        if node in bound:
            return bound[node]
        if node.startswith("?"):
            free.append(node)
            return "?"
        return node
    head = node[0] if node else ""
    if head in _QUANTIFIERS and len(node) == 3 and isinstance(node[1], list):
        inner, typed = dict(bound), []
        for child in node[1]:
            if isinstance(child, str) and child.startswith("?"):
                inner[child] = f"?{len(inner)}"
                typed.append(inner[child])
            else:
                typed.append(_shape(child, bound, free))
        return f"({head} ({' '.join(typed)}) {_shape(node[2], inner, free)})"
    if head in ("and", "or"):
        parts: list[tuple[str, list[str]]] = []
        for child in node[1:]:
            mine: list[str] = []
            parts.append((_shape(child, bound, mine), mine))
        parts.sort(key=lambda part: part[0])
        free += [name for _, mine in parts for name in mine]
        return f"({head} {' '.join([shape for shape, _ in parts])})"
    return "(" + " ".join([_shape(child, bound, free) for child in node]) + ")"
