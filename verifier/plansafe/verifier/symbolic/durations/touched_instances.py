"""The instances of the rules that an event touches, and the rules that see every happening.

An instance reads some ground facts and fluents. Most formulas do not notice happenings that change none of these
(stuttering), so a rule depends on the order of two events only if one of its instances reads what both change. Parts
that count letters (``next``, ``yesterday``) or name actions inside a formula see every happening.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.happening import END, START, Event
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.footprints import Footprint, FootprintFinder, StateVariable
from plansafe.verifier.model.nodes import Atom, Formula, Temporal, match_arguments
from plansafe.verifier.model.operations import (
    NEIGHBOUR_OPERATORS,
    find_atoms,
    find_atoms_and_fluents,
    is_temporal,
    mentions,
    subformulas,
)
from plansafe.verifier.rules.model import RulePart, find_action_predicate

Instances = frozenset[tuple[int, int]]
"""The instances that have these objects for parameters, by slot."""


class TouchedInstances(NamedTuple):
    """Instances of a part that an event touches. ``matches_step``: the event is a step that the part is about."""

    instances: Instances
    matches_step: bool


class PartReads:
    """The facts and steps that a part of a rule reads.

    ``reads_every_happening``: also happenings that change none of these facts. ``reads_only_last_state``: no other
    state. ``reads_only_matching_steps``: only the states of steps that match, without their past. Then only the order
    of a matching step and an event that changes what the part reads matters.
    """

    def __init__(self, part: RulePart, engine: Engine, footprints: FootprintFinder) -> None:
        formulas = [part.body] if part.guard is None else [part.body, part.guard]
        momentary = engine.rule_set.momentary
        is_about_momentary = part.step is not None and find_action_predicate(part.step) in momentary
        self.engine = engine
        self.reads_every_happening = _counts_letters(formulas, momentary) or (
            part.step is not None and part.after and not is_about_momentary
        )
        self.reads_only_last_state = part.mode == "end" and not is_temporal(part.body)
        self.reads_only_matching_steps = is_about_momentary and not any([is_temporal(formula) for formula in formulas])
        self._domains = {v.slot: engine.task.domain_sets[v.domain] for v in part.parameters}
        self._step: Atom | None = None
        self._arguments_by_subject: dict[int, list[tuple[int, ...]]] = {}
        self._inputs: set[int] = set()
        """The predicates and functions on which the derived predicates that the part reads depend."""
        if part.step is not None and is_about_momentary:
            self._step = next(find_atoms(part.step))
        elif part.step is not None:
            formulas.append(part.step)
        for formula in formulas:
            for read in find_atoms_and_fluents(formula):
                symbol_index = self.engine.task.find_symbol_index(read)
                self._arguments_by_subject.setdefault(symbol_index, []).append(read.arguments)
                if isinstance(read, Atom):
                    self._inputs |= footprints.find_derived_inputs(read.predicate)

    def find_touched_instances(self, event: Event, footprint: Footprint) -> list[TouchedInstances]:
        """The instances that an event touches, once for each way in which it touches them."""
        action_facts = _list_action_facts(self.engine, event)
        touches = []
        for predicate, code in [*footprint.changes, *action_facts]:
            if predicate in self._inputs:
                touches.append(TouchedInstances(frozenset(), False))
            for arguments in self._arguments_by_subject.get(predicate, ()):
                instances = self._match_parameters(arguments, code)
                if instances is not None:
                    touches.append(TouchedInstances(instances, False))
        step = self._step
        for predicate, code in action_facts:
            if step is not None and step.predicate == predicate:
                instances = self._match_parameters(step.arguments, code)
                if instances is not None:
                    touches.append(TouchedInstances(instances, True))
        return touches

    def _match_parameters(self, arguments: tuple[int, ...], code: int) -> Instances | None:
        """The objects that a ground fact gives to the parameters; ``None`` if no instance reads it."""
        binding = match_arguments(arguments, self.engine.task.decode(code, len(arguments)), self._domains)
        return None if binding is None else frozenset(binding.items())

    def depends_on_order(self, first: list[TouchedInstances], second: list[TouchedInstances]) -> bool:
        """Whether the part may depend on the order of two events that touch these instances."""
        if self.reads_only_last_state:
            return False
        return any(
            [
                (a.matches_step or b.matches_step or not self.reads_only_matching_steps)
                and have_common_instance(a.instances, b.instances)
                for a in first
                for b in second
            ]
        )


def have_common_instance(first: Instances, second: Instances) -> bool:
    """Whether some instance has the objects of both: no parameter has two objects."""
    union = first | second
    return len(dict(union)) == len(union)


def _counts_letters(formulas: list[Formula], momentary: frozenset[int]) -> bool:
    """Whether a formula names a ``momentary`` action, or reads the next or the previous letter."""
    return any([mentions(formula, momentary) for formula in formulas]) or any(
        [
            isinstance(part, Temporal) and part.operator in NEIGHBOUR_OPERATORS
            for formula in formulas
            for part in subformulas(formula)
        ]
    )


def _list_action_facts(engine: Engine, event: Event) -> list[StateVariable]:
    """The facts by which rules read the action of an event."""
    if event.step is None or not isinstance(event.step.resolved, GroundAction):
        return []
    kinds = (START, "during") if event.kind == START else (END, "during")
    action_facts = [engine.find_action_fact(kind, event.step.resolved) for kind in kinds]
    return [action_fact for action_fact in action_facts if action_fact is not None]
