"""Compiled actions: a generated function for each lifted action that a plan uses.

Names in generated code: ``S[p]`` are the fact codes of predicate ``p``, ``F[f]`` the values of function ``f`` by code,
``L`` the log of changes, ``x3`` the object in slot 3, ``c`` a code, ``v0`` the new value of the first assignment. Code
that collects effects appends to ``A`` (adds), ``D`` (deletes) and ``U`` (numeric updates); ``W`` has the operators.
"""

from __future__ import annotations

from collections.abc import Callable

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.joins import MAX_LOOPS, Join
from plansafe.verifier.compile.normal_forms import convert_to_dnf
from plansafe.verifier.execution.action_effects import SnapEffects, Update, combine_effects
from plansafe.verifier.execution.state import Delta, State, StateChange, check_number
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import TRUE, Action, And, Atom, Formula, Number, Snap, Variable
from plansafe.verifier.model.operations import has_comparison

StepFunction = Callable[..., bool]
"""``run(S, F, L, *objects)`` takes a step; False, without a change, if the precondition does not hold.

It logs the changes to ``L``. If a number is undefined, it raises ``KeyError`` or ``ZeroDivisionError`` before it
changes anything."""
_DURATION_TESTS = {
    "=": "(duration == {value} or abs(duration - {value}) <= {tolerance})",
    "<=": "(duration <= {value} + {tolerance})",
    ">=": "(duration >= {value} - {tolerance})",
    "<": "(duration < {value} + {tolerance})",
    ">": "(duration > {value} - {tolerance})",
}
"""By operator: the generated test of a duration constraint."""
_OPERATORS = ("assign", "increase", "decrease", "scale-up", "scale-down")
"""The operators of numeric effects, which generated code reads as ``W``."""


class LiftedCode(NamedTuple):
    """The code of an action in a timed plan.

    ``end`` is ``None`` for an instantaneous action, ``over_all`` for an action without conditions over all.
    """

    action: Action
    start: Callable[..., bool]
    end: Callable[..., bool] | None
    over_all: Callable[..., bool] | None


class ActionCode:
    """Compiles the actions of a task at first use, and logs the changes of ``watched`` predicates and functions.

    In ``watched`` a function is ``-1 - function``. If ``watched`` is ``None``, all changes are logged.
    """

    def __init__(self, task: model.Task, emitter: Emitter, watched: frozenset[int] | None) -> None:
        self.task = task
        self.emitter = emitter
        self.watched = watched
        # Keys have an action's identity, because outcomes of a world give an action several versions (docs/worlds.md).
        self._step_functions: dict[tuple[int, bool], StepFunction] = {}
        """By action and ``precondition_holds``."""
        self._precondition_functions: dict[int, Callable[..., bool]] = {}
        self._conjunct_functions: dict[int, list[tuple[Formula, Callable[..., bool]]]] = {}
        """The conjuncts of the precondition, each with its compiled test."""
        self._effect_functions: dict[int, Callable[..., SnapEffects]] = {}
        self._effects_use_numbers: dict[int, bool] = {}
        self._actions: list[Action] = []
        """The actions with compiled code: while they exist, no other object gets the same identity."""
        emitter.namespace["checked"] = check_number

    def compile_step(self, action: Action, precondition_holds: bool = False) -> StepFunction:
        """Return the function that takes an instantaneous action.

        ``precondition_holds``: the function does not check the precondition, because the caller knows that it holds.
        """
        key = (id(action), precondition_holds)
        function = self._step_functions.get(key)
        if function is None:
            compile_action = self._compile_simple if self._is_simple(action.start) else self._compile_general
            function = self._step_functions[key] = compile_action(action, precondition_holds)
            self._actions.append(action)
        return function

    def _is_simple(self, snap: Snap) -> bool:
        """Whether all effects are unconditional and none changes a function that another effect changes."""
        functions = [a.function for effect in snap.effects for a in effect.assignments]
        is_unconditional = all([not effect.variables and effect.condition is TRUE for effect in snap.effects])
        return is_unconditional and len(set(functions)) == len(functions)

    def _compile_simple(self, action: Action, precondition_holds: bool) -> StepFunction:
        """Compile the step function of an action whose effects are simple (:meth:`_is_simple`)."""
        condition = "True" if precondition_holds else self.emitter.format_condition(And(action.start.condition))
        return self._compile_changes([] if condition == "True" else [condition], action.start, action.parameters, "")

    def compile_snap(self, action: Action, *, at_end: bool, tolerance: Number) -> StepFunction | None:
        """Return ``run(S, F, L, duration, *objects)``, which takes the start or the end of an action alone.

        It checks the condition, and the duration with the ``tolerance``. ``None`` if the action has no end, or if the
        changes of an effect depend on a condition or on another effect.
        """
        snap = action.end if at_end else action.start
        if snap is None or not self._is_simple(snap) or any([effect.at_start is not TRUE for effect in snap.effects]):
            return None
        emitter = self.emitter
        conditions = [emitter.format_condition(And(snap.condition))] if snap.condition else []
        for constraint in action.durations:
            if constraint.at_end == at_end:
                value_text, tolerance_text = emitter.format_number(constraint.value), emitter.format_constant(tolerance)
                conditions.append(
                    _DURATION_TESTS[constraint.operator].format(value=value_text, tolerance=tolerance_text)
                )
        return self._compile_changes(conditions, snap, action.parameters, ", duration")

    def _compile_changes(
        self, conditions: list[str], snap: Snap, parameters: tuple[Variable, ...], duration_parameter: str
    ) -> StepFunction:
        """Compile ``run(S, F, L, *objects)``, which makes the changes of a simple snap action if all conditions hold.

        ``duration_parameter``: ``", duration"`` if the function has this parameter after ``L``, otherwise empty.
        """
        emitter = self.emitter
        name = emitter.make_fresh_name()
        lines = [f"if not {condition}: return False" for condition in conditions]
        adds = [atom for effect in snap.effects for atom in effect.adds]
        deletes = [atom for effect in snap.effects for atom in effect.deletes]
        assignments = [a for effect in snap.effects for a in effect.assignments]
        for number, assignment in enumerate(assignments):
            lines.append(f"v{number} = checked({self._new_value_text(assignment)})")
        for atom in deletes:
            lines += self._emit_delete(atom, [added for added in adds if added.predicate == atom.predicate])
        for atom in adds:
            lines += self._emit_add(atom)
        for number, assignment in enumerate(assignments):
            lines += self._emit_assignment(assignment, number)
        lines.append("return True")
        emitter.define(name, "S, F, L" + duration_parameter + "".join([f", x{v.slot}" for v in parameters]), lines)
        return emitter.compile_function(name)

    def _is_logged(self, symbol: int) -> bool:
        """Whether changes of a predicate, or of a function as ``-1 - function``, are logged."""
        return self.watched is None or symbol in self.watched

    def _emit_delete(self, atom: Atom, adds: list[Atom]) -> list[str]:
        """Return the code that deletes a fact, unless it is among ``adds``."""
        code_text, p = self.emitter.format_fact_code(atom.arguments), atom.predicate
        if not self._is_logged(p):
            return [f"S[{p}].discard({code_text})"]
        exceptions = "".join([f" and c != {self.emitter.format_fact_code(added.arguments)}" for added in adds])
        return [f"c = {code_text}", f"if c in S[{p}]{exceptions}:", f" S[{p}].remove(c)", f" L.append(({p}, c, False))"]

    def _emit_add(self, atom: Atom) -> list[str]:
        """Return the code that adds a fact."""
        code_text, p = self.emitter.format_fact_code(atom.arguments), atom.predicate
        if not self._is_logged(p):
            return [f"S[{p}].add({code_text})"]
        return [f"c = {code_text}", f"if c not in S[{p}]:", f" S[{p}].add(c)", f" L.append(({p}, c, True))"]

    def _new_value_text(self, assignment: model.Assignment) -> str:
        """Return the code of the value that a numeric effect gives to its fluent."""
        operand = self.emitter.format_number(assignment.value)
        target = f"F[{assignment.function}][{self.emitter.format_fact_code(assignment.arguments)}]"
        if assignment.operator == "assign":
            return operand
        if assignment.operator == "scale-down":
            return f"divide({target}, {operand})"
        sign = {"increase": "+", "decrease": "-", "scale-up": "*"}[assignment.operator]
        return f"{target} {sign} {operand}"

    def _emit_assignment(self, assignment: model.Assignment, number: int) -> list[str]:
        """Return the code that gives a fluent its new value ``v<number>``."""
        code_text, function = self.emitter.format_fact_code(assignment.arguments), assignment.function
        symbol_index = len(self.task.predicates) + function
        if not self._is_logged(-1 - function):
            return [f"F[{function}][{code_text}] = v{number}"]
        return [
            f"c = {code_text}",
            f"if F[{function}].get(c) != v{number}:",
            f" L.append(({symbol_index}, c, F[{function}].get(c)))",
            f" F[{function}][c] = v{number}",
        ]

    def _compile_general(self, action: Action, precondition_holds: bool) -> StepFunction:
        """Compile the step function of an action with conditional effects, or with several on one function."""
        task, slots = self.task, [v.slot for v in action.parameters]
        holds = None if precondition_holds else self.compile_conjunction(action.start.condition, slots)
        compute_effects = self.compile_effects(action.start, slots)

        def run(facts: list[set[int]], fluents: list[dict[int, Number]], log: list[StateChange], *objects: int) -> bool:
            if holds is not None and not holds(facts, fluents, *objects):
                return False
            effects = compute_effects(facts, fluents, None, *objects)
            delta = combine_effects(fluents, [effects]) if effects.updates else Delta(effects.deletes, effects.adds, [])
            State(task, facts, fluents).apply(delta, log)
            return True

        return run

    def compile_precondition(self, action: Action) -> Callable[..., bool]:
        """Return ``f(S, F, *objects)``: whether the precondition holds."""
        function = self._precondition_functions.get(id(action))
        if function is None:
            self._actions.append(action)
            slots = [v.slot for v in action.parameters]
            function = self._precondition_functions[id(action)] = self.compile_conjunction(
                action.start.condition, slots
            )
        return function

    def find_unmet_conjuncts(self, action: Action, state: State, objects: tuple[int, ...]) -> tuple[Formula, ...]:
        """Return the conjuncts of the precondition that do not hold or read an undefined number."""
        conjuncts = self._conjunct_functions.get(id(action))
        if conjuncts is None:
            self._actions.append(action)
            slots = [v.slot for v in action.parameters]
            conjuncts = self._conjunct_functions[id(action)] = [
                (conjunct, self.compile_conjunction((conjunct,), slots)) for conjunct in action.start.condition
            ]
        return tuple([conjunct for conjunct, test in conjuncts if not _is_true(test, state, objects)])

    def check_effects(self, action: Action, state: State, objects: tuple[int, ...]) -> None:
        """Raise the exception that taking the step would raise (an undefined number, a conflict), without taking it."""
        if self.effects_use_numbers(action):
            self.compute_delta(action, state, objects)

    def compute_delta(self, action: Action, state: State, objects: tuple[int, ...]) -> Delta:
        """Return the changes of a step, even if its precondition does not hold.

        Raises :class:`Conflict`, ``KeyError``, ``ZeroDivisionError``, ``NumberTooLarge``.
        """
        compute_effects = self._effect_functions.get(id(action))
        if compute_effects is None:
            self._actions.append(action)
            slots = [v.slot for v in action.parameters]
            compute_effects = self._effect_functions[id(action)] = self.compile_effects(action.start, slots)
        return combine_effects(state.fluents, [compute_effects(state.facts, state.fluents, None, *objects)])

    def effects_use_numbers(self, action: Action) -> bool:
        """Whether an effect of an action assigns a number or compares numbers."""
        use_numbers = self._effects_use_numbers.get(id(action))
        if use_numbers is None:
            use_numbers = any([bool(e.assignments) or has_comparison(e.condition) for e in action.start.effects])
            self._actions.append(action)
            self._effects_use_numbers[id(action)] = use_numbers
        return use_numbers

    def compile_conjunction(self, parts: tuple[Formula, ...], slots: list[int]) -> Callable[..., bool]:
        """Compile ``f(S, F, *objects) -> bool`` for a conjunction."""
        return self.emitter.compile_condition(And(parts), slots)

    def compile_effects(self, snap: Snap, slots: list[int]) -> Callable[..., SnapEffects]:
        """Compile ``f(S, F, duration, *objects) -> SnapEffects``: the effects in a state, without changing it."""
        emitter = self.emitter
        emitter.namespace.update({"SnapEffects": SnapEffects, "Update": Update, "W": _OPERATORS})
        name = emitter.make_fresh_name()
        lines: list[str] = []
        for effect in snap.effects:
            search_lines = self._emit_search(effect, slots)
            lines += self._emit_effect(effect) if search_lines is None else search_lines
        lines = ["A = []", "D = []", "U = []", *_merge_blocks(lines), "return SnapEffects(A, D, U)"]
        emitter.define(name, "S, F, duration" + "".join([f", x{s}" for s in slots]), lines)
        return emitter.compile_function(name)

    def _emit_effect(self, effect: model.Effect) -> list[str]:
        """Return the code that collects an effect, as a loop over all objects of its variables."""
        emitter = self.emitter
        lines: list[str] = []
        depth = 0
        for bound in effect.variables:
            lines.append(" " * depth + f"for x{bound.slot} in {emitter.name_domain_objects(bound.domain)}:")
            depth += 1
        if effect.condition is not TRUE:
            lines.append(" " * depth + f"if {emitter.format_condition(effect.condition)}:")
            depth += 1
        pad = " " * depth
        lines += [pad + line for line in self._emit_facts(effect)]
        for a in effect.assignments:
            operator_index, code_text = _OPERATORS.index(a.operator), emitter.format_fact_code(a.arguments)
            update = f"Update(W[{operator_index}], {a.function}, {code_text}, {emitter.format_number(a.value)})"
            lines.append(f"{pad}U.append({update})")
        return lines

    def _emit_facts(self, effect: model.Effect) -> list[str]:
        """Return the code that collects the added and deleted facts of an effect."""
        format_fact_code = self.emitter.format_fact_code
        lines = [f"A.append(({atom.predicate}, {format_fact_code(atom.arguments)}))" for atom in effect.adds]
        return lines + [f"D.append(({atom.predicate}, {format_fact_code(atom.arguments)}))" for atom in effect.deletes]

    def _emit_search(self, effect: model.Effect, slots: list[int]) -> list[str] | None:
        """Return the code of a quantified effect on facts, as a search for the bindings that satisfy its condition.

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
        body = self._emit_facts(effect)
        bound, outputs = frozenset(slots), [v.slot for v in effect.variables]
        lines: list[str] = []
        for disjunct in disjuncts:
            domains = {v.slot: v.domain for v in (*effect.variables, *disjunct.variables)}
            join = Join(emitter, domains, "S, F", indexed=False)
            lines += join.emit(disjunct.literals, bound, outputs, body)
        return lines


def _merge_blocks(lines: list[str]) -> list[str]:
    """Merge blocks under the same condition, because all effects are computed in one state.

    A block is an unindented line with the indented lines below it. The order of facts does not matter. Blocks that
    update a number are not merged, to keep the order of updates. The first line of a block reads only the state and the
    action's parameters, so its value does not depend on its position.
    """
    blocks: list[list[str]] = []
    for line in lines:
        if line.startswith(" "):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    block_by_condition: dict[str, list[str]] = {}
    merged_blocks: list[list[str]] = []
    for block in blocks:
        is_mergeable = block[0].startswith("if ") and not any(["U.append" in line for line in block])
        if is_mergeable and block[0] in block_by_condition:
            block_by_condition[block[0]] += block[1:]
            continue
        if is_mergeable:
            block_by_condition[block[0]] = block
        merged_blocks.append(block)
    return [line for block in merged_blocks for line in block]


def _is_true(test: Callable[..., bool], state: State, objects: tuple[int, ...]) -> bool:
    """Whether a compiled condition holds; False if it reads an undefined number."""
    try:
        return test(state.facts, state.fluents, *objects)
    except (KeyError, ZeroDivisionError):
        return False
