"""The typed lifted model of a domain, a problem and its rules; all names are resolved.

Objects are numbered from 0. In a formula an argument that is not negative is an object, and ``-1 - slot`` is the
variable in ``slot`` of its scope (see :func:`variable`). Slots are never reused within one scope, so no variable
shadows another. Nodes are compared by identity only: two different node classes with equal fields are equal tuples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from types import MappingProxyType
from typing import Literal, TypeAlias

from plansafe.grammar.named_tuple import NamedTuple

Number: TypeAlias = int | Fraction
"""An exact rational; integral values are ``int``."""

ArgumentTuple: TypeAlias = tuple[int, ...]
"""Objects and variables, as in :func:`variable`."""

Binding: TypeAlias = dict[int, int]
"""Slot -> object."""

PastOperator: TypeAlias = Literal["yesterday", "weak-yesterday", "once", "historically", "since"]
FutureOperator: TypeAlias = Literal["next", "weak-next", "until", "release", "always", "sometime", "sometime-after"]
TraceOperator: TypeAlias = Literal[
    "at-end", "within", "at-most-once", "sometime-before", "always-within", "hold-during", "hold-after"
]
"""The operators of PDDL3 about the whole trace."""
Operator: TypeAlias = PastOperator | FutureOperator | TraceOperator
"""A temporal operator. A ``match`` names all operators of a family and ends in ``assert_never``, as for nodes."""


def variable(slot: int) -> int:
    """Return the argument that encodes the variable in ``slot``; the function is its own inverse."""
    return -1 - slot


def normal_number(value: Number) -> Number:
    """Convert an integral fraction to an ``int``; other values stay unchanged."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def divide(left: Number, right: Number) -> Number:
    """Divide exactly; integral results are ``int``."""
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
    """``total-time``, only in metrics."""


class IsViolated(NamedTuple):
    """How often a preference is violated, only in metrics."""

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
    """A typed variable: its slot, the index of the domain of objects it ranges over, and its name."""

    slot: int
    domain: int
    name: str


def bind(variables: Sequence[Variable], objects: Sequence[int]) -> Binding:
    """Return the binding that gives each variable its object."""
    return dict(zip([v.slot for v in variables], objects, strict=True))


def ground(arguments: Sequence[int], binding: Mapping[int, int]) -> ArgumentTuple:
    """Return the objects of arguments under a binding; raises ``KeyError`` if a variable is not bound."""
    return tuple([argument if argument >= 0 else binding[-1 - argument] for argument in arguments])


def match_arguments(
    arguments: Sequence[int],
    objects: Sequence[int],
    domains: Mapping[int, frozenset[int]],
    binding: Mapping[int, int] = MappingProxyType({}),
) -> dict[int, int] | None:
    """Extend a binding so that arguments become these objects; ``None`` if that is impossible.

    ``domains``: the objects that may be in a slot. A slot without a domain is not bound: any object matches it.
    """
    matched = dict(binding)
    for argument, number in zip(arguments, objects, strict=True):
        slot = -1 - argument
        if argument >= 0:
            fits = argument == number
        elif slot in domains:
            fits = number in domains[slot] and matched.setdefault(slot, number) == number
        else:
            fits = matched.get(slot, number) == number
        if not fits:
            return None
    return matched


# ---- effects and actions --------------------------------------------------------------------------------------------


class Assignment(NamedTuple):
    """A numeric effect: ``assign increase decrease scale-up scale-down``."""

    operator: str
    function: int
    arguments: ArgumentTuple
    value: Expression


class Choice(NamedTuple):
    """One alternative of a ``oneof`` in the effect of an action (docs/worlds.md).

    ``number`` is the position of the ``oneof`` in the action, ``alternative`` the position in the ``oneof``, both from
    0. ``variables`` are the variables of the quantifiers around it: each binding has its own choice.
    """

    number: int
    alternative: int
    alternative_count: int
    variables: tuple[Variable, ...]


class Effect(NamedTuple):
    """Changes for each binding of ``variables`` for which ``condition`` holds in the state before.

    ``at_start``: for an effect at the end of a durative action, a condition that is read at its start. An effect with
    ``choices`` happens only in worlds that choose all of these alternatives.
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

    ``moment``: when a durative action reads it: ``start``, ``end``, or (over) ``all``.
    """

    name: str
    variables: tuple[Variable, ...]
    body: Formula
    moment: str = "start"


class Snap(NamedTuple):
    """An instantaneous action, or the start or the end of a durative one."""

    condition: tuple[Formula, ...]
    effects: tuple[Effect, ...]


class RateEffect(NamedTuple):
    """A continuous effect: the rate at which a fluent changes, for each binding of ``variables``."""

    variables: tuple[Variable, ...]
    function: int
    arguments: ArgumentTuple
    rate: Expression


class Process(NamedTuple):
    """A process of PDDL+: it changes fluents while its condition holds."""

    name: str
    parameters: tuple[Variable, ...]
    condition: tuple[Formula, ...]
    rates: tuple[RateEffect, ...]
    node: object


class DurationConstraint(NamedTuple):
    """``(operator ?duration value)``, read at the start or the end."""

    operator: str
    value: Expression
    at_end: bool
    node: object


class Action(NamedTuple):
    """An action; ``end`` is ``None`` for an instantaneous one.

    ``alternative_counts``: of each ``oneof`` in its effect, also if none of its alternatives changes anything.
    ``rates``: the changes while a durative action is under way.
    """

    name: str
    parameters: tuple[Variable, ...]
    start: Snap
    end: Snap | None = None
    over_all: tuple[Formula, ...] = ()
    durations: tuple[DurationConstraint, ...] = ()
    preferences: tuple[Preference, ...] = ()
    node: object = None
    alternative_counts: tuple[int, ...] = ()
    rates: tuple[RateEffect, ...] = ()


class Axiom(NamedTuple):
    """One rule of a derived predicate."""

    predicate: int
    parameters: tuple[Variable, ...]
    body: Formula


class Predicate(NamedTuple):
    """A declared predicate or function, with the type alternatives and the domain of objects of each parameter."""

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
    """``(or ..)`` or ``(oneof ..)`` in ``:init``: at least one alternative is true, or ``exactly_one``.

    An alternative is a conjunction. ``node`` is the statement, for diagnostics.
    """

    exactly_one: bool
    alternatives: tuple[tuple[InitialLiteral, ...], ...]
    node: object


class Interval(NamedTuple):
    """The possible values of a number; ``None``: unbounded; ``*_open`` excludes the bound itself."""

    low: Number | None = None
    high: Number | None = None
    low_open: bool = False
    high_open: bool = False


class Unknowns(NamedTuple):
    """The unknown facts and fluents of ``:init`` (docs/worlds.md, section 1).

    ``facts[p]``: codes of the unknown facts of predicate ``p``; none is in ``Task.initial_facts``. ``oneof_only[p]``:
    those that occur only in ``oneof``; they are false unless a true alternative has them. ``intervals[f]``: the unknown
    fluents; none is in ``Task.initial_fluents``. ``node`` is the first statement, for diagnostics.
    """

    facts: list[set[int]]
    oneof_only: list[set[int]]
    choices: tuple[InitialChoice, ...]
    intervals: list[dict[int, Interval]]
    node: object = None


class OpenPredicate(NamedTuple):
    """Facts that a specification declares unknown: ``(:open (p ?x ..))``.

    ``arguments`` number the variables: equal numbers are equal objects. ``domains`` has the domain of each argument.
    """

    predicate: int
    arguments: tuple[int, ...]
    domains: tuple[int, ...]
    at: object


class WorldInvariant(NamedTuple):
    """An invariant of a specification about the initial state of every world, for all values of ``parameters``.

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
    """An expression to minimize or maximize."""

    minimize: bool
    expression: Expression


class Task(NamedTuple):
    """A domain and a problem, checked and resolved.

    ``domains[d]`` are the objects of a set of type alternatives, in order; variables and parameters refer to them by
    index. ``domain_types[d]`` are those alternatives, empty for a set of objects without types. ``static[p]``: no
    action, axiom or timed literal changes predicate ``p``. ``denied`` are the facts (predicate, code) that ``:init``
    gives as ``(not p)``; open predicates do not make them unknown. ``events`` are the events of PDDL+, in the form of
    actions without duration.
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
    processes: tuple[Process, ...] = ()
    events: tuple[Action, ...] = ()

    @property
    def is_continuous(self) -> bool:
        """Whether fluents may change, or events happen, between the steps of a plan."""
        return bool(self.processes or self.events) or any([action.rates for action in self.actions.values()])

    def encode(self, arguments: ArgumentTuple) -> int:
        """The code of a tuple of objects within its predicate: mixed radix over the number of objects."""
        size = len(self.objects)
        code = 0
        for argument in arguments:
            code = code * size + argument
        return code

    def code_of(self, arguments: ArgumentTuple, binding: Mapping[int, int]) -> int:
        """The code of arguments under a binding; raises ``KeyError`` if a variable is not bound."""
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
        """All extensions of a binding to the variables."""
        slots = [v.slot for v in variables]
        for objects in product(*[self.domains[v.domain] for v in variables]):
            yield {**binding, **dict(zip(slots, objects, strict=True))}

    def decode(self, code: int, arity: int) -> ArgumentTuple:
        """The inverse of :meth:`encode`."""
        size = len(self.objects)
        if arity == 2:  # most facts of a scene
            return divmod(code, size)
        arguments = [0] * arity
        for position in range(arity - 1, -1, -1):
            code, arguments[position] = divmod(code, size)
        return tuple(arguments)

    def fact_text(self, predicate: int, code: int) -> str:
        """A fact as PDDL."""
        return self._format_ground(self.predicates[predicate], code)

    def fluent_text(self, function: int, code: int) -> str:
        """A ground fluent as PDDL."""
        return self._format_ground(self.functions[function], code)

    def _format_ground(self, declared: Predicate, code: int) -> str:
        """Return a fact or fluent of a declared predicate or function as PDDL."""
        return "(" + " ".join([declared.name, *self.names(self.decode(code, len(declared.types)))]) + ")"

    def key_text(self, symbol_index: int, code: int) -> str:
        """Return a fact, or a fluent of a function numbered after the predicates, as PDDL."""
        return self._format_ground(self.get_symbol(symbol_index), code)

    def find_symbol_index(self, read: Atom | Fluent) -> int:
        """Return the predicate of an atom, or the function of a fluent, numbered after the predicates."""
        return read.predicate if isinstance(read, Atom) else len(self.predicates) + read.function

    def get_symbol(self, symbol_index: int) -> Predicate:
        """Return a predicate, or a function numbered after the predicates."""
        count = len(self.predicates)
        return self.predicates[symbol_index] if symbol_index < count else self.functions[symbol_index - count]

    def names(self, arguments: ArgumentTuple) -> list[str]:
        """The names of objects."""
        return [self.objects[argument] for argument in arguments]
