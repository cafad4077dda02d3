"""Formulas and effects as trees, and properties of a tree alone.

``find_supports`` makes the kernel fast enough: it finds the facts without which a formula cannot be true (or false).
Where a formula binds variables, only the objects in such facts are tried (``candidates.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

Fact = tuple[str, ...]
"""(predicate, object ..); a fluent is ("#", function, object ..)."""
Binding = Mapping[str, Any]
"""The object of each variable; the number of ``?duration``, and its tolerance under ``DURATION_TOLERANCE``."""
DURATION_TOLERANCE = "(tolerance)"
"""The key of the tolerance in a binding; no variable has such a name."""
Objects = dict[str, None]
"""An ordered set of objects."""
Domains = tuple[tuple[str, Objects], ...]
"""Variables with the objects that they range over."""

ASSIGNMENTS = ("increase", "decrease", "assign", "scale-up", "scale-down")
COMPARISONS = ("=", "<", ">", "<=", ">=")
PAST_OPERATORS = {"yesterday": 1, "weak-yesterday": 1, "once": 1, "historically": 1, "since": 2}
"""The number of operands of each temporal operator, here and below."""
PDDL3_FUTURE_OPERATORS = {"always": 1, "sometime": 1, "sometime-after": 2}
FUTURE_OPERATORS = {"next": 1, "weak-next": 1, "until": 2, "release": 2, **PDDL3_FUTURE_OPERATORS}
WHOLE_TRACE_OPERATORS = {"at end": 1, "within": 1, "at-most-once": 1, "sometime-before": 2}
WHOLE_TRACE_OPERATORS |= {"always-within": 2, "hold-during": 1, "hold-after": 1}
PDDL3_OPERATORS = {**PDDL3_FUTURE_OPERATORS, **WHOLE_TRACE_OPERATORS}
BOUND_COUNTS = {"within": 1, "always-within": 1, "hold-during": 2, "hold-after": 1}
"""The number of times that an operator has before its operands."""
STEP_PREDICATES = {"action": "!action", "action-end": "!action-end", "action-during": "!action-during"}
"""A step at a letter is a fact with one of these in place of a predicate; no text can contain them."""
START, END, OVER_ALL = PHASES = ("at start", "at end", "over all")
"""The phases of a durative action."""


class Node:
    """A formula, an expression or an effect, with the name of its operator."""

    operator: str

    def parts(self) -> tuple[Node, ...]:
        """Return the children of the node."""
        return ()


class _UnaryNode(Node):
    """A node with one child."""

    part: Node

    def parts(self) -> tuple[Node, ...]:
        return (self.part,)


class _NaryNode(Node):
    """A node with any number of children."""

    members: tuple[Node, ...]

    def parts(self) -> tuple[Node, ...]:
        return self.members


@dataclass(frozen=True, eq=False)
class Atom(Node):
    """``(predicate term ..)``."""

    operator: str = field(default="atom", init=False)
    terms: Fact


@dataclass(frozen=True, eq=False)
class EqualTerms(Node):
    """``(= term term)``."""

    operator: str = field(default="equal", init=False)
    left: str
    right: str


@dataclass(frozen=True, eq=False)
class StepAtom(Node):
    """``(action (name term ..))`` and similar: one of ``STEP_PREDICATES``, the name, the terms (``_``: any object)."""

    operator: str = field(default="step", init=False)
    terms: Fact


@dataclass(frozen=True, eq=False)
class AtomCount(Node):
    """An allowed number of the instances of atoms is true: an invariant ``:exactly-one`` or ``:at-most-one``."""

    operator: str = field(default="count", init=False)
    allowed: tuple[int, ...]
    atoms: tuple[tuple[Domains, Fact], ...]


@dataclass(frozen=True, eq=False)
class Unary(_UnaryNode):
    """``not`` (of a formula), ``unknown`` (of an open fact or fluent), and the phases of a durative action."""

    operator: str
    part: Node


@dataclass(frozen=True, eq=False)
class Preference(_UnaryNode):
    """``(preference name formula)``."""

    operator: str = field(default="preference", init=False)
    name: str
    part: Node


@dataclass(frozen=True, eq=False)
class Connective(_NaryNode):
    """``and`` (of formulas or effects), ``or``, ``imply``; ``oneof`` of the alternatives of an ``:init`` statement."""

    operator: str
    members: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Quantified(_UnaryNode):
    """``forall`` (of a formula or effect) or ``exists``, with one variable."""

    operator: str
    variable: str
    objects: Objects
    part: Node

    @cached_property
    def supports(self) -> Supports:
        """The facts without which the part is not true (``exists``), not false (``forall``), or does not happen."""
        return find_supports(self.part, self.operator == "exists")


@dataclass(frozen=True, eq=False)
class Temporal(_NaryNode):
    """A past, future or PDDL3 operator; its bounds are times."""

    operator: str
    bounds: tuple[Fraction, ...]
    members: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Compare(Node):
    """A comparison of numbers."""

    operator: str
    left: Node
    right: Node

    def parts(self) -> tuple[Node, ...]:  # noqa: D102 - as above
        return self.left, self.right


@dataclass(frozen=True, eq=False)
class Number(Node):
    """A number."""

    operator: str = field(default="number", init=False)
    value: Fraction


@dataclass(frozen=True, eq=False)
class DurationTolerance(Node):
    """The tolerance of the durations of a plan (docs/language.md, section 3)."""

    operator: str = field(default="tolerance", init=False)


@dataclass(frozen=True, eq=False)
class Duration(Node):
    """``?duration``."""

    operator: str = field(default="duration", init=False)


@dataclass(frozen=True, eq=False)
class Fluent(Node):
    """``("#", function, term ..)``."""

    operator: str = field(default="fluent", init=False)
    terms: Fact


@dataclass(frozen=True, eq=False)
class Arithmetic(_NaryNode):
    """``+ - * /`` of numbers."""

    operator: str
    members: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Add(Node):
    """An effect that makes a fact true."""

    operator: str = field(default="add", init=False)
    terms: Fact


@dataclass(frozen=True, eq=False)
class Delete(Node):
    """An effect that makes a fact false."""

    operator: str = field(default="delete", init=False)
    terms: Fact


@dataclass(frozen=True, eq=False)
class Assign(Node):
    """A numeric effect."""

    operator: str
    fluent: Fluent
    value: Node

    def parts(self) -> tuple[Node, ...]:  # noqa: D102 - as above
        return self.fluent, self.value


@dataclass(frozen=True, eq=False)
class Flow(Node):
    """``(increase fluent (* #t rate))``, or with the sign -1 ``decrease``: a continuous effect."""

    operator: str = field(default="flow", init=False)
    sign: int
    fluent: Fluent
    rate: Node


@dataclass(frozen=True, eq=False)
class When(Node):
    """A conditional effect; ``earlier`` also has to hold in the state before the start of the durative action."""

    operator: str = field(default="when", init=False)
    condition: Node
    effect: Node
    earlier: Node | None = None

    def parts(self) -> tuple[Node, ...]:  # noqa: D102 - as above
        return self.condition, self.effect


@dataclass(frozen=True, eq=False)
class OneOf(_NaryNode):
    """An effect whose outcome the world chooses; ``number`` counts these effects of an action from 0."""

    operator: str = field(default="oneof", init=False)
    number: int
    members: tuple[Node, ...]


EMPTY_AND = Connective("and", ())


def negate(formula: Node) -> Node:
    """Return the formula with ``not`` before it."""
    return Unary("not", formula)


def ground(terms: Sequence[str], binding: Binding) -> Fact:
    """Return the terms with objects for variables."""
    return tuple([binding.get(term, term) for term in terms])


def symbol(fact: Fact) -> Fact:
    """Return a fact or fluent without its objects: ``(predicate,)`` or ``("#", function)``."""
    return fact[: 1 + (fact[0] == "#")]


def iterate_bindings(domains: Domains, binding: Binding) -> Iterator[dict[str, Any]]:
    """Extend the binding by all combinations of objects for the variables."""
    names = [name for name, _ in domains]
    for objects in product(*(domain for _, domain in domains)):
        yield {**binding, **dict(zip(names, objects, strict=True))}


def unify(pattern: Sequence[str], fact: Sequence[str], binding: Binding) -> dict[str, Any] | None:
    """Extend the binding so that the pattern becomes the fact (``_``: any object); ``None`` if this is impossible."""
    extended = dict(binding)
    for term, object_ in zip(pattern, fact, strict=True):
        expected = extended.setdefault(term, object_) if term[0] == "?" else term
        if expected != object_ and term != "_":
            return None
    return extended


def collect_operators(formula: Node) -> set[str]:
    """Return the operators of a formula, and "empty" if one of its connectives or quantifiers has no operands."""
    operators = {formula.operator}.union(*[collect_operators(part) for part in formula.parts()])
    match formula:
        case Connective(members=operands) | Quantified(objects=operands) if not operands:
            operators.add("empty")
    return operators


def _iterate_signed_parts(formula: Node, negative: bool) -> Iterator[tuple[Node, bool]]:
    """Yield the children of a node, and whether each is below an odd number of negations."""
    for position, part in enumerate(formula.parts()):
        yield part, negative != (formula.operator == "not" or (formula.operator == "imply" and position == 0))


def iterate_ground_reads(formula: Node, binding: Binding, negative: bool = False) -> Iterator[tuple[Fact, bool]]:
    """Yield the ground atoms and fluents of a formula or effect, quantifiers expanded; and whether each is negated."""
    match formula:
        case Atom(terms) | Fluent(terms):
            yield ground(terms, binding), negative
        case Quantified():
            for object_ in formula.objects:
                yield from iterate_ground_reads(formula.part, {**binding, formula.variable: object_}, negative)
        case Assign():
            yield from iterate_ground_reads(formula.value, binding)
        case Preference():
            return
        case _:
            for part, sign in _iterate_signed_parts(formula, negative):
                yield from iterate_ground_reads(part, binding, sign)


def iterate_symbols(formula: Node, negative: bool = False) -> Iterator[tuple[Fact, bool]]:
    """Yield the predicates and functions of a formula, and whether each is negated. Functions count as both.

    The part of a quantifier without objects is not read.
    """
    match formula:
        case Quantified() if not formula.objects:
            return
        case Atom(terms):
            yield symbol(terms), negative
        case Fluent(terms):
            yield from ((symbol(terms), sign) for sign in (False, True))
        case _:
            for part, sign in _iterate_signed_parts(formula, negative):
                yield from iterate_symbols(part, sign)


def select_phase(formula: Node, phase: str) -> Node:
    """Return the part of a durative action's condition or effect that belongs to one of its phases."""
    match formula:
        case Unary(operator, part) if operator in PHASES:
            return part if operator == phase else EMPTY_AND
        case Connective(operator, members):
            return Connective(operator, tuple([select_phase(part, phase) for part in members]))
        case Quantified(operator, variable, objects, part):
            return Quantified(operator, variable, objects, select_phase(part, phase))
        case Preference(name, part):
            return Preference(name, select_phase(part, phase))
        case OneOf(number, members):
            return OneOf(number, tuple([select_phase(part, phase) for part in members]))
        case When(condition, effect):
            spans_both_ends = phase == END and START in collect_operators(condition)
            earlier = select_phase(condition, START) if spans_both_ends else None
            return When(select_phase(condition, phase), select_phase(effect, phase), earlier)
    return formula


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
"""Maximum number of alternatives; a formula that has more is evaluated for all objects."""
ANY_LETTER_OPERATORS = ("once", "historically", "always", "sometime", "at end", "within", "hold-during", "hold-after")
"""Operators that have a value only if their formula has it at some letter."""


def find_supports(formula: Node, true: bool) -> Supports:
    """Find the facts without which the formula is false (``true``; else: is true) at every letter of a trace.

    The facts are needed at one of the letters. No alternative: the formula never has the value. An alternative without
    facts: it can have the value in any state.
    """
    supports = _find_all_supports(formula, true)
    return supports if len(supports) <= MAX_SUPPORTS else (_make_empty_support(formula),)


def _make_empty_support(formula: Node) -> Support:
    """Return the alternative without facts: the formula may have the value in any state."""
    return Support((), (), False, frozenset([name for name, _ in iterate_symbols(formula)]))


def _find_all_supports(formula: Node, true: bool) -> Supports:
    """Find the supports as ``find_supports`` does, but without a limit on their number."""
    match formula:
        case Atom(terms) | StepAtom(terms) if true:
            return (Support((terms,)),)
        case Unary("not", part):
            return find_supports(part, not true)
        case Connective("imply", (left, right)):
            return _combine_supports([find_supports(left, not true), find_supports(right, true)], not true, formula)
        case Connective(operator, members) if operator in ("and", "or"):
            needs_all = true == (operator == "and")
            return _combine_supports([find_supports(part, true) for part in members], needs_all, formula)
        case Quantified(operator, variable, objects, part) if true == (operator == "exists"):
            return tuple([_bind_variable(support, variable, objects) for support in find_supports(part, true)])
        case Temporal():
            return _find_temporal_supports(formula, true)
        case When(condition, _):  # an effect happens only if its condition is true
            return find_supports(condition, True)
    return (_make_empty_support(formula),)


def _combine_supports(alternatives: list[Supports], needs_all: bool, formula: Node) -> Supports:
    """Combine the supports of all parts: every part is needed, or one of them is enough."""
    if not needs_all:
        return tuple([support for supports in alternatives for support in supports])
    combined_supports: Supports = (Support(),)
    for supports in alternatives:
        combined_supports = tuple([_unite_supports(left, right) for left in combined_supports for right in supports])
        if len(combined_supports) > MAX_SUPPORTS:
            return (_make_empty_support(formula),)
    return combined_supports


def _unite_supports(left: Support, right: Support) -> Support:
    """Return a support with the facts of both."""
    for name, _ in left.quantified:
        right = _rename_variable(right, name, {*_collect_terms(left), *_collect_terms(right)})
    return Support(
        left.atoms + right.atoms,
        left.quantified + right.quantified,
        left.exact and right.exact,
        left.other_symbols | right.other_symbols,
    )


def _bind_variable(support: Support, variable: str, objects: Objects) -> Support:
    """Return the support of a formula with a quantifier over the variable before it."""
    if variable not in _collect_terms(support):
        return support._replace(exact=support.exact and bool(objects))
    bound = support._replace(quantified=(*support.quantified, (variable, objects)))
    return _rename_variable(bound, variable, _collect_terms(support))


def _collect_terms(support: Support) -> set[str]:
    return {term for atom in support.atoms for term in atom}


def _rename_variable(support: Support, variable: str, used: set[str]) -> Support:
    """Rename the variable to an unused name that no text can contain."""
    fresh = variable
    while fresh in used:
        fresh += "?"
    atoms = tuple([tuple([fresh if term == variable else term for term in atom]) for atom in support.atoms])
    quantified = tuple([(fresh if name == variable else name, objects) for name, objects in support.quantified])
    return support._replace(atoms=atoms, quantified=quantified)


def _find_temporal_supports(formula: Temporal, true: bool) -> Supports:
    """Return the supports of a temporal formula: of the operand that must have a value at some letter."""
    first, last = formula.members[0], formula.members[-1]
    match formula.operator:
        case operator if operator in ANY_LETTER_OPERATORS:
            supports = find_supports(first, true)
        case "since" | "until" | "release":
            supports = find_supports(last, true)
        case "yesterday" | "next":  # false at the first or last letter in any case
            supports = find_supports(first, True) if true else (_make_empty_support(formula),)
        case "weak-yesterday" | "weak-next":
            supports = (_make_empty_support(formula),) if true else find_supports(first, False)
        case "sometime-after" | "always-within" if not true:
            supports = _combine_supports([find_supports(first, True), find_supports(last, False)], True, formula)
        case "sometime-before" | "at-most-once" if not true:
            supports = find_supports(first, True)
        case _:
            supports = (_make_empty_support(formula),)
    return tuple([support._replace(exact=False) for support in supports])
