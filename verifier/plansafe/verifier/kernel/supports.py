"""Supports: the facts without which a formula cannot be true, or cannot be false.

They make the kernel fast enough. Where a formula binds variables, only the objects in such facts are tried
(``candidates.py``).
"""

from typing import NamedTuple

from .formulas import (
    Atom,
    Connective,
    Domains,
    Fact,
    Node,
    Objects,
    Quantified,
    StepAtom,
    Temporal,
    Unary,
    When,
    symbols_in,
)


class Support(NamedTuple):
    """Facts without which a formula cannot have a value. A formula may have several alternatives of such facts.

    ``atoms``: patterns of the facts. ``quantified``: the variables of inner quantifiers, renamed to be unique.
    ``exact``: the facts are also sufficient. ``other_symbols``: the predicates and functions that the formula also
    reads.
    """

    atoms: tuple[Fact, ...] = ()
    quantified: Domains = ()
    exact: bool = True
    other_symbols: frozenset[Fact] = frozenset()


Supports = tuple[Support, ...]
"""The alternatives of a formula."""


MAX_SUPPORTS = 32
"""Alternatives beyond which the formula is evaluated for all objects."""


ANY_LETTER_OPERATORS = ("once", "historically", "always", "sometime", "at end", "within", "hold-during", "hold-after")
"""Operators that have a value only if their formula has it at some letter."""


def find_supports(formula: Node, true: bool) -> Supports:
    """Find the facts without which the formula is false (``true``; else: is true) at every letter of a trace.

    The facts are needed at one of the letters. No alternative: the formula never has the value. An alternative without
    facts: it can have the value in any state.
    """
    supports = _supports(formula, true)
    return supports if len(supports) <= MAX_SUPPORTS else (_no_support(formula),)


def _no_support(formula: Node) -> Support:
    """Return the alternative without facts: the formula may have the value in any state."""
    return Support((), (), False, frozenset([name for name, _ in symbols_in(formula)]))


def _supports(formula: Node, true: bool) -> Supports:
    """As :func:`find_supports`, however many alternatives there are."""
    match formula:
        case Atom(terms) | StepAtom(terms) if true:
            return (Support((terms,)),)
        case Unary("not", part):
            return find_supports(part, not true)
        case Connective("imply", (left, right)):
            return _combine([find_supports(left, not true), find_supports(right, true)], not true, formula)
        case Connective(operator, members) if operator in ("and", "or"):
            return _combine([find_supports(part, true) for part in members], true == (operator == "and"), formula)
        case Quantified(operator, variable, objects, part) if true == (operator == "exists"):
            return tuple([_bind_variable(support, variable, objects) for support in find_supports(part, true)])
        case Temporal():
            return _temporal_supports(formula, true)
        case When(condition, _):  # an effect happens only if its condition is true
            return find_supports(condition, True)
    return (_no_support(formula),)


def _combine(alternatives: list[Supports], needs_all: bool, formula: Node) -> Supports:
    """Combine the supports of all parts: every part is needed, or one of them is enough."""
    if not needs_all:
        return tuple([support for supports in alternatives for support in supports])
    combined: Supports = (Support(),)
    for supports in alternatives:
        combined = tuple([_unite(left, right) for left in combined for right in supports])
        if len(combined) > MAX_SUPPORTS:
            return (_no_support(formula),)
    return combined


def _unite(left: Support, right: Support) -> Support:
    """Return a support with the facts of both."""
    for name, _ in left.quantified:
        right = _rename_variable(right, name, {*_terms(left), *_terms(right)})
    return Support(
        left.atoms + right.atoms,
        left.quantified + right.quantified,
        left.exact and right.exact,
        left.other_symbols | right.other_symbols,
    )


def _bind_variable(support: Support, variable: str, objects: Objects) -> Support:
    """Return the support of a formula with a quantifier over the variable before it."""
    if variable not in _terms(support):
        return support._replace(exact=support.exact and bool(objects))
    bound = support._replace(quantified=(*support.quantified, (variable, objects)))
    return _rename_variable(bound, variable, _terms(support))


def _terms(support: Support) -> set[str]:
    return {term for atom in support.atoms for term in atom}


def _rename_variable(support: Support, variable: str, used: set[str]) -> Support:
    """Rename the variable to an unused name that no text can contain."""
    fresh = variable
    while fresh in used:
        fresh += "?"
    atoms = tuple([tuple([fresh if term == variable else term for term in atom]) for atom in support.atoms])
    quantified = tuple([(fresh if name == variable else name, objects) for name, objects in support.quantified])
    return support._replace(atoms=atoms, quantified=quantified)


def _temporal_supports(formula: Temporal, true: bool) -> Supports:
    """Return the supports of a temporal formula: of the operand that must have a value at some letter."""
    first, last = formula.members[0], formula.members[-1]
    match formula.operator:
        case operator if operator in ANY_LETTER_OPERATORS:
            supports = find_supports(first, true)
        case "since" | "until" | "release":
            supports = find_supports(last, true)
        case "yesterday" | "next":  # false at the first or last letter in any case
            supports = find_supports(first, True) if true else (_no_support(formula),)
        case "weak-yesterday" | "weak-next":
            supports = (_no_support(formula),) if true else find_supports(first, False)
        case "sometime-after" | "always-within" if not true:
            supports = _combine([find_supports(first, True), find_supports(last, False)], True, formula)
        case "sometime-before" | "at-most-once" if not true:
            supports = find_supports(first, True)
        case _:
            supports = (_no_support(formula),)
    return tuple([support._replace(exact=False) for support in supports])
