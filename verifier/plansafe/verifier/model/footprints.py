"""The facts and fluents that formulas, effects and ground actions may read and write, in any state.

The results are upper bounds, and include all alternatives of a ``oneof``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import inf, prod
from typing import assert_never

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.model.nodes import (
    Action,
    And,
    ArgumentTuple,
    Atom,
    Binding,
    Compare,
    Effect,
    Equal,
    Expression,
    Formula,
    Not,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import children, expression_fluents, find_atoms_and_fluents

StateVariable = tuple[int, int]
"""A predicate, or a function numbered after the predicates, and a code, as in a log of changes."""


class Footprint(NamedTuple):
    """The state variables that may be read and written.

    Any fact or fluent of the predicates and functions in ``unbounded_reads`` may be read. ``writes`` are the fluents:
    true if they are only increased or decreased.
    """

    reads: set[StateVariable]
    unbounded_reads: set[int]
    adds: set[StateVariable]
    deletes: set[StateVariable]
    writes: dict[StateVariable, bool]

    @property
    def changes(self) -> set[StateVariable]:
        """The state variables that may change."""
        return self.adds | self.deletes | self.writes.keys()


def make_empty_footprint() -> Footprint:
    """Make a footprint to which reads and writes are added."""
    return Footprint(set(), set(), set(), set(), {})


def find_interference(first: Footprint, second: Footprint) -> StateVariable | None:
    """Return a state variable over which two footprints interfere (language.md, section 3); ``None`` without one.

    One reads what the other writes, or they write it in ways that do not commute.
    """
    for reader, writer in ((first, second), (second, first)):
        changed_facts = writer.adds | writer.deletes
        shared = (
            reader.reads & changed_facts
            or reader.adds & writer.deletes
            or {key for key in changed_facts if key[0] in reader.unbounded_reads}
            or {key for key in writer.writes if key in reader.reads or key[0] in reader.unbounded_reads}
        )
        if shared:
            return min(shared)
    shared_fluents = first.writes.keys() & second.writes.keys()
    return min([key for key in shared_fluents if not (first.writes[key] and second.writes[key])], default=None)


class FootprintFinder:
    """Finds footprints in one task.

    Quantifiers are instantiated up to ``max_instances`` instances of a formula; beyond that their reads are unbounded.
    """

    def __init__(self, task: Task, max_instances: float = inf) -> None:
        self.task = task
        self._max_instances = max_instances
        self._function_offset = len(task.predicates)

    # -- derived predicates -------------------------------------------------------------------------------------------

    @cached_property
    def _axiom_reads(self) -> dict[int, set[int]]:
        """The predicates and functions that the axioms of each derived predicate read, except in empty quantifiers."""
        empty = frozenset([number for number, members in enumerate(self.task.domains) if not members])
        axiom_reads: dict[int, set[int]] = {}
        for axiom in [axiom for stratum in self.task.axioms for axiom in stratum]:
            symbol_indexes = [self.task.find_symbol_index(read) for read in find_atoms_and_fluents(axiom.body, empty)]
            axiom_reads.setdefault(axiom.predicate, set()).update(symbol_indexes)
        return axiom_reads

    def find_derived_inputs(self, predicate: int) -> set[int]:
        """Return the basic predicates and functions on which a derived predicate depends; none for other predicates."""
        axiom_reads = self._axiom_reads
        if predicate not in axiom_reads:
            return set()
        reached = {predicate}
        stack = [predicate]
        while stack:
            unvisited = axiom_reads.get(stack.pop(), set()) - reached
            reached |= unvisited
            stack += unvisited
        return reached - axiom_reads.keys()

    # -- reading ------------------------------------------------------------------------------------------------------

    def add_reads(self, formulas: Iterable[Formula], binding: Binding, footprint: Footprint) -> None:
        """Add what formulas read; atoms and fluents with an unbound argument are unbounded reads."""
        remaining_instances = self._max_instances
        stack = [(formula, binding) for formula in formulas]
        while stack:
            part, part_binding = stack.pop()
            match part:
                case Atom():
                    self._add_read(part.predicate, part.arguments, part_binding, footprint)
                    footprint.unbounded_reads.update(self.find_derived_inputs(part.predicate))
                case Compare():
                    self.add_fluent_reads(part.left, part_binding, footprint)
                    self.add_fluent_reads(part.right, part_binding, footprint)
                case Quantified():
                    instances = prod([len(self.task.domains[v.domain]) for v in part.variables])
                    if instances > remaining_instances:
                        stack.append((part.body, part_binding))
                        continue
                    remaining_instances -= instances
                    stack += [
                        (part.body, full_binding) for full_binding in self.task.bindings(part.variables, part_binding)
                    ]
                case Not() | And() | Or() | Temporal() | Truth() | Equal():
                    stack += [(inner, part_binding) for inner in children(part)]
                case _:
                    assert_never(part)

    def add_fluent_reads(self, expression: Expression, binding: Binding, footprint: Footprint) -> None:
        """Add the fluents that an expression reads."""
        for fluent in expression_fluents(expression):
            self._add_read(self.task.find_symbol_index(fluent), fluent.arguments, binding, footprint)

    def _add_read(self, symbol_index: int, arguments: ArgumentTuple, binding: Binding, footprint: Footprint) -> None:
        code = self.task.known_code(arguments, binding)
        if code is None:
            footprint.unbounded_reads.add(symbol_index)
        else:
            footprint.reads.add((symbol_index, code))

    # -- effects and actions ------------------------------------------------------------------------------------------

    def add_effect_reads(self, effect: Effect, binding: Binding, footprint: Footprint) -> None:
        """Add the reads of a ground effect: its condition, and the fluents in the values that it assigns."""
        self.add_reads((effect.condition,), binding, footprint)
        for assignment in effect.assignments:
            self.add_fluent_reads(assignment.value, binding, footprint)

    def add_writes(self, effect: Effect, binding: Binding, footprint: Footprint) -> None:
        """Add what a ground effect may write."""
        code_of = self.task.code_of
        footprint.adds.update([(atom.predicate, code_of(atom.arguments, binding)) for atom in effect.adds])
        footprint.deletes.update([(atom.predicate, code_of(atom.arguments, binding)) for atom in effect.deletes])
        for assignment in effect.assignments:
            code = code_of(assignment.arguments, binding)
            self.add_assignment(assignment.function, code, assignment.operator, footprint)

    def add_assignment(self, function: int, code: int, operator: str, footprint: Footprint) -> None:
        """Add a change of a fluent."""
        key = (self._function_offset + function, code)
        footprint.writes[key] = footprint.writes.get(key, True) and operator in ("increase", "decrease")

    def add_action_reads(self, action: Action, binding: Binding, end: bool, footprint: Footprint) -> None:
        """Add the reads of an instantaneous action, or of the start or the end of a durative one.

        These are its conditions, the constraints on its duration, and the reads of its effects. Conditions at the start
        on which effects at the end depend are read at the start.
        """
        snap = action.end if end else action.start
        assert snap is not None
        self.add_reads(snap.condition, binding, footprint)
        for constraint in action.durations:
            if constraint.at_end == end:
                self.add_fluent_reads(constraint.value, binding, footprint)
        if not end and action.end is not None:
            for effect in action.end.effects:
                for full_binding in self.task.bindings(effect.variables, binding):
                    self.add_reads((effect.at_start,), full_binding, footprint)
        for effect in snap.effects:
            for full_binding in self.task.bindings(effect.variables, binding):
                self.add_effect_reads(effect, full_binding, footprint)

    def find_action_footprint(self, action: Action, binding: Binding, end: bool = False) -> Footprint:
        """Return the footprint of an instantaneous action, or of the start or the end of a durative one."""
        footprint = make_empty_footprint()
        self.add_action_reads(action, binding, end, footprint)
        snap = action.end if end else action.start
        for effect in () if snap is None else snap.effects:
            for full_binding in self.task.bindings(effect.variables, binding):
                self.add_writes(effect, full_binding, footprint)
        return footprint
