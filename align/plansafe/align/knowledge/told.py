"""What a question tells of a state: the objects that it is about, and what bears on the answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from plansafe.align.prompts import scene_lines
from plansafe.llm.prompts.crop import Crop
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.model.operations import atoms_in

PLACES: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "household": {
        "on": (0, 1),
        "inside": (0, 1),
        "contains": (1, 0),
        "holding": (1, 0),
        "has": (1, 0),
        "present": (0, 1),
        "in-room": (0, 1),
    },
    "virtualhome": {
        "on_top": (0, 1),
        "inside": (0, 1),
        "holds_rh": (1, 0),
        "holds_lh": (1, 0),
        "worn": (0, 1),
        "in_room": (0, 1),
    },
}
"""Of a world, the predicates that say where something is: which argument is the thing, and which is its place."""
MOST_TOUCHED = 24
MOST_NEAR = 48
_DEEPEST = 3


class Told:
    """The facts of one state, asked for by their objects."""

    def __init__(self, task: Task, state: State, world: str) -> None:
        self.task, self.state = task, state
        self._of: dict[tuple[int, int, int], list[tuple[int, ...]]] = {}
        self._seen: set[int] = set()
        self._places = {
            index: roles
            for index, predicate in enumerate(task.predicates)
            if len(predicate.types) == 2 and (roles := PLACES.get(world, {}).get(predicate.name)) is not None
        }

    def facts_of(self, predicate: int, argument: int, object: int) -> Sequence[tuple[int, ...]]:
        """The facts of a predicate that have an object as this argument, in order."""
        if predicate not in self._seen:
            self._seen.add(predicate)
            size = len(self.task.predicates[predicate].types)
            for code in sorted(self.state.facts[predicate]):
                objects = tuple(self.task.decode(code, size))
                for at, one in enumerate(objects):
                    self._of.setdefault((predicate, at, one), []).append(objects)
        return self._of.get((predicate, argument, object), ())

    def places(self, thing: int) -> list[tuple[int, tuple[int, ...]]]:
        """Where a thing is, and where that is, as facts (predicate, objects): the nearest first."""
        found: list[tuple[int, tuple[int, ...]]] = []
        here, known = [thing], {thing}
        for _ in range(_DEEPEST):
            above: list[int] = []
            for one in here:
                for index, (what, where) in self._places.items():
                    for objects in self.facts_of(index, what, one):
                        if (index, objects) not in found:
                            found.append((index, objects))
                        if objects[where] not in known:
                            known.add(objects[where])
                            above.append(objects[where])
            here = above
        return found

    def contents(self, place: int) -> list[int]:
        """What is at a place directly, but rooms' furniture: what the place holds by facts that can change."""
        found = {
            objects[what]
            for index, (what, where) in self._places.items()
            if not self.task.static[index]
            for objects in self.facts_of(index, where, place)
        }
        return sorted(found)

    def movable(self) -> list[int]:
        """Everything that has a place which can change."""
        return sorted(
            {
                self.task.decode(code, 2)[what]
                for index, (what, _) in self._places.items()
                if not self.task.static[index]
                for code in self.state.facts[index]
            }
        )

    def touched(self, step: GroundAction) -> list[int]:
        """The objects of a step, and those that facts which its conditions ask for connect with them."""
        binding = step.binding
        found = dict.fromkeys(step.objects)
        asked = [*step.action.start.condition, *[effect.condition for effect in step.action.start.effects]]
        for atom in [atom for part in asked for atom in atoms_in(part)]:
            known = [(at, a if a >= 0 else binding.get(-1 - a)) for at, a in enumerate(atom.arguments)]
            bound = [(at, one) for at, one in known if one is not None]
            for objects in self.facts_of(atom.predicate, *bound[0]) if bound else ():
                if all([objects[at] == one for at, one in bound]) and len(found) < MOST_TOUCHED:
                    found.update(dict.fromkeys(objects))
        return list(found)

    def near(self, objects: Sequence[int]) -> list[int]:
        """These objects, what is where they are, and what is at that: what a rule may be about."""
        found = dict.fromkeys(objects)
        here = list(objects)
        for _ in range(2):
            for one in list(here):
                here += [each for _, those in self.places(one) for each in those if each not in found]
                found.update(dict.fromkeys(here))
            inner = [
                o[what]
                for one in dict.fromkeys(here)
                for index, (what, where) in self._places.items()
                for o in self.facts_of(index, where, one)
            ]
            here = [one for one in dict.fromkeys(inner) if one not in found]
            found.update(dict.fromkeys(here))
        return list(found)[:MOST_NEAR]

    def text(self, objects: Iterable[int]) -> str:
        """The state as far as these objects and their places go, in the words of a prompt for plans."""
        kept: set[int] = set()
        for one in objects:
            kept |= {one, *[each for _, those in self.places(one) for each in those]}
        facts: list[set[int]] = []
        for index, predicate in enumerate(self.task.predicates):
            found = {each for one in kept for each in self.facts_of(index, 0, one)} if predicate.types else set()
            facts.append({self.task.encode(each) for each in found if kept.issuperset(each)})
        now = self.task._replace(initial_facts=facts, initial_fluents=self.state.fluents)
        return "\n".join(scene_lines(now, Crop(frozenset(kept), frozenset(kept), frozenset())))

    def words(self, facts: Collection[tuple[int, tuple[int, ...]]]) -> str:
        """Facts as in a goal of a prompt: without parentheses, one behind the other."""
        return ", ".join([self.fact(index, objects) for index, objects in facts])

    def fact(self, predicate: int, objects: Sequence[int]) -> str:
        """A fact without parentheses."""
        return " ".join([self.task.predicates[predicate].name, *[self.task.objects[one] for one in objects]])
