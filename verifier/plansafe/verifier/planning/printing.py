"""Printing of a task at a given state as PDDL that other planners parse.

The printed task has the same meaning in a simpler form. Types are sets of objects in a tree; an ``either`` or a type
with two parents becomes a static predicate if it does not fit. Names are simple and unique over all name spaces, since
unified-planning accepts no predicate and action of the same name. Constant parts of conditions are folded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.one_world import find_nondeterministic_action
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    And,
    Arithmetic,
    Atom,
    Compare,
    Effect,
    Equal,
    Expression,
    Formula,
    Not,
    Number,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
    Variable,
)
from plansafe.verifier.model.operations import subexpressions, subformulas
from plansafe.verifier.planning.pddl_names import TOTAL_COST, PddlNames, TypeTree, Unprintable, decimal_text
from plansafe.verifier.planning.simplification import fold_constants, has_division


class PrintedTask(NamedTuple):
    """The texts, and the original names of the printed actions and objects."""

    domain: str
    problem: str
    actions: dict[str, str]
    objects: dict[str, str]

    def original(self, tokens: Sequence[str]) -> tuple[str, ...]:
        """A printed step with the task's original names. Raises ``KeyError`` for a name that was not printed."""
        return (self.actions[tokens[0].lower()], *[self.objects[token.lower()] for token in tokens[1:]])


def print_task(task: Task, facts: Sequence[set[int]], fluents: Sequence[Mapping[int, Number]]) -> PrintedTask:
    """Print ``task`` with the given state as its initial state.

    Derived facts, preferences and a metric other than ``total-cost`` are omitted. Linear in the size of the task and
    its state. Raises :class:`Unprintable` for durative actions, timed literals, and numbers that are not decimals.
    """
    return _Printer(task, facts, fluents).printed()


class _Printer:
    def __init__(self, task: Task, facts: Sequence[set[int]], fluents: Sequence[Mapping[int, Number]]) -> None:
        if any([action.end is not None for action in task.actions.values()]):
            raise Unprintable("durative actions")
        if find_nondeterministic_action(task) is not None:
            raise Unprintable("`oneof` in effects")
        if any([literal.time > 0 for literal in task.timed_literals]):
            raise Unprintable("timed initial literals")
        self.task, self.facts, self.fluents = task, facts, fluents
        self.derived = frozenset([axiom.predicate for stratum in task.axioms for axiom in stratum])
        self.names = PddlNames()
        self.actions = [a for a in task.actions.values() if all([task.domains[v.domain] for v in a.parameters])]
        self.axioms = [
            axiom
            for stratum in task.axioms
            for axiom in stratum
            if all([task.domains[v.domain] for v in axiom.parameters])
        ]
        self.preconditions = [fold_constants(task, And(action.start.condition)) for action in self.actions]
        self.effects = [list(self._effects(action.start.effects)) for action in self.actions]
        self.bodies = [fold_constants(task, axiom.body) for axiom in self.axioms]
        self.goal = fold_constants(task, And(task.goal))
        # Functions first, because planners fix the names of costs and measures.
        self.function_names = [
            TOTAL_COST
            if f.name == TOTAL_COST and not f.types
            else self.names.new(f.name + ("_" * (f.name == TOTAL_COST)))
            for f in task.functions
        ]
        self.names.new(TOTAL_COST)
        self.action_names = [self.names.new(action.name) for action in self.actions]
        self.predicate_names = [self.names.new(predicate.name) for predicate in task.predicates]
        self.object_names = [self.names.new(name) for name in task.objects]
        deleting = [effect for effects in self.effects for effect in effects if effect.deletes]
        guarded = {v.domain for effect in deleting for v in effect.variables}
        guarded.update(*[_quantified_domains(effect.condition) for effect in deleting])
        self.types = TypeTree(task, set(self._domains()), guarded, self.names)
        self.guards_redundantly = False
        self.slots: dict[int, frozenset[int]] = {}
        self.variables: dict[int, str] = {}
        self.constants: set[int] = set()
        self.uses: list[list[set[int]]] = [[set() for _ in p.types] for p in task.predicates]
        self.function_uses: list[list[set[int]]] = [[set() for _ in f.types] for f in task.functions]
        self.never = False

    def _effects(self, effects: Iterable[Effect]) -> Iterator[Effect]:
        for effect in effects:
            condition = fold_constants(self.task, effect.condition)
            empty = any([not self.task.domains[v.domain] for v in effect.variables])
            if not empty and not (isinstance(condition, Truth) and not condition.value):
                deletes = tuple([atom for atom in effect.deletes if atom not in effect.adds])
                yield effect._replace(condition=condition, deletes=deletes)

    def _domains(self) -> Iterator[int]:
        """The domains of all variables that are printed."""
        for action, precondition, effects in zip(self.actions, self.preconditions, self.effects, strict=True):
            yield from [v.domain for v in action.parameters]
            yield from _quantified_domains(precondition)
            for effect in effects:
                yield from [v.domain for v in effect.variables]
                yield from _quantified_domains(effect.condition)
        for axiom, body in zip(self.axioms, self.bodies, strict=True):
            yield from [v.domain for v in axiom.parameters]
            yield from _quantified_domains(body)
        yield from _quantified_domains(self.goal)

    # -- the texts ----------------------------------------------------------------------------------------------------

    def printed(self) -> PrintedTask:
        """The texts of domain and problem."""
        task = self.task
        body = [self._action(number) for number in range(len(self.actions))]
        body[:0] = [self._axiom(number) for number in range(len(self.axioms))]
        in_domain = set(self.constants)
        goal = self._formula(self.goal)
        init = self._initial()
        requirements = [":adl"]
        if self.axioms:
            requirements.append(":derived-predicates")
        if task.functions:
            only_costs = self.function_names == [TOTAL_COST]
            requirements.append(":action-costs" if only_costs else ":numeric-fluents")
        lines = ["(define (domain printed)", f"  (:requirements {' '.join(requirements)})"]
        types = self.types.declarations()
        if types:
            lines.append(f"  (:types {types})")
        if in_domain:
            lines.append(f"  (:constants {self._objects(in_domain)})")
        lines.append(f"  (:predicates {' '.join(self._predicates())})")
        if task.functions:
            declared = [
                self._declaration(name, uses)
                for name, uses in zip(self.function_names, self.function_uses, strict=True)
            ]
            lines.append(f"  (:functions {' '.join(declared)} - number)")
        lines += [*body, ")"]
        other_objects = set(range(len(task.objects))) - in_domain
        problem = ["(define (problem printed-problem) (:domain printed)"]
        problem.append(f"  (:objects {self._objects(other_objects)})")
        problem += ["  (:init", *init, "  )", f"  (:goal {goal})"]
        if self._minimizes_cost():
            problem.append(f"  (:metric minimize ({TOTAL_COST}))")
        problem.append(")")
        return PrintedTask(
            "\n".join(lines) + "\n",
            "\n".join(problem) + "\n",
            dict(zip(self.action_names, [a.name for a in self.actions], strict=True)),
            dict(zip(self.object_names, task.objects, strict=True)),
        )

    def _minimizes_cost(self) -> bool:
        metric = self.task.metric
        if metric is None or not metric.minimize or not isinstance(metric.expression, model.Fluent):
            return False
        return self.function_names[metric.expression.function] == TOTAL_COST

    def _objects(self, numbers: Iterable[int]) -> str:
        by_type: dict[frozenset[int], list[str]] = {}
        for number in sorted(numbers):
            by_type.setdefault(self.types.of_object[number], []).append(self.object_names[number])
        return " ".join([f"{' '.join(names)} - {self.types.names[t]}" for t, names in by_type.items()])

    def _predicates(self) -> Iterator[str]:
        for name, uses in zip(self.predicate_names, self.uses, strict=True):
            yield self._declaration(name, uses)
        for members, name in self.types.guards.items():
            yield self._declaration(name, [set(members)])
        if self.never:
            yield "(never-true)"

    def _declaration(self, name: str, uses: list[set[int]]) -> str:
        types = [self.types.names[self.types.narrowest(frozenset(objects))] for objects in uses]
        return f"({' '.join([name, *[f'?x{i} - {t}' for i, t in enumerate(types)]])})"

    def _initial(self) -> list[str]:
        task, names = self.task, self.object_names
        out: list[str] = []
        for predicate, codes in enumerate(self.facts):
            if predicate in self.derived:
                continue
            name, arity = self.predicate_names[predicate], len(task.predicates[predicate].types)
            for code in sorted(codes):
                objects = task.decode(code, arity)
                for place, number in enumerate(objects):
                    self.uses[predicate][place].add(number)
                out.append(f"    ({' '.join([name, *[names[o] for o in objects]])})")
        for function, values in enumerate(self.fluents):
            arity = len(task.functions[function].types)
            for code, value in sorted(values.items()):
                objects = task.decode(code, arity)
                for place, number in enumerate(objects):
                    self.function_uses[function][place].add(number)
                term = " ".join([self.function_names[function], *[names[o] for o in objects]])
                out.append(f"    (= ({term}) {decimal_text(value)})")
        for members, name in self.types.guards.items():
            out += [f"    ({name} {names[o]})" for o in sorted(members)]
        return out

    def _action(self, number: int) -> str:
        action = self.actions[number]
        self.variables.clear()
        parameters = self._bind(action.parameters)
        condition = self._guarded(action.parameters, self._formula(self.preconditions[number]), "and")
        effects = [self._effect(effect) for effect in self.effects[number]]
        return (
            f"  (:action {self.action_names[number]} :parameters ({parameters})\n"
            f"    :precondition {condition}\n    :effect (and {' '.join(effects)}))"
        )

    def _axiom(self, number: int) -> str:
        axiom = self.axioms[number]
        self.variables.clear()
        parameters = self._bind(axiom.parameters)
        for place, variable in enumerate(axiom.parameters):
            self.uses[axiom.predicate][place] |= self.slots[variable.slot]
        body = self._guarded(axiom.parameters, self._formula(self.bodies[number]), "and")
        head = f"{self.predicate_names[axiom.predicate]} {parameters}".strip()
        return f"  (:derived ({head}) {body})"

    def _bind(self, variables: Iterable[Variable]) -> str:
        out = []
        for variable in variables:
            plain = "?" + re.sub(r"[^a-z0-9_-]", "_", variable.name.lower().lstrip("?"))
            if plain in self.variables.values() or not plain[1:2].isalpha():
                plain = f"?v{variable.slot}"
                while plain in self.variables.values():
                    plain += "_"
            self.variables[variable.slot] = plain
            self.slots[variable.slot] = self.types.of_domain(variable.domain)
            out.append(f"{plain} - {self.types.names[self.slots[variable.slot]]}")
        return " ".join(out)

    def _guarded(self, variables: Iterable[Variable], body: str, word: str) -> str:
        """A body with the guards of its variables: in a conjunction (``and``) or as premises (``or``)."""
        guards = [(self.types.guard(v, self.guards_redundantly), self.variables[v.slot]) for v in variables]
        atoms = [f"({name} {variable})" for name, variable in guards if name is not None]
        if not atoms:
            return body
        if word == "or":
            atoms = [f"(not {atom})" for atom in atoms]
        return f"({word} {' '.join(atoms)} {body})"

    def _effect(self, effect: Effect) -> str:
        quantified = self._bind(effect.variables)
        parts = [self._atom(atom) for atom in effect.adds]
        parts += [f"(not {self._atom(atom)})" for atom in effect.deletes]
        for a in effect.assignments:
            target = self._fluent(model.Fluent(a.function, a.arguments))
            parts.append(f"({a.operator} {target} {self._expression(a.value)})")
        text = parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"
        plain = isinstance(effect.condition, Truth)
        # Planners that synthesize invariants (kairos 1.0.6, Fast Downward) ignore the types of variables bound in an
        # effect: they assume a delete for objects of other types, and prove a solvable task unsolvable.
        self.guards_redundantly = bool(effect.deletes)
        condition = "(and)" if plain else self._formula(effect.condition)
        condition = self._guarded(effect.variables, condition, "and")
        self.guards_redundantly = False
        if condition != "(and)":
            text = f"(when {condition} {text})"
        return f"(forall ({quantified}) {text})" if quantified else text

    # -- formulas -----------------------------------------------------------------------------------------------------

    def _term(self, argument: int) -> str:
        if argument < 0:
            return self.variables[-1 - argument]
        self.constants.add(argument)
        return self.object_names[argument]

    def _used(self, uses: list[set[int]], arguments: tuple[int, ...]) -> None:
        for place, argument in enumerate(arguments):
            if argument < 0:
                uses[place] |= self.slots[-1 - argument]
            else:
                uses[place].add(argument)

    def _atom(self, atom: Atom) -> str:
        self._used(self.uses[atom.predicate], atom.arguments)
        return f"({' '.join([self.predicate_names[atom.predicate], *[self._term(a) for a in atom.arguments]])})"

    def _fluent(self, fluent: model.Fluent) -> str:
        self._used(self.function_uses[fluent.function], fluent.arguments)
        return f"({' '.join([self.function_names[fluent.function], *[self._term(a) for a in fluent.arguments]])})"

    def _formula(self, formula: Formula) -> str:
        match formula:
            case Truth():
                self.never |= not formula.value
                return "(and)" if formula.value else "(never-true)"
            case Atom():
                return self._atom(formula)
            case Equal():
                return f"(= {self._term(formula.left)} {self._term(formula.right)})"
            case Compare():
                return f"({formula.operator} {self._expression(formula.left)} {self._expression(formula.right)})"
            case Not():
                return f"(not {self._formula(formula.body)})"
            case And() | Or():
                word = "and" if isinstance(formula, And) else "or"
                return f"({word} {' '.join([self._formula(part) for part in formula.parts])})"
            case Quantified():
                variables = self._bind(formula.variables)
                body = self._guarded(
                    formula.variables, self._formula(formula.body), "or" if formula.universal else "and"
                )
                if not formula.universal and _equates(formula.body):
                    # unified-planning replaces the variable by the equal term, and fails if their types differ
                    return f"(not (forall ({variables}) (not {body})))"
                return f"({'forall' if formula.universal else 'exists'} ({variables}) {body})"
            case Temporal():
                raise Unprintable(f"the temporal operator {formula.operator} in a condition")
            case _:
                assert_never(formula)

    def _expression(self, expression: Expression) -> str:
        match expression:
            case model.Constant():
                return decimal_text(expression.value)
            case model.Fluent():
                return self._fluent(expression)
            case Arithmetic():
                texts = [self._expression(operand) for operand in expression.operands]
                if len(texts) == 1:
                    return f"(- 0 {texts[0]})" if expression.operator == "-" else texts[0]
                out = texts[0]
                for text in texts[1:]:
                    out = f"({expression.operator} {out} {text})"
                return out
            case model.Duration() | model.TotalTime() | model.IsViolated():
                raise Unprintable("a duration or total-time in an expression")
            case _:
                assert_never(expression)


def _equates(formula: Formula) -> bool:
    """Whether a condition is an equality, or a conjunction with one."""
    return isinstance(formula, Equal) or (isinstance(formula, And) and any(map(_equates, formula.parts)))


def _quantified_domains(formula: Formula) -> list[int]:
    return [v.domain for part in subformulas(formula) if isinstance(part, Quantified) for v in part.variables]


def is_exact_in_doubles(task: Task, fluents: Sequence[Mapping[int, Number]]) -> bool:
    """Whether computing in doubles is exact for a task: it has only integers and no division."""
    values = [value for function in fluents for value in function.values()]
    for expression in _expressions(task):
        if has_division(expression):
            return False
        values += [part.value for part in subexpressions(expression) if isinstance(part, model.Constant)]
    return all([isinstance(value, int) and abs(value) < 2**40 for value in values])


def _expressions(task: Task) -> Iterator[Expression]:
    """All expressions of the actions, the axioms and the goal."""
    formulas: list[Formula] = [*task.goal, *[axiom.body for stratum in task.axioms for axiom in stratum]]
    for action in task.actions.values():
        formulas += action.start.condition
        for effect in action.start.effects:
            formulas.append(effect.condition)
            for assignment in effect.assignments:
                if assignment.operator == "scale-down":
                    yield Arithmetic("/", (assignment.value, assignment.value))
                yield assignment.value
    for formula in formulas:
        for part in subformulas(formula):
            if isinstance(part, Compare):
                yield from (part.left, part.right)
