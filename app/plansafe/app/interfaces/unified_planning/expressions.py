"""Expressions of unified-planning as PDDL text."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from unified_planning.model import OperatorKind
from unified_planning.model.walkers import DagWalker

from plansafe.app.interfaces.unified_planning.names import TaskNames, choose_variable
from plansafe.verifier.planning.pddl_names import Unprintable, decimal_text

_CONNECTIVES = {OperatorKind.AND: "and", OperatorKind.OR: "or", OperatorKind.NOT: "not", OperatorKind.IMPLIES: "imply"}
_ARITHMETIC = {OperatorKind.PLUS: "+", OperatorKind.TIMES: "*", OperatorKind.MINUS: "-", OperatorKind.DIV: "/"}
_COMPARISONS = {OperatorKind.LE: "<=", OperatorKind.LT: "<", OperatorKind.EQUALS: "="}
_TRAJECTORY_OPERATORS = {
    OperatorKind.ALWAYS: "always",
    OperatorKind.SOMETIME: "sometime",
    OperatorKind.SOMETIME_BEFORE: "sometime-before",
    OperatorKind.SOMETIME_AFTER: "sometime-after",
    OperatorKind.AT_MOST_ONCE: "at-most-once",
}


class Term(NamedTuple):
    """The text of a term, and the variables in it that stand for values of fluents of objects.

    A definition is the declaration of such a variable, and the fact that gives it its value.
    """

    text: str
    definitions: tuple[tuple[str, str], ...] = ()


class ExpressionWriter(DagWalker):  # type: ignore[misc] # unified-planning has no types
    """Converts expressions to PDDL.

    ``parameters``: the variables of action parameters, by name. ``used``: the variables that are taken.
    """

    def __init__(
        self, names: TaskNames, parameters: dict[str, str] | None = None, used: set[str] | None = None
    ) -> None:
        DagWalker.__init__(self)
        self.names = names
        self._parameters = parameters or {}
        self._used = used if used is not None else set()
        self.variables: dict[Any, str] = {}
        """The variables of quantifiers, by unified-planning's variable."""
        kinds = OperatorKind
        writers = {
            self._write_connective: _CONNECTIVES,
            self._write_iff: (kinds.IFF,),
            self._write_quantifier: (kinds.EXISTS, kinds.FORALL),
            self._write_fluent: (kinds.FLUENT_EXP,),
            self._write_variable: (kinds.VARIABLE_EXP,),
            self._write_parameter: (kinds.PARAM_EXP,),
            self._write_object: (kinds.OBJECT_EXP,),
            self._write_truth: (kinds.BOOL_CONSTANT,),
            self._write_number: (kinds.INT_CONSTANT, kinds.REAL_CONSTANT),
            self._write_arithmetic: _ARITHMETIC,
            self._write_comparison: _COMPARISONS,
            self._write_trajectory: _TRAJECTORY_OPERATORS,
        }
        self.functions = dict.fromkeys(OperatorKind, self._refuse)
        self.functions |= {kind: writer for writer, group in writers.items() for kind in group}

    def convert(self, expression: Any) -> str:
        """Return the text of a condition, or of a term without values of fluents of objects."""
        term = self.convert_term(expression)
        if term.definitions:
            raise Unprintable(f"not supported: the expression `{expression}` outside a condition or effect")
        return term.text

    def convert_term(self, expression: Any) -> Term:
        """Return the text of an expression with the definitions of its variables."""
        term: Term = self.walk(expression)
        return term

    def declare_variables(self, variables: Iterable[Any]) -> list[str]:
        """Declare the variables of a quantifier or an effect."""
        for variable in variables:
            self._find_variable(variable)
        return [declare(self.names, variable, self.variables[variable]) for variable in variables]

    def choose_variable(self, name: str) -> str:
        """Return a new variable."""
        return choose_variable(name, self._used)

    def _find_variable(self, variable: Any) -> str:
        if variable not in self.variables:
            self.variables[variable] = self.choose_variable(variable.name)
        return self.variables[variable]

    def _write_connective(self, expression: Any, args: list[Term]) -> Term:
        return _make_list(_CONNECTIVES[expression.node_type], args)

    def _write_iff(self, _: Any, args: list[Term]) -> Term:
        left, right = args[0].text, args[1].text
        return Term(f"(and (imply {left} {right}) (imply {right} {left}))")

    def _write_quantifier(self, expression: Any, args: list[Term]) -> Term:
        quantifier = "exists" if expression.is_exists() else "forall"
        declarations = self.declare_variables(expression.variables())
        return Term(f"({quantifier} ({' '.join(declarations)}) {args[0].text})")

    def _write_fluent(self, expression: Any, args: list[Term]) -> Term:
        fluent = expression.fluent()
        if any(not parameter.type.is_user_type() for parameter in fluent.signature):
            raise Unprintable(f"not supported: parameters of fluent `{fluent.name}` that are not objects")
        value = _make_list(self.names.fluents[fluent.name], args)
        if fluent.type.is_bool_type():
            return _close(value)
        if not fluent.type.is_user_type():
            return value
        variable = self.choose_variable(fluent.name)
        fact = _make_list(self.names.fluents[fluent.name], [*args, Term(variable)])
        declaration = f"{variable} - {self.names.types[fluent.type.name]}"
        return Term(variable, (*fact.definitions, (declaration, fact.text)))

    def _write_variable(self, expression: Any, **_: Any) -> Term:
        return Term(self._find_variable(expression.variable()))

    def _write_parameter(self, expression: Any, **_: Any) -> Term:
        return Term(self._parameters[expression.parameter().name])

    def _write_object(self, expression: Any, **_: Any) -> Term:
        return Term(self.names.objects[expression.object().name])

    def _write_truth(self, expression: Any, **_: Any) -> Term:
        return Term("(and)" if expression.is_true() else "(or)")

    def _write_number(self, expression: Any, **_: Any) -> Term:
        return Term(number_text(expression.constant_value()))

    def _write_arithmetic(self, expression: Any, args: list[Term]) -> Term:
        result = args[0]
        for arg in args[1:]:
            result = _make_list(_ARITHMETIC[expression.node_type], [result, arg])
        return result

    def _write_comparison(self, expression: Any, args: list[Term]) -> Term:
        if expression.arg(0).type.is_bool_type():
            return self._write_iff(expression, args)
        return _close(_make_list(_COMPARISONS[expression.node_type], args))

    def _write_trajectory(self, expression: Any, args: list[Term]) -> Term:
        return _make_list(_TRAJECTORY_OPERATORS[expression.node_type], args)

    def _refuse(self, expression: Any, **_: Any) -> Term:
        raise Unprintable(f"not supported: the expression `{expression}`")


def declare(names: TaskNames, variable: Any, text: str) -> str:
    """Return the typed declaration of a parameter or variable."""
    if not variable.type.is_user_type():
        raise Unprintable(f"not supported: `{variable.name}` of type `{variable.type}` (only objects are)")
    return f"{text} - {names.types[variable.type.name]}"


def number_text(value: int | Fraction) -> str:
    """Return a number as exact text: a decimal if there is one, otherwise a quotient."""
    number = Fraction(value)
    try:
        return decimal_text(number)
    except Unprintable:
        return f"(/ {number.numerator} {number.denominator})"


def _make_list(head: str, terms: list[Term]) -> Term:
    definitions = dict.fromkeys([definition for term in terms for definition in term.definitions])
    return Term(f"({' '.join([head, *[term.text for term in terms]])})", tuple(definitions))


def _close(atom: Term) -> Term:
    """Quantify the variables of an atom. Each has exactly one value."""
    if not atom.definitions:
        return atom
    declarations = " ".join([declaration for declaration, _ in atom.definitions])
    facts = " ".join([fact for _, fact in atom.definitions])
    return Term(f"(exists ({declarations}) (and {facts} {atom.text}))")
