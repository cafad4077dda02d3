"""Variables: renaming, grounding, and moving quantifiers."""

from __future__ import annotations

import re
from random import Random

from metamorphic_task import List, Task, Tree, field, with_field, without_fields
from symbols import Symbols, alternatives, symbols_of, typed_list, typed_pairs
from traversal import Scope, Traversal, is_quantifier, map_effects, map_formulas, map_roots, rule_variables, steps_of
from verdicts import EQUIVALENT_FORMULAS, Names

from rewritings.base import Rewritten, rewriting
from rewritings.connectives import has_preference
from rewritings.sections import all_constants

MOST_INSTANCES = 24


def replaced(tree: Tree, binding: dict[str, str]) -> Tree:
    """The tree with free variables replaced."""
    if isinstance(tree, str):
        return binding.get(tree, tree)
    if is_quantifier(tree):
        inner = dict(typed_pairs(tree[1]))
        binding = {name: value for name, value in binding.items() if name not in inner}
        return (tree[0], tree[1], replaced(tree[2], binding))
    return tuple(replaced(part, binding) for part in tree)


def bound_variables(tree: Tree) -> list[str]:
    """The variables of all quantifiers in a tree."""
    if isinstance(tree, str):
        return []
    quantified_names = [name for name, _ in typed_pairs(tree[1])] if is_quantifier(tree) else []
    return quantified_names + [name for part in tree for name in bound_variables(part)]


def may_change(tree: List, scope: Scope) -> bool:
    """True for quantifiers that may become connectives.

    Outer ones of ``:constraints`` declare the parameters of a rule. Those that shadow a parameter of a rule keep it in
    one part (docs/language.md, Parts).
    """
    if scope.level == "constraint" or not is_quantifier(tree) or has_preference(tree):
        return False
    shadowed = {name for name, _ in typed_pairs(tree[1])} & {name for name, _ in scope.variables}
    return scope.place != "rule" or not shadowed


class _VariableNames(Traversal):
    def __init__(self, random: Random) -> None:
        self.random = random
        self.names: dict[str, str] = {}

    def variable_name(self, name: str) -> str:
        if name == "?duration":
            return name
        stem = self.random.choice(("?v", "?and", "?not-x", "?1", "?object", "?duration-", "?_"))
        return self.names.setdefault(name, f"{stem}{len(self.names)}")

    def message(self, text: str) -> str:
        return re.sub(r"\{(\?[^{}]+)\}", lambda match: "{" + self.variable_name(match[1].lower()) + "}", text)


@rewriting()
def renamed_variables(task: Task, random: Random) -> Rewritten:
    """Rename all variables, each everywhere alike."""
    names = _VariableNames(random)
    rewritten = names.task(task)
    return Rewritten(rewritten, Names(variables={new: old for old, new in names.names.items()}))


@rewriting()
def separate_variables(task: Task, random: Random) -> Rewritten:
    """Give each quantifier variables with new names, unless they shadow a variable around them."""
    original: dict[str, str] = {}

    def change(tree: Tree, scope: Scope) -> Tree:
        around = {name for name, _ in scope.variables}
        return renamed(tree, around)

    def renamed(tree: Tree, around: set[str]) -> Tree:
        if isinstance(tree, str) or not tree:
            return tree
        if is_quantifier(tree):
            quantified_names = {name for name, _ in typed_pairs(tree[1])}
            below = set(bound_variables(tree[2]))
            if not quantified_names & (around | below):
                fresh = {name: f"{name}-{len(original) + n}" for n, name in enumerate(sorted(quantified_names))}
                original.update({new: old for old, new in fresh.items()})
                words = tuple(fresh.get(word, word) if isinstance(word, str) else word for word in tree[1])
                return (tree[0], words, renamed(replaced(tree[2], fresh), around | quantified_names | set(fresh)))
            return (tree[0], tree[1], renamed(tree[2], around | quantified_names))
        return tuple(renamed(part, around) for part in tree)

    rewritten = map_roots(task, change)
    return Rewritten(rewritten, Names(variables=original))


@rewriting(EQUIVALENT_FORMULAS._replace(bindings=False))
def grounded_quantifiers(task: Task, random: Random) -> Task:
    """Write ``forall`` and ``exists`` as conjunctions and disjunctions over the objects."""
    task = all_constants(task, random)
    symbols = symbols_of(task)

    def change(tree: List, scope: Scope) -> Tree:
        if not may_change(tree, scope) or random.random() < 0.3:
            return tree
        return grounded(tree, scope, symbols)

    return map_formulas(task, change)


def grounded(tree: List, scope: Scope, symbols: Symbols) -> Tree:
    """The instances of a quantified formula or effect; the tree itself if one is not well typed or there are many.

    A quantifier over one object also stays, because the conjuncts of its only instance may be parts of the rule.
    """
    instances = [replaced(tree[2], binding) for binding in symbols.bindings(typed_pairs(tree[1]))]
    if len(instances) == 1:
        return tree
    variables = dict(scope.variables)
    if len(instances) > MOST_INSTANCES or not all(symbols.is_well_typed(part, variables) for part in instances):
        return tree
    return ("or" if tree[0] == "exists" else "and", *instances)


@rewriting()
def grounded_effects(task: Task, random: Random) -> Task:
    """Write ``forall`` effects as conjunctions."""
    task = all_constants(task, random)
    symbols = symbols_of(task)
    return map_effects(task, lambda tree, scope: grounded(tree, scope, symbols) if is_quantifier(tree) else tree)


@rewriting(EQUIVALENT_FORMULAS)
def split_types(task: Task, random: Random) -> Task:
    """Quantify over the subtypes of a type one by one, where these have all its objects."""
    symbols = symbols_of(task)

    def change(tree: List, scope: Scope) -> Tree:
        if not may_change(tree, scope) or random.random() < 0.3:
            return tree
        pairs = typed_pairs(tree[1])
        kinds = alternatives(pairs[0][1]) if pairs else ()
        parts = (
            kinds
            if len(kinds) > 1
            else [parent for parent, above in symbols.parents.items() if set(kinds) <= set(above or ("object",))]
        )
        if not parts or {o for k in parts for o in symbols.objects_of(k)} != set(symbols.objects_of(pairs[0][1])):
            return tree
        out = [(tree[0], typed_list([(pairs[0][0], kind), *pairs[1:]]), tree[2]) for kind in parts]
        if not all(symbols.is_well_typed(part, dict(scope.variables)) for part in out):
            return tree
        return ("and" if tree[0] == "forall" else "or", *out)

    return map_formulas(task, change)


@rewriting(EQUIVALENT_FORMULAS)
def distributed_quantifiers(task: Task, random: Random) -> Task:
    """Write ``forall`` of ``and`` as ``and`` of ``forall``, and ``exists`` of ``or`` as ``or`` of ``exists``."""

    def change(tree: List, scope: Scope) -> Tree:
        inner = "and" if tree[0] == "forall" else "or"
        if not may_change(tree, scope) or not tree[2] or tree[2][0] != inner:
            return tree
        return (inner, *[(tree[0], tree[1], part) for part in tree[2][1:]])

    return map_formulas(task, change)


@rewriting(EQUIVALENT_FORMULAS)
def joined_quantifiers(task: Task, random: Random) -> Task:
    """Join a quantifier and one of its kind right below it, or write one for each variable."""

    def change(tree: List, _: Scope) -> Tree:
        if not is_quantifier(tree):
            return tree
        pairs = typed_pairs(tree[1])
        names = {name for name, _ in pairs}
        below = tree[2]
        if is_quantifier(below) and below[0] == tree[0] and not names & {n for n, _ in typed_pairs(below[1])}:
            return (tree[0], (*typed_list(pairs), *below[1]), below[2])
        if len(pairs) > 1 and len(names) == len(pairs):
            for pair in reversed(pairs):
                below = (tree[0], typed_list([pair]), below)
            return below
        return tree

    return map_formulas(task, change)


@rewriting(EQUIVALENT_FORMULAS)
def instantiated_rules(task: Task, random: Random) -> Rewritten:
    """Write one rule for each binding of the declared parameters."""
    symbols = symbols_of(task)
    rules: list[List] = []
    names, bindings = {}, {}
    for rule in task.rules():
        pairs = typed_pairs(field(rule, ":parameters"))
        bindings_of_rule = symbols.bindings(pairs)
        quantified_names = {name for name, _ in pairs}
        is_shadowed = len(quantified_names) < len(pairs) or quantified_names & set(bound_variables(rule[2:]))
        if not pairs or not 0 < len(bindings_of_rule) <= MOST_INSTANCES or is_shadowed:
            rules.append(rule)
            continue
        bare = without_fields(rule, ":parameters", ":message")
        instances = [replaced(bare, binding) for binding in bindings_of_rule]
        if not all(_is_rule_well_typed(part, symbols) for part in instances):
            rules.append(rule)
            continue
        for number, (instance, binding) in enumerate(zip(instances, bindings_of_rule, strict=True)):
            name = f"{rule[1]}-{number}"
            names[name], bindings[name] = rule[1], tuple(binding.items())
            rules.append((instance[0], name, *instance[2:]))
    return Rewritten(task.with_rules(rules) if names else task, Names(rules=names, bindings=bindings))


def _is_rule_well_typed(rule: List, symbols: Symbols) -> bool:
    variables: dict[str, Tree] = {}
    for step in steps_of(rule):
        for term, kind in zip(step[1:], symbols.actions.get(step[0], []), strict=False):
            if term.startswith("?"):
                variables.setdefault(term, kind)
            elif not symbols.fits(term, kind, variables):
                return False
    return symbols.is_well_typed(rule[2:], variables)


@rewriting()
def explicit_step_parameters(task: Task, random: Random) -> Task:
    """Declare the variables of a rule's STEP among its parameters."""
    symbols = symbols_of(task)
    rules = []
    for rule in task.rules():
        if len(steps_of(rule)) == 1:
            pairs = rule_variables(rule, symbols)
            rule = with_field(rule, ":parameters", typed_list(pairs)) if pairs else rule
        rules.append(rule)
    return task.with_rules(rules)
