"""Which actions may meet a demand, in general and at a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.ground_effects import ConditionalEffect, GroundEffects, step_key
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.search_graph import Node


class Candidate(NamedTuple):
    """An action that may meet a demand.

    ``literals``: those of its precondition. ``only_literals``: the precondition has no other parts. ``conditional``:
    the conditional effects that may meet the demand, each with its compiled condition and that function's objects.
    ``contested``: another effect may add what one deletes, and a fact that is both deleted and added is true.
    """

    step: GroundAction
    effects: GroundEffects
    literals: list[tuple[int, int, bool]]
    only_literals: bool
    conditional: list[tuple[ConditionalEffect, Callable[..., bool], tuple[int, ...]]]
    contested: bool


class Candidates:
    """The actions that may meet demands."""

    def __init__(self, task: RepairTask) -> None:
        self.task = task
        self._candidates: dict[Demand, list[Candidate]] = {}
        self._applicable = task.effect_index.applicable_actions

    def find_candidates(self, demand: Demand) -> list[Candidate]:
        """The actions that may meet a demand."""
        candidates = self._candidates.get(demand)
        if candidates is None:
            candidates = self._candidates[demand] = []
            index = self.task.effect_index
            for step in self.task.achievers(demand):
                literals, other_parts = index.precondition_literals(step)
                effects = index.effects_of(step)
                conditional = effects.conditional_effects(demand.subject, self.task.pattern_of(demand))
                helpful = [
                    effect
                    for effect in conditional
                    if effect.value is None or (_has_demanded_value(effect, demand) and index.can_happen(effect))
                ]
                compiled = [(effect, *index.compile_condition(effect)) for effect in helpful]
                contested = demand.value is not True and any([effect.value for effect in conditional])
                candidates.append(Candidate(step, effects, literals, not other_parts, compiled, contested))
        return candidates

    def find_applicable(self, node: Node, demand: Demand) -> Iterator[GroundAction]:
        """The actions that are applicable at a node and may meet a demand there, each once."""
        index, pattern, value = self.task.effect_index, self.task.pattern_of(demand), demand.value
        assert value is not None
        effective = index.find_effective_actions(demand.subject, pattern, value, node.state)
        if effective is not None:
            for step in {step_key(step): step for step in effective}.values():
                if self.is_applicable(node, step):
                    yield step
            return
        for step in self._find_applicable_by_name(node, index.action_names(demand.subject, value)):
            if self.task.may_meet(index.effects_of(step), demand):
                yield step

    def _find_applicable_by_name(self, node: Node, names: tuple[str, ...]) -> list[GroundAction]:
        """The ground actions of these names that are applicable at a node."""
        if not names:
            return []
        key = (names, *node.execution.state_key())
        actions = self._applicable.get(key)
        if actions is None:
            actions = self._applicable[key] = list(node.execution.legal(*names))
        return actions

    def meets_demand(self, node: Node, candidate: Candidate, demand: Demand) -> bool | None:
        """Whether an action changes a demanded fact at a node; ``None`` if that is known only after taking the step."""
        effects, subject, code = candidate.effects, demand.subject, demand.code
        if effects.matches_action_fact(subject, self.task.pattern_of(demand)):
            return True
        if subject >= self.task.predicate_count:
            return None if candidate.conditional else False
        facts, fluents = node.state.facts, node.state.fluents
        true_codes = facts[subject]
        if code is None:
            task = self.task.engine.task
            changes = [
                (fact_code in true_codes) is not value and demand.is_about(task, predicate, fact_code)
                for (predicate, fact_code), value in effects.certain_facts.items()
            ]
            if any(changes):
                return True
        else:
            certain = effects.certain_facts.get((subject, code))
            if certain is not None and (code in true_codes) is not certain:
                return True
        meets: bool | None = False
        for effect, condition, objects in candidate.conditional:
            if (effect.fact[1] in true_codes) is effect.value:
                continue
            try:
                if condition(facts, fluents, *objects):
                    if not candidate.contested:
                        return True
                    meets = None
            except (KeyError, ZeroDivisionError):
                meets = None
        return meets

    def is_applicable(self, node: Node, step: GroundAction) -> bool:
        """Whether the precondition of an action holds; true if a number is undefined, then taking it fails."""
        literals, other_parts = self.task.effect_index.precondition_literals(step)
        facts = node.state.facts
        for predicate, code, value in literals:
            if (code in facts[predicate]) is not value:
                return False
        if not other_parts:
            return True
        holds = self.task.engine.full_code.precondition_function(step.action)
        try:
            return holds(node.state.facts, node.state.fluents, *step.objects)
        except (KeyError, ZeroDivisionError):
            return True

    def find_applicable_actions(self, node: Node) -> list[GroundAction]:
        """The actions that are applicable at a node."""
        key = node.execution.state_key()
        actions = self._applicable.get(key)
        if actions is None:
            actions = self._applicable[key] = list(node.execution.legal())
        return actions


def _has_demanded_value(effect: ConditionalEffect, demand: Demand) -> bool:
    return demand.value is None or effect.value is demand.value
