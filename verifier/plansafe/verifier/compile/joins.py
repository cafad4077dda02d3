"""Joins as nested loops: the search for all bindings under which literals hold, as generated Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.compile.code_builder import CodeBuilder
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

MAX_LOOPS = 12
"""Maximum number of nested loops in one compiled function."""


class Join(NamedTuple):
    """Emits the loops that find all values of variables for which literals hold.

    ``context`` are the names that every function needs (``S, F`` or ``S, F, I, out``). With ``indexed`` the loops use
    indexes ``I``, except for the ``unindexed_predicates``. Otherwise they choose at run time between the facts of a
    predicate and the objects of a type, whichever are fewer. ``guarded``: literals about numbers are evaluated in three
    values. Variables without an entry in ``domains`` may have all objects; atoms must bind them.
    """

    emitter: CodeBuilder
    domains: dict[int, int]
    context: str
    indexed: bool
    guarded: bool = False
    unindexed_predicates: frozenset[int] = frozenset()

    def emit(
        self,
        literals: Sequence[FormulaLiteral],
        bound: frozenset[int],
        outputs: Sequence[int],
        body: list[str],
    ) -> list[str]:
        """Lines that run ``body`` for every match.

        Slots in ``bound`` have values; those of ``outputs`` must get one.
        """
        return self._emit(list(literals), set(bound), list(outputs), body, 0)

    def _emit(
        self,
        literals: list[FormulaLiteral],
        bound: set[int],
        outputs: list[int],
        body: list[str],
        loops: int,
    ) -> list[str]:
        emitter = self.emitter
        ready = [literal for literal in literals if emitter.free_slots(literal.formula) <= bound]
        if ready:
            literals = [literal for literal in literals if not emitter.free_slots(literal.formula) <= bound]
            tests = [self._test_text(literal) for literal in sorted(ready, key=_test_cost)]
            return [
                f"if {' and '.join(tests)}:",
                *_indent(self._emit(literals, bound, outputs, body, loops)),
            ]
        for literal in literals:
            if literal.positive and isinstance(literal.formula, Equal):
                left, right = literal.formula
                target, value = (left, right) if left < 0 and -1 - left not in bound else (right, left)
                if value >= 0 or -1 - value in bound:
                    slot, value_text = -1 - target, emitter.argument_text(value)
                    remaining = [
                        remaining_literal for remaining_literal in literals if remaining_literal is not literal
                    ]
                    scan_lines = self._emit(remaining, bound | {slot}, outputs, body, loops)
                    return [  # the assignment is inside: blocks with the same head may be merged (`_gathered`)
                        f"if {value_text} in {emitter.member_set_name(self.domains[slot])}:",
                        f" x{slot} = {value_text}",
                        *_indent(scan_lines),
                    ]
        if loops >= MAX_LOOPS:
            return self._continue_in_function(literals, bound, outputs, body)
        atoms = [literal for literal in literals if literal.positive and isinstance(literal.formula, Atom)]
        if atoms:
            first = min(atoms, key=lambda literal: self._scan_rank(literal, bound))
            remaining = [literal for literal in literals if literal is not first]
            return self._emit_scan(first, remaining, bound, outputs, body, loops)
        unbound = [output for output in outputs if output not in bound]
        for literal in literals:
            unbound += [slot for slot in sorted(emitter.free_slots(literal.formula)) if slot not in bound]
        if unbound:
            slot = min(unbound, key=lambda candidate: len(emitter.task.domains[self.domains[candidate]]))
            scan_lines = self._emit(literals, bound | {slot}, outputs, body, loops + 1)
            return [f"for x{slot} in {emitter.domain_name(self.domains[slot])}:", *_indent(scan_lines)]
        has_empty_domain = any([s not in bound and not emitter.task.domains[d] for s, d in self.domains.items()])
        return ["pass"] if has_empty_domain else body

    def _test_text(self, literal: FormulaLiteral) -> str:
        if self.guarded and has_comparison(literal.formula):
            formula = literal.formula if literal.positive else Not(literal.formula)
            name, slots = self.emitter.define_guarded(formula), sorted(self.emitter.free_slots(formula))
            return f"{name}({self.emitter.state_parameters_text(slots)})"
        text = self.emitter.condition_text(literal.formula)
        return text if literal.positive else f"not {text}"

    def _scan_rank(self, literal: FormulaLiteral, bound: set[int]) -> tuple[int, int, int]:
        """The smaller, the earlier an atom should be scanned."""
        assert isinstance(literal.formula, Atom)
        predicate, arguments = literal.formula.predicate, literal.formula.arguments
        unbound = {argument for argument in arguments if argument < 0 and -1 - argument not in bound}
        has_bound = any([argument not in unbound for argument in arguments])
        facts = self.emitter.task.initial_facts
        return (0 if has_bound else 1, len(unbound), len(facts[predicate]) if predicate < len(facts) else 0)

    def _emit_scan(
        self,
        literal: FormulaLiteral,
        remaining: list[FormulaLiteral],
        bound: set[int],
        outputs: list[int],
        body: list[str],
        loops: int,
    ) -> list[str]:
        """A loop over the facts or objects that match an atom, and the lines for the remaining literals in it."""
        atom = literal.formula
        assert isinstance(atom, Atom)
        unbound = [a for a in dict.fromkeys(atom.arguments) if a < 0 and -1 - a not in bound]
        is_indexed = self._is_indexed(atom.predicate) and (
            len(atom.arguments) > len(unbound) or -1 - unbound[0] not in self.domains
        )
        if len(unbound) == 1 and not is_indexed:
            head, tests, assignments = self._scan_one_variable(atom, unbound[0])
        else:
            head, tests, assignments = self._scan_facts(atom, unbound, f"c{loops}")
        lines = self._emit(remaining, bound | {-1 - argument for argument in unbound}, outputs, body, loops + 1)
        if tests:
            lines = [f"if {' and '.join(tests)}:", *_indent(lines)]
        return [head, *_indent(assignments + lines)]

    def _is_indexed(self, predicate: int) -> bool:
        return self.indexed and predicate not in self.unindexed_predicates

    def _emit_argument_tests(self, atom: Atom, positions: Iterable[int], code: str) -> list[str]:
        emitter, predicate = self.emitter, atom.predicate
        arguments = [(emitter.argument_of_code(predicate, i, code), atom.arguments[i]) for i in positions]
        return [f"{text} == {emitter.argument_text(argument)}" for text, argument in arguments]

    def _scan_one_variable(self, atom: Atom, unbound: int) -> tuple[str, list[str], list[str]]:
        """The head of a loop over the facts or, if fewer, the objects for one variable; its tests and assignments."""
        emitter, predicate, slot = self.emitter, atom.predicate, -1 - unbound
        domain = self.domains[slot]
        place = atom.arguments.index(unbound)
        objects = emitter.domain_name(domain)
        tests = self._emit_argument_tests(
            atom, [position for position, a in enumerate(atom.arguments) if a != unbound], "c"
        )
        condition = f" if {' and '.join(tests)}" if tests else ""
        scan = f"{emitter.argument_of_code(predicate, place)} for c in S[{predicate}]{condition}"
        scan = f"({scan})" if tests else f"[{scan}]"  # the first match often ends the search
        count = len(emitter.task.domains[domain])
        head = f"for x{slot} in ({objects} if len(S[{predicate}]) >= {count} else {scan}):"
        return head, [f"{emitter.fact_code_text(atom.arguments)} in S[{predicate}]", *self._emit_domain_test(slot)], []

    def _scan_facts(self, atom: Atom, unbound: list[int], code: str) -> tuple[str, list[str], list[str]]:
        """The head of a loop over the facts of an atom, in variable ``code``; its tests and assignments."""
        emitter, predicate = self.emitter, atom.predicate
        bound_positions = tuple([position for position, a in enumerate(atom.arguments) if a not in unbound])
        tests: list[str] = []
        assignments: list[str] = []
        if bound_positions and self._is_indexed(predicate):
            key = emitter.fact_code_text([atom.arguments[position] for position in bound_positions])
            head = f"for {code} in I[{emitter.number_index(predicate, bound_positions)}].get({key}, E):"
        else:
            head = f"for {code} in S[{predicate}]:"
            tests = self._emit_argument_tests(atom, bound_positions, code)
        for argument in unbound:
            first, *repeated = [position for position, a in enumerate(atom.arguments) if a == argument]
            slot = -1 - argument
            assignments.append(f"x{slot} = {emitter.argument_of_code(predicate, first, code)}")
            tests += self._emit_argument_tests(atom, repeated, code)
            tests += self._emit_domain_test(slot)
        return head, tests, assignments

    def _emit_domain_test(self, slot: int) -> list[str]:
        domain = self.domains.get(slot)
        if domain is None or self.emitter.contains_all_objects(domain):
            return []
        return [f"x{slot} in {self.emitter.member_set_name(domain)}"]

    def _continue_in_function(
        self, literals: list[FormulaLiteral], bound: set[int], outputs: list[int], body: list[str]
    ) -> list[str]:
        """A call of a function with the remaining loops: Python allows twenty nested loops."""
        parameters = self.context + "".join([f", x{slot}" for slot in sorted(bound)])
        function_lines = [*self._emit(literals, bound, outputs, body, 0), "return False"]
        call = f"{self.emitter.define_once(parameters, function_lines)}({parameters})"
        return [f"if {call}:", " return True"] if body == ["return True"] else [call]


def emit_argument_match(
    emitter: CodeBuilder, predicate: int, arguments: tuple[int, ...], domains: Mapping[int, int | None]
) -> tuple[list[str], frozenset[int]]:
    """Lines that match ``code`` against arguments (returning on a mismatch), and the slots that they bind.

    Slots without an entry in ``domains`` belong to inner quantifiers and match anything; ``None``: all objects.
    """
    lines: list[str] = []
    bound: set[int] = set()
    for place, argument in enumerate(arguments):
        value = emitter.argument_of_code(predicate, place, "code")
        slot = -1 - argument
        if argument >= 0 or slot in bound:
            lines.append(f"if {value} != {emitter.argument_text(argument)}: return")
        elif slot in domains:
            bound.add(slot)
            lines.append(f"x{slot} = {value}")
            domain = domains[slot]
            if domain is not None and not emitter.contains_all_objects(domain):
                lines.append(f"if x{slot} not in {emitter.member_set_name(domain)}: return")
    return lines, frozenset(bound)


def _test_cost(literal: FormulaLiteral) -> int:
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
