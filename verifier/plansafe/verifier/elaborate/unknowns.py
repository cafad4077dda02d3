"""What ``:init`` leaves open: ``unknown``, ``or``, ``oneof`` and intervals (docs/worlds.md, section 1)."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.elaborate.ground_literals import STATEMENTS, GroundLiterals
from plansafe.verifier.elaborate.symbols import ORDERS, parse_number
from plansafe.verifier.model.nodes import Fluent, InitialChoice, InitialLiteral, Interval, Number, Unknowns

Key = tuple[int, int]
"""A predicate and the code of a fact, or a function and the code of a fluent."""


class _Said(NamedTuple):
    """A statement that a fact or a fluent is ``unknown``, or the interval of a fluent."""

    key: Key
    node: list[Node]
    interval: Interval | None = None


class UnknownStatements:
    """Collects statements while ``:init`` is read; what is given elsewhere is known only at its end."""

    def __init__(self, initial: GroundLiterals) -> None:
        self.initial = initial
        self.context = initial.context
        self.choices: list[InitialChoice] = []
        self._first: list[Node] = []
        self._facts: list[_Said] = []
        self._values: list[_Said] = []

    def is_statement(self, node: list[Node]) -> bool:
        """Whether an element of ``:init`` leaves something open.

        ``unknown`` and ``oneof`` may also name predicates: then they are statements before lists alone.
        """
        head = node[0]
        if head == "or" or head in ORDERS:
            return True
        if head not in STATEMENTS:
            return False
        declared = head in self.initial.symbols.predicate_index
        return not declared or (len(node) > 1 and all([isinstance(child, list) for child in node[1:]]))

    def read(self, node: list[Node]) -> None:
        """Read one statement."""
        self._first = self._first or node
        if node[0] == "unknown":
            self._unknown(node)
        elif node[0] in ORDERS:
            self._interval(node)
        else:
            self._choice(node)

    # -- statements ---------------------------------------------------------------------------------------------------

    def _unknown(self, node: list[Node]) -> None:
        symbols = self.initial.symbols
        if len(node) != 2:
            self.context.error(
                SC.STRUCTURE,
                f"`unknown` takes one fact or fluent, not {len(node) - 1}",
                Place(node),
                "expected `(unknown (predicate object ..))`",
                help="write one statement for each" if len(node) > 2 else None,
            )
            return
        item = node[1]
        head = item[0] if isinstance(item, list) and item else item
        if isinstance(head, str) and head in symbols.function_index and head not in symbols.predicate_index:
            fluent = self._fluent(node, 1)
            if fluent is not None:
                self._values.append(_Said(fluent, node, Interval()))
            return
        fact = self._fact(node, 1)
        if fact is not None:
            self._facts.append(_Said(fact, node))

    def _interval(self, node: list[Node]) -> None:
        operator = str(node[0])
        numbers = [parse_number(operand) for operand in node[1:]]
        if len(numbers) not in (2, 3) or numbers.count(None) != 1:
            self.context.error(
                SC.STRUCTURE,
                f"`{operator}` in `:init` bounds one fluent by numbers",
                Place(node),
                "expected one fluent and one or two numbers",
                help="write `(<= 2 (fluent ..) 8)`, `(<= (fluent ..) 8)` or `(< 2 (fluent ..))`",
            )
            return
        fluent = self._fluent(node, 1 + numbers.index(None))
        if fluent is None:
            return
        if operator[0] == ">":
            numbers.reverse()
        at, strict = numbers.index(None), len(operator) == 1
        found = Interval()
        for place, number in enumerate(numbers):
            if number is not None:
                found = intersect_intervals(
                    found, Interval(number, None, strict) if place < at else Interval(None, number, False, strict)
                )
        # Two numbers side by side are compared with each other, too.
        for left, right in pairwise(numbers):
            if left is not None and right is not None and (left > right or (strict and left == right)):
                found = Interval(left, right, True, True)
        self._values.append(_Said(fluent, node, found))

    def _choice(self, node: list[Node]) -> None:
        head = node[0]
        if len(node) == 1:
            self.context.error(
                SC.STRUCTURE, f"`{head}` without alternatives", Place(node), "expected facts to choose from"
            )
            return
        errors = self.context.errors
        alternatives = [self._alternative(node, child, head == "oneof") for child in range(1, len(node))]
        if self.context.errors > errors:
            return
        valued = [{(one.predicate, one.code) for one in alternative if one.fluent} for alternative in alternatives]
        for child, fluents in enumerate(valued, 1):
            if fluents != valued[0]:
                self.context.error(
                    SC.STRUCTURE,
                    "the alternatives give values to different fluents",
                    Place(node, child),
                    "other fluents than the first alternative",
                    other=(Place(node, 1), "the first alternative"),
                    help="give each fluent a value in each alternative",
                )
                return
        self.choices.append(InitialChoice(head == "oneof", tuple(alternatives), node))

    def _alternative(self, node: list[Node], child: int, values: bool) -> tuple[InitialLiteral, ...]:
        """A literal, or ``(and literal ..)``."""
        item = node[child]
        if not isinstance(item, list) or not item or item[0] != "and":
            literal = self._literal(node, child, values)
            return () if literal is None else (literal,)
        if len(item) == 1:
            message = "an alternative without literals is always true"
            self.context.error(SC.STRUCTURE, message, Place(item), "expected literals after `and`")
        found: dict[tuple[int, int, bool], tuple[InitialLiteral, Place]] = {}
        for position in range(1, len(item)):
            literal = self._literal(item, position, values)
            if literal is None:
                continue
            key = (literal.predicate, literal.code, literal.fluent)
            first, where = found.setdefault(key, (literal, Place(item, position)))
            if first.value != literal.value:
                self.context.error(
                    SC.CONTRADICTORY_INIT,
                    "an alternative contradicts itself",
                    Place(item, position),
                    "contradicts",
                    other=(where, "this one"),
                )
        return tuple([literal for literal, _ in found.values()])

    def _literal(self, node: list[Node], child: int, values: bool) -> InitialLiteral | None:
        item = node[child]
        if isinstance(item, list) and len(item) == 3 and item[0] == "=":
            if not values:
                self.context.error(
                    SC.STRUCTURE,
                    "`or` chooses among facts, not values",
                    Place(item),
                    "not a literal",
                    help="write `(oneof (= ..) (= ..))`, or an interval such as `(<= 2 (fluent ..) 8)`",
                )
                return None
            value = self.initial.value(item)
            if value is None:
                return None
            fluent, number = value
            return InitialLiteral(fluent.function, self.initial.encode(fluent.arguments), number, True)
        negated = isinstance(item, list) and len(item) == 2 and item[0] == "not"
        fact = self._fact(item, 1) if negated and isinstance(item, list) else self._fact(node, child)
        return None if fact is None else InitialLiteral(*fact, not negated)

    def _fact(self, node: list[Node], child: int) -> Key | None:
        item = node[child]
        if isinstance(item, list) and len(item) == 3 and item[0] == "at" and isinstance(item[2], list):
            message = "a timed literal cannot be unknown"
            self.context.error(SC.STRUCTURE, message, Place(node, child), "a timed literal")
            return None
        return self.initial.atom(item, Place(node, child))

    def _fluent(self, node: list[Node], child: int) -> Key | None:
        errors = self.context.errors
        fluent = self.initial.conditions.expression(node, child)
        if not isinstance(fluent, Fluent) or self.context.errors > errors:
            if self.context.errors == errors:
                self.context.error(SC.STRUCTURE, "expected a fluent", Place(node, child), "not a fluent")
            return None
        return fluent.function, self.initial.encode(fluent.arguments)

    # -- what is open -------------------------------------------------------------------------------------------------

    def result(self, section: list[Node]) -> Unknowns | None:
        """What the statements leave open, given all of ``:init``; ``None`` if that is nothing."""
        if not (self.choices or self._facts or self._values):
            return None
        initial = self.initial
        facts: list[set[int]] = [set() for _ in initial.facts]
        alone: list[set[int]] = [set() for _ in initial.facts]
        values: list[dict[int, Interval]] = [{} for _ in initial.fluents]
        for said in self._facts:
            predicate, code = said.key
            if code in initial.facts[predicate] or said.key in initial.denied:
                self._both(section, said, initial.denied.get(said.key))
            facts[predicate].add(code)
        for choice in self.choices:
            for literal in [literal for alternative in choice.alternatives for literal in alternative]:
                predicate, code = literal.predicate, literal.code
                if literal.fluent:
                    if code not in initial.fluents[predicate]:
                        values[predicate].setdefault(code, Interval())
                elif code not in initial.facts[predicate] and (predicate, code) not in initial.denied:
                    (alone if choice.exactly_one else facts)[predicate].add(code)
        self._intervals(values)
        supported = [one - other for one, other in zip(alone, facts, strict=True)]
        both = [one | other for one, other in zip(facts, alone, strict=True)]
        return Unknowns(both, supported, tuple(self.choices), values, self._first)

    def _both(self, section: list[Node], said: _Said, denied: Place | None) -> None:
        """A fact is given, and unknown."""
        given = denied
        if given is None and said.node[1] in section:
            given = Place(section, section.index(said.node[1]))
        self.context.error(
            SC.CONTRADICTORY_INIT,
            "a fact is both given and unknown",
            Place(said.node),
            "unknown here",
            other=None if given is None else (given, "given here"),
            help="remove one of the two",
        )

    def _intervals(self, values: list[dict[int, Interval]]) -> None:
        initial = self.initial
        first: dict[Key, _Said] = {}
        for said in self._values:
            function, code = said.key
            interval = said.interval
            assert interval is not None
            given = initial.fluents[function].get(code)
            if given is not None:
                at = (initial.fluent_at[said.key], "given here")
                if said.node[0] == "unknown":
                    message = "a fluent is both given and unknown"
                    self.context.error(SC.CONTRADICTORY_INIT, message, Place(said.node), "unknown here", other=at)
                elif is_empty_interval(intersect_intervals(interval, Interval(given, given))):
                    message = "a fluent's value is outside its interval"
                    self.context.error(SC.CONTRADICTORY_INIT, message, Place(said.node), "the interval", other=at)
                continue
            before = values[function].get(code, Interval())
            values[function][code] = both = intersect_intervals(before, interval)
            if is_empty_interval(both) and not is_empty_interval(before):
                other = (Place(first[said.key].node), "together with this one") if said.key in first else None
                message = "no possible world satisfies the initial state: an interval is empty"
                self.context.error(SC.NO_WORLD, message, Place(said.node), "no value is left", other=other)
            first.setdefault(said.key, said)


def intersect_intervals(one: Interval, other: Interval) -> Interval:
    """The values that lie in both intervals."""
    low, low_open = _tighter((one.low, one.low_open), (other.low, other.low_open), 1)
    high, high_open = _tighter((one.high, one.high_open), (other.high, other.high_open), -1)
    return Interval(low, high, low_open, high_open)


def is_empty_interval(interval: Interval) -> bool:
    """Whether no number lies in the interval."""
    if interval.low is None or interval.high is None:
        return False
    return interval.low > interval.high or (interval.low == interval.high and (interval.low_open or interval.high_open))


def _tighter(
    one: tuple[Number | None, bool], other: tuple[Number | None, bool], sign: int
) -> tuple[Number | None, bool]:
    """The bound that excludes more: the greater one (``sign`` 1) or the smaller one (-1)."""
    if one[0] is None or other[0] is None:
        return one if other[0] is None else other
    if one[0] == other[0]:
        return one[0], one[1] or other[1]
    return one if sign * one[0] > sign * other[0] else other
