"""Ground facts and values of fluents in ``:init``."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node, parse_number
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.elaborate.symbols import RESERVED, Scope, Symbols
from plansafe.verifier.model.nodes import ArgumentTuple, Atom, Fluent, Number

STATEMENTS = frozenset(("unknown", "oneof"))
"""Heads of statements that may also name a predicate."""
_FORMULA_HEADS = frozenset(("and", "or", "not", "forall", "exists", "imply", "="))


class GroundLiterals:
    """The asserted and denied facts and the values of fluents, with their places."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.context = symbols.context
        self.facts: list[set[int]] = [set() for _ in symbols.predicates]
        self.fluents: list[dict[int, Number]] = [{} for _ in symbols.functions]
        self.denied: dict[tuple[int, int], Place] = {}
        self.fluent_at: dict[tuple[int, int], Place] = {}
        self.conditions = ConditionReader(symbols, Scope(), operators=RESERVED | STATEMENTS)

    def read_fact(self, at: Place) -> tuple[int, int] | None:
        """Return the predicate and the code of a ground fact; ``None`` after a diagnostic."""
        context, node = self.context, at.subtree
        if not isinstance(node, list) or not node or not isinstance(node[0], str) or node[0] in _FORMULA_HEADS:
            context.report_malformed("expected a fact", at, "expected `(predicate object ..)`")
            return None
        errors = context.errors
        formula = self.conditions.read_formula(at)
        if context.errors > errors:
            return None
        if not isinstance(formula, Atom) or node[0] not in self.symbols.predicate_index:
            context.report_malformed("expected a fact", at, "expected `(predicate object ..)`")
            return None
        if formula.predicate in self.symbols.derived:
            context.report_malformed(f"derived predicate `{node[0]}` cannot be in `:init`", at, "derived, not given")
            return None
        return formula.predicate, self.encode(formula.arguments)

    def encode(self, arguments: ArgumentTuple) -> int:
        """Return the code of a tuple of objects, as :meth:`Task.encode` does."""
        code = 0
        for argument in arguments:
            code = code * max(len(self.symbols.objects), 1) + argument
        return code

    def read_value(self, node: list[Node]) -> tuple[Fluent, Number] | None:
        """Read ``(= fluent number)``; ``None`` after a diagnostic."""
        context, errors = self.context, self.context.errors
        target, value = self.conditions.read_expression(node, 1), parse_number(node[2])
        if value is None:
            code = SC.UNSUPPORTED if isinstance(node[2], list) or node[2] in self.symbols.object_index else SC.STRUCTURE
            context.error(code, "expected a number", Place(node, 2), "only numbers may be assigned in `:init`")
            return None
        if context.errors > errors:
            return None
        if not isinstance(target, Fluent):
            context.report_malformed("expected a fluent to give a value to", Place(node, 1), "not a fluent")
            return None
        return target, value
