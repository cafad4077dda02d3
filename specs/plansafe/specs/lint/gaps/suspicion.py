"""Which words of a domain are suspicious where a plan does something with them: those that no rule speaks for.

A word that neither an action nor a rule reads was declared for rules that are not there; what rules forbid in one
combination may be dangerous in another (docs/safety-rules.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from plansafe.grammar.sexpr import Node
from plansafe.specs.lint.domain_index import effects
from plansafe.specs.lint.part_statements import read_symbols
from plansafe.verifier.model.nodes import Action, Atom, Formula, Not, Task, Temporal
from plansafe.verifier.model.operations import atoms_in, children, expression_fluents, symbols_read
from plansafe.verifier.rules.model import Rule, RulePart

UNREAD_WEIGHT = 2.0
"""The weight of a word that nobody reads, where it never changes, or an action is there to end it and for no more."""
FORBIDDEN_WEIGHT = 1.0
"""The weight of a property that rules forbid in other combinations, and that comes and goes."""
NAMED_WEIGHT = 0.5
"""The weight of whatever else rules forbid, of a type that they name, and of an action that none of them mentions."""
COMMON_SHARE = 0.7
"""What so many actions need is no matter of the rules: who acts, and where."""
_TURNED = frozenset(("sometime-after", "sometime-before", "always-within"))


class Suspicion(NamedTuple):
    """How suspicious a word makes what is said with it, and why (empty: it does not)."""

    weight: float = 0.0
    reason: str = ""


NO_SUSPICION = Suspicion()


class SuspicionWeights:
    """The weights of the predicates, types and actions of one task under its rules. ``nodes`` are the rules' texts."""

    def __init__(
        self, task: Task, rules: Sequence[Rule], nodes: Sequence[Node], action_predicates: dict[tuple[str, str], int]
    ) -> None:
        self.task = task
        self.derived = {axiom.predicate for stratum in task.axioms for axiom in stratum}
        by_rules: set[int] = set()
        dangerous: set[int] = set()
        for rule in rules:
            by_rules |= read_symbols(rule) | {match.atom.predicate for match in rule.step_patterns}
            dangerous |= {predicate for part in rule.parts for predicate in _dangers(part)}
        read = by_rules | _read_by_actions(task)
        changes = [e for action in task.actions.values() for e in effects(action)]
        changing = {a.function for e in changes for a in e.assignments}
        numbers = range(len(task.functions))
        fixed = [f for f in numbers if f not in changing and -1 - f not in read]
        self.limits = [(f, g) for f in changing for g in fixed if task.functions[f].types == task.functions[g].types]
        """Numbers that change, each with one of the same things that does not, and that nobody reads."""
        read |= {r.predicate for part in task.goal for r in atoms_in(part)}
        ruled = {name for (_, name), predicate in action_predicates.items() if predicate in by_rules}
        common = _common([{r.predicate for r in _needs(action)} for action in task.actions.values()])
        ending = [action for action in task.actions.values() if not any([e.adds for e in effects(action)])]
        ended = {a.predicate for action in ending for e in effects(action) for a in e.deletes}
        self.facts = [
            NO_SUSPICION if p in common else self._fact(p, read, dangerous, ended) for p in range(len(task.static))
        ]
        actions = [set(node_words(action.node)) for action in task.actions.values()]
        in_rules, in_domain = set(node_words(list(nodes))) - _common(actions), set().union(*actions)
        for declared in (*task.predicates, *task.functions):
            in_domain |= {task.type_names[t] for types in declared.types for t in types} if declared.node else set()
        leaves = {t for types in task.object_types for t in types if t}
        self.kinds = [
            _kind(name, in_rules, in_domain) if t in leaves else NO_SUSPICION for t, name in enumerate(task.type_names)
        ]
        self.actions = {
            name: NO_SUSPICION if name in ruled else Suspicion(NAMED_WEIGHT, f"no rule mentions `{name}`")
            for name in task.actions
        }

    def _fact(self, predicate: int, read: set[int], dangerous: set[int], ended: set[int]) -> Suspicion:
        declared, static = self.task.predicates[predicate], self.task.static[predicate]
        if predicate in self.derived:
            return NO_SUSPICION  # what it follows from counts
        if predicate in dangerous:
            weight = FORBIDDEN_WEIGHT if len(declared.types) < 2 and not static else NAMED_WEIGHT
            return Suspicion(weight, f"rules forbid `{declared.name}` in other combinations")
        weight = UNREAD_WEIGHT if static or predicate in ended else NAMED_WEIGHT
        return (
            NO_SUSPICION if predicate in read else Suspicion(weight, f"no rule and no action reads `{declared.name}`")
        )

    def kind_of(self, item: int) -> int:
        """The most suspicious of the types that an object was declared with."""
        return max(self.task.object_types[item], key=lambda t: self.kinds[t].weight)


def _kind(name: str, in_rules: set[str], in_domain: set[str]) -> Suspicion:
    if name in in_rules:
        return Suspicion(NAMED_WEIGHT, f"rules are about the type `{name}` elsewhere")
    return (
        NO_SUSPICION
        if name in in_domain
        else Suspicion(UNREAD_WEIGHT, f"no rule and no action tells a `{name}` from other things")
    )


def _common(of_actions: Sequence[set[Any]]) -> set[Any]:
    """What nearly every action has."""
    counts = Counter([each for own in of_actions for each in own])
    return {each for each, count in counts.items() if count >= COMMON_SHARE * len(of_actions)}


def _needs(action: Action) -> Iterator[Atom]:
    """The facts that its precondition reads."""
    return (read for part in action.start.condition for read in atoms_in(part))


def node_words(node: object) -> Iterator[str]:
    """The words of a text that was read."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, list):
        for child in node:
            yield from node_words(child)


def _read_by_actions(task: Task) -> set[int]:
    """The predicates (and functions, as negative numbers) in conditions of actions, in their effects, and in axioms."""
    formulas: list[Formula] = [axiom.body for stratum in task.axioms for axiom in stratum]
    found = set()
    for action in task.actions.values():
        formulas += [*action.start.condition, *action.over_all, *(action.end.condition if action.end else ())]
        for effect in effects(action):
            formulas += [effect.condition, effect.at_start]
            found |= {-1 - f.function for a in effect.assignments for f in expression_fluents(a.value)}
    return found | symbols_read(*formulas)


def _dangers(part: RulePart) -> Iterator[int]:
    """The predicates whose truth a violation of the part needs."""
    stack: list[tuple[Formula, bool]] = [(part.body, False)]
    if part.guard is not None:
        stack.append((part.guard, True))
    while stack:
        formula, positive = stack.pop()
        if isinstance(formula, Atom) and positive:
            yield formula.predicate
        turned = isinstance(formula, Not) or (isinstance(formula, Temporal) and formula.operator in _TURNED)
        for number, child in enumerate(children(formula)):
            stack.append((child, positive != (turned and number == 0)))
