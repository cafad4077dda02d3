"""Unreachable conditions of actions and goals.

These corrections guess the intention, so each is kept only if it has its purpose: with it, the action can be
taken that could not, or the goal is within reach if nothing is deleted, and nothing else is lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from plansafe.grammar.sexpr import Node
from plansafe.llm.scenarios.validation.check import Examination
from plansafe.llm.scenarios.validation.corrections.arguments import typed_again
from plansafe.llm.scenarios.validation.corrections.view import View, nearest, stems
from plansafe.llm.scenarios.validation.drafts import Edit
from plansafe.llm.scenarios.validation.new_actions import Reach, demanded_atoms
from plansafe.llm.scenarios.validation.survey import ActionText, Declared, entries
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Action, Atom, Task

MAX_CANDIDATES = 40


def standing(examination: Examination) -> tuple[int, int] | None:
    """How many new actions, and how many facts of the goal, are out of reach; ``None`` if that is not known."""
    checker, united = examination.checker, examination.united
    if checker is None or united is None or not checker.ok or not checker.is_stepwise:
        return None
    try:
        reach = examination.reach()
    except LimitReached:
        return None
    stuck = [name for name in united.new_actions if name not in reach.actions]
    return len(stuck), len(reach.missing())


def candidates(view: View, examination: Examination) -> Iterator[Edit]:
    """Corrections that may bring new actions, and the goal, within reach."""
    checker, united = examination.checker, examination.united
    assert checker is not None
    assert united is not None
    task, reach = checker.engine.task, examination.reach()
    missing = reach.missing()
    names = [name for name in united.new_actions if name not in reach.actions]
    if missing and examination.scenario.base is None:
        names = [name for name in task.actions if name not in reach.actions]
    for name in names:
        action, text = task.actions[name], view.survey.actions.get(name)
        if text is None or not text.draft.editable or action.end is not None:
            continue
        for atom in reach.lacking(action):
            yield from _renamed(view, reach, task, atom, text)
            yield from _asserted(view, reach, action, atom)
    if missing or names:
        yield from _named_after(view)
    for atom in missing:
        if not reach.facts[atom.predicate]:
            yield from _renamed(view, reach, task, atom, None)


def _renamed(view: View, reach: Reach, task: Task, atom: Atom, action: ActionText | None) -> Iterator[Edit]:
    """A predicate of a near name that something makes true, in place of one that nothing does."""
    entry = task.predicates[atom.predicate]
    alive = [
        other_use.name
        for number, other_use in enumerate(task.predicates[: len(reach.facts)])
        if number != atom.predicate and reach.facts[number] and len(other_use.types) == len(entry.types)
    ]
    intended = nearest(entry.name, alive)
    if intended is None:
        return
    places = [
        use
        for use in view.survey.uses
        if use.name == entry.name and use.draft.editable and use.positive
        and ((use.place == "precondition" and use.action is action) if action is not None else use.place == "goal")
    ]  # fmt: skip
    if places:
        reason = f"no action makes `{entry.name}` true; the domain changes `{intended}`"
        yield Edit("reach", reason, tuple([use.draft.change(use.node, 0, intended) for use in places]))


def _asserted(view: View, reach: Reach, action: Action, atom: Atom) -> Iterator[Edit]:
    """A property that no action changes, given to the one choice of objects that the rest of the condition leaves."""
    task = reach.task
    if not task.static[atom.predicate] or not atom.arguments:
        return
    choices: list[list[int]] = []
    for argument in atom.arguments:
        fitting = [argument] if argument >= 0 else sorted(_fitting(reach, action, atom, argument))
        if len(fitting) != 1:
            return
        choices.append(fitting)
    words: list[Node] = [task.predicates[atom.predicate].name, *[task.objects[choice[0]] for choice in choices]]
    text = f"({' '.join([str(word) for word in words])})"
    reason = f"action `{action.name}` needs it, no action makes it true, and it fits no other objects"
    yield Edit("reach", reason, (view.problem.add_to(":init", [text]),))


def _named_after(view: View) -> Iterator[Edit]:
    """Objects that are named after one type and declared with another; all of one type at once if they agree."""
    survey = view.survey
    groups: dict[tuple[int, int], list[Declared]] = {}
    for entry in survey.objects.values():
        stem = stems(entry.name)[0]
        if entry.draft.editable and stem in survey.types and entry.types != (stem,) and entry.child is not None:
            at = next((e.types_child for e in entries(entry.node, 1) if e.child == entry.child), None)
            groups.setdefault((id(entry.node), at if at is not None else -entry.child), []).append(entry)
    for (_, at), group in groups.items():
        first, after = group[0], {stems(entry.name)[0] for entry in group}
        alike = [e for e in entries(first.node, 1) if e.types_child == at]
        if len(after) == 1 and len(group) == len(alike):
            stem = after.pop()
            names = ", ".join([entry.name for entry in group[:3]])
            yield Edit("reach", f"`{names}` named after type `{stem}`", (first.draft.change(first.node, at, stem),))
            continue
        for entry in group:
            change = typed_again(entry.draft, entry.node, entry.child or 0, (stems(entry.name)[0],))
            if change is not None:
                yield Edit("reach", f"object `{entry.name}` is named after type `{stems(entry.name)[0]}`", (change,))


def _fitting(reach: Reach, action: Action, atom: Atom, argument: int) -> set[int]:
    """The objects that a variable may be, by its type and by the other conditions on it."""
    parameter = next((v for v in action.parameters if v.slot == -1 - argument), None)
    out = set(reach.task.domains[parameter.domain]) if parameter is not None else set(range(len(reach.task.objects)))
    for other_use in demanded_atoms(action):
        if other_use.predicate == atom.predicate or argument not in other_use.arguments:
            continue
        position = other_use.arguments.index(argument)
        facts = reach.facts[other_use.predicate]
        out &= {reach.task.decode(code, len(other_use.arguments))[position] for code in facts}
    return out
