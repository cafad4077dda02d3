"""SC756: rules about facts that no action can change, according to effects, types and named objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from plansafe.specs.lint.domain_index import DomainIndex, list_effects
from plansafe.specs.lint.part_statements import split_step_pattern
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
from plansafe.verifier.model.operations import find_atoms_and_fluents, find_bound_variables, has_comparison, is_temporal
from plansafe.verifier.rules.model import Rule, RulePart

VariablesBySlot = dict[int, Variable]
"""Maps the slot of each variable to the variable."""


class PossibleChanges:
    """Decides which facts and numbers the actions of a domain can change, and to which truth values."""

    def __init__(self, index: DomainIndex) -> None:
        self.index = index
        self.table = index.table

    def explain_no_influence(self, rule: Rule) -> Iterator[str]:
        """Yield the reasons why no action can influence a rule; none if some action can."""
        parts_with_step = [part for part in rule.parts if part.mode == "each"]
        conditions = [(part.body, _index_by_slot(part.parameters)) for part in rule.parts]
        is_about_states = bool(rule.parts) and not parts_with_step
        if is_about_states and all([self._never_changes(body, variables) for body, variables in conditions]):
            yield "no action changes a fact that it reads"
        if rule.kind == "obligation" and len(rule.parts) == 1 and isinstance(rule.parts[0].body, Temporal):
            trigger, answer = rule.parts[0].body.operands
            variables = _index_by_slot(rule.parts[0].parameters)
            if not self._never_changes(trigger, variables) and not self._can_bring_about(answer, True, variables):
                yield "no action can make its `:then` condition true"
        parts_after_step = [part for part in parts_with_step if part.after]
        if parts_after_step and not any([self._step_can_influence(part) for part in parts_after_step]):
            predicates = [split_step_pattern(part)[0].predicate for part in parts_after_step]
            names = dict.fromkeys([self.index.action_predicates[predicate][1] for predicate in predicates])
            actions = " or ".join([f"`{name}`" for name in names])
            yield f"no {actions} changes the condition that is required after it, so the state before decides it"

    def _step_can_influence(self, part: RulePart) -> bool:
        """Whether the step of a part may change the condition that is required after it."""
        if is_temporal(part.body) or isinstance(part.body, Truth):
            return True
        step, wildcards = split_step_pattern(part)
        kind, name = self.index.action_predicates[step.predicate]
        action = self.index.actions[name]
        if kind != "start" or action.end is not None:
            return True
        variables = {
            **_index_by_slot((*part.parameters, *wildcards)),
            **_index_by_slot(find_bound_variables(part.body)),
        }
        read_values = list(find_atoms_and_fluents(part.body))
        if not read_values and not has_comparison(part.body):
            return True
        return any([self._can_change_value(read_value, variables, action) for read_value in read_values])

    # -- formulas -----------------------------------------------------------------------------------------------------

    def _never_changes(self, formula: Formula, variables: VariablesBySlot) -> bool:
        """Whether a formula reads some fact or number, and no action changes any of them."""
        variables = {**variables, **_index_by_slot(find_bound_variables(formula))}
        read_values = list(find_atoms_and_fluents(formula))
        if not read_values and not has_comparison(formula):
            return False
        return not any([self._can_change_value(read_value, variables, None) for read_value in read_values])

    def _can_bring_about(self, formula: Formula, truth: bool, variables: VariablesBySlot) -> bool:
        """Whether some action changes a part of a formula so that the formula may get the value ``truth``."""
        match formula:
            case Truth() | Equal():
                return False
            case Not():
                return self._can_bring_about(formula.body, not truth, variables)
            case And() | Or():
                return any([self._can_bring_about(part, truth, variables) for part in formula.parts])
            case Quantified():
                return self._can_bring_about(formula.body, truth, {**variables, **_index_by_slot(formula.variables)})
            case Atom():
                return self._can_set_truth(formula, truth, variables)
            case Compare():
                return any(
                    [self._can_change_value(fluent, variables, None) for fluent in find_atoms_and_fluents(formula)]
                )
            case Temporal():
                return True  # a formula about the past changes with time
            case _:
                assert_never(formula)

    def _can_change_value(
        self, read_value: Atom | model.Fluent, variables: VariablesBySlot, action: Action | None
    ) -> bool:
        """Whether an action (``None``: any) may change a fact or a number that an atom or fluent matches."""
        if isinstance(read_value, Atom):
            return any([self._can_set_truth(read_value, truth, variables, action) for truth in (True, False)])
        return self._can_write_number(read_value, action)

    # -- effects ------------------------------------------------------------------------------------------------------

    def _can_set_truth(self, atom: Atom, truth: bool, variables: VariablesBySlot, action: Action | None = None) -> bool:
        """Whether an action may make a fact that an atom matches true (or false)."""
        index = self.index
        if atom.predicate in index.action_predicates or atom.predicate in index.axioms:
            return not self._is_constant(atom.predicate, set())
        changes = (index.adders if truth else index.deleters).get(atom.predicate, ())
        for changing_action, effect, effect_atom in changes:
            if action is not None and changing_action is not action:
                continue
            effect_variables = {
                **_index_by_slot(changing_action.parameters),
                **_index_by_slot(effect.variables),
            }
            pairs = zip(atom.arguments, effect_atom.arguments, strict=True)
            if all([self._can_be_same_object(first, variables, second, effect_variables) for first, second in pairs]):
                return True
        return False

    def _is_constant(self, predicate: int, visited: set[int]) -> bool:
        """Whether a derived predicate depends on nothing that any action changes."""
        if predicate in self.index.action_predicates:
            return False
        if predicate not in self.index.axioms:
            return self.index.static[predicate]
        if predicate in visited:
            return True
        visited.add(predicate)
        for axiom in self.index.axioms[predicate]:
            for read in find_atoms_and_fluents(axiom.body):
                if isinstance(read, Atom):
                    can_change = not self._is_constant(read.predicate, visited)
                else:
                    can_change = self._can_write_number(read, None)
                if can_change:
                    return False
        return True

    def _can_write_number(self, fluent: model.Fluent, action: Action | None) -> bool:
        if action is None:
            return bool(self.index.writers.get(fluent.function))
        return any([a.function == fluent.function for effect in list_effects(action) for a in effect.assignments])

    def _can_be_same_object(
        self, argument: int, variables: VariablesBySlot, effect_argument: int, effect_variables: VariablesBySlot
    ) -> bool:
        """Whether an argument of an atom and an argument of an effect, each with its variables, may be one object."""
        if argument >= 0 and effect_argument >= 0:
            return argument == effect_argument
        if argument >= 0:
            return self._can_denote(effect_argument, effect_variables, argument)
        if effect_argument >= 0:
            return self._can_denote(argument, variables, effect_argument)
        first = self._find_variable_types(variables, argument)
        second = self._find_variable_types(effect_variables, effect_argument)
        if first is None or second is None or self.index.lenient:
            return True
        # An object has the types above its declared type, for each possible declared type.
        supertypes = self.table.ancestors
        return any([not above.isdisjoint(first) and not above.isdisjoint(second) for above in supertypes])

    def _can_denote(self, argument: int, variables: VariablesBySlot, object_number: int) -> bool:
        """Whether the types of a variable allow an object."""
        types = self._find_variable_types(variables, argument)
        return types is None or self.table.object_fits(self.index.task.object_types[object_number], types)

    def _find_variable_types(self, variables: VariablesBySlot, argument: int) -> tuple[int, ...] | None:
        return self.table.get_alternatives(variables[variable(argument)].domain)


def _index_by_slot(variables: Iterable[Variable]) -> VariablesBySlot:
    return {v.slot: v for v in variables}
