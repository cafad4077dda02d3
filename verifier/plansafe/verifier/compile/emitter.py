"""Generated Python for conditions and numeric expressions; joins are in :mod:`plansafe.verifier.compile.joins`.

A generated function raises ``KeyError`` for an undefined fluent, and ``ZeroDivisionError``; callers then evaluate in
three values by :mod:`plansafe.verifier.model.evaluation`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from plansafe.verifier.compile.code_builder import CodeBuilder, QuantifierView
from plansafe.verifier.compile.joins import Join, emit_argument_match
from plansafe.verifier.compile.normal_forms import (
    Disjunct,
    FormulaLiteral,
    convert_to_dnf_or_literal,
    find_bound_slots,
    push_quantifiers_inwards,
)
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
    Task,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import children, expression_fluents, find_atoms, has_comparison, subformulas

MAX_DEPTH = 20
"""Maximum depth of a condition or number in one compiled function."""
MAX_VIEW_DEPTH = 8
"""The largest number of nested quantifiers of a view: Python limits the depth of calls."""
ViewTrigger = Callable[..., None]
_TRIGGER_CONTEXT = "S, F, I, code, out"
_PYTHON = {"=": "==", "<": "<", ">": ">", "<=": "<=", ">=": ">="}


class Emitter(CodeBuilder):
    """Adds the code of conditions and numeric expressions to the functions of a task."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._views_by_identity: dict[int, tuple[Quantified, QuantifierView | None]] = {}
        self._views_by_search: dict[str, QuantifierView] = {}
        """The views by the functions that search for a match."""
        self._is_inside_view = False
        self.view_searches: list[Callable[..., bool]] = []
        """The functions ``has_match`` of the views, as far as :attr:`view_readers` has compiled them."""
        self._view_readers: dict[int, list[tuple[int, ViewTrigger]]] = {}

    def compile_condition(self, formula: Formula, parameters: Sequence[int]) -> Callable[..., bool]:
        """``f(S, F, *objects) -> bool`` for a formula whose free slots are among ``parameters``."""
        name = self.fresh_name()
        self.define(name, self.state_parameters_text(parameters), [f"return {self.condition_text(formula)}"])
        return self.compile_function(name)

    def compile_bits(self, formulas: Sequence[tuple[int, Formula]], parameters: Sequence[int]) -> Callable[..., int]:
        """``f(S, F, *objects) -> int``: the numbers of the formulas that hold, as bits."""
        name = self.fresh_name()
        terms = [f"({1 << number} if {self.condition_text(formula)} else 0)" for number, formula in formulas]
        self.define(name, self.state_parameters_text(parameters), [f"return {' + '.join(terms) or 0}"])
        return self.compile_function(name)

    def define_guarded(self, formula: Formula) -> str:
        """The name of a function that evaluates a formula in three values if numbers in it are undefined."""
        slots = sorted(self.free_slots(formula))
        with self.monitor_conditions(False):
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
        parameters = self.state_parameters_text(sorted(self.free_slots(formula)))
        return f"{self.define_once(parameters, body)}({parameters})"

    def _quantifier_text(self, quantified: Quantified, depth: int) -> str:
        """``exists`` as a join that returns at the first match; ``forall`` as no counterexample."""
        formula = self._push_inwards(quantified)
        if not isinstance(formula, Quantified):
            return self.condition_text(formula, depth + 1)
        view = self.find_view(formula)
        if view is not None:
            code = self.fact_code_text([-1 - slot for slot in view.slots])
            call = f"{view.has_match}({self.context}, {code})"
        else:
            lines = self._emit_search(self._split(formula), self.free_slots(formula))
            call = self._call_outlined(formula, [*lines, "return False"])
        return f"(not {call})" if formula.universal else call

    def _push_inwards(self, quantified: Quantified) -> Formula:
        pushed = self._pushed_quantifiers.get(id(quantified))
        if pushed is None:
            formula = push_quantifiers_inwards(quantified, self.task.domains)
            pushed = self._pushed_quantifiers[id(quantified)] = quantified, formula
            parts = [part for part in subformulas(formula) if isinstance(part, Quantified)]
            self._pushed_quantifiers.update({id(part): (part, part) for part in parts})
        return pushed[1]

    @staticmethod
    def _split(formula: Quantified) -> list[tuple[Disjunct, dict[int, int]]]:
        """The disjuncts of the matches of a quantifier, with the domains of their variables."""
        return [
            (disjunct, {v.slot: v.domain for v in (*formula.variables, *disjunct.variables)})
            for disjunct in convert_to_dnf_or_literal(formula.body, not formula.universal)
        ]

    def _emit_search(self, disjuncts: list[tuple[Disjunct, dict[int, int]]], bound: frozenset[int]) -> list[str]:
        """Lines that return True if some disjunct has a match."""
        with self.private_indexes():  # the indexes of conditions are made at their first use
            lines = [
                Join(self, domains, self.context, indexed=self.for_monitors).emit(
                    disjunct.literals, bound, [], ["return True"]
                )
                for disjunct, domains in disjuncts
            ]
        return [line for disjunct_lines in lines for line in disjunct_lines]

    # -- views --------------------------------------------------------------------------------------------------------

    def find_view(self, formula: Formula) -> QuantifierView | None:
        """The view of a quantifier, if monitors store its matches.

        They do for nested quantifiers, unless a change may affect bindings that no fact restricts.
        """
        if not self.for_monitors or not isinstance(formula, Quantified):
            return None
        if id(formula) not in self._views_by_identity:
            nesting = _count_nested_quantifiers(formula)
            is_view = (
                (self._is_inside_view or nesting > 1) and nesting <= MAX_VIEW_DEPTH and not has_comparison(formula)
            )
            self._views_by_identity[id(formula)] = formula, self._define_view(formula) if is_view else None
        return self._views_by_identity[id(formula)][1]

    @property
    def view_readers(self) -> dict[int, list[tuple[int, ViewTrigger]]]:
        """By index in a log of changes, the numbers of the views that read it, and the functions ``find``."""
        for number in range(len(self.view_searches), len(self.views)):
            view = self.views[number]
            self.view_searches.append(self.compile_function(view.has_match))
            for index, name in view.triggers:
                self._view_readers.setdefault(index, []).append((number, self.compile_function(name)))
        return self._view_readers

    def _define_view(self, formula: Quantified) -> QuantifierView | None:
        disjuncts, slots = self._split(formula), tuple(sorted(self.free_slots(formula)))
        was_inside, self._is_inside_view = self._is_inside_view, True
        lines = self._emit_search(disjuncts, frozenset(slots))
        reads = [(*disjunct, *read) for disjunct in disjuncts for read in self._list_reads(disjunct[0])]
        self._is_inside_view = was_inside
        assignments = [f"x{slot} = {self.digit_text(len(slots), place, 'code')}" for place, slot in enumerate(slots)]
        search = self.define_once("S, F, I, code", [*assignments, *lines, "return False"])
        if search in self._views_by_search:
            return self._views_by_search[search]
        triggers: list[tuple[int, str]] = []
        for disjunct, domains, index, arguments, literal in reads:
            matching, bound = emit_argument_match(self, index, arguments, {**dict.fromkeys(slots), **domains})
            atoms = [part for part in disjunct.literals if part.positive and isinstance(part.formula, Atom)]
            guards = [part for part in atoms if part is not literal]
            if not find_bound_slots(disjunct._replace(literals=tuple(guards)), bound).issuperset(slots):
                return None
            code = self.fact_code_text([-1 - slot for slot in slots])
            with self.private_indexes():
                join = Join(self, domains, _TRIGGER_CONTEXT, indexed=True)
                body = join.emit(guards, bound, slots, [f"out.add({code})"])
            triggers.append((index, self.define_once(_TRIGGER_CONTEXT, [*matching, *body])))
        table = self.number_table(None)
        has_match = self.define_once(
            "S, F, I, code",
            [
                f"table = I[{table}]",
                "value = table.get(code)",
                f"if value is None: value = table[code] = {search}(S, F, I, code)",
                "return value",
            ],
        )
        index = len(self.task.predicates) + len(self.task.functions) + len(self.views)
        read_predicates = frozenset([atom.predicate for atom in find_atoms(formula)])
        view = QuantifierView(index, table, slots, has_match, read_predicates, tuple(dict.fromkeys(triggers)))
        self.views.append(view)
        self._views_by_search[search] = view
        return view

    def _list_reads(self, disjunct: Disjunct) -> list[tuple[int, tuple[int, ...], FormulaLiteral]]:
        """The facts and views that a disjunct without numbers reads: index in a log, arguments, and literal."""
        reads: dict[tuple[int, tuple[int, ...]], FormulaLiteral] = {}
        for literal in disjunct.literals:
            view = self.find_view(literal.formula)
            if view is not None:
                reads[view.change_index, tuple([-1 - slot for slot in view.slots])] = literal
            else:
                for atom in find_atoms(literal.formula):
                    reads.setdefault((atom.predicate, atom.arguments), literal)
        return [(index, arguments, literal) for (index, arguments), literal in reads.items()]

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
        parameters = self.state_parameters_text(sorted({-1 - argument for argument in arguments if argument < 0}))
        text = self.number_text(expression)
        if "duration" in text:
            parameters += ", duration"
        return f"{self.define_once(parameters, [f'return {text}'])}({parameters})"


def _count_nested_quantifiers(formula: Formula) -> int:
    """The largest number of quantifiers that are inside each other."""
    deepest = 0
    stack: list[tuple[Formula, int]] = [(formula, 0)]
    while stack:
        part, depth = stack.pop()
        depth += isinstance(part, Quantified)
        deepest = max(deepest, depth)
        stack += [(child, depth) for child in children(part)]
    return deepest
