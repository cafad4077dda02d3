"""The effects of actions in a state: combined into changes, and computed by the interpreter."""

from __future__ import annotations

from itertools import product

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.state import Delta, check_number
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber, apply_operator
from plansafe.verifier.model.nodes import TRUE, Number, Snap, bind


class Conflict(Exception):
    """Two numeric effects of one happening on one fluent that do not combine (SC303)."""

    def __init__(self, function: int, code: int) -> None:
        super().__init__(function, code)
        self.function = function
        self.code = code


class Update(NamedTuple):
    """A numeric effect with its operand computed."""

    operator: str
    function: int
    code: int
    operand: Number


class SnapEffects(NamedTuple):
    """The effects of a snap action in a state, before they are combined with others; facts are (predicate, code)."""

    adds: list[tuple[int, int]]
    deletes: list[tuple[int, int]]
    updates: list[Update]


def combine_effects(fluents: list[dict[int, Number]], effects: list[SnapEffects]) -> Delta:
    """Combine the effects of the parts of one happening.

    Raises :class:`Conflict`, ``KeyError``, ``ZeroDivisionError``, ``NumberTooLarge``.
    """
    deletes = [fact for part in effects for fact in part.deletes]
    adds = [fact for part in effects for fact in part.adds]
    updates_by_fluent: dict[tuple[int, int], list[Update]] = {}
    for part in effects:
        for update in part.updates:
            updates_by_fluent.setdefault((update.function, update.code), []).append(update)
    new_values = []
    for (function, code), updates in updates_by_fluent.items():
        operators = {update.operator for update in updates}
        # Increases commute with decreases, and scalings with each other; no other combination has a defined result.
        if len(updates) > 1 and not (operators <= {"increase", "decrease"} or operators <= {"scale-up", "scale-down"}):
            raise Conflict(function, code)
        value = updates[0].operand if operators == {"assign"} else fluents[function][code]
        for update in updates:
            if update.operator == "increase":
                value = value + update.operand
            elif update.operator == "decrease":
                value = value - update.operand
            elif update.operator == "scale-up":
                value = value * update.operand
            elif update.operator == "scale-down":
                if update.operand == 0:
                    raise ZeroDivisionError
                value = apply_operator("/", [value, update.operand])
        new_values.append((function, code, check_number(value)))
    return Delta(deletes, adds, new_values)


StartConditions = dict[tuple[int, tuple[int, ...]], bool | None]
"""The values of the start conditions of an end's effects, by effect number and binding; ``None``: undefined."""


def interpret_effects(
    evaluator: Evaluator, snap: Snap, binding: dict[int, int], start_conditions: StartConditions | None = None
) -> SnapEffects:
    """Compute the effects of a snap action by the interpreter.

    ``start_conditions``: for the end of a durative action, the result of :func:`evaluate_start_conditions`. Raises
    :class:`UndefinedNumber` if an effect condition, an operand or the changed fluent is undefined.
    """
    task = evaluator.task
    effects = SnapEffects([], [], [])
    for number, effect in enumerate(snap.effects):
        for objects in product(*[task.domains[v.domain] for v in effect.variables]):
            full_binding = {**binding, **bind(effect.variables, objects)}
            held_at_start = effect.at_start is TRUE or (start_conditions or {}).get((number, objects), False)
            holds = evaluator.holds(effect.condition, full_binding)
            if held_at_start is False or holds is False:
                continue
            if held_at_start is None or holds is None:
                raise UndefinedNumber(
                    evaluator.describe_undefined(effect.condition, full_binding) or "an effect condition is undefined"
                )
            effects.adds.extend([(a.predicate, task.code_of(a.arguments, full_binding)) for a in effect.adds])
            effects.deletes.extend([(a.predicate, task.code_of(a.arguments, full_binding)) for a in effect.deletes])
            for a in effect.assignments:
                value = evaluator.evaluate(a.value, full_binding)
                if a.operator != "assign":
                    evaluator.evaluate(model.Fluent(a.function, a.arguments), full_binding)
                if a.operator == "scale-down" and value == 0:
                    raise UndefinedNumber("division by zero")
                effects.updates.append(Update(a.operator, a.function, task.code_of(a.arguments, full_binding), value))
    return effects


def evaluate_start_conditions(evaluator: Evaluator, end: Snap, binding: dict[int, int]) -> StartConditions:
    """Return, at the start of a durative action, the values of the start conditions of its end's effects."""
    values: StartConditions = {}
    for number, effect in enumerate(end.effects):
        if effect.at_start is TRUE:
            continue
        for objects in product(*[evaluator.task.domains[v.domain] for v in effect.variables]):
            full_binding = {**binding, **bind(effect.variables, objects)}
            values[number, objects] = evaluator.holds(effect.at_start, full_binding)
    return values
