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


class _Scan(NamedTuple):
    """A loop over facts or objects: its head, the tests of a match, and the assignments before the tests."""

    head: str
    tests: list[str]
    assignments: list[str]


class Join(NamedTuple):
    """Emits the loops that find all values of variables for which literals hold.

    ``parameters`` are the names that every function needs (``S, F`` or ``S, F, I, out``). With ``indexed`` the loops
    use indexes ``I``, except for the ``unindexed_predicates``. Otherwise they choose at run time between the facts of a
    predicate and the objects of a type, whichever are fewer. ``guarded``: literals about numbers are evaluated in three
    values. Variables without an entry in ``domains`` may have all objects; atoms must bind them.
    """

    emitter: CodeBuilder
    domains: dict[int, int]
    parameters: str
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
        """Return lines that run ``body`` for every match.

        Slots in ``bound`` have values; slots in ``outputs`` must get values.
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
        """Return the lines inside ``loops`` loops, for the literals that are not tested yet."""
        emitter = self.emitter
        ready = [literal for literal in literals if emitter.free_slots(literal.formula) <= bound]
        if ready:
            literals = [literal for literal in literals if not emitter.free_slots(literal.formula) <= bound]
            tests = [self._format_test(literal) for literal in sorted(ready, key=_rank_test)]
            return [
                f"if {' and '.join(tests)}:",
                *_indent(self._emit(literals, bound, outputs, body, loops)),
            ]
        for literal in literals:
            if literal.positive and isinstance(literal.formula, Equal):
                left, right = literal.formula
                target, value = (left, right) if left < 0 and -1 - left not in bound else (right, left)
                if value >= 0 or -1 - value in bound:
                    slot, value_code = -1 - target, emitter.format_argument(value)
                    remaining_literals = [candidate for candidate in literals if candidate is not literal]
                    inner_lines = self._emit(remaining_literals, bound | {slot}, outputs, body, loops)
                    return [  # the assignment is inside: effects merge blocks with the same first line
                        f"if {value_code} in {emitter.name_domain_set(self.domains[slot])}:",
                        f" x{slot} = {value_code}",
                        *_indent(inner_lines),
                    ]
        if loops >= MAX_LOOPS:
            return self._continue_in_function(literals, bound, outputs, body)
        atoms = [literal for literal in literals if literal.positive and isinstance(literal.formula, Atom)]
        if atoms:
            first = min(atoms, key=lambda literal: self._rank_scan(literal, bound))
            remaining_literals = [literal for literal in literals if literal is not first]
            return self._emit_scan(first, remaining_literals, bound, outputs, body, loops)
        unbound = [output for output in outputs if output not in bound]
        for literal in literals:
            unbound += [slot for slot in sorted(emitter.free_slots(literal.formula)) if slot not in bound]
        if unbound:
            slot = min(unbound, key=lambda candidate: len(emitter.task.domains[self.domains[candidate]]))
            inner_lines = self._emit(literals, bound | {slot}, outputs, body, loops + 1)
            return [f"for x{slot} in {emitter.name_domain_objects(self.domains[slot])}:", *_indent(inner_lines)]
        has_empty_domain = any([s not in bound and not emitter.task.domains[d] for s, d in self.domains.items()])
        return ["pass"] if has_empty_domain else body

    def _format_test(self, literal: FormulaLiteral) -> str:
        if self.guarded and has_comparison(literal.formula):
            formula = literal.formula if literal.positive else Not(literal.formula)
            name, slots = self.emitter.define_guarded_condition(formula), sorted(self.emitter.free_slots(formula))
            return f"{name}({self.emitter.format_state_parameters(slots)})"
        text = self.emitter.format_condition(literal.formula)
        return text if literal.positive else f"not {text}"

    def _rank_scan(self, literal: FormulaLiteral, bound: set[int]) -> tuple[int, int, int]:
        """Return a sort key of atoms: the first atom should be scanned first."""
        assert isinstance(literal.formula, Atom)
        predicate, arguments = literal.formula.predicate, literal.formula.arguments
        unbound = {argument for argument in arguments if argument < 0 and -1 - argument not in bound}
        has_bound_argument = any([argument not in unbound for argument in arguments])
        facts = self.emitter.task.initial_facts
        return (0 if has_bound_argument else 1, len(unbound), len(facts[predicate]) if predicate < len(facts) else 0)

    def _emit_scan(
        self,
        literal: FormulaLiteral,
        remaining_literals: list[FormulaLiteral],
        bound: set[int],
        outputs: list[int],
        body: list[str],
        loops: int,
    ) -> list[str]:
        """Return a loop over the facts or objects that match an atom, with the lines for the remaining literals."""
        atom = literal.formula
        assert isinstance(atom, Atom)
        unbound = [a for a in dict.fromkeys(atom.arguments) if a < 0 and -1 - a not in bound]
        is_indexed = self._is_indexed(atom.predicate) and (
            len(atom.arguments) > len(unbound) or -1 - unbound[0] not in self.domains
        )
        if len(unbound) == 1 and not is_indexed:
            scan = self._scan_one_variable(atom, unbound[0])
        else:
            scan = self._scan_facts(atom, unbound, f"c{loops}")
        lines = self._emit(
            remaining_literals, bound | {-1 - argument for argument in unbound}, outputs, body, loops + 1
        )
        if scan.tests:
            lines = [f"if {' and '.join(scan.tests)}:", *_indent(lines)]
        return [scan.head, *_indent(scan.assignments + lines)]

    def _is_indexed(self, predicate: int) -> bool:
        return self.indexed and predicate not in self.unindexed_predicates

    def _emit_argument_tests(self, atom: Atom, positions: Iterable[int], code: str) -> list[str]:
        emitter, predicate = self.emitter, atom.predicate
        arguments = [(emitter.format_argument_of_code(predicate, i, code), atom.arguments[i]) for i in positions]
        return [f"{text} == {emitter.format_argument(argument)}" for text, argument in arguments]

    def _scan_one_variable(self, atom: Atom, unbound: int) -> _Scan:
        """Return a loop over the facts or, if they are fewer, the objects for one variable."""
        emitter, predicate, slot = self.emitter, atom.predicate, -1 - unbound
        domain = self.domains[slot]
        place = atom.arguments.index(unbound)
        objects = emitter.name_domain_objects(domain)
        tests = self._emit_argument_tests(
            atom, [position for position, a in enumerate(atom.arguments) if a != unbound], "c"
        )
        condition = f" if {' and '.join(tests)}" if tests else ""
        values = f"{emitter.format_argument_of_code(predicate, place)} for c in S[{predicate}]{condition}"
        values = f"({values})" if tests else f"[{values}]"  # the first match often ends the search
        count = len(emitter.task.domains[domain])
        head = f"for x{slot} in ({objects} if len(S[{predicate}]) >= {count} else {values}):"
        fact_test = f"{emitter.format_fact_code(atom.arguments)} in S[{predicate}]"
        return _Scan(head, [fact_test, *self._emit_domain_test(slot)], [])

    def _scan_facts(self, atom: Atom, unbound: list[int], code: str) -> _Scan:
        """Return a loop over the facts of an atom, in variable ``code``."""
        emitter, predicate = self.emitter, atom.predicate
        bound_positions = tuple([position for position, a in enumerate(atom.arguments) if a not in unbound])
        tests: list[str] = []
        assignments: list[str] = []
        if bound_positions and self._is_indexed(predicate):
            key = emitter.format_fact_code([atom.arguments[position] for position in bound_positions])
            head = f"for {code} in I[{emitter.get_index_number(predicate, bound_positions)}].get({key}, E):"
        else:
            head = f"for {code} in S[{predicate}]:"
            tests = self._emit_argument_tests(atom, bound_positions, code)
        for argument in unbound:
            first, *repeated_positions = [position for position, a in enumerate(atom.arguments) if a == argument]
            slot = -1 - argument
            assignments.append(f"x{slot} = {emitter.format_argument_of_code(predicate, first, code)}")
            tests += self._emit_argument_tests(atom, repeated_positions, code)
            tests += self._emit_domain_test(slot)
        return _Scan(head, tests, assignments)

    def _emit_domain_test(self, slot: int) -> list[str]:
        domain = self.domains.get(slot)
        if domain is None or self.emitter.contains_all_objects(domain):
            return []
        return [f"x{slot} in {self.emitter.name_domain_set(domain)}"]

    def _continue_in_function(
        self, literals: list[FormulaLiteral], bound: set[int], outputs: list[int], body: list[str]
    ) -> list[str]:
        """Return a call of a function with the remaining loops: Python allows twenty nested loops."""
        parameters = self.parameters + "".join([f", x{slot}" for slot in sorted(bound)])
        function_lines = [*self._emit(literals, bound, outputs, body, 0), "return False"]
        call = f"{self.emitter.define_once(parameters, function_lines)}({parameters})"
        return [f"if {call}:", " return True"] if body == ["return True"] else [call]


def emit_argument_match(
    emitter: CodeBuilder, predicate: int, arguments: tuple[int, ...], domains: Mapping[int, int | None]
) -> tuple[list[str], frozenset[int]]:
    """Return lines that match ``code`` against arguments (returning on a mismatch), and the slots that they bind.

    Slots without an entry in ``domains`` belong to inner quantifiers and match anything; ``None``: all objects.
    """
    lines: list[str] = []
    bound: set[int] = set()
    for place, argument in enumerate(arguments):
        value = emitter.format_argument_of_code(predicate, place, "code")
        slot = -1 - argument
        if argument >= 0 or slot in bound:
            lines.append(f"if {value} != {emitter.format_argument(argument)}: return")
        elif slot in domains:
            bound.add(slot)
            lines.append(f"x{slot} = {value}")
            domain = domains[slot]
            if domain is not None and not emitter.contains_all_objects(domain):
                lines.append(f"if x{slot} not in {emitter.name_domain_set(domain)}: return")
    return lines, frozenset(bound)


def _rank_test(literal: FormulaLiteral) -> int:
    """Return a sort key of literals: the cheapest test first."""
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
