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


def format_formula(task: Task, formula: Formula, binding: Mapping[int, int]) -> str:
    """Return a formula as PDDL, with bound variables replaced by their objects."""
    names = {slot: task.objects[number] for slot, number in binding.items()}
    return Printer(task, names, typed=False).format_formula(formula)


def format_unmet_literal(task: Task, literal: UnmetLiteral) -> str:
    """Return an unmet literal with the value that it has, as in ``(on stove) is not true``."""
    text = format_formula(task, literal.formula, literal.binding)
    return f"{text} is {'not true' if literal.required_value else 'true'}"


class Printer:
    """Formats formulas in the scope of some variables, whose names are ``names`` (slot -> name).

    ``typed``: write the types of quantified variables.
    """

    def __init__(self, task: Task, names: Mapping[int, str] | None = None, *, typed: bool = True) -> None:
        self.task = task
        self.names = dict(names or {})
        self.typed = typed

    def with_variables(self, variables: Iterable[Variable]) -> Printer:
        """Return a printer with these variables also in scope."""
        printer = Printer(self.task, self.names, typed=self.typed)
        for v in variables:  # the numbers of macros (``?x~17``) are replaced by smaller ones, and only where necessary
            plain_name = v.name.partition("~")[0]
            similar_names = [name for name in printer.names.values() if name.partition("~")[0] == plain_name]
            printer.names[v.slot] = (
                f"{plain_name}~{len(similar_names) + 1}" if similar_names and plain_name != "_" else plain_name
            )
        return printer

    def format_variables(self, variables: Sequence[Variable]) -> str:
        """Return variables in scope with their types."""
        return " ".join([f"{self.names[v.slot]} - {self.format_domain(v.domain)}" for v in variables])

    def format_domain(self, domain: int) -> str:
        """Return the type alternatives of a domain, or its objects if it has no types."""
        types = self.task.domain_types[domain]
        if not types:
            return "{" + " ".join(self.task.names(self.task.domains[domain])) + "}"
        return format_types(self.task, types)

    def format_term(self, argument: int) -> str:
        """Return the name of an object or a variable."""
        return self.task.objects[argument] if argument >= 0 else self.names.get(-1 - argument, f"?{-1 - argument}")

    def format_terms(self, arguments: Iterable[int]) -> list[str]:
        """Return the names of objects and variables."""
        return [self.format_term(argument) for argument in arguments]

    def format_expression(self, expression: Expression) -> str:
        """Return a numeric expression as text."""
        match expression:
            case Constant():
                return str(expression.value)
            case Fluent():
                return _parenthesize(
                    self.task.functions[expression.function].name, *self.format_terms(expression.arguments)
                )
            case Arithmetic():
                return _parenthesize(
                    expression.operator, *[self.format_expression(part) for part in expression.operands]
                )
            case Duration():
                return "?duration"
            case TotalTime():
                return "total-time"
            case IsViolated():
                return f"(is-violated {expression.preference})"
            case _:
                assert_never(expression)

    def format_formula(self, formula: Formula) -> str:
        """Return a condition of a state or of the trace as text."""
        match formula:
            case Truth():
                return "(and)" if formula.value else "(or)"
            case Atom():
                # No user's name has blanks: this is the predicate of an action.
                kind, of_action, name = self.task.predicates[formula.predicate].name.partition(" of ")
                text = _parenthesize(name or kind, *self.format_terms(formula.arguments))
                return f"({_ACTIONS[kind]} {text})" if of_action else text
            case Equal():
                return _parenthesize("=", *self.format_terms(formula))
            case Compare():
                return _parenthesize(
                    formula.operator, self.format_expression(formula.left), self.format_expression(formula.right)
                )
            case Not():
                return _parenthesize("not", self.format_formula(formula.body))
            case And():
                return _parenthesize("and", *self.format_formulas(formula.parts))
            case Or():
                return _parenthesize("or", *self.format_formulas(formula.parts))
            case Quantified():
                body_printer = self.with_variables(formula.variables)
                names = " ".join([body_printer.names[v.slot] for v in formula.variables])
                bound = body_printer.format_variables(formula.variables) if self.typed else names
                return _parenthesize(
                    "forall" if formula.universal else "exists", f"({bound})", body_printer.format_formula(formula.body)
                )
            case Temporal():
                bounds = [str(bound) for bound in formula.bounds]
                return _parenthesize(formula.operator, *bounds, *self.format_formulas(formula.operands))
            case _:
                assert_never(formula)

    def format_formulas(self, formulas: Iterable[Formula]) -> list[str]:
        """Return each condition as text."""
        return [self.format_formula(part) for part in formulas]

    def format_effect(self, effect: Effect) -> str:
        """Return an effect with its condition, quantifiers and choices as text."""
        effect_printer = self.with_variables(effect.variables)
        changes = [_parenthesize("not", effect_printer.format_formula(atom)) for atom in effect.deletes]
        changes += effect_printer.format_formulas(effect.adds)
        changes += [effect_printer._format_assignment(assignment) for assignment in effect.assignments]  # noqa: SLF001 - of its own class
        text = changes[0] if len(changes) == 1 else _parenthesize("and", *changes)
        if effect.condition != Truth(True):
            text = _parenthesize("when", effect_printer.format_formula(effect.condition), text)
        if effect.at_start != Truth(True):
            text = _parenthesize("when-at-start", effect_printer.format_formula(effect.at_start), text)
        for choice in effect.choices:
            text = _parenthesize("chosen", self._format_choice(choice), text)
        return (
            _parenthesize("forall", f"({effect_printer.format_variables(effect.variables)})", text)
            if effect.variables
            else text
        )

    def _format_assignment(self, assignment: Assignment) -> str:
        target = Fluent(assignment.function, assignment.arguments)
        return _parenthesize(
            assignment.operator, self.format_expression(target), self.format_expression(assignment.value)
        )

    def _format_choice(self, choice: Choice) -> str:
        bindings = "".join([f" for-each {v.name}" for v in choice.variables])
        return f"(oneof-{choice.number + 1} {choice.alternative + 1}/{choice.alternative_count}{bindings})"

    def format_preference(self, preference: Preference) -> str:
        """Return a preference with its quantifiers as text."""
        body_printer = self.with_variables(preference.variables)
        text = _parenthesize("preference", preference.name, body_printer.format_formula(preference.body))
        return (
            _parenthesize("forall", f"({body_printer.format_variables(preference.variables)})", text)
            if preference.variables
            else text
        )


def format_types(task: Task, types: Sequence[int]) -> str:
    """Return type alternatives as PDDL."""
    names = [task.type_names[type_number] for type_number in types]
    return names[0] if len(names) == 1 else f"(either {' '.join(names)})"


# ---- tasks ----------------------------------------------------------------------------------------------------------


def format_task(task: Task) -> str:
    """Return a task as text: declarations, actions and axioms, the initial state, the goal and the metric."""
    lines = [f"task {task.problem} of {task.name}", *_list_declarations(task)]
    for action in task.actions.values():
        lines += _list_action_lines(task, action)
    for number, group in enumerate(task.axioms):
        lines += [f"derived, group {number + 1}: {_format_axiom(task, axiom)}" for axiom in group]
    return "\n".join([*lines, *_list_initial_state(task), *_list_goal_lines(task)]) + "\n"


def _list_declarations(task: Task) -> Iterator[str]:
    objects: dict[str, list[str]] = {}
    for name, types in zip(task.objects, task.object_types, strict=True):
        objects.setdefault(format_types(task, types), []).append(name)
    yield from [f"objects {' '.join(names)} - {text}" for text, names in objects.items()]
    for number, predicate in enumerate(task.predicates):
        if " of " not in predicate.name:
            static = number < len(task.static) and task.static[number]
            yield f"predicate {_format_declaration(task, predicate)}{', static' if static else ''}"
    yield from [f"function {_format_declaration(task, function)}" for function in task.functions]


def _format_declaration(task: Task, predicate: Predicate) -> str:
    return _parenthesize(predicate.name, *[format_types(task, types) for types in predicate.types])


def _list_action_lines(task: Task, action: Action) -> Iterator[str]:
    printer = Printer(task).with_variables(action.parameters)
    yield f"action ({' '.join([action.name, printer.format_variables(action.parameters)]).strip()})"
    for constraint in action.durations:
        when = "at end" if constraint.at_end else "at start"
        yield f"  duration, {when}: ({constraint.operator} ?duration {printer.format_expression(constraint.value)})"
    yield from _list_snap_lines(printer, action.start, "" if action.end is None else ", at start")
    yield from [f"  needs, over all: {text}" for text in printer.format_formulas(action.over_all)]
    if action.end is not None:
        yield from _list_snap_lines(printer, action.end, ", at end")
    for preference in action.preferences:
        when = {"start": "at start", "end": "at end", "all": "over all"}[preference.moment]
        yield f"  wishes{'' if action.end is None else f', {when}'}: {printer.format_preference(preference)}"


def _list_snap_lines(printer: Printer, snap: Snap, when: str) -> Iterator[str]:
    yield from [f"  needs{when}: {text}" for text in printer.format_formulas(snap.condition)]
    yield from [f"  does{when}: {printer.format_effect(effect)}" for effect in snap.effects]


def _format_axiom(task: Task, axiom: Axiom) -> str:
    printer = Printer(task).with_variables(axiom.parameters)
    head = Atom(axiom.predicate, tuple([-1 - v.slot for v in axiom.parameters]))
    return f"{printer.format_formula(head)} if {printer.format_formula(axiom.body)}"


def _list_initial_state(task: Task) -> Iterator[str]:
    for predicate, codes in enumerate(task.initial_facts):
        yield from [f"init {task.fact_text(predicate, code)}" for code in sorted(codes)]
    for function, values in enumerate(task.initial_fluents):
        for code, value in sorted(values.items()):
            yield f"init (= {_format_fluent(task, function, code)} {value})"
    yield from [f"init not {task.fact_text(predicate, code)}" for predicate, code in sorted(task.denied)]
    if task.unknowns is not None:
        yield from _list_unknowns(task, task.unknowns)
    yield from [f"at {literal.time}: {_format_timed_literal(task, literal)}" for literal in task.timed_literals]


def _list_unknowns(task: Task, unknowns: Unknowns) -> Iterator[str]:
    for predicate, codes in enumerate(unknowns.facts):
        for code in sorted(codes):
            supported = ", false unless chosen" if code in unknowns.oneof_only[predicate] else ""
            yield f"open {task.fact_text(predicate, code)}{supported}"
    for function, intervals in enumerate(unknowns.intervals):
        for code, interval in sorted(intervals.items()):
            yield f"open {_format_fluent(task, function, code)} in {_format_interval(interval)}"
    yield from [f"choice {_format_initial_choice(task, choice)}" for choice in unknowns.choices]


def _format_initial_choice(task: Task, choice: InitialChoice) -> str:
    parts = []
    for alternative in choice.alternatives:
        facts = [
            _format_fluent(task, literal.predicate, literal.code, literal.value)
            if literal.fluent
            else task.fact_text(literal.predicate, literal.code)
            if literal.value
            else _parenthesize("not", task.fact_text(literal.predicate, literal.code))
            for literal in alternative
        ]
        parts.append(facts[0] if len(facts) == 1 else _parenthesize("and", *facts))
    return _parenthesize("oneof" if choice.exactly_one else "or", *parts)


def _format_interval(interval: Interval) -> str:
    low = "-inf" if interval.low is None else str(interval.low)
    high = "inf" if interval.high is None else str(interval.high)
    return f"{'(' if interval.low_open else '['}{low}, {high}{')' if interval.high_open else ']'}"


def _format_fluent(task: Task, function: int, code: int, value: Number | None = None) -> str:
    text = task.fluent_text(function, code)
    return text if value is None else _parenthesize("=", text, str(value))


def _format_timed_literal(task: Task, literal: TimedLiteral) -> str:
    if literal.fluent:
        return _format_fluent(task, literal.predicate, task.encode(literal.arguments), literal.value)
    fact = task.fact_text(literal.predicate, task.encode(literal.arguments))
    return fact if literal.value else _parenthesize("not", fact)


def _list_goal_lines(task: Task) -> Iterator[str]:
    printer = Printer(task)
    yield from [f"goal {text}" for text in printer.format_formulas(task.goal)]
    yield from [f"goal {printer.format_preference(preference)}" for preference in task.goal_preferences]
    if task.metric is not None:
        direction = "minimize" if task.metric.minimize else "maximize"
        yield f"{direction} {printer.format_expression(task.metric.expression)}"


def _parenthesize(*words: str) -> str:
    return f"({' '.join(words)})"
