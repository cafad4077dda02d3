"""The declared names of a task, the variables in scope, and the words of the language that conditions use."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never, get_args

from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, Place
from plansafe.verifier.elaborate.types import TypedName, TypeTable
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    Atom,
    FutureOperator,
    Not,
    Operator,
    PastOperator,
    TraceOperator,
    Variable,
)

RESERVED = frozenset(
    [
        "and",
        "or",
        "not",
        "imply",
        "forall",
        "exists",
        "when",
        "=",
        "<",
        ">",
        "<=",
        ">=",
        "always",
        "sometime",
        "within",
        "at-most-once",
        "sometime-after",
        "sometime-before",
        "always-within",
        "hold-during",
        "hold-after",
        "preference",
        "increase",
        "decrease",
        "assign",
        "scale-up",
        "scale-down",
    ]
)

COMPARISONS = frozenset(("=", "<", ">", "<=", ">="))

ORDERS = COMPARISONS - {"="}

ARITHMETIC = frozenset("+-*/")

OPERATORS: dict[str, Operator] = {
    word: word for family in (PastOperator, FutureOperator, TraceOperator) for word in get_args(family)
}

ACTION_ATOMS = {"action": "start", "action-end": "end", "action-during": "during"}

PDDL3 = frozenset(("always", "sometime", "sometime-after", *get_args(TraceOperator)))


def operand_counts(operator: Operator) -> tuple[int, int]:
    """How many formulas an operator takes, and how many times before them."""
    match operator:
        case "yesterday" | "weak-yesterday" | "once" | "historically" | "next" | "weak-next" | "always" | "sometime":
            return 1, 0
        case "at-end" | "at-most-once":
            return 1, 0
        case "since" | "until" | "release" | "sometime-after" | "sometime-before":
            return 2, 0
        case "within" | "hold-after":
            return 1, 1
        case "always-within":
            return 2, 1
        case "hold-during":
            return 1, 2
        case _:
            assert_never(operator)


def parse_number(token: object) -> model.Number | None:
    """A decimal token as an exact number, or ``None``. Exponents are no part of PDDL."""
    if not isinstance(token, str):
        return None
    body = token[1:] if token[0] in "+-" else token
    whole, dot, fraction = body.partition(".")
    if not (whole + fraction).isdecimal() or not body.isascii() or (dot and not fraction):
        return None
    if len(body) > 20_000:
        return None
    value: model.Number = (
        int(whole or "0") if not fraction else model.normal_number(Fraction(int(whole + fraction), 10 ** len(fraction)))
    )
    return -value if token[0] == "-" else value


def is_at_end(node: list[Node]) -> bool:
    """Whether a list is ``(at end formula)``."""
    return len(node) == 3 and node[0] == "at" and node[1] == "end" and isinstance(node[2], list)


def is_temporal_or_action(node: list[Node]) -> bool:
    """Whether a list is a temporal operator with formulas, or an action, also where a predicate has that name."""
    named = node[0] in OPERATORS or node[0] in ACTION_ATOMS
    return is_at_end(node) or (named and len(node) > 1 and all([isinstance(part, list) for part in node[1:]]))


class Symbols:
    """The declared names that conditions refer to."""

    def __init__(self, context: Context, types: TypeTable) -> None:
        self.context = context
        self.types = types
        self.objects: list[str] = []
        self.constants: float = float("inf")
        """How many of the objects may be named: while a domain is read, its constants alone."""
        self.object_index: dict[str, int] = {}
        self.object_types: list[tuple[int, ...]] = []
        self.object_at: list[Place] = []
        self.predicates: list[model.Predicate] = []
        self.predicate_index: dict[str, int] = {}
        self.functions: list[model.Predicate] = []
        self.function_index: dict[str, int] = {}
        self.actions: dict[str, model.Action] = {}
        self.parameter_types: dict[str, tuple[tuple[int, ...], ...]] = {}
        self.action_predicates: dict[tuple[str, str], int] = {}
        """Predicates that stand for actions in rules: (kind, action) -> predicate."""
        self.derived: frozenset[int] = frozenset()

    def ground_atom(self, node: Node) -> Atom | None:
        """A well-typed ground atom read without ceremony, or ``None`` for anything else (right or wrong)."""
        if not isinstance(node, list):
            return None
        sets, objects, constants = self.types.domain_sets, self.object_index, self.constants
        arguments = []
        try:
            index = self.predicate_index[node[0]]  # type: ignore[index] # a list here raises what is caught below
            domains = self.predicates[index].domains
            if len(domains) != len(node) - 1:
                return None
            position = 1
            for domain in domains:
                number = objects[node[position]]  # type: ignore[index] # a list here raises what is caught below
                if number not in sets[domain] or number >= constants:
                    return None
                arguments.append(number)
                position += 1
        except (KeyError, TypeError, IndexError):
            return None
        return Atom(index, tuple(arguments))

    def ground_literal(self, node: Node) -> Atom | Not | None:
        """The same of an atom or its negation."""
        if len(node) == 2 and node[0] == "not":
            atom = self.ground_atom(node[1])
            return None if atom is None else Not(atom)
        return self.ground_atom(node)

    def action_predicate(self, kind: str, action: model.Action) -> int:
        """The predicate that is true of an action's arguments at the letters where it starts, ends, or is running."""
        key = (kind, action.name)
        if key not in self.action_predicates:
            self.action_predicates[key] = len(self.predicates)
            types = tuple([self.parameter_types[action.name][i] for i in range(len(action.parameters))])
            domains = tuple([v.domain for v in action.parameters])
            self.predicates.append(model.Predicate(f"{kind} of {action.name}", types, domains, None))
        return self.action_predicates[key]


class Scope:
    """Variables in sight. Slots are numbered over the whole scope: inner variables never reuse an outer slot."""

    def __init__(self) -> None:
        self.visible: dict[str, tuple[int, tuple[int, ...], Place]] = {}
        self.slots: list[Variable] = []
        self.duration = False
        self._trail: list[tuple[str, tuple[int, tuple[int, ...], Place] | None]] = []

    def bind(self, entry: TypedName, types: tuple[int, ...], domain: int) -> Variable:
        """Add a variable."""
        bound = Variable(len(self.slots), domain, entry.name)
        self.slots.append(bound)
        self._trail.append((entry.name, self.visible.get(entry.name)))
        self.visible[entry.name] = (bound.slot, types, entry.at)
        return bound

    def mark(self) -> int:
        """Where :meth:`restore` comes back to: the variables in sight now."""
        return len(self._trail)

    def restore(self, mark: int) -> None:
        """Leave the scopes entered since ``mark``."""
        while len(self._trail) > mark:
            name, before = self._trail.pop()
            if before is None:
                del self.visible[name]
            else:
                self.visible[name] = before
