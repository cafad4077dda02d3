"""Initial states that a plan presupposes and its scene does not state.

A list of objects does not state whether a lamp is on, so in its problem the lamp is off. A plan that begins with ``turn
off lamp`` was written for a home in which the lamp is on. Such a fact is assumed at the start, with a note, if a step
*undoes* it: the precondition needs the fact and the effect deletes it. A state that an earlier step sets or needs to be
false is not assumed, and states that no step undoes keep their default.
"""

from __future__ import annotations

import re
from functools import cache

from plansafe.domains.world import ForeignPlan, Scene
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source

_INIT = re.compile(r"\(\s*:init\b", re.IGNORECASE)


class ParameterState(NamedTuple):
    """A predicate of one parameter of an action; ``position`` counts in a step, where the action is 0."""

    predicate: str
    position: int


class ActionStates(NamedTuple):
    """The states of its arguments that an action undoes, and those that it decides: sets, deletes or needs false."""

    undone: tuple[ParameterState, ...]
    decided: tuple[ParameterState, ...]


def assume_undone_states(scene: Scene, plan: ForeignPlan, source: Source) -> ForeignPlan:
    """Return ``plan`` with the unstated facts of ``scene`` that its steps undo. ``source`` is the plan as written."""
    if plan.plan is None or not any(scene.unstated.values()):
        return plan
    actions = read_action_states(scene.domain.text)
    decided: set[tuple[str, str]] = set()
    assumed: list[str] = []
    notes: list[Diagnostic] = []
    for number, step in enumerate(read_plan(plan.plan).steps):
        states = actions.get(step.tokens[0])
        if states is None:
            continue
        for predicate, position in states.undone:
            name = step.tokens[position] if position < len(step.tokens) else ""
            if name in scene.unstated.get(predicate, ()) and (predicate, name) not in decided:
                assumed.append(f"({predicate} {name})")
                labels = (Label(source.name, plan.places[number]),) if number < len(plan.places) else ()
                message = f"`{assumed[-1]}` is assumed at the start: the scene does not state it, and this step ends it"
                notes.append(Diagnostic(SC.FOREIGN_SCENE, message, labels, severity=Severity.NOTE))
        for predicate, position in states.decided:
            if position < len(step.tokens):
                decided.add((predicate, step.tokens[position]))
    return plan._replace(assumed=tuple(assumed), diagnostics=(*plan.diagnostics, *notes))


def scene_with_facts(scene: Scene, facts: tuple[str, ...]) -> Scene:
    """Return ``scene`` with ``facts`` added to the initial state of its problem."""
    section = _INIT.search(scene.problem.text)
    if not facts or section is None:
        return scene
    text = scene.problem.text
    added = "".join([f"\n    {fact}" for fact in facts])
    problem = Source(scene.problem.name, f"{text[: section.end()]}{added}{text[section.end() :]}")
    return scene._replace(problem=problem)


@cache
def read_action_states(domain: str) -> dict[str, ActionStates]:
    """The states that the actions of a PDDL domain undo and decide, by action.

    Only literals with one argument that is a parameter count, in the top-level conjunctions of precondition and effect.
    """
    nodes = parse_nodes(Source("domain", domain))
    sections = nodes[0] if nodes and isinstance(nodes[0], list) else []
    actions = {}
    for section in sections:
        if isinstance(section, list) and len(section) > 1 and section[0] == ":action" and isinstance(section[1], str):
            fields = {
                key: value for key, value in zip(section[2::2], section[3::2], strict=False) if isinstance(key, str)
            }
            actions[section[1]] = _action_states(fields)
    return actions


def _action_states(fields: dict[str, Node]) -> ActionStates:
    names = [name for name in fields.get(":parameters", []) if isinstance(name, str) and name.startswith("?")]
    positions = {name: position for position, name in enumerate(names, 1)}
    needed = _literals(fields.get(":precondition", []), positions)
    effects = _literals(fields.get(":effect", []), positions)
    needed_true = [state for state, is_positive in needed if is_positive]
    needed_false = [state for state, is_positive in needed if not is_positive]
    deleted = [state for state, is_positive in effects if not is_positive]
    undone = [state for state in needed_true if state in deleted]
    return ActionStates(tuple(undone), (*needed_false, *[state for state, _ in effects]))


def _literals(formula: Node, positions: dict[str, int]) -> list[tuple[ParameterState, bool]]:
    """The literals of a conjunction that have one argument, a parameter; with whether they are positive."""
    conjuncts = [formula]
    literals = []
    while conjuncts:
        match conjuncts.pop():
            case ["and", *parts]:
                conjuncts += parts
            case ["not", [str(predicate), str(name)]] if name in positions:
                literals.append((ParameterState(predicate, positions[name]), False))
            case [str(predicate), str(name)] if name in positions:
                literals.append((ParameterState(predicate, positions[name]), True))
            case _:
                pass
    return literals[::-1]
