"""SC756: rules about what no action can change, as far as effects, types and named objects say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plansafe.specs.lint.domain_index import DomainIndex, effects
from plansafe.specs.lint.part_statements import step_pattern
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    Action,
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    Variable,
    variable,
)
from plansafe.verifier.model.operations import atoms_and_fluents, has_comparison, is_temporal, subformulas
from plansafe.verifier.rules.model import Rule, RulePart

Bound = dict[int, Variable]


class PossibleChanges:
    """What the actions of a domain can change, and which way."""

    def __init__(self, words: DomainIndex) -> None:
        self.words = words
        self.table = words.table

    def reasons(self, rule: Rule) -> Iterator[str]:
        """Why nothing can change what a rule is about, for each such reason."""
        steps = [part for part in rule.parts if part.mode == "each"]
        if not steps and rule.parts and all([self._settled(part.body, _bound(part.parameters)) for part in rule.parts]):
            yield "no action changes a fact that it reads"
        if rule.kind == "obligation" and len(rule.parts) == 1 and isinstance(rule.parts[0].body, Temporal):
            trigger, answer = rule.parts[0].body.operands
            bound = _bound(rule.parts[0].parameters)
            if not self._settled(trigger, bound) and not self._brings_about(answer, True, bound):
                yield "no action can make its `:then` condition true"
        after = [part for part in steps if part.after]
        if after and not any([self._matters(part) for part in after]):
            names = dict.fromkeys([self.words.action_predicates[step_pattern(part)[0].predicate][1] for part in after])
            said = " or ".join([f"`{name}`" for name in names])
            yield f"no {said} changes the condition that is required after it, so the state before decides it"

    def _matters(self, part: RulePart) -> bool:
        """Whether the step that a part is about may change what is asked for after it."""
        if is_temporal(part.body) or isinstance(part.body, Truth):
            return True
        kind, name = self.words.action_predicates[step_pattern(part)[0].predicate]
        action = self.words.actions[name]
        bound = _bound((*part.parameters, *step_pattern(part)[1]))
        return kind != "start" or action.end is not None or self._touches(part.body, bound, action)

    # -- formulas -----------------------------------------------------------------------------------------------------

    def _settled(self, formula: Formula, bound: Bound) -> bool:
        """Whether a formula reads some fact or number, and no action changes any of them."""
        inner = {**bound, **_quantified(formula)}
        read = list(atoms_and_fluents(formula))
        return bool(read or has_comparison(formula)) and not any([self._changed(part, inner, None) for part in read])

    def _brings_about(self, formula: Formula, wanted: bool, bound: Bound) -> bool:
        """Whether some action changes a part of a formula in the direction of the value wanted."""
        match formula:
            case Truth() | Equal():
                return False
            case Not():
                return self._brings_about(formula.body, not wanted, bound)
            case And() | Or():
                return any([self._brings_about(part, wanted, bound) for part in formula.parts])
            case Quantified():
                return self._brings_about(formula.body, wanted, {**bound, **_bound(formula.variables)})
            case Atom():
                return self._changes(formula, wanted, bound)
            case Compare():
                return any([self._changed(fluent, bound, None) for fluent in atoms_and_fluents(formula)])
            case Temporal():
                return True  # what was so in the past changes by itself
            case _:
                assert_never(formula)

    def _touches(self, formula: Formula, bound: Bound, action: Action) -> bool:
        """Whether an action changes anything that a formula reads."""
        inner = {**bound, **_quantified(formula)}
        read = list(atoms_and_fluents(formula))
        return not (read or has_comparison(formula)) or any([self._changed(part, inner, action) for part in read])

    def _changed(self, read: Atom | model.Fluent, bound: Bound, only: Action | None) -> bool:
        """Whether an action (or this one) may change a fact or a number like this one."""
        if isinstance(read, Atom):
            return any([self._changes(read, value, bound, only) for value in (True, False)])
        return self._writes(read, only)

    # -- effects ------------------------------------------------------------------------------------------------------

    def _changes(self, atom: Atom, value: bool, bound: Bound, only: Action | None = None) -> bool:
        """Whether an action may make a fact like this one true (or false)."""
        words = self.words
        if atom.predicate in words.action_predicates or atom.predicate in words.axioms:
            return not self._fixed(atom.predicate, set())
        made = (words.adders if value else words.deleters).get(atom.predicate, ())
        for action, effect, other in made:
            if only is not None and action is not only:
                continue
            own = {**_bound(action.parameters), **_bound(effect.variables)}
            if all([self._meet(a, bound, b, own) for a, b in zip(atom.arguments, other.arguments, strict=True)]):
                return True
        return False

    def _fixed(self, predicate: int, seen: set[int]) -> bool:
        """Whether a derived predicate depends on nothing that any action changes."""
        if predicate in self.words.action_predicates:
            return False
        if predicate not in self.words.axioms:
            return self.words.static[predicate]
        if predicate in seen:
            return True
        seen.add(predicate)
        for axiom in self.words.axioms[predicate]:
            for part in atoms_and_fluents(axiom.body):
                if not self._fixed(part.predicate, seen) if isinstance(part, Atom) else self._writes(part, None):
                    return False
        return True

    def _writes(self, fluent: model.Fluent, only: Action | None) -> bool:
        if only is None:
            return bool(self.words.writers.get(fluent.function))
        return any([a.function == fluent.function for effect in effects(only) for a in effect.assignments])

    def _meet(self, a: int, bound: Bound, b: int, own: Bound) -> bool:
        """Whether two arguments may be the same object."""
        if a >= 0 and b >= 0:
            return a == b
        if a >= 0 or b >= 0:
            number, variables, argument = (a, own, b) if a >= 0 else (b, bound, a)
            wanted = self._types(variables, argument)
            return wanted is None or self.table.object_fits(self.words.task.object_types[number], wanted)
        first, second = self._types(bound, a), self._types(own, b)
        if first is None or second is None or self.words.lenient:
            return True
        ancestors = self.table.ancestors
        return any(
            [
                not above.isdisjoint(first) and not above.isdisjoint(second)
                for above in ancestors  # the types of an object, for each type that it may be declared with
            ]
        )

    def _types(self, variables: Bound, argument: int) -> tuple[int, ...] | None:
        return self.table.alternatives(variables[variable(argument)].domain)


def _bound(variables: tuple[Variable, ...]) -> Bound:
    return {v.slot: v for v in variables}


def _quantified(formula: Formula) -> Bound:
    return {v.slot: v for part in subformulas(formula) if isinstance(part, Quantified) for v in part.variables}
