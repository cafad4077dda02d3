"""Which ground steps may change places, and the normal form of a plan under such changes (docs/scenarios.md)."""

from __future__ import annotations

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.footprints import Footprint, FootprintFinder, find_interference
from plansafe.verifier.repair.effect_index import EffectIndex
from plansafe.verifier.repair.ground_effects import step_key

Step = tuple[str, tuple[int, ...]]
NormalForm = tuple[frozenset[Step], ...]
"""Foata's normal form: layers of independent steps, each of which depends on one of the layer before."""
MAX_READS = 20_000


class Independence:
    """Answers for the ground steps of one task, remembered."""

    def __init__(self, engine: Engine) -> None:
        self._footprints = FootprintFinder(engine.task, MAX_READS)
        self._effects = EffectIndex(engine)
        self._found: dict[Step, Footprint] = {}
        self._known: dict[tuple[Step, Step], bool] = {}

    def independent(self, one: GroundAction, other: GroundAction) -> bool:
        """Whether neither step reads what the other writes, and they write nothing in opposite ways."""
        key = step_key(one), step_key(other)
        known = self._known.get(key)
        if known is None:
            known = key[0] != key[1] and not self._interfere(self._of(one), self._of(other))
            self._known[key] = self._known[key[1], key[0]] = known
        return known

    def appended(self, form: NormalForm, step: GroundAction, steps: dict[Step, GroundAction]) -> NormalForm:
        """The normal form of a plan with one more step. ``steps`` are those that occur in the form."""
        place = len(form)
        while place > 0 and all([self.independent(steps[other], step) for other in form[place - 1]]):
            place -= 1
        own = step_key(step)
        if place == len(form):
            return (*form, frozenset((own,)))
        return (*form[:place], form[place] | {own}, *form[place + 1 :])

    def _interfere(self, one: Footprint, other: Footprint) -> bool:
        return bool(one.writes.keys() & other.writes.keys()) or find_interference(one, other) is not None

    def _of(self, step: GroundAction) -> Footprint:
        key = step_key(step)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._footprints.of_action(step.action, step.binding)
            found.deletes.difference_update(
                [fact for fact, added in self._effects.effects_of(step).certain_facts.items() if added]
            )
        return found
