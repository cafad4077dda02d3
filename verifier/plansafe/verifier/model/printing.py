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
    return Printer(task, {slot: task.objects[number] for slot, number in binding.items()}, typed=False).formula(formula)


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

    def inside(self, variables: Iterable[Variable]) -> Printer:
        """A printer with these variables also in scope."""
        inner = Printer(self.task, self.names, typed=self.typed)
        for v in variables:  # macros number their own (``?x~17``), shown only to tell two apart
            plain = v.name.partition("~")[0]
            same = [name for name in inner.names.values() if name.partition("~")[0] == plain]
            inner.names[v.slot] = f"{plain}~{len(same) + 1}" if same and plain != "_" else plain
        return inner

    def variables(self, variables: Sequence[Variable]) -> str:
        """Variables in scope, with their types."""
        return " ".join([f"{self.names[v.slot]} - {self.type(v.domain)}" for v in variables])

    def type(self, domain: int) -> str:
        """A set of type alternatives."""
        types = self.task.domain_types[domain]
        if not types:
            return "{" + " ".join(self.task.names(self.task.domains[domain])) + "}"
        return alternatives(self.task, types)

    def term(self, argument: int) -> str:
        """An object or a variable."""
        return self.task.objects[argument] if argument >= 0 else self.names.get(-1 - argument, f"?{-1 - argument}")

    def terms(self, arguments: Iterable[int]) -> list[str]:
        """Objects and variables."""
        return [self.term(argument) for argument in arguments]

    def expression(self, expression: Expression) -> str:
        """A number."""
        match expression:
            case Constant():
                return str(expression.value)
            case Fluent():
                return _list(self.task.functions[expression.function].name, *self.terms(expression.arguments))
            case Arithmetic():
                return _list(expression.operator, *[self.expression(part) for part in expression.operands])
            case Duration():
                return "?duration"
            case TotalTime():
                return "total-time"
            case IsViolated():
                return f"(is-violated {expression.preference})"
            case _:
                assert_never(expression)

    def formula(self, formula: Formula) -> str:
        """A condition, of a state or of the trace."""
        match formula:
            case Truth():
                return "(and)" if formula.value else "(or)"
            case Atom():
                # No user's name has blanks: this is the predicate of an action.
                kind, of_action, name = self.task.predicates[formula.predicate].name.partition(" of ")
                text = _list(name or kind, *self.terms(formula.arguments))
                return f"({_ACTIONS[kind]} {text})" if of_action else text
            case Equal():
                return _list("=", *self.terms(formula))
            case Compare():
                return _list(formula.operator, self.expression(formula.left), self.expression(formula.right))
            case Not():
                return _list("not", self.formula(formula.body))
            case And():
                return _list("and", *self.formulas(formula.parts))
            case Or():
                return _list("or", *self.formulas(formula.parts))
            case Quantified():
                inner = self.inside(formula.variables)
                names = " ".join([inner.names[v.slot] for v in formula.variables])
                bound = inner.variables(formula.variables) if self.typed else names
                return _list("forall" if formula.universal else "exists", f"({bound})", inner.formula(formula.body))
            case Temporal():
                bounds = [str(bound) for bound in formula.bounds]
                return _list(formula.operator, *bounds, *self.formulas(formula.operands))
            case _:
                assert_never(formula)

    def formulas(self, formulas: Iterable[Formula]) -> list[str]:
        """Several conditions."""
        return [self.formula(part) for part in formulas]

    def effect(self, effect: Effect) -> str:
        """An effect with its condition, quantifiers and choices."""
        inner = self.inside(effect.variables)
        changes = [_list("not", inner.formula(atom)) for atom in effect.deletes]
        changes += inner.formulas(effect.adds)
        changes += [inner._assignment(assignment) for assignment in effect.assignments]  # noqa: SLF001 - of its own class
        text = changes[0] if len(changes) == 1 else _list("and", *changes)
        if effect.condition != Truth(True):
            text = _list("when", inner.formula(effect.condition), text)
        if effect.at_start != Truth(True):
            text = _list("when-at-start", inner.formula(effect.at_start), text)
        for choice in effect.choices:
            text = _list("chosen", self._choice(choice), text)
        return _list("forall", f"({inner.variables(effect.variables)})", text) if effect.variables else text

    def _assignment(self, assignment: Assignment) -> str:
        target = Fluent(assignment.function, assignment.arguments)
        return _list(assignment.operator, self.expression(target), self.expression(assignment.value))

    def _choice(self, choice: Choice) -> str:
        bindings = "".join([f" for-each {v.name}" for v in choice.variables])
        return f"(oneof-{choice.number + 1} {choice.alternative + 1}/{choice.alternatives}{bindings})"

    def preference(self, preference: Preference) -> str:
        """A soft condition."""
        inner = self.inside(preference.variables)
        text = _list("preference", preference.name, inner.formula(preference.body))
        return _list("forall", f"({inner.variables(preference.variables)})", text) if preference.variables else text


def alternatives(task: Task, types: Sequence[int]) -> str:
    """Type alternatives as PDDL."""
    names = [task.type_names[type_number] for type_number in types]
    return names[0] if len(names) == 1 else f"(either {' '.join(names)})"


# ---- tasks ----------------------------------------------------------------------------------------------------------


def task_text(task: Task) -> str:
    """A task: declarations, actions and axioms, the initial state, the goal and the metric."""
    lines = [f"task {task.problem} of {task.name}", *_declarations(task)]
    for action in task.actions.values():
        lines += _action(task, action)
    for number, group in enumerate(task.axioms):
        lines += [f"derived, group {number + 1}: {_axiom(task, axiom)}" for axiom in group]
    return "\n".join([*lines, *_initial(task), *_goal(task)]) + "\n"


def _declarations(task: Task) -> Iterator[str]:
    objects: dict[str, list[str]] = {}
    for name, types in zip(task.objects, task.object_types, strict=True):
        objects.setdefault(alternatives(task, types), []).append(name)
    yield from [f"objects {' '.join(names)} - {text}" for text, names in objects.items()]
    for number, predicate in enumerate(task.predicates):
        if " of " not in predicate.name:
            static = number < len(task.static) and task.static[number]
            yield f"predicate {_declared(task, predicate)}{', static' if static else ''}"
    yield from [f"function {_declared(task, function)}" for function in task.functions]


def _declared(task: Task, predicate: Predicate) -> str:
    return _list(predicate.name, *[alternatives(task, types) for types in predicate.types])


def _action(task: Task, action: Action) -> Iterator[str]:
    printer = Printer(task).inside(action.parameters)
    yield f"action ({' '.join([action.name, printer.variables(action.parameters)]).strip()})"
    for constraint in action.durations:
        when = "at end" if constraint.at_end else "at start"
        yield f"  duration, {when}: ({constraint.operator} ?duration {printer.expression(constraint.value)})"
    yield from _snap(printer, action.start, "" if action.end is None else ", at start")
    yield from [f"  needs, over all: {text}" for text in printer.formulas(action.over_all)]
    if action.end is not None:
        yield from _snap(printer, action.end, ", at end")
    for preference in action.preferences:
        when = {"start": "at start", "end": "at end", "all": "over all"}[preference.moment]
        yield f"  wishes{'' if action.end is None else f', {when}'}: {printer.preference(preference)}"


def _snap(printer: Printer, snap: Snap, when: str) -> Iterator[str]:
    yield from [f"  needs{when}: {text}" for text in printer.formulas(snap.condition)]
    yield from [f"  does{when}: {printer.effect(effect)}" for effect in snap.effects]


def _axiom(task: Task, axiom: Axiom) -> str:
    printer = Printer(task).inside(axiom.parameters)
    head = Atom(axiom.predicate, tuple([-1 - v.slot for v in axiom.parameters]))
    return f"{printer.formula(head)} if {printer.formula(axiom.body)}"


def _initial(task: Task) -> Iterator[str]:
    for predicate, codes in enumerate(task.initial_facts):
        yield from [f"init {task.fact_text(predicate, code)}" for code in sorted(codes)]
    for function, values in enumerate(task.initial_fluents):
        yield from [f"init (= {_fluent(task, function, code)} {value})" for code, value in sorted(values.items())]
    yield from [f"init not {task.fact_text(predicate, code)}" for predicate, code in sorted(task.denied)]
    if task.unknowns is not None:
        yield from _open(task, task.unknowns)
    yield from [f"at {literal.time}: {_timed(task, literal)}" for literal in task.timed_literals]


def _open(task: Task, unknowns: Unknowns) -> Iterator[str]:
    for predicate, codes in enumerate(unknowns.facts):
        for code in sorted(codes):
            supported = ", false unless chosen" if code in unknowns.oneof_only[predicate] else ""
            yield f"open {task.fact_text(predicate, code)}{supported}"
    for function, intervals in enumerate(unknowns.intervals):
        for code, interval in sorted(intervals.items()):
            yield f"open {_fluent(task, function, code)} in {_interval(interval)}"
    yield from [f"choice {_initial_choice(task, choice)}" for choice in unknowns.choices]


def _initial_choice(task: Task, choice: InitialChoice) -> str:
    parts = []
    for alternative in choice.alternatives:
        facts = [
            _fluent(task, literal.predicate, literal.code, literal.value)
            if literal.fluent
            else task.fact_text(literal.predicate, literal.code)
            if literal.value
            else _list("not", task.fact_text(literal.predicate, literal.code))
            for literal in alternative
        ]
        parts.append(facts[0] if len(facts) == 1 else _list("and", *facts))
    return _list("oneof" if choice.exactly_one else "or", *parts)


def _interval(interval: Interval) -> str:
    low = "-inf" if interval.low is None else str(interval.low)
    high = "inf" if interval.high is None else str(interval.high)
    return f"{'(' if interval.low_open else '['}{low}, {high}{')' if interval.high_open else ']'}"


def _fluent(task: Task, function: int, code: int, value: Number | None = None) -> str:
    declared = task.functions[function]
    text = _list(declared.name, *task.names(task.decode(code, len(declared.types))))
    return text if value is None else _list("=", text, str(value))


def _timed(task: Task, literal: TimedLiteral) -> str:
    if literal.fluent:
        return _fluent(task, literal.predicate, task.encode(literal.arguments), literal.value)
    fact = task.fact_text(literal.predicate, task.encode(literal.arguments))
    return fact if literal.value else _list("not", fact)


def _goal(task: Task) -> Iterator[str]:
    printer = Printer(task)
    yield from [f"goal {text}" for text in printer.formulas(task.goal)]
    yield from [f"goal {printer.preference(preference)}" for preference in task.goal_preferences]
    if task.metric is not None:
        yield f"{'minimize' if task.metric.minimize else 'maximize'} {printer.expression(task.metric.expression)}"


def _list(*words: str) -> str:
    return f"({' '.join(words)})"
