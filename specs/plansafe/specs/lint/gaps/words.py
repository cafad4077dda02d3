"""Which words of a domain are suspicious where a plan does something with them: those that no rule speaks for.

A word that neither an action nor a rule reads was declared for rules that are not there; what rules forbid in one
combination may be dangerous in another (docs/safety-rules.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from plansafe.grammar.sexpr import Node
from plansafe.specs.lint.parts import mentioned
from plansafe.specs.lint.vocabulary import effects
from plansafe.verifier.model.nodes import Action, Atom, Formula, Not, Task, Temporal
from plansafe.verifier.model.operations import children, expression_fluents, reads
from plansafe.verifier.rules.model import Rule, RulePart

UNREAD = 2.0
"""The weight of a word that nobody reads, where it never changes, or an action is there to end it and for no more."""
FORBIDDEN = 1.0
"""The weight of a property that rules forbid in other combinations, and that comes and goes."""
NAMED = 0.5
"""The weight of whatever else rules forbid, of a type that they name, and of an action that none of them mentions."""
COMMON = 0.7
"""What so many actions need is no matter of the rules: who acts, and where."""
_TURNED = frozenset(("sometime-after", "sometime-before", "always-within"))


class Word(NamedTuple):
    """How suspicious a word makes what is said with it, and why (empty: it does not)."""

    weight: float = 0.0
    reason: str = ""


NOTHING = Word()


class Words:
    """The weights of the predicates, types and actions of one task under its rules. ``nodes`` are the rules' texts."""

    def __init__(
        self, task: Task, rules: Sequence[Rule], nodes: Sequence[Node], action_predicates: dict[tuple[str, str], int]
    ) -> None:
        self.task = task
        self.derived = {axiom.predicate for stratum in task.axioms for axiom in stratum}
        by_rules: set[int] = set()
        dangerous: set[int] = set()
        for rule in rules:
            by_rules |= mentioned(rule) | {match.atom.predicate for match in rule.matches}
            dangerous |= {predicate for part in rule.parts for predicate in _dangers(part)}
        read = by_rules | _read_by_actions(task)
        changes = [e for action in task.actions.values() for e in effects(action)]
        changing = {a.function for e in changes for a in e.assignments}
        numbers = range(len(task.functions))
        fixed = [f for f in numbers if f not in changing and -1 - f not in read]
        self.limits = [(f, g) for f in changing for g in fixed if task.functions[f].types == task.functions[g].types]
        """Numbers that change, each with one of the same things that does not, and that nobody reads."""
        read |= {r.predicate for part in task.goal for r in reads(part) if isinstance(r, Atom)}
        ruled = {name for (_, name), predicate in action_predicates.items() if predicate in by_rules}
        common = _common([{r.predicate for r in _needs(action)} for action in task.actions.values()])
        ending = [action for action in task.actions.values() if not any([e.adds for e in effects(action)])]
        ended = {a.predicate for action in ending for e in effects(action) for a in e.deletes}
        self.facts = [
            NOTHING if p in common else self._fact(p, read, dangerous, ended) for p in range(len(task.static))
        ]
        actions = [set(tokens(action.node)) for action in task.actions.values()]
        in_rules, in_domain = set(tokens(list(nodes))) - _common(actions), set().union(*actions)
        for declared in (*task.predicates, *task.functions):
            in_domain |= {task.type_names[t] for types in declared.types for t in types} if declared.node else set()
        leaves = {t for types in task.object_types for t in types if t}
        self.kinds = [
            _kind(name, in_rules, in_domain) if t in leaves else NOTHING for t, name in enumerate(task.type_names)
        ]
        self.actions = {
            name: NOTHING if name in ruled else Word(NAMED, f"no rule mentions `{name}`") for name in task.actions
        }

    def _fact(self, predicate: int, read: set[int], dangerous: set[int], ended: set[int]) -> Word:
        declared, static = self.task.predicates[predicate], self.task.static[predicate]
        if predicate in self.derived:
            return NOTHING  # what it follows from counts
        if predicate in dangerous:
            weight = FORBIDDEN if len(declared.types) < 2 and not static else NAMED
            return Word(weight, f"rules forbid `{declared.name}` in other combinations")
        weight = UNREAD if static or predicate in ended else NAMED
        return NOTHING if predicate in read else Word(weight, f"no rule and no action reads `{declared.name}`")

    def kind_of(self, item: int) -> int:
        """The most suspicious of the types that an object was declared with."""
        return max(self.task.object_types[item], key=lambda t: self.kinds[t].weight)


def _kind(name: str, in_rules: set[str], in_domain: set[str]) -> Word:
    if name in in_rules:
        return Word(NAMED, f"rules are about the type `{name}` elsewhere")
    return NOTHING if name in in_domain else Word(UNREAD, f"no rule and no action tells a `{name}` from other things")


def _common(of_actions: Sequence[set[Any]]) -> set[Any]:
    """What nearly every action has."""
    counts = Counter([each for own in of_actions for each in own])
    return {each for each, count in counts.items() if count >= COMMON * len(of_actions)}


def _needs(action: Action) -> Iterator[Atom]:
    """The facts that its precondition reads."""
    return (read for part in action.start.condition for read in reads(part) if isinstance(read, Atom))


def tokens(node: object) -> Iterator[str]:
    """The words of a text that was read."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, list):
        for child in node:
            yield from tokens(child)


def _read_by_actions(task: Task) -> set[int]:
    """The predicates (and functions, as negative numbers) in conditions of actions, in their effects, and in axioms."""
    formulas: list[Formula] = [axiom.body for stratum in task.axioms for axiom in stratum]
    found = set()
    for action in task.actions.values():
        formulas += [*action.start.condition, *action.over_all, *(action.end.condition if action.end else ())]
        for effect in effects(action):
            formulas += [effect.condition, effect.at_start]
            found |= {-1 - f.function for a in effect.assignments for f in expression_fluents(a.value)}
    atoms = [read for formula in formulas for read in reads(formula)]
    return found | {r.predicate if isinstance(r, Atom) else -1 - r.function for r in atoms}


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
