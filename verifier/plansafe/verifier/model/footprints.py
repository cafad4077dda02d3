"""What formulas, effects and ground actions may read and write, in whatever state.

Everything errs on the side of "may", and no kind of node is passed over. Effects of all alternatives of a ``oneof``
count.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import inf, prod
from typing import NamedTuple, assert_never

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
    Fluent,
    Formula,
    Not,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import atoms_and_fluents, expression_fluents

StateVariable = tuple[int, int]
"""What a state is made of, as in a log of changes: a predicate, or a function numbered after them, and a code."""


class Footprint(NamedTuple):
    """What may be read and written; of what is in ``behind``, any fact or fluent may be read.

    ``writes``: fluents, ``True`` where they are increased or decreased alone.
    """

    reads: set[StateVariable]
    unbounded_reads: set[int]
    adds: set[StateVariable]
    deletes: set[StateVariable]
    writes: dict[StateVariable, bool]

    @property
    def changes(self) -> set[StateVariable]:
        """All that may change."""
        return self.adds | self.deletes | self.writes.keys()


def empty_footprint() -> Footprint:
    """Nothing is read or written."""
    return Footprint(set(), set(), set(), set(), {})


def find_interference(one: Footprint, other: Footprint) -> StateVariable | None:
    """A fact or fluent over which two interfere (language.md, section 3).

    One reads what the other writes, or they write it in ways that do not commute.
    """
    for a, b in ((one, other), (other, one)):
        facts = b.adds | b.deletes
        found = (
            a.reads & facts
            or a.adds & b.deletes
            or {key for key in facts if key[0] in a.unbounded_reads}
            or {key for key in b.writes if key in a.reads or key[0] in a.unbounded_reads}
        )
        if found:
            return min(found)
    both = one.writes.keys() & other.writes.keys()
    return min([key for key in both if not (one.writes[key] and other.writes[key])], default=None)


class FootprintFinder:
    """Finds footprints in one task.

    Quantifiers are spelt out up to ``most`` instances of a formula; beyond that they read all facts of what they name.
    """

    def __init__(self, task: Task, most: float = inf) -> None:
        self.task = task
        self._most = most
        self._functions = len(task.predicates)

    # -- derived predicates -------------------------------------------------------------------------------------------

    @cached_property
    def _rules(self) -> dict[int, set[int]]:
        """What the axioms of each derived predicate read, not below quantifiers over nothing."""
        empty = frozenset([number for number, members in enumerate(self.task.domains) if not members])
        out: dict[int, set[int]] = {}
        for stratum in self.task.axioms:
            for axiom in stratum:
                read = [self.subject(read) for read in atoms_and_fluents(axiom.body, empty)]
                out.setdefault(axiom.predicate, set()).update(read)
        return out

    def derived_inputs(self, predicate: int) -> set[int]:
        """The basic predicates and functions that a derived predicate depends on; none of one that is not derived."""
        seen = {predicate}
        stack = [predicate]
        while stack:
            new = self._rules.get(stack.pop(), set()) - seen
            seen |= new
            stack += new
        return {read for read in seen if read not in self._rules} if predicate in self._rules else set()

    def subject(self, read: Atom | Fluent) -> int:
        """The predicate of an atom, or the number of a fluent's function after the predicates."""
        return read.predicate if isinstance(read, Atom) else self._functions + read.function

    # -- reading ------------------------------------------------------------------------------------------------------

    def add_reads(self, formulas: Iterable[Formula], binding: Binding, out: Footprint) -> None:
        """Add what formulas read to ``out``; of what has an argument that is not bound, all."""
        left = self._most
        stack = [(formula, binding) for formula in formulas]
        while stack:
            part, own = stack.pop()
            match part:
                case Atom():
                    self._one(part.predicate, part.arguments, own, out)
                    out.unbounded_reads.update(self.derived_inputs(part.predicate))
                case Compare():
                    self.add_fluent_reads(part.left, own, out)
                    self.add_fluent_reads(part.right, own, out)
                case Not():
                    stack.append((part.body, own))
                case And() | Or():
                    stack += [(inner, own) for inner in part.parts]
                case Temporal():
                    stack += [(inner, own) for inner in part.operands]
                case Quantified():
                    instances = prod([len(self.task.domains[v.domain]) for v in part.variables])
                    if instances > left:
                        stack.append((part.body, own))
                        continue
                    left -= instances
                    stack += [(part.body, inner) for inner in self.task.bindings(part.variables, own)]
                case Truth() | Equal():
                    pass
                case _:
                    assert_never(part)

    def add_fluent_reads(self, expression: Expression, binding: Binding, out: Footprint) -> None:
        """Add the fluents that an expression reads to ``out``."""
        for fluent in expression_fluents(expression):
            self._one(self.subject(fluent), fluent.arguments, binding, out)

    def _one(self, subject: int, arguments: ArgumentTuple, binding: Binding, out: Footprint) -> None:
        code = self.task.known_code(arguments, binding)
        if code is None:
            out.unbounded_reads.add(subject)
        else:
            out.reads.add((subject, code))

    # -- effects and actions ------------------------------------------------------------------------------------------

    def add_effect_reads(self, effect: Effect, binding: Binding, out: Footprint) -> None:
        """Add what decides a ground effect where it happens: its condition, and the numbers that it computes with."""
        self.add_reads((effect.condition,), binding, out)
        for change in effect.assignments:
            self.add_fluent_reads(change.value, binding, out)

    def add_writes(self, effect: Effect, binding: Binding, out: Footprint) -> None:
        """Add what a ground effect may write to ``out``."""
        code_of = self.task.code_of
        out.adds.update([(a.predicate, code_of(a.arguments, binding)) for a in effect.adds])
        out.deletes.update([(a.predicate, code_of(a.arguments, binding)) for a in effect.deletes])
        for change in effect.assignments:
            self.add_assignment(change.function, code_of(change.arguments, binding), change.operator, out)

    def add_assignment(self, function: int, code: int, operator: str, out: Footprint) -> None:
        """Add a change of a fluent to ``out``."""
        key = (self._functions + function, code)
        out.writes[key] = out.writes.get(key, True) and operator in ("increase", "decrease")

    def add_action_reads(self, action: Action, binding: Binding, end: bool, out: Footprint) -> None:
        """Add what decides an instantaneous action, or the start or the end of a durative one.

        Its conditions, the constraints on its duration, and what decides its effects. Conditions at the start that
        effects of the end depend on are read at the start.
        """
        snap = action.end if end else action.start
        assert snap is not None
        self.add_reads(snap.condition, binding, out)
        for constraint in action.durations:
            if constraint.at_end == end:
                self.add_fluent_reads(constraint.value, binding, out)
        if not end and action.end is not None:
            for effect in action.end.effects:
                for inner in self.task.bindings(effect.variables, binding):
                    self.add_reads((effect.at_start,), inner, out)
        for effect in snap.effects:
            for inner in self.task.bindings(effect.variables, binding):
                self.add_effect_reads(effect, inner, out)

    def of_action(self, action: Action, binding: Binding, end: bool = False) -> Footprint:
        """An instantaneous action, or the start or the end of a durative one."""
        out = empty_footprint()
        self.add_action_reads(action, binding, end, out)
        snap = action.end if end else action.start
        for effect in () if snap is None else snap.effects:
            for inner in self.task.bindings(effect.variables, binding):
                self.add_writes(effect, inner, out)
        return out
