"""Weights for the predicates, types and actions that are suspicious in a plan, because no rule covers them.

A word that neither an action nor a rule reads was declared for rules that are missing. A condition that rules forbid in
one combination may be dangerous in another (docs/safety-rules.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from plansafe.grammar.sexpr import Node
from plansafe.specs.lint.domain_index import list_effects
from plansafe.specs.lint.part_statements import find_read_symbols
from plansafe.verifier.model.nodes import Action, Atom, Formula, Not, Task, Temporal
from plansafe.verifier.model.operations import children, expression_fluents, find_atoms, find_signed_symbols
from plansafe.verifier.rules.model import Rule, RulePart

UNREAD_WEIGHT = 2.0
"""The weight of a word that no rule and no action reads, if it is static, or some action only ends it."""
FORBIDDEN_WEIGHT = 1.0
"""The weight of a property that rules forbid in other combinations, and that changes."""
NAMED_WEIGHT = 0.5
"""The weight of other facts that rules forbid, of types that they name, and of actions that no rule mentions."""
COMMON_SHARE = 0.7
"""Words of at least this share of the actions are not suspicious: they say who acts, and where."""
_OPERATORS_NEGATING_FIRST = frozenset(("sometime-after", "sometime-before", "always-within"))


class Suspicion(NamedTuple):
    """How suspicious a word is, and why (empty: it is not)."""

    weight: float = 0.0
    reason: str = ""


NO_SUSPICION = Suspicion()


class TaskSuspicions:
    """The suspicions against the predicates, types and actions of one task. ``nodes`` are the texts of the rules."""

    def __init__(
        self, task: Task, rules: Sequence[Rule], nodes: Sequence[Node], action_predicates: dict[tuple[str, str], int]
    ) -> None:
        self.task = task
        self.derived = {axiom.predicate for stratum in task.axioms for axiom in stratum}
        read_by_rules: set[int] = set()
        dangerous_predicates: set[int] = set()
        for rule in rules:
            read_by_rules |= find_read_symbols(rule) | {pattern.atom.predicate for pattern in rule.step_patterns}
            dangerous_predicates |= {predicate for part in rule.parts for predicate in _find_dangerous_predicates(part)}
        read_symbols = read_by_rules | _find_symbols_read_by_actions(task)
        all_effects = [effect for action in task.actions.values() for effect in list_effects(action)]
        changing_functions = {assignment.function for effect in all_effects for assignment in effect.assignments}
        unread_static_functions = [
            f for f in range(len(task.functions)) if f not in changing_functions and -1 - f not in read_symbols
        ]
        self.limit_pairs = [
            (changing, static)
            for changing in changing_functions
            for static in unread_static_functions
            if task.functions[changing].types == task.functions[static].types
        ]
        """Functions that change, each with an unread static function of the same types, which may be its limit."""
        read_symbols |= {atom.predicate for part in task.goal for atom in find_atoms(part)}
        self.predicate_suspicions = self._find_predicate_suspicions(read_symbols, dangerous_predicates)
        self.type_suspicions = self._find_type_suspicions(nodes)
        ruled_actions = {name for (_, name), predicate in action_predicates.items() if predicate in read_by_rules}
        self.action_suspicions = {
            name: NO_SUSPICION if name in ruled_actions else Suspicion(NAMED_WEIGHT, f"no rule mentions `{name}`")
            for name in task.actions
        }

    def _find_predicate_suspicions(self, read_symbols: set[int], dangerous_predicates: set[int]) -> list[Suspicion]:
        actions = self.task.actions.values()
        common_predicates = _find_common_words(
            [{atom.predicate for atom in _iterate_precondition_atoms(action)} for action in actions]
        )
        ending_actions = [action for action in actions if not any([effect.adds for effect in list_effects(action)])]
        ended_predicates = {
            atom.predicate for action in ending_actions for effect in list_effects(action) for atom in effect.deletes
        }
        return [
            NO_SUSPICION
            if predicate in common_predicates
            else self._make_predicate_suspicion(predicate, read_symbols, dangerous_predicates, ended_predicates)
            for predicate in range(len(self.task.static))
        ]

    def _make_predicate_suspicion(
        self, predicate: int, read_symbols: set[int], dangerous_predicates: set[int], ended_predicates: set[int]
    ) -> Suspicion:
        declared, static = self.task.predicates[predicate], self.task.static[predicate]
        if predicate in self.derived:
            return NO_SUSPICION  # the facts that it is derived from may be suspicious
        if predicate in dangerous_predicates:
            weight = FORBIDDEN_WEIGHT if len(declared.types) < 2 and not static else NAMED_WEIGHT
            return Suspicion(weight, f"rules forbid `{declared.name}` in other combinations")
        if predicate in read_symbols:
            return NO_SUSPICION
        weight = UNREAD_WEIGHT if static or predicate in ended_predicates else NAMED_WEIGHT
        return Suspicion(weight, f"no rule and no action reads `{declared.name}`")

    def _find_type_suspicions(self, nodes: Sequence[Node]) -> list[Suspicion]:
        task = self.task
        words_by_action = [set(iterate_words(action.node)) for action in task.actions.values()]
        rule_words = set(iterate_words(list(nodes))) - _find_common_words(words_by_action)
        domain_words = set().union(*words_by_action)
        for declared in (*task.predicates, *task.functions):
            domain_words |= {task.type_names[t] for types in declared.types for t in types} if declared.node else set()
        declared_types = {type_number for types in task.object_types for type_number in types if type_number}
        return [
            _make_type_suspicion(name, rule_words, domain_words) if type_number in declared_types else NO_SUSPICION
            for type_number, name in enumerate(task.type_names)
        ]

    def find_most_suspicious_type(self, object_number: int) -> int:
        """Find the most suspicious of the declared types of an object."""
        types = self.task.object_types[object_number]
        return max(types, key=lambda type_number: self.type_suspicions[type_number].weight)


def _make_type_suspicion(name: str, rule_words: set[str], domain_words: set[str]) -> Suspicion:
    if name in rule_words:
        return Suspicion(NAMED_WEIGHT, f"rules are about the type `{name}` elsewhere")
    if name in domain_words:
        return NO_SUSPICION
    return Suspicion(UNREAD_WEIGHT, f"no rule and no action distinguishes the type `{name}`")


def _find_common_words(words_by_action: Sequence[set[Any]]) -> set[Any]:
    """Find the words of nearly every action."""
    counts = Counter([word for words in words_by_action for word in words])
    return {word for word, count in counts.items() if count >= COMMON_SHARE * len(words_by_action)}


def _iterate_precondition_atoms(action: Action) -> Iterator[Atom]:
    return (atom for part in action.start.condition for atom in find_atoms(part))


def iterate_words(node: object) -> Iterator[str]:
    """Yield the words of an expression."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, list):
        for child in node:
            yield from iterate_words(child)


def _find_symbols_read_by_actions(task: Task) -> set[int]:
    """Find the predicates (and functions, as negative numbers) that conditions, effects and axioms read."""
    formulas: list[Formula] = [axiom.body for stratum in task.axioms for axiom in stratum]
    functions = set()
    for action in task.actions.values():
        formulas += [*action.start.condition, *action.over_all, *(action.end.condition if action.end else ())]
        for effect in list_effects(action):
            formulas += [effect.condition, effect.at_start]
            functions |= {-1 - fluent.function for a in effect.assignments for fluent in expression_fluents(a.value)}
    return functions | find_signed_symbols(*formulas)


def _find_dangerous_predicates(part: RulePart) -> Iterator[int]:
    """Yield the predicates that have a true fact in each violation of the part."""
    stack: list[tuple[Formula, bool]] = [(part.body, False)]
    if part.guard is not None:
        stack.append((part.guard, True))
    while stack:
        formula, positive = stack.pop()
        if isinstance(formula, Atom) and positive:
            yield formula.predicate
        negates_first = isinstance(formula, Not) or (
            isinstance(formula, Temporal) and formula.operator in _OPERATORS_NEGATING_FIRST
        )
        for number, child in enumerate(children(formula)):
            stack.append((child, positive != (negates_first and number == 0)))
