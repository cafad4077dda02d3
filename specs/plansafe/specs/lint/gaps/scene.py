"""One moment of a plan as a graph: which facts connect which objects, and which of them are suspicious."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from plansafe.specs.lint.gaps.rules import GroundLiteral
from plansafe.specs.lint.gaps.words import Words
from plansafe.verifier.execution.replay import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.nodes import Action, Atom, Fluent, Task
from plansafe.verifier.model.operations import reads

MAX_DISTANCE = 3
MAX_ITEMS = 24
HUB = 40
"""An object with more facts than this connects everything with everything, and so nothing."""


class Item(NamedTuple):
    """Something suspicious at one moment: a fact, or an object of a suspicious kind."""

    weight: float
    literal: GroundLiteral | None
    objects: tuple[int, ...]


NO_ITEM = Item(0.0, None, ())


class Shared:
    """What all moments of a task have in common."""

    def __init__(self, words: Words, engine: Engine) -> None:
        self.words = words
        self.engine = engine
        initial = engine.initial()
        self.task = task = words.task
        self.initial = initial.facts
        self.arity = [len(p.types) for p in task.predicates]
        self._decoded: dict[tuple[int, int], tuple[int, ...]] = {}
        derived = words.derived
        self.changing = [p for p in range(len(task.static)) if not task.static[p] and p not in derived]
        static = [p for p in range(len(task.static)) if task.static[p]]
        self.at_first = [(p, code) for p in self.changing for code in initial.facts[p]]
        """The facts of S0 that may change."""
        self.edges: dict[int, list[GroundLiteral]] = {}
        self.items: list[Item] = []
        strongest: dict[int, Item] = {}
        for predicate in static:
            for code in sorted(initial.facts[predicate]):
                literal = self.literal(predicate, code)
                self.connect(self.edges, literal)
                item = Item(words.facts[predicate].weight, literal, literal.objects)
                if item.weight > 0 and len(item.objects) != 1:
                    self.items.append(item)
                elif item.weight > strongest.get(item.objects[0], NO_ITEM).weight:
                    strongest[item.objects[0]] = item
        self.items += strongest.values()
        for number in range(len(task.objects)):
            weight = words.kinds[words.kind_of(number)].weight
            if weight > 0:
                self.items.append(Item(weight, None, (number,)))
        self.items.sort(key=lambda item: -item.weight)
        self.marks = [0.0] * len(task.objects)
        """The weight of what makes each object suspicious for good."""
        for item in self.items:
            if len(item.objects) == 1:
                self.marks[item.objects[0]] = max(self.marks[item.objects[0]], item.weight)
        self.like = _alike(task, initial)
        """For each object, those that differ from it in nothing but the name, itself among them."""

    def literal(self, predicate: int, code: int) -> GroundLiteral:
        """A fact that holds."""
        key = predicate, code
        if key not in self._decoded:
            self._decoded[key] = self.task.decode(code, self.arity[predicate])
        return GroundLiteral(predicate, self._decoded[key])

    def connect(self, edges: dict[int, list[GroundLiteral]], literal: GroundLiteral) -> None:
        """Note a literal as an edge between each two of its objects."""
        if len(set(literal.objects)) > 1:
            for item in set(literal.objects):
                edges.setdefault(item, []).append(literal)

    def new(self, literal: GroundLiteral) -> bool:
        """Whether a fact did not hold in S0."""
        return self.task.encode(literal.objects) not in self.initial[literal.predicate]


def _alike(task: Task, initial: State) -> list[tuple[int, ...]]:
    """Objects of the same types, in the same facts of S0, that neither the goal nor an action names."""
    named = {a for part in task.goal for read in reads(part) for a in read.arguments if a >= 0}
    named |= {a for action in task.actions.values() for part in _conditions(action) for a in part.arguments if a >= 0}
    facts: dict[int, list[object]] = {o: [] for o in range(len(task.objects))}
    for values in (initial.facts, initial.fluents):
        declared = task.predicates if values is initial.facts else task.functions
        for index, codes in enumerate(values[: len(declared)]):
            for code in codes:
                arguments = task.decode(code, len(declared[index].types))
                value = codes[code] if isinstance(codes, dict) else True
                for item in set(arguments):
                    others = tuple([-1 if o == item else o for o in arguments])
                    facts[item].append((isinstance(codes, dict), index, others, value))
    classes: dict[object, list[int]] = {}
    for item, known in facts.items():
        key = item if item in named else (task.object_types[item], frozenset(known))
        classes.setdefault(key, []).append(item)
    found: dict[int, tuple[int, ...]] = {o: tuple(group) for group in classes.values() for o in group}
    return [found[o] for o in range(len(task.objects))]


def _conditions(action: Action) -> Iterator[Atom | Fluent]:
    for effect in action.start.effects:
        yield from reads(effect.condition)
        yield from (*effect.adds, *effect.deletes)
    for part in action.start.condition:
        yield from reads(part)


class Scene:
    """The facts of one state. Paths are found once for each start."""

    def __init__(self, shared: Shared, state: State) -> None:
        self.shared = shared
        self.state = state
        self.facts = state.facts
        self.dynamic = [shared.literal(p, code) for p in shared.changing for code in sorted(state.facts[p])]
        self._edges: dict[int, list[GroundLiteral]] = {}
        for literal in self.dynamic:
            shared.connect(self._edges, literal)
        weights = shared.words.facts
        items = [Item(weights[f.predicate].weight, f, f.objects) for f in self.dynamic if weights[f.predicate].weight]
        items.sort(key=lambda item: (-item.weight, not shared.new(item.literal) if item.literal else False))
        self.items = sorted([*items[:MAX_ITEMS], *shared.items[:MAX_ITEMS]], key=lambda item: -item.weight)[:MAX_ITEMS]
        self._reached: dict[tuple[int, ...], dict[int, tuple[GroundLiteral, ...]]] = {}

    def holds(self, literal: GroundLiteral) -> bool:
        """Whether a fact holds."""
        return self.shared.task.encode(literal.objects) in self.facts[literal.predicate]

    def around(self, item: int) -> Iterable[GroundLiteral]:
        """The facts that connect an object with others, suspicious ones first."""
        edges = [*self._edges.get(item, ()), *self.shared.edges.get(item, ())]
        weights = self.shared.words.facts
        return sorted(edges, key=lambda f: -weights[f.predicate].weight) if len(edges) <= HUB else ()

    def reached(self, start: tuple[int, ...]) -> dict[int, tuple[GroundLiteral, ...]]:
        """The objects within :data:`MAX_DISTANCE` facts of some, each with a shortest chain of facts."""
        if start not in self._reached:
            found: dict[int, tuple[GroundLiteral, ...]] = dict.fromkeys(start, ())
            layer = list(start)
            for _ in range(MAX_DISTANCE):
                following = []
                for item in layer:
                    for fact in self.around(item):
                        for other in fact.objects:
                            if other not in found:
                                found[other] = (*found[item], fact)
                                following.append(other)
                layer = following
            self._reached[start] = found
        return self._reached[start]

    def links(self, chain: tuple[GroundLiteral, ...]) -> float:
        """What a chain costs: facts that never change and that no rule looks at hardly connect."""
        words, static = self.shared.words.facts, self.shared.task.static
        return sum([0.0 if words[f.predicate].weight >= 1 else 0.4 if static[f.predicate] else 0.3 for f in chain])

    def chain(self, start: tuple[int, ...], end: tuple[int, ...]) -> tuple[GroundLiteral, ...] | None:
        """A shortest chain of facts between two groups of objects: empty if they share one, ``None`` if none."""
        reached = self.reached(start)
        chains = [reached[item] for item in end if item in reached]
        return min(chains, key=len) if chains else None
