"""What holds at the moments of an order, as circuits over the order.

A fact has at a moment the value that its last writer before the moment gave it: it is true iff some step (or S0) makes
it true and no step between that one and the moment makes it false. Which step is before which is an input for each pair
that the plan does not order and that some value depends on. Whether a conditional effect happens depends on values
before its step, which may depend on effects in turn, in an order's own way: such a condition is an input of its own,
with a definition that whoever solves has to require. In a linear order the definitions have exactly one solution.

Values are those of the trace in which every step is taken. Up to the first step that cannot be taken, that is the
plan's trace; beyond it, nothing asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.orders.numbers import AtMoments, Numbers
from plansafe.verifier.symbolic.orders.partial_order import (
    END,
    PartialOrder,
    Writers,
    bit_numbers,
    holds_in_every_order,
)
from plansafe.verifier.symbolic.orders.template import Fact, HeldInput, PlanTemplate, Timeline, TimePoint
from plansafe.verifier.symbolic.worlds.encoding import AuxiliaryInput


class Write:
    """In which worlds a step makes a fact true, and in which false; ``plain`` if it does so in all of them."""

    __slots__ = ("breaks", "makes", "plain")

    def __init__(self, makes: Literal, breaks: Literal) -> None:
        self.makes = makes
        self.breaks = breaks
        self.plain = TRUE in (makes, breaks)


class Moments(Timeline):
    """Literals for what holds when. ``assured``: every step is known to be taken in every order."""

    def __init__(self, template: PlanTemplate, order: PartialOrder, deadline: float | None = None) -> None:
        super().__init__(template, order, deadline)
        self.assured = False
        self.definitions: dict[int, tuple[Literal, TimePoint]] = {}
        """Node of an auxiliary input -> the template literal that it stands for, and the moment."""
        self._defined: dict[int, Literal] = {}
        self._writes: dict[Fact, dict[int, Write]] = {}
        self._writers: dict[Fact, Writers] = {}
        self._values: dict[tuple[Fact, TimePoint], Literal] = {}
        self._known: dict[TimePoint, dict[int, Literal]] = {}
        self._fires: dict[tuple[Literal, int], Literal] = {}
        self._open: dict[Literal, bool] = {}
        self._reached: dict[int, Literal] = {}
        self._count = 0
        self._slots = {held >> 1: fact for fact, held in template.held.items()}
        self._actions: dict[Fact, list[int]] = {}
        for step, fact in template.action_facts.items():
            self._actions.setdefault(fact, []).append(step)
        self._numbers = Numbers(self, AtMoments(self.varies, self.at, self.fires))
        by_fact: dict[Fact, dict[int, Literal]] = {}
        for step, found in enumerate(template.steps):
            for fact, after in found.facts.items():
                by_fact.setdefault(fact, {})[step] = after
        self._after = by_fact

    # -- facts --------------------------------------------------------------------------------------------------------

    def writes(self, fact: Fact) -> dict[int, Write]:
        """The steps that may write a fact, and when they do."""
        found = self._writes.get(fact)
        if found is None:
            held = self.template.held[fact]
            found = {step: self._write(held, after) for step, after in self._after.get(fact, {}).items()}
            self._writes[fact] = found = {step: w for step, w in found.items() if (w.makes, w.breaks) != (0, 0)}
        return found

    def _write(self, held: Literal, after: Literal) -> Write:
        circuit = self.circuit
        if after <= TRUE:
            return Write(after, after ^ 1)
        on, off = circuit.substitute(after, {held >> 1: TRUE}), circuit.substitute(after, {held >> 1: FALSE})
        # ``off`` is the condition of adding and ``on`` that of not deleting. Where conditions read the fact itself, a
        # write of the value that it has may be left out, and one of the other value depends on it.
        if off == FALSE or on == TRUE or self._excluded(off, on):
            return Write(off, on ^ 1)
        return Write(
            circuit.both(off, circuit.either(on, held ^ 1)),
            circuit.both(on ^ 1, circuit.either(off ^ 1, held)),
        )

    def _excluded(self, off: Literal, on: Literal) -> bool:
        """Whether ``off`` and not ``on`` contradict each other, as far as their gates show."""
        children = self.circuit.gates[on >> 1]
        return bool(on & 1 and children and off ^ 1 in children)

    def writers(self, fact: Fact) -> Writers:
        """The same, as masks for the criterion."""
        found = self._writers.get(fact)
        if found is None:
            masks = [0, 0, 0, 0]
            for step, write in self.writes(fact).items():
                for index, literal in enumerate((write.makes, write.breaks)):
                    masks[index] |= (literal == TRUE) << step
                    masks[2 + index] |= (literal != FALSE) << step
            initial = self.template.initial[fact]
            found = self._writers[fact] = Writers(initial == TRUE if initial <= TRUE else None, *masks)
        return found

    def fact(self, fact: Fact, moment: TimePoint) -> Literal:
        """In which worlds a fact holds at a moment."""
        key = (fact, moment)
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = self._fact(fact, moment)
        return found

    def _fact(self, fact: Fact, moment: TimePoint) -> Literal:
        if moment == self.start:
            return self.template.initial[fact]
        if moment > self.order.size:
            step = moment - self.order.size
            after = self._after[fact].get(step)
            return self.fact(fact, step) if after is None else self.at(after, step)
        if holds_in_every_order(self.order, self.writers(fact), moment, True):
            return TRUE
        if holds_in_every_order(self.order, self.writers(fact), moment, False):
            return FALSE
        return self._last_writer(fact, moment)

    def _last_writer(self, fact: Fact, moment: TimePoint) -> Literal:
        circuit, order = self.circuit, self.order
        mask, writes = self.writers(fact), self.writes(fact)
        before = order.all_steps if moment == END else order.before[moment]
        plain = (mask.making | mask.breaking) & before
        candidates = (mask.possibly_making | mask.possibly_breaking) & ~(
            0 if moment == END else order.after[moment] | 1 << moment
        )
        # Who is necessarily overwritten before the moment does not matter.
        live = [step for step in bit_numbers(candidates) if not plain & order.after[step]]
        breaking = [(step, self.fires(writes[step].breaks, step)) for step in live if writes[step].breaks != FALSE]
        parts = []
        initial = self.template.initial[fact]
        if initial != FALSE and not plain:
            stays = [self.circuit.both(self._early(step, moment), fires) ^ 1 for step, fires in breaking]
            parts.append(circuit.conjunction([initial, *stays]))
        for step in live:
            makes = writes[step].makes
            if makes == FALSE:
                continue
            stays = [
                circuit.both(self.between(step, other, moment), fires) ^ 1 for other, fires in breaking if other != step
            ]
            parts.append(circuit.conjunction([self.fires(makes, step), self._early(step, moment), *stays]))
        self.check()
        return circuit.disjunction(parts)

    def _early(self, step: int, moment: TimePoint) -> Literal:
        return TRUE if moment == END else self.precedes(step, moment)

    def fires(self, condition: Literal, step: int) -> Literal:
        """A condition of an effect, read before its step; an input with a definition where it depends on the order."""
        if not self.varies(condition):
            return condition
        key = (condition & ~1, step)
        found = self._fires.get(key)
        if found is None:
            self._count += 1
            found = self._fires[key] = self.circuit.input(AuxiliaryInput("fires", self._count))
            self.definitions[found >> 1] = (key[0], step)
        return found ^ (condition & 1)

    def varies(self, literal: Literal) -> bool:
        """Whether a template literal depends on the moment."""
        found = self._open.get(literal)
        if found is None:
            found = any([self.depends(node) for node in self.circuit.inputs([literal])])
            self._open[literal] = found
        return found

    def depends(self, node: int) -> bool:
        """Whether an input of the template depends on the moment."""
        key = self.circuit.keys[node]
        return isinstance(key, HeldInput) or (isinstance(key, terms.Comparison) and self._numbers.varies(key.sum))

    def conjuncts(self, literal: Literal) -> Iterator[Literal]:
        """The literals whose conjunction a literal is, as far as its gates show."""
        stack = [literal]
        while stack:
            part = stack.pop()
            children = self.circuit.gates[part >> 1]
            if children is not None and not part & 1:
                stack.extend(children)
            elif part != TRUE:
                yield part

    def held(self, literal: Literal) -> Fact | None:
        """The fact that a template literal says holds, or does not; ``None`` if it says something else."""
        return self._slots.get(literal >> 1)

    def reading(self, literals: Iterable[Literal]) -> int | None:
        """The steps that may change what template literals read, as a mask; ``None`` if they read actions."""
        mask = 0
        for node in self.circuit.inputs(literals):
            fact = self._slots.get(node)
            key = self.circuit.keys[node]
            if fact is not None:
                writers = self.writers(fact)
                mask |= writers.possibly_making | writers.possibly_breaking
            elif isinstance(key, HeldInput):
                return None
            elif isinstance(key, terms.Comparison):
                for fluent in self._numbers.fluents(key.sum):
                    mask |= self._numbers.writers(fluent)
                inner = self.reading(self._numbers.literals(key))
                if inner is None:
                    return None
                mask |= inner
        return mask

    def falsifying(self, literal: Literal) -> int:
        """The steps that may change what a template literal reads in the direction that makes it false, as a mask."""
        mask = 0
        seen: set[Literal] = set()
        stack = [literal]
        while stack:
            part = stack.pop()
            if part in seen:
                continue
            seen.add(part)
            children = self.circuit.gates[part >> 1]
            fact = self._slots.get(part >> 1)
            if children is not None:
                stack.extend([child ^ (part & 1) for child in children])
            elif fact is not None:
                writers = self.writers(fact)
                mask |= writers.possibly_making if part & 1 else writers.possibly_breaking
            else:
                mask |= self.reading([part]) or 0
        return mask

    # -- formulas -----------------------------------------------------------------------------------------------------

    def at(self, literal: Literal, moment: TimePoint) -> Literal:
        """A template literal at a moment."""
        if literal <= TRUE:
            return literal
        known = self._known.setdefault(moment, {0: FALSE})
        circuit = self.circuit
        stack = [literal >> 1]
        while stack:
            node = stack[-1]
            if node in known:
                stack.pop()
                continue
            children = circuit.gates[node]
            if children is None:
                known[node] = self._input(node, moment)
                continue
            missing = [child >> 1 for child in children if child >> 1 not in known]
            if missing:
                stack += missing
                continue
            known[node] = circuit.conjunction([known[child >> 1] ^ (child & 1) for child in children])
        return known[literal >> 1] ^ (literal & 1)

    def _input(self, node: int, moment: TimePoint) -> Literal:
        fact = self._slots.get(node)
        if fact is not None:
            return self.fact(fact, moment)
        key = self.circuit.keys[node]
        if isinstance(key, HeldInput):
            return self._action((key.predicate, key.code), moment)
        if isinstance(key, terms.Comparison) and self._numbers.varies(key.sum):
            value = self._numbers.at(key.sum, moment)
            return terms.compare(self.circuit, key.operator, value, terms.constant(0))
        return 2 * node

    def _action(self, action_fact: Fact, moment: TimePoint) -> Literal:
        """Whether the step that leaves a letter is one of those with this action fact."""
        if moment > self.order.size:
            raise AssertionError("letters that mention actions are moments before steps, and the end")
        if moment not in self._actions[action_fact]:
            return FALSE
        return self.able(moment)

    # -- which steps are taken ----------------------------------------------------------------------------------------

    def assure(self) -> None:
        """Every step is known to be taken in every order from now on."""
        self.assured = True
        self._known.clear()
        self._reached.clear()

    def able(self, step: int) -> Literal:
        """In which worlds a step can be taken, if all steps before it are."""
        return TRUE if self.assured else self.at(self.template.steps[step].able, step)

    def reached(self, step: int) -> Literal:
        """In which worlds all steps before a step are taken."""
        if self.assured:
            return TRUE
        found = self._reached.get(step)
        if found is None:
            circuit = self.circuit
            found = circuit.conjunction(
                [
                    circuit.both(self.precedes(other, step), self.able(other) ^ 1) ^ 1
                    for other in range(1, self.order.size + 1)
                    if other != step
                ]
            )
            self._reached[step] = found
        return found

    def taken(self, step: int) -> Literal:
        """In which worlds a step is taken."""
        return self.circuit.both(self.reached(step), self.able(step))

    def executable(self) -> Literal:
        """In which worlds all steps are taken."""
        return self.circuit.conjunction([self.able(step) for step in range(1, self.order.size + 1)])

    # -- definitions --------------------------------------------------------------------------------------------------

    def meaning(self, roots: Iterable[Literal]) -> tuple[list[Literal], list[int]]:
        """What the roots depend on: the definitions of auxiliary inputs, to be required, and all input nodes."""
        defined: dict[int, Literal] = {}
        inputs: list[int] = []
        seen = {0}
        stack = [root >> 1 for root in roots]
        gates, keys = self.circuit.gates, self.circuit.keys
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            children = gates[node]
            if children is not None:
                stack.extend([child >> 1 for child in children])
                continue
            inputs.append(node)
            if node in self.definitions:
                literal = self._defined.get(node)
                if literal is None:
                    condition, moment = self.definitions[node]
                    literal = self._defined[node] = self.circuit.equal(2 * node, self.at(condition, moment))
                defined[node] = literal
                stack.append(literal >> 1)
            elif isinstance(keys[node], terms.Comparison):
                stack.extend([literal >> 1 for literal in self._numbers.literals(keys[node])])
                for literal in self._numbers.definitions(keys[node]):
                    defined[literal >> 1] = literal
                    stack.append(literal >> 1)
        return list(defined.values()), inputs
