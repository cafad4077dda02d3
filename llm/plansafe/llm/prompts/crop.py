"""The part of a scene that matters for a task, for prompts alone: a verdict is always about the whole scene.

What matters, in this order:

1. who acts, and what the goal and the words name; 2. the objects of the steps that the goal needs if deleted facts are
ignored (:meth:`BackwardEstimator.estimate`; rules are ignored, so that this plan is not an answer); 3.
what rules could be touched: the objects of the instances that are broken at the start, or by a step of that way; 4.
whatever hangs together with these by facts, the nearest first. A fact of a relation is worth the less, the more of them
an object has: the one room that a thing is in is nearer to it than the seventy things in that room. Of objects at the
same distance, the one with more uses comes first (static facts that conditions of actions ask for).

A scene has as many of these as fit. It has a fact if it has all its objects; one of a dense relation
(:data:`DENSE`) only if it is about 1 to 3.

A task in few words: the actions by their signatures, the objects by type, the facts, the goal.

For models with small windows. Objects come in the task's order and facts in the order of the predicates, so that one
task gives one text. A cropped scene has only the objects of its :class:`~plansafe.llm.prompts.crop.Crop`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from heapq import heappop, heappush
from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import BrokenInstance
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Action, And, Formula, Task
from plansafe.verifier.model.operations import find_atoms
from plansafe.verifier.model.printing import format_formula
from plansafe.verifier.planning.backward_estimates import BackwardEstimator, Subgoal

DENSE = 4
"""Facts of one relation for each object, from which on it is dense."""
_WORD = re.compile(r"[^\W\d_]{3,}")


class Relevance(NamedTuple):
    """All objects of a task, by number: the ``core`` (1 to 3 above), and the further objects, nearer ones first."""

    core: tuple[int, ...]
    others: tuple[int, ...]


class Crop(NamedTuple):
    """The part of the scene in the prompt: these objects, by number.

    ``left_objects`` and ``left_facts`` count the rest.
    """

    kept: frozenset[int]
    core: frozenset[int]
    dense: frozenset[int]
    left_objects: int = 0
    left_facts: int = 0

    def tells(self, task: Task, predicate: int, code: int) -> bool:
        """Whether the scene has a fact if it is true."""
        of = self.core & self.kept if predicate in self.dense else self.kept
        return of.issuperset(task.decode(code, len(task.predicates[predicate].types)))


def relevance(compiled: CompiledTask, words: str = "") -> Relevance:
    """Order the objects by relevance. Deterministic: the bound is on the facts examined, not on time."""
    task = compiled.task
    core = [*_agents(task), *named_in(task.goal), *_named_objects(task, words)]
    if compiled.engine.refusal is None:
        subgoals: list[Subgoal] = [(part, {}) for part in task.goal]
        way = BackwardEstimator(compiled.engine).estimate(compiled.engine.make_initial_state(), subgoals).steps
        core += [number for step in way for number in step.objects]
        core += _broken(compiled, way)
    core = list(dict.fromkeys(core))
    return Relevance(tuple(core), tuple(_around(task, core)))


def crop(task: Task, relevance_order: Relevance, fits: Callable[[Crop], bool]) -> Crop:
    """As much of a scene as fits, in the order of relevance; at least its first object."""
    order = (*relevance_order.core, *relevance_order.others)
    core, dense = frozenset(relevance_order.core), _dense(task)
    low, high = 1, len(order)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(Crop(frozenset(order[:middle]), core, dense)):
            low = middle
        else:
            high = middle - 1
    return _counted(task, Crop(frozenset(order[:low]), core, dense))


def cropped_to(task: Task, objects: Iterable[int]) -> Crop:
    """The crop to these objects, all of them core."""
    object_numbers = frozenset(objects)
    return _counted(task, Crop(object_numbers, object_numbers, _dense(task)))


def _counted(task: Task, part: Crop) -> Crop:
    facts = [(index, code) for index, codes in enumerate(task.initial_facts) for code in codes]
    untold = len([fact for fact in facts if not part.tells(task, *fact)])
    return part._replace(left_objects=len(task.objects) - len(part.kept), left_facts=untold)


def _dense(task: Task) -> frozenset[int]:
    return frozenset(
        [
            index
            for index, codes in enumerate(task.initial_facts)
            if len(task.predicates[index].types) > 1 and len(codes) > DENSE * len(task.objects)
        ]
    )


def _agents(task: Task) -> list[int]:
    """Who acts: the objects that can be the first argument of every action, if they are few."""
    sets = [task.domain_sets[a.parameters[0].domain] for a in task.actions.values() if a.parameters]
    common = frozenset[int]().union(*sets).intersection(*sets)
    return sorted(common) if len(common) * 4 <= len(task.objects) else []


def named_in(goal: Iterable[Formula]) -> list[int]:
    """The objects that a goal names."""
    atoms = [atom for part in goal for atom in find_atoms(part)]
    return [argument for atom in atoms for argument in atom.arguments if argument >= 0]


def _named_objects(task: Task, words: str) -> list[int]:
    """Objects whose whole name is in the words, without numbers: `kitchen_counter_12` by "on the kitchen counter"."""
    spoken_words = set(_WORD.findall(words.lower()))
    parts = [set(_WORD.findall(name.lower())) for name in task.objects]
    return [number for number, name_words in enumerate(parts) if name_words and name_words <= spoken_words]


def _broken(compiled: CompiledTask, way: Sequence[GroundAction]) -> list[int]:
    """The objects of rule instances that are violated at the start, or by a step of a plan when it is executable."""
    broken_instances: list[BrokenInstance] = []
    try:
        now = Execution.initial(compiled.engine, True, compiled.options.criteria)
        broken_instances += now.lasting_violations
        left = list(way)
        while left:
            step = next((candidate for candidate in left if now.take(candidate)), None)
            if step is None:
                break
            broken_instances += now.new_violations
            left.remove(step)
    except (TooManyInstances, LimitReached, NumberTooLarge):
        pass  # a limit of the engine: the instances found before are used, and the verdict does not depend on them
    return [number for broken in broken_instances for number in broken.binding]


def _around(task: Task, core: Sequence[int]) -> list[int]:
    """The objects that are not in the core, nearest first, as a best-first search over facts finds them."""
    neighbours: list[list[tuple[int, list[int]]]] = [[] for _ in task.objects]  # by relation
    for index, codes in enumerate(task.initial_facts):
        size = len(task.predicates[index].types)
        if size < 2:
            continue
        own_counts: dict[int, set[int]] = {}
        for code in codes:
            together = set(task.decode(code, size))
            for object_number in together:
                own_counts.setdefault(object_number, set()).update(together - {object_number})
        for object_number, related in own_counts.items():
            neighbours[object_number].append((len(related), sorted(related)))
    uses = _uses(task)
    visited = set(core)
    order: list[int] = []
    heap: list[tuple[Fraction, int, int]] = []

    def spread(object_number: int, near: Fraction) -> None:
        for count, related in neighbours[object_number]:
            for target in related:
                if target not in visited:
                    heappush(heap, (-near / count, -uses[target], target))

    for object_number in core:
        spread(object_number, Fraction(1))
    while heap:
        far, _, object_number = heappop(heap)
        if object_number not in visited:
            visited.add(object_number)
            order.append(object_number)
            spread(object_number, -far)
    unrelated = [number for number in range(len(task.objects)) if number not in visited]
    return [*order, *sorted(unrelated, key=lambda number: (-uses[number], number))]


def _uses(task: Task) -> list[int]:
    """How much can be done with each object: its static facts that the condition of some action asks for."""
    static_facts = {
        atom.predicate
        for action in task.actions.values()
        for condition in (*action.start.condition, *[effect.condition for effect in action.start.effects])
        for atom in find_atoms(condition)
    }
    out = [0] * len(task.objects)
    for index in static_facts:
        if task.static[index] and len(task.predicates[index].types) == 1:
            for code in task.initial_facts[index]:
                out[code] += 1
    return out


def actions_text(task: Task) -> str:
    """One signature a line: the name of the action, and the types of its arguments."""
    return "\n".join([_signature(task, action) for action in task.actions.values()])


def _signature(task: Task, action: Action) -> str:
    types = [type_text(task, parameter.domain) for parameter in action.parameters]
    return " ".join([f"({action.name}", *[f"?{name}" for name in types]]) + ")"


def type_text(task: Task, domain: int) -> str:
    """The types of a set of objects."""
    names = [task.type_names[index] for index in task.domain_types[domain]]
    return "-or-".join(names) or "thing"


def things_text(task: Task, part: Crop | None = None) -> str:
    """One type a line, with its objects: each under its most special type."""
    by_type: dict[str, list[str]] = {}
    for number, (name, types) in enumerate(zip(task.objects, task.object_types, strict=True)):
        if part is not None and number not in part.kept:
            continue
        by_type.setdefault("/".join([task.type_names[index] for index in types]) or "thing", []).append(name)
    return "\n".join([f"{kind}: {', '.join(names)}" for kind, names in by_type.items()])


def facts_text(task: Task, part: Crop | None = None, facts: Sequence[AbstractSet[int]] | None = None) -> str:
    """The facts of the initial state (or other ``facts``), one predicate a line. Numbers are left out."""
    lines = []
    for index, codes in enumerate(task.initial_facts if facts is None else facts):
        visible = [code for code in sorted(codes) if part is None or part.tells(task, index, code)]
        if visible:
            lines.append(" ".join([task.fact_text(index, code) for code in visible]))
    return "\n".join(lines)


def goal_text(compiled: CompiledTask) -> str:
    """The goal as PDDL."""
    task = compiled.engine.task
    return format_formula(task, And(task.goal), {})
