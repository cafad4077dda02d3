"""Parse prefix LTL, such as ``G i agent_at(kitchen) F is_switchedon(tv)``, and translate it to specifications.

The operators are Spot's: ``! & | i e ^`` and ``X F G U W R M``, each before its arguments. A trace is the sequence of
*changes* of the propositions ("Plug in the Safety Chip", section IV: a state is recorded when a proposition changes).
So ``X f`` means that f holds once some proposition of the formula has changed. The formula is decided at the end of a
plan: events that have not happened by then do not happen.
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
# X refers to the next change of any proposition: its translation doubles with each proposition.
MAX_PROPOSITIONS_UNDER_X = 5
MAX_TRANSLATION_LENGTH = 100_000

PREDICATES = {"agent_at": 1, "is_open": 1, "is_switchedon": 1, "is_grabbed": 1, "is_touched": 1, "is_in": 2, "is_on": 2}
# Furniture with a top and no inside: classes of VirtualHome's property table with SURFACES and neither CONTAINERS nor
# CAN_OPEN, and tables with other names.
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
    """A proposition: a predicate of the domain with names."""

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
    """The text is not a formula; ``span`` is the place of the error."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.span = span


def plain_name(words: str) -> str:
    """A name in the spelling of the simulator: ``living room`` and ``living_room`` are ``livingroom``."""
    return re.sub(r"[\s_]", "", words.lower())


def put_on(word: str, names: Sequence[str]) -> str:
    """Replace ``putin`` and ``is_in`` by ``puton`` and ``is_on`` for furniture with a top and no inside."""
    inside = {"putin": "puton", "is_in": "is_on"}
    return inside.get(word, word) if len(names) > 1 and names[1] in FURNITURE else word


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
    propositions: dict[Atom, None] = {}
    pending = [formula]
    while pending:
        part = pending.pop()
        match part:
            case Atom():
                propositions.setdefault(part)
            case Node():
                pending.extend(reversed(part.arguments))
            case str():
                pass
    return tuple(propositions)


def to_specification(formula: Formula) -> str:
    """Translate a formula to the language of specifications.

    Raises :class:`NotAFormula` if the translation would be too large, which happens only with ``X``.
    """
    values: tuple[str, ...] = ()
    has_next = _has_next(formula)
    if has_next:
        propositions = atoms(formula)
        if len(propositions) > MAX_PROPOSITIONS_UNDER_X:
            message = f"`X` in a formula with more than {MAX_PROPOSITIONS_UNDER_X} propositions is not supported"
            raise NotAFormula(message, Span(0, 1))
        rows = product((True, False), repeat=len(propositions))
        values = tuple([_conjunction(propositions, row) for row in rows])
    texts: list[str] = []
    pending: list[Formula | tuple[str]] = [formula]
    length = 0
    while pending:
        part = pending.pop()
        match part:
            case Node(operator, arguments):
                pieces = _TRANSLATIONS[operator] if operator != "X" else _next(values)
                pending += [arguments[piece] if isinstance(piece, int) else (piece,) for piece in reversed(pieces)]
            case Atom():
                texts.append(str(part))
            case (text,):
                texts.append(text)
            case str():
                texts.append(part)
        length += 1
        if has_next and length > MAX_TRANSLATION_LENGTH:
            raise NotAFormula("the formula is too large", Span(0, 1))
    return " ".join(texts).replace(" )", ")")


# Translations of the operators: text, and indices of arguments.
_TRANSLATIONS: dict[str, Sequence[str | int]] = {
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
    for current in values:
        pieces += [f"(and {current} (until {current} (and (not {current})", 0, ")))"]
    return [*pieces, ")"]


def _conjunction(propositions: Sequence[Atom], row: Sequence[bool]) -> str:
    literals = [str(atom) if value else f"(not {atom})" for atom, value in zip(propositions, row, strict=True)]
    return f"(and {' '.join(literals)})"


def _has_next(formula: Formula) -> bool:
    pending = [formula]
    while pending:
        part = pending.pop()
        if isinstance(part, Node):
            if part.operator == "X":
                return True
            pending.extend(part.arguments)
    return False


def _atom(token: str, span: Span) -> Formula:
    if token.lower() in _CONSTANTS:
        return _CONSTANTS[token.lower()]
    match = _ATOM.match(token)
    if match is None and token in "()":
        raise NotAFormula("in a prefix formula, only propositions may have parentheses", span)
    # The benchmark's templates write `kitchen` for `agent_at(kitchen)`.
    predicate, words = (match[1].lower(), match[2].split(",")) if match is not None else ("agent_at", [token])
    if predicate not in PREDICATES:
        raise NotAFormula(f"`{predicate}` is not a predicate of this home world: {', '.join(PREDICATES)}", span)
    names = tuple([plain_name(word) for word in words])
    if len(names) != PREDICATES[predicate]:
        raise NotAFormula(f"`{predicate}` takes {PREDICATES[predicate]} names", span)
    if not all([_NAME.match(name) for name in names]):
        raise NotAFormula(f"`{token}` is not a proposition", span)
    return Atom(put_on(predicate, names), names)
