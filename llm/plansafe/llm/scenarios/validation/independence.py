"""Which ground steps may change places, and the normal form of a plan under such changes (docs/scenarios.md)."""

from __future__ import annotations

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.footprints import Footprint, FootprintFinder, find_interference
from plansafe.verifier.repair.effect_index import EffectIndex
from plansafe.verifier.repair.ground_effects import step_key

Step = tuple[str, tuple[int, ...]]
NormalForm = tuple[frozenset[Step], ...]
"""Foata's normal form: layers of independent steps; each step depends on a step of the previous layer."""
MAX_READS = 20_000


class Independence:
    """Answers for the ground steps of one task, remembered."""

    def __init__(self, engine: Engine) -> None:
        self._footprints = FootprintFinder(engine.task, MAX_READS)
        self._effects = EffectIndex(engine)
        self._footprint_cache: dict[Step, Footprint] = {}
        self._independent: dict[tuple[Step, Step], bool] = {}

    def independent(self, first: GroundAction, second: GroundAction) -> bool:
        """Whether neither step reads what the other writes, and they write nothing in opposite ways."""
        key = step_key(first), step_key(second)
        answer = self._independent.get(key)
        if answer is None:
            answer = key[0] != key[1] and not self._interfere(self._of(first), self._of(second))
            self._independent[key] = self._independent[key[1], key[0]] = answer
        return answer

    def appended(self, form: NormalForm, step: GroundAction, steps: dict[Step, GroundAction]) -> NormalForm:
        """The normal form of a plan with one more step. ``steps`` are those that occur in the form."""
        place = len(form)
        while place > 0 and all([self.independent(steps[second], step) for second in form[place - 1]]):
            place -= 1
        key = step_key(step)
        if place == len(form):
            return (*form, frozenset((key,)))
        return (*form[:place], form[place] | {key}, *form[place + 1 :])

    def _interfere(self, first: Footprint, second: Footprint) -> bool:
        return bool(first.writes.keys() & second.writes.keys()) or find_interference(first, second) is not None

    def _of(self, step: GroundAction) -> Footprint:
        key = step_key(step)
        footprint = self._footprint_cache.get(key)
        if footprint is None:
            footprint = self._footprint_cache[key] = self._footprints.of_action(step.action, step.binding)
            footprint.deletes.difference_update(
                [fact for fact, added in self._effects.effects_of(step).certain_facts.items() if added]
            )
        return footprint
