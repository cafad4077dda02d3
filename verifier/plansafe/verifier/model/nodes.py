"""The typed lifted model: what a domain, a problem and its rules mean once every name is resolved.

Objects are numbered from 0. In a formula an argument that is not negative is an object, and ``-1 - slot`` is the
variable in ``slot`` of its scope (see :func:`variable`). Slots are never reused within one scope, so no variable
shadows another. Nodes are compared by identity only: two different node classes with equal fields are equal tuples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Literal, NamedTuple, TypeAlias

Number: TypeAlias = int | Fraction
"""An exact rational; integral values are ``int``."""

ArgumentTuple: TypeAlias = tuple[int, ...]

Binding: TypeAlias = dict[int, int]
"""Slot -> object."""

PastOperator: TypeAlias = Literal["yesterday", "weak-yesterday", "once", "historically", "since"]
FutureOperator: TypeAlias = Literal["next", "weak-next", "until", "release", "always", "sometime", "sometime-after"]
TraceOperator: TypeAlias = Literal[
    "at-end", "within", "at-most-once", "sometime-before", "always-within", "hold-during", "hold-after"
]
"""The operators of PDDL3 that look at the whole trace, wherever they stand."""
Operator: TypeAlias = PastOperator | FutureOperator | TraceOperator
"""A temporal operator. A dispatch names all of a family and ends in ``assert_never``, as one over nodes does."""


def variable(slot: int) -> int:
    """The argument that stands for the variable in ``slot``; its own inverse."""
    return -1 - slot


def normal_number(value: Number) -> Number:
    """``value`` with integral fractions as ``int``."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def divide(left: Number, right: Number) -> Number:
    """Exact division; integral results are ``int``."""
    return normal_number((Fraction(left) if isinstance(left, int) else left) / right)


# ---- expressions ----------------------------------------------------------------------------------------------------


class Constant(NamedTuple):
    """A number."""

    value: Number


class Fluent(NamedTuple):
    """The value of a ground or lifted fluent."""

    function: int
    arguments: ArgumentTuple


class Arithmetic(NamedTuple):
    """``+ - * /`` over at least one operand; one operand of ``-`` is negation."""

    operator: str
    operands: tuple[Expression, ...]


class Duration(NamedTuple):
    """``?duration`` of the durative action."""


class TotalTime(NamedTuple):
    """``total-time``, in metrics alone."""


class IsViolated(NamedTuple):
    """How often a preference is violated, in metrics alone."""

    preference: str


Expression: TypeAlias = Constant | Fluent | Arithmetic | Duration | TotalTime | IsViolated

# ---- formulas -------------------------------------------------------------------------------------------------------


class Truth(NamedTuple):
    """True or false."""

    value: bool


class Atom(NamedTuple):
    """A fact, basic or derived."""

    predicate: int
    arguments: ArgumentTuple


class Equal(NamedTuple):
    """Identity of two objects."""

    left: int
    right: int


class Compare(NamedTuple):
    """``= < > <= >=`` on numbers."""

    operator: str
    left: Expression
    right: Expression


class Not(NamedTuple):
    """Negation."""

    body: Formula


class And(NamedTuple):
    """Conjunction; empty is true."""

    parts: tuple[Formula, ...]


class Or(NamedTuple):
    """Disjunction; empty is false."""

    parts: tuple[Formula, ...]


class Quantified(NamedTuple):
    """``forall`` or ``exists`` over typed slots."""

    universal: bool
    variables: tuple[Variable, ...]
    body: Formula


class Temporal(NamedTuple):
    """A past, future or PDDL3 operator; ``bounds`` are its numbers."""

    operator: Operator
    operands: tuple[Formula, ...]
    bounds: tuple[Number, ...] = ()


Formula: TypeAlias = Truth | Atom | Equal | Compare | Not | And | Or | Quantified | Temporal

TRUE = Truth(True)
FALSE = Truth(False)


class Variable(NamedTuple):
    """A typed variable: its slot, the type alternatives it ranges over (index of a domain of objects), its name."""

    slot: int
    domain: int
    name: str


def bind(variables: Sequence[Variable], objects: Sequence[int]) -> Binding:
    """The binding that gives each variable its object."""
    return dict(zip([v.slot for v in variables], objects, strict=True))


def ground(arguments: Sequence[int], binding: Mapping[int, int]) -> ArgumentTuple:
    """The objects that arguments stand for; raises ``KeyError`` if a variable is not bound."""
    return tuple([a if a >= 0 else binding[-1 - a] for a in arguments])


# ---- effects and actions --------------------------------------------------------------------------------------------


class Assignment(NamedTuple):
    """A numeric effect: ``assign increase decrease scale-up scale-down``."""

    operator: str
    function: int
    arguments: ArgumentTuple
    value: Expression


class Choice(NamedTuple):
    """One alternative of a ``oneof`` in the effect of an action (docs/worlds.md).

    ``number`` counts the ``oneof`` statements of the action in the order of its text, ``alternative`` those of the
    statement, both from 0. ``variables`` are those of the quantifiers around it: each binding chooses for itself.
    """

    number: int
    alternative: int
    alternatives: int
    variables: tuple[Variable, ...]


class Effect(NamedTuple):
    """What happens for each binding of ``variables`` for which ``condition`` holds in the state before.

    ``at_start`` is, in the end of a durative action, a condition that was read at its start. An effect with ``choices``
    happens only in worlds that choose all of these alternatives.
    """

    variables: tuple[Variable, ...]
    condition: Formula
    adds: tuple[Atom, ...]
    deletes: tuple[Atom, ...]
    assignments: tuple[Assignment, ...]
    at_start: Formula = TRUE
    choices: tuple[Choice, ...] = ()


class Preference(NamedTuple):
    """A soft condition; ``variables`` are bound by the quantifiers around it.

    ``moment``: when it is read in a durative action, ``start``, ``end``, or (over) ``all``.
    """

    name: str
    variables: tuple[Variable, ...]
    body: Formula
    moment: str = "start"


class Snap(NamedTuple):
    """Something that happens at one moment: an instantaneous action, or the start or the end of a durative one."""

    condition: tuple[Formula, ...]
    effects: tuple[Effect, ...]


class DurationConstraint(NamedTuple):
    """``(operator ?duration value)`` read at the start or the end."""

    operator: str
    value: Expression
    at_end: bool
    node: object


class Action(NamedTuple):
    """An action; ``end`` is ``None`` for an instantaneous one.

    ``choices``: the number of alternatives of each ``oneof`` in its effect, also of one that changes nothing.
    """

    name: str
    parameters: tuple[Variable, ...]
    start: Snap
    end: Snap | None
    over_all: tuple[Formula, ...]
    durations: tuple[DurationConstraint, ...]
    preferences: tuple[Preference, ...]
    node: object
    choices: tuple[int, ...] = ()


class Axiom(NamedTuple):
    """One rule of a derived predicate."""

    predicate: int
    parameters: tuple[Variable, ...]
    body: Formula


class Predicate(NamedTuple):
    """A declared predicate (or, with ``function``, numeric fluent).

    Each parameter's type alternatives and domain of objects.
    """

    name: str
    types: tuple[tuple[int, ...], ...]
    domains: tuple[int, ...]
    node: object


class TimedLiteral(NamedTuple):
    """A timed initial literal: a fact set or cleared, or a fluent set, at ``time``."""

    time: Number
    predicate: int
    arguments: ArgumentTuple
    value: bool | Number
    fluent: bool


class InitialLiteral(NamedTuple):
    """A fact with a truth value, or (with ``fluent``) a fluent with a number; ``code`` encodes the arguments."""

    predicate: int
    code: int
    value: bool | Number
    fluent: bool = False


class InitialChoice(NamedTuple):
    """``(or ..)`` or ``(oneof ..)`` in ``:init``: at least one, exactly one, of the alternatives is true.

    An alternative is a conjunction. ``node`` is the statement, for diagnostics.
    """

    exactly_one: bool
    alternatives: tuple[tuple[InitialLiteral, ...], ...]
    node: object


class Interval(NamedTuple):
    """The values a number may have; ``None`` is no bound, ``*_open`` excludes the bound itself."""

    low: Number | None = None
    high: Number | None = None
    low_open: bool = False
    high_open: bool = False


class Unknowns(NamedTuple):
    """What ``:init`` leaves open (docs/worlds.md, section 1). A fact that is open is not in ``Task.initial_facts``.

    ``facts[p]``: codes of the open facts of predicate ``p``. ``supported[p]``: those of them that ``oneof`` alone
    mentions, and that are false unless an alternative that is true has them. ``values[f]``: the fluents without a
    given value, none of them in ``Task.initial_fluents``. ``node`` is the first statement, for diagnostics.
    """

    facts: list[set[int]]
    oneof_only: list[set[int]]
    choices: tuple[InitialChoice, ...]
    intervals: list[dict[int, Interval]]
    node: object = None


class OpenPredicate(NamedTuple):
    """Facts that a specification leaves open: ``(:open (p ?x ..))``.

    ``arguments`` number the variables: equal numbers are equal objects. ``domains`` are those of the arguments.
    """

    predicate: int
    arguments: tuple[int, ...]
    domains: tuple[int, ...]
    at: object


class WorldInvariant(NamedTuple):
    """What a specification says of S0 in every world, for all values of ``parameters``.

    ``kind``: ``holds`` (a formula), ``exactly-one`` or ``at-most-one`` (of the instances of ``atoms``; ``counted`` are
    the variables that are not parameters).
    """

    name: str
    parameters: tuple[Variable, ...]
    kind: str
    formula: Formula
    atoms: tuple[Atom, ...]
    counted: tuple[Variable, ...]
    at: object


class Metric(NamedTuple):
    """What a plan is measured by."""

    minimize: bool
    expression: Expression


class Task(NamedTuple):
    """A domain and a problem, checked and resolved.

    ``domains[d]`` are the objects of a set of type alternatives, in order; variables and parameters refer to them by
    index. ``domain_types[d]`` are those alternatives, or empty for a set of objects that no types name.
    ``static[p]`` says that no action, axiom or timed literal changes predicate ``p``. ``denied`` are the facts
    (predicate, code) that ``:init`` gives as ``(not p)``: open predicates leave them alone.
    """

    name: str
    problem: str
    objects: tuple[str, ...]
    object_index: dict[str, int]
    object_types: tuple[tuple[int, ...], ...]
    type_names: tuple[str, ...]
    domains: list[tuple[int, ...]]
    domain_sets: list[frozenset[int]]
    domain_types: list[tuple[int, ...]]
    predicates: list[Predicate]
    functions: list[Predicate]
    actions: dict[str, Action]
    axioms: tuple[tuple[Axiom, ...], ...]
    initial_facts: list[set[int]]
    initial_fluents: list[dict[int, Number]]
    timed_literals: tuple[TimedLiteral, ...]
    goal: tuple[Formula, ...]
    goal_nodes: tuple[object, ...]
    goal_preferences: tuple[Preference, ...]
    metric: Metric | None
    static: list[bool]
    unknowns: Unknowns | None = None
    denied: frozenset[tuple[int, int]] = frozenset()

    def encode(self, arguments: ArgumentTuple) -> int:
        """The code of a tuple of objects within its predicate: mixed radix over the number of objects."""
        size = len(self.objects)
        code = 0
        for argument in arguments:
            code = code * size + argument
        return code

    def code_of(self, arguments: ArgumentTuple, binding: Mapping[int, int]) -> int:
        """The code of arguments whose variables are bound; raises ``KeyError`` if one is not."""
        size = len(self.objects)
        code = 0
        for argument in arguments:
            code = code * size + (argument if argument >= 0 else binding[-1 - argument])
        return code

    def known_code(self, arguments: ArgumentTuple, binding: Mapping[int, int]) -> int | None:
        """The code of arguments; ``None`` if a variable is not bound."""
        try:
            return self.code_of(arguments, binding)
        except KeyError:
            return None

    def bindings(self, variables: Sequence[Variable], binding: Binding) -> Iterator[Binding]:
        """The binding with the variables bound in all ways."""
        slots = [v.slot for v in variables]
        for objects in product(*[self.domains[v.domain] for v in variables]):
            yield {**binding, **dict(zip(slots, objects, strict=True))}

    def decode(self, code: int, arity: int) -> ArgumentTuple:
        """The inverse of :meth:`encode`."""
        size = len(self.objects)
        if arity == 2:  # most facts of a scene
            return divmod(code, size)
        out = [0] * arity
        for position in range(arity - 1, -1, -1):
            code, out[position] = divmod(code, size)
        return tuple(out)

    def fact_text(self, predicate: int, code: int) -> str:
        """A fact as PDDL."""
        declared = self.predicates[predicate]
        return "(" + " ".join([declared.name, *self.names(self.decode(code, len(declared.types)))]) + ")"

    def fluent_text(self, function: int, code: int) -> str:
        """A ground fluent as PDDL."""
        declared = self.functions[function]
        return "(" + " ".join([declared.name, *self.names(self.decode(code, len(declared.types)))]) + ")"

    def key_text(self, subject: int, code: int) -> str:
        """A fact, or a fluent of a function numbered after the predicates, as PDDL."""
        base = len(self.predicates)
        return self.fact_text(subject, code) if subject < base else self.fluent_text(subject - base, code)

    def names(self, arguments: ArgumentTuple) -> list[str]:
        """The names of objects."""
        return [self.objects[a] for a in arguments]
