"""Prefix LTL, as in ``G i agent_at(kitchen) F is_switchedon(tv)``, and what it is in a specification.

The operators are Spot's: ``! & | i e ^`` and ``X F G U W R M``, each before its arguments. A trace is the sequence of
*changes* of the propositions ("Plug in the Safety Chip", section IV: a state is noted when a proposition changes), so
that ``X f`` means: f once some proposition of the formula has changed. At the end of a plan the formula is decided:
what should still happen has not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

from plansafe.grammar.diagnostics import Span

_TOKEN = re.compile(r"!|[^\s()!]+\([^()]*\)|[()]|[^\s()!]+")
_ATOM = re.compile(r"([^\s()]+)\(([^()]*)\)\Z")
_NAME = re.compile(r"[a-z][a-z0-9_-]*\Z")
_UNARY = ("!", "X", "F", "G")
_BINARY = ("&", "|", "i", "e", "^", "U", "W", "R", "M")
_CONSTANTS = {"1": "(and)", "true": "(and)", "0": "(or)", "false": "(or)"}
# An X looks for the next change of any proposition: its translation doubles with each of them.
MOST_PROPOSITIONS_UNDER_X = 5
LARGEST = 100_000

PREDICATES = {
    "agent_at": 1,
    "is_open": 1,
    "is_switchedon": 1,
    "is_grabbed": 1,
    "is_touched": 1,
    "is_in": 2,
    "is_on": 2,
}
# What has a top and no inside, of VirtualHome's property table (SURFACES, and neither CONTAINERS nor CAN_OPEN), and
# tables of other names.
FURNITURE = frozenset(
    [
        "bathroomcounter",
        "bed",
        "bench",
        "carpet",
        "chair",
        "coffeetable",
        "computertable",
        "couch",
        "cputable",
        "diningtable",
        "dryingrack",
        "endtable",
        "floor",
        "ironingboard",
        "kitchencounter",
        "kitchentable",
        "loveseat",
        "mat",
        "mousepad",
        "rug",
        "sidetable",
        "sofa",
        "table",
    ]
)


class Atom(NamedTuple):
    """A proposition: a predicate of the domain, and names."""

    predicate: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"({' '.join((self.predicate, *self.names))})"


class Node(NamedTuple):
    """An operator and its arguments."""

    operator: str
    arguments: tuple[Formula, ...]


Formula: TypeAlias = Atom | Node | str  # a str is a constant, in PDDL


class NotAFormula(Exception):
    """What is wrong with a formula, and where in its text."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.span = span


def plain_name(words: str) -> str:
    """A name as the simulator writes it: ``living room`` and ``living_room`` are ``livingroom``."""
    return re.sub(r"[\s_]", "", words.lower())


def put_on(said: str, names: Sequence[str]) -> str:
    """What is put into furniture, or in it, is on it: ``putin`` and ``is_in`` of a sofa are ``puton`` and ``is_on``."""
    inside = {"putin": "puton", "is_in": "is_on"}
    return inside.get(said, said) if len(names) > 1 and names[1] in FURNITURE else said


def parse(text: str) -> Formula:
    """Read one formula. Raises :class:`NotAFormula`. Linear in the text; nesting has no limit."""
    stack: list[tuple[Formula, Span]] = []
    for match in reversed(list(_TOKEN.finditer(text))):
        token, span = match[0], Span(*match.span())
        count = 1 if token in _UNARY else 2 if token in _BINARY else 0
        if len(stack) < count:
            raise NotAFormula(f"the operator `{token}` lacks an argument", span)
        if count:
            arguments = tuple([stack.pop()[0] for _ in range(count)])
            stack.append((Node(token, arguments), span))
        else:
            stack.append((_atom(token, span), span))
    if not stack:
        raise NotAFormula("the formula is empty", Span(0, len(text)))
    if len(stack) > 1:
        raise NotAFormula("the formula ends before this", stack[-2][1])
    return stack[0][0]


def atoms(formula: Formula) -> tuple[Atom, ...]:
    """The propositions of a formula, in the order of their first occurrence."""
    found: dict[Atom, None] = {}
    ahead = [formula]
    while ahead:
        part = ahead.pop()
        match part:
            case Atom():
                found.setdefault(part)
            case Node():
                ahead.extend(reversed(part.arguments))
            case str():
                pass
    return tuple(found)


def in_specification(formula: Formula) -> str:
    """The formula in the language of specifications.

    Raises :class:`NotAFormula` if its translation would be too large, which is so only with ``X``.
    """
    values: tuple[str, ...] = ()
    doubles = _has_next(formula)
    if doubles:
        propositions = atoms(formula)
        if len(propositions) > MOST_PROPOSITIONS_UNDER_X:
            message = f"`X` in a formula with more than {MOST_PROPOSITIONS_UNDER_X} propositions is not supported"
            raise NotAFormula(message, Span(0, 1))
        rows = product((True, False), repeat=len(propositions))
        values = tuple([_conjunction(propositions, row) for row in rows])
    out: list[str] = []
    ahead: list[Formula | tuple[str]] = [formula]
    length = 0
    while ahead:
        part = ahead.pop()
        match part:
            case Node(operator, arguments):
                pieces = _PIECES[operator] if operator != "X" else _next(values)
                ahead += [arguments[piece] if isinstance(piece, int) else (piece,) for piece in reversed(pieces)]
            case Atom():
                out.append(str(part))
            case (text,):
                out.append(text)
            case str():
                out.append(part)
        length += 1
        if doubles and length > LARGEST:
            raise NotAFormula("the formula is too large", Span(0, 1))
    return " ".join(out).replace(" )", ")")


# What stands for an operator: text, and the numbers of its arguments.
_PIECES: dict[str, Sequence[str | int]] = {
    "!": ("(not", 0, ")"),
    "F": ("(sometime", 0, ")"),
    "G": ("(always", 0, ")"),
    "&": ("(and", 0, 1, ")"),
    "|": ("(or", 0, 1, ")"),
    "i": ("(imply", 0, 1, ")"),
    "e": ("(and (imply", 0, 1, ") (imply", 1, 0, "))"),
    "^": ("(or (and", 0, "(not", 1, ")) (and (not", 0, ")", 1, "))"),
    "U": ("(until", 0, 1, ")"),
    "W": ("(release", 1, "(or", 0, 1, "))"),
    "R": ("(release", 0, 1, ")"),
    "M": ("(until", 1, "(and", 0, 1, "))"),
}


def _next(values: Sequence[str]) -> list[str | int]:
    pieces: list[str | int] = ["(or"]
    for now in values:
        pieces += [f"(and {now} (until {now} (and (not {now})", 0, ")))"]
    return [*pieces, ")"]


def _conjunction(propositions: Sequence[Atom], row: Sequence[bool]) -> str:
    literals = [str(atom) if value else f"(not {atom})" for atom, value in zip(propositions, row, strict=True)]
    return f"(and {' '.join(literals)})"


def _has_next(formula: Formula) -> bool:
    ahead = [formula]
    while ahead:
        part = ahead.pop()
        if isinstance(part, Node):
            if part.operator == "X":
                return True
            ahead.extend(part.arguments)
    return False


def _atom(token: str, span: Span) -> Formula:
    if token.lower() in _CONSTANTS:
        return _CONSTANTS[token.lower()]
    found = _ATOM.match(token)
    if found is None and token in "()":
        raise NotAFormula("in a prefix formula, only propositions may have parentheses", span)
    # The benchmark's templates write `kitchen` for `agent_at(kitchen)`.
    predicate, words = (found[1].lower(), found[2].split(",")) if found is not None else ("agent_at", [token])
    if predicate not in PREDICATES:
        raise NotAFormula(f"`{predicate}` is not a predicate of this home world: {', '.join(PREDICATES)}", span)
    names = tuple([plain_name(word) for word in words])
    if len(names) != PREDICATES[predicate]:
        raise NotAFormula(f"`{predicate}` takes {PREDICATES[predicate]} names", span)
    if not all([_NAME.match(name) for name in names]):
        raise NotAFormula(f"`{token}` is not a proposition", span)
    return Atom(put_on(predicate, names), names)
