"""What the events of a timed plan may read and write, in whatever state: which of them may be taken in either order."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from plansafe.verifier.compile.normal import expression_fluents, reads
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.execution.timed import START, Event
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import Atom, Formula, Task, bind

Ground = tuple[int, int]
"""A predicate (or ``-1 - function``) with the code of its arguments."""
Binding = dict[int, int]


class Footprint(NamedTuple):
    """What an event may read and write; of predicates in ``behind``, any fact.

    ``writes``: fluents, ``True`` where they are increased or decreased alone.
    """

    reads: set[Ground]
    behind: set[int]
    adds: set[Ground]
    deletes: set[Ground]
    writes: dict[Ground, bool]

    @property
    def changes(self) -> set[Ground]:
        """All that may change."""
        return self.adds | self.deletes | self.writes.keys()


class Footprints:
    """Finds footprints in one task."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._direct: dict[int, set[int]] = {}
        for stratum in task.axioms:
            for axiom in stratum:
                found = self._direct.setdefault(axiom.predicate, set())
                found.update([r.predicate if isinstance(r, Atom) else -1 - r.function for r in reads(axiom.body)])

    def inputs_of(self, predicate: int) -> set[int]:
        """The basic predicates and fluents that a derived predicate depends on; none of one that is not derived."""
        seen = {predicate}
        stack = [predicate]
        while stack:
            new = self._direct.get(stack.pop(), set()) - seen
            seen |= new
            stack += new
        return {read for read in seen if read not in self._direct} if predicate in self._direct else set()

    def of(self, event: Event) -> Footprint:
        """The footprint of an event: its conditions, the constraints on its duration, and its effects."""
        out = Footprint(set(), set(), set(), set(), {})
        if event.literal is not None:
            literal = event.literal
            code = self.task.encode(literal.arguments)
            if literal.fluent:
                out.writes[-1 - literal.predicate, code] = False
            else:
                (out.adds if literal.value else out.deletes).add((literal.predicate, code))
            return out
        assert event.step is not None
        taken = event.step.taken
        if not isinstance(taken, GroundAction):
            return out
        action = taken.action
        binding = bind(action.parameters, taken.objects)
        for condition in event.snap.condition:
            self.read(condition, binding, out)
        for constraint in action.durations:
            if constraint.at_end == (event.kind != START):
                self._number(constraint.value, binding, out)
        if event.kind == START and action.end is not None:
            for effect in action.end.effects:
                for inner in self._bindings(effect.variables, binding):
                    self.read(effect.at_start, inner, out)
        for effect in event.snap.effects:
            for inner in self._bindings(effect.variables, binding):
                self._effect(effect, inner, out)
        return out

    def of_effects(self, event: Event) -> Footprint:
        """What the effects of an event depend on: nothing, unless they are conditional or compute with fluents."""
        out = Footprint(set(), set(), set(), set(), {})
        if event.step is not None and isinstance(event.step.taken, GroundAction):
            action = event.step.taken.action
            binding = bind(action.parameters, event.step.taken.objects)
            for effect in event.snap.effects:
                for inner in self._bindings(effect.variables, binding):
                    self.read(effect.condition, inner, out)
                    self.read(effect.at_start, inner, out)
                    for change in effect.assignments:
                        self._number(change.value, inner, out)
        return out

    def of_formulas(self, formulas: tuple[Formula, ...]) -> Footprint:
        """What ground formulas read."""
        out = Footprint(set(), set(), set(), set(), {})
        for formula in formulas:
            self.read(formula, {}, out)
        return out

    def over_all(self, event: Event) -> Footprint:
        """What the condition reads that must hold while the action of an event is under way."""
        out = Footprint(set(), set(), set(), set(), {})
        assert event.step is not None
        taken = event.step.taken
        if isinstance(taken, GroundAction):
            binding = taken.binding
            for condition in taken.action.over_all:
                self.read(condition, binding, out)
        return out

    def _bindings(self, variables: tuple[model.Variable, ...], binding: Binding) -> list[Binding]:
        slots = [v.slot for v in variables]
        domains = [self.task.domains[v.domain] for v in variables]
        return [{**binding, **dict(zip(slots, objects, strict=True))} for objects in product(*domains)]

    def _effect(self, effect: model.Effect, binding: Binding, out: Footprint) -> None:
        self.read(effect.condition, binding, out)
        out.adds.update([(a.predicate, self._code(a.arguments, binding)) for a in effect.adds])
        out.deletes.update([(a.predicate, self._code(a.arguments, binding)) for a in effect.deletes])
        for change in effect.assignments:
            key = (-1 - change.function, self._code(change.arguments, binding))
            out.writes[key] = out.writes.get(key, True) and change.operator in ("increase", "decrease")
            self._number(change.value, binding, out)

    def _code(self, arguments: tuple[int, ...], binding: Binding) -> int:
        return self.task.encode(tuple([a if a >= 0 else binding[-1 - a] for a in arguments]))

    def _number(self, expression: model.Expression, binding: Binding, out: Footprint) -> None:
        for fluent in expression_fluents(expression):
            out.reads.add((-1 - fluent.function, self._code(fluent.arguments, binding)))

    def read(self, formula: Formula, binding: Binding, out: Footprint) -> None:
        """Add what a state formula reads to ``out``."""
        match formula:
            case Atom():
                out.reads.add((formula.predicate, self._code(formula.arguments, binding)))
                out.behind.update(self.inputs_of(formula.predicate))
            case model.Compare():
                self._number(formula.left, binding, out)
                self._number(formula.right, binding, out)
            case model.Not():
                self.read(formula.body, binding, out)
            case model.And() | model.Or():
                for part in formula.parts:
                    self.read(part, binding, out)
            case model.Quantified():
                for inner in self._bindings(formula.variables, binding):
                    self.read(formula.body, inner, out)
            case _:
                pass


def touches(print_: Footprint, changes: set[Ground]) -> bool:
    """Whether changes may alter what a footprint reads."""
    return bool(print_.reads & changes) or any([item[0] in print_.behind for item in changes])


def clash(a: Footprint, b: Footprint) -> bool:
    """Whether the order of two events may matter to them: one reads what the other writes, or they write alike.

    Wherever two events interfere (language.md, section 3), this is true of them.
    """
    if touches(a, b.changes) or touches(b, a.changes) or a.adds & b.deletes or a.deletes & b.adds:
        return True
    return any([not (a.writes[key] and b.writes[key]) for key in a.writes.keys() & b.writes.keys()])
