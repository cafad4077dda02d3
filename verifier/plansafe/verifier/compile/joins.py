"""Joins as nested loops: the search for all bindings under which literals hold, as generated Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from plansafe.verifier.compile.normal_forms import FormulaLiteral
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Compare,
    Equal,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import has_comparison

if TYPE_CHECKING:
    from plansafe.verifier.compile.emitter import Emitter

MAX_LOOPS = 12


class Join:
    """Emits the loops that find all values of variables for which literals hold.

    ``context`` are the names that every function needs (``S, F`` or ``S, F, I, out``). With ``indexed`` the loops use
    indexes ``I``, else they choose at run time between the facts of a predicate and the objects of a type, whichever
    are fewer.
    """

    def __init__(
        self,
        emitter: Emitter,
        domains: dict[int, int],
        context: str,
        *,
        indexed: bool,
        guarded: bool = False,
        unindexed: frozenset[int] = frozenset(),
    ) -> None:
        self.emitter = emitter
        self.domains = domains
        self.context = context
        self.indexed = indexed
        self.guarded = guarded
        self.unindexed = unindexed

    def emit(
        self, literals: Sequence[FormulaLiteral], bound: frozenset[int], outputs: Sequence[int], inner: list[str]
    ) -> list[str]:
        """Lines that run ``inner`` for every match.

        Slots in ``bound`` have values; those of ``outputs`` must get one.
        """
        return self._emit(list(literals), set(bound), list(outputs), inner, 0)

    def _emit(
        self, rest: list[FormulaLiteral], bound: set[int], outputs: list[int], inner: list[str], loops: int
    ) -> list[str]:
        emitter = self.emitter
        ready = [literal for literal in rest if emitter.free_slots(literal.formula) <= bound]
        if ready:
            rest = [literal for literal in rest if not emitter.free_slots(literal.formula) <= bound]
            ready.sort(key=_cost)
            tests = [self._test(literal) for literal in ready]
            return [f"if {' and '.join(tests)}:", *_indent(self._emit(rest, bound, outputs, inner, loops))]
        for literal in rest:
            if literal.positive and isinstance(literal.formula, Equal):
                left, right = literal.formula
                target, value = (left, right) if left < 0 and -1 - left not in bound else (right, left)
                if value >= 0 or -1 - value in bound:
                    slot = -1 - target
                    others = [other for other in rest if other is not literal]
                    value_text = str(value) if value >= 0 else f"x{-1 - value}"
                    body = self._emit(others, bound | {slot}, outputs, inner, loops)
                    return [  # the assignment is inside: blocks with one head may be merged (`_merge_blocks`)
                        f"if {value_text} in {emitter.member_set_name(self.domains[slot])}:",
                        f" x{slot} = {value_text}",
                        *_indent(body),
                    ]
        if loops >= MAX_LOOPS:
            return self._continued(rest, bound, outputs, inner)
        atoms = [literal for literal in rest if literal.positive and isinstance(literal.formula, Atom)]
        if atoms:
            chosen = min(atoms, key=lambda literal: self._rank(literal, bound))
            return self._scan(chosen, [other for other in rest if other is not chosen], bound, outputs, inner, loops)
        open_slots = [s for s in outputs if s not in bound]
        for literal in rest:
            open_slots += [s for s in sorted(emitter.free_slots(literal.formula)) if s not in bound]
        if open_slots:
            slot = min(open_slots, key=lambda s: len(emitter.task.domains[self.domains[s]]))
            body = self._emit(rest, bound | {slot}, outputs, inner, loops + 1)
            return [f"for x{slot} in {emitter.domain_name(self.domains[slot])}:", *_indent(body)]
        idle = [s for s in self.domains if s not in bound and not self.emitter.task.domains[self.domains[s]]]
        return ["pass"] if idle else inner

    def _test(self, literal: FormulaLiteral) -> str:
        if self.guarded and has_comparison(literal.formula):
            formula = literal.formula if literal.positive else Not(literal.formula)
            name, slots = self.emitter.define_guarded(formula), sorted(self.emitter.free_slots(formula))
            return f"{name}({', '.join(['S', 'F', *[f'x{s}' for s in slots]])})"
        text = self.emitter.condition_text(literal.formula)
        return text if literal.positive else f"not {text}"

    def _rank(self, literal: FormulaLiteral, bound: set[int]) -> tuple[int, int, int]:
        assert isinstance(literal.formula, Atom)
        arguments = literal.formula.arguments
        unbound = {a for a in arguments if a < 0 and -1 - a not in bound}
        known = len(arguments) - len([a for a in arguments if a in unbound])
        facts = self.emitter.task.initial_facts
        size = len(facts[literal.formula.predicate]) if literal.formula.predicate < len(facts) else 0
        return (0 if known else 1, len(unbound), size)

    def _scan(
        self,
        literal: FormulaLiteral,
        rest: list[FormulaLiteral],
        bound: set[int],
        outputs: list[int],
        inner: list[str],
        loops: int,
    ) -> list[str]:
        atom = literal.formula
        assert isinstance(atom, Atom)
        emitter, predicate = self.emitter, atom.predicate
        indexed = self.indexed and predicate not in self.unindexed
        unbound = [a for a in dict.fromkeys(atom.arguments) if a < 0 and -1 - a not in bound]
        known = tuple([i for i, a in enumerate(atom.arguments) if a not in unbound])
        c = f"c{loops}"
        tests: list[str] = []
        assigned: list[str] = []
        if len(unbound) == 1 and not indexed:
            slot = -1 - unbound[0]
            place = atom.arguments.index(unbound[0])
            domain = self.domains[slot]
            fewer = len(emitter.task.domains[domain])
            there = [
                f"{emitter.argument_of_code(predicate, i)} == {emitter.argument_text(atom.arguments[i])}" for i in known
            ]
            only = f" if {' and '.join(there)}" if there else ""
            scan = f"[{emitter.argument_of_code(predicate, place)} for c in S[{predicate}]{only}]"
            lines = [f"for x{slot} in ({emitter.domain_name(domain)} if len(S[{predicate}]) >= {fewer} else {scan}):"]
            tests = [f"{emitter.code_text(atom.arguments)} in S[{predicate}]"]
            if not emitter.contains_all_objects(domain):
                tests.append(f"x{slot} in {emitter.member_set_name(domain)}")
        else:
            if known and indexed:
                key = emitter.code_text([atom.arguments[i] for i in known])
                lines = [f"for {c} in I[{emitter.index_number(predicate, known)}].get({key}, E):"]
            else:
                lines = [f"for {c} in S[{predicate}]:"]
                tests = [
                    f"{emitter.argument_of_code(predicate, i, c)} == {emitter.argument_text(atom.arguments[i])}"
                    for i in known
                ]
            for argument in unbound:
                places = [i for i, a in enumerate(atom.arguments) if a == argument]
                slot = -1 - argument
                assigned.append(f"x{slot} = {emitter.argument_of_code(predicate, places[0], c)}")
                tests += [f"{emitter.argument_of_code(predicate, i, c)} == x{slot}" for i in places[1:]]
                if not emitter.contains_all_objects(self.domains[slot]):
                    tests.append(f"x{slot} in {emitter.member_set_name(self.domains[slot])}")
        body = self._emit(rest, bound | {-1 - a for a in unbound}, outputs, inner, loops + 1)
        if tests:
            body = [f"if {' and '.join(tests)}:", *_indent(body)]
        return lines + _indent(assigned + body)

    def _continued(
        self, rest: list[FormulaLiteral], bound: set[int], outputs: list[int], inner: list[str]
    ) -> list[str]:
        """Python allows twenty nested loops: the rest becomes a function of its own."""
        variables = "".join([f", x{s}" for s in sorted(bound)])
        body = [*self._emit(rest, bound, outputs, inner, 0), "return False"]
        name = self.emitter.define_once(self.context + variables, body)
        call = f"{name}({self.context}{variables})"
        return [f"if {call}:", " return True"] if inner == ["return True"] else [call]


def _cost(literal: FormulaLiteral) -> int:
    match literal.formula:
        case Equal() | Truth():
            return 0
        case Atom():
            return 1
        case Compare():
            return 2
        case Not() | And() | Or() | Quantified() | Temporal():
            return 3
        case _:
            assert_never(literal.formula)


def _indent(lines: list[str]) -> list[str]:
    return [" " + line for line in lines]
