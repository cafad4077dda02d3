"""Problems: the initial state, the goal, the metric."""

from __future__ import annotations

from functools import cached_property

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate import dialects
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Place, did_you_mean, token_text
from plansafe.verifier.elaborate.ground_literals import GroundLiterals
from plansafe.verifier.elaborate.symbols import Scope, Symbols, parse_number
from plansafe.verifier.elaborate.unknowns import UnknownStatements
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import Number

PROBLEM_SECTIONS = frozenset(
    [":domain", ":requirements", ":objects", ":init", ":goal", ":constraints", ":metric", ":length"]
)


class InitialStateReader(GroundLiterals):
    """Reads ``:init``: facts, fluents, timed literals, and what is left open.

    Right facts take a short path (about a microsecond each); everything else is looked at closely.
    """

    def __init__(self, symbols: Symbols, derived: frozenset[int], tops: tuple[list[Node], list[Node]]) -> None:
        super().__init__(symbols, derived)
        self._tops = tops
        self.timed: list[model.TimedLiteral] = []
        self._timed_at: list[Place] = []
        self.unknowns: model.Unknowns | None = None
        self._statements = UnknownStatements(self)

    def read(self, node: list[Node]) -> None:
        """Read the section."""
        symbols = self.symbols
        predicates, objects = symbols.predicate_index, symbols.object_index
        declared, sets = symbols.predicates, symbols.types.domain_sets
        size = max(len(symbols.objects), 1)
        derived, facts = self.derived, self.facts
        for child in range(1, len(node)):
            fact = node[child]
            try:
                if isinstance(fact, str):
                    raise KeyError
                index = predicates[fact[0]]  # type: ignore[index] # a list here raises what is caught below
                domains = declared[index].domains
                if len(fact) - 1 != len(domains) or index in derived:
                    raise KeyError
                code = 0
                position = 1
                for domain in domains:
                    number = objects[fact[position]]  # type: ignore[index] # a list here raises what is caught below
                    if number not in sets[domain]:
                        raise KeyError
                    code = code * size + number
                    position += 1
            except (KeyError, IndexError, TypeError):
                self._closely(fact, Place(node, child))
                continue
            facts[index].add(code)
        self._contradictions()
        for (predicate, code), at in self.denied.items():
            if code in facts[predicate]:
                self.context.error(
                    SC.CONTRADICTORY_INIT,
                    "a fact is both asserted and denied",
                    at,
                    "denied here, asserted elsewhere in `:init`",
                )
        self.unknowns = self._statements.result(node)

    def _contradictions(self) -> None:
        """Timed literals of one time must agree; those that say the same are one."""
        seen: dict[tuple[object, ...], tuple[model.TimedLiteral, Place]] = {}
        for literal, at in zip(self.timed, self._timed_at, strict=True):
            key = (literal.time, literal.fluent, literal.predicate, literal.arguments)
            first, where = seen.setdefault(key, (literal, at))
            if first.value != literal.value:
                message = f"two timed literals of time {literal.time} contradict each other"
                self.context.error(SC.CONTRADICTORY_INIT, message, at, "contradicts", other=(where, "this one"))
        self.timed = [literal for literal, _ in seen.values()]

    def _closely(self, fact: Node, at: Place) -> None:
        context = self.context
        if not isinstance(fact, list) or not fact or not isinstance(fact[0], str):
            context.error(SC.STRUCTURE, "expected a fact", at, "expected `(predicate object ..)`")
            return
        head = fact[0]
        if head == "=" and len(fact) == 3:
            if not self._is_unread(fact):
                self._fluent(fact, None)
        elif head == "not" and len(fact) == 2:
            found = self.atom(fact[1], Place(fact, 1))
            if found is not None:
                self.denied[found] = at
        elif head == "at" and len(fact) == 3 and parse_number(fact[1]) is not None and isinstance(fact[2], list):
            self._timed(fact)
        elif head == "and":
            self._conjunction(fact)
        elif self._statements.is_statement(fact):
            self._statements.read(fact)
        else:
            found = self.atom(fact, at)
            if found is not None:
                self.facts[found[0]].add(found[1])

    def _is_unread(self, fact: list[Node]) -> bool:
        """Whether this gives a value to a function that is not declared, and that nothing else names."""
        name = dialects.valued(fact)
        if name is None or name in self.symbols.function_index or name not in self._unread:
            return False
        message = f"function `{name}` is not declared"
        help = did_you_mean(name, self.symbols.function_index) or "remove its values, or declare it in `:functions`"
        at = Place(fact[1], 0) if isinstance(fact[1], list) else Place(fact, 1)
        self.context.dialect("unread", message, at, "its values are ignored: nothing reads them", help=help, name=name)
        return True

    @cached_property
    def _unread(self) -> frozenset[str]:
        return dialects.unread_functions(self.symbols, self._tops)

    def _conjunction(self, node: list[Node]) -> None:
        """``(and ..)``, also below another: what is in it, one by one."""
        help = "list the facts one by one"
        self.context.dialect("init-and", "`and` in `:init`", Place(node, 0), "read as a list of facts", help=help)
        stack = [Place(node, child) for child in range(len(node) - 1, 0, -1)]
        while stack:
            at = stack.pop()
            assert at.child is not None
            item = at.node[at.child]
            if isinstance(item, list) and item[:1] == ["and"]:
                stack += [Place(item, child) for child in range(len(item) - 1, 0, -1)]
            else:
                self._closely(item, at)

    def _fluent(self, node: list[Node], time: Number | None) -> None:
        found = self.value(node)
        if found is None:
            return
        target, value = found
        if time is not None:
            self.timed.append(model.TimedLiteral(time, target.function, target.arguments, value, True))
            self._timed_at.append(Place(node))
            return
        key = (target.function, self.encode(target.arguments))
        if key in self.fluent_at and self.fluents[key[0]][key[1]] != value:
            self.context.error(
                SC.CONTRADICTORY_INIT,
                "a fluent has two initial values",
                Place(node),
                "again here",
                other=(self.fluent_at[key], "first here"),
            )
        self.fluent_at[key] = Place(node)
        self.fluents[key[0]][key[1]] = value

    def _timed(self, node: list[Node]) -> None:
        time = parse_number(node[1])
        literal = node[2]
        assert time is not None
        assert isinstance(literal, list)
        if time < 0:
            self.context.error(SC.STRUCTURE, "a timed literal before time 0", Place(node, 1), "negative")
            return
        if literal and literal[0] == "=" and len(literal) == 3:
            self._fluent(literal, time)
            return
        value = not (len(literal) == 2 and literal[0] == "not")
        found = self.atom(literal if value else literal[1], Place(node, 2) if value else Place(literal, 1))
        if found is not None:
            arity = len(self.symbols.predicates[found[0]].types)
            code, arguments = found[1], [0] * arity
            for position in range(arity - 1, -1, -1):
                code, arguments[position] = divmod(code, max(len(self.symbols.objects), 1))
            self.timed.append(model.TimedLiteral(time, found[0], tuple(arguments), value, False))
            self._timed_at.append(Place(node))


def read_metric(symbols: Symbols, node: list[Node], preferences: frozenset[str]) -> model.Metric | None:
    """``(:metric minimize expression)``."""
    if len(node) != 3 or node[1] not in ("minimize", "maximize"):
        help = did_you_mean(token_text(node[1]), ("minimize", "maximize")) if len(node) > 1 else None
        symbols.context.error(
            SC.STRUCTURE,
            "expected `(:metric minimize expression)`",
            Place(node),
            "expected `minimize` or `maximize` and an expression",
            help=help,
        )
        return None
    expression = ConditionReader(symbols, Scope(), metric=preferences).expression(node, 2)
    return model.Metric(node[1] == "minimize", expression)
