"""What a verdict consists of: items, each with the few events and orders that it depends on.

A plan is executable if each event succeeds and each condition over all holds; it is safe if no instance of a rule is
violated. Each of these depends on a few of the events alone, so what a run has found out about one item holds in more
worlds than the run as a whole, and independent uncertainties add up instead of multiplying.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.execution.timed import END, Event
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.footprints import Footprint, Footprints, Key, empty_footprint, interference
from plansafe.verifier.model.nodes import Binding, Formula, bind
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.symbolic.durations.affine import Topic
from plansafe.verifier.symbolic.durations.conjunctions import (
    MAX_CONJUNCTIONS,
    Conjunction,
    NotConjunctive,
    disjunctive_form,
)
from plansafe.verifier.symbolic.durations.touched_instances import PartReads, TouchedInstances

MAX_CLASSES = 300
Pair = tuple[int, int]
Instances = frozenset[tuple[int, int]]
EVENT, OVER_ALL, RULE, GOAL, EVERYTHING = "event", "over all", "rule", "goal", "everything"


class PlanCheck(NamedTuple):
    """Something that succeeds, holds, or is violated.

    ``number``: of the event, the step, or the part of a rule. ``events``: those it depends on, if all others succeed
    where they are. ``pairs``: those among them (smaller first) whose order it depends on. ``touching``: events that
    change what instances of a rule read; ``instances``: objects for parameters, by slot. An instance belongs to the
    item of its rule that says most about it. ``never``: if it is only about facts in single states, what is never to be
    true; then the order of ``turning`` events, which change one fact in opposite ways, says when each fact is true, and
    few of the other ``pairs`` matter (:mod:`.spans`). ``within``: the start and the end between which it is not.
    """

    kind: str
    number: int
    events: frozenset[int]
    pairs: frozenset[Pair]
    touching: frozenset[int] = frozenset()
    instances: Instances = frozenset()
    never: frozenset[Conjunction] | None = None
    turning: frozenset[Pair] = frozenset()
    within: Pair | None = None

    def topics(self, batches: dict[int, int]) -> Iterator[Topic]:
        """What a run has decided for this item, apart from orders; ``batches``: the happening of each event."""
        yield ()
        for event in self.events:
            yield "present", event
            yield "effect", event
        if self.kind == EVENT:
            yield "check", self.number
        elif self.kind == OVER_ALL:
            yield "over", self.number
        elif self.kind == GOAL:
            yield ("goal",)
        for number in {batches[event] for event in self.events if event in batches}:
            yield "take", number
        touching = self.events if self.kind == EVERYTHING else self.touching
        for number in {batches[event] for event in touching if event in batches}:
            yield "part", self.number, number
            yield "depart", number
        if self.kind in (RULE, EVERYTHING):
            yield "end", self.number


class PlanCheckBuilder:
    """Finds the items of a plan's events. ``near[e]``: those whose order with ``e`` is not the same in all worlds."""

    def __init__(self, engine: Engine, events: list[Event], near: list[set[int]]) -> None:
        self.engine = engine
        self.events = events
        self.near = near
        self.footprints = engine.footprints
        self._initial = engine.initial()
        self.prints = [event_footprint(self.footprints, event) for event in events]
        self._effects = [effect_footprint(self.footprints, event) for event in events]
        self._writers: dict[Key, list[int]] = {}
        self._of_predicate: dict[int, list[int]] = {}
        for number, own in enumerate(self.prints):
            for fact in own.changes:
                self._writers.setdefault(fact, []).append(number)
            for predicate in {fact[0] for fact in own.changes}:
                self._of_predicate.setdefault(predicate, []).append(number)
        self.under_way: dict[int, frozenset[int]] = {}
        """By the number of a step, the events that its condition over all depends on."""
        self.clashing = [
            {j for j in near[i] if interference(own, self.prints[j]) is not None} for i, own in enumerate(self.prints)
        ]

    def among(self, group: Iterable[int]) -> Iterator[Pair]:
        """All pairs of a group (smaller first) that are near each other."""
        known = {*group}
        return ((i, j) for i in known for j in self.near[i] if i < j and j in known)

    def writers(self, read: Footprint) -> set[int]:
        """The events that may change what is read."""
        out = {event for fact in read.reads for event in self._writers.get(fact, ())}
        return out.union(*[self._of_predicate.get(predicate, ()) for predicate in read.behind])

    def item(
        self,
        kind: str,
        number: int,
        first: Iterable[int],
        read: Footprint | None = None,
        pairs: Iterable[Pair] = (),
        touching: Iterable[int] = (),
        instances: Instances = frozenset(),
    ) -> PlanCheck:
        """An item that depends on the effects of ``first`` and on what it reads; and on what those effects depend."""
        found = {*first} if read is None else {*first} | self.writers(read)
        stack = list(found)
        while stack:
            event = stack.pop()
            new = self.writers(self._effects[event])
            if self._effects[event].reads and self.events[event].kind == END:
                new.add(event - 1)  # conditions at the start are read there
            new -= found
            found |= new
            stack += new
        clashes = [(i, j) for i in found for j in self.clashing[i] if i < j and j in found]
        return PlanCheck(kind, number, frozenset(found), frozenset([*clashes, *pairs]), frozenset(touching), instances)

    def over_all(self) -> Iterator[PlanCheck]:
        """The conditions that must hold while actions are under way."""
        for number, event in enumerate(self.events):
            if event.kind != END or event.step is None or not isinstance(event.step.resolved, GroundAction):
                continue
            action, objects = event.step.resolved
            if action.over_all:
                binding = bind(action.parameters, objects)
                read = empty_footprint()
                self.footprints.read(action.over_all, binding, read)
                changing = self.writers(read)
                group = sorted({*changing, number - 1, number})  # with its start and its end
                self.under_way[event.step.number] = frozenset(group)
                item = self.item(OVER_ALL, event.step.number, group, None, self.among(group))
                item = item._replace(within=(number - 1, number))
                yield self._facts_alone(item, changing, model.And(action.over_all), [binding])

    def goal(self) -> PlanCheck:
        """The goal, with what it reads."""
        read = empty_footprint()
        self.footprints.read(self.engine.task.goal, {}, read)
        return self.item(GOAL, 0, (), read)

    def event(self, number: int, close: Iterable[int]) -> PlanCheck:
        """Whether an event succeeds, which also depends on what is ``close`` to it."""
        return self.item(EVENT, number, (number, *close), self.prints[number])

    def everything(self, number: int) -> PlanCheck:
        """What depends on the order of all events."""
        events = range(len(self.events))
        return PlanCheck(EVERYTHING, number, frozenset(events), frozenset(self.among(events)))

    def rules(self) -> Iterator[PlanCheck]:
        """The instances of rules: those together that the same events touch."""
        plan = self.engine.rule_set
        for number, part in enumerate(plan.parts):
            watcher = PartReads(part, self.engine, self.footprints)
            if watcher.everything:
                yield self.everything(number)
                continue
            seen = [watcher.touches(event, own) for event, own in zip(self.events, self.prints, strict=True)]
            found = instance_classes([touch for touches in seen for touch in touches])
            for instances in found or [frozenset()]:
                known = [[t for t in own if not found or t.instances <= instances] for own in seen]
                touching = [event for event, own in enumerate(known) if own]
                pairs = [(i, j) for i, j in self.among(touching) if watcher.ordered(known[i], known[j])]
                item = self.item(RULE, number, touching, None, pairs, touching, instances)
                if part.mode == "always" and found and pairs:
                    finer = [other for other in found if other > instances]
                    item = self._facts_alone(item, touching, part.body, self._bindings(part, instances, finer))
                yield item

    def _bindings(self, part: RulePart, instances: Instances, finer: list[Instances]) -> Iterator[Binding]:
        """The instances of a part that have these objects, and no more of those that events name."""
        known = dict(instances)
        domains = [self.engine.task.domains[v.domain] for v in part.parameters]
        slots = [v.slot for v in part.parameters]
        choices = [(known[slot],) if slot in known else domain for slot, domain in zip(slots, domains, strict=True)]
        for objects in product(*choices):
            binding = dict(zip(slots, objects, strict=True))
            if not any([other <= binding.items() for other in finer]):
                yield binding

    def _facts_alone(
        self, item: PlanCheck, changing: Iterable[int], formula: Formula, bindings: Iterable[Binding]
    ) -> PlanCheck:
        """The item with what is never to be true, if it is about facts in single states."""
        changed = {fact for event in changing for fact in self.prints[event].changes}
        action_predicates = {*self.engine.rule_set.action_predicates.values()}
        axioms = self.engine.axioms

        def constant(predicate: int, code: int) -> bool | None:
            if predicate in action_predicates or (axioms is not None and predicate in axioms.derived):
                raise NotConjunctive
            return None if (predicate, code) in changed else code in self._initial.facts[predicate]

        never: set[Conjunction] = set()
        try:
            for binding in bindings:
                never |= disjunctive_form(self.engine.task, formula, binding, False, constant)
                if len(never) > MAX_CONJUNCTIONS:
                    return item
        except NotConjunctive:
            return item
        facts = {(literal.predicate, literal.code) for conjunction in never for literal in conjunction}
        adds = {event: self.prints[event].adds & facts for event in item.events}
        deletes = {event: self.prints[event].deletes & facts for event in item.events}
        turning = [(i, j) for i, j in self.among(sorted(item.events)) if adds[i] & deletes[j] or deletes[i] & adds[j]]
        if not item.events <= {*changing, *(item.within or ())}:  # effects that depend on others
            turning += [(i, j) for i in item.events for j in self.clashing[i] if i < j and j in item.events]
        return item._replace(never=frozenset(never), turning=frozenset(turning))


def instance_classes(touches: list[TouchedInstances]) -> list[Instances]:
    """The sets of instances that the same events touch, by the objects that they have; none if there are too many.

    All that an event says of the instances it touches, and whatever several of them say together.
    """
    found = dict.fromkeys([touch.instances for touch in touches])
    stack = list(found)
    while stack:
        one = stack.pop()
        for other in list(found):
            both = one | other
            if both not in found and len(dict(both)) == len(both):
                found[both] = None
                stack.append(both)
        if len(found) > MAX_CLASSES:
            return []
    return list(found)


def event_footprint(footprints: Footprints, event: Event) -> Footprint:
    """An event: its conditions, the constraints on its duration, and its effects."""
    if event.step is not None and isinstance(event.step.resolved, GroundAction):
        return footprints.of_action(event.step.resolved.action, event.step.resolved.binding, event.kind == END)
    out = empty_footprint()
    if event.literal is not None:
        literal = event.literal
        code = footprints.task.encode(literal.arguments)
        if literal.fluent:
            footprints.assign(literal.predicate, code, "assign", out)
        else:
            (out.adds if literal.value else out.deletes).add((literal.predicate, code))
    return out


def effect_footprint(footprints: Footprints, event: Event) -> Footprint:
    """What the effects of an event depend on: nothing, unless they are conditional or compute with fluents."""
    out = empty_footprint()
    if event.step is not None and isinstance(event.step.resolved, GroundAction):
        for effect in event.snap.effects:
            for binding in footprints.task.bindings(effect.variables, event.step.resolved.binding):
                footprints.depend(effect, binding, out)
                footprints.read((effect.at_start,), binding, out)
    return out
