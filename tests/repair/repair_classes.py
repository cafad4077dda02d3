"""The error classes by their definitions, from the least repairs and a delete relaxation.

In the relaxation every ground atom may be true, may be false, or may be both; an atom that may be true (or false) stays
so. A precondition that is false there can never hold. A derived atom may be true if its body may be (least fixpoint),
and may be false if its body may be even where all derived atoms still may (greatest fixpoint). A comparison is decided
only if no action changes the facts that it reads.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

from repair_oracle import Optimum
from repair_task import Sexp, Task, field, normal, parameters, write

from plansafe.verifier.kernel import KernelVerdict
from plansafe.verifier.rules.verdict_criteria import SEVERITIES

Atom = tuple[str, ...]
Binding = Mapping[str, str]
COMPARE = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "=": operator.eq}
ASSIGN = ("increase", "decrease", "assign", "scale-up", "scale-down")
EDIT_CLASS = {"insert": "missing", "delete": "additional", "substitute": "substitute", "move": "order"}
TERMINATION = (":termination", ":obligation")


class Relaxation:
    """The facts that may become true, and those that may become false, if nothing is deleted."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.objects = {kind: task.of_type(kind) for kind in task.supertypes()}
        self.true: set[Atom] = {tuple(map(str, fact)) for fact in task.init if fact[0] not in ("=", "not")}
        self.initially = frozenset(self.true)
        self.false: set[Atom] = set()
        self.numbers = {fact[1]: Fraction(str(fact[2])) for fact in task.init if fact[0] == "="}
        self.changing = {head for action in task.actions for head in find_changed_functions(field(action, ":effect"))}
        self.heads = {str(axiom[1][0]) for axiom in task.axioms}
        self.derived_false: set[Atom] = set()
        before = None
        while before != (len(self.true), len(self.false)):
            before = len(self.true), len(self.false)
            self._derive()
            for action in task.actions:
                for binding in self._bindings(parameters(field(action, ":parameters")), {}):
                    if self.may(field(action, ":precondition"), binding, True):
                        self._apply(field(action, ":effect"), binding)
        self._derive()

    def is_possible(self, step: str) -> bool:
        """Whether the precondition of a well-typed step may ever hold."""
        name, *arguments = normal(step)[1:-1].split()
        [action] = [action for action in self.task.actions if action[1] == name]
        variables = [variable for variable, _ in parameters(field(action, ":parameters"))]
        return self.may(field(action, ":precondition"), dict(zip(variables, arguments, strict=True)), True)

    def _bindings(self, declared: list[tuple[str, str]], binding: Binding) -> Iterator[dict[str, str]]:
        for objects in product(*[self.objects[kind] for _, kind in declared]):
            yield {**binding, **dict(zip([variable for variable, _ in declared], objects, strict=True))}

    def _derive(self) -> None:
        axioms = [
            ((str(axiom[1][0]), *[binding[v] for v, _ in parameters(axiom[1][1:])]), axiom[2], binding)
            for axiom in self.task.axioms
            for binding in self._bindings(parameters(axiom[1][1:]), {})
        ]
        self.derived_false = {head for head, _, _ in axioms}
        again = True
        while again:
            fixed = {
                head
                for head, body, binding in axioms
                if head in self.derived_false and not self.may(body, binding, False)
            }
            self.derived_false -= fixed
            risen = {head for head, body, binding in axioms if head not in self.true and self.may(body, binding, True)}
            self.true |= risen
            again = bool(fixed or risen)

    def _apply(self, effect: Sexp, binding: Binding) -> None:
        done = [*self._outcomes(effect, binding, False)]
        added = {atom for atom, value, conditional in done if value and not conditional}
        for atom, value, _ in done:
            if value:
                self.true.add(atom)
            elif atom not in added:  # what one action deletes and adds is true afterwards
                self.false.add(atom)

    def _outcomes(self, effect: Sexp, binding: Binding, conditional: bool) -> Iterator[tuple[Atom, bool, bool]]:
        """The possible effects: atom, added or deleted, and whether under a condition."""
        match effect:
            case ():
                return
            case ("and", *parts):
                for part in parts:
                    yield from self._outcomes(part, binding, conditional)
            case ("forall", declared, inner):
                for extended in self._bindings(parameters(declared), binding):
                    yield from self._outcomes(inner, extended, conditional)
            case ("when", condition, inner):
                if self.may(condition, binding, True):
                    yield from self._outcomes(inner, binding, True)
            case ("not", atom):
                yield ground_atom(atom, binding), False, conditional
            case _ if effect[0] not in ASSIGN:
                yield ground_atom(effect, binding), True, conditional

    def may(self, formula: Sexp, binding: Binding, truth: bool) -> bool:
        """Whether a condition may be true (or false)."""
        all_parts = all if truth else any
        any_part = any if truth else all
        match formula:
            case ():
                return truth
            case ("and", *parts):
                return all_parts([self.may(part, binding, truth) for part in parts])
            case ("or", *parts):
                return any_part([self.may(part, binding, truth) for part in parts])
            case ("not", part):
                return self.may(part, binding, not truth)
            case ("imply", left, right):
                return any_part([self.may(left, binding, not truth), self.may(right, binding, truth)])
            case ("forall", declared, part):
                return all_parts(
                    [self.may(part, extended, truth) for extended in self._bindings(parameters(declared), binding)]
                )
            case ("exists", declared, part):
                return any_part(
                    [self.may(part, extended, truth) for extended in self._bindings(parameters(declared), binding)]
                )
            case ("=", str(left), str(right)):
                return (binding.get(left, left) == binding.get(right, right)) == truth
            case (str(op), left, right) if op in COMPARE:
                return self._compare(op, left, right, binding, truth)
        atom = ground_atom(formula, binding)
        if atom[0] in self.heads:
            return atom in (self.true if truth else self.derived_false)
        return atom in self.true if truth else atom not in self.initially or atom in self.false

    def _compare(self, op: str, left: Sexp, right: Sexp, binding: Binding, truth: bool) -> bool:
        if self.changing & {*re.findall(r"[^\s()]+", write((left, right)))}:
            return True
        return COMPARE[op](self._value(left, binding), self._value(right, binding)) == truth

    def _value(self, expression: Sexp, binding: Binding) -> Fraction:
        """The value of an expression of numbers and fluents that never change, and of sums of them."""
        if isinstance(expression, str):
            return Fraction(expression)
        if expression[0] == "+":
            return sum([self._value(part, binding) for part in expression[1:]], Fraction(0))
        return self.numbers[ground_atom(expression, binding)]


def find_changed_functions(effect: Sexp) -> Iterator[str]:
    """The functions that an effect changes."""
    if isinstance(effect, tuple) and effect:
        if effect[0] in ASSIGN:
            yield str(effect[1][0])
        for part in effect:
            yield from find_changed_functions(part)


def ground_atom(atom: Sexp, binding: Binding) -> Atom:
    """An atom under a binding."""
    return tuple([binding.get(str(term), str(term)) for term in atom])


def find_impossible_steps(task: Task) -> dict[int, str]:
    """The impossible steps, from 1, each with its class: grammar or affordance."""
    relaxation = Relaxation(task)
    table = {str(action[1]): len(parameters(field(action, ":parameters"))) for action in task.actions}
    object_names = {name for name, _ in task.objects}
    grounded = set(task.ground_steps())
    out = {}
    for number, step in enumerate(task.plan, 1):
        name, *arguments = normal(step)[1:-1].split()
        if table.get(name) != len(arguments) or not set(arguments) <= object_names:
            out[number] = "grammar"
        elif normal(step) not in grounded or not relaxation.is_possible(step):
            out[number] = "affordance"
    return out


def find_flags(task: Task, judgement: KernelVerdict) -> set[str]:
    """The classes that are reported in addition to the others."""
    out = {"unmet goal"} if judgement.executable and not judgement.goal else set()
    kinds = {str(rule[1]): str(rule[0]) for rule in task.rules}
    severities = {str(rule[1]): str(rule[-1]) for rule in task.rules if rule[-2] == ":severity"}
    for finding in judgement.findings:
        severe = severities.get(finding.rule, "high")
        counts = SEVERITIES.index(severe) <= SEVERITIES.index(task.min_severity) and finding.rule not in task.exempt
        if "halt" in finding.readings and counts and not (task.judge != "all" and finding.blame == "pre-existing"):
            late = kinds.get(finding.rule) in TERMINATION
            out.add("termination hazard" if late else "process hazard")
    return out


def classify_edits(kinds: list[str]) -> set[str]:
    """The class of a script whose counted edits are of these kinds."""
    if len(set(kinds)) > 1:
        return {"compound"}
    return {EDIT_CLASS[kind] for kind in kinds}


def find_error_classes(task: Task, best: Optimum) -> set[str]:
    """The set of classes, except *unsafe goal*, which needs a proof."""
    if best.cost == 0:
        return set()
    impossible = find_impossible_steps(task)
    out = {*impossible.values(), *find_flags(task, best.judgement)}
    if best.cost is None:
        return out | {"irreparable"}
    for script in best.scripts:
        kinds = list(script.kinds)
        for kind, step in script.lost:
            if step in impossible:
                kinds.remove(kind)
        out |= classify_edits(kinds)
    return out
