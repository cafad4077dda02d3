"""The PDDL names of a problem of unified-planning, and messages with the problem's own names.

Plans of unified-planning as text, and steps of text as action instances.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from unified_planning.model import DurativeAction
from unified_planning.plans import ActionInstance, PlanKind

from plansafe.verifier.elaborate.context import is_name, is_object_name
from plansafe.verifier.elaborate.symbols import RESERVED
from plansafe.verifier.planning.pddl_names import Unprintable, decimal_text

_ILLEGAL = re.compile(r"""[\s();"?\[\]]""")
_NUMBER = re.compile(r"[0-9.]+")
CLOSING_ACTION = "all-timed-effects-happened"
"""An action without effects. At the end of a plan, it makes later timed effects a part of the trace."""
_KEYWORDS = RESERVED | {"define", "either", "number", "object", "oneof", "unknown", CLOSING_ACTION}
_CODE = re.compile(r"`([^`]+)`")
_LIST = re.compile(r"\((?:[^()]|\([^()]*\))*\)")
_TOKEN = re.compile(r"[()]|[^\s()]+")


class ChosenNames(dict[str, str]):
    """PDDL names by the problem's names. Raises :class:`Unprintable` for a name that the problem does not have."""

    def __missing__(self, name: str) -> str:
        raise Unprintable(f"`{name}` is used, but does not belong to the problem")


class TaskNames:
    """PDDL names by the problem's names: fluents, actions, types and objects are separate name spaces.

    A name stays as it is (in lower case) if PDDL allows it. Other characters become ``_``, and a number makes the name
    unique. ``constraints`` are the texts of the constraints, by number.
    """

    def __init__(self, problem: Any, constraints: Iterable[str]) -> None:
        self.fluents = _choose_names([fluent.name for fluent in problem.fluents], is_name)
        self.actions = _choose_names([action.name for action in problem.actions], is_name)
        self.types = _choose_names([user_type.name for user_type in problem.user_types], is_name)
        self.objects = _choose_names([item.name for item in problem.all_objects], _is_name_of_object)
        heads = {**_invert(self.actions), **_invert(self.fluents)}
        self._heads = heads
        self._terms = {**_invert(self.types), **_invert(self.objects)}
        constraint_texts = {f"constraint-{number}": text for number, text in enumerate(constraints, 1)}
        self._words = {**self._terms, **heads, **constraint_texts}

    def restore_message(self, message: str) -> str:
        """Return a message whose code (in backticks) has the problem's names and notation: ``at(Kitchen)``."""
        return _CODE.sub(lambda code: f"`{self.restore_code(code[1])}`", message)

    def restore_reason(self, reason: str) -> str:
        """Return the reason of an edit, in which facts are not marked as code."""
        return _LIST.sub(lambda printed: self.restore_code(printed[0]), reason)

    def restore_code(self, code: str) -> str:
        """Return a printed fact, step, name or condition in the problem's names and notation."""
        if not code.startswith("("):
            return self._words.get(code, code)
        opened: list[list[str]] = [[]]
        for token in _TOKEN.findall(code):
            if token == "(":
                opened.append([])
            elif token != ")":
                opened[-1].append(token)
            elif len(opened) == 1:
                return code
            else:
                text = self._restore_list(opened.pop())
                opened[-1].append(text)
        return opened[0][0] if len(opened) == 1 and len(opened[0]) == 1 else code

    def restore_term(self, term: str) -> str:
        """Return the problem's name of an object or type."""
        return self._terms.get(term, term)

    def _restore_list(self, parts: list[str]) -> str:
        head, terms = "".join(parts[:1]), [self._terms.get(part, part) for part in parts[1:]]
        if head not in self._heads:
            return f"({' '.join([head, *terms])})"
        name = self._heads[head]
        return f"{name}({', '.join(terms)})" if terms else name


def choose_variable(name: str, used: set[str]) -> str:
    """Return a variable that is not in ``used``, and add it."""
    simple = re.sub(r"[^a-z0-9_-]", "_", name.lower())
    return "?" + _make_unique(simple if simple[:1].isalnum() else f"v{simple}", used)


def _choose_names(names: list[str], is_legal: Callable[[str], bool]) -> ChosenNames:
    """Return a unique PDDL name for each name. Names that PDDL allows as they are written are chosen first."""
    chosen = ChosenNames()
    used = set(_KEYWORDS)
    for name in sorted(names, key=lambda name: name != name.lower()):
        simple = _ILLEGAL.sub("_", name.lower())
        simple = simple if simple.isprintable() else ascii(simple)
        chosen[name] = _make_unique(simple if simple and is_legal(simple) else f"n_{simple}", used)
    return chosen


def _make_unique(name: str, used: set[str]) -> str:
    unique, number = name, 2
    while unique in used:
        unique = f"{name}_{number}"
        number += 1
    used.add(unique)
    return unique


def _is_name_of_object(name: str) -> bool:
    return is_object_name(name) and not _NUMBER.fullmatch(name)


def _invert(names: Mapping[str, str]) -> dict[str, str]:
    return {text: name for name, text in names.items()}


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
