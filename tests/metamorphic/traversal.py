"""A walk through all texts of a task that knows what each token is; rewritings override the hooks that they need."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from metamorphic_task import List, Task, Tree, field, is_timed_literal
from symbols import Symbols, symbols_of, typed_pairs

FORMULA_FIELDS = (":when", ":forbid", ":require", ":forbid-after", ":require-after", ":formula", ":then", ":holds")
STEP_FIELDS = (":on", ":at-end", ":during")
ASSIGNMENTS = ("assign", "increase", "decrease", "scale-up", "scale-down")
COMPARISONS = ("=", "<", ">", "<=", ">=")
ARITHMETIC = ("+", "-", "*", "/")
ACTION_MODES = ("action", "action-end", "action-during")
FUTURE = ("next", "weak-next", "until", "release", "always", "sometime", "sometime-after")
TRACE = ("at", "within", "at-most-once", "sometime-before", "always-within", "hold-during", "hold-after")
OPERATORS = {
    **dict.fromkeys(("yesterday", "weak-yesterday", "once", "historically", "next", "weak-next"), 1),
    **dict.fromkeys(("always", "sometime", "at-most-once"), 1),
    **dict.fromkeys(("since", "until", "release", "sometime-after", "sometime-before"), 2),
    **dict.fromkeys(("within", "hold-after", "at"), 1),
    "always-within": 2,
    "hold-during": 1,
}
"""Temporal operators with the number of formulas that they take; other arguments come before these."""


class Scope(NamedTuple):
    """Where a formula or effect is.

    ``place``: ``domain``, ``problem``, ``constraint`` or ``rule``. ``level`` says which operators may stand there:
    ``state``, ``past``, ``future``, ``trajectory`` or ``constraint``. ``variables`` are the bound ones with types.
    """

    place: str
    level: str = "state"
    variables: tuple[tuple[str, Tree], ...] = ()

    def inside(self, pairs: list[tuple[str, Tree]]) -> Scope:
        """The scope below a quantifier."""
        return self._replace(variables=(*self.variables, *pairs))


def operands(tree: List) -> int:
    """How many formulas a temporal operator has at its end; 0 if the tree is not one (an atom of that name, say)."""
    count = OPERATORS.get(str(tree[0]), 0) if tree else 0
    if not count or len(tree) <= count or not all(isinstance(part, tuple) for part in tree[-count:]):
        return 0
    return count


def is_quantifier(tree: Tree) -> bool:
    """True for ``(forall (..) F)`` and ``(exists (..) F)``."""
    return isinstance(tree, tuple) and len(tree) == 3 and tree[0] in ("forall", "exists") and isinstance(tree[1], tuple)


def steps_of(rule: List) -> list[List]:
    """The STEPs of a rule, if it is about steps."""
    values = [value for name, value in zip(rule[2::2], rule[3::2], strict=True) if name in STEP_FIELDS]
    return [step for value in values for step in (value[1:] if isinstance(value[-1], tuple) else (value,))]


def rule_variables(rule: List, symbols: Symbols) -> list[tuple[str, Tree]]:
    """The declared parameters of a rule, and the variables of its STEPs with the types that the actions give them."""
    pairs = typed_pairs(field(rule, ":parameters"))
    names = {name for name, _ in pairs}
    for step in steps_of(rule):
        for term, kind in zip(step[1:], symbols.actions.get(step[0], []), strict=False):
            if term.startswith("?") and term not in names:
                names.add(term)
                pairs.append((term, kind))
    return pairs


def level_below(operator: str, level: str) -> str:
    """The level of an operator's operands."""
    if level == "constraint":
        return "state"
    return "future" if operator in FUTURE and level != "past" else "past"


class Traversal:
    """Rebuilds a task. The hooks for names return the name itself, the hooks for trees the tree itself."""

    _symbols: Symbols

    def type_name(self, name: str) -> str:
        """Hook: a type."""
        return name

    def object_name(self, name: str) -> str:
        """Hook: an object or constant."""
        return name

    def predicate_name(self, name: str) -> str:
        """Hook: a predicate."""
        return name

    def function_name(self, name: str) -> str:
        """Hook: a function."""
        return name

    def action_name(self, name: str) -> str:
        """Hook: an action."""
        return name

    def variable_name(self, name: str) -> str:
        """Hook: a variable."""
        return name

    def rule_name(self, name: str) -> str:
        """Hook: a rule."""
        return name

    def message(self, text: str) -> str:
        """Hook: a string."""
        return text

    def root(self, tree: Tree, scope: Scope) -> Tree:
        """Hook: a whole formula, before its parts are visited."""
        return tree

    def formula(self, tree: List, scope: Scope) -> Tree:
        """Hook: a formula whose parts have been visited."""
        return tree

    def effect(self, tree: List, scope: Scope) -> Tree:
        """Hook: an effect whose parts have been visited."""
        return tree

    # -- the walk -----------------------------------------------------------------------------------------------------

    def task(self, task: Task) -> Task:
        """The whole task."""
        self._symbols = symbols_of(task)
        return task._replace(
            domain=(*task.domain[:2], *[self._domain_section(part) for part in task.domain[2:]]),
            problem=(*task.problem[:2], *[self._problem_section(part) for part in task.problem[2:]]),
            specs=tuple((*spec[:2], *[self._rule(part) for part in spec[2:]]) for spec in task.specs),
            plans=tuple(tuple(self._plan_entry(entry) for entry in plan) for plan in task.plans),
        )

    def _domain_section(self, part: List) -> List:
        scope = Scope("domain")
        match part[0]:
            case ":types":
                return (part[0], *self._typed(part[1:], self.type_name))
            case ":constants":
                return (part[0], *self._typed(part[1:], self.object_name))
            case ":predicates":
                return (part[0], *[self._head(head, self.predicate_name) for head in part[1:]])
            case ":functions":
                heads = [self._head(head, self.function_name) if isinstance(head, tuple) else head for head in part[1:]]
                return (part[0], *heads)
            case ":derived":
                inner = scope.inside(typed_pairs(part[1][1:]))
                return (part[0], self._head(part[1], self.predicate_name), self._whole_formula(part[2], inner))
            case ":constraints":
                return (part[0], *[self._whole_formula(tree, Scope("constraint", "constraint")) for tree in part[1:]])
            case ":action" | ":durative-action":
                return self._action(part)
        return part

    def _problem_section(self, part: List) -> List:
        scope = Scope("problem")
        match part[0]:
            case ":objects":
                return (part[0], *self._typed(part[1:], self.object_name))
            case ":init":
                return (part[0], *[self._initial(entry) for entry in part[1:]])
            case ":goal":
                return (part[0], *[self._whole_formula(tree, scope) for tree in part[1:]])
            case ":constraints":
                return (part[0], *[self._whole_formula(tree, Scope("constraint", "constraint")) for tree in part[1:]])
            case ":metric":
                return (*part[:2], self._measure(part[2]))
        return part

    def _measure(self, tree: Tree) -> Tree:
        if isinstance(tree, tuple) and tree[0] in ARITHMETIC:
            return (tree[0], *[self._measure(part) for part in tree[1:]])
        name = tree[0] if isinstance(tree, tuple) else tree
        return tree if name in ("is-violated", "total-time") else self._expression(tree)

    def _initial(self, entry: List) -> Tree:
        if is_timed_literal(entry):
            return (entry[0], entry[1], self._initial(entry[2]))
        if entry[0] in ("and", "or", "oneof", "not", "unknown") and all(isinstance(part, tuple) for part in entry[1:]):
            return (entry[0], *[self._initial(part) for part in entry[1:]])
        if entry[0] in COMPARISONS:
            return (entry[0], *[self._expression(part) for part in entry[1:]])
        return self._atom(entry)

    def _action(self, part: List) -> List:
        fields = dict(zip(part[2::2], part[3::2], strict=True))
        parameters = fields.get(":parameters", ())
        scope = Scope("domain").inside(typed_pairs(parameters))
        out: list[Tree] = [part[0], self.action_name(part[1])]
        for name, value in fields.items():
            match name:
                case ":parameters":
                    value = self._typed(value, self.variable_name)
                case ":precondition":
                    value = self._whole_formula(value, scope)
                case ":condition" | ":duration":
                    value = self._timed_condition(value, scope)
                case ":effect":
                    value = self._effect(value, scope)
            out += [name, value]
        return tuple(out)

    def _timed_condition(self, tree: List, scope: Scope) -> Tree:
        if tree and tree[0] == "and":
            return (tree[0], *[self._timed_condition(part, scope) for part in tree[1:]])
        if is_quantifier(tree):
            inner = scope.inside(typed_pairs(tree[1]))
            return (tree[0], self._typed(tree[1], self.variable_name), self._timed_condition(tree[2], inner))
        if tree and tree[0] == "preference" and isinstance(tree[-1], tuple):
            return (*tree[:-1], self._timed_condition(tree[-1], scope))
        if is_phased(tree):
            if "?duration" in str(tree[2][:2]):
                return (*tree[:2], self._timed_condition(tree[2], scope))
            return (*tree[:2], self._whole_formula(tree[2], scope))
        if tree and tree[0] in COMPARISONS:
            return (tree[0], *[self._expression(part) for part in tree[1:]])
        return self._whole_formula(tree, scope) if tree else tree

    def _effect(self, tree: List, scope: Scope) -> Tree:
        if not tree:
            return tree
        if tree[0] in ("and", "oneof"):
            out: List = (tree[0], *[self._effect(part, scope) for part in tree[1:]])
        elif is_quantifier(tree):
            inner = scope.inside(typed_pairs(tree[1]))
            out = (tree[0], self._typed(tree[1], self.variable_name), self._effect(tree[2], inner))
        elif tree[0] == "when":
            out = (tree[0], self._guard(tree[1], scope), self._effect(tree[2], scope))
        elif is_phased(tree):
            out = (*tree[:2], self._effect(tree[2], scope))
        elif tree[0] in ASSIGNMENTS:
            out = (tree[0], *[self._expression(part) for part in tree[1:]])
        elif tree[0] == "not":
            out = (tree[0], self._atom(tree[1]))
        else:
            out = self._atom(tree)
        return self.effect(out, scope)

    def _guard(self, tree: List, scope: Scope) -> Tree:
        if is_phased(tree):
            return (*tree[:2], self._whole_formula(tree[2], scope))
        if tree and tree[0] == "and" and any(is_phased(part) for part in tree[1:]):
            return (tree[0], *[self._guard(part, scope) for part in tree[1:]])
        return self._whole_formula(tree, scope)

    def _rule(self, part: List) -> List:
        if part[0] == ":open":
            return (part[0], *[self._head(head, self.predicate_name) for head in part[1:]])
        if part[0] not in (":process", ":trajectory", ":termination", ":obligation", ":invariant"):
            return part
        fields = list(zip(part[2::2], part[3::2], strict=True))
        variables = rule_variables(part, self._symbols)
        scope = Scope("rule", "past").inside(variables)
        out: list[Tree] = [part[0], self.rule_name(part[1])]
        for name, value in fields:
            if name == ":parameters":
                value = self._typed(value, self.variable_name)
            elif name in STEP_FIELDS:
                value = self._steps(value)
            elif name in FORMULA_FIELDS:
                level = {":formula": "trajectory", ":holds": "state"}.get(name, "past")
                value = self._whole_formula(value, scope._replace(level=level))
            elif name in (":exactly-one", ":at-most-one"):
                value = tuple(self._atom(atom) for atom in value)
            elif isinstance(value, str) and value.startswith('"'):
                value = self.message(value)
            out += [name, value]
        return tuple(out)

    def _steps(self, value: List) -> List:
        if value[0] == "or" and any(isinstance(part, tuple) for part in value[1:]):
            return (value[0], *[self._steps(part) for part in value[1:]])
        return self._step(value)

    def _plan_entry(self, entry: Tree) -> Tree:
        if isinstance(entry, str):
            return entry
        if entry and entry[0] == "define":
            return tuple(
                (part[0], *[self._labelled(step) for step in part[1:]]) if part[0] == ":steps" else part
                for part in entry
            )
        return self._step(entry)

    def _labelled(self, step: List) -> List:
        if any(isinstance(part, tuple) for part in step):
            return tuple(self._step(part) if isinstance(part, tuple) else part for part in step)
        return self._step(step)

    # -- formulas -----------------------------------------------------------------------------------------------------

    def _whole_formula(self, tree: Tree, scope: Scope) -> Tree:
        return self._formula(self.root(tree, scope), scope)

    def _formula(self, tree: List, scope: Scope) -> Tree:
        if not tree:
            return tree
        head = tree[0]
        if head in ("and", "or", "not", "imply"):
            out: List = (head, *[self._formula(part, scope) for part in tree[1:]])
        elif is_quantifier(tree):
            inner = scope.inside(typed_pairs(tree[1]))
            out = (head, self._typed(tree[1], self.variable_name), self._formula(tree[2], inner))
        elif head == "preference" and isinstance(tree[-1], tuple):
            return (*tree[:-1], self._formula(tree[-1], scope))
        elif head in ACTION_MODES and len(tree) == 2 and isinstance(tree[1], tuple):
            out = (head, self._step(tree[1]))
        elif count := operands(tree) if scope.level != "state" else 0:
            below = scope._replace(level=level_below(head, scope.level))
            out = (*tree[:-count], *[self._formula(part, below) for part in tree[-count:]])
        elif head in COMPARISONS and len(tree) == 3:
            out = (head, *[self._expression(part, head == "=") for part in tree[1:]])
        else:
            out = self._atom(tree)
        return self.formula(out, scope)

    def _expression(self, tree: Tree, may_be_object: bool = False) -> Tree:
        if isinstance(tree, str):
            if tree == "?duration" or tree[0] in "0123456789+-.":
                return tree
            if tree[0] == "?" or may_be_object:
                return self._term(tree)
            return self.function_name(tree)
        if tree[0] in ARITHMETIC:
            return (tree[0], *[self._expression(part) for part in tree[1:]])
        return (self.function_name(str(tree[0])), *[self._term(str(term)) for term in tree[1:]])

    def _atom(self, tree: List) -> List:
        return (self.predicate_name(tree[0]), *[self._term(term) for term in tree[1:]])

    def _step(self, tree: List) -> List:
        return (self.action_name(tree[0]), *[self._term(term) for term in tree[1:]]) if tree else tree

    def _term(self, term: str) -> str:
        if term == "_" or not isinstance(term, str):
            return term
        return self.variable_name(term) if term.startswith("?") else self.object_name(term)

    # -- declarations -------------------------------------------------------------------------------------------------

    def _head(self, head: List, hook: Callable[[str], str]) -> List:
        return (hook(head[0]), *self._typed(head[1:], self.variable_name))

    def _typed(self, words: List, hook: Callable[[str], str]) -> List:
        out: list[Tree] = []
        after_dash = False
        for word in words:
            if isinstance(word, tuple):
                out.append((word[0], *[self.type_name(str(name)) for name in word[1:]]))
            elif after_dash:
                out.append(self.type_name(word))
            else:
                out.append(word if word == "-" else hook(word))
            after_dash = word == "-"
        return tuple(out)


def is_phased(tree: Tree) -> bool:
    """True for ``(at start ..)``, ``(at end ..)`` and ``(over all ..)`` around a tree."""
    return (
        isinstance(tree, tuple)
        and len(tree) == 3
        and isinstance(tree[2], tuple)
        and tree[:2] in (("at", "start"), ("at", "end"), ("over", "all"))
    )


class _Mapped(Traversal):
    def __init__(
        self,
        root: Callable[[Tree, Scope], Tree] | None,
        formula: Callable[[List, Scope], Tree] | None,
        effect: Callable[[List, Scope], Tree] | None,
    ) -> None:
        self._hooks = root, formula, effect

    def root(self, tree: Tree, scope: Scope) -> Tree:
        return self._hooks[0](tree, scope) if self._hooks[0] else tree

    def formula(self, tree: List, scope: Scope) -> Tree:
        return self._hooks[1](tree, scope) if self._hooks[1] else tree

    def effect(self, tree: List, scope: Scope) -> Tree:
        return self._hooks[2](tree, scope) if self._hooks[2] else tree


def map_roots(task: Task, change: Callable[[Tree, Scope], Tree]) -> Task:
    """Change each whole formula."""
    return _Mapped(change, None, None).task(task)


def map_formulas(task: Task, change: Callable[[List, Scope], Tree]) -> Task:
    """Change each subformula, the innermost first."""
    return _Mapped(None, change, None).task(task)


def map_effects(task: Task, change: Callable[[List, Scope], Tree]) -> Task:
    """Change each effect, the innermost first."""
    return _Mapped(None, None, change).task(task)
