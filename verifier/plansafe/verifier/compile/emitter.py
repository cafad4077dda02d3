"""Generated Python for conditions and numeric expressions; joins are in :mod:`plansafe.verifier.compile.joins`.

A generated function raises ``KeyError`` for an undefined fluent, and ``ZeroDivisionError``; callers then evaluate in
three values by :mod:`plansafe.verifier.model.evaluation`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from plansafe.verifier.compile.code_builder import CodeBuilder, state_parameters_text
from plansafe.verifier.compile.joins import Join
from plansafe.verifier.compile.normal_forms import convert_to_dnf_or_literal, push_quantifiers_inwards
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Compare,
    Equal,
    Expression,
    Formula,
    Not,
    Number,
    Or,
    Quantified,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import expression_fluents, subformulas

MAX_DEPTH = 20
_PYTHON = {"=": "==", "<": "<", ">": ">", "<=": "<=", ">=": ">="}


class Emitter(CodeBuilder):
    """Adds the code of conditions and numeric expressions to the functions of a task."""

    def compile_condition(self, formula: Formula, parameters: Sequence[int]) -> Callable[..., bool]:
        """``f(S, F, *objects) -> bool`` for a formula whose free slots are among ``parameters``."""
        name = self.fresh_name()
        self.define(name, state_parameters_text(parameters), [f"return {self.condition_text(formula)}"])
        return self.compile_function(name)

    def compile_bits(self, formulas: Sequence[tuple[int, Formula]], parameters: Sequence[int]) -> Callable[..., int]:
        """``f(S, F, *objects) -> int``: the numbers of the formulas that hold, as bits."""
        name = self.fresh_name()
        terms = [f"({1 << number} if {self.condition_text(formula)} else 0)" for number, formula in formulas]
        self.define(name, state_parameters_text(parameters), [f"return {' + '.join(terms) or 0}"])
        return self.compile_function(name)

    def define_guarded(self, formula: Formula) -> str:
        """The name of a function that evaluates a formula in three values if numbers in it are undefined."""
        slots = sorted(self.free_slots(formula))
        fast = self.compile_condition(formula, slots)
        name = self.fresh_name()

        def is_true(facts: list[set[int]], fluents: list[dict[int, Number]], *objects: int) -> bool:
            try:
                return fast(facts, fluents, *objects)
            except (KeyError, ZeroDivisionError):
                evaluator = Evaluator(self.task, facts, fluents)
                return evaluator.holds(formula, dict(zip(slots, objects, strict=True))) is True

        self.namespace[name] = is_true
        return name

    def condition_text(self, formula: Formula, depth: int = 0) -> str:
        """A condition as a Python expression over ``S``, ``F`` and ``x<slot>``.

        Deep parts become functions of their own.
        """
        if depth > MAX_DEPTH:
            return self._call_outlined(formula, [f"return {self.condition_text(formula)}"])
        match formula:
            case Atom():
                return f"({self.fact_code_text(formula.arguments)} in S[{formula.predicate}])"
            case Not():
                if isinstance(formula.body, Atom):
                    return f"({self.fact_code_text(formula.body.arguments)} not in S[{formula.body.predicate}])"
                return f"(not {self.condition_text(formula.body, depth + 1)})"
            case And() | Or():
                if not formula.parts:
                    return str(isinstance(formula, And))
                word = " and " if isinstance(formula, And) else " or "
                parts = [self.condition_text(part, depth + 1) for part in formula.parts]
                if len(parts) > 500:
                    chunks = [parts[start : start + 400] for start in range(0, len(parts), 400)]
                    parts = [self._call_outlined(formula, ["return " + word.join(chunk)]) for chunk in chunks]
                return "(" + word.join(parts) + ")"
            case Equal():
                return f"({self.argument_text(formula.left)} == {self.argument_text(formula.right)})"
            case Compare():
                return (
                    f"({self.number_text(formula.left)} {_PYTHON[formula.operator]} {self.number_text(formula.right)})"
                )
            case Truth():
                return str(formula.value)
            case Quantified():
                return self._quantifier_text(formula, depth)
            case Temporal():
                raise AssertionError("not a state formula")
            case _:
                assert_never(formula)

    def _call_outlined(self, formula: Formula, body: list[str]) -> str:
        """A call of a function with this body, whose parameters are the free variables of ``formula``."""
        parameters = state_parameters_text(sorted(self.free_slots(formula)))
        return f"{self.define_once(parameters, body)}({parameters})"

    def _quantifier_text(self, quantified: Quantified, depth: int) -> str:
        """``exists`` as a join that returns at the first match; ``forall`` as no counterexample."""
        formula: Formula = quantified
        if id(quantified) not in self._pushed_quantifiers:
            formula = push_quantifiers_inwards(quantified, self.task.domains)
            pushed = [part for part in subformulas(formula) if isinstance(part, Quantified)]
            self._pushed_quantifiers.update({id(part): part for part in pushed})
        if not isinstance(formula, Quantified):
            return self.condition_text(formula, depth + 1)
        free_slots = self.free_slots(formula)
        body: list[str] = []
        for disjunct in convert_to_dnf_or_literal(formula.body, not formula.universal):
            domains = {v.slot: v.domain for v in (*formula.variables, *disjunct.variables)}
            join = Join(self, domains, "S, F", indexed=False)
            body += join.emit(disjunct.literals, free_slots, [], ["return True"])
        call = self._call_outlined(formula, [*body, "return False"])
        return f"(not {call})" if formula.universal else call

    def number_text(self, expression: Expression, depth: int = 0) -> str:
        """A numeric expression; deep operands become functions of their own."""
        if depth > MAX_DEPTH:
            return self._call_outlined_number(expression)
        match expression:
            case model.Constant():
                return self.constant_text(expression.value)
            case model.Fluent():
                return f"F[{expression.function}][{self.fact_code_text(expression.arguments)}]"
            case model.Arithmetic():
                operands = [self.number_text(operand, depth + 1) for operand in expression.operands]
                if expression.operator == "/":
                    text = operands[0]
                    for operand in operands[1:]:
                        text = f"divide({text}, {operand})"
                    return text
                if len(operands) == 1:
                    return f"(-{operands[0]})"
                return "(" + f" {expression.operator} ".join(operands) + ")"
            case model.Duration():
                return "duration"
            case model.TotalTime() | model.IsViolated():
                raise AssertionError("only metrics read this")
            case _:
                assert_never(expression)

    def _call_outlined_number(self, expression: Expression) -> str:
        arguments = [argument for fluent in expression_fluents(expression) for argument in fluent.arguments]
        parameters = state_parameters_text(sorted({-1 - argument for argument in arguments if argument < 0}))
        text = self.number_text(expression)
        if "duration" in text:
            parameters += ", duration"
        return f"{self.define_once(parameters, [f'return {text}'])}({parameters})"
