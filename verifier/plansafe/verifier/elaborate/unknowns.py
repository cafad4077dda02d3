"""Unknown facts of ``:init``: ``unknown``, ``or``, ``oneof`` and intervals (docs/worlds.md, section 1)."""

from __future__ import annotations

from itertools import pairwise

from plansafe.grammar.codes import SC
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node, parse_number
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.elaborate.ground_literals import STATEMENTS, GroundLiterals
from plansafe.verifier.elaborate.symbols import ORDERS
from plansafe.verifier.model.nodes import Fluent, InitialChoice, InitialLiteral, Interval, Number, Unknowns

Key = tuple[int, int]
"""A predicate and the code of a fact, or a function and the code of a fluent."""


class _UnknownFact(NamedTuple):
    """A statement that a fact is ``unknown``."""

    key: Key
    node: list[Node]


class _FluentInterval(NamedTuple):
    """A statement that a fluent is ``unknown``, or about its interval."""

    key: Key
    node: list[Node]
    interval: Interval


class UnknownStatements:
    """Collects statements while ``:init`` is read; they are checked at its end, when all given facts are known."""

    def __init__(self, initial: GroundLiterals) -> None:
        self.initial = initial
        self.context = initial.context
        self.choices: list[InitialChoice] = []
        self._first_statement: list[Node] = []
        """The first statement of the text, the place of diagnostics about all of them."""
        self._facts: list[_UnknownFact] = []
        self._fluents: list[_FluentInterval] = []

    def is_statement(self, node: list[Node]) -> bool:
        """Whether an element of ``:init`` is a statement about unknown facts.

        ``unknown`` and ``oneof`` may also name predicates: then they are statements only if all operands are lists.
        """
        head = node[0]
        if head == "or" or head in ORDERS:
            return True
        if head not in STATEMENTS:
            return False
        is_predicate = head in self.initial.symbols.predicate_index
        return not is_predicate or (len(node) > 1 and all([isinstance(child, list) for child in node[1:]]))

    def read(self, node: list[Node]) -> None:
        """Read one statement."""
        self._first_statement = self._first_statement or node
        if node[0] == "unknown":
            self._read_unknown(node)
        elif node[0] in ORDERS:
            self._read_interval(node)
        else:
            self._read_choice(node)

    # -- statements ---------------------------------------------------------------------------------------------------

    def _read_unknown(self, node: list[Node]) -> None:
        """Read ``(unknown fact)`` or ``(unknown fluent)``."""
        symbols = self.initial.symbols
        if len(node) != 2:
            message = f"`unknown` takes one fact or fluent, not {len(node) - 1}"
            help = "write one statement for each" if len(node) > 2 else None
            self.context.report_malformed(message, Place(node), "expected `(unknown (predicate object ..))`", help=help)
            return
        operand = node[1]
        head = operand[0] if isinstance(operand, list) and operand else operand
        if isinstance(head, str) and head in symbols.function_index and head not in symbols.predicate_index:
            fluent = self._read_fluent(node, 1)
            if fluent is not None:
                self._fluents.append(_FluentInterval(fluent, node, Interval()))
            return
        fact = self._read_fact(Place(node, 1))
        if fact is not None:
            self._facts.append(_UnknownFact(fact, node))

    def _read_interval(self, node: list[Node]) -> None:
        """Read ``(<= number fluent number)`` with any order, or with one number."""
        operator = str(node[0])
        numbers = [parse_number(operand) for operand in node[1:]]
        if len(numbers) not in (2, 3) or numbers.count(None) != 1:
            message = f"`{operator}` in `:init` bounds one fluent by numbers"
            label = "expected one fluent and one or two numbers"
            help = "write `(<= 2 (fluent ..) 8)`, `(<= (fluent ..) 8)` or `(< 2 (fluent ..))`"
            self.context.report_malformed(message, Place(node), label, help=help)
            return
        fluent = self._read_fluent(node, 1 + numbers.index(None))
        if fluent is None:
            return
        if operator[0] == ">":
            numbers.reverse()
        fluent_position, is_strict = numbers.index(None), len(operator) == 1
        interval = Interval()
        for position, number in enumerate(numbers):
            if number is not None:
                is_lower_bound = position < fluent_position
                bound = (
                    Interval(number, None, is_strict) if is_lower_bound else Interval(None, number, False, is_strict)
                )
                interval = intersect_intervals(interval, bound)
        for left, right in pairwise(numbers):  # two adjacent numbers are also compared with each other
            if left is not None and right is not None and (left > right or (is_strict and left == right)):
                interval = Interval(left, right, True, True)
        self._fluents.append(_FluentInterval(fluent, node, interval))

    def _read_choice(self, node: list[Node]) -> None:
        """Read ``(or alternative ..)`` or ``(oneof alternative ..)``."""
        exactly_one = node[0] == "oneof"
        if len(node) == 1:
            self.context.report_malformed(
                f"`{node[0]}` without alternatives", Place(node), "expected facts to choose from"
            )
            return
        errors = self.context.errors
        alternatives = [self._read_alternative(Place(node, child), exactly_one) for child in range(1, len(node))]
        if self.context.errors > errors:
            return
        fluents = [{(literal.predicate, literal.code) for literal in a if literal.fluent} for a in alternatives]
        for child, alternative_fluents in enumerate(fluents, 1):
            if alternative_fluents != fluents[0]:
                message = "the alternatives give values to different fluents"
                label, related = "other fluents than the first alternative", (Place(node, 1), "the first alternative")
                help = "give each fluent a value in each alternative"
                self.context.error(SC.STRUCTURE, message, Place(node, child), label, related=related, help=help)
                return
        self.choices.append(InitialChoice(exactly_one, tuple(alternatives), node))

    def _read_alternative(self, at: Place, allows_values: bool) -> tuple[InitialLiteral, ...]:
        """Read a literal or ``(and literal ..)``; ``allows_values``: a literal may be ``(= fluent number)``."""
        node = at.subtree
        if not isinstance(node, list) or not node or node[0] != "and":
            literal = self._read_literal(at, allows_values)
            return () if literal is None else (literal,)
        if len(node) == 1:
            message = "an alternative without literals is always true"
            self.context.report_malformed(message, Place(node), "expected literals after `and`")
        literals: dict[tuple[int, int, bool], tuple[InitialLiteral, Place]] = {}
        for child in range(1, len(node)):
            literal_at = Place(node, child)
            literal = self._read_literal(literal_at, allows_values)
            if literal is None:
                continue
            first, first_at = literals.setdefault(
                (literal.predicate, literal.code, literal.fluent), (literal, literal_at)
            )
            if first.value != literal.value:
                message, related = "an alternative contradicts itself", (first_at, "this one")
                self.context.error(SC.CONTRADICTORY_INIT, message, literal_at, "contradicts", related=related)
        return tuple([literal for literal, _ in literals.values()])

    def _read_literal(self, at: Place, allows_values: bool) -> InitialLiteral | None:
        """Read a fact, a negated fact or ``(= fluent number)``; ``None`` after a diagnostic."""
        node = at.subtree
        if isinstance(node, list) and len(node) == 3 and node[0] == "=":
            if not allows_values:
                help = "write `(oneof (= ..) (= ..))`, or an interval such as `(<= 2 (fluent ..) 8)`"
                self.context.report_malformed(
                    "`or` chooses among facts, not values", Place(node), "not a literal", help=help
                )
                return None
            fluent_value = self.initial.read_value(node)
            if fluent_value is None:
                return None
            fluent, number = fluent_value
            return InitialLiteral(fluent.function, self.initial.encode(fluent.arguments), number, True)
        is_negated = isinstance(node, list) and len(node) == 2 and node[0] == "not"
        fact = self._read_fact(Place(node, 1) if is_negated and isinstance(node, list) else at)
        return None if fact is None else InitialLiteral(*fact, not is_negated)

    def _read_fact(self, at: Place) -> Key | None:
        node = at.subtree
        if isinstance(node, list) and len(node) == 3 and node[0] == "at" and isinstance(node[2], list):
            self.context.report_malformed("a timed literal cannot be unknown", at, "a timed literal")
            return None
        return self.initial.read_fact(at)

    def _read_fluent(self, node: list[Node], child: int) -> Key | None:
        errors = self.context.errors
        fluent = self.initial.conditions.read_expression(node, child)
        if self.context.errors > errors:
            return None
        if not isinstance(fluent, Fluent):
            self.context.report_malformed("expected a fluent", Place(node, child), "not a fluent")
            return None
        return fluent.function, self.initial.encode(fluent.arguments)

    # -- the unknown facts --------------------------------------------------------------------------------------------

    def collect_unknowns(self, section: list[Node]) -> Unknowns | None:
        """Return the unknown facts and fluents, after all of ``:init`` has been read; ``None`` if there are none."""
        if not (self.choices or self._facts or self._fluents):
            return None
        initial = self.initial
        unknown_facts: list[set[int]] = [set() for _ in initial.facts]
        oneof_facts: list[set[int]] = [set() for _ in initial.facts]
        intervals: list[dict[int, Interval]] = [{} for _ in initial.fluents]
        for statement in self._facts:
            predicate, code = statement.key
            if code in initial.facts[predicate] or statement.key in initial.denied:
                self._report_given_fact(section, statement)
            unknown_facts[predicate].add(code)
        for choice in self.choices:
            for literal in [literal for alternative in choice.alternatives for literal in alternative]:
                predicate, code = literal.predicate, literal.code
                if literal.fluent:
                    if code not in initial.fluents[predicate]:
                        intervals[predicate].setdefault(code, Interval())
                elif code not in initial.facts[predicate] and (predicate, code) not in initial.denied:
                    (oneof_facts if choice.exactly_one else unknown_facts)[predicate].add(code)
        self._intersect_intervals(intervals)
        oneof_only_facts = [oneof_codes - codes for oneof_codes, codes in zip(oneof_facts, unknown_facts, strict=True)]
        all_facts = [oneof_codes | codes for oneof_codes, codes in zip(oneof_facts, unknown_facts, strict=True)]
        return Unknowns(all_facts, oneof_only_facts, tuple(self.choices), intervals, self._first_statement)

    def _report_given_fact(self, section: list[Node], statement: _UnknownFact) -> None:
        given_at = self.initial.denied.get(statement.key)
        if given_at is None and statement.node[1] in section:
            given_at = Place(section, section.index(statement.node[1]))
        message, related = "a fact is both given and unknown", None if given_at is None else (given_at, "given here")
        help = "remove one of the two"
        self.context.error(
            SC.CONTRADICTORY_INIT, message, Place(statement.node), "unknown here", related=related, help=help
        )

    def _intersect_intervals(self, intervals: list[dict[int, Interval]]) -> None:
        """Set the interval of each fluent to the intersection of its statements; report contradictions."""
        initial, context = self.initial, self.context
        first_statements: dict[Key, _FluentInterval] = {}
        for statement in self._fluents:
            function, code = statement.key
            at = Place(statement.node)
            given_value = initial.fluents[function].get(code)
            if given_value is not None:
                related = (initial.fluent_at[statement.key], "given here")
                if statement.node[0] == "unknown":
                    message = "a fluent is both given and unknown"
                    context.error(SC.CONTRADICTORY_INIT, message, at, "unknown here", related=related)
                elif is_empty_interval(intersect_intervals(statement.interval, Interval(given_value, given_value))):
                    message = "a fluent's value is outside its interval"
                    context.error(SC.CONTRADICTORY_INIT, message, at, "the interval", related=related)
                continue
            before = intervals[function].get(code, Interval())
            intersection = intervals[function][code] = intersect_intervals(before, statement.interval)
            first = first_statements.setdefault(statement.key, statement)
            if is_empty_interval(intersection) and not is_empty_interval(before):
                first_label = None if first is statement else (Place(first.node), "together with this one")
                message = "no possible world satisfies the initial state: an interval is empty"
                context.error(SC.NO_WORLD, message, at, "no value is left", related=first_label)


def intersect_intervals(first: Interval, second: Interval) -> Interval:
    """Return the values that are in both intervals."""
    low = _choose_tighter_bound(_Bound(first.low, first.low_open), _Bound(second.low, second.low_open), 1)
    high = _choose_tighter_bound(_Bound(first.high, first.high_open), _Bound(second.high, second.high_open), -1)
    return Interval(low.value, high.value, low.is_open, high.is_open)


def is_empty_interval(interval: Interval) -> bool:
    """Whether no number is in the interval."""
    if interval.low is None or interval.high is None:
        return False
    return interval.low > interval.high or (interval.low == interval.high and (interval.low_open or interval.high_open))


class _Bound(NamedTuple):
    """A bound of an interval; ``None``: unbounded. An open bound is not itself in the interval."""

    value: Number | None
    is_open: bool


def _choose_tighter_bound(first: _Bound, second: _Bound, sign: int) -> _Bound:
    """Return the bound that excludes more: the greater lower bound (``sign`` 1) or the smaller upper bound (-1)."""
    if first.value is None or second.value is None:
        return first if second.value is None else second
    if first.value == second.value:
        return _Bound(first.value, first.is_open or second.is_open)
    return first if sign * first.value > sign * second.value else second
