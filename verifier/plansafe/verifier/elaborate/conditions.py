"""Conditions, temporal formulas and numeric expressions: from nodes to formulas."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node, parse_number
from plansafe.verifier.elaborate.context import Place, did_you_mean, is_name, is_object_name, is_variable, token_text
from plansafe.verifier.elaborate.symbols import (
    ACTION_ATOMS,
    ARITHMETIC,
    COMPARISONS,
    OPERATORS,
    PDDL3,
    RESERVED,
    Scope,
    Symbols,
    is_at_end,
    is_temporal_or_action,
    operand_counts,
)
from plansafe.verifier.elaborate.types import parse_typed_list
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    FALSE,
    TRUE,
    And,
    Atom,
    Compare,
    Expression,
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
MAX_QUANTIFIERS = 500
MAX_FLATTENED = 64  # longer ones stay nested: flattening every level of a deep formula would be quadratic


class ConditionReader:
    """Elaborates conditions in one scope.

    ``temporal``: ``none``, ``constraints`` (PDDL3) or ``rules`` (all operators). ``metric``: the preferences that a
    metric may name; ``None`` outside a metric. ``operators``: suggestions for an unknown predicate.
    """

    def __init__(
        self,
        symbols: Symbols,
        scope: Scope,
        temporal: str = "none",
        metric: frozenset[str] | None = None,
        operators: frozenset[str] = RESERVED,
    ) -> None:
        self.symbols = symbols
        self.context = symbols.context
        self.scope = scope
        self.temporal = temporal
        self.metric = metric
        self.operators = operators
        self.preferences: list[model.Preference] | None = None
        """The preferences that were read; ``None`` where no preference is allowed."""
        self._outer_variables: tuple[Variable, ...] = ()
        self._quantifier_depth = 0

    # -- variables and terms ------------------------------------------------------------------------------------------

    def bind_variables(self, at: Place, start: int = 0) -> list[Variable]:
        """Bind the typed variables of a parameter list, from child ``start`` on."""
        node = at.subtree
        if not isinstance(node, list):
            self.context.malformed("expected a list of typed variables", at, "expected `(?x - type ..)`")
            return []
        variables: list[Variable] = []
        declared: dict[str, Place] = {}
        for entry in parse_typed_list(self.context, node, start, is_variable, "a variable"):
            if entry.name in declared:
                self.context.declared_twice(f"variable `{entry.name}`", entry.at, declared[entry.name])
                continue
            declared[entry.name] = entry.at
            types = self.symbols.types.resolve(entry.types, entry.types_at)
            variables.append(self.scope.bind(entry, types, self.symbols.types.domain(types)))
        return variables

    def read_term(self, node: list[Node], child: int) -> tuple[int, tuple[int, ...]] | None:
        """An argument and its types, or ``None`` after a diagnostic."""
        token, at = node[child], Place(node, child)
        context, symbols, visible = self.context, self.symbols, self.scope.visible
        if not isinstance(token, str):
            context.unsupported("object fluents", at, "expected a variable or an object")
            return None
        if token[0] == "?":
            variable = visible.get(token)
            if variable is None:
                help = did_you_mean(token, visible) or "bind it in `:parameters` or by a quantifier"
                context.error(SC.UNBOUND_VARIABLE, f"variable `{token}` is not bound", at, "not bound here", help=help)
                return None
            return -1 - variable.slot, variable.types
        number = symbols.object_index.get(token)
        if number is None:
            if not is_object_name(token):
                message = f"`{token}` is neither a variable nor an object"
                context.malformed(message, at, "expected a variable or an object")
                return None
            suggestion = did_you_mean(token, symbols.object_index)
            if suggestion is None and "?" + token in visible:
                suggestion = f"did you mean `?{token}`?"
            context.error(SC.UNKNOWN_OBJECT, f"unknown object `{token}`", at, "not declared", help=suggestion)
            return None
        if number >= symbols.nameable_objects:
            message = f"the domain names `{token}`, an object of the problem"
            help = "declare it in the domain's `:constants`"
            context.dialect("objects", message, at, "read as a constant", help=help, name=token)
        return number, symbols.object_types[number]

    def read_arguments(self, node: list[Node], declared: model.Predicate, kind: str) -> tuple[int, ...] | None:
        """The arguments of an atom or fluent, checked for number and type. ``kind``: ``predicate`` or ``function``."""
        types, declared_types = self.symbols.types, declared.types
        name, argument_count = f"{kind} `{declared.name}`", len(node) - 1
        if argument_count != len(declared_types):
            plural = "" if len(declared_types) == 1 else "s"
            self.context.wrong_arity(name, declared.node, len(declared_types), Place(node), argument_count, plural)
            for child in range(1, len(node)):
                self.read_term(node, child)
            return None
        arguments = []
        for child, declared_type in enumerate(declared_types, 1):
            term = self.read_term(node, child)
            if term is None:
                arguments.append(0)
                continue
            argument, actual_types = term
            arguments.append(argument)
            if not (
                types.object_fits(actual_types, declared_type)
                if argument >= 0
                else types.variable_fits(actual_types, declared_type)
            ):
                actual_text, declared_text = types.text(actual_types), types.text(declared_type)
                related = (
                    (Place(declared.node), f"argument {child} is a `{declared_text}`")
                    if isinstance(declared.node, list)
                    else None
                )
                message = f"`{node[child]}` is a `{actual_text}`, but {name} takes a `{declared_text}` here"
                self.context.type_error(message, Place(node, child), f"a `{actual_text}`", related=related)
        return tuple(arguments)

    # -- formulas -----------------------------------------------------------------------------------------------------

    def read_formula(self, at: Place) -> Formula:
        """A condition. After a diagnostic the result is an arbitrary formula; the context counts the errors."""
        node = at.subtree
        if isinstance(node, str):
            help = f"write `({node})`" if node in self.symbols.predicate_index else None
            message = f"expected a condition, found `{node}`"
            self.context.malformed(message, at, "expected a condition in parentheses", help=help)
            return TRUE
        if not node:
            return TRUE
        head = node[0]
        if not isinstance(head, str):
            message = "expected a condition, found a list of lists"
            self.context.malformed(message, Place(node), "expected a predicate or an operator first")
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
        """A formula in which no preference is allowed."""
        outer_preferences, self.preferences = self.preferences, None
        formula = self.read_formula(at)
        self.preferences = outer_preferences
        return formula

    def _read_junction(self, node: list[Node], conjunction: bool) -> Formula:
        parts: list[Formula] = []
        ground_literal = self.symbols.ground_literal
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
        """A formula whose operator allows no preference in its operands."""
        if head == "or":
            return self._read_junction(node, False)
        if head == "not":
            if not self._check_operands(node, 1):
                return TRUE
            return _negation(self.read_formula(Place(node, 1)))
        if head == "imply":
            if not self._check_operands(node, 2):
                return TRUE
            premise, conclusion = self.read_formula(Place(node, 1)), self.read_formula(Place(node, 2))
            return Or((_negation(premise), conclusion))
        if head == "exists":
            return self._read_quantified(node, False)
        if head in COMPARISONS:
            return self._read_comparison(node, head)
        temporal = self._read_temporal(node, head) if self.temporal != "none" else None
        return self._report_unknown(node, head) if temporal is None else temporal

    def _report_unknown(self, node: list[Node], head: str) -> Formula:
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
            context.malformed(f"expected a predicate or an operator, found `{head}`", at, "not a name")
        else:
            help = (
                _SYNONYMS.get(head)
                or did_you_mean(head, self.symbols.predicate_index)
                or did_you_mean(head, self.operators)
                or "declare it in `:predicates`"
            )
            context.error(SC.UNKNOWN_PREDICATE, f"unknown predicate `{head}`", at, "not declared", help=help)
        return TRUE

    def _check_operands(self, node: list[Node], formulas: int, bounds: int = 0) -> bool:
        operand_count = len(node) - 1
        if operand_count == formulas + bounds:
            return True
        takes = _counted(formulas, "formula")
        if bounds:
            takes = f"{_counted(bounds, 'number')} and {takes}"
        message = f"`{node[0]}` takes {takes}, not {_counted(operand_count, 'operand')}"
        self.context.malformed(message, Place(node), f"expected {takes}")
        return False

    def _read_quantified(self, node: list[Node], universal: bool) -> Formula:
        if len(node) != 3:
            message = f"`{node[0]}` takes typed variables and one formula"
            self.context.malformed(message, Place(node), "expected `(?x - type ..)` and a formula")
            return TRUE
        if self._quantifier_depth >= MAX_QUANTIFIERS:
            message = f"quantifiers nested deeper than {MAX_QUANTIFIERS}"
            self.context.error(SC.UNSUPPORTED, message, Place(node, 0), "too deep")
            return TRUE
        mark, outer_variables = self.scope.mark(), self._outer_variables
        variables = tuple(self.bind_variables(Place(node, 1)))
        if universal and self.preferences is not None:
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
            self.context.malformed(message, Place(node), "expected two operands")
            return TRUE
        if operator == "=" and self._is_term(node[1]) and self._is_term(node[2]):
            left, right = self.read_term(node, 1), self.read_term(node, 2)
            if left is None or right is None:
                return TRUE
            return model.Equal(left[0], right[0])
        return Compare(operator, self.read_expression(node, 1), self.read_expression(node, 2))

    def _is_term(self, node: Node) -> bool:
        if not isinstance(node, str):
            return False
        if node in self.symbols.object_index:
            return True
        number = parse_number(node) is not None or node in ("?duration", "total-time")
        return not number and node not in self.symbols.function_index

    def _read_preference(self, node: list[Node]) -> Formula:
        """``(preference [name] body)``: recorded, and true as a condition."""
        preferences = self.preferences
        if preferences is None:
            allowed = "allowed at the top of goals, preconditions and constraints, below `and` and `forall` alone"
            message = "`preference` is not allowed here"
            self.context.error(SC.MISPLACED_OPERATOR, message, Place(node, 0), allowed)
            return TRUE
        name = preference_name(node)
        if name is None:
            message = "a preference is `(preference [name] formula)`"
            self.context.malformed(message, Place(node), "expected a name and a formula")
            return TRUE
        body = self.read_without_preferences(Place(node, len(node) - 1))
        preferences.append(model.Preference(name, self._outer_variables, body))
        return TRUE

    # -- temporal operators -------------------------------------------------------------------------------------------

    def _read_temporal(self, node: list[Node], head: str) -> Formula | None:
        in_rule = self.temporal == "rules"
        if is_at_end(node):
            return Temporal("at-end", (self.read_formula(Place(node, 2)),))
        operator = OPERATORS.get(head)
        if operator is not None and operator != "at-end" and (in_rule or operator in PDDL3):
            return self._read_temporal_operator(node, operator)
        if in_rule and head in ACTION_ATOMS:
            if not self._check_operands(node, 1):
                return TRUE
            return self.read_action_atom(Place(node, 1), ACTION_ATOMS[head])
        return None

    def _read_temporal_operator(self, node: list[Node], operator: Operator) -> Formula:
        formulas, bounds = operand_counts(operator)
        if not self._check_operands(node, formulas, bounds):
            return TRUE
        numbers = []
        for child in range(1, bounds + 1):
            number = parse_number(node[child])
            if number is None:
                self.context.malformed(f"`{operator}` takes a number here", Place(node, child), "expected a number")
                number = 0
            elif number < 0:
                self.context.malformed(f"`{operator}` takes a time", Place(node, child), "negative")
            numbers.append(number)
        outer_temporal = self.temporal
        if outer_temporal == "constraints":
            self.temporal = "none"
        operands = tuple([self.read_formula(Place(node, child)) for child in range(bounds + 1, len(node))])
        self.temporal = outer_temporal
        return Temporal(operator, operands, tuple(numbers))

    def read_action_atom(self, at: Place, kind: str, implicit: frozenset[str] = frozenset()) -> Formula:
        """``(name t ..)``, with ``_`` for any object, as an atom over the action's predicate.

        Variables in ``implicit`` have their types from such steps and fit by definition.
        """
        node, context, symbols = at.subtree, self.context, self.symbols
        if not isinstance(node, list) or not node or not isinstance(node[0], str):
            context.malformed("expected an action with its arguments", at, "expected `(name argument ..)`")
            return FALSE
        action, name_at = symbols.actions.get(node[0]), Place(node, 0)
        if action is None:
            message, help = f"unknown action `{node[0]}`", did_you_mean(node[0], symbols.actions)
            context.error(SC.UNKNOWN_ACTION_IN_RULE, message, name_at, "not declared in the domain", help=help)
            return FALSE
        if kind != "start" and action.end is None:
            message = f"action `{action.name}` is not durative"
            context.error(SC.MISPLACED_OPERATOR, message, name_at, "only durative actions have an end")
            return FALSE
        predicate = symbols.action_predicate(kind, action)
        types, declared_types = symbols.types, symbols.parameter_types[action.name]
        if len(node) - 1 != len(declared_types):
            name = f"action `{action.name}`"
            context.wrong_arity(name, action.node, len(declared_types), Place(node), len(node) - 1)
            return FALSE
        arguments: list[int] = []
        unnamed: list[Variable] = []
        for child, declared_type in enumerate(declared_types, 1):
            if node[child] == "_":
                variable = Variable(len(self.scope.slots), action.parameters[child - 1].domain, "_")
                self.scope.slots.append(variable)
                unnamed.append(variable)
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
                actual_text, declared_text = types.text(actual_types), types.text(declared_type)
                message = (
                    f"`{node[child]}` is a `{actual_text}`, but action `{action.name}` takes a `{declared_text}` here"
                )
                context.type_error(message, Place(node, child), f"a `{actual_text}`")
            arguments.append(argument)
        atom = Atom(predicate, tuple(arguments))
        return Quantified(False, tuple(unnamed), atom) if unnamed else atom

    # -- expressions --------------------------------------------------------------------------------------------------

    def read_expression(self, node: list[Node], child: int) -> Expression:
        """The numeric expression that is child ``child`` of ``node``."""
        item, at, functions = node[child], Place(node, child), self.symbols.function_index
        if isinstance(item, str):
            return self._read_number_token(item, at)
        if not item or not isinstance(item[0], str):
            self.context.malformed("expected a numeric expression", at, "expected a fluent or an operator")
            return model.Constant(0)
        head = item[0]
        function = functions.get(head)
        if function is not None:
            arguments = self.read_arguments(item, self.symbols.functions[function], "function")
            return model.Constant(0) if arguments is None else model.Fluent(function, arguments)
        if head in ARITHMETIC:
            if len(item) < 2 or (len(item) == 2 and head != "-"):
                needed = "one or more operands" if head == "-" else "two or more operands"
                self.context.malformed(f"`{head}` needs {needed}", Place(item), "operands missing")
                return model.Constant(0)
            return model.Arithmetic(head, tuple([self.read_expression(item, c) for c in range(1, len(item))]))
        if self.metric is not None and head == "total-time" and len(item) == 1:
            return model.TotalTime()
        if self.metric is not None and head == "is-violated" and len(item) == 2 and isinstance(item[1], str):
            if item[1] not in self.metric:
                message, help = f"unknown preference `{item[1]}`", did_you_mean(item[1], self.metric)
                label = "no preference has this name"
                self.context.error(SC.UNKNOWN_RULE_NAME, message, Place(item, 1), label, help=help)
            return model.IsViolated(item[1])
        message, label, help = f"unknown function `{head}`", "not declared", None
        if head in self.symbols.predicate_index:
            message, label = f"`{head}` is a predicate, not a function", "has no numeric value"
        else:
            help = did_you_mean(head, functions) or "declare it in `:functions`"
        self.context.error(SC.UNKNOWN_FUNCTION, message, Place(item, 0), label, help=help)
        return model.Constant(0)

    def _read_number_token(self, token: str, at: Place) -> Expression:
        number = parse_number(token)
        if number is not None:
            return model.Constant(number)
        if token == "?duration" and self.scope.has_duration:
            return model.Duration()
        if token == "total-time" and self.metric is not None:
            return model.TotalTime()
        function = self.symbols.function_index.get(token)
        if function is not None and not self.symbols.functions[function].types:
            return model.Fluent(function, ())
        if token == "#t":
            self.context.unsupported("continuous effects (`#t`)", at)
        else:
            self.context.malformed(f"expected a number, found `{token}`", at, "expected a numeric expression")
        return model.Constant(0)


def preference_name(node: list[Node]) -> str | None:
    """The name in ``(preference [name] body)``, ``preference`` by default; ``None`` if the form is wrong."""
    if len(node) == 2:
        return "preference"
    return token_text(node[1]) if len(node) == 3 and is_object_name(node[1]) else None


def _negation(formula: Formula) -> Formula:
    return formula.body if isinstance(formula, Not) else Not(formula)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
