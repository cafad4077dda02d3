"""A task in few words: the actions by their signatures, the things by type, what is so, what is wanted.

For models with small windows. Objects come in the task's order and facts in that of the predicates, so that one task
gives one text.
"""

from __future__ import annotations

from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.model.nodes import Action, And, Task
from plansafe.verifier.model.printing import formula_text


def actions_text(task: Task) -> str:
    """One signature a line: the name of the action, and the types of its arguments."""
    return "\n".join([_signature(task, action) for action in task.actions.values()])


def _signature(task: Task, action: Action) -> str:
    types = [_type(task, parameter.domain) for parameter in action.parameters]
    return " ".join([f"({action.name}", *[f"?{name}" for name in types]]) + ")"


def _type(task: Task, domain: int) -> str:
    names = [task.type_names[index] for index in task.domain_types[domain]]
    return "-or-".join(names) or "thing"


def things_text(task: Task) -> str:
    """One type a line, with its objects: each under its most special type."""
    by_type: dict[str, list[str]] = {}
    for name, types in zip(task.objects, task.object_types, strict=True):
        by_type.setdefault("/".join([task.type_names[index] for index in types]) or "thing", []).append(name)
    return "\n".join([f"{kind}: {', '.join(names)}" for kind, names in by_type.items()])


def facts_text(task: Task) -> str:
    """What is so in the initial state, one predicate a line. Numbers are left out."""
    lines = []
    for index, codes in enumerate(task.initial_facts):
        if codes:
            lines.append(" ".join([task.fact_text(index, code) for code in sorted(codes)]))
    return "\n".join(lines)


def goal_text(compiled: CompiledTask) -> str:
    """The goal as PDDL."""
    task = compiled.engine.task
    return formula_text(task, And(task.goal), {})
