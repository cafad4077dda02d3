"""A task in few words: the actions by their signatures, the objects by type, the facts, the goal.

For models with small windows. Objects come in the task's order and facts in the order of the predicates, so that one
task gives one text. A cropped scene has only the objects of its :class:`~plansafe.llm.prompts.crop.Crop`.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from plansafe.llm.prompts.crop import Crop
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.model.nodes import Action, And, Task
from plansafe.verifier.model.printing import formula_text


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
    return formula_text(task, And(task.goal), {})
