"""Which actions may meet a demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.effects import Conditional, GroundEffects, step_key
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.search_graph import (
    Node,
)


class Candidate(NamedTuple):
    """An action that may meet a demand: what its precondition says, and its effects that may do it.

    ``simple``: the literals are all of the precondition. An effect comes with the code of its condition and what to
    call that with. ``contested``: another effect may add what one deletes, and a fact that is both is true.
    """

    taken: GroundAction
    own: GroundEffects
    literals: list[tuple[int, int, bool]]
    simple: bool
    effects: list[tuple[Conditional, Callable[..., bool], tuple[int, ...]]]
    contested: bool


class Candidates:
    """The actions that may meet demands, and what each would do at a node."""

    def __init__(self, task: RepairTask) -> None:
        self.task = task
        self._achievers: dict[Demand, list[Candidate]] = {}
        self._legal_actions: dict[tuple[object, ...], list[GroundAction]] = {}

    def of(self, demand: Demand) -> list[Candidate]:
        """The actions that may meet a demand."""
        found = self._achievers.get(demand)
        if found is None:
            found = self._achievers[demand] = []
            for taken in self.task.achievers(demand):
                literals, others = self.task.effects.precondition(taken)
                own = self.task.effects.of(taken)
                every = own.conditionals(demand.subject, self.task.wanted(demand))
                able = [e for e in every if e.value is None or (_does(e, demand) and self.task.effects.possible(e))]
                effects = [(e, *self.task.effects.asked(e)) for e in able]
                contested = demand.value is not True and any([e.value for e in every])
                found.append(Candidate(taken, own, literals, not others, effects, contested))
        return found

    def acting(self, node: Node, demand: Demand) -> Iterator[GroundAction]:
        """The actions that can be taken at a node and may meet a demand there, each once."""
        effects, wanted, value = self.task.effects, self.task.wanted(demand), demand.value
        assert value is not None
        found = effects.acting(demand.subject, wanted, value, node.state)
        if found is not None:
            for taken in {step_key(taken): taken for taken in found}.values():
                if self.legal(node, taken):
                    yield taken
            return
        for taken in self._legal_of(node, effects.names(demand.subject, value)):
            if self.task.may_meet(effects.of(taken), demand):
                yield taken

    def _legal_of(self, node: Node, names: tuple[str, ...]) -> list[GroundAction]:
        """The actions of these names that can be taken at a node."""
        if not names:
            return []
        key = (names, *node.now.state_key())
        found = self._legal_actions.get(key)
        if found is None:
            found = self._legal_actions[key] = list(node.now.legal(*names))
        return found

    def effect_on(self, node: Node, candidate: Candidate, wanted: Demand) -> bool | None:
        """Whether an action changes what is wanted here; ``None`` if only trying tells."""
        own, subject, code = candidate.own, wanted.subject, wanted.code
        if own.acts(subject, self.task.wanted(wanted)):
            return True
        if subject >= self.task.base:
            return None if candidate.effects else False
        facts, fluents = node.state.facts, node.state.fluents
        there = facts[subject]
        if code is None:
            task = self.task.engine.task
            if any([(c in there) is not value and wanted.agrees(task, p, c) for (p, c), value in own.sets.items()]):
                return True
        else:
            sets = own.sets.get((subject, code))
            if sets is not None and (code in there) is not sets:
                return True
        does: bool | None = False
        for effect, holds, objects in candidate.effects:
            if (effect.fact[1] in there) is effect.value:
                continue
            try:
                if holds(facts, fluents, *objects):
                    if not candidate.contested:
                        return True
                    does = None
            except (KeyError, ZeroDivisionError):
                does = None
        return does

    def legal(self, node: Node, taken: GroundAction) -> bool:
        """Whether the precondition of an action holds; true where a number is undefined, for then trying tells."""
        literals, others = self.task.effects.precondition(taken)
        facts = node.state.facts
        for predicate, code, value in literals:
            if (code in facts[predicate]) is not value:
                return False
        if not others:
            return True
        slots = [v.slot for v in taken.action.parameters]
        holds = self.task.engine.full_code.precondition(taken.action, slots)
        try:
            return holds(node.state.facts, node.state.fluents, *taken.objects)
        except (KeyError, ZeroDivisionError):
            return True

    def legal_here(self, node: Node) -> list[GroundAction]:
        """The actions that can be taken at a node."""
        key = node.now.state_key()
        found = self._legal_actions.get(key)
        if found is None:
            found = self._legal_actions[key] = list(node.now.legal())
        return found


def _does(effect: Conditional, demand: Demand) -> bool:
    return demand.value is None or effect.value is demand.value
