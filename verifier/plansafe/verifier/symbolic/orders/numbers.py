"""Numbers at the moments of an order.

Where steps add amounts to a fluent, or give it values, that depend on no number that changes, it has at a moment the
value that was assigned last, or the one of S0, and all amounts added since. Of other fluents the value at a moment is a
variable of the solver's, equal by definition to what the last step before the moment that changes it makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import TRUE, Literal
from plansafe.verifier.symbolic.circuits.terms import Atom, Comparison, Sum
from plansafe.verifier.symbolic.orders.partial_order import END, bit_numbers
from plansafe.verifier.symbolic.orders.template import Fact, Timeline, TimePoint


class _Entangled(Exception):
    """A step changes a number by an amount that depends on numbers that change."""


class NumericEffect(NamedTuple):
    """A step assigns ``amount`` to a fluent, where ``condition`` holds, or adds it."""

    condition: Literal
    assigned: bool
    amount: Sum


class AtMoments(NamedTuple):
    """How literals of the template that sums depend on are read at a moment."""

    varies: Callable[[Literal], bool]
    at: Callable[[Literal, TimePoint], Literal]
    fires: Callable[[Literal, int], Literal]


class Numbers:
    """Sums of the template at moments of an order. Methods raise ``TooHard`` and ``NumberTooLarge``."""

    def __init__(self, timeline: Timeline, literals: AtMoments) -> None:
        self.timeline = timeline
        self._at_moments = literals
        self._varies: dict[Sum, bool] = {}
        self._changes: dict[Fact, dict[int, NumericEffect]] = {}
        self._values: dict[tuple[Fact, TimePoint], Sum] = {}
        self._base = len(timeline.template.task.functions)  # variables are numbered as if they were fluents, past these
        self._variables: list[tuple[Fact, TimePoint]] = []
        self._definitions: dict[int, Literal] = {}

    def varies(self, total: Sum) -> bool:
        """Whether a sum of the template depends on the moment."""
        found = self._varies.get(total)
        if found is None:
            found = any([atom[0] == "here" for atom in _atoms(total)])
            found = found or any([self._at_moments.varies(literal) for literal in _literals(total)])
            self._varies[total] = found
        return found

    def literals(self, comparison: object) -> list[Literal]:
        """The literals that a comparison depends on."""
        assert isinstance(comparison, Comparison)
        return list(_literals(comparison.sum))

    def fluents(self, total: Sum) -> set[Fact]:
        """The fluents that a sum of the template reads at its moment."""
        out = set()
        for atom in _atoms(total):
            if atom[0] == "here":
                _, function, code = atom
                assert isinstance(function, int) and isinstance(code, int)
                out.add((function, code))
        return out

    def at(self, total: Sum, moment: TimePoint) -> Sum:
        """A sum of the template at a moment."""
        return self._mapped(total, moment, early=False)

    def _mapped(self, total: Sum, moment: TimePoint, early: bool) -> Sum:
        """``early``: the sum is read by a step's effect, where conditions are inputs with a definition."""
        out = Sum(total.constant)
        for atom, factor in total.weighted_atoms:
            out = terms.add(out, self._atom(atom, moment, early), factor)
        return out

    def _atom(self, atom: Atom, moment: TimePoint, early: bool) -> Sum:
        kind = atom[0]
        if kind == "here":
            _, function, code = atom
            assert isinstance(function, int) and isinstance(code, int)
            return self._value((function, code), moment)
        if kind == "value":
            return Sum(0, ((atom, 1),))
        if kind in ("indicator", "choice"):
            literal = atom[1]
            assert isinstance(literal, int)
            condition = self._at_moments.fires(literal, moment) if early else self._at_moments.at(literal, moment)
            if kind == "indicator":
                return terms.select(condition, Sum(1), Sum(0))
            then, otherwise = [self._mapped(part, moment, early) for part in _parts(atom)]
            return terms.select(condition, then, otherwise)
        left, right = [self._mapped(part, moment, early) for part in _parts(atom)]
        return terms.multiply(left, right) if kind == "product" else terms.divide(left, right)

    def _value(self, fluent: Fact, moment: TimePoint) -> Sum:
        key = (fluent, moment)
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = self._computed(fluent, moment)
        return found

    def _computed(self, fluent: Fact, moment: TimePoint) -> Sum:
        timeline = self.timeline
        template, order, circuit = timeline.template, timeline.order, timeline.circuit
        if moment == timeline.start:
            return template.values[fluent]
        if moment > order.size:
            step = moment - order.size
            after = template.steps[step].numbers.get(fluent)
            return self._value(fluent, step) if after is None else self.at(after, step)
        try:
            changes = self.changes(fluent)
        except _Entangled:
            return self._variable(fluent, moment)
        before = {
            step: change for step, change in changes.items() if moment == END or timeline.precedes(step, moment) != 0
        }
        assigning = [(step, self._at_moments.fires(c.condition, step)) for step, c in before.items() if c.assigned]
        value = template.values[fluent]
        total = Sum(0)
        for step, change in before.items():
            stays = [
                circuit.both(timeline.between(step, other, moment), fires) ^ 1
                for other, fires in assigning
                if other != step
            ]
            early = TRUE if moment == END else timeline.precedes(step, moment)
            counts = circuit.conjunction([early, self._at_moments.fires(change.condition, step), *stays])
            amount = self._mapped(change.amount, step, early=True)
            if change.assigned:
                value = terms.select(counts, amount, value)
            else:
                total = terms.add(total, terms.select(counts, amount, Sum(0)))
            timeline.check()
        return terms.add(value, total)

    def _variable(self, fluent: Fact, moment: TimePoint) -> Sum:
        self._variables.append((fluent, moment))
        return Sum(0, ((("value", self._base, len(self._variables) - 1), 1),))

    def definitions(self, comparison: object) -> list[Literal]:
        """What has to be true for the variables in a comparison to have the values that they stand for."""
        assert isinstance(comparison, Comparison)
        found = []
        for atom in _atoms(comparison.sum):
            if atom[0] == "value" and atom[1] == self._base:
                number = atom[2]
                assert isinstance(number, int)
                if number not in self._definitions:
                    self._definitions[number] = self._definition(number)
                found.append(self._definitions[number])
        return found

    def _definition(self, number: int) -> Literal:
        timeline = self.timeline
        template, order, circuit = timeline.template, timeline.order, timeline.circuit
        fluent, moment = self._variables[number]
        variable = Sum(0, ((("value", self._base, number), 1),))
        before = order.all_steps if moment == END else order.before[moment]
        writers = self.writers(fluent)
        certain = writers & before
        possible = writers & ~(0 if moment == END else order.after[moment] | 1 << moment)
        live = [step for step in bit_numbers(possible) if not certain & order.after[step]]
        early = {step: TRUE if moment == END else timeline.precedes(step, moment) for step in live}
        parts = []
        if not certain:
            none = circuit.conjunction([literal ^ 1 for literal in early.values()])
            parts.append((none, template.values[fluent]))
        for step in live:
            last = [timeline.between(step, other, moment) ^ 1 for other in live if other != step]
            value = self.at(template.steps[step].numbers[fluent], step)
            parts.append((circuit.conjunction([early[step], *last]), value))
        timeline.check()
        return circuit.conjunction(
            [circuit.either(last ^ 1, terms.compare(circuit, "=", variable, value)) for last, value in parts]
        )

    def writers(self, fluent: Fact) -> int:
        """The steps that may change a fluent, as a mask."""
        return sum([1 << step for step, t in enumerate(self.timeline.template.steps) if fluent in t.numbers])

    def changes(self, fluent: Fact) -> dict[int, NumericEffect]:
        """What each step does to a fluent. Raises :class:`_Entangled`."""
        found = self._changes.get(fluent)
        if found is None:
            found = {}
            for step, template in enumerate(self.timeline.template.steps):
                if fluent in template.numbers:
                    change = self._change(fluent, template.numbers[fluent])
                    if change is not None:
                        found[step] = change
            self._changes[fluent] = found
        return found

    def _change(self, fluent: Fact, after: Sum) -> NumericEffect | None:
        here = Sum(0, ((("here", *fluent), 1),))
        amount = terms.add(after, here, -1)
        if amount == Sum(0):
            return None
        if not _moving(amount):
            return NumericEffect(TRUE, False, amount)
        if not _moving(after):
            return NumericEffect(TRUE, True, after)
        if after.constant == 0 and len(after.weighted_atoms) == 1 and after.weighted_atoms[0][1] == 1:
            atom = after.weighted_atoms[0][0]
            if atom[0] == "choice" and isinstance(atom[1], int):
                then, otherwise = _parts(atom)
                if otherwise == here and not _moving(then):
                    return NumericEffect(atom[1], True, then)
                if then == here and not _moving(otherwise):
                    return NumericEffect(atom[1] ^ 1, True, otherwise)
        raise _Entangled


def _parts(atom: Atom) -> list[Sum]:
    return [part for part in atom if isinstance(part, Sum)]


def _atoms(total: Sum) -> Iterator[Atom]:
    """All atoms of a sum, those inside others too; shared ones once."""
    seen: set[int] = set()
    stack = [total]
    while stack:
        for atom, _ in stack.pop().weighted_atoms:
            if id(atom) not in seen:
                seen.add(id(atom))
                yield atom
                stack.extend(_parts(atom))


def _literals(total: Sum) -> Iterator[Literal]:
    for atom in _atoms(total):
        if atom[0] in ("indicator", "choice") and isinstance(atom[1], int):
            yield atom[1]


def _moving(total: Sum) -> bool:
    """Whether a sum reads numbers that change."""
    return any([atom[0] == "here" for atom in _atoms(total)])
