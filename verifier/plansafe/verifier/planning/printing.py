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
from plansafe.verifier.model.operations import has_division, list_task_formulas, subexpressions, subformulas
from plansafe.verifier.planning.pddl_names import TOTAL_COST, PddlNames, Unprintable, decimal_text
from plansafe.verifier.planning.simplification import fold_constants
from plansafe.verifier.planning.type_tree import TypeTree

_MAX_EXACT_NUMBER = 2**40
"""Integers below it are taken as exact in doubles, which represent all integers up to 2**53: a margin for sums."""


class PrintedTask(NamedTuple):
    """The texts of domain and problem, and the original names of actions and objects by their printed names."""

    domain: str
    problem: str
    original_actions: dict[str, str]
    original_objects: dict[str, str]

    def restore_names(self, tokens: Sequence[str]) -> tuple[str, ...]:
        """Return a printed step with the task's original names. Raises ``KeyError`` for a name that was not printed."""
        action, *objects = [token.lower() for token in tokens]
        return (self.original_actions[action], *[self.original_objects[name] for name in objects])


def print_task(task: Task, facts: Sequence[set[int]], fluents: Sequence[Mapping[int, Number]]) -> PrintedTask:
    """Print ``task`` with the given state as its initial state.

    Derived facts, preferences and a metric other than ``total-cost`` are omitted. Linear in the size of the task and
    its state. Raises :class:`Unprintable` for durative actions, timed literals, and numbers that are not decimals.
    """
    return _Printer(task, facts, fluents).print_task()


class _Printer:
    """Prints one task.

    ``predicate_uses``, ``function_uses``: the objects that were printed at each place of a symbol, or that its
    variables range over there; its declared types must contain them. ``guards_redundantly``: print guards also where
    the type of a variable is enough.
    """

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
        self.effects = [list(self._simplify_effects(action.start.effects)) for action in self.actions]
        self.bodies = [fold_constants(task, axiom.body) for axiom in self.axioms]
        self.goal = fold_constants(task, And(task.goal))
        # Functions first, because planners fix the names of costs and measures.
        self.function_names = [
            TOTAL_COST
            if function.name == TOTAL_COST and not function.types
            else self.names.make_unique(f"{TOTAL_COST}_" if function.name == TOTAL_COST else function.name)
            for function in task.functions
        ]
        self.names.make_unique(TOTAL_COST)
        self.action_names = [self.names.make_unique(action.name) for action in self.actions]
        self.predicate_names = [self.names.make_unique(predicate.name) for predicate in task.predicates]
        self.object_names = [self.names.make_unique(name) for name in task.objects]
        deleting_effects = [effect for effects in self.effects for effect in effects if effect.deletes]
        guarded_domains = {v.domain for effect in deleting_effects for v in effect.variables}
        guarded_domains.update(*[_list_quantified_domains(effect.condition) for effect in deleting_effects])
        self.types = TypeTree(task, set(self._list_domains()), guarded_domains, self.names)
        self.guards_redundantly = False
        self.type_by_slot: dict[int, frozenset[int]] = {}
        """The members of the type of each printed variable."""
        self.variable_names: dict[int, str] = {}
        self.named_objects: set[int] = set()
        """The objects that formulas and effects name."""
        self.predicate_uses: list[list[set[int]]] = [[set() for _ in predicate.types] for predicate in task.predicates]
        self.function_uses: list[list[set[int]]] = [[set() for _ in function.types] for function in task.functions]
        self.needs_never_true = False

    def _simplify_effects(self, effects: Iterable[Effect]) -> Iterator[Effect]:
        """Yield the effects that can happen, with simple conditions and without deletes that their adds override."""
        for effect in effects:
            condition = fold_constants(self.task, effect.condition)
            is_empty = any([not self.task.domains[v.domain] for v in effect.variables])
            if not is_empty and not (isinstance(condition, Truth) and not condition.value):
                deletes = tuple([atom for atom in effect.deletes if atom not in effect.adds])
                yield effect._replace(condition=condition, deletes=deletes)

    def _list_domains(self) -> Iterator[int]:
        """Yield the domains of all variables that are printed."""
        for action, precondition, effects in zip(self.actions, self.preconditions, self.effects, strict=True):
            yield from [v.domain for v in action.parameters]
            yield from _list_quantified_domains(precondition)
            for effect in effects:
                yield from [v.domain for v in effect.variables]
                yield from _list_quantified_domains(effect.condition)
        for axiom, body in zip(self.axioms, self.bodies, strict=True):
            yield from [v.domain for v in axiom.parameters]
            yield from _list_quantified_domains(body)
        yield from _list_quantified_domains(self.goal)

    # -- the texts ----------------------------------------------------------------------------------------------------

    def print_task(self) -> PrintedTask:
        """Print the domain and the problem."""
        task = self.task
        actions = [self._print_action(number) for number in range(len(self.actions))]
        axioms = [self._print_axiom(number) for number in range(len(self.axioms))]
        domain_constants = set(self.named_objects)
        goal = self._print_formula(self.goal)
        initial_state = self._print_initial_state()
        requirements = [":adl"]
        if self.axioms:
            requirements.append(":derived-predicates")
        if task.functions:
            only_costs = self.function_names == [TOTAL_COST]
            requirements.append(":action-costs" if only_costs else ":numeric-fluents")
        domain = ["(define (domain printed)", f"  (:requirements {' '.join(requirements)})"]
        types = self.types.print_declarations()
        if types:
            domain.append(f"  (:types {types})")
        if domain_constants:
            domain.append(f"  (:constants {self._print_objects(domain_constants)})")
        domain.append(f"  (:predicates {' '.join(self._print_predicates())})")
        if task.functions:
            functions = zip(self.function_names, self.function_uses, strict=True)
            declarations = [self._print_declaration(name, uses) for name, uses in functions]
            domain.append(f"  (:functions {' '.join(declarations)} - number)")
        domain += [*axioms, *actions, ")"]
        other_objects = set(range(len(task.objects))) - domain_constants
        problem = ["(define (problem printed-problem) (:domain printed)"]
        problem.append(f"  (:objects {self._print_objects(other_objects)})")
        problem += ["  (:init", *initial_state, "  )", f"  (:goal {goal})"]
        if self._minimizes_cost():
            problem.append(f"  (:metric minimize ({TOTAL_COST}))")
        problem.append(")")
        return PrintedTask(
            "\n".join(domain) + "\n",
            "\n".join(problem) + "\n",
            dict(zip(self.action_names, [action.name for action in self.actions], strict=True)),
            dict(zip(self.object_names, task.objects, strict=True)),
        )

    def _minimizes_cost(self) -> bool:
        metric = self.task.metric
        if metric is None or not metric.minimize or not isinstance(metric.expression, model.Fluent):
            return False
        return self.function_names[metric.expression.function] == TOTAL_COST

    def _print_objects(self, numbers: Iterable[int]) -> str:
        names_by_type: dict[frozenset[int], list[str]] = {}
        for number in sorted(numbers):
            names_by_type.setdefault(self.types.type_of_object[number], []).append(self.object_names[number])
        return " ".join([f"{' '.join(names)} - {self.types.names[t]}" for t, names in names_by_type.items()])

    def _print_predicates(self) -> Iterator[str]:
        for name, uses in zip(self.predicate_names, self.predicate_uses, strict=True):
            yield self._print_declaration(name, uses)
        for members, name in self.types.guards.items():
            yield self._print_declaration(name, [set(members)])
        if self.needs_never_true:
            yield "(never-true)"

    def _print_declaration(self, name: str, uses: list[set[int]]) -> str:
        types = [self.types.names[self.types.find_narrowest(frozenset(objects))] for objects in uses]
        return f"({' '.join([name, *[f'?x{position} - {type_name}' for position, type_name in enumerate(types)]])})"

    def _print_initial_state(self) -> list[str]:
        task, names = self.task, self.object_names
        lines: list[str] = []
        for predicate, codes in enumerate(self.facts):
            if predicate in self.derived:
                continue
            name, arity = self.predicate_names[predicate], len(task.predicates[predicate].types)
            for code in sorted(codes):
                objects = task.decode(code, arity)
                self._record_use(self.predicate_uses[predicate], objects)
                lines.append(f"    ({' '.join([name, *[names[object_] for object_ in objects]])})")
        for function, values in enumerate(self.fluents):
            arity = len(task.functions[function].types)
            for code, value in sorted(values.items()):
                objects = task.decode(code, arity)
                self._record_use(self.function_uses[function], objects)
                term = " ".join([self.function_names[function], *[names[object_] for object_ in objects]])
                lines.append(f"    (= ({term}) {decimal_text(value)})")
        for members, name in self.types.guards.items():
            lines += [f"    ({name} {names[member]})" for member in sorted(members)]
        return lines

    def _print_action(self, number: int) -> str:
        action = self.actions[number]
        self.variable_names.clear()
        parameters = self._print_variables(action.parameters)
        condition = self._add_guards(action.parameters, self._print_formula(self.preconditions[number]))
        effects = [self._print_effect(effect) for effect in self.effects[number]]
        return (
            f"  (:action {self.action_names[number]} :parameters ({parameters})\n"
            f"    :precondition {condition}\n    :effect (and {' '.join(effects)}))"
        )

    def _print_axiom(self, number: int) -> str:
        axiom = self.axioms[number]
        self.variable_names.clear()
        parameters = self._print_variables(axiom.parameters)
        for place, variable in enumerate(axiom.parameters):
            self.predicate_uses[axiom.predicate][place] |= self.type_by_slot[variable.slot]
        body = self._add_guards(axiom.parameters, self._print_formula(self.bodies[number]))
        head = f"{self.predicate_names[axiom.predicate]} {parameters}".strip()
        return f"  (:derived ({head}) {body})"

    def _print_variables(self, variables: Iterable[Variable]) -> str:
        texts = []
        for variable in variables:
            name = "?" + re.sub(r"[^a-z0-9_-]", "_", variable.name.lower().lstrip("?"))
            if name in self.variable_names.values() or not name[1:2].isalpha():
                name = f"?v{variable.slot}"
                while name in self.variable_names.values():
                    name += "_"
            self.variable_names[variable.slot] = name
            self.type_by_slot[variable.slot] = self.types.find_type_of_domain(variable.domain)
            texts.append(f"{name} - {self.types.names[self.type_by_slot[variable.slot]]}")
        return " ".join(texts)

    def _add_guards(self, variables: Iterable[Variable], body: str, *, as_premises: bool = False) -> str:
        """Print a body with the guards of its variables: in a conjunction, or ``as_premises`` of an implication."""
        atoms: list[str] = []
        for variable in variables:
            guard = self.types.find_guard(variable, redundant=self.guards_redundantly)
            if guard is not None:
                atoms.append(f"({guard} {self.variable_names[variable.slot]})")
        if not atoms:
            return body
        if as_premises:
            return f"(or {' '.join([f'(not {atom})' for atom in atoms])} {body})"
        return f"(and {' '.join(atoms)} {body})"

    def _print_effect(self, effect: Effect) -> str:
        variables = self._print_variables(effect.variables)
        parts = [self._print_atom(atom) for atom in effect.adds]
        parts += [f"(not {self._print_atom(atom)})" for atom in effect.deletes]
        for assignment in effect.assignments:
            target = self._print_fluent(model.Fluent(assignment.function, assignment.arguments))
            parts.append(f"({assignment.operator} {target} {self._print_expression(assignment.value)})")
        text = parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"
        is_unconditional = isinstance(effect.condition, Truth)
        # Planners that synthesize invariants (kairos 1.0.6, Fast Downward) ignore the types of variables bound in an
        # effect: they assume a delete for objects of other types, and prove a solvable task unsolvable.
        self.guards_redundantly = bool(effect.deletes)
        condition = "(and)" if is_unconditional else self._print_formula(effect.condition)
        condition = self._add_guards(effect.variables, condition)
        self.guards_redundantly = False
        if condition != "(and)":
            text = f"(when {condition} {text})"
        return f"(forall ({variables}) {text})" if variables else text

    # -- formulas -----------------------------------------------------------------------------------------------------

    def _print_term(self, argument: int) -> str:
        if argument < 0:
            return self.variable_names[-1 - argument]
        self.named_objects.add(argument)
        return self.object_names[argument]

    def _record_use(self, uses: list[set[int]], arguments: tuple[int, ...]) -> None:
        """Record the objects that the arguments of a symbol can be."""
        for place, argument in enumerate(arguments):
            if argument < 0:
                uses[place] |= self.type_by_slot[-1 - argument]
            else:
                uses[place].add(argument)

    def _print_atom(self, atom: Atom) -> str:
        self._record_use(self.predicate_uses[atom.predicate], atom.arguments)
        terms = [self._print_term(argument) for argument in atom.arguments]
        return f"({' '.join([self.predicate_names[atom.predicate], *terms])})"

    def _print_fluent(self, fluent: model.Fluent) -> str:
        self._record_use(self.function_uses[fluent.function], fluent.arguments)
        terms = [self._print_term(argument) for argument in fluent.arguments]
        return f"({' '.join([self.function_names[fluent.function], *terms])})"

    def _print_formula(self, formula: Formula) -> str:
        match formula:
            case Truth():
                self.needs_never_true |= not formula.value
                return "(and)" if formula.value else "(never-true)"
            case Atom():
                return self._print_atom(formula)
            case Equal():
                return f"(= {self._print_term(formula.left)} {self._print_term(formula.right)})"
            case Compare():
                left, right = self._print_expression(formula.left), self._print_expression(formula.right)
                return f"({formula.operator} {left} {right})"
            case Not():
                return f"(not {self._print_formula(formula.body)})"
            case And() | Or():
                word = "and" if isinstance(formula, And) else "or"
                return f"({word} {' '.join([self._print_formula(part) for part in formula.parts])})"
            case Quantified():
                variables = self._print_variables(formula.variables)
                body = self._add_guards(
                    formula.variables, self._print_formula(formula.body), as_premises=formula.universal
                )
                if not formula.universal and _equates(formula.body):
                    # unified-planning replaces the variable by the equal term, and fails if their types differ
                    return f"(not (forall ({variables}) (not {body})))"
                return f"({'forall' if formula.universal else 'exists'} ({variables}) {body})"
            case Temporal():
                raise Unprintable(f"the temporal operator {formula.operator} in a condition")
            case _:
                assert_never(formula)

    def _print_expression(self, expression: Expression) -> str:
        match expression:
            case model.Constant():
                return decimal_text(expression.value)
            case model.Fluent():
                return self._print_fluent(expression)
            case Arithmetic():
                texts = [self._print_expression(operand) for operand in expression.operands]
                if len(texts) == 1:
                    return f"(- 0 {texts[0]})" if expression.operator == "-" else texts[0]
                nested_text = texts[0]
                for text in texts[1:]:
                    nested_text = f"({expression.operator} {nested_text} {text})"
                return nested_text
            case model.Duration() | model.TotalTime() | model.IsViolated():
                raise Unprintable("a duration or total-time in an expression")
            case _:
                assert_never(expression)


def _equates(formula: Formula) -> bool:
    """Whether a condition is an equality, or a conjunction with one."""
    return isinstance(formula, Equal) or (isinstance(formula, And) and any(map(_equates, formula.parts)))


def _list_quantified_domains(formula: Formula) -> list[int]:
    """List the domains of the quantified variables of a formula."""
    return [v.domain for part in subformulas(formula) if isinstance(part, Quantified) for v in part.variables]


def is_exact_in_doubles(task: Task, fluents: Sequence[Mapping[int, Number]]) -> bool:
    """Whether computing in doubles is exact for a task: it has only integers and no division."""
    values = [value for function in fluents for value in function.values()]
    for expression in _list_expressions(task):
        if has_division(expression):
            return False
        values += [part.value for part in subexpressions(expression) if isinstance(part, model.Constant)]
    return all([isinstance(value, int) and abs(value) < _MAX_EXACT_NUMBER for value in values])


def _list_expressions(task: Task) -> Iterator[Expression]:
    for action in task.actions.values():
        for effect in action.start.effects:
            for assignment in effect.assignments:
                if assignment.operator == "scale-down":  # a division, which :func:`is_exact_in_doubles` must see
                    yield Arithmetic("/", (assignment.value, assignment.value))
                yield assignment.value
    for formula in list_task_formulas(task):
        for part in subformulas(formula):
            if isinstance(part, Compare):
                yield from (part.left, part.right)
