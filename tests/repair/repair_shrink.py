"""Greedy shrinking: delete parts of a task while the same disagreement remains."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from repair_task import UNIT, Sexp, Task, write

FIELDS = ("rules", "constraints", "axioms", "actions", "init")


def shrink(task: Task, shows: Callable[[Task], bool], budget: int = 1500) -> Task:
    """A smaller task for which ``shows`` is true; it is called at most ``budget`` times."""
    left = budget
    again = True
    while again:
        again = False
        for candidate in generate_smaller_tasks(task):
            left -= 1
            if left < 0:
                return task
            if shows(candidate):
                task, again = candidate, True
                break
    return task


def generate_smaller_tasks(task: Task) -> Iterator[Task]:
    """Tasks with one part less, large parts first."""
    if task.weights != UNIT:
        yield task._replace(weights=UNIT, bound=2)
    if task.protected:
        yield task._replace(protected=frozenset())
    for i in range(len(task.plan)):
        shifted = frozenset(step - (step > i + 1) for step in task.protected if step != i + 1)
        yield task._replace(plan=task.plan[:i] + task.plan[i + 1 :], protected=shifted)
    for name in FIELDS:
        items = getattr(task, name)
        for i in range(len(items)):
            yield task._replace(**{name: items[:i] + items[i + 1 :]})
    for name, _ in task.objects:
        init = tuple(fact for fact in task.init if name not in write(fact).replace(")", " ").split())
        yield task._replace(objects=tuple(pair for pair in task.objects if pair[0] != name), init=init)
    for i, (name, kind) in enumerate(task.objects):
        if kind == "cup":
            yield task._replace(objects=(*task.objects[:i], (name, "item"), *task.objects[i + 1 :]))
    for i, predicate in enumerate(task.predicates):
        rest_text = write((task.actions, task.axioms, task.init, task.goal, task.constraints, task.rules))
        if f"({predicate[0]} " not in rest_text and f"({predicate[0]})" not in rest_text:
            yield task._replace(predicates=task.predicates[:i] + task.predicates[i + 1 :])
    for goal in reduce_expression(task.goal):
        yield task._replace(goal=goal)
    for name in ("rules", "constraints", "actions", "axioms"):
        items = getattr(task, name)
        for i, item in enumerate(items):
            for less in reduce_expression(item):
                yield task._replace(**{name: (*items[:i], less, *items[i + 1 :])})
    for i, step in enumerate(task.plan):
        if step != step.lower():
            yield task._replace(plan=(*task.plan[:i], step.lower(), *task.plan[i + 1 :]))


def reduce_expression(expression: Sexp) -> Iterator[Sexp]:
    """The expression with one part deleted or replaced by one of its own parts, large parts first."""
    if isinstance(expression, str):
        return
    if str(expression[:1]) != "()" and not str(expression[0]).startswith(":"):
        for part in expression:
            if isinstance(part, tuple):
                yield part
    for i, part in enumerate(expression):
        if str(part).startswith(":") and i > 1:
            yield expression[:i] + expression[i + 2 :]
    for i in range(1, len(expression)):
        if isinstance(expression[i], tuple):
            yield expression[:i] + expression[i + 1 :]
    for i, part in enumerate(expression):
        for less in reduce_expression(part):
            yield (*expression[:i], less, *expression[i + 1 :])
