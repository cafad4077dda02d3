"""The checks that a verdict consists of, each with the few events and orders that it depends on.

A plan is executable if each event succeeds and each condition over all holds; it is safe if no instance of a rule is
violated. Each of these checks depends on few events. So the result of a run for one check holds in more worlds than the
run as a whole, and the number of runs is a sum over independent open durations, not a product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import product
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.happening import END, Event
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.footprints import (
    Footprint,
    FootprintFinder,
    StateVariable,
    find_interference,
    make_empty_footprint,
)
from plansafe.verifier.model.nodes import Binding, Formula, bind
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.symbolic.durations.affine import Topic
from plansafe.verifier.symbolic.durations.fact_spans import (
    MAX_CONJUNCTIONS,
    Conjunction,
    NoDisjunctiveForm,
    make_disjunctive_form,
)
from plansafe.verifier.symbolic.durations.touched_instances import (
    Instances,
    PartReads,
    TouchedInstances,
    have_common_instance,
)

MAX_INSTANCE_CLASSES = 300
"""Maximum number of classes of instances; with more, the instances are not divided."""
Pair = tuple[int, int]


class CheckKind(Enum):
    """What a check is about. ``EVERYTHING``: a rule, or the whole plan, that depends on the order of all events."""

    EVENT = "event"
    OVER_ALL = "over all"
    RULE = "rule"
    GOAL = "goal"
    EVERYTHING = "everything"


class PlanCheck(NamedTuple):
    """One check: an event succeeds, a condition over all or the goal holds, or instances of a rule are not violated.

    ``number``: of the event, the step, or the part of a rule. ``events``: the events that the check depends on, if all
    others succeed at their places. ``pairs``: the pairs of them (smaller first) whose order it depends on.
    ``touching_events``: change what instances of a rule read; ``instances``: objects for parameters, by slot. An
    instance belongs to the check of its rule with the most objects that the instance has.

    If the check is only about facts in single states, ``forbidden_conjunctions`` must never be true, throughout the run
    or between the events ``within_events``. Then the order of ``opposing_pairs`` events, which change one fact in
    opposite ways, says when each fact is true, and few of the other ``pairs`` matter (:mod:`.fact_spans`).
    """

    kind: CheckKind
    number: int
    events: frozenset[int]
    pairs: frozenset[Pair]
    touching_events: frozenset[int] = frozenset()
    instances: Instances = frozenset()
    forbidden_conjunctions: frozenset[Conjunction] | None = None
    opposing_pairs: frozenset[Pair] = frozenset()
    within_events: Pair | None = None

    @property
    def is_about_rule(self) -> bool:
        """Whether ``number`` is the number of a rule's part."""
        return self.kind in (CheckKind.RULE, CheckKind.EVERYTHING)

    def iterate_topics(self, happening_of_event: dict[int, int]) -> Iterator[Topic]:
        """The topics of the constraints that decide this check, except orders."""
        yield ()
        for event in self.events:
            yield "present", event
            yield "effect", event
        if self.kind is CheckKind.EVENT:
            yield "check", self.number
        elif self.kind is CheckKind.OVER_ALL:
            yield "over", self.number
        elif self.kind is CheckKind.GOAL:
            yield ("goal",)
        for happening in {happening_of_event[event] for event in self.events if event in happening_of_event}:
            yield "take", happening
        touching_events = self.events if self.kind is CheckKind.EVERYTHING else self.touching_events
        for happening in {happening_of_event[event] for event in touching_events if event in happening_of_event}:
            yield "part", self.number, happening
            yield "depart", happening
        if self.is_about_rule:
            yield "end", self.number


class PlanCheckBuilder:
    """Makes the checks of a plan. ``near_events[e]``: the events whose order with ``e`` differs between worlds.

    ``clashing_events[e]``: the near events that interfere with ``e``.
    """

    def __init__(self, engine: Engine, events: list[Event], near_events: list[set[int]]) -> None:
        self.engine = engine
        self.events = events
        self.near_events = near_events
        self.footprints = engine.footprints
        self._initial = engine.make_initial_state()
        self._event_footprints = [compute_event_footprint(self.footprints, event) for event in events]
        self._effect_footprints = [compute_effect_footprint(self.footprints, event) for event in events]
        self._writers: dict[StateVariable, list[int]] = {}
        self._writers_of_predicate: dict[int, list[int]] = {}
        for number, footprint in enumerate(self._event_footprints):
            for variable in footprint.changes:
                self._writers.setdefault(variable, []).append(number)
            for predicate in {predicate for predicate, _ in footprint.changes}:
                self._writers_of_predicate.setdefault(predicate, []).append(number)
        self.over_all_events: dict[int, frozenset[int]] = {}
        """By the number of a step, the events that its condition over all depends on."""
        self.clashing_events = [
            {
                near_event
                for near_event in near_events[number]
                if find_interference(footprint, self._event_footprints[near_event]) is not None
            }
            for number, footprint in enumerate(self._event_footprints)
        ]

    # -- dependencies -------------------------------------------------------------------------------------------------

    def _find_near_pairs(self, events: Iterable[int]) -> Iterator[Pair]:
        """All pairs of these events (smaller first) that are near each other."""
        members = {*events}
        return (
            (first, second)
            for first in members
            for second in self.near_events[first]
            if first < second and second in members
        )

    def _find_writers(self, footprint: Footprint) -> set[int]:
        """The events that may change the facts and fluents that are read."""
        writers = {event for variable in footprint.reads for event in self._writers.get(variable, ())}
        return writers.union(
            *[self._writers_of_predicate.get(predicate, ()) for predicate in footprint.unbounded_reads]
        )

    def _add_dependencies(self, events: Iterable[int]) -> frozenset[int]:
        """The events, and all events on which their effects depend, directly or through other events."""
        closure = {*events}
        stack = list(closure)
        while stack:
            event = stack.pop()
            writers = self._find_writers(self._effect_footprints[event])
            if self._effect_footprints[event].reads and self.events[event].kind == END:
                writers.add(event - 1)  # conditions at the start are read there
            writers -= closure
            closure |= writers
            stack += writers
        return frozenset(closure)

    def _make_check(
        self,
        kind: CheckKind,
        number: int,
        events: Iterable[int],
        pairs: Iterable[Pair] = (),
        touching_events: Iterable[int] = (),
        instances: Instances = frozenset(),
    ) -> PlanCheck:
        """A check that depends on the effects of ``events`` and on the order of ``pairs``."""
        closure = self._add_dependencies(events)
        clashes = [
            (event, clashing_event)
            for event in closure
            for clashing_event in self.clashing_events[event]
            if event < clashing_event and clashing_event in closure
        ]
        return PlanCheck(kind, number, closure, frozenset([*clashes, *pairs]), frozenset(touching_events), instances)

    # -- checks -------------------------------------------------------------------------------------------------------

    def make_event_check(self, number: int) -> PlanCheck:
        """The check that an event succeeds."""
        writers = self._find_writers(self._event_footprints[number])
        return self._make_check(CheckKind.EVENT, number, {number, *self.clashing_events[number], *writers})

    def make_goal_check(self) -> PlanCheck:
        """The check of the goal."""
        footprint = make_empty_footprint()
        self.footprints.add_reads(self.engine.task.goal, {}, footprint)
        return self._make_check(CheckKind.GOAL, 0, self._find_writers(footprint))

    def make_whole_plan_check(self, number: int) -> PlanCheck:
        """A check that depends on the order of all events."""
        events = range(len(self.events))
        return PlanCheck(CheckKind.EVERYTHING, number, frozenset(events), frozenset(self._find_near_pairs(events)))

    def make_over_all_checks(self) -> Iterator[PlanCheck]:
        """The checks of the conditions that must hold while actions are under way."""
        for number, event in enumerate(self.events):
            if event.kind != END or event.step is None or not isinstance(event.step.resolved, GroundAction):
                continue
            action, objects = event.step.resolved
            if action.over_all:
                binding = bind(action.parameters, objects)
                footprint = make_empty_footprint()
                self.footprints.add_reads(action.over_all, binding, footprint)
                writers = self._find_writers(footprint)
                events = sorted({*writers, number - 1, number})  # with its start and its end
                self.over_all_events[event.step.number] = frozenset(events)
                check = self._make_check(CheckKind.OVER_ALL, event.step.number, events, self._find_near_pairs(events))
                check = check._replace(within_events=(number - 1, number))
                yield self._add_forbidden_conjunctions(check, writers, model.And(action.over_all), [binding])

    def make_rule_checks(self) -> Iterator[PlanCheck]:
        """The checks of the rules, one for the instances that the same events touch."""
        for number, part in enumerate(self.engine.rule_set.parts):
            part_reads = PartReads(part, self.engine, self.footprints)
            if part_reads.reads_every_happening:
                yield self.make_whole_plan_check(number)
            else:
                yield from self._make_part_checks(number, part, part_reads)

    def _make_part_checks(self, number: int, part: RulePart, part_reads: PartReads) -> Iterator[PlanCheck]:
        """The checks of a part, one for each class of instances."""
        events = zip(self.events, self._event_footprints, strict=True)
        touches_by_event = [part_reads.find_touched_instances(event, footprint) for event, footprint in events]
        classes = find_instance_classes([touch for event_touches in touches_by_event for touch in event_touches])
        for instances in classes or [frozenset()]:
            class_touches = [
                [touch for touch in event_touches if not classes or touch.instances <= instances]
                for event_touches in touches_by_event
            ]
            touching_events = [event for event, event_touches in enumerate(class_touches) if event_touches]
            pairs = [
                (first, second)
                for first, second in self._find_near_pairs(touching_events)
                if part_reads.depends_on_order(class_touches[first], class_touches[second])
            ]
            check = self._make_check(CheckKind.RULE, number, touching_events, pairs, touching_events, instances)
            if part.mode == "always" and classes and pairs:
                bindings = self._iterate_bindings(part, instances, classes)
                check = self._add_forbidden_conjunctions(check, touching_events, part.body, bindings)
            yield check

    def _iterate_bindings(self, part: RulePart, instances: Instances, classes: list[Instances]) -> Iterator[Binding]:
        """The bindings of a part that have the objects of ``instances``, and are in no smaller one of the classes."""
        subclasses = [subclass for subclass in classes if subclass > instances]
        object_of_slot = dict(instances)
        domains = [self.engine.task.domains[v.domain] for v in part.parameters]
        slots = [v.slot for v in part.parameters]
        choices = [
            (object_of_slot[slot],) if slot in object_of_slot else domain
            for slot, domain in zip(slots, domains, strict=True)
        ]
        for objects in product(*choices):
            binding = dict(zip(slots, objects, strict=True))
            if not any([subclass <= binding.items() for subclass in subclasses]):
                yield binding

    # -- conditions on facts in single states -------------------------------------------------------------------------

    def _add_forbidden_conjunctions(
        self, check: PlanCheck, changing_events: Iterable[int], formula: Formula, bindings: Iterable[Binding]
    ) -> PlanCheck:
        """The check with its ``forbidden_conjunctions``, if it is only about facts in single states.

        ``changing_events``: the events that may change the facts of the formula.
        """
        conjunctions = self._find_forbidden_conjunctions(changing_events, formula, bindings)
        if conjunctions is None:
            return check
        facts = {(literal.predicate, literal.code) for conjunction in conjunctions for literal in conjunction}
        adds = {event: self._event_footprints[event].adds & facts for event in check.events}
        deletes = {event: self._event_footprints[event].deletes & facts for event in check.events}
        near_pairs = self._find_near_pairs(sorted(check.events))
        opposing_pairs = [
            (first, second)
            for first, second in near_pairs
            if adds[first] & deletes[second] or deletes[first] & adds[second]
        ]
        if not check.events <= {*changing_events, *(check.within_events or ())}:  # effects that depend on other events
            opposing_pairs += [
                (event, clashing_event)
                for event in check.events
                for clashing_event in self.clashing_events[event]
                if event < clashing_event and clashing_event in check.events
            ]
        return check._replace(forbidden_conjunctions=frozenset(conjunctions), opposing_pairs=frozenset(opposing_pairs))

    def _find_forbidden_conjunctions(
        self, changing_events: Iterable[int], formula: Formula, bindings: Iterable[Binding]
    ) -> set[Conjunction] | None:
        """The conjunctions that make the formula false for some binding; ``None`` if there are none or too many."""
        changed_variables = {
            variable for event in changing_events for variable in self._event_footprints[event].changes
        }
        action_predicates = {*self.engine.rule_set.action_predicates.values()}
        axioms = self.engine.axioms

        def find_constant_value(predicate: int, code: int) -> bool | None:
            if predicate in action_predicates or (axioms is not None and predicate in axioms.derived):
                raise NoDisjunctiveForm
            return None if (predicate, code) in changed_variables else code in self._initial.facts[predicate]

        conjunctions: set[Conjunction] = set()
        try:
            for binding in bindings:
                conjunctions |= make_disjunctive_form(self.engine.task, formula, binding, False, find_constant_value)
                if len(conjunctions) > MAX_CONJUNCTIONS:
                    return None
        except NoDisjunctiveForm:
            return None
        return conjunctions


def find_instance_classes(touches: list[TouchedInstances]) -> list[Instances]:
    """The sets of instances that the same events touch, by their objects; empty if there are too many.

    Closed under intersection: the objects of several touches together are also a class.
    """
    classes = dict.fromkeys([touch.instances for touch in touches])
    for touched in list(classes):  # each also meets the unions made so far, so every union of touches is made
        for instances in list(classes):
            if have_common_instance(touched, instances):
                classes[touched | instances] = None
        if len(classes) > MAX_INSTANCE_CLASSES:
            return []
    return list(classes)


def compute_event_footprint(footprints: FootprintFinder, event: Event) -> Footprint:
    """The footprint of an event: its conditions, the constraints on its duration, and its effects."""
    if event.step is not None and isinstance(event.step.resolved, GroundAction):
        return footprints.find_action_footprint(
            event.step.resolved.action, event.step.resolved.binding, event.kind == END
        )
    footprint = make_empty_footprint()
    if event.literal is not None:
        literal = event.literal
        code = footprints.task.encode(literal.arguments)
        if literal.fluent:
            footprints.add_assignment(literal.predicate, code, "assign", footprint)
        else:
            (footprint.adds if literal.value else footprint.deletes).add((literal.predicate, code))
    return footprint


def compute_effect_footprint(footprints: FootprintFinder, event: Event) -> Footprint:
    """The footprint of what an event's effects depend on; empty unless they are conditional or compute with fluents."""
    footprint = make_empty_footprint()
    if event.step is not None and isinstance(event.step.resolved, GroundAction):
        for effect in event.snap.effects:
            for binding in footprints.task.bindings(effect.variables, event.step.resolved.binding):
                footprints.add_effect_reads(effect, binding, footprint)
                footprints.add_reads((effect.at_start,), binding, footprint)
    return footprint
