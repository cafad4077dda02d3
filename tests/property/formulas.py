"""Random formulas over a small vocabulary: conditions, past and future formulas, PDDL3 constraints."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from case import FUNCTIONS, PREDICATES, Sexp

SUBTYPES = {
    "object": ("object", "thing", "agent", "cup", "pan"),
    "thing": ("thing", "cup", "pan"),
    "agent": ("agent",),
    "cup": ("cup",),
    "pan": ("pan",),
}
TYPES = ("object", "object", "thing", "thing", "cup", "agent")
PAST_UNARY = ("yesterday", "weak-yesterday", "once", "historically")
FUTURE_UNARY = ("next", "weak-next", "always", "sometime")
FUTURE_BINARY = ("until", "release", "sometime-after")
PDDL3 = (
    "at end",
    "always",
    "sometime",
    "within",
    "at-most-once",
    "sometime-after",
    "sometime-before",
    "always-within",
    "hold-during",
    "hold-after",
)
NUMBERS = ("0", "1", "2", "3", "-1", "0.5", "1.5")
COMPARISONS = ("=", "<", ">", "<=", ">=")
Scope = dict[str, str]  # variables with their types; an alternative of types is "a|b"


class Style(NamedTuple):
    """What formulas of a case may use."""

    numeric: bool
    partial: bool  # some numbers are undefined
    derived: bool
    actions: bool
    timed: bool


def related(first: str, second: str) -> bool:
    """Whether two types are the same, or one is a subtype of the other, for all alternatives of the first."""
    return all(second in SUBTYPES[a] or a in SUBTYPES[second] for a in first.split("|"))


def heads(declared: tuple[str, ...]) -> list[str]:
    """The parameter types of a declaration ``(name ?x - t ?y ?z - u)``."""
    types: list[str] = []
    remaining = list(declared[1:])
    while remaining:
        word = remaining.pop(0)
        if word == "-":
            kind = remaining.pop(0)
            types = [type_name or kind for type_name in types]
        else:
            types.append("")
    return types


class Formulas:
    """Random formulas about the given objects. ``actions`` are names with their parameters' types."""

    def __init__(self, random: Random, objects: dict[str, str], style: Style) -> None:
        self.random = random
        self.objects = objects
        self.style = style
        self.actions: dict[str, list[str]] = {}
        self.durative: list[str] = []
        self.basic = ["p", "p", "q", "q", "r", "s", "n"]
        self.names = [*self.basic, "d", "e"] if style.derived else self.basic

    # -- terms and atoms ----------------------------------------------------------------------------------------------

    def term(self, kind: str, scope: Scope) -> str | None:
        """A variable or object that fits a type; variables are more likely."""
        variables = [v for v, type_name in scope.items() if related(type_name, kind)]
        objects = [name for name, type_name in self.objects.items() if type_name in SUBTYPES[kind]]
        if variables and (not objects or self.random.random() < 0.8):
            return self.random.choice(variables)
        return self.random.choice(objects) if objects else None

    def atom(self, scope: Scope, names: list[str] | None = None) -> Sexp:
        """An atom; ``(n)`` if no variable or object has the type."""
        name = self.random.choice(names or self.names)
        terms = [self.term(kind, scope) for kind in heads(PREDICATES[name])]
        return ("n",) if None in terms else (name, *[term for term in terms if term is not None])

    def fluent(self, scope: Scope) -> Sexp:
        """A fluent."""
        term = self.term(heads(FUNCTIONS["f"])[0], scope)
        return ("g",) if term is None or self.random.random() < 0.3 else ("f", term)

    def number(self, scope: Scope, depth: int = 1) -> Sexp:
        """An expression."""
        roll = self.random.random()
        if roll < 0.5 or depth == 0:
            return self.fluent(scope)
        if roll < 0.8:
            return self.random.choice(NUMBERS)
        return (
            self.random.choice("+-*/" if self.style.partial else "+-*"),
            self.number(scope, depth - 1),
            self.number(scope, depth - 1),
        )

    def leaf(self, scope: Scope, past: bool) -> Sexp:
        """A literal, comparison, identity or (in past formulas) an action."""
        roll = self.random.random()
        if past and self.style.actions and self.actions and roll < 0.2:
            return self.action(scope)
        if self.style.numeric and roll < 0.35:
            return (self.random.choice(COMPARISONS), self.number(scope), self.number(scope))
        if roll > 0.96 and scope:
            pair = [self.random.choice([*scope, *self.objects]) for _ in range(2)]
            return ("=", *pair)
        atom = self.atom(scope)
        return ("not", atom) if self.random.random() < 0.35 else atom

    def action(self, scope: Scope) -> Sexp:
        """An action being taken, ``_`` for some arguments."""
        mode = "action"
        name = self.random.choice([*self.actions])
        if self.durative and self.random.random() < 0.6:
            name = self.random.choice(self.durative)
            mode = self.random.choice(("action", "action-end", "action-during"))
        return (mode, self.step(name, scope))

    def step(self, name: str, scope: Scope) -> Sexp:
        """``(name term ..)``."""
        terms = [self.term(kind, scope) if self.random.random() < 0.75 else None for kind in self.actions[name]]
        return (name, *[term or "_" for term in terms])

    # -- formulas -----------------------------------------------------------------------------------------------------

    def quantified(self, scope: Scope) -> tuple[str, Sexp, Scope]:
        """A quantifier with its variable; a name is sometimes used again."""
        kind = self.random.choice(TYPES)
        if self.random.random() < 0.05:
            kind = self.random.choice(("cup|agent", "pan|agent"))
        name = f"?v{len(scope)}"
        if scope and self.random.random() < 0.06:
            name = self.random.choice([*scope])
        declared: Sexp = ("either", *kind.split("|")) if "|" in kind else kind
        return self.random.choice(("forall", "exists")), (name, "-", declared), {**scope, name: kind}

    def formula(self, depth: int, scope: Scope, level: str = "state") -> Sexp:
        """A formula of at most this depth. ``level``: state, past or future."""
        roll = self.random.random()
        if depth <= 0 or roll < 0.1:
            return self.leaf(scope, level != "state")
        if roll > 0.95 and len(scope) < 4:
            return self.alternation(self.random.randint(2, 4), scope, level)
        if roll < 0.28 and len(scope) < 3:
            quantifier, variables, inner = self.quantified(scope)
            return (quantifier, variables, self.formula(depth - 1, inner, level))
        if level == "state" or roll < 0.5:
            return self.connective(depth, scope, level)
        if level == "future" and roll < 0.82:
            if self.random.random() < 0.6:
                return (self.random.choice(FUTURE_UNARY), self.formula(depth - 1, scope, "future"))
            operator = self.random.choice(FUTURE_BINARY)
            return (operator, self.formula(depth - 1, scope, "future"), self.formula(depth - 1, scope, "future"))
        if self.random.random() < 0.25:
            return ("since", self.formula(depth - 1, scope, "past"), self.formula(depth - 1, scope, "past"))
        return (self.random.choice(PAST_UNARY), self.formula(depth - 1, scope, "past"))

    def alternation(self, depth: int, scope: Scope, level: str) -> Sexp:
        """Alternating quantifiers; literals restrict most of their variables."""
        if depth == 0:
            return self.leaf(scope, level != "state")
        quantifier, variables, inner = self.quantified(scope)
        guards = [self.leaf(inner, False) for _ in range(self.random.choice((0, 1, 1, 1, 2)))]
        body = [*guards, self.alternation(depth - 1, inner, level)]
        if self.random.random() < 0.2:
            body.append(self.alternation(depth - 1, inner, level))
        if quantifier == "forall" and guards:
            return (quantifier, variables, ("imply", ("and", *guards), ("or", *body[len(guards) :])))
        return (quantifier, variables, (self.random.choice(("and", "and", "or")), *body))

    def connective(self, depth: int, scope: Scope, level: str) -> Sexp:
        """A Boolean combination."""
        operator = self.random.choice(("and", "or", "not", "imply", "and", "or"))
        count = {"not": 1, "imply": 2}.get(operator) or self.random.choice((1, 2, 2, 2, 2, 2, 2, 3, 3))
        return (operator, *[self.formula(depth - 1, scope, level) for _ in range(count)])

    def bound(self) -> str:
        """A time."""
        return self.random.choice(("0", "1", "2", "3", "4.5", "5", "8", "12", "20", "30"))

    def operator(self, depth: int, scope: Scope, level: str) -> Sexp:
        """One of the ten PDDL3 operators, over formulas of a level."""
        name = self.random.choice(PDDL3)
        first, second = (self.formula(depth, scope, level) for _ in range(2))
        if self.random.random() < 0.03:
            first = (self.random.choice(("and", "or")),)
        match name:
            case "at end":
                return ("at", "end", first)
            case "within" | "hold-after":
                return (name, self.bound(), first)
            case "always-within":
                return (name, self.random.choice(("0", "1", "2", "3", "6.5")), first, second)
            case "hold-during":
                low, high = sorted((self.bound(), self.bound()), key=float)
                if self.random.random() < 0.05:
                    low, high = high, low
                return (name, low, high, first)
            case "sometime-after" | "sometime-before":
                return (name, first, second)
            case _:
                return (name, first)

    def top(self, depth: int, scope: Scope) -> Sexp:
        """A trajectory formula: Boolean combinations and quantifiers over PDDL3 operators and future formulas."""
        roll = self.random.random()
        if depth <= 1 or roll < 0.35:
            return self.operator(min(depth, 2), scope, "past")
        if roll < 0.5:
            return self.formula(depth - 1, scope, "future")
        if roll < 0.7 and len(scope) < 3:
            quantifier, variables, inner = self.quantified(scope)
            return (quantifier, variables, self.top(depth - 1, inner))
        operator = self.random.choice(("and", "or", "not", "imply"))
        count = {"not": 1, "imply": 2}.get(operator) or 2
        return (operator, *[self.top(depth - 1, scope) for _ in range(count)])
