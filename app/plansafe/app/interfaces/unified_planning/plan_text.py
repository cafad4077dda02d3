"""Plans of unified-planning as text, and steps of text as action instances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from unified_planning.model import DurativeAction
from unified_planning.plans import ActionInstance, PlanKind

from plansafe.app.interfaces.unified_planning.names import CLOSING_ACTION, TaskNames
from plansafe.verifier.planning.pddl_names import Unprintable, decimal_text


class PlanText(NamedTuple):
    """The text of a plan, and its action instances in the order of the numbers of steps in reports."""

    text: str
    instances: list[Any]


class ForeignStep(Exception):
    """A step whose action or objects do not belong to the problem."""

    def __init__(self, instance: Any) -> None:
        super().__init__(f"`{instance}` does not belong to the problem")
        self.instance = instance


def write_plan(problem: Any, plan: Any, names: TaskNames) -> PlanText:
    """Return the text of a plan.

    Raises :class:`Unprintable` if plans cannot express it, and :class:`ForeignStep` for a step of another problem.
    """
    return _PlanWriter(problem, names).write(plan)


def read_steps(problem: Any, steps: tuple[str, ...], names: TaskNames) -> list[Any]:
    """Return the action instances of printed steps."""
    actions = {names.actions[action.name]: action for action in problem.actions}
    objects = {names.objects[item.name]: item for item in problem.all_objects}
    manager = problem.environment.expression_manager
    instances = []
    for step in steps:
        action, *arguments = step.strip("()").split()
        parameters = tuple([manager.ObjectExp(objects[argument]) for argument in arguments])
        instances.append(ActionInstance(actions[action], parameters))
    return instances


class _PlanWriter:
    def __init__(self, problem: Any, names: TaskNames) -> None:
        self._names = names
        self._actions = {action.name: action for action in problem.actions}
        self._objects = set(problem.all_objects)
        self._timed_effects = problem.timed_effects

    def write(self, plan: Any) -> PlanText:
        """Write a plan of any kind."""
        if plan.kind is PlanKind.TIME_TRIGGERED_PLAN:
            return self._write_timed_plan(plan)
        if self._timed_effects or any(isinstance(action, DurativeAction) for action in self._actions.values()):
            raise Unprintable("not supported: a plan without times for a problem with time")
        if plan.kind is PlanKind.SEQUENTIAL_PLAN:
            instances = list(plan.actions)
            return PlanText("".join([self._write_step(instance) + "\n" for instance in instances]), instances)
        if plan.kind is PlanKind.PARTIAL_ORDER_PLAN:
            return self._write_partial_order(plan.get_adjacency_list)
        raise Unprintable(f"not supported: plans of kind {plan.kind.name}")

    def _write_partial_order(self, successors: Mapping[Any, list[Any]]) -> PlanText:
        instances = list(successors)
        labels = {id(instance): f"s{number}" for number, instance in enumerate(instances, 1)}
        steps = [f"({labels[id(instance)]} {self._write_step(instance)})" for instance in instances]
        order = [f"(< {labels[id(first)]} {labels[id(then)]})" for first in instances for then in successors[first]]
        return PlanText(f"(define (plan p) (:steps {' '.join(steps)}) (:ordering {' '.join(order)}))\n", instances)

    def _write_timed_plan(self, plan: Any) -> PlanText:
        timed = sorted(plan.timed_actions, key=lambda entry: entry[0])
        lines = []
        for start, instance, duration in timed:
            suffix = "" if duration is None else f" [{decimal_text(duration)}]"
            lines.append(f"{decimal_text(start)}: {self._write_step(instance)}{suffix}")
        end = max([start + (duration or 0) for start, _, duration in timed], default=0)
        last_effect = max([timing.delay for timing in self._timed_effects], default=0)
        if last_effect > end:
            lines.append(f"{decimal_text(last_effect)}: ({CLOSING_ACTION})")
        return PlanText("\n".join([*lines, ""]), [instance for _, instance, _ in timed])

    def _write_step(self, instance: Any) -> str:
        parameters = instance.actual_parameters
        if self._actions.get(instance.action.name) != instance.action:
            raise ForeignStep(instance)
        if any(not parameter.is_object_exp() or parameter.object() not in self._objects for parameter in parameters):
            raise ForeignStep(instance)
        objects = [self._names.objects[parameter.object().name] for parameter in parameters]
        return f"({' '.join([self._names.actions[instance.action.name], *objects])})"
