"""Generated Python: conditions as expressions, joins as nested loops.

Generated text holds numbers alone: indices of predicates, objects, domains and slots. No name and no text of the input
ever reaches it (a test reads what is generated). Facts are sets of codes ``S[predicate]``, fluents are maps
``F[function]``, ``I[k]`` are indexes kept by whoever runs the code. A function raises ``KeyError`` for an undefined
fluent and ``ZeroDivisionError``; callers then decide by :mod:`plansafe.verifier.model.evaluation`, in three values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType
from typing import Any, assert_never

from plansafe.verifier.compile.joins import Join
from plansafe.verifier.compile.normal_forms import Disjunct, FormulaLiteral, dnf
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Compare,
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
    divide,
)
from plansafe.verifier.model.operations import expression_fluents, free_slots

MAX_DEPTH = 20
_PYTHON = {"=": "==", "<": "<", ">": ">", "<=": "<=", ">=": ">="}


_TEXTS = 8192
"""Different texts whose code is kept: those of a domain with a large library are some two thousand."""


@lru_cache(maxsize=_TEXTS)
def _compiled(source: str) -> tuple[CodeType, frozenset[str]]:
    """The code of a text, and the names that it and its functions read from outside."""
    code = compile(source, "<generated>", "exec")
    used: set[str] = set()
    waiting = [code]
    while waiting:
        one = waiting.pop()
        used.update(one.co_names)
        waiting += [constant for constant in one.co_consts if isinstance(constant, CodeType)]
    return code, frozenset(used)


class Emitter:
    """Collects generated functions for one task and compiles them. ``functions`` grows as code is asked for."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.object_count = max(len(task.objects), 1)
        self.namespace: dict[str, Any] = {"divide": divide, "E": ()}
        self.indexes: dict[tuple[int, tuple[int, ...]], int] = {}
        """(predicate, bound positions) -> number of the index ``I[k]``: key code -> set of full codes."""
        self.requested_indexes: set[tuple[int, tuple[int, ...]]] = set()
        """The indexes asked for since this set was emptied: who compiles joins keeps those up to date, no others."""
        self._specs: list[tuple[int, tuple[int, ...]]] = []
        self._pending: list[str] = []
        self._free: dict[int, tuple[Formula, frozenset[int]]] = {}
        self._count = 0
        self.sources: list[str] = []
        self._texts: dict[tuple[str, ...], str] = {}

    def free_slots(self, formula: Formula) -> frozenset[int]:
        """The free slots of a formula, remembered for each of its parts: deep formulas ask for them at every level."""
        known = self._free.get(id(formula))
        if known is not None:
            return known[1]
        match formula:
            case Not():
                found = self.free_slots(formula.body)
            case And() | Or():
                found = frozenset().union(*[self.free_slots(part) for part in formula.parts])
            case Quantified():
                found = self.free_slots(formula.body) - {v.slot for v in formula.variables}
            case Truth() | Atom() | Equal() | Compare() | Temporal():
                found = free_slots(formula)
            case _:
                assert_never(formula)
        self._free[id(formula)] = (formula, found)
        return found

    # -- functions ----------------------------------------------------------------------------------------------------

    def fresh_name(self) -> str:
        """A new function name."""
        self._count += 1
        return f"f{self._count}"

    def define(self, name: str, parameters: str, body: list[str]) -> None:
        """Queue a function definition."""
        self._pending.append(f"def {name}({parameters}):\n" + "\n".join([" " + line for line in body]))

    def define_once(self, parameters: str, body: list[str]) -> str:
        """The name of a function with this text, defined once however often a formula says the same."""
        text = (parameters, *body)
        name = self._texts.get(text)
        if name is None:
            name = self._texts[text] = self.fresh_name()
            self.define(name, parameters, body)
        return name

    def compile_function(self, name: str) -> Callable[..., Any]:
        """Compile what is queued and return one of the functions."""
        if self._pending:
            source = "\n".join(self._pending)
            self._pending = []
            self.sources.append(source)
            self._execute(source)
        function: Callable[..., Any] = self.namespace[name]
        return function

    def _execute(self, source: str) -> None:
        """Define the functions of a text, by code that tasks of one domain share.

        What differs from task to task without a difference in meaning, the numbers of functions, indexes and constants
        and the number of objects, becomes a name, so that a domain and its rules are compiled by Python once for many
        scenes. The names are bound in a namespace of the text's own.
        """
        values: dict[str, Any] = {}
        names: dict[str, str] = {}

        def renamed(found: re.Match[str]) -> str:
            text = found[0]
            known = names.get(text)
            if known is not None:
                return known
            if text[0] == "I":
                new = f"i{len(names)}"
                values[new] = int(text[2:-1])
                new = f"I[{new}]"
            elif text[0] in "fK":
                new = f"{text[0]}_{len(names)}"
                if text in self.namespace:
                    values[new] = self.namespace[text]
            else:
                new = "N"
                values[new] = self.object_count
            names[text] = new
            return new

        code, used = _compiled(re.sub(rf"\b(?:[fK]\d+\b|I\[\d+\]|{self.object_count}\b(?!\.))", renamed, source))
        values.update({name: self.namespace[name] for name in used if name not in values and name in self.namespace})
        exec(code, values)
        self.namespace.update({old: values[new] for old, new in names.items() if old[0] == "f" and new in values})

    def compile_condition(self, formula: Formula, parameters: Sequence[int]) -> Callable[..., bool]:
        """``f(S, F, *objects) -> bool`` for a formula whose free slots are among ``parameters``."""
        name = self.fresh_name()
        self.define(
            name, ", ".join(["S", "F", *[f"x{p}" for p in parameters]]), [f"return {self.condition_text(formula)}"]
        )
        return self.compile_function(name)

    def compile_bits(self, formulas: Sequence[tuple[int, Formula]], parameters: Sequence[int]) -> Callable[..., int]:
        """``f(S, F, *objects) -> int``: the numbers of the formulas that hold, as bits."""
        name = self.fresh_name()
        terms = [f"({1 << number} if {self.condition_text(formula)} else 0)" for number, formula in formulas]
        lines = [f"return {' + '.join(terms) or 0}"]
        self.define(name, ", ".join(["S", "F", *[f"x{p}" for p in parameters]]), lines)
        return self.compile_function(name)

    def define_guarded(self, formula: Formula) -> str:
        """The name of a function that says whether a formula is true, also where numbers in it are undefined."""
        slots = sorted(self.free_slots(formula))
        fast = self.compile_condition(formula, slots)
        name = self.fresh_name()

        def true(facts: list[set[int]], fluents: list[dict[int, Number]], *objects: int) -> bool:
            try:
                return fast(facts, fluents, *objects)
            except (KeyError, ZeroDivisionError):
                from plansafe.verifier.model.evaluation import Evaluator  # noqa: PLC0415 - it imports this module

                evaluator = Evaluator(self.task, facts, fluents)
                return evaluator.holds(formula, dict(zip(slots, objects, strict=True))) is True

        self.namespace[name] = true
        return name

    # -- names --------------------------------------------------------------------------------------------------------

    def domain_name(self, number: int) -> str:
        """The tuple of a domain's objects."""
        name = f"D{number}"
        self.namespace.setdefault(name, self.task.domains[number])
        return name

    def member_set_name(self, number: int) -> str:
        """The set of a domain's objects."""
        name = f"T{number}"
        self.namespace.setdefault(name, self.task.domain_sets[number])
        return name

    def contains_all_objects(self, domain: int) -> bool:
        """Whether a domain holds all objects, so that membership needs no test.

        Facts may break the declared types of their predicates (an effect on a variable of a wider type is legal), so a
        predicate's declaration proves nothing.
        """
        return len(self.task.domains[domain]) == len(self.task.objects)

    def constant_text(self, value: Number) -> str:
        """A numeric constant: small integers in place, others by name."""
        if isinstance(value, int) and abs(value) < 2**63:
            return str(value) if value >= 0 else f"({value})"
        name = f"K{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def code_text(self, arguments: Iterable[int]) -> str:
        """The code of a tuple of arguments."""
        text = ""
        constant = 0
        for argument in arguments:
            if text:
                text = f"({text})*{self.object_count}"
                term = str(argument) if argument >= 0 else f"x{-1 - argument}"
                text = text if term == "0" else f"{text}+{term}"
            elif argument >= 0:
                constant = constant * self.object_count + argument
            else:
                text = f"{constant * self.object_count}+x{-1 - argument}" if constant else f"x{-1 - argument}"
        return text or str(constant)

    # -- conditions ---------------------------------------------------------------------------------------------------

    def condition_text(self, formula: Formula, depth: int = 0) -> str:
        """A condition as a Python expression over ``S``, ``F`` and ``x<slot>``.

        Deep parts become functions of their own.
        """
        if depth > MAX_DEPTH:
            return self._outlined(formula)
        match formula:
            case Atom():
                return f"({self.code_text(formula.arguments)} in S[{formula.predicate}])"
            case Not():
                if isinstance(formula.body, Atom):
                    return f"({self.code_text(formula.body.arguments)} not in S[{formula.body.predicate}])"
                return f"(not {self.condition_text(formula.body, depth + 1)})"
            case And() | Or():
                if not formula.parts:
                    return str(isinstance(formula, And))
                word = " and " if isinstance(formula, And) else " or "
                parts = [self.condition_text(part, depth + 1) for part in formula.parts]
                if len(parts) > 500:
                    parts = [self._function_of(parts[i : i + 400], word, formula) for i in range(0, len(parts), 400)]
                return "(" + word.join(parts) + ")"
            case Equal():
                return f"({self.argument_text(formula.left)} == {self.argument_text(formula.right)})"
            case Compare():
                return (
                    f"({self.number_text(formula.left)} {_PYTHON[formula.operator]} {self.number_text(formula.right)})"
                )
            case Truth():
                return str(formula.value)
            case Quantified():
                return self._quantified(formula)
            case Temporal():
                raise AssertionError("not a state formula")
            case _:
                assert_never(formula)

    def argument_text(self, argument: int) -> str:
        """The code for an argument: a variable's name, or a constant's number."""
        return str(argument) if argument >= 0 else f"x{-1 - argument}"

    def _call(self, name: str, formula: Formula) -> str:
        return f"{name}({', '.join(['S', 'F', *[f'x{s}' for s in sorted(self.free_slots(formula))]])})"

    def _parameters(self, formula: Formula) -> str:
        return ", ".join(["S", "F", *[f"x{s}" for s in sorted(self.free_slots(formula))]])

    def _outlined(self, formula: Formula) -> str:
        text = self.condition_text(formula)
        return self._call(self.define_once(self._parameters(formula), [f"return {text}"]), formula)

    def _function_of(self, parts: list[str], word: str, formula: Formula) -> str:
        return self._call(self.define_once(self._parameters(formula), ["return " + word.join(parts)]), formula)

    def _quantified(self, formula: Quantified) -> str:
        """``exists`` as a join that returns at the first match; ``forall`` as no counterexample."""
        parameters = self.free_slots(formula)
        body: list[str] = []
        disjuncts = dnf(formula.body, not formula.universal)
        if disjuncts is None:
            disjuncts = [Disjunct((), (FormulaLiteral(not formula.universal, formula.body),))]
        for disjunct in disjuncts:
            join = Join(
                self, {v.slot: v.domain for v in (*formula.variables, *disjunct.variables)}, "S, F", indexed=False
            )
            body += join.emit(disjunct.literals, parameters, [], ["return True"])
        body.append("return False")
        call = self._call(self.define_once(self._parameters(formula), body), formula)
        return f"(not {call})" if formula.universal else call

    def number_text(self, expression: Expression, depth: int = 0) -> str:
        """A numeric expression; deep operands become functions of their own."""
        if depth > MAX_DEPTH:
            return self._outlined_number(expression)
        match expression:
            case model.Constant():
                return self.constant_text(expression.value)
            case model.Fluent():
                return f"F[{expression.function}][{self.code_text(expression.arguments)}]"
            case model.Arithmetic():
                operands = [self.number_text(operand, depth + 1) for operand in expression.operands]
                if expression.operator == "/":
                    text = operands[0]
                    for operand in operands[1:]:
                        text = f"divide({text}, {operand})"
                    return text
                if len(operands) == 1:
                    return f"(-{operands[0]})"
                return "(" + f" {expression.operator} ".join(operands) + ")"
            case model.Duration():
                return "duration"
            case model.TotalTime() | model.IsViolated():
                raise AssertionError("only metrics read this")
            case _:
                assert_never(expression)

    def _outlined_number(self, expression: Expression) -> str:
        arguments = [argument for fluent in expression_fluents(expression) for argument in fluent.arguments]
        names = ["S", "F", *[f"x{s}" for s in sorted({-1 - a for a in arguments if a < 0})]]
        text = self.number_text(expression)
        if "duration" in text:
            names.append("duration")
        parameters = ", ".join(names)
        return f"{self.define_once(parameters, [f'return {text}'])}({parameters})"

    def index_number(self, predicate: int, positions: tuple[int, ...]) -> int:
        """The number of the index of a predicate by some of its arguments."""
        key = predicate, positions
        self.requested_indexes.add(key)
        number = self.indexes.get(key)
        if number is None:
            number = self.indexes[key] = len(self.indexes)
            self._specs.append(key)
        return number

    def index_key(self, number: int) -> tuple[int, tuple[int, ...]]:
        """The predicate and the bound positions of an index."""
        return self._specs[number]

    @contextmanager
    def private_indexes(self) -> Iterator[None]:
        """Joins that are compiled inside make the indexes they ask for themselves: nobody else is to keep those."""
        before, self.requested_indexes = self.requested_indexes, set()
        try:
            yield
        finally:
            self.requested_indexes = before

    def argument_of_code(self, predicate: int, place: int, code: str = "c") -> str:
        """The argument at ``place`` of a code."""
        declared = (
            self.task.predicates[predicate]
            if predicate < len(self.task.predicates)
            else self.task.functions[predicate - len(self.task.predicates)]
        )
        power = self.object_count ** (len(declared.types) - 1 - place)
        if power == 1:
            return code if len(declared.types) == 1 else f"{code}%{self.object_count}"
        return f"{code}//{power}" if place == 0 else f"{code}//{power}%{self.object_count}"
