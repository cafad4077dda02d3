"""The declared names of a task, the variables in scope, and the operators of conditions."""

from __future__ import annotations

from typing import assert_never, get_args

from plansafe.grammar.named_tuple import NamedTuple, make_constructor
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

COMPARISONS = frozenset(("=", "<", ">", "<=", ">="))
ORDERS = COMPARISONS - {"="}
ARITHMETIC = frozenset("+-*/")
ASSIGNMENTS = frozenset(("assign", "increase", "decrease", "scale-up", "scale-down"))
OPERATORS: dict[str, Operator] = {
    word: word for family in (PastOperator, FutureOperator, TraceOperator) for word in get_args(family)
}
PDDL3 = frozenset(("always", "sometime", "sometime-after", *get_args(TraceOperator)))
ACTION_ATOMS = {"action": "start", "action-end": "end", "action-during": "during"}
_LOGICAL_KEYWORDS = frozenset(("and", "or", "not", "imply", "forall", "exists", "when", "preference"))
RESERVED = _LOGICAL_KEYWORDS | COMPARISONS | ASSIGNMENTS | PDDL3 - {"at-end"}
"""Words that may not name a predicate."""


_make_atom = make_constructor(Atom)


def count_operands(operator: Operator) -> tuple[int, int]:
    """Return how many formulas an operator takes, and how many bounds before them."""
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


def is_at_end(node: list[Node]) -> bool:
    """Whether a list is ``(at end formula)``."""
    return len(node) == 3 and node[0] == "at" and node[1] == "end" and isinstance(node[2], list)


def is_temporal_or_action(node: list[Node]) -> bool:
    """Whether a list is a temporal operator with formulas, or an action, also where a predicate has that name."""
    has_operator_name = node[0] in OPERATORS or node[0] in ACTION_ATOMS
    return is_at_end(node) or (
        has_operator_name and len(node) > 1 and all([isinstance(part, list) for part in node[1:]])
    )


class Agent(NamedTuple):
    """An agent of a factored task: its actions, and the objects that it knows."""

    actions: frozenset[str]
    objects: frozenset[str]


class Symbols:
    """The declared names that conditions refer to."""

    def __init__(self, context: Context, types: TypeTable) -> None:
        self.context = context
        self.types = types
        self.objects: list[str] = []
        self.nameable_object_count: float = float("inf")
        """How many of the objects may be named: in a domain, only its constants, which come first."""
        self.object_index: dict[str, int] = {}
        self.object_types: list[tuple[int, ...]] = []
        self.object_at: list[Place] = []
        self.predicates: list[model.Predicate] = []
        self.predicate_index: dict[str, int] = {}
        self.functions: list[model.Predicate] = []
        self.function_index: dict[str, int] = {}
        self.actions: dict[str, model.Action] = {}
        self.processes: dict[str, model.Process] = {}
        self.events: dict[str, model.Action] = {}
        self.parameter_types: dict[str, tuple[tuple[int, ...], ...]] = {}
        self.action_predicates: dict[tuple[str, str], int] = {}
        """Predicates that stand for actions in rules: (kind, action) -> predicate."""
        self.derived: frozenset[int] = frozenset()
        self.agents: tuple[Agent, ...] = ()
        """The agents of a factored task; empty for other tasks."""

    def read_ground_atom(self, node: Node) -> Atom | None:
        """Read a well-typed ground atom, as a fast path; ``None`` for any other node, right or wrong."""
        if not isinstance(node, list):
            return None
        sets, objects, nameable_count = self.types.domain_sets, self.object_index, self.nameable_object_count
        arguments = []
        try:
            index = self.predicate_index[node[0]]  # type: ignore[index] # a list here raises a TypeError
            domains = self.predicates[index].domains
            if len(domains) != len(node) - 1:
                return None
            position = 1
            for domain in domains:
                number = objects[node[position]]  # type: ignore[index] # a list here raises a TypeError
                if number not in sets[domain] or number >= nameable_count:
                    return None
                arguments.append(number)
                position += 1
        except (KeyError, TypeError, IndexError):
            return None
        return _make_atom((index, tuple(arguments)))

    def read_ground_literal(self, node: Node) -> Atom | Not | None:
        """Read a well-typed ground atom or its negation, as a fast path; ``None`` for any other node."""
        if len(node) == 2 and node[0] == "not":
            atom = self.read_ground_atom(node[1])
            return None if atom is None else Not(atom)
        return self.read_ground_atom(node)

    def get_action_predicate(self, kind: str, action: model.Action) -> int:
        """Return the predicate that is true of an action's arguments where it starts, ends or is running."""
        key = (kind, action.name)
        if key not in self.action_predicates:
            self.action_predicates[key] = len(self.predicates)
            domains = tuple([v.domain for v in action.parameters])
            types = self.parameter_types[action.name][: len(domains)]
            self.predicates.append(model.Predicate(f"{kind} of {action.name}", types, domains, None))
        return self.action_predicates[key]


class ScopeVariable(NamedTuple):
    """A variable in scope: its slot, its type alternatives, and where it is declared."""

    slot: int
    types: tuple[int, ...]
    at: Place


class Scope:
    """The variables in scope. Slots are numbered over the whole scope: inner variables never reuse an outer slot."""

    def __init__(self, outer: Scope | None = None) -> None:
        """Start empty, or with the variables of an outer scope."""
        self.visible: dict[str, ScopeVariable] = {} if outer is None else dict(outer.visible)
        self.slots: list[Variable] = [] if outer is None else list(outer.slots)
        self.has_duration = False
        self._bound: list[tuple[str, ScopeVariable | None]] = []
        """Bound names in order, each with the variable that it hides."""

    def bind(self, declared: TypedName, types: tuple[int, ...], domain: int) -> Variable:
        """Add a variable to the scope, and return it."""
        name = declared.name
        variable = Variable(len(self.slots), domain, name)
        self.slots.append(variable)
        self._bound.append((name, self.visible.get(name)))
        self.visible[name] = ScopeVariable(variable.slot, types, declared.at)
        return variable

    def mark(self) -> int:
        """Return a mark of the variables that are now in scope, for :meth:`restore`."""
        return len(self._bound)

    def restore(self, mark: int) -> None:
        """Remove the variables that were bound since ``mark``."""
        while len(self._bound) > mark:
            name, hidden = self._bound.pop()
            if hidden is None:
                del self.visible[name]
            else:
                self.visible[name] = hidden
