"""Which instances of the rules an event touches, and which rules see every happening.

An instance reads some ground facts and fluents. Most formulas do not notice happenings that change none of these
(stuttering), so the order of two events matters to a rule only if one of its instances reads what both change. What
counts letters (``next``, ``yesterday``) or names actions inside a formula sees all of them.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.execution.timed import END, START, Event
from plansafe.verifier.model.footprints import Footprint, Footprints, Key
from plansafe.verifier.model.nodes import Atom, Formula, Temporal
from plansafe.verifier.model.operations import (
    NEIGHBOUR_OPERATORS,
    atoms_and_fluents,
    is_temporal,
    mentions,
    subformulas,
)
from plansafe.verifier.rules.model import RulePart, step_predicate

Instances = frozenset[tuple[int, int]]
"""The instances that have these objects for parameters, by slot."""


class TouchedInstances(NamedTuple):
    """Instances of a part that an event touches. ``matches``: it is a step that the part is about."""

    instances: Instances
    matches: bool


class PartReads:
    """What a part of a rule looks at.

    ``momentary``: it is judged where a step matches, by a condition on that state alone. Then the events that it reads
    have an order with the steps it matches, and none among themselves.
    """

    def __init__(self, part: RulePart, engine: Engine, prints: Footprints) -> None:
        formulas = [part.body] if part.guard is None else [part.body, part.guard]
        momentary = engine.rule_set.momentary
        about = part.step is not None and step_predicate(part.step) in momentary
        self.engine = engine
        self.everything = _counts(formulas, momentary) or (part.step is not None and part.after and not about)
        self.last_only = part.mode == "end" and not is_temporal(part.body)
        self.momentary = about and not any([is_temporal(f) for f in formulas])
        self._domains = {v.slot: engine.task.domain_sets[v.domain] for v in part.parameters}
        self._matched = [_atom(part.step)] if part.step is not None and about else []
        self._read: dict[int, list[tuple[int, ...]]] = {}
        self._behind: set[int] = set()
        if part.step is not None and not about:
            formulas.append(part.step)
        for formula in formulas:
            for read in atoms_and_fluents(formula):
                self._read.setdefault(prints.subject(read), []).append(read.arguments)
                if isinstance(read, Atom):
                    self._behind |= prints.inputs_of(read.predicate)

    def touches(self, event: Event, own: Footprint) -> list[TouchedInstances]:
        """The instances that an event touches."""
        action_facts = _action_facts(self.engine, event)
        out = []
        for predicate, code in [*own.changes, *action_facts]:
            if predicate in self._behind:
                out.append(TouchedInstances(frozenset(), False))
            for arguments in self._read.get(predicate, ()):
                found = self._match(arguments, code)
                if found is not None:
                    out.append(TouchedInstances(found, False))
        for atom in self._matched:
            for predicate, code in action_facts:
                found = self._match(atom.arguments, code) if predicate == atom.predicate else None
                if found is not None:
                    out.append(TouchedInstances(found, True))
        return out

    def _match(self, arguments: tuple[int, ...], code: int) -> Instances | None:
        """The objects that a ground fact gives to the parameters; ``None`` if no instance reads it."""
        objects = self.engine.task.decode(code, len(arguments))
        out: dict[int, int] = {}
        for argument, given in zip(arguments, objects, strict=True):
            if argument >= 0:
                fits = argument == given
            else:
                domain = self._domains.get(-1 - argument)  # none of a variable that is quantified inside
                fits = domain is None or (given in domain and out.setdefault(-1 - argument, given) == given)
            if not fits:
                return None
        return frozenset(out.items())

    def ordered(self, one: list[TouchedInstances], other: list[TouchedInstances]) -> bool:
        """Whether the part may see in which order two events happen that touch these instances."""
        if self.last_only:
            return False
        return any([a.matches or b.matches or not self.momentary for a in one for b in other if share_instance(a, b)])


def share_instance(one: TouchedInstances, other: TouchedInstances) -> bool:
    """Whether an instance is touched both ways."""
    both = one.instances | other.instances
    return len(dict(both)) == len(both)


def _counts(formulas: list[Formula], momentary: frozenset[int]) -> bool:
    return any(
        [
            mentions(formula, momentary)
            or any([isinstance(p, Temporal) and p.operator in NEIGHBOUR_OPERATORS for p in subformulas(formula)])
            for formula in formulas
        ]
    )


def _atom(step: Formula) -> Atom:
    atom = next(iter(atoms_and_fluents(step)))
    assert isinstance(atom, Atom)
    return atom


def _action_facts(engine: Engine, event: Event) -> list[Key]:
    """The action facts that change with an event."""
    if event.step is None or not isinstance(event.step.resolved, GroundAction):
        return []
    kinds = (START, "during") if event.kind == START else (END, "during")
    found = [engine.action_fact(kind, event.step.resolved) for kind in kinds]
    return [action_fact for action_fact in found if action_fact is not None]
