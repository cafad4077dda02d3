"""Worlds as text: facts, numbers and outcomes as PDDL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plansafe.grammar.sexpr import Node, format_node
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.nodes import Choice, Task
from plansafe.verifier.reporting.worlds import Completion, ShownOutcome, ShownValue, ShownWorld
from plansafe.verifier.symbolic.worlds.world_replay import ChoiceKey

MAX_FACTS = 200
"""Maximum number of facts and numbers of a world in a report."""
Key = tuple[int, int]
"""(predicate, code) of a fact, (function, code) of a number."""


def describe_world(
    task: Task,
    steps: Sequence[GroundAction | IllFormed],
    world: Completion,
    facts: Iterable[Key],
    numbers: Iterable[Key],
    choices: Iterable[ChoiceKey],
) -> ShownWorld:
    """Describe these open facts, numbers and outcomes of a world: numbers first, then true facts, then false ones."""
    fact_values = [ShownValue(task.fact_text(*fact), "true" if fact in world.facts else "false") for fact in facts]
    fact_values.sort(key=lambda shown: (shown.value != "true", shown.what))
    values = [ShownValue(task.fluent_text(*number), str(world.values[number])) for number in sorted(numbers)]
    outcomes = []
    for step, number, objects in sorted(choices):
        ground_action = steps[step - 1]
        if isinstance(ground_action, GroundAction):
            alternative = world.get_alternative(step, number, objects)
            outcomes.append(describe_outcome(task, ground_action, step, number, objects, alternative))
    return ShownWorld(tuple([*values, *fact_values][:MAX_FACTS]), tuple(outcomes))


def describe_outcome(
    task: Task, ground_action: GroundAction, step: int, number: int, objects: tuple[int, ...], alternative: int
) -> ShownOutcome:
    """Describe one outcome of a step, with objects in place of variables."""
    action = ground_action.action
    names = dict(zip([v.name for v in action.parameters], task.names(ground_action.objects), strict=True))
    choice = _find_choice(ground_action, number)
    if choice is not None:
        names.update(zip([v.name for v in choice.variables], task.names(objects), strict=True))
    statement = _find_statement(action.node, number)
    effect = format_node(_substitute_names(statement[alternative + 1], names)) if statement is not None else ""
    text = "(" + " ".join([action.name, *task.names(ground_action.objects)]) + ")"
    return ShownOutcome(step, text, alternative + 1, choice.alternative_count if choice is not None else 0, effect)


def _find_choice(ground_action: GroundAction, number: int) -> Choice | None:
    choices = [choice for effect in ground_action.action.start.effects for choice in effect.choices]
    return next((choice for choice in choices if choice.number == number), None)


def _find_statement(node: object, number: int) -> list[Node] | None:
    """The ``oneof`` statement with this number in the text of an action; statements are numbered in text order."""
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


def _substitute_names(node: Node, names: dict[str, str]) -> Node:
    if isinstance(node, list):
        return [_substitute_names(child, names) for child in node]
    return names.get(node, node) if isinstance(node, str) else node
