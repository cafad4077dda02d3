"""Formulas and effects as trees, and what can be told from a tree alone.

``needs`` is what makes the kernel fast enough: which facts have to be there for a formula to be true (or false). Where
a formula binds variables, only the objects in such facts are tried (``candidates.py``); all others change nothing.
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
"""Variables with objects; ``?duration``, and how far it may be off, with a number."""
OFF = "(off)"  # no variable has such a name
Objects = dict[str, None]
"""An ordered set of objects."""
Domains = tuple[tuple[str, Objects], ...]
"""Variables with the objects they range over."""

ASSIGNMENTS = ("increase", "decrease", "assign", "scale-up", "scale-down")
COMPARISONS = ("=", "<", ">", "<=", ">=")
PAST = {"yesterday": 1, "weak-yesterday": 1, "once": 1, "historically": 1, "since": 2}  # with their number of formulas
FUTURE = {"next": 1, "weak-next": 1, "until": 2, "release": 2, "always": 1, "sometime": 1, "sometime-after": 2}
WHOLE = {
    "at end": 1,
    "within": 1,
    "at-most-once": 1,
    "sometime-before": 2,
    "always-within": 2,
    "hold-during": 1,
    "hold-after": 1,
}
BOUNDS = {"within": 1, "always-within": 1, "hold-during": 2, "hold-after": 1}  # how many times come first
PDDL3 = {"always": 1, "sometime": 1, "sometime-after": 2, **WHOLE}
STEP_PREDICATES = {"action": "!action", "action-end": "!action-end", "action-during": "!action-during"}
"""What is taken is a fact with one of these, which no text can have, in place of a predicate."""
START, END, OVER_ALL = PHASES = ("at start", "at end", "over all")


class Node:
    """A formula, an expression or an effect. ``operator`` names what it is."""

    operator: str

    def parts(self) -> tuple[Node, ...]:
        """What stands below it."""
        return ()


@dataclass(frozen=True, eq=False)
class Atom(Node):
    """``(predicate term ..)``."""

    operator: str = field(default="atom", init=False)
    terms: Fact


@dataclass(frozen=True, eq=False)
class Same(Node):
    """``(= term term)``."""

    operator: str = field(default="same", init=False)
    left: str
    right: str


@dataclass(frozen=True, eq=False)
class Taken(Node):
    """``(action (name term ..))`` and its like: one of ``STEP_PREDICATES``, the name, the terms; ``_`` fits."""

    operator: str = field(default="taken", init=False)
    terms: Fact


@dataclass(frozen=True, eq=False)
class Count(Node):
    """So many of all instances of some atoms are true: an invariant ``:exactly-one`` or ``:at-most-one``."""

    operator: str = field(default="count", init=False)
    allowed: tuple[int, ...]
    atoms: tuple[tuple[Domains, Fact], ...]


@dataclass(frozen=True, eq=False)
class Unary(Node):
    """What has one part: ``not`` (of a formula), ``unknown`` (of what is open), and the phases of an action."""

    operator: str
    part: Node

    def parts(self) -> tuple[Node, ...]:  # noqa: D102 - as above
        return (self.part,)


@dataclass(frozen=True, eq=False)
class Preference(Node):
    """``(preference name formula)``."""

    operator: str = field(default="preference", init=False)
    name: str
    part: Node

    def parts(self) -> tuple[Node, ...]:  # noqa: D102 - as above
        return (self.part,)


@dataclass(frozen=True, eq=False)
class Connective(Node):
    """``and`` (of formulas or effects), ``or``, ``imply``; ``oneof`` of what ``:init`` leaves open."""

    operator: str
    members: tuple[Node, ...]

    def parts(self) -> tuple[Node, ...]:  # noqa: D102 - as above
        return self.members


@dataclass(frozen=True, eq=False)
class Quantified(Node):
    """``forall`` (of a formula or effect) or ``exists``, with one variable."""

    operator: str
    variable: str
    objects: Objects
    part: Node

    def parts(self) -> tuple[Node, ...]:  # noqa: D102 - as above
        return (self.part,)

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """What the part needs to be true (of ``exists``), not to be (of ``forall``), to happen (of an effect)."""
        return needs(self.part, self.operator == "exists")


@dataclass(frozen=True, eq=False)
class Temporal(Node):
    """A past, future or PDDL3 operator; its bounds are times."""

    operator: str
    bounds: tuple[Fraction, ...]
    members: tuple[Node, ...]

    def parts(self) -> tuple[Node, ...]:  # noqa: D102 - as above
        return self.members


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
class Off(Node):
    """How far a duration may be off (docs/language.md, section 3)."""

    operator: str = field(default="off", init=False)


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
class Arithmetic(Node):
    """``+ - * /`` of numbers."""

    operator: str
    members: tuple[Node, ...]

    def parts(self) -> tuple[Node, ...]:  # noqa: D102 - as above
        return self.members


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
class When(Node):
    """A conditional effect; ``earlier`` has to hold, too, in the state before the start of the durative action."""

    operator: str = field(default="when", init=False)
    condition: Node
    effect: Node
    earlier: Node | None = None

    def parts(self) -> tuple[Node, ...]:  # noqa: D102 - as above
        return self.condition, self.effect


@dataclass(frozen=True, eq=False)
class OneOf(Node):
    """An effect of which the world chooses the outcome; ``number`` counts those of an action from 0."""

    operator: str = field(default="oneof", init=False)
    number: int
    members: tuple[Node, ...]

    def parts(self) -> tuple[Node, ...]:  # noqa: D102 - as above
        return self.members


NOTHING = Connective("and", ())


def negated(f: Node) -> Node:
    """The formula with ``not`` before it."""
    return Unary("not", f)


def ground(terms: Sequence[str], b: Binding) -> Fact:
    """The terms with objects for variables."""
    return tuple([b.get(x, x) for x in terms])


def symbol(fact: Fact) -> Fact:
    """A fact or fluent without its objects."""
    return fact[: 1 + (fact[0] == "#")]


def bindings(domains: Domains, b: Binding) -> Iterator[dict[str, Any]]:
    """The binding, extended by the variables in every way."""
    names = [name for name, _ in domains]
    for objects in product(*(found for _, found in domains)):
        yield {**b, **dict(zip(names, objects, strict=True))}


def unify(pattern: Sequence[str], fact: Sequence[str], b: Binding) -> dict[str, Any] | None:
    """The binding, extended so that the pattern becomes the fact (``_`` fits anything); ``None`` if it cannot be."""
    result = dict(b)
    for wanted, found in zip(pattern, fact, strict=True):
        if wanted != "_" and found != (result.setdefault(wanted, found) if wanted[0] == "?" else wanted):
            return None
    return result


def operators(f: Node) -> set[str]:
    """The operators of a formula, with "empty" if it has a connective or quantifier over nothing."""
    result = {f.operator}.union(*[operators(part) for part in f.parts()])
    nothing = not f.members if isinstance(f, Connective) else isinstance(f, Quantified) and not f.objects
    return result | ({"empty"} if nothing else set())


def reads(f: Node, b: Binding, negative: bool = False) -> Iterator[tuple[Fact, bool]]:
    """The ground atoms and fluents of a formula or effect, quantifiers expanded; and whether under a negation."""
    match f:
        case Atom(terms) | Fluent(terms):
            yield ground(terms, b), negative
        case Quantified():
            for o in f.objects:
                yield from reads(f.part, {**b, f.variable: o}, negative)
        case Assign():
            yield from reads(f.value, b)
        case Preference():
            return
        case _:
            for i, part in enumerate(f.parts()):
                turned = f.operator == "not" or (f.operator == "imply" and i == 0)
                yield from reads(part, b, negative != turned)


def symbols(f: Node, negative: bool = False) -> Iterator[tuple[Fact, bool]]:
    """The predicates and functions of a formula, and whether under a negation: what is compared is under both.

    What is quantified over nothing is not read.
    """
    match f:
        case Quantified() if not f.objects:
            return
        case Atom(terms):
            yield symbol(terms), negative
        case Fluent(terms):
            yield from ((symbol(terms), sign) for sign in (False, True))
        case _:
            for i, part in enumerate(f.parts()):
                turned = f.operator == "not" or (f.operator == "imply" and i == 0)
                yield from symbols(part, negative != turned)


def during(f: Node, phase: str) -> Node:
    """What a condition or effect of a durative action asks or does in one of its phases."""
    match f:
        case Unary(operator, part) if operator in PHASES:
            return part if operator == phase else NOTHING
        case Connective(operator, members):
            return Connective(operator, tuple([during(part, phase) for part in members]))
        case Quantified(operator, variable, objects, part):
            return Quantified(operator, variable, objects, during(part, phase))
        case Preference(name, part):
            return Preference(name, during(part, phase))
        case OneOf(number, members):
            return OneOf(number, tuple([during(part, phase) for part in members]))
        case When(condition, effect):
            before = during(condition, START) if phase == END and START in operators(condition) else None
            return When(during(condition, phase), during(effect, phase), before)
    return f


class Need(NamedTuple):
    """Facts without which a formula cannot have some value; a formula has several such alternatives.

    Variables of quantifiers within it are renamed, and have their objects here. ``exact``: where the facts are, it
    has the value. ``others``: the predicates and functions of what was left out.
    """

    atoms: tuple[Fact, ...] = ()
    within: Domains = ()
    exact: bool = True
    others: frozenset[Fact] = frozenset()


MANY = 32
"""More alternatives than this are not worth looking up."""
HELD = ("once", "historically", "always", "sometime", "at end", "within", "hold-during", "hold-after")
"""What is true (or not) somewhere only if its formula is somewhere."""


def needs(f: Node, true: bool) -> tuple[Need, ...]:
    """What has to be so for the formula to be other than false (or other than true) at some letter of a trace.

    It is so at that letter or another. No alternative: it cannot be. An alternative without facts: it may be anyhow.
    """
    found = _needs(f, true)
    return found if len(found) <= MANY else (_anyhow(f),)


def _anyhow(f: Node) -> Need:
    return Need((), (), False, frozenset([name for name, _ in symbols(f)]))


def _needs(f: Node, true: bool) -> tuple[Need, ...]:
    match f:
        case Atom(terms) | Taken(terms) if true:
            return (Need((terms,)),)
        case Unary("not", part):
            return needs(part, not true)
        case Connective("imply", (left, right)):
            return _joined([needs(left, not true), needs(right, true)], not true, f)
        case Connective(operator, members) if operator in ("and", "or"):
            return _joined([needs(part, true) for part in members], true == (operator == "and"), f)
        case Quantified(operator, variable, objects, part) if true == (operator == "exists"):
            return tuple([_quantified_need(need, variable, objects) for need in needs(part, true)])
        case Temporal():
            return _temporal_needs(f, true)
        case When(condition, _):  # an effect: what it needs to happen
            return needs(condition, True)
    return (_anyhow(f),)


def _joined(found: list[tuple[Need, ...]], every: bool, f: Node) -> tuple[Need, ...]:
    """All of the parts are needed, or one of them is enough."""
    if not every:
        return tuple([need for part in found for need in part])
    result: tuple[Need, ...] = (Need(),)
    for part in found:
        result = tuple([_both(one, other) for one in result for other in part])
        if len(result) > MANY:
            return (_anyhow(f),)
    return result


def _both(one: Need, other: Need) -> Need:
    for name, _ in one.within:
        other = _renamed_in(other, name, {*_names(one), *_names(other)})
    exact, others = one.exact and other.exact, one.others | other.others
    return Need(one.atoms + other.atoms, one.within + other.within, exact, others)


def _quantified_need(need: Need, variable: str, objects: Objects) -> Need:
    if variable not in _names(need):
        return need._replace(exact=need.exact and bool(objects))
    found = need._replace(within=(*need.within, (variable, objects)))
    return _renamed_in(found, variable, _names(need))


def _names(need: Need) -> set[str]:
    return {name for atom in need.atoms for name in atom}


def _renamed_in(need: Need, variable: str, used: set[str]) -> Need:
    """The need, with a name for the variable that is not used and that no text can have."""
    fresh = variable
    while fresh in used:
        fresh += "?"
    atoms = tuple([tuple([fresh if term == variable else term for term in atom]) for atom in need.atoms])
    within = tuple([(fresh if name == variable else name, objects) for name, objects in need.within])
    return need._replace(atoms=atoms, within=within)


def _temporal_needs(f: Temporal, true: bool) -> tuple[Need, ...]:
    first, last = f.members[0], f.members[-1]
    match f.operator:
        case operator if operator in HELD:
            found = needs(first, true)
        case "since" | "until" | "release":
            found = needs(last, true)
        case "yesterday" | "next":  # false at the first or last letter in any case
            found = needs(first, True) if true else (_anyhow(f),)
        case "weak-yesterday" | "weak-next":
            found = (_anyhow(f),) if true else needs(first, False)
        case "sometime-after" | "always-within" if not true:
            found = _joined([needs(first, True), needs(last, False)], True, f)
        case "sometime-before" | "at-most-once" if not true:
            found = needs(first, True)
        case _:
            found = (_anyhow(f),)
    return tuple([need._replace(exact=False) for need in found])
