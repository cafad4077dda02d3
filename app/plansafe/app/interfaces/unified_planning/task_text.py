"""A problem of unified-planning as PDDL text. Whatever PDDL cannot express exactly is refused, never approximated.

unified-planning's own ``PDDLWriter`` is not used: it rounds numbers, omits the bounds of types and actions that can
never be taken, and renames more than necessary.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain, combinations
from typing import Any, NamedTuple

from unified_planning.model import DurativeAction, InstantaneousAction
from unified_planning.model.fluent import get_all_fluent_exp

from plansafe.app.interfaces.unified_planning.expressions import ExpressionWriter, declare, number_text
from plansafe.app.interfaces.unified_planning.names import CLOSING_ACTION, TaskNames, choose_variable
from plansafe.verifier.planning.pddl_names import Unprintable, decimal_text


class Constraint(NamedTuple):
    """A trajectory constraint or the bounds of a numeric fluent. ``is_invariant``: it restricts each single state."""

    description: str
    is_invariant: bool
    text: str


class TaskText(NamedTuple):
    """The texts of a domain and a problem. ``constraints`` are in the order of their numbers in messages."""

    domain: str
    problem: str
    names: TaskNames
    constraints: list[Constraint]


def write_task(problem: Any) -> TaskText:
    """Return the PDDL text of a problem. Raises :class:`Unprintable` with the feature that PDDL cannot express.

    A fluent whose values are objects becomes a predicate with the value as its last argument.
    """
    features = {"processes": problem.processes, "events": problem.events, "timed goals": problem.timed_goals}
    used = [feature for feature, parts in features.items() if parts]
    if used:
        raise Unprintable(f"not supported: {', '.join(used)}")
    return _TaskWriter(problem).write()


class _TaskWriter:
    def __init__(self, problem: Any) -> None:
        self._problem = problem
        self._constraints: list[Constraint] = []
        descriptions = [*map(str, self._list_trajectory_constraints()), *map(_describe_bounds, self._bounded_fluents())]
        self._names = TaskNames(problem, descriptions)

    def write(self) -> TaskText:
        """Write the domain and the problem."""
        problem = self._problem
        self._constraints = [*map(self._write_constraint, self._list_trajectory_constraints())]
        self._constraints += map(self._write_bounds, self._bounded_fluents())
        domain = ["(define (domain task)", *self._write_declarations()]
        for action in problem.actions:
            domain += _ActionWriter(self._names, action).write()
        if problem.timed_effects:
            domain.append(f"(:action {CLOSING_ACTION} :parameters ())")
        goals = ExpressionWriter(self._names)
        task = ["(define (problem instance) (:domain task)", "(:init", *self._write_initial_values()]
        task += [*self._write_timed_effects(), ")", f"(:goal (and {' '.join(map(goals.convert, problem.goals))}))"]
        if self._constraints:
            task.append(f"(:constraints (and {' '.join([constraint.text for constraint in self._constraints])}))")
        texts = ["\n".join([*lines, ")\n"]) for lines in (domain, task)]
        return TaskText(texts[0], texts[1], self._names, self._constraints)

    def _write_declarations(self) -> Iterable[str]:
        names, problem = self._names, self._problem
        types = []
        for user_type in problem.user_types:
            father = user_type.father
            types.append(f"{names.types[user_type.name]} - {'object' if father is None else names.types[father.name]}")
        objects = [f"{names.objects[item.name]} - {names.types[item.type.name]}" for item in problem.all_objects]
        predicates: list[str] = []
        functions: list[str] = []
        for fluent in problem.fluents:
            is_number = fluent.type.is_int_type() or fluent.type.is_real_type()
            parameters = self._declare_parameters(fluent)
            if fluent.type.is_user_type():
                parameters.append(f"?value - {names.types[fluent.type.name]}")
            (functions if is_number else predicates).append(f"({' '.join([names.fluents[fluent.name], *parameters])})")
        for section, entries in ("types", types), ("constants", objects), ("predicates", predicates):
            yield f"(:{section} {' '.join(entries)})"
        yield f"(:functions {' '.join(functions)})"

    def _declare_parameters(self, fluent: Any) -> list[str]:
        used: set[str] = {"value"}
        return [declare(self._names, p, choose_variable(p.name, used)) for p in fluent.signature]

    def _write_initial_values(self) -> Iterable[str]:
        expressions = ExpressionWriter(self._names)
        explicit = self._problem.explicit_initial_values
        for fluent in self._problem.fluents:
            default = self._problem.fluents_defaults.get(fluent)
            if default is not None and not default.is_false():
                for expression in get_all_fluent_exp(self._problem, fluent):
                    if expression not in explicit:
                        yield _write_value(expressions, expression, default)
        for expression, value in explicit.items():
            if not value.is_false():
                yield _write_value(expressions, expression, value)

    def _write_timed_effects(self) -> Iterable[str]:
        expressions = ExpressionWriter(self._names)
        for timing, effects in self._problem.timed_effects.items():
            if not timing.is_from_start() or timing.delay <= 0:
                raise Unprintable(f"not supported: a timed effect at `{timing}`")
            for effect in effects:
                value = effect.value
                is_plain = effect.is_assignment() and value.is_constant()
                if not is_plain or effect.is_conditional() or effect.is_forall():
                    raise Unprintable(f"not supported: the timed effect `{effect}` (only plain assignments are)")
                time = decimal_text(Fraction(timing.delay))
                yield f"(at {time} {_write_value(expressions, effect.fluent, value)})"
                if value.is_object_exp():
                    objects = [item for item in self._problem.objects(effect.fluent.type) if item != value.object()]
                    for item in map(self._problem.environment.expression_manager.ObjectExp, objects):
                        yield f"(at {time} (not {_write_value(expressions, effect.fluent, item)}))"

    def _list_trajectory_constraints(self) -> list[Any]:
        constraints = self._problem.trajectory_constraints
        parts = chain.from_iterable(c.args if c.is_and() else (c,) for c in constraints)
        return [part for part in parts if not part.is_true()]

    def _bounded_fluents(self) -> list[Any]:
        numeric = [f for f in self._problem.fluents if f.type.is_int_type() or f.type.is_real_type()]
        return [f for f in numeric if f.type.lower_bound is not None or f.type.upper_bound is not None]

    def _write_constraint(self, constraint: Any) -> Constraint:
        innermost = constraint.arg(0) if constraint.is_forall() else constraint
        text = ExpressionWriter(self._names).convert(constraint)
        return Constraint(str(constraint), innermost.is_always(), text)

    def _write_bounds(self, fluent: Any) -> Constraint:
        parameters = self._declare_parameters(fluent)
        variables = [declaration.split(" ")[0] for declaration in parameters]
        value = f"({' '.join([self._names.fluents[fluent.name], *variables])})"
        lower, upper = fluent.type.lower_bound, fluent.type.upper_bound
        bounds = [f"(>= {value} {number_text(lower)})"] if lower is not None else []
        bounds += [f"(<= {value} {number_text(upper)})"] if upper is not None else []
        text = f"(always (and {' '.join(bounds)}))"
        if parameters:
            text = f"(forall ({' '.join(parameters)}) {text})"
        return Constraint(_describe_bounds(fluent), True, text)


class _Target(NamedTuple):
    """The fluent of an effect, and the objects and conditions for which the effect happens."""

    name: str
    arguments: list[str]
    declarations: list[str]
    guards: list[str]

    def fact(self, *value: str) -> str:
        """Return the fluent as a fact, with its value if this is an object."""
        return f"({' '.join([self.name, *self.arguments, *value])})"


class _ActionWriter:
    """Writes one action, whose parameters and quantified variables have different names."""

    def __init__(self, names: TaskNames, action: Any) -> None:
        self._names = names
        self._action = action
        used = {"duration"}
        variables = {parameter.name: choose_variable(parameter.name, used) for parameter in action.parameters}
        self._parameters = [declare(names, parameter, variables[parameter.name]) for parameter in action.parameters]
        self._expressions = ExpressionWriter(names, variables, used)

    def write(self) -> list[str]:
        """Return the lines of the action."""
        action, convert = self._action, self._expressions.convert
        head = f"{self._names.actions[action.name]} :parameters ({' '.join(self._parameters)})"
        if type(action) is InstantaneousAction and action.simulated_effect is None:
            conditions = [convert(condition) for condition in action.preconditions]
            conditions += self._forbid_conflicts(action.effects)
            effects = [text for effect in action.effects for text in self._write_effect(effect, None)]
            return [
                f"(:action {head}",
                f"  :precondition (and {' '.join(conditions)})",
                f"  :effect (and {' '.join(effects)}))",
            ]
        if type(action) is not DurativeAction or action.simulated_effects or action.continuous_effects:
            raise Unprintable(f"not supported: action `{action.name}` ({type(action).__name__})")
        timed = [self._write_condition(i, c) for i, conditions in action.conditions.items() for c in conditions]
        effects = []
        for timing, effects_then in action.effects.items():
            point = self._find_point(timing)
            effects += [text for effect in effects_then for text in self._write_effect(effect, point)]
            timed += [f"(at {point} {condition})" for condition in self._forbid_conflicts(effects_then)]
        return [
            f"(:durative-action {head}",
            f"  :duration {self._write_duration(action.duration)}",
            f"  :condition (and {' '.join(timed)})",
            f"  :effect (and {' '.join(effects)}))",
        ]

    def _write_duration(self, duration: Any) -> str:
        lower, upper = map(self._expressions.convert, (duration.lower, duration.upper))
        if lower == upper and not duration.is_left_open() and not duration.is_right_open():
            return f"(= ?duration {lower})"
        at_least, at_most = ">" if duration.is_left_open() else ">=", "<" if duration.is_right_open() else "<="
        return f"(and ({at_least} ?duration {lower}) ({at_most} ?duration {upper}))"

    def _write_condition(self, interval: Any, condition: Any) -> str:
        text = self._expressions.convert(condition)
        lower, upper = self._find_point(interval.lower), self._find_point(interval.upper)
        if lower == upper:
            return f"(at {lower} {text})"
        if lower != "start":
            raise Unprintable(f"not supported: the interval `{interval}` of action `{self._action.name}`")
        at_start = "" if interval.is_left_open() else f"(at start {text}) "
        at_end = "" if interval.is_right_open() else f" (at end {text})"
        return f"{at_start}(over all {text}){at_end}"

    def _find_point(self, timing: Any) -> str:
        if timing.delay != 0 or timing.is_global() or timing.timepoint.container is not None:
            raise Unprintable(f"not supported: the time `{timing}` in action `{self._action.name}`")
        return "start" if timing.is_from_start() else "end"

    def _write_effect(self, effect: Any, point: str | None) -> Iterable[str]:
        target = self._read_target(effect)
        value = self._expressions.convert_term(effect.value)
        declarations = [*target.declarations, *[declaration for declaration, _ in value.definitions]]
        guards = [*target.guards, *[fact for _, fact in value.definitions]]
        kind = effect.fluent.type
        if not (effect.is_assignment() or effect.is_increase() or effect.is_decrease()):
            raise Unprintable(f"not supported: the effect `{effect}`")
        if kind.is_user_type():
            former = self._expressions.choose_variable("former")
            typed = f"{former} - {self._names.types[kind.name]}"
            yield _guard(point, declarations, guards, target.fact(value.text))
            guards = [*guards, f"(not (= {former} {value.text}))"]
            yield _guard(point, [*declarations, typed], guards, f"(not {target.fact(former)})")
        elif not kind.is_bool_type():
            operator = "assign" if effect.is_assignment() else "increase" if effect.is_increase() else "decrease"
            yield _guard(point, declarations, guards, f"({operator} {target.fact()} {value.text})")
        elif effect.value.is_bool_constant():
            literal = target.fact() if effect.value.is_true() else f"(not {target.fact()})"
            yield _guard(point, declarations, guards, literal)
        else:
            yield _guard(point, declarations, [*guards, value.text], target.fact())
            yield _guard(point, declarations, [*guards, f"(not {value.text})"], f"(not {target.fact()})")

    def _read_target(self, effect: Any) -> _Target:
        declarations = self._expressions.declare_variables(effect.forall)
        arguments = list(map(self._expressions.convert, effect.fluent.args))
        guards = [self._expressions.convert(effect.condition)] if effect.is_conditional() else []
        return _Target(self._names.fluents[effect.fluent.fluent().name], arguments, declarations, guards)

    def _forbid_conflicts(self, effects: list[Any]) -> Iterable[str]:
        """Return conditions that no two effects give one fluent different objects.

        PDDL detects such a conflict for numbers; the two facts for two objects could both become true.
        """
        assigned = [effect for effect in effects if effect.fluent.type.is_user_type()]
        if any(effect.forall for effect in assigned):
            raise Unprintable(f"not supported: effects for all objects on a fluent of objects (`{self._action.name}`)")
        for pair in combinations(assigned, 2):
            if pair[0].fluent.fluent() == pair[1].fluent.fluent():
                targets = list(map(self._read_target, pair))
                values = [self._expressions.convert_term(effect.value) for effect in pair]
                definitions = dict.fromkeys([*values[0].definitions, *values[1].definitions])
                equal = [f"(= {a} {b})" for a, b in zip(targets[0].arguments, targets[1].arguments, strict=True)]
                parts = [*[fact for _, fact in definitions], *targets[0].guards, *targets[1].guards, *equal]
                conflict = f"(and {' '.join(parts)} (not (= {values[0].text} {values[1].text})))"
                declarations = " ".join([declaration for declaration, _ in definitions])
                yield f"(not (exists ({declarations}) {conflict}))" if definitions else f"(not {conflict})"


def _guard(point: str | None, declarations: list[str], guards: list[str], literal: str) -> str:
    """Return an effect on a literal for all declared variables that meet the guards."""
    text = _at(point, literal)
    if guards:
        text = f"(when {_at(point, '(and ' + ' '.join(guards) + ')')} {text})"
    return f"(forall ({' '.join(declarations)}) {text})" if declarations else text


def _at(point: str | None, text: str) -> str:
    return text if point is None else f"(at {point} {text})"


def _write_value(expressions: ExpressionWriter, fluent: Any, value: Any) -> str:
    arguments = [expressions.convert(argument) for argument in fluent.args]
    head = expressions.names.fluents[fluent.fluent().name]
    if value.is_object_exp():
        return f"({' '.join([head, *arguments, expressions.convert(value)])})"
    fact = f"({' '.join([head, *arguments])})"
    if value.is_bool_constant():
        return fact if value.is_true() else f"(not {fact})"
    return f"(= {fact} {decimal_text(Fraction(value.constant_value()))})"


def _describe_bounds(fluent: Any) -> str:
    lower, upper = fluent.type.lower_bound, fluent.type.upper_bound
    return f"{'' if lower is None else f'{lower} <= '}{fluent.name}{'' if upper is None else f' <= {upper}'}"
