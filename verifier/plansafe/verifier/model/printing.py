"""The model as text, in a notation close to PDDL, with all names resolved.

Unlike in PDDL, an action's condition is a list of conjuncts, and an effect is flat (quantifiers outside, one condition,
then facts and numbers). A set of objects without types is written ``{a b}``. A variable whose name is already in scope
gets a number (``?x~2``); ``_`` does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from plansafe.verifier.model.evaluation import UnmetLiteral
from plansafe.verifier.model.nodes import (
    Action,
    And,
    Arithmetic,
    Assignment,
    Atom,
    Axiom,
    Choice,
    Compare,
    Constant,
    Duration,
    Effect,
    Equal,
    Expression,
    Fluent,
    Formula,
    InitialChoice,
    Interval,
    IsViolated,
    Not,
    Number,
    Or,
    Predicate,
    Preference,
    Quantified,
    Snap,
    Task,
    Temporal,
    TimedLiteral,
    TotalTime,
    Truth,
    Unknowns,
    Variable,
)

_ACTIONS = {"start": "action", "end": "action-end", "during": "action-during"}


def formula_text(task: Task, formula: Formula, binding: Mapping[int, int]) -> str:
    """A formula as PDDL, with bound variables replaced by their objects."""
    return Printer(task, {slot: task.objects[number] for slot, number in binding.items()}, typed=False).print_formula(
        formula
    )


def unmet_literal_text(task: Task, literal: UnmetLiteral) -> str:
    """An unmet literal with the value that it has, as in ``(on stove) is not true``."""
    text = formula_text(task, literal.formula, literal.binding)
    return f"{text} is {'not true' if literal.required_value else 'true'}"


class Printer:
    """Prints formulas in the scope of some variables, whose names are ``names`` (slot -> name).

    ``typed``: print the types of quantified variables.
    """

    def __init__(self, task: Task, names: Mapping[int, str] | None = None, *, typed: bool = True) -> None:
        self.task = task
        self.names = dict(names or {})
        self.typed = typed

    def with_variables(self, variables: Iterable[Variable]) -> Printer:
        """A printer with these variables also in scope."""
        printer = Printer(self.task, self.names, typed=self.typed)
        for v in variables:  # macros number their own (``?x~17``), shown only to tell two apart
            plain_name = v.name.partition("~")[0]
            names_alike = [name for name in printer.names.values() if name.partition("~")[0] == plain_name]
            printer.names[v.slot] = (
                f"{plain_name}~{len(names_alike) + 1}" if names_alike and plain_name != "_" else plain_name
            )
        return printer

    def print_variables(self, variables: Sequence[Variable]) -> str:
        """Variables in scope, with their types."""
        return " ".join([f"{self.names[v.slot]} - {self.print_type(v.domain)}" for v in variables])

    def print_type(self, domain: int) -> str:
        """A set of type alternatives."""
        types = self.task.domain_types[domain]
        if not types:
            return "{" + " ".join(self.task.names(self.task.domains[domain])) + "}"
        return type_text(self.task, types)

    def print_term(self, argument: int) -> str:
        """An object or a variable."""
        return self.task.objects[argument] if argument >= 0 else self.names.get(-1 - argument, f"?{-1 - argument}")

    def print_terms(self, arguments: Iterable[int]) -> list[str]:
        """Objects and variables."""
        return [self.print_term(argument) for argument in arguments]

    def print_expression(self, expression: Expression) -> str:
        """A number."""
        match expression:
            case Constant():
                return str(expression.value)
            case Fluent():
                return _parenthesize(
                    self.task.functions[expression.function].name, *self.print_terms(expression.arguments)
                )
            case Arithmetic():
                return _parenthesize(
                    expression.operator, *[self.print_expression(part) for part in expression.operands]
                )
            case Duration():
                return "?duration"
            case TotalTime():
                return "total-time"
            case IsViolated():
                return f"(is-violated {expression.preference})"
            case _:
                assert_never(expression)

    def print_formula(self, formula: Formula) -> str:
        """A condition, of a state or of the trace."""
        match formula:
            case Truth():
                return "(and)" if formula.value else "(or)"
            case Atom():
                # No user's name has blanks: this is the predicate of an action.
                kind, of_action, name = self.task.predicates[formula.predicate].name.partition(" of ")
                text = _parenthesize(name or kind, *self.print_terms(formula.arguments))
                return f"({_ACTIONS[kind]} {text})" if of_action else text
            case Equal():
                return _parenthesize("=", *self.print_terms(formula))
            case Compare():
                return _parenthesize(
                    formula.operator, self.print_expression(formula.left), self.print_expression(formula.right)
                )
            case Not():
                return _parenthesize("not", self.print_formula(formula.body))
            case And():
                return _parenthesize("and", *self.print_formulas(formula.parts))
            case Or():
                return _parenthesize("or", *self.print_formulas(formula.parts))
            case Quantified():
                body_printer = self.with_variables(formula.variables)
                names = " ".join([body_printer.names[v.slot] for v in formula.variables])
                bound = body_printer.print_variables(formula.variables) if self.typed else names
                return _parenthesize(
                    "forall" if formula.universal else "exists", f"({bound})", body_printer.print_formula(formula.body)
                )
            case Temporal():
                bounds = [str(bound) for bound in formula.bounds]
                return _parenthesize(formula.operator, *bounds, *self.print_formulas(formula.operands))
            case _:
                assert_never(formula)

    def print_formulas(self, formulas: Iterable[Formula]) -> list[str]:
        """Several conditions."""
        return [self.print_formula(part) for part in formulas]

    def print_effect(self, effect: Effect) -> str:
        """An effect with its condition, quantifiers and choices."""
        effect_printer = self.with_variables(effect.variables)
        changes = [_parenthesize("not", effect_printer.print_formula(atom)) for atom in effect.deletes]
        changes += effect_printer.print_formulas(effect.adds)
        changes += [effect_printer._print_assignment(assignment) for assignment in effect.assignments]  # noqa: SLF001 - of its own class
        text = changes[0] if len(changes) == 1 else _parenthesize("and", *changes)
        if effect.condition != Truth(True):
            text = _parenthesize("when", effect_printer.print_formula(effect.condition), text)
        if effect.at_start != Truth(True):
            text = _parenthesize("when-at-start", effect_printer.print_formula(effect.at_start), text)
        for choice in effect.choices:
            text = _parenthesize("chosen", self._print_choice(choice), text)
        return (
            _parenthesize("forall", f"({effect_printer.print_variables(effect.variables)})", text)
            if effect.variables
            else text
        )

    def _print_assignment(self, assignment: Assignment) -> str:
        target = Fluent(assignment.function, assignment.arguments)
        return _parenthesize(
            assignment.operator, self.print_expression(target), self.print_expression(assignment.value)
        )

    def _print_choice(self, choice: Choice) -> str:
        bindings = "".join([f" for-each {v.name}" for v in choice.variables])
        return f"(oneof-{choice.number + 1} {choice.alternative + 1}/{choice.alternative_count}{bindings})"

    def print_preference(self, preference: Preference) -> str:
        """A soft condition."""
        body_printer = self.with_variables(preference.variables)
        text = _parenthesize("preference", preference.name, body_printer.print_formula(preference.body))
        return (
            _parenthesize("forall", f"({body_printer.print_variables(preference.variables)})", text)
            if preference.variables
            else text
        )


def type_text(task: Task, types: Sequence[int]) -> str:
    """Type alternatives as PDDL."""
    names = [task.type_names[type_number] for type_number in types]
    return names[0] if len(names) == 1 else f"(either {' '.join(names)})"


# ---- tasks ----------------------------------------------------------------------------------------------------------


def task_text(task: Task) -> str:
    """A task: declarations, actions and axioms, the initial state, the goal and the metric."""
    lines = [f"task {task.problem} of {task.name}", *_list_declarations(task)]
    for action in task.actions.values():
        lines += _list_action_lines(task, action)
    for number, group in enumerate(task.axioms):
        lines += [f"derived, group {number + 1}: {_axiom_text(task, axiom)}" for axiom in group]
    return "\n".join([*lines, *_list_initial_state(task), *_list_goal(task)]) + "\n"


def _list_declarations(task: Task) -> Iterator[str]:
    objects: dict[str, list[str]] = {}
    for name, types in zip(task.objects, task.object_types, strict=True):
        objects.setdefault(type_text(task, types), []).append(name)
    yield from [f"objects {' '.join(names)} - {text}" for text, names in objects.items()]
    for number, predicate in enumerate(task.predicates):
        if " of " not in predicate.name:
            static = number < len(task.static) and task.static[number]
            yield f"predicate {_declaration_text(task, predicate)}{', static' if static else ''}"
    yield from [f"function {_declaration_text(task, function)}" for function in task.functions]


def _declaration_text(task: Task, predicate: Predicate) -> str:
    return _parenthesize(predicate.name, *[type_text(task, types) for types in predicate.types])


def _list_action_lines(task: Task, action: Action) -> Iterator[str]:
    printer = Printer(task).with_variables(action.parameters)
    yield f"action ({' '.join([action.name, printer.print_variables(action.parameters)]).strip()})"
    for constraint in action.durations:
        when = "at end" if constraint.at_end else "at start"
        yield f"  duration, {when}: ({constraint.operator} ?duration {printer.print_expression(constraint.value)})"
    yield from _list_snap_lines(printer, action.start, "" if action.end is None else ", at start")
    yield from [f"  needs, over all: {text}" for text in printer.print_formulas(action.over_all)]
    if action.end is not None:
        yield from _list_snap_lines(printer, action.end, ", at end")
    for preference in action.preferences:
        when = {"start": "at start", "end": "at end", "all": "over all"}[preference.moment]
        yield f"  wishes{'' if action.end is None else f', {when}'}: {printer.print_preference(preference)}"


def _list_snap_lines(printer: Printer, snap: Snap, when: str) -> Iterator[str]:
    yield from [f"  needs{when}: {text}" for text in printer.print_formulas(snap.condition)]
    yield from [f"  does{when}: {printer.print_effect(effect)}" for effect in snap.effects]


def _axiom_text(task: Task, axiom: Axiom) -> str:
    printer = Printer(task).with_variables(axiom.parameters)
    head = Atom(axiom.predicate, tuple([-1 - v.slot for v in axiom.parameters]))
    return f"{printer.print_formula(head)} if {printer.print_formula(axiom.body)}"


def _list_initial_state(task: Task) -> Iterator[str]:
    for predicate, codes in enumerate(task.initial_facts):
        yield from [f"init {task.fact_text(predicate, code)}" for code in sorted(codes)]
    for function, values in enumerate(task.initial_fluents):
        yield from [f"init (= {_fluent_text(task, function, code)} {value})" for code, value in sorted(values.items())]
    yield from [f"init not {task.fact_text(predicate, code)}" for predicate, code in sorted(task.denied)]
    if task.unknowns is not None:
        yield from _list_unknowns(task, task.unknowns)
    yield from [f"at {literal.time}: {_timed_literal_text(task, literal)}" for literal in task.timed_literals]


def _list_unknowns(task: Task, unknowns: Unknowns) -> Iterator[str]:
    for predicate, codes in enumerate(unknowns.facts):
        for code in sorted(codes):
            supported = ", false unless chosen" if code in unknowns.oneof_only[predicate] else ""
            yield f"open {task.fact_text(predicate, code)}{supported}"
    for function, intervals in enumerate(unknowns.intervals):
        for code, interval in sorted(intervals.items()):
            yield f"open {_fluent_text(task, function, code)} in {_interval_text(interval)}"
    yield from [f"choice {_initial_choice_text(task, choice)}" for choice in unknowns.choices]


def _initial_choice_text(task: Task, choice: InitialChoice) -> str:
    parts = []
    for alternative in choice.alternatives:
        facts = [
            _fluent_text(task, literal.predicate, literal.code, literal.value)
            if literal.fluent
            else task.fact_text(literal.predicate, literal.code)
            if literal.value
            else _parenthesize("not", task.fact_text(literal.predicate, literal.code))
            for literal in alternative
        ]
        parts.append(facts[0] if len(facts) == 1 else _parenthesize("and", *facts))
    return _parenthesize("oneof" if choice.exactly_one else "or", *parts)


def _interval_text(interval: Interval) -> str:
    low = "-inf" if interval.low is None else str(interval.low)
    high = "inf" if interval.high is None else str(interval.high)
    return f"{'(' if interval.low_open else '['}{low}, {high}{')' if interval.high_open else ']'}"


def _fluent_text(task: Task, function: int, code: int, value: Number | None = None) -> str:
    declared = task.functions[function]
    text = _parenthesize(declared.name, *task.names(task.decode(code, len(declared.types))))
    return text if value is None else _parenthesize("=", text, str(value))


def _timed_literal_text(task: Task, literal: TimedLiteral) -> str:
    if literal.fluent:
        return _fluent_text(task, literal.predicate, task.encode(literal.arguments), literal.value)
    fact = task.fact_text(literal.predicate, task.encode(literal.arguments))
    return fact if literal.value else _parenthesize("not", fact)


def _list_goal(task: Task) -> Iterator[str]:
    printer = Printer(task)
    yield from [f"goal {text}" for text in printer.print_formulas(task.goal)]
    yield from [f"goal {printer.print_preference(preference)}" for preference in task.goal_preferences]
    if task.metric is not None:
        yield f"{'minimize' if task.metric.minimize else 'maximize'} {printer.print_expression(task.metric.expression)}"


def _parenthesize(*words: str) -> str:
    return f"({' '.join(words)})"
