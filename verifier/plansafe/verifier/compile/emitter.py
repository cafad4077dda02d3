"""Generated Python for conditions and numeric expressions; joins are in :mod:`plansafe.verifier.compile.joins`.

A generated function raises ``KeyError`` for an undefined fluent, and ``ZeroDivisionError``; callers then evaluate in
three values by :mod:`plansafe.verifier.model.evaluation`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.compile.code_builder import CodeBuilder, QuantifierView, ViewTrigger
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
"""Maximum number of nested quantifiers of a view: Python limits the depth of calls."""
_MAX_INLINE_PARTS = 500
"""Maximum number of parts of a junction in one expression: Python limits its length."""
_PARTS_PER_FUNCTION = 400
ViewFunction = Callable[..., None]
"""``find`` of a :class:`ViewTrigger`."""
MAX_CACHED_CHANGES = 100_000
"""The most changes whose views, or whose monitors, are cached."""
_TRIGGER_PARAMETERS = "S, F, I, code, out"
_PYTHON = {"=": "==", "<": "<", ">": ">", "<=": "<=", ">=": ">="}


class _TypedDisjunct(NamedTuple):
    """A disjunct of the condition of a match, and the domains of its variables by slot."""

    disjunct: Disjunct
    domains: dict[int, int]


class _DisjunctRead(NamedTuple):
    """A fact or view that a disjunct reads: its index in a log of changes, its arguments, and the literal."""

    change_index: int
    arguments: tuple[int, ...]
    literal: FormulaLiteral


class Emitter(CodeBuilder):
    """Adds the code of conditions and numeric expressions to the functions of a task."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._views_by_identity: dict[int, tuple[Quantified, QuantifierView | None]] = {}
        self._view_by_search: dict[str, QuantifierView] = {}
        """The views by the functions that search for a match."""
        self._is_inside_view = False
        self._registered_views = 0
        """The number of views whose triggers are in ``_view_triggers``."""
        self._view_triggers: dict[int, list[tuple[int, ViewTrigger]]] = {}
        """By index in a log of changes, the views that read it, by number, with their triggers."""
        self._view_functions: dict[tuple[int, int], tuple[tuple[int, ViewFunction], ...]] = {}

    def compile_condition(self, formula: Formula, parameters: Sequence[int]) -> Callable[..., bool]:
        """Compile ``f(S, F, *objects) -> bool`` for a formula whose free slots are among ``parameters``."""
        name = self.make_fresh_name()
        self.define(name, self.format_state_parameters(parameters), [f"return {self.format_condition(formula)}"])
        return self.compile_function(name)

    def compile_bits(self, formulas: Sequence[tuple[int, Formula]], parameters: Sequence[int]) -> Callable[..., int]:
        """Compile ``f(S, F, *objects) -> int``: the numbers of the formulas that hold, as bits."""
        name = self.make_fresh_name()
        terms = [f"({1 << number} if {self.format_condition(formula)} else 0)" for number, formula in formulas]
        self.define(name, self.format_state_parameters(parameters), [f"return {' + '.join(terms) or 0}"])
        return self.compile_function(name)

    def define_guarded_condition(self, formula: Formula) -> str:
        """Define a function that evaluates a formula in three values if a number is undefined; return its name."""
        slots = sorted(self.free_slots(formula))
        with self.set_for_monitors(False):
            fast = self.compile_condition(formula, slots)
        name = self.make_fresh_name()

        def is_true(facts: list[set[int]], fluents: list[dict[int, Number]], *objects: int) -> bool:
            try:
                return fast(facts, fluents, *objects)
            except (KeyError, ZeroDivisionError):
                evaluator = Evaluator(self.task, facts, fluents)
                return evaluator.holds(formula, dict(zip(slots, objects, strict=True))) is True

        self.namespace[name] = is_true
        return name

    def format_condition(self, formula: Formula, depth: int = 0) -> str:
        """Return a condition as a Python expression over ``S``, ``F`` and ``x<slot>``.

        Deep parts become functions of their own.
        """
        if depth > MAX_DEPTH:
            return self._outline_condition(formula, [f"return {self.format_condition(formula)}"])
        match formula:
            case Atom():
                return f"({self.format_fact_code(formula.arguments)} in S[{formula.predicate}])"
            case Not():
                if isinstance(formula.body, Atom):
                    return f"({self.format_fact_code(formula.body.arguments)} not in S[{formula.body.predicate}])"
                return f"(not {self.format_condition(formula.body, depth + 1)})"
            case And() | Or():
                if not formula.parts:
                    return str(isinstance(formula, And))
                word = " and " if isinstance(formula, And) else " or "
                parts = [self.format_condition(part, depth + 1) for part in formula.parts]
                if len(parts) > _MAX_INLINE_PARTS:
                    starts = range(0, len(parts), _PARTS_PER_FUNCTION)
                    chunks = [parts[start : start + _PARTS_PER_FUNCTION] for start in starts]
                    parts = [self._outline_condition(formula, ["return " + word.join(chunk)]) for chunk in chunks]
                return "(" + word.join(parts) + ")"
            case Equal():
                return f"({self.format_argument(formula.left)} == {self.format_argument(formula.right)})"
            case Compare():
                left, right = self.format_number(formula.left), self.format_number(formula.right)
                return f"({left} {_PYTHON[formula.operator]} {right})"
            case Truth():
                return str(formula.value)
            case Quantified():
                return self._format_quantifier(formula, depth)
            case Temporal():
                raise AssertionError("not a state formula")
            case _:
                assert_never(formula)

    def _outline_condition(self, formula: Formula, body: list[str]) -> str:
        """Return a call of a new function with this body, whose parameters are the free variables of ``formula``."""
        parameters = self.format_state_parameters(sorted(self.free_slots(formula)))
        return f"{self.define_once(parameters, body)}({parameters})"

    def _format_quantifier(self, quantified: Quantified, depth: int) -> str:
        """Return ``exists`` as a join that ends at the first match, ``forall`` as the absence of a counterexample."""
        formula = self._push_inwards(quantified)
        if not isinstance(formula, Quantified):
            return self.format_condition(formula, depth + 1)
        view = self.find_view(formula)
        if view is not None:
            code = self.format_fact_code([-1 - slot for slot in view.slots])
            call = f"{view.search_name}({self.state_parameters}, {code})"
        else:
            lines = self._emit_search(self._find_match_disjuncts(formula), self.free_slots(formula))
            call = self._outline_condition(formula, [*lines, "return False"])
        return f"(not {call})" if formula.universal else call

    def _push_inwards(self, quantified: Quantified) -> Formula:
        """Return a formula with its quantifiers moved as far inside as possible, cached."""
        pushed = self._pushed_quantifiers.get(id(quantified))
        if pushed is None:
            formula = push_quantifiers_inwards(quantified, self.task.domains)
            pushed = self._pushed_quantifiers[id(quantified)] = quantified, formula
            parts = [part for part in subformulas(formula) if isinstance(part, Quantified)]
            self._pushed_quantifiers.update({id(part): (part, part) for part in parts})
        return pushed[1]

    @staticmethod
    def _find_match_disjuncts(formula: Quantified) -> list[_TypedDisjunct]:
        """Split the condition of a match of a quantifier into disjuncts."""
        return [
            _TypedDisjunct(disjunct, {v.slot: v.domain for v in (*formula.variables, *disjunct.variables)})
            for disjunct in convert_to_dnf_or_literal(formula.body, not formula.universal)
        ]

    def _emit_search(self, disjuncts: list[_TypedDisjunct], bound: frozenset[int]) -> list[str]:
        """Return lines that return ``True`` if some disjunct has a match."""
        with self.use_private_indexes():  # the indexes of conditions are made at their first use
            lines = [
                Join(self, domains, self.state_parameters, indexed=self.is_for_monitors).emit(
                    disjunct.literals, bound, [], ["return True"]
                )
                for disjunct, domains in disjuncts
            ]
        return [line for disjunct_lines in lines for line in disjunct_lines]

    # -- views --------------------------------------------------------------------------------------------------------

    def find_view(self, formula: Formula) -> QuantifierView | None:
        """Return the view of a quantifier, if monitors store its matches.

        They do for nested quantifiers, unless a change may affect bindings that no fact restricts.
        """
        if not self.is_for_monitors or not isinstance(formula, Quantified):
            return None
        if id(formula) not in self._views_by_identity:
            nesting_depth = _count_nested_quantifiers(formula)
            has_view = (
                (self._is_inside_view or nesting_depth > 1)
                and nesting_depth <= MAX_VIEW_DEPTH
                and not has_comparison(formula)
            )
            self._views_by_identity[id(formula)] = formula, self._define_view(formula) if has_view else None
        return self._views_by_identity[id(formula)][1]

    def find_view_functions(self, index: int, code: int) -> tuple[tuple[int, ViewFunction], ...]:
        """Return the views that may read a change, by number, each with its function ``find``.

        ``index``: the index of the change in a log. The answers are cached.
        """
        if self._registered_views < len(self.views):
            self._register_views()
        functions = self._view_functions.get((index, code))
        if functions is None:
            if len(self._view_functions) >= MAX_CACHED_CHANGES:
                self._view_functions.clear()
            functions = self._view_functions[index, code] = tuple(
                [
                    (number, self.compile_function(trigger.find_name))
                    for number, trigger in self._view_triggers.get(index, ())
                    if self.compile_function(trigger.match_name)(code)
                ]
            )
        return functions

    def _register_views(self) -> None:
        """Add the triggers of new views."""
        self._view_functions.clear()
        for number in range(self._registered_views, len(self.views)):
            for trigger in self.views[number].triggers:
                self._view_triggers.setdefault(trigger.change_index, []).append((number, trigger))
        self._registered_views = len(self.views)

    def _define_view(self, formula: Quantified) -> QuantifierView | None:
        """Define the view of a quantifier; ``None`` if a change may affect bindings that no fact restricts."""
        disjuncts, slots = self._find_match_disjuncts(formula), tuple(sorted(self.free_slots(formula)))
        was_inside_view, self._is_inside_view = self._is_inside_view, True
        lines = self._emit_search(disjuncts, frozenset(slots))
        reads = [(typed, read) for typed in disjuncts for read in self._list_reads(typed.disjunct)]
        self._is_inside_view = was_inside_view
        assignments = [f"x{slot} = {self.format_digit(len(slots), place, 'code')}" for place, slot in enumerate(slots)]
        search = self.define_once("S, F, I, code", [*assignments, *lines, "return False"])
        if search in self._view_by_search:
            return self._view_by_search[search]
        triggers: list[ViewTrigger] = []
        for typed, read in reads:
            trigger = self._define_view_trigger(slots, typed, read)
            if trigger is None:
                return None
            triggers.append(trigger)
        table = self.add_table(None)
        search_name = self.define_once(
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
        view = QuantifierView(index, table, slots, search_name, read_predicates, tuple(dict.fromkeys(triggers)))
        self.views.append(view)
        self._view_by_search[search] = view
        return view

    def _define_view_trigger(
        self, slots: tuple[int, ...], typed: _TypedDisjunct, read: _DisjunctRead
    ) -> ViewTrigger | None:
        """Define the trigger for the changes of a read; ``None`` if no fact restricts the bindings."""
        disjunct, domains = typed
        lines, bound = emit_argument_match(self, read.change_index, read.arguments, {**dict.fromkeys(slots), **domains})
        atoms = [part for part in disjunct.literals if part.positive and isinstance(part.formula, Atom)]
        guards = [part for part in atoms if part is not read.literal]
        if not find_bound_slots(disjunct._replace(literals=tuple(guards)), bound).issuperset(slots):
            return None
        matcher = self.define_matcher(lines)
        code = self.format_fact_code([-1 - slot for slot in slots])
        with self.use_private_indexes():
            join = Join(self, domains, _TRIGGER_PARAMETERS, indexed=True)
            lines += join.emit(guards, bound, slots, [f"out.add({code})"])
        return ViewTrigger(read.change_index, self.define_once(_TRIGGER_PARAMETERS, lines), matcher)

    def _list_reads(self, disjunct: Disjunct) -> list[_DisjunctRead]:
        """Return the facts and views that a disjunct without numbers reads."""
        reads: dict[tuple[int, tuple[int, ...]], FormulaLiteral] = {}
        for literal in disjunct.literals:
            view = self.find_view(literal.formula)
            if view is not None:
                reads[view.change_index, tuple([-1 - slot for slot in view.slots])] = literal
            else:
                for atom in find_atoms(literal.formula):
                    reads.setdefault((atom.predicate, atom.arguments), literal)
        return [_DisjunctRead(index, arguments, literal) for (index, arguments), literal in reads.items()]

    def format_number(self, expression: Expression, depth: int = 0) -> str:
        """Return a numeric expression as Python; deep operands become functions of their own."""
        if depth > MAX_DEPTH:
            return self._outline_number(expression)
        match expression:
            case model.Constant():
                return self.format_constant(expression.value)
            case model.Fluent():
                return f"F[{expression.function}][{self.format_fact_code(expression.arguments)}]"
            case model.Arithmetic():
                operands = [self.format_number(operand, depth + 1) for operand in expression.operands]
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

    def _outline_number(self, expression: Expression) -> str:
        """Return a call of a new function with the value of an expression."""
        arguments = [argument for fluent in expression_fluents(expression) for argument in fluent.arguments]
        parameters = self.format_state_parameters(sorted({-1 - argument for argument in arguments if argument < 0}))
        text = self.format_number(expression)
        if "duration" in text:
            parameters += ", duration"
        return f"{self.define_once(parameters, [f'return {text}'])}({parameters})"


def _count_nested_quantifiers(formula: Formula) -> int:
    """Return the largest number of quantifiers that are inside each other."""
    deepest = 0
    stack: list[tuple[Formula, int]] = [(formula, 0)]
    while stack:
        part, depth = stack.pop()
        depth += isinstance(part, Quantified)
        deepest = max(deepest, depth)
        stack += [(child, depth) for child in children(part)]
    return deepest
