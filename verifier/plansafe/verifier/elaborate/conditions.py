"""Conditions, temporal formulas and numeric expressions: from nodes to formulas."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
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
    parse_number,
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

    ``temporal``: ``none``, ``constraints`` (PDDL3) or ``rules`` (all operators). ``operators`` are what an unknown
    predicate may be a misspelling of.
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
        self._around: tuple[Variable, ...] = ()
        self._depth = 0

    # -- variables and terms ------------------------------------------------------------------------------------------

    def bind(self, node: Node, at: Place, start: int = 0) -> list[Variable]:
        """Bind the typed variables of a parameter list, from child ``start`` on."""
        if not isinstance(node, list):
            self.context.error(SC.STRUCTURE, "expected a list of typed variables", at, "expected `(?x - type ..)`")
            return []
        out: list[Variable] = []
        seen: dict[str, Place] = {}
        for entry in parse_typed_list(self.context, node, start, is_variable, "a variable"):
            if entry.name in seen:
                self.context.error(
                    SC.DECLARED_TWICE,
                    f"variable `{entry.name}` is declared twice",
                    entry.at,
                    "again here",
                    other=(seen[entry.name], "first here"),
                )
                continue
            seen[entry.name] = entry.at
            types = self.symbols.types.resolve(entry.types, entry.types_at)
            out.append(self.scope.bind(entry, types, self.symbols.types.domain(types)))
        return out

    def term(self, node: list[Node], child: int) -> tuple[int, tuple[int, ...]] | None:
        """An argument and its types, or ``None`` after a diagnostic."""
        token = node[child]
        if not isinstance(token, str):
            self.context.error(
                SC.UNSUPPORTED,
                "object fluents are not supported",
                Place(node, child),
                "expected a variable or an object",
            )
            return None
        if token[0] == "?":
            found = self.scope.visible.get(token)
            if found is None:
                help = did_you_mean(token, self.scope.visible) or "bind it in `:parameters` or by a quantifier"
                self.context.error(
                    SC.UNBOUND_VARIABLE,
                    f"variable `{token}` is not bound",
                    Place(node, child),
                    "not bound here",
                    help=help,
                )
                return None
            return -1 - found[0], found[1]
        number = self.symbols.object_index.get(token)
        if number is None:
            if not is_object_name(token):
                self.context.error(
                    SC.STRUCTURE,
                    f"`{token}` is neither a variable nor an object",
                    Place(node, child),
                    "expected a variable or an object",
                )
                return None
            near = did_you_mean(token, self.symbols.object_index)
            if near is None and "?" + token in self.scope.visible:
                near = f"did you mean `?{token}`?"
            self.context.error(
                SC.UNKNOWN_OBJECT, f"unknown object `{token}`", Place(node, child), "not declared", help=near
            )
            return None
        if number >= self.symbols.constants:
            message = f"the domain names `{token}`, an object of the problem"
            help = "declare it in the domain's `:constants`"
            self.context.dialect("objects", message, Place(node, child), "read as a constant", help=help, name=token)
        return number, self.symbols.object_types[number]

    def arguments(self, node: list[Node], declared: model.Predicate, what: str) -> tuple[int, ...] | None:
        """The arguments of an atom or fluent, checked for number and type."""
        wanted = declared.types
        types = self.symbols.types
        if len(node) - 1 != len(wanted):
            plural = "" if len(wanted) == 1 else "s"
            other = (Place(declared.node), "declared here") if isinstance(declared.node, list) else None
            self.context.error(
                SC.ARITY,
                f"{what} `{declared.name}` takes {len(wanted)} argument{plural}, not {len(node) - 1}",
                Place(node),
                f"{len(node) - 1} given",
                other=other,
            )
            for child in range(1, len(node)):
                self.term(node, child)
            return None
        out = []
        for child in range(1, len(node)):
            term = self.term(node, child)
            if term is None:
                out.append(0)
                continue
            argument, own = term
            out.append(argument)
            expected = wanted[child - 1]
            fits = types.object_fits(own, expected) if argument >= 0 else types.variable_fits(own, expected)
            if not fits:
                other = (
                    (Place(declared.node), f"argument {child} is a `{types.text(expected)}`")
                    if isinstance(declared.node, list)
                    else None
                )
                given, asked = types.text(own), types.text(expected)
                message = f"`{node[child]}` is a `{given}`, but {what} `{declared.name}` takes a `{asked}` here"
                self.context.type_error(message, Place(node, child), f"a `{types.text(own)}`", other=other)
        return tuple(out)

    # -- formulas -----------------------------------------------------------------------------------------------------

    def formula(self, node: Node, at: Place) -> Formula:
        """A condition. After a diagnostic the result is an arbitrary formula; the context counts the errors."""
        if isinstance(node, str):
            help = f"write `({node})`" if node in self.symbols.predicate_index else None
            self.context.error(
                SC.STRUCTURE,
                f"expected a condition, found `{node}`",
                at,
                "expected a condition in parentheses",
                help=help,
            )
            return TRUE
        if not node:
            return TRUE
        head = node[0]
        if not isinstance(head, str):
            self.context.error(
                SC.STRUCTURE,
                "expected a condition, found a list of lists",
                Place(node),
                "expected a predicate or an operator first",
            )
            return TRUE
        index = self.symbols.predicate_index.get(head)
        if index is not None and not (self.temporal != "none" and is_temporal_or_action(node)):
            arguments = self.arguments(node, self.symbols.predicates[index], "predicate")
            return TRUE if arguments is None else Atom(index, arguments)
        if head == "and":
            return self._junction(node, True)
        if head == "forall":
            return self._quantified(node, True)
        if head == "preference":
            return self._preference(node)
        noted, self.preferences = self.preferences, None
        formula = self._hard(node, head)
        self.preferences = noted
        return formula

    def _junction(self, node: list[Node], conjunction: bool) -> Formula:
        parts: list[Formula] = []
        literal = self.symbols.ground_literal
        for child in range(1, len(node)):
            item = node[child]
            part = literal(item) or self.formula(item, Place(node, child))
            if part is TRUE and conjunction:
                continue  # `()`, which is what `(and)` is
            if isinstance(part, And if conjunction else Or) and len(part.parts) <= MAX_FLATTENED:
                parts += part.parts
            else:
                parts.append(part)
        if len(parts) == 1:
            return parts[0]
        return And(tuple(parts)) if conjunction else Or(tuple(parts))

    def _hard(self, node: list[Node], head: str) -> Formula:
        """Operators below which no preference may stand."""
        if head == "or":
            return self._junction(node, False)
        if head == "not":
            if not self._operands(node, 1):
                return TRUE
            body = self.formula(node[1], Place(node, 1))
            return body.body if isinstance(body, Not) else Not(body)
        if head == "imply":
            if not self._operands(node, 2):
                return TRUE
            premise = self.formula(node[1], Place(node, 1))
            conclusion = self.formula(node[2], Place(node, 2))
            negated = premise.body if isinstance(premise, Not) else Not(premise)
            return Or((negated, conclusion))
        if head == "exists":
            return self._quantified(node, False)
        if head in COMPARISONS:
            return self._comparison(node, head)
        if self.temporal != "none":
            found = self._temporal(node, head)
            if found is not None:
                return found
        return self._unknown(node, head)

    def _unknown(self, node: list[Node], head: str) -> Formula:
        where = Place(node, 0)
        if head in OPERATORS or head in ACTION_ATOMS or (head == "at" and len(node) > 1 and node[1] == "end"):
            place = "in a `:constraints` section or a safety rule" if self.temporal == "none" else "in a safety rule"
            self.context.error(SC.MISPLACED_OPERATOR, f"`{head}` is not allowed here", where, f"allowed {place}")
        elif (head == "at" and len(node) > 1 and node[1] == "start") or head == "over":
            self.context.error(
                SC.MISPLACED_OPERATOR,
                f"`{head}` is not allowed here",
                where,
                "allowed in a durative action's `:condition` and `:effect`",
            )
        elif head in ("unknown", "oneof"):
            places = "in `:init`" if head == "unknown" else "in `:init` and in effects"
            self.context.error(SC.MISPLACED_OPERATOR, f"`{head}` is not allowed here", where, f"allowed {places}")
        elif not is_name(head):
            self.context.error(
                SC.STRUCTURE, f"expected a predicate or an operator, found `{head}`", where, "not a name"
            )
        else:
            help = (
                _SYNONYMS.get(head)
                or did_you_mean(head, self.symbols.predicate_index)
                or did_you_mean(head, self.operators)
                or "declare it in `:predicates`"
            )
            self.context.error(SC.UNKNOWN_PREDICATE, f"unknown predicate `{head}`", where, "not declared", help=help)
        return TRUE

    def _operands(self, node: list[Node], count: int, bounds: int = 0) -> bool:
        if len(node) - 1 == count + bounds:
            return True
        takes = f"{count} formula{'' if count == 1 else 's'}"
        if bounds:
            takes = f"{bounds} number{'' if bounds == 1 else 's'} and {takes}"
        self.context.error(
            SC.STRUCTURE,
            f"`{node[0]}` takes {takes}, not {len(node) - 1} operand{'' if len(node) == 2 else 's'}",
            Place(node),
            f"expected {takes}",
        )
        return False

    def _quantified(self, node: list[Node], universal: bool) -> Formula:
        if len(node) != 3:
            self.context.error(
                SC.STRUCTURE,
                f"`{node[0]}` takes typed variables and one formula",
                Place(node),
                "expected `(?x - type ..)` and a formula",
            )
            return TRUE
        if self._depth >= MAX_QUANTIFIERS:
            message = f"quantifiers nested deeper than {MAX_QUANTIFIERS}"
            self.context.error(SC.UNSUPPORTED, message, Place(node, 0), "too deep")
            return TRUE
        mark, around = self.scope.mark(), self._around
        variables = tuple(self.bind(node[1], Place(node, 1)))
        if universal and self.preferences is not None:
            self._around = (*around, *variables)
        self._depth += 1
        body = self.formula(node[2], Place(node, 2))
        self._depth -= 1
        self.scope.restore(mark)
        self._around = around
        if not variables:
            return body
        return Quantified(universal, variables, body)

    def _comparison(self, node: list[Node], operator: str) -> Formula:
        if len(node) != 3:
            self.context.error(
                SC.STRUCTURE,
                f"`{operator}` compares two things, not {len(node) - 1}",
                Place(node),
                "expected two operands",
            )
            return TRUE
        if operator == "=" and self._is_term(node[1]) and self._is_term(node[2]):
            left, right = self.term(node, 1), self.term(node, 2)
            if left is None or right is None:
                return TRUE
            return model.Equal(left[0], right[0])
        return Compare(operator, self.expression(node, 1), self.expression(node, 2))

    def _is_term(self, node: Node) -> bool:
        if not isinstance(node, str):
            return False
        if node in self.symbols.object_index:
            return True
        return (
            parse_number(node) is None
            and node != "?duration"
            and node not in self.symbols.function_index
            and node not in ("total-time",)
        )

    def hard(self, node: Node, at: Place) -> Formula:
        """A formula in which no preference may stand."""
        noted, self.preferences = self.preferences, None
        formula = self.formula(node, at)
        self.preferences = noted
        return formula

    def _preference(self, node: list[Node]) -> Formula:
        """``(preference [name] body)``: noted, and true as a condition."""
        if self.preferences is None:
            self.context.error(
                SC.MISPLACED_OPERATOR,
                "`preference` is not allowed here",
                Place(node, 0),
                "allowed at the top of goals, preconditions and constraints, below `and` and `forall` alone",
            )
            return TRUE
        named = len(node) == 3
        if len(node) not in (2, 3) or (named and not is_object_name(node[1])):
            self.context.error(
                SC.STRUCTURE,
                "a preference is `(preference [name] formula)`",
                Place(node),
                "expected a name and a formula",
            )
            return TRUE
        noted = self.preferences
        body = self.hard(node[-1], Place(node, len(node) - 1))
        name = token_text(node[1]) if named else "preference"
        noted.append(model.Preference(name, self._around, body))
        return TRUE

    # -- temporal operators -------------------------------------------------------------------------------------------

    def _temporal(self, node: list[Node], head: str) -> Formula | None:
        rules = self.temporal == "rules"
        if is_at_end(node):
            return Temporal("at-end", (self.formula(node[2], Place(node, 2)),))
        operator = OPERATORS.get(head)
        if operator is not None and operator != "at-end" and (rules or operator in PDDL3):
            return self._operator(node, operator)
        if rules and head in ACTION_ATOMS:
            if not self._operands(node, 1):
                return TRUE
            return self.action_atom(node[1], Place(node, 1), ACTION_ATOMS[head])
        return None

    def _operator(self, node: list[Node], operator: Operator) -> Formula:
        count, bounds = operand_counts(operator)
        if not self._operands(node, count, bounds):
            return TRUE
        numbers = []
        for child in range(1, bounds + 1):
            number = parse_number(node[child])
            if number is None:
                self.context.error(
                    SC.STRUCTURE, f"`{operator}` takes a number here", Place(node, child), "expected a number"
                )
                number = 0
            elif number < 0:
                self.context.error(SC.STRUCTURE, f"`{operator}` takes a time", Place(node, child), "negative")
            numbers.append(number)
        outer, saved_preferences = self.temporal, self.preferences
        self.preferences = None
        if outer == "constraints":
            self.temporal = "none"
        operands = tuple([self.formula(node[child], Place(node, child)) for child in range(bounds + 1, len(node))])
        self.temporal, self.preferences = outer, saved_preferences
        return Temporal(operator, operands, tuple(numbers))

    def action_atom(self, node: Node, at: Place, kind: str, implicit: frozenset[str] = frozenset()) -> Formula:
        """``(name t ..)``, with ``_`` for any object, as an atom over the action's predicate.

        Variables in ``implicit`` have their types from such steps and fit by definition.
        """
        if not isinstance(node, list) or not node or not isinstance(node[0], str):
            self.context.error(
                SC.STRUCTURE, "expected an action with its arguments", at, "expected `(name argument ..)`"
            )
            return FALSE
        action = self.symbols.actions.get(node[0])
        if action is None:
            help = did_you_mean(node[0], self.symbols.actions)
            self.context.error(
                SC.UNKNOWN_ACTION_IN_RULE,
                f"unknown action `{node[0]}`",
                Place(node, 0),
                "not declared in the domain",
                help=help,
            )
            return FALSE
        if kind != "start" and action.end is None:
            self.context.error(
                SC.MISPLACED_OPERATOR,
                f"action `{action.name}` is not durative",
                Place(node, 0),
                "only durative actions have an end",
            )
            return FALSE
        predicate = self.symbols.action_predicate(kind, action)
        types = self.symbols.parameter_types[action.name]
        if len(node) - 1 != len(types):
            other = (Place(action.node), "declared here") if isinstance(action.node, list) else None
            self.context.error(
                SC.ARITY,
                f"action `{action.name}` takes {len(types)} arguments, not {len(node) - 1}",
                Place(node),
                f"{len(node) - 1} given",
                other=other,
            )
            return FALSE
        arguments: list[int] = []
        wild: list[Variable] = []
        for child in range(1, len(node)):
            if node[child] == "_":
                bound = Variable(len(self.scope.slots), action.parameters[child - 1].domain, "_")
                self.scope.slots.append(bound)
                wild.append(bound)
                arguments.append(-1 - bound.slot)
                continue
            term = self.term(node, child)
            if term is None:
                return FALSE
            argument, own = term
            expected = types[child - 1]
            table = self.symbols.types
            fits = table.object_fits(own, expected) if argument >= 0 else table.variable_meets(own, expected)
            fits = fits or node[child] in implicit
            if not fits:
                text = self.symbols.types.text
                self.context.type_error(
                    f"`{node[child]}` is a `{text(own)}`, but action `{action.name}` takes a `{text(expected)}` here",
                    Place(node, child),
                    f"a `{text(own)}`",
                )
            arguments.append(argument)
        atom = Atom(predicate, tuple(arguments))
        return Quantified(False, tuple(wild), atom) if wild else atom

    # -- expressions --------------------------------------------------------------------------------------------------

    def expression(self, node: list[Node], child: int) -> Expression:
        """The numeric expression that is child ``child`` of ``node``."""
        item = node[child]
        if isinstance(item, str):
            number = parse_number(item)
            if number is not None:
                return model.Constant(number)
            if item == "?duration" and self.scope.duration:
                return model.Duration()
            if item == "total-time" and self.metric is not None:
                return model.TotalTime()
            function = self.symbols.function_index.get(item)
            if function is not None and not self.symbols.functions[function].types:
                return model.Fluent(function, ())
            if item == "#t":
                self.context.error(
                    SC.UNSUPPORTED, "continuous effects (`#t`) are not supported", Place(node, child), "not supported"
                )
            else:
                self.context.error(
                    SC.STRUCTURE,
                    f"expected a number, found `{item}`",
                    Place(node, child),
                    "expected a numeric expression",
                )
            return model.Constant(0)
        if not item or not isinstance(item[0], str):
            self.context.error(
                SC.STRUCTURE, "expected a numeric expression", Place(node, child), "expected a fluent or an operator"
            )
            return model.Constant(0)
        head = item[0]
        function = self.symbols.function_index.get(head)
        if function is not None:
            arguments = self.arguments(item, self.symbols.functions[function], "function")
            return model.Constant(0) if arguments is None else model.Fluent(function, arguments)
        if head in ARITHMETIC:
            if len(item) < 2 or (len(item) == 2 and head != "-"):
                self.context.error(
                    SC.STRUCTURE,
                    f"`{head}` needs {'one or more operands' if head == '-' else 'two or more operands'}",
                    Place(item),
                    "operands missing",
                )
                return model.Constant(0)
            return model.Arithmetic(head, tuple([self.expression(item, c) for c in range(1, len(item))]))
        if self.metric is not None and head == "total-time" and len(item) == 1:
            return model.TotalTime()
        if self.metric is not None and head == "is-violated" and len(item) == 2 and isinstance(item[1], str):
            if item[1] not in self.metric:
                self.context.error(
                    SC.UNKNOWN_RULE_NAME,
                    f"unknown preference `{item[1]}`",
                    Place(item, 1),
                    "no preference has this name",
                    help=did_you_mean(item[1], self.metric),
                )
            return model.IsViolated(item[1])
        if head in self.symbols.predicate_index:
            self.context.error(
                SC.UNKNOWN_FUNCTION, f"`{head}` is a predicate, not a function", Place(item, 0), "has no numeric value"
            )
        else:
            help = did_you_mean(head, self.symbols.function_index) or "declare it in `:functions`"
            self.context.error(
                SC.UNKNOWN_FUNCTION, f"unknown function `{head}`", Place(item, 0), "not declared", help=help
            )
        return model.Constant(0)
