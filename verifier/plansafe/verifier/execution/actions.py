"""Compiled actions: a generated function for each lifted action that a plan uses.

Names in generated code: ``S[p]`` are the fact codes of predicate ``p``, ``F[f]`` the values of function ``f`` by code,
``L`` the log of changes, ``x3`` the object in slot 3, ``c`` a code, ``v0`` the new value of the first assignment. Code
that collects effects appends to ``A`` (adds), ``D`` (deletes) and ``U`` (numeric updates); ``W`` has the operators.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.joins import MAX_LOOPS, Join
from plansafe.verifier.compile.normal_forms import convert_to_dnf
from plansafe.verifier.execution.state import Delta, State, StateChange, check_number
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber, apply_operator
from plansafe.verifier.model.nodes import TRUE, Action, And, Atom, Formula, Number, Snap, Variable, bind
from plansafe.verifier.model.operations import has_comparison

StepFunction = Callable[..., bool]
"""``run(S, F, L, *objects)``: checks the precondition.

If it holds, changes the state, logs changes to ``L``, and returns True.
Raises ``KeyError`` or ``ZeroDivisionError`` before it changes anything if a number is undefined."""


_DURATIONS = {
    "=": "(duration == {value} or abs(duration - {value}) <= {tolerance})",
    "<=": "(duration <= {value} + {tolerance})",
    ">=": "(duration >= {value} - {tolerance})",
    "<": "(duration < {value} + {tolerance})",
    ">": "(duration > {value} - {tolerance})",
}


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
    """The effects of a snap action in a state, before they are combined with others."""

    adds: list[tuple[int, int]]
    deletes: list[tuple[int, int]]
    updates: list[Update]


class LiftedCode(NamedTuple):
    """The code of a durative action; ``over_all`` is ``None`` without conditions over all."""

    action: Action
    start: Callable[..., bool]
    end: Callable[..., bool] | None
    over_all: Callable[..., bool] | None


class ActionCode:
    """Generated code for the actions of a task, which logs the changes of what is ``watched``.

    ``watched`` has predicates, and functions as ``-1 - function``; ``None``: all changes are logged.
    """

    def __init__(self, task: model.Task, emitter: Emitter, watched: frozenset[int] | None) -> None:
        self.task = task
        self.emitter = emitter
        self.watched = watched
        # By identity: the outcomes of a world give an action several versions (docs/worlds.md), kept alive in _actions.
        self._runs: dict[tuple[int, bool], StepFunction] = {}
        self._preconditions: dict[int, Callable[..., bool]] = {}
        self._parts: dict[int, list[tuple[Formula, Callable[..., bool]]]] = {}
        self._effects: dict[int, Callable[..., SnapEffects]] = {}
        self._reads_numbers: dict[int, bool] = {}
        self._actions: list[Action] = []
        emitter.namespace["checked"] = check_number

    def step_function(self, action: Action, precondition_holds: bool = False) -> StepFunction:
        """Return the function that takes an instantaneous action.

        ``precondition_holds``: the function does not check the precondition, because the caller knows that it holds.
        """
        key = (id(action), precondition_holds)
        function = self._runs.get(key)
        if function is None:
            compile_action = self._compile_simple if self._is_simple(action.start) else self._compile_general
            function = self._runs[key] = compile_action(action, precondition_holds)
            self._actions.append(action)
        return function

    def _is_simple(self, snap: Snap) -> bool:
        functions = [a.function for effect in snap.effects for a in effect.assignments]
        is_unconditional = all([not effect.variables and effect.condition is TRUE for effect in snap.effects])
        return is_unconditional and len(set(functions)) == len(functions)

    def _compile_simple(self, action: Action, precondition_holds: bool) -> StepFunction:
        condition = "True" if precondition_holds else self.emitter.condition_text(And(action.start.condition))
        return self._compile_changes([] if condition == "True" else [condition], action.start, action.parameters, "")

    def snap_function(self, action: Action, end: bool, tolerance: Number) -> StepFunction | None:
        """``run(S, F, L, duration, *objects)``, which takes the start or the end of an action alone.

        It checks the condition, and the duration with the ``tolerance``. ``None`` if an effect is conditional.
        """
        snap = action.end if end else action.start
        if snap is None or not self._is_simple(snap) or any([effect.at_start is not TRUE for effect in snap.effects]):
            return None
        emitter = self.emitter
        conditions = [emitter.condition_text(And(snap.condition))] if snap.condition else []
        for constraint in action.durations:
            if constraint.at_end == end:
                value_text, tolerance_text = emitter.number_text(constraint.value), emitter.constant_text(tolerance)
                conditions.append(_DURATIONS[constraint.operator].format(value=value_text, tolerance=tolerance_text))
        return self._compile_changes(conditions, snap, action.parameters, ", duration")

    def _compile_changes(
        self, conditions: list[str], snap: Snap, parameters: tuple[Variable, ...], duration_parameter: str
    ) -> StepFunction:
        """``run(S, F, L, *objects)``: makes the changes of a simple snap action if all conditions hold.

        ``duration_parameter``: ``", duration"`` if the function has this parameter after ``L``, otherwise empty.
        """
        emitter = self.emitter
        name = emitter.fresh_name()
        lines = [f"if not {condition}: return False" for condition in conditions]
        adds = [atom for effect in snap.effects for atom in effect.adds]
        deletes = [atom for effect in snap.effects for atom in effect.deletes]
        assignments = [a for effect in snap.effects for a in effect.assignments]
        for number, assignment in enumerate(assignments):
            lines.append(f"v{number} = checked({self._new_value_text(assignment)})")
        for atom in deletes:
            lines += self._delete_lines(atom, [added for added in adds if added.predicate == atom.predicate])
        for atom in adds:
            lines += self._add_lines(atom)
        for number, assignment in enumerate(assignments):
            lines += self._assign_lines(assignment, number)
        lines.append("return True")
        emitter.define(name, "S, F, L" + duration_parameter + "".join([f", x{v.slot}" for v in parameters]), lines)
        return emitter.compile_function(name)

    def _is_logged(self, watched_index: int) -> bool:
        """Whether changes of a predicate, or of a function as ``-1 - function``, are logged."""
        return self.watched is None or watched_index in self.watched

    def _delete_lines(self, atom: Atom, adds: list[Atom]) -> list[str]:
        code_text, p = self.emitter.fact_code_text(atom.arguments), atom.predicate
        if not self._is_logged(p):
            return [f"S[{p}].discard({code_text})"]
        not_added = "".join([f" and c != {self.emitter.fact_code_text(added.arguments)}" for added in adds])
        return [f"c = {code_text}", f"if c in S[{p}]{not_added}:", f" S[{p}].remove(c)", f" L.append(({p}, c, False))"]

    def _add_lines(self, atom: Atom) -> list[str]:
        code_text, p = self.emitter.fact_code_text(atom.arguments), atom.predicate
        if not self._is_logged(p):
            return [f"S[{p}].add({code_text})"]
        return [f"c = {code_text}", f"if c not in S[{p}]:", f" S[{p}].add(c)", f" L.append(({p}, c, True))"]

    def _new_value_text(self, assignment: model.Assignment) -> str:
        value = self.emitter.number_text(assignment.value)
        target = f"F[{assignment.function}][{self.emitter.fact_code_text(assignment.arguments)}]"
        sign = {"assign": None, "increase": "+", "decrease": "-", "scale-up": "*"}.get(assignment.operator, "/")
        if sign == "/":
            return f"divide({target}, {value})"
        return value if sign is None else f"{target} {sign} {value}"

    def _assign_lines(self, assignment: model.Assignment, number: int) -> list[str]:
        code_text, f = self.emitter.fact_code_text(assignment.arguments), assignment.function
        log_index = len(self.task.predicates) + f
        if not self._is_logged(-1 - f):
            return [f"F[{f}][{code_text}] = v{number}"]
        return [
            f"c = {code_text}",
            f"if F[{f}].get(c) != v{number}:",
            f" L.append(({log_index}, c, F[{f}].get(c)))",
            f" F[{f}][c] = v{number}",
        ]

    def _compile_general(self, action: Action, precondition_holds: bool) -> StepFunction:
        task, slots = self.task, [v.slot for v in action.parameters]
        holds = None if precondition_holds else self.compile_conjunction(action.start.condition, slots)
        effects = self.compile_effects(action.start, slots)

        def run(facts: list[set[int]], fluents: list[dict[int, Number]], log: list[StateChange], *objects: int) -> bool:
            if holds is not None and not holds(facts, fluents, *objects):
                return False
            changes = effects(facts, fluents, None, *objects)
            delta = combine_effects(fluents, [changes]) if changes.updates else Delta(changes.deletes, changes.adds, [])
            State(task, facts, fluents).apply(delta, log)
            return True

        return run

    def precondition(self, action: Action, slots: list[int]) -> Callable[..., bool]:
        """The precondition as ``f(S, F, *objects)``; compiled at first use."""
        precondition = self._preconditions.get(id(action))
        if precondition is None:
            self._actions.append(action)
            precondition = self._preconditions[id(action)] = self.compile_conjunction(action.start.condition, slots)
        return precondition

    def unmet_parts(self, action: Action, state: State, objects: tuple[int, ...]) -> tuple[Formula, ...]:
        """The parts of the precondition that do not hold or read an undefined number."""
        parts = self._parts.get(id(action))
        if parts is None:
            self._actions.append(action)
            slots = [v.slot for v in action.parameters]
            parts = self._parts[id(action)] = [
                (p, self.compile_conjunction((p,), slots)) for p in action.start.condition
            ]
        return tuple([part for part, holds in parts if not _holds(holds, state, objects)])

    def check_effects(self, action: Action, state: State, objects: tuple[int, ...]) -> None:
        """Raise the exception that taking the step would raise (an undefined number, a conflict), without taking it."""
        if self._uses_numbers(action):
            self.compute_delta(action, state, objects)

    def compute_delta(self, action: Action, state: State, objects: tuple[int, ...]) -> Delta:
        """Return the changes of a step, even if its precondition does not hold.

        Raises :class:`Conflict`, ``KeyError``, ``ZeroDivisionError``, ``NumberTooLarge``.
        """
        effects = self._effects.get(id(action))
        if effects is None:
            self._actions.append(action)
            effects = self._effects[id(action)] = self.compile_effects(
                action.start, [v.slot for v in action.parameters]
            )
        return combine_effects(state.fluents, [effects(state.facts, state.fluents, None, *objects)])

    def _uses_numbers(self, action: Action) -> bool:
        uses_numbers = self._reads_numbers.get(id(action))
        if uses_numbers is None:
            uses_numbers = any([bool(e.assignments) or has_comparison(e.condition) for e in action.start.effects])
            self._actions.append(action)
            self._reads_numbers[id(action)] = uses_numbers
        return uses_numbers

    def compile_conjunction(self, parts: tuple[Formula, ...], slots: list[int]) -> Callable[..., bool]:
        """Compile ``f(S, F, *objects) -> bool`` for a conjunction."""
        return self.emitter.compile_condition(And(parts), slots)

    def compile_effects(self, snap: Snap, slots: list[int]) -> Callable[..., SnapEffects]:
        """Compile ``f(S, F, duration, *objects) -> SnapEffects``: the effects in a state, without changing it."""
        emitter = self.emitter
        emitter.namespace.setdefault("SnapEffects", SnapEffects)
        emitter.namespace.setdefault("Update", Update)
        name = emitter.fresh_name()
        lines: list[str] = []
        for effect in snap.effects:
            search_lines = self._search_lines(effect, slots)
            if search_lines is not None:
                lines += search_lines
                continue
            depth = 0
            for bound in effect.variables:
                lines.append(" " * depth + f"for x{bound.slot} in {emitter.domain_name(bound.domain)}:")
                depth += 1
            if effect.condition is not TRUE:
                lines.append(" " * depth + f"if {emitter.condition_text(effect.condition)}:")
                depth += 1
            pad = " " * depth
            lines += [pad + line for line in self._fact_lines(effect)]
            for a in effect.assignments:
                operators = ("assign", "increase", "decrease", "scale-up", "scale-down")
                operator_index, code_text = operators.index(a.operator), emitter.fact_code_text(a.arguments)
                lines.append(
                    f"{pad}U.append(Update(W[{operator_index}], {a.function}, {code_text}, "
                    f"{emitter.number_text(a.value)}))"
                )
                emitter.namespace["W"] = operators
        lines = ["A = []", "D = []", "U = []", *_merge_blocks(lines), "return SnapEffects(A, D, U)"]
        emitter.define(name, "S, F, duration" + "".join([f", x{s}" for s in slots]), lines)
        return emitter.compile_function(name)

    def _fact_lines(self, effect: model.Effect) -> list[str]:
        """The code that collects the added and deleted facts of an effect."""
        fact_code_text = self.emitter.fact_code_text
        lines = [f"A.append(({atom.predicate}, {fact_code_text(atom.arguments)}))" for atom in effect.adds]
        return lines + [f"D.append(({atom.predicate}, {fact_code_text(atom.arguments)}))" for atom in effect.deletes]

    def _search_lines(self, effect: model.Effect, slots: list[int]) -> list[str] | None:
        """The code of a quantified effect on facts, as a search for the bindings that satisfy its condition.

        A binding may be found twice, which does not matter for facts. ``None`` if every object must be tried: numbers
        would be changed twice, and a condition that reads numbers must be evaluated in the order of objects.
        """
        is_numeric = bool(effect.assignments) or has_comparison(effect.condition)
        if is_numeric or not effect.variables or effect.condition is TRUE:
            return None
        disjuncts = convert_to_dnf(effect.condition)
        if disjuncts is None or any([len(d.variables) + len(effect.variables) >= MAX_LOOPS for d in disjuncts]):
            return None
        emitter = self.emitter
        inner = self._fact_lines(effect)
        bound, outputs = frozenset(slots), [v.slot for v in effect.variables]
        lines: list[str] = []
        for disjunct in disjuncts:
            domains = {v.slot: v.domain for v in (*effect.variables, *disjunct.variables)}
            join = Join(emitter, domains, "S, F", indexed=False)
            lines += join.emit(disjunct.literals, bound, outputs, inner)
        return lines


def _merge_blocks(lines: list[str]) -> list[str]:
    """Merge blocks under the same condition, because all effects are computed in one state.

    The order of facts does not matter. Blocks that update a number are not merged, to keep the order of updates. A head
    reads only the state and the action's parameters, so its value does not depend on its position.
    """
    blocks: list[list[str]] = []
    first: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith(" "):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    merged: list[list[str]] = []
    for block in blocks:
        is_mergeable = block[0].startswith("if ") and not any(["U.append" in line for line in block])
        if is_mergeable and block[0] in first:
            first[block[0]] += block[1:]
            continue
        if is_mergeable:
            first[block[0]] = block
        merged.append(block)
    return [line for block in merged for line in block]


def combine_effects(fluents: list[dict[int, Number]], effects: list[SnapEffects]) -> Delta:
    """Combine the effects of the parts of one happening.

    Raises :class:`Conflict`, ``KeyError``, ``ZeroDivisionError``, ``NumberTooLarge``.
    """
    deletes = [fact for part in effects for fact in part.deletes]
    adds = [fact for part in effects for fact in part.adds]
    grouped: dict[tuple[int, int], list[Update]] = {}
    for part in effects:
        for update in part.updates:
            grouped.setdefault((update.function, update.code), []).append(update)
    values = []
    for (function, code), updates in grouped.items():
        kinds = {
            "+" if u.operator in ("increase", "decrease") else "*" if u.operator in ("scale-up", "scale-down") else "="
            for u in updates
        }
        if len(updates) > 1 and kinds not in ({"+"}, {"*"}):
            raise Conflict(function, code)
        value = updates[0].operand if kinds == {"="} else fluents[function][code]
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
        values.append((function, code, check_number(value)))
    return Delta(deletes, adds, values)


StartConditions = dict[tuple[int, tuple[int, ...]], bool | None]
"""The values of the start conditions of an end's effects, by effect number and binding."""


def interpret_effects(
    evaluator: Evaluator, snap: Snap, binding: dict[int, int], start_conditions: StartConditions | None = None
) -> SnapEffects:
    """The effects of a snap action by the interpreter.

    Raises :class:`UndefinedNumber` if an effect condition, an operand or the changed fluent is undefined.
    """
    task = evaluator.task
    effects = SnapEffects([], [], [])
    for number, effect in enumerate(snap.effects):
        for objects in product(*[task.domains[v.domain] for v in effect.variables]):
            inner = {**binding, **bind(effect.variables, objects)}
            started = effect.at_start is TRUE or (start_conditions or {}).get((number, objects), False)
            holds = evaluator.holds(effect.condition, inner)
            if started is False or holds is False:  # of the conjunction of both
                continue
            if started is None or holds is None:
                raise UndefinedNumber(
                    evaluator.describe_undefined(effect.condition, inner) or "an effect condition is undefined"
                )
            effects.adds.extend([(a.predicate, task.code_of(a.arguments, inner)) for a in effect.adds])
            effects.deletes.extend([(a.predicate, task.code_of(a.arguments, inner)) for a in effect.deletes])
            for a in effect.assignments:
                value = evaluator.evaluate(a.value, inner)
                if a.operator != "assign":
                    evaluator.evaluate(model.Fluent(a.function, a.arguments), inner)
                if a.operator == "scale-down" and value == 0:
                    raise UndefinedNumber("division by zero")
                effects.updates.append(Update(a.operator, a.function, task.code_of(a.arguments, inner), value))
    return effects


def evaluate_start_conditions(evaluator: Evaluator, end: Snap, binding: dict[int, int]) -> StartConditions:
    """At the start of a durative action: the values of the start conditions of its end's effects."""
    values: StartConditions = {}
    for number, effect in enumerate(end.effects):
        if effect.at_start is TRUE:
            continue
        for objects in product(*[evaluator.task.domains[v.domain] for v in effect.variables]):
            inner = {**binding, **bind(effect.variables, objects)}
            values[number, objects] = evaluator.holds(effect.at_start, inner)
    return values


def _holds(holds: Callable[..., bool], state: State, objects: tuple[int, ...]) -> bool:
    try:
        return holds(state.facts, state.fluents, *objects)
    except (KeyError, ZeroDivisionError):
        return False
