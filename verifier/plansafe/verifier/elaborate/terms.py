"""Variables, terms and numeric expressions of one scope: from nodes to the model."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import with_article
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node, parse_number
from plansafe.verifier.elaborate.context import Place, did_you_mean, is_object_name, is_variable
from plansafe.verifier.elaborate.symbols import ARITHMETIC, Scope, Symbols
from plansafe.verifier.elaborate.types import parse_typed_list
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import Expression, Variable


class TypedArgument(NamedTuple):
    """An argument of an atom or fluent, with the types (alternatives) of its object or variable."""

    argument: int
    types: tuple[int, ...]


class TermReader:
    """Elaborates variables, terms and expressions in one scope, and reports mistakes in them.

    ``metric``: the preferences that a metric may name; ``None`` outside a metric.
    """

    def __init__(self, symbols: Symbols, scope: Scope, metric: frozenset[str] | None = None) -> None:
        self.symbols = symbols
        self.context = symbols.context
        self.scope = scope
        self.metric = metric

    # -- variables and terms ------------------------------------------------------------------------------------------

    def bind_variables(self, at: Place, start: int = 0) -> list[Variable]:
        """Bind the typed variables of a parameter list, from child ``start`` on, and return them."""
        node = at.subtree
        if not isinstance(node, list):
            self.context.report_malformed("expected a list of typed variables", at, "expected `(?x - type ..)`")
            return []
        variables: list[Variable] = []
        declared: dict[str, Place] = {}
        for entry in parse_typed_list(self.context, node, start, is_variable, "a variable"):
            if entry.name in declared:
                self.context.report_redeclaration(f"variable `{entry.name}`", entry.at, declared[entry.name])
                continue
            declared[entry.name] = entry.at
            types = self.symbols.types.resolve(entry.types, entry.types_at)
            variables.append(self.scope.bind(entry, types, self.symbols.types.get_domain(types)))
        return variables

    def read_term(self, node: list[Node], child: int) -> TypedArgument | None:
        """Read child ``child`` of ``node``, a variable or an object; ``None`` after a diagnostic."""
        token, at = node[child], Place(node, child)
        context, symbols, visible = self.context, self.symbols, self.scope.visible
        if not isinstance(token, str):
            context.report_unsupported("object fluents", at, "expected a variable or an object")
            return None
        if token[0] == "?":
            variable = visible.get(token)
            if variable is None:
                help = did_you_mean(token, visible) or "bind it in `:parameters` or by a quantifier"
                context.error(SC.UNBOUND_VARIABLE, f"variable `{token}` is not bound", at, "not bound here", help=help)
                return None
            return TypedArgument(-1 - variable.slot, variable.types)
        number = symbols.object_index.get(token)
        if number is None:
            if not is_object_name(token):
                message = f"`{token}` is neither a variable nor an object"
                context.report_malformed(message, at, "expected a variable or an object")
                return None
            suggestion = did_you_mean(token, symbols.object_index)
            if suggestion is None and "?" + token in visible:
                suggestion = f"did you mean `?{token}`?"
            context.error(SC.UNKNOWN_OBJECT, f"unknown object `{token}`", at, "not declared", help=suggestion)
            return None
        if number >= symbols.nameable_object_count:
            message = f"the domain names `{token}`, an object of the problem"
            help = "declare it in the domain's `:constants`"
            context.report_dialect("objects", message, at, "read as a constant", help=help, name=token)
        return TypedArgument(number, symbols.object_types[number])

    def read_arguments(self, node: list[Node], declared: model.Predicate, kind: str) -> tuple[int, ...] | None:
        """Read the arguments of an atom or fluent; ``None`` after a diagnostic of their number.

        A wrong type is reported, but the argument is kept. ``kind``: ``predicate`` or ``function``, for messages.
        """
        types, declared_types = self.symbols.types, declared.types
        name, argument_count = f"{kind} `{declared.name}`", len(node) - 1
        if argument_count != len(declared_types):
            plural = "" if len(declared_types) == 1 else "s"
            self.context.report_wrong_arity(
                name, declared.node, len(declared_types), Place(node), argument_count, plural
            )
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
                declared_at = Place(declared.node) if isinstance(declared.node, list) else None
                self.report_argument_type(name, Place(node, child), actual_types, declared_type, declared_at)
        return tuple(arguments)

    def report_argument_type(
        self,
        name: str,
        at: Place,
        actual_types: tuple[int, ...],
        declared_types: tuple[int, ...],
        declared_at: Place | None = None,
    ) -> None:
        """Report an argument of the wrong type; ``name``: the predicate, function or action, as in "predicate `on`"."""
        actual_text, expected_text = [
            with_article(f"`{self.symbols.types.format_types(types)}`") for types in (actual_types, declared_types)
        ]
        related = None if declared_at is None else (declared_at, f"argument {at.child} is {expected_text}")
        message = f"`{at.subtree}` is {actual_text}, but {name} takes {expected_text} here"
        self.context.report_type_error(message, at, actual_text, related=related)

    def is_term(self, node: Node) -> bool:
        """Whether an operand of ``=`` is a variable or an object, so that objects are compared and not numbers."""
        if not isinstance(node, str):
            return False
        if node in self.symbols.object_index:
            return True
        number = parse_number(node) is not None or node in ("?duration", "total-time")
        return not number and node not in self.symbols.function_index

    # -- expressions --------------------------------------------------------------------------------------------------

    def read_expression(self, node: list[Node], child: int) -> Expression:
        """Read child ``child`` of ``node``, a numeric expression; an arbitrary constant after a diagnostic."""
        subtree, at, functions = node[child], Place(node, child), self.symbols.function_index
        if isinstance(subtree, str):
            return self._read_number_token(subtree, at)
        if not subtree or not isinstance(subtree[0], str):
            self.context.report_malformed("expected a numeric expression", at, "expected a fluent or an operator")
            return model.Constant(0)
        head = subtree[0]
        function = functions.get(head)
        if function is not None:
            arguments = self.read_arguments(subtree, self.symbols.functions[function], "function")
            return model.Constant(0) if arguments is None else model.Fluent(function, arguments)
        if head in ARITHMETIC:
            if len(subtree) < 2 or (len(subtree) == 2 and head != "-"):
                needed = "one or more operands" if head == "-" else "two or more operands"
                self.context.report_malformed(f"`{head}` needs {needed}", Place(subtree), "operands missing")
                return model.Constant(0)
            return model.Arithmetic(
                head, tuple([self.read_expression(subtree, operand) for operand in range(1, len(subtree))])
            )
        if self.metric is not None and head == "total-time" and len(subtree) == 1:
            return model.TotalTime()
        if self.metric is not None and head == "is-violated" and len(subtree) == 2 and isinstance(subtree[1], str):
            if subtree[1] not in self.metric:
                message, help = f"unknown preference `{subtree[1]}`", did_you_mean(subtree[1], self.metric)
                label = "no preference has this name"
                self.context.error(SC.UNKNOWN_RULE_NAME, message, Place(subtree, 1), label, help=help)
            return model.IsViolated(subtree[1])
        message, label, help = f"unknown function `{head}`", "not declared", None
        if head in self.symbols.predicate_index:
            message, label = f"`{head}` is a predicate, not a function", "has no numeric value"
        else:
            help = did_you_mean(head, functions) or "declare it in `:functions`"
        self.context.error(SC.UNKNOWN_FUNCTION, message, Place(subtree, 0), label, help=help)
        return model.Constant(0)

    def _read_number_token(self, token: str, at: Place) -> Expression:
        """Read a number, a variable of the language that has a number, or a function without parameters."""
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
            allowed = "allowed in processes, and outside `at start` and `at end` in durative actions"
            self.context.error(SC.MISPLACED_OPERATOR, "`#t` is not allowed here", at, allowed)
        else:
            self.context.report_malformed(f"expected a number, found `{token}`", at, "expected a numeric expression")
        return model.Constant(0)
