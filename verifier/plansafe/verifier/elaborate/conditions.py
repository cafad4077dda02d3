"""Conditions and temporal formulas: from nodes to the model."""

from __future__ import annotations

from typing import Literal, TypeAlias

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node, parse_number
from plansafe.verifier.elaborate.context import Place, did_you_mean, format_token, is_name, is_object_name
from plansafe.verifier.elaborate.symbols import (
    ACTION_ATOMS,
    COMPARISONS,
    OPERATORS,
    PDDL3,
    RESERVED,
    Scope,
    Symbols,
    count_operands,
    is_at_end,
    is_temporal_or_action,
)
from plansafe.verifier.elaborate.terms import TermReader
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    FALSE,
    TRUE,
    And,
    Atom,
    Compare,
    Formula,
    Not,
    Operator,
    Or,
    Quantified,
    Temporal,
    Variable,
)

_SYNONYMS = {
    "eventually": "write `sometime`",
    "finally": "write `sometime`",
    "globally": "write `always`",
    "implies": "write `imply`",
    "before": "write `sometime-before`",
    "previously": "write `yesterday`",
}
"""The help for each operator that other languages have."""
MAX_QUANTIFIERS = 500
"""Maximum nesting of quantifiers."""
MAX_FLATTENED = 64
"""Maximum number of operands of a nested ``and`` or ``or`` that joins the outer one.

Longer ones stay nested, because flattening every level of a deep formula would take quadratic time.
"""


AllowedOperators: TypeAlias = Literal["none", "constraints", "rules"]
"""The temporal operators that a condition may have: none, the operators of PDDL3, or all."""


class ConditionReader(TermReader):
    """Elaborates conditions in one scope.

    ``metric``: the preferences that a metric may name; ``None`` outside a metric. ``operators``: the operators that are
    suggested for an unknown predicate.
    """

    def __init__(
        self,
        symbols: Symbols,
        scope: Scope,
        temporal: AllowedOperators = "none",
        metric: frozenset[str] | None = None,
        operators: frozenset[str] = RESERVED,
    ) -> None:
        super().__init__(symbols, scope, metric)
        self.temporal: AllowedOperators = temporal
        self.operators = operators
        self.preferences: list[model.Preference] | None = None
        """The preferences that were read; ``None`` where no preference is allowed."""
        self._outer_variables: tuple[Variable, ...] = ()
        self._quantifier_depth = 0

    # -- formulas -----------------------------------------------------------------------------------------------------

    def read_formula(self, at: Place) -> Formula:
        """Read a condition; an arbitrary formula after a diagnostic, because the context counts the errors."""
        node = at.subtree
        if isinstance(node, str):
            help = f"write `({node})`" if node in self.symbols.predicate_index else None
            message = f"expected a condition, found `{node}`"
            self.context.report_malformed(message, at, "expected a condition in parentheses", help=help)
            return TRUE
        if not node:
            return TRUE
        head = node[0]
        if not isinstance(head, str):
            message = "expected a condition, found a list of lists"
            self.context.report_malformed(message, Place(node), "expected a predicate or an operator first")
            return TRUE
        index = self.symbols.predicate_index.get(head)
        if index is not None and not (self.temporal != "none" and is_temporal_or_action(node)):
            arguments = self.read_arguments(node, self.symbols.predicates[index], "predicate")
            return TRUE if arguments is None else Atom(index, arguments)
        if head == "and":
            return self._read_junction(node, True)
        if head == "forall":
            return self._read_quantified(node, True)
        if head == "preference":
            return self._read_preference(node)
        outer_preferences, self.preferences = self.preferences, None
        formula = self._read_operator(node, head)
        self.preferences = outer_preferences
        return formula

    def read_without_preferences(self, at: Place) -> Formula:
        """Read a formula in which no preference is allowed."""
        outer_preferences, self.preferences = self.preferences, None
        formula = self.read_formula(at)
        self.preferences = outer_preferences
        return formula

    def _read_junction(self, node: list[Node], conjunction: bool) -> Formula:
        """Read ``and`` (``conjunction``) or ``or``, with nested ones of the same operator flattened."""
        parts: list[Formula] = []
        ground_literal = self.symbols.read_ground_literal
        for child in range(1, len(node)):
            part = ground_literal(node[child]) or self.read_formula(Place(node, child))
            if part is TRUE and conjunction:
                continue  # `()`, the same as `(and)`
            if isinstance(part, And if conjunction else Or) and len(part.parts) <= MAX_FLATTENED:
                parts += part.parts
            else:
                parts.append(part)
        if len(parts) == 1:
            return parts[0]
        return And(tuple(parts)) if conjunction else Or(tuple(parts))

    def _read_operator(self, node: list[Node], head: str) -> Formula:
        """Read a formula whose operator allows no preference in its operands."""
        if head == "or":
            return self._read_junction(node, False)
        if head == "not":
            if not self._check_operands(node, 1):
                return TRUE
            return _negate(self.read_formula(Place(node, 1)))
        if head == "imply":
            if not self._check_operands(node, 2):
                return TRUE
            premise, conclusion = self.read_formula(Place(node, 1)), self.read_formula(Place(node, 2))
            return Or((_negate(premise), conclusion))
        if head == "exists":
            return self._read_quantified(node, False)
        if head in COMPARISONS:
            return self._read_comparison(node, head)
        temporal = self._read_temporal_formula(node, head) if self.temporal != "none" else None
        return self._report_unknown_operator(node, head) if temporal is None else temporal

    def _report_unknown_operator(self, node: list[Node], head: str) -> Formula:
        """Report an operator that is unknown or not allowed here; return an arbitrary formula."""
        context, at = self.context, Place(node, 0)
        second = node[1] if len(node) > 1 else None
        allowed = None
        if head in OPERATORS or head in ACTION_ATOMS or (head == "at" and second == "end"):
            allowed = "in a `:constraints` section or a safety rule" if self.temporal == "none" else "in a safety rule"
        elif (head == "at" and second == "start") or head == "over":
            allowed = "in a durative action's `:condition` and `:effect`"
        elif head in ("unknown", "oneof"):
            allowed = "in `:init`" if head == "unknown" else "in `:init` and in effects"
        if allowed is not None:
            context.error(SC.MISPLACED_OPERATOR, f"`{head}` is not allowed here", at, f"allowed {allowed}")
        elif not is_name(head):
            context.report_malformed(f"expected a predicate or an operator, found `{head}`", at, "not a name")
        else:
            help = (
                _SYNONYMS.get(head)
                or did_you_mean(head, self.symbols.predicate_index)
                or did_you_mean(head, self.operators)
                or "declare it in `:predicates`"
            )
            context.error(SC.UNKNOWN_PREDICATE, f"unknown predicate `{head}`", at, "not declared", help=help)
        return TRUE

    def _check_operands(self, node: list[Node], formula_count: int, bound_count: int = 0) -> bool:
        """Whether an operator has this number of formulas and, before them, of bounds; if not, report it."""
        operand_count = len(node) - 1
        if operand_count == formula_count + bound_count:
            return True
        takes = _format_count(formula_count, "formula")
        if bound_count:
            takes = f"{_format_count(bound_count, 'number')} and {takes}"
        message = f"`{node[0]}` takes {takes}, not {_format_count(operand_count, 'operand')}"
        self.context.report_malformed(message, Place(node), f"expected {takes}")
        return False

    def _read_quantified(self, node: list[Node], universal: bool) -> Formula:
        """Read ``forall`` (``universal``) or ``exists``."""
        if len(node) != 3:
            message = f"`{node[0]}` takes typed variables and one formula"
            self.context.report_malformed(message, Place(node), "expected `(?x - type ..)` and a formula")
            return TRUE
        if self._quantifier_depth >= MAX_QUANTIFIERS:
            message = f"quantifiers nested deeper than {MAX_QUANTIFIERS}"
            self.context.error(SC.UNSUPPORTED, message, Place(node, 0), "too deep")
            return TRUE
        mark, outer_variables = self.scope.mark(), self._outer_variables
        variables = tuple(self.bind_variables(Place(node, 1)))
        self._outer_variables = (*outer_variables, *variables)
        self._quantifier_depth += 1
        body = self.read_formula(Place(node, 2))
        self._quantifier_depth -= 1
        self.scope.restore(mark)
        self._outer_variables = outer_variables
        return Quantified(universal, variables, body) if variables else body

    def _read_comparison(self, node: list[Node], operator: str) -> Formula:
        if len(node) != 3:
            message = f"`{operator}` compares two things, not {len(node) - 1}"
            self.context.report_malformed(message, Place(node), "expected two operands")
            return TRUE
        if operator == "=" and self.is_term(node[1]) and self.is_term(node[2]):
            left, right = self.read_term(node, 1), self.read_term(node, 2)
            if left is None or right is None:
                return TRUE
            return model.Equal(left.argument, right.argument)
        return Compare(operator, self.read_expression(node, 1), self.read_expression(node, 2))

    def _read_preference(self, node: list[Node]) -> Formula:
        """Record the preference ``(preference [name] body)``, which is true as a condition."""
        preferences = self.preferences
        if preferences is None:
            allowed = "allowed at the top of goals, preconditions and constraints, below `and` and `forall` alone"
            message = "`preference` is not allowed here"
            self.context.error(SC.MISPLACED_OPERATOR, message, Place(node, 0), allowed)
            return TRUE
        name = read_preference_name(node)
        if name is None:
            message = "a preference is `(preference [name] formula)`"
            self.context.report_malformed(message, Place(node), "expected a name and a formula")
            return TRUE
        body = self.read_without_preferences(Place(node, len(node) - 1))
        preferences.append(model.Preference(name, self._outer_variables, body))
        return TRUE

    # -- temporal operators -------------------------------------------------------------------------------------------

    def _read_temporal_formula(self, node: list[Node], head: str) -> Formula | None:
        """Read a temporal formula or an action atom; ``None`` if ``head`` is no operator that is allowed here."""
        is_in_rule = self.temporal == "rules"
        if is_at_end(node):
            return Temporal("at-end", (self.read_formula(Place(node, 2)),))
        operator = OPERATORS.get(head)
        if operator is not None and operator != "at-end" and (is_in_rule or operator in PDDL3):
            return self._read_temporal_operator(node, operator)
        if is_in_rule and head in ACTION_ATOMS:
            if not self._check_operands(node, 1):
                return TRUE
            return self.read_action_atom(Place(node, 1), ACTION_ATOMS[head])
        return None

    def _read_temporal_operator(self, node: list[Node], operator: Operator) -> Formula:
        """Read the bounds and operands of a temporal operator."""
        formula_count, bound_count = count_operands(operator)
        if not self._check_operands(node, formula_count, bound_count):
            return TRUE
        bounds = []
        for child in range(1, bound_count + 1):
            number = parse_number(node[child])
            if number is None:
                self.context.report_malformed(
                    f"`{operator}` takes a number here", Place(node, child), "expected a number"
                )
                number = 0
            elif number < 0:
                self.context.report_malformed(f"`{operator}` takes a time", Place(node, child), "negative")
            bounds.append(number)
        outer_operators = self.temporal
        if outer_operators == "constraints":
            self.temporal = "none"
        operands = tuple([self.read_formula(Place(node, child)) for child in range(bound_count + 1, len(node))])
        self.temporal = outer_operators
        return Temporal(operator, operands, tuple(bounds))

    def read_action_atom(self, at: Place, kind: str, implicit: frozenset[str] = frozenset()) -> Formula:
        """Read ``(name t ..)``, with ``_`` for any object, as an atom over the predicate of an action's phase ``kind``.

        The types of variables in ``implicit`` come from such atoms, so they are not checked. ``FALSE`` after a
        diagnostic.
        """
        node, context, symbols = at.subtree, self.context, self.symbols
        if not isinstance(node, list) or not node or not isinstance(node[0], str):
            context.report_malformed("expected an action with its arguments", at, "expected `(name argument ..)`")
            return FALSE
        action, action_at = symbols.actions.get(node[0]), Place(node, 0)
        if action is None:
            message, help = f"unknown action `{node[0]}`", did_you_mean(node[0], symbols.actions)
            context.error(SC.UNKNOWN_ACTION_IN_RULE, message, action_at, "not declared in the domain", help=help)
            return FALSE
        if kind != "start" and action.end is None:
            message = f"action `{action.name}` is not durative"
            context.error(SC.MISPLACED_OPERATOR, message, action_at, "only durative actions have an end")
            return FALSE
        predicate = symbols.get_action_predicate(kind, action)
        types, declared_types = symbols.types, symbols.parameter_types[action.name]
        if len(node) - 1 != len(declared_types):
            name = f"action `{action.name}`"
            context.report_wrong_arity(name, action.node, len(declared_types), Place(node), len(node) - 1)
            return FALSE
        arguments: list[int] = []
        unnamed_variables: list[Variable] = []
        for child, declared_type in enumerate(declared_types, 1):
            if node[child] == "_":
                variable = Variable(len(self.scope.slots), action.parameters[child - 1].domain, "_")
                self.scope.slots.append(variable)
                unnamed_variables.append(variable)
                arguments.append(-1 - variable.slot)
                continue
            term = self.read_term(node, child)
            if term is None:
                return FALSE
            argument, actual_types = term
            fits = (
                types.object_fits(actual_types, declared_type)
                if argument >= 0
                else types.variable_meets(actual_types, declared_type)
            )
            if not (fits or node[child] in implicit):
                self.report_argument_type(f"action `{action.name}`", Place(node, child), actual_types, declared_type)
            arguments.append(argument)
        atom = Atom(predicate, tuple(arguments))
        return Quantified(False, tuple(unnamed_variables), atom) if unnamed_variables else atom


def read_preference_name(node: list[Node]) -> str | None:
    """Return the name in ``(preference [name] body)``, by default ``preference``; ``None`` if the form is wrong."""
    if len(node) == 2:
        return "preference"
    return format_token(node[1]) if len(node) == 3 and is_object_name(node[1]) else None


def _negate(formula: Formula) -> Formula:
    return formula.body if isinstance(formula, Not) else Not(formula)


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
