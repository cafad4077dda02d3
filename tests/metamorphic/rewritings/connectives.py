"""Boolean equivalences. All hold in three values."""

from __future__ import annotations

from random import Random

from metamorphic_task import List, Task, Tree
from traversal import Scope, is_quantifier, map_formulas, map_roots, operands
from verdicts import EQUIVALENT_FORMULAS

from rewritings.base import rewriting

DUALS = {
    "and": "or",
    "or": "and",
    "forall": "exists",
    "exists": "forall",
    "always": "sometime",
    "sometime": "always",
    "next": "weak-next",
    "weak-next": "next",
    "until": "release",
    "release": "until",
    "once": "historically",
    "historically": "once",
    "yesterday": "weak-yesterday",
    "weak-yesterday": "yesterday",
}
OPPOSITE_COMPARISONS = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def negated(tree: Tree) -> Tree:
    """The negation of a formula; a double negation is taken off."""
    return tree[1] if tree and tree[0] == "not" else ("not", tree)


def has_preference(tree: Tree) -> bool:
    """True if a formula has a preference below it."""
    return isinstance(tree, tuple) and bool(tree) and (tree[0] == "preference" or any(map(has_preference, tree)))


def has_dual(tree: List, level: str) -> bool:
    """True for quantifiers and operators with a dual operator."""
    if not tree or tree[0] not in DUALS:
        return False
    if tree[0] in ("and", "or"):
        return True
    return is_quantifier(tree) or (level != "state" and operands(tree) > 0)


def is_outer(tree: List, scope: Scope) -> bool:
    """True for what cuts ``:constraints`` into rules and declares their parameters."""
    return scope.level == "constraint" and tree[0] in ("and", "forall")


def dual(tree: List) -> Tree:
    """The formula, written as the negation of its dual operator."""
    if is_quantifier(tree):
        return ("not", (DUALS[tree[0]], tree[1], negated(tree[2])))
    return ("not", (DUALS[tree[0]], *[negated(part) for part in tree[1:]]))


def normal_form(tree: Tree, positive: bool, level: str) -> Tree:
    """The negation normal form of a formula or of its negation."""
    if not tree:
        return tree if positive else ("or",)
    head = tree[0]
    if head == "not":
        return normal_form(tree[1], not positive, level)
    if head == "imply":
        return normal_form(("or", ("not", tree[1]), tree[2]), positive, level)
    if head == "preference":
        return (*tree[:-1], normal_form(tree[-1], True, level))
    if is_quantifier(tree):
        return (head if positive else DUALS[head], tree[1], normal_form(tree[2], positive, level))
    if head in ("and", "or"):
        return (head if positive else DUALS[head], *[normal_form(part, positive, level) for part in tree[1:]])
    count = operands(tree) if level != "state" else 0
    if not count:
        return tree if positive else ("not", tree)
    turned = positive or head in DUALS
    inner = [normal_form(part, positive or not turned, level) for part in tree[-count:]]
    out: Tree = (head if positive or not turned else DUALS[head], *tree[1:-count], *inner)
    return out if turned else ("not", out)


@rewriting(EQUIVALENT_FORMULAS)
def negation_normal_form(task: Task, _: Random) -> Task:
    """Push all negations down to the atoms."""
    return map_roots(task, lambda tree, scope: normal_form(tree, True, scope.level))


@rewriting(EQUIVALENT_FORMULAS)
def de_morgan(task: Task, random: Random) -> Task:
    """Write connectives, quantifiers and operators as negations of their duals."""

    def change(tree: List, scope: Scope) -> Tree:
        if is_outer(tree, scope) or not has_dual(tree, scope.level) or has_preference(tree) or random.random() < 0.5:
            return tree
        return dual(tree)

    return map_formulas(task, change)


@rewriting(EQUIVALENT_FORMULAS)
def implications(task: Task, random: Random) -> Task:
    """Write ``imply`` as ``or`` and the other way round."""

    def change(tree: List, _: Scope) -> Tree:
        if tree[0] == "imply":
            return ("or", ("not", tree[1]), tree[2])
        if tree[0] == "or" and len(tree) >= 3 and random.random() < 0.7:
            remaining_parts = tree[2] if len(tree) == 3 else ("or", *tree[2:])
            return ("imply", negated(tree[1]), remaining_parts)
        return tree

    return map_formulas(task, change)


@rewriting(EQUIVALENT_FORMULAS)
def neutral_connectives(task: Task, random: Random) -> Task:
    """Add double negations, connectives with one part, ``true`` conjuncts and ``false`` disjuncts."""

    def change(tree: List, scope: Scope) -> Tree:
        if is_outer(tree, scope) or has_preference(tree):
            return tree
        choices: tuple[Tree, ...] = (
            ("not", ("not", tree)),
            ("and", tree),
            ("or", tree),
            ("and", tree, ("and",)),
            ("or", ("or",), tree),
        )
        if scope.place != "rule":  # there the parts of a rule follow from the text (docs/language.md, Parts)
            choices = (*choices, ("or", tree, ("not", ("and",))), ("imply", ("and",), tree))
        return random.choice(choices) if random.random() < 0.3 else tree

    return map_formulas(task, change)


@rewriting(EQUIVALENT_FORMULAS)
def shuffled_operands(task: Task, random: Random) -> Task:
    """Shuffle the parts of ``and`` and ``or``, turn equations, and write some parts twice."""

    def change(tree: List, scope: Scope) -> Tree:
        if tree[0] in ("and", "or") and scope.level != "constraint" and not has_preference(tree):
            parts = list(tree[1:])
            if len(parts) > 1 and random.random() < 0.3:  # one part alone may cut a rule into others
                parts.append(random.choice(parts))
            random.shuffle(parts)
            return (tree[0], *parts)
        if tree[0] == "=" and len(tree) == 3:
            return ("=", tree[2], tree[1])
        return tree

    return map_formulas(task, change)


@rewriting(EQUIVALENT_FORMULAS)
def nested_operands(task: Task, random: Random) -> Task:
    """Put neighbours in an ``and`` or ``or`` into one of their own; join those that are inside their like."""

    def change(tree: List, _: Scope) -> Tree:
        if tree[0] not in ("and", "or") or has_preference(tree):
            return tree
        parts: list[Tree] = []
        for part in tree[1:]:
            parts += part[1:] if part and part[0] == tree[0] else [part]
        if len(parts) > 2 and random.random() < 0.6:
            cut = random.randint(1, len(parts) - 1)
            parts = [*parts[: cut - 1], (tree[0], *parts[cut - 1 : cut + 1]), *parts[cut + 1 :]]
        return (tree[0], *parts)

    return map_formulas(task, change)


@rewriting(EQUIVALENT_FORMULAS)
def opposite_comparisons(task: Task, random: Random) -> Task:
    """Write ``(< a b)`` as ``(> b a)`` or ``(not (>= a b))``."""

    def change(tree: List, _: Scope) -> Tree:
        if tree[0] not in OPPOSITE_COMPARISONS or len(tree) != 3:
            return tree
        if random.random() < 0.5:
            return ({"<": ">", ">": "<", "<=": ">=", ">=": "<="}[tree[0]], tree[2], tree[1])
        return ("not", (OPPOSITE_COMPARISONS[tree[0]], *tree[1:]))

    return map_formulas(task, change)


@rewriting(EQUIVALENT_FORMULAS)
def distributed_conjunctions(task: Task, random: Random) -> Task:
    """Distribute ``and`` over ``or`` in conditions of the domain and in the goal, where findings name no objects."""

    def change(tree: List, scope: Scope) -> Tree:
        if (
            scope.place in ("rule", "constraint")
            or scope.level != "state"
            or tree[0] not in ("and", "or")
            or has_preference(tree)
        ):
            return tree
        dual_operator = DUALS[tree[0]]
        places = [n for n, part in enumerate(tree) if n and part and part[0] == dual_operator]
        if not places or random.random() < 0.3:
            return tree
        place = random.choice(places)
        remaining_parts = (*tree[1:place], *tree[place + 1 :])
        return (dual_operator, *[(tree[0], *remaining_parts, part) for part in tree[place][1:]])

    return map_formulas(task, change)
