"""The facts of a state by their objects: places, and the part of the state that a question shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from plansafe.align.prompts import scene_lines
from plansafe.llm.prompts.crop import Crop
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.model.operations import atoms_in

_FORWARD, _BACKWARD = (0, 1), (1, 0)
PLACES: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "household": {
        **dict.fromkeys(("on", "inside", "present", "in-room"), _FORWARD),
        **dict.fromkeys(("contains", "holding", "has"), _BACKWARD),
    },
    "virtualhome": {
        **dict.fromkeys(("on_top", "inside", "worn", "in_room"), _FORWARD),
        **dict.fromkeys(("holds_rh", "holds_lh"), _BACKWARD),
    },
}
"""For each world, the predicates that say where something is, with the arguments of the thing and of its place."""
MAX_TOUCHED = 24
_MAX_DEPTH = 3
_Fact = tuple[int, tuple[int, ...]]
"""A predicate and its objects."""


class StateFacts:
    """The facts of one state, indexed by their objects."""

    def __init__(self, task: Task, state: State, world: str) -> None:
        self.task, self.state = task, state
        self._by_object: dict[tuple[int, int, int], list[tuple[int, ...]]] = {}
        self._indexed: set[int] = set()
        self._places = {
            index: roles
            for index, predicate in enumerate(task.predicates)
            if len(predicate.types) == 2 and (roles := PLACES.get(world, {}).get(predicate.name)) is not None
        }

    def facts_of(self, predicate: int, argument: int, object: int) -> Sequence[tuple[int, ...]]:
        """The facts of a predicate that have an object as this argument, in order."""
        if predicate not in self._indexed:
            self._indexed.add(predicate)
            size = len(self.task.predicates[predicate].types)
            for code in sorted(self.state.facts[predicate]):
                objects = tuple(self.task.decode(code, size))
                for place, number in enumerate(objects):
                    self._by_object.setdefault((predicate, place, number), []).append(objects)
        return self._by_object.get((predicate, argument, object), ())

    def places(self, entity: int) -> list[_Fact]:
        """The place of a thing, the place of that place, and so on, as facts; the nearest first."""
        facts: dict[_Fact, None] = {}
        level, reached = [entity], {entity}
        for _ in range(_MAX_DEPTH):
            next_level: list[int] = []
            for item in level:
                for index, (entity_at, place_at) in self._places.items():
                    for objects in self.facts_of(index, entity_at, item):
                        facts.setdefault((index, objects))
                        if objects[place_at] not in reached:
                            reached.add(objects[place_at])
                            next_level.append(objects[place_at])
            level = next_level
        return list(facts)

    def touched(self, step: GroundAction) -> list[int]:
        """The objects of a step, and objects connected with them by facts that its conditions read."""
        binding = step.binding
        numbers = dict.fromkeys(step.objects)
        conditions = [*step.action.start.condition, *[effect.condition for effect in step.action.start.effects]]
        for atom in [atom for condition in conditions for atom in atoms_in(condition)]:
            arguments = [(place, a if a >= 0 else binding.get(-1 - a)) for place, a in enumerate(atom.arguments)]
            bound = [(place, number) for place, number in arguments if number is not None]
            for objects in self.facts_of(atom.predicate, *bound[0]) if bound else ():
                if all([objects[place] == number for place, number in bound]) and len(numbers) < MAX_TOUCHED:
                    numbers.update(dict.fromkeys(objects))
        return list(numbers)

    def text(self, objects: Iterable[int]) -> str:
        """The part of the state about these objects and their places, in the words of a prompt for plans."""
        scene_objects: set[int] = set()
        for item in objects:
            scene_objects |= {item, *[number for _, fact in self.places(item) for number in fact]}
        facts: list[set[int]] = []
        for index, predicate in enumerate(self.task.predicates):
            of_shown = (
                {fact for item in scene_objects for fact in self.facts_of(index, 0, item)} if predicate.types else set()
            )
            facts.append({self.task.encode(fact) for fact in of_shown if scene_objects.issuperset(fact)})
        now = self.task._replace(initial_facts=facts, initial_fluents=self.state.fluents)
        return "\n".join(scene_lines(now, Crop(frozenset(scene_objects), frozenset(scene_objects), frozenset())))

    def words(self, facts: Collection[_Fact]) -> str:
        """Facts as in the goal of a prompt, separated by commas."""
        return ", ".join([self.fact(index, objects) for index, objects in facts])

    def fact(self, predicate: int, objects: Sequence[int]) -> str:
        """A fact without parentheses."""
        return " ".join([self.task.predicates[predicate].name, *[self.task.objects[number] for number in objects]])
