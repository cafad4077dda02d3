"""The initial state and the metric of a problem."""

from __future__ import annotations

from functools import cached_property

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node, parse_number
from plansafe.verifier.elaborate import dialects
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Place, did_you_mean, format_token
from plansafe.verifier.elaborate.ground_literals import GroundLiterals
from plansafe.verifier.elaborate.symbols import Scope, Symbols
from plansafe.verifier.elaborate.unknowns import UnknownStatements
from plansafe.verifier.model.nodes import Metric, Number, TimedLiteral, Unknowns

PROBLEM_SECTIONS = frozenset(
    (":domain", ":requirements", ":objects", ":init", ":goal", ":constraints", ":metric", ":length")
)


class InitialStateReader(GroundLiterals):
    """Reads ``:init``: facts, fluents, timed literals, and unknown facts.

    Correct facts take a fast path (about a microsecond each).
    """

    def __init__(self, symbols: Symbols, tops: tuple[list[Node], list[Node]]) -> None:
        super().__init__(symbols)
        self._tops = tops
        self.timed: list[TimedLiteral] = []
        self._timed_at: list[Place] = []
        self.unknowns: Unknowns | None = None
        self._statements = UnknownStatements(self)

    def read(self, node: list[Node]) -> None:
        """Read the section. A fact that is not correct raises an error in the fast path, and is read again."""
        symbols = self.symbols
        predicates, objects = symbols.predicate_index, symbols.object_index
        declared, sets = symbols.predicates, symbols.types.domain_sets
        size = max(len(symbols.objects), 1)
        derived, facts = symbols.derived, self.facts
        for child in range(1, len(node)):
            fact = node[child]
            try:
                if isinstance(fact, str):
                    raise KeyError
                index = predicates[fact[0]]  # type: ignore[index] # a list here raises a TypeError
                domains = declared[index].domains
                if len(fact) - 1 != len(domains) or index in derived:
                    raise KeyError
                code = 0
                position = 1
                for domain in domains:
                    number = objects[fact[position]]  # type: ignore[index] # a list here raises a TypeError
                    if number not in sets[domain]:
                        raise KeyError
                    code = code * size + number
                    position += 1
            except (KeyError, IndexError, TypeError):
                self._read_element(Place(node, child))
                continue
            facts[index].add(code)
        self._merge_timed_literals()
        for (predicate, code), at in self.denied.items():
            if code in facts[predicate]:
                message, label = "a fact is both asserted and denied", "denied here, asserted elsewhere in `:init`"
                self.context.error(SC.CONTRADICTORY_INIT, message, at, label)
        self.unknowns = self._statements.collect_unknowns(node)

    def _merge_timed_literals(self) -> None:
        """Drop repeated timed literals; report literals of one time that contradict each other."""
        first_literals: dict[tuple[object, ...], tuple[TimedLiteral, Place]] = {}
        for literal, at in zip(self.timed, self._timed_at, strict=True):
            key = (literal.time, literal.fluent, literal.predicate, literal.arguments)
            first, first_at = first_literals.setdefault(key, (literal, at))
            if first.value != literal.value:
                message = f"two timed literals of time {literal.time} contradict each other"
                self.context.error(SC.CONTRADICTORY_INIT, message, at, "contradicts", related=(first_at, "this one"))
        self.timed = [literal for literal, _ in first_literals.values()]

    def _read_element(self, at: Place) -> None:
        """Read one element of ``:init`` that the fast path does not accept."""
        fact = at.subtree
        if not isinstance(fact, list) or not fact or not isinstance(fact[0], str):
            self.context.report_malformed("expected a fact", at, "expected `(predicate object ..)`")
            return
        head = fact[0]
        if head == "=" and len(fact) == 3:
            if not self._is_unread(fact):
                self._read_fluent_value(fact, None)
        elif head == "not" and len(fact) == 2:
            denied = self.read_fact(Place(fact, 1))
            if denied is not None:
                self.denied[denied] = at
        elif head == "at" and len(fact) == 3 and parse_number(fact[1]) is not None and isinstance(fact[2], list):
            self._read_timed_literal(fact)
        elif head == "and":
            help = "list the facts one by one"
            self.context.report_dialect(
                "init-and", "`and` in `:init`", Place(fact, 0), "read as a list of facts", help=help
            )
            self._read_conjunction(fact)
        elif self._statements.is_statement(fact):
            self._statements.read(fact)
        else:
            asserted_fact = self.read_fact(at)
            if asserted_fact is not None:
                self.facts[asserted_fact[0]].add(asserted_fact[1])

    def _is_unread(self, fact: list[Node]) -> bool:
        """Whether this gives a value to an undeclared function that both texts name nowhere else."""
        name = dialects.find_assigned_function(fact)
        if name is None or name in self.symbols.function_index or name not in self._unread_functions:
            return False
        message = f"function `{name}` is not declared"
        help = did_you_mean(name, self.symbols.function_index) or "remove its values, or declare it in `:functions`"
        at = Place(fact[1], 0) if isinstance(fact[1], list) else Place(fact, 1)
        self.context.report_dialect(
            "unread", message, at, "its values are ignored: nothing reads them", help=help, name=name
        )
        return True

    @cached_property
    def _unread_functions(self) -> frozenset[str]:
        return dialects.find_unread_functions(self.symbols, self._tops)

    def _read_conjunction(self, node: list[Node]) -> None:
        """Read the facts of ``(and ..)`` and of conjunctions in it, in order, without recursion."""
        stack = [Place(node, child) for child in range(len(node) - 1, 0, -1)]
        while stack:
            at = stack.pop()
            fact = at.subtree
            if isinstance(fact, list) and fact[:1] == ["and"]:
                stack += [Place(fact, child) for child in range(len(fact) - 1, 0, -1)]
            else:
                self._read_element(at)

    def _read_fluent_value(self, node: list[Node], time: Number | None) -> None:
        """Read ``(= fluent number)``, for the initial state or (with ``time``) as a timed literal."""
        fluent_value = self.read_value(node)
        if fluent_value is None:
            return
        (function, arguments), value = fluent_value
        if time is not None:
            self.timed.append(TimedLiteral(time, function, arguments, value, True))
            self._timed_at.append(Place(node))
            return
        code = self.encode(arguments)
        key = (function, code)
        if key in self.fluent_at and self.fluents[function][code] != value:
            message, related = "a fluent has two initial values", (self.fluent_at[key], "first here")
            self.context.error(SC.CONTRADICTORY_INIT, message, Place(node), "again here", related=related)
        self.fluent_at[key] = Place(node)
        self.fluents[function][code] = value

    def _read_timed_literal(self, node: list[Node]) -> None:
        """Read ``(at time literal)``."""
        time, literal = parse_number(node[1]), node[2]
        assert time is not None
        assert isinstance(literal, list)
        if time < 0:
            self.context.report_malformed("a timed literal before time 0", Place(node, 1), "negative")
            return
        if literal and literal[0] == "=" and len(literal) == 3:
            self._read_fluent_value(literal, time)
            return
        is_negated = len(literal) == 2 and literal[0] == "not"
        fact = self.read_fact(Place(literal, 1) if is_negated else Place(node, 2))
        if fact is not None:
            predicate, code = fact
            arguments = [0] * len(self.symbols.predicates[predicate].types)
            for position in range(len(arguments) - 1, -1, -1):
                code, arguments[position] = divmod(code, max(len(self.symbols.objects), 1))
            self.timed.append(TimedLiteral(time, predicate, tuple(arguments), not is_negated, False))
            self._timed_at.append(Place(node))


def read_metric(symbols: Symbols, node: list[Node], preferences: frozenset[str]) -> Metric | None:
    """Read ``(:metric minimize expression)``; ``preferences`` are the names that ``is-violated`` may use."""
    if len(node) != 3 or node[1] not in ("minimize", "maximize"):
        help = did_you_mean(format_token(node[1]), ("minimize", "maximize")) if len(node) > 1 else None
        message = "expected `(:metric minimize expression)`"
        label = "expected `minimize` or `maximize` and an expression"
        symbols.context.report_malformed(message, Place(node), label, help=help)
        return None
    return Metric(node[1] == "minimize", ConditionReader(symbols, Scope(), metric=preferences).read_expression(node, 2))
