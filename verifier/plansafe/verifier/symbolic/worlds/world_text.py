"""Worlds in words: facts, numbers and outcomes as PDDL."""

from __future__ import annotations

from collections.abc import Iterable

from plansafe.grammar.sexpr import Node, format_node
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.nodes import Choice, Task
from plansafe.verifier.reporting.worlds import Completion, ShownOutcome, ShownValue, ShownWorld

MAX_FACTS = 200
"""Facts of a world that a report lists."""
Key = tuple[int, int]
ChoiceKey = tuple[int, int, tuple[int, ...]]


def describe_facts(
    task: Task, world: Completion, facts: Iterable[Key], values: Iterable[Key]
) -> tuple[ShownValue, ...]:
    """The values that some facts and numbers have in a world; true facts first."""
    known = [
        ShownValue(task.fact_text(predicate, code), "true" if (predicate, code) in world.facts else "false")
        for predicate, code in facts
    ]
    known.sort(key=lambda said: (said.value != "true", said.what))
    numbers = [ShownValue(task.fluent_text(*key), str(world.values[key])) for key in sorted(values)]
    return tuple([*numbers, *known][:MAX_FACTS])


def describe_world(
    task: Task,
    steps: list[GroundAction | IllFormed],
    world: Completion,
    facts: Iterable[Key],
    values: Iterable[Key],
    choices: Iterable[ChoiceKey],
) -> ShownWorld:
    """A world as the report shows it: of what is open, the parts given."""
    outcomes = []
    for step, number, objects in sorted(choices):
        taken = steps[step - 1]
        if isinstance(taken, GroundAction):
            said = describe_outcome(task, taken, step, number, objects, world.alternative(step, number, objects))
            outcomes.append(said)
    durations = tuple([ShownValue(f"step {step}", str(duration)) for step, duration in world.durations])
    return ShownWorld(describe_facts(task, world, facts, values), tuple(outcomes), (), durations)


def describe_outcome(
    task: Task, taken: GroundAction, step: int, number: int, objects: tuple[int, ...], alternative: int
) -> ShownOutcome:
    """One outcome of a step, with the objects of the step for the action's parameters."""
    action = taken.action
    words = dict(zip([v.name for v in action.parameters], task.names(taken.objects), strict=True))
    choice = find_choice(taken, number)
    if choice is not None:
        words.update(zip([v.name for v in choice.variables], task.names(objects), strict=True))
    found = _statement(action.node, number)
    effect = format_node(_replaced(found[alternative + 1], words)) if found is not None else ""
    alternatives = choice.alternatives if choice is not None else 0
    text = "(" + " ".join([action.name, *task.names(taken.objects)]) + ")"
    return ShownOutcome(step, text, alternative + 1, alternatives, effect)


def find_choice(taken: GroundAction, number: int) -> Choice | None:
    """A choice of a step's action, by the number of its ``oneof``."""
    for effect in taken.action.start.effects:
        for choice in effect.choices:
            if choice.number == number:
                return choice
    return None


def _statement(node: object, number: int) -> list[Node] | None:
    """The ``oneof`` statement of an action with a number, in the order of its text."""
    if not isinstance(node, list) or ":effect" not in node:
        return None
    stack: list[Node] = [node[node.index(":effect") + 1]]
    while stack:
        part = stack.pop()
        if not isinstance(part, list):
            continue
        if part and part[0] == "oneof":
            if number == 0:
                return part
            number -= 1
        stack.extend(reversed(part))
    return None


def _replaced(node: Node, words: dict[str, str]) -> Node:
    """A tree with objects for variables."""
    if isinstance(node, list):
        return [_replaced(child, words) for child in node]
    return words.get(node, node) if isinstance(node, str) else node
