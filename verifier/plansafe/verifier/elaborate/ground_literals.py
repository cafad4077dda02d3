"""Ground facts and values of fluents in ``:init``: how they are read, and what has been given so far."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.elaborate.symbols import RESERVED, Scope, Symbols, parse_number
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import Number

STATEMENTS = frozenset(("unknown", "oneof"))
"""Heads of statements that may also name a predicate."""


class GroundLiterals:
    """The facts that are given and denied, the values of fluents, and where they stand."""

    def __init__(self, symbols: Symbols, derived: frozenset[int]) -> None:
        self.symbols = symbols
        self.context = symbols.context
        self.derived = derived
        self.facts: list[set[int]] = [set() for _ in symbols.predicates]
        self.fluents: list[dict[int, Number]] = [{} for _ in symbols.functions]
        self.denied: dict[tuple[int, int], Place] = {}
        self.fluent_at: dict[tuple[int, int], Place] = {}
        self.conditions = ConditionReader(symbols, Scope(), operators=RESERVED | STATEMENTS)

    def atom(self, node: Node, at: Place) -> tuple[int, int] | None:
        """The predicate and code of a ground fact; ``None`` after a diagnostic."""
        if (
            not isinstance(node, list)
            or not node
            or not isinstance(node[0], str)
            or node[0] in ("and", "or", "not", "forall", "exists", "imply", "=")
        ):
            self.context.error(SC.STRUCTURE, "expected a fact", at, "expected `(predicate object ..)`")
            return None
        errors = self.context.errors
        formula = self.conditions.formula(node, at)
        if self.context.errors == errors and not (
            isinstance(formula, model.Atom) and node[0] in self.symbols.predicate_index
        ):
            self.context.error(SC.STRUCTURE, "expected a fact", at, "expected `(predicate object ..)`")
        if self.context.errors > errors or not isinstance(formula, model.Atom):
            return None
        if formula.predicate in self.derived:
            self.context.error(
                SC.STRUCTURE, f"derived predicate `{node[0]}` cannot be in `:init`", at, "derived, not given"
            )
            return None
        return formula.predicate, self.encode(formula.arguments)

    def encode(self, arguments: tuple[int, ...]) -> int:
        """The code of a tuple of objects, as of :meth:`model.Task.encode`."""
        code = 0
        for argument in arguments:
            code = code * max(len(self.symbols.objects), 1) + argument
        return code

    def value(self, node: list[Node]) -> tuple[model.Fluent, Number] | None:
        """``(= fluent number)``; ``None`` after a diagnostic."""
        errors = self.context.errors
        target = self.conditions.expression(node, 1)
        value = parse_number(node[2])
        if value is None:
            code = SC.UNSUPPORTED if isinstance(node[2], list) or node[2] in self.symbols.object_index else SC.STRUCTURE
            self.context.error(code, "expected a number", Place(node, 2), "only numbers may be assigned in `:init`")
            return None
        if not isinstance(target, model.Fluent):
            if self.context.errors == errors:
                self.context.error(SC.STRUCTURE, "expected a fluent to give a value to", Place(node, 1), "not a fluent")
            return None
        return None if self.context.errors > errors else (target, value)
