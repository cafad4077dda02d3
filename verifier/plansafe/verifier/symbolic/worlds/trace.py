"""The trace of an untimed plan in all worlds at once.

A world's trace ends where a step cannot be taken, so letter ``i`` is there only in the worlds of ``alive[i]``. States
are computed as if every step had been taken: what they say of other worlds is never asked. Only what changes is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Action, And, Assignment, Atom, Choice, Effect, bind
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.worlds.encoding import OutcomeInput
from plansafe.verifier.symbolic.worlds.formula_compiler import (
    Binding,
    DerivedFacts,
    FormulaCompiler,
    LiteralFunction,
    QuantityFunction,
)
from plansafe.verifier.symbolic.worlds.symbolic_state import Quantity, Search, SymbolicState

Fact = tuple[int, int]


class StepChanges(NamedTuple):
    """What a step does where it is taken: new literals of facts, and new values of fluents."""

    facts: list[tuple[int, int, Literal]]
    quantities: list[tuple[int, int, Quantity]]


class _Update(NamedTuple):
    fires: Literal
    operator: str
    operand: Quantity


class _Assign(NamedTuple):
    operator: str
    function: int
    code: Callable[[Binding], int]
    value: QuantityFunction


class _Effect(NamedTuple):
    """A compiled effect. ``search`` is ``None`` where it has no variables of its own."""

    slots: tuple[int, ...]
    search: Search | None
    free: tuple[int, ...]
    fires: LiteralFunction
    fails: LiteralFunction | None
    adds: list[tuple[int, Callable[[Binding], int]]]
    deletes: list[tuple[int, Callable[[Binding], int]]]
    assignments: list[_Assign]
    choices: tuple[Choice, ...]


class StepEncoder:
    """Takes the steps of untimed plans."""

    def __init__(self, evaluation: FormulaCompiler) -> None:
        self.evaluation = evaluation
        self.circuit: Circuit = evaluation.circuit
        self._actions: dict[int, tuple[Action, LiteralFunction, list[_Effect]]] = {}
        self.alternative_counts: dict[tuple[int, int, tuple[int, ...]], int] = {}
        """Each choice that was met, with the number of its alternatives."""

    def _compiled(self, action: Action) -> tuple[Action, LiteralFunction, list[_Effect]]:
        known = self._actions.get(id(action))
        if known is None:
            condition = self.evaluation.compile_true(And(action.start.condition))
            known = action, condition, [self._effect(effect) for effect in action.start.effects]
            self._actions[id(action)] = known
        return known

    def _effect(self, effect: Effect) -> _Effect:
        evaluation = self.evaluation
        slots = tuple([v.slot for v in effect.variables])
        search, free = None, tuple[int, ...]()
        if slots:
            possible = evaluation.possible_certain.possible_condition(effect.condition)
            free = tuple(sorted(evaluation.possible_certain.emitter.free_slots(possible) - set(slots)))
            search = evaluation.possible_certain.compile_search(possible, effect.variables, free)
        return _Effect(
            slots,
            search,
            free,
            evaluation.compile_true(effect.condition),
            evaluation.compile_false(effect.condition) if evaluation.reads_numbers(effect.condition) else None,
            [self._atom(atom) for atom in effect.adds],
            [self._atom(atom) for atom in effect.deletes],
            [self._assign(assignment) for assignment in effect.assignments],
            effect.choices,
        )

    def _atom(self, atom: Atom) -> tuple[int, Callable[[Binding], int]]:
        return atom.predicate, self.evaluation.compile_code(atom.arguments)

    def _assign(self, assignment: Assignment) -> _Assign:
        code = self.evaluation.compile_code(assignment.arguments)
        return _Assign(assignment.operator, assignment.function, code, self.evaluation.compile_number(assignment.value))

    def encode_step(self, state: SymbolicState, taken: GroundAction, step: int) -> tuple[Literal, StepChanges]:
        """In which worlds a step can be taken in a state, and what it changes there. The state is left as it is."""
        circuit = self.circuit
        action, condition, effects = self._compiled(taken.action)
        binding: Binding = bind(action.parameters, taken.objects)
        able = condition(state, binding)
        if able == FALSE:
            return FALSE, StepChanges([], [])
        adds: dict[Fact, list[Literal]] = {}
        deletes: dict[Fact, list[Literal]] = {}
        updates: dict[Fact, list[_Update]] = {}
        trouble: list[Literal] = []  # worlds in which the effects cannot be computed
        for effect in effects:
            for _ in self._bindings(effect, state, binding):
                chosen = self._chosen(effect.choices, step, binding) if effect.choices else TRUE
                fires = circuit.both(chosen, effect.fires(state, binding))
                if effect.fails is not None:
                    known = circuit.either(fires, effect.fails(state, binding))
                    trouble.append(circuit.both(chosen, known ^ 1))
                if fires == FALSE:
                    continue
                for predicate, code in effect.adds:
                    adds.setdefault((predicate, code(binding)), []).append(fires)
                for predicate, code in effect.deletes:
                    deletes.setdefault((predicate, code(binding)), []).append(fires)
                for assign in effect.assignments:
                    operand = assign.value(state, binding)
                    trouble.append(circuit.both(fires, operand.defined ^ 1))
                    key = (assign.function, assign.code(binding))
                    updates.setdefault(key, []).append(_Update(fires, assign.operator, operand))
        facts = self._facts(state, adds, deletes)
        quantities = [self._quantity(state, key, found, trouble) for key, found in updates.items()]
        able = circuit.both(able, circuit.disjunction(trouble) ^ 1)
        return able, StepChanges(facts, quantities)

    def _bindings(self, effect: _Effect, state: SymbolicState, binding: Binding) -> Iterator[None]:
        """Puts every binding of an effect's variables under which it may happen into ``binding``, one by one."""
        if effect.search is None:
            yield
            return
        found: list[tuple[int, ...]] = []
        effect.search(state.facts, (), found, *[binding[slot] for slot in effect.free])
        for objects in dict.fromkeys(found):
            binding.update(zip(effect.slots, objects, strict=True))
            yield

    def _chosen(self, choices: tuple[Choice, ...], step: int, binding: Binding) -> Literal:
        """Whether a world chooses all of some alternatives."""
        circuit = self.circuit
        parts = []
        for choice in choices:
            objects = tuple([binding[v.slot] for v in choice.variables])
            self.alternative_counts[step, choice.number, objects] = choice.alternatives
            parts.append(alternative(circuit, step, choice, objects))
        return circuit.conjunction(parts)

    def _facts(
        self, state: SymbolicState, adds: dict[Fact, list[Literal]], deletes: dict[Fact, list[Literal]]
    ) -> list[tuple[int, int, Literal]]:
        circuit = self.circuit
        out = []
        for fact in dict.fromkeys([*adds, *deletes]):
            before = state.get(*fact)
            after = before
            if fact in deletes:
                after = circuit.both(after, circuit.disjunction(deletes[fact]) ^ 1)
            if fact in adds:  # what is both deleted and added is true
                after = circuit.either(after, circuit.disjunction(adds[fact]))
            if after != before:
                out.append((*fact, after))
        return out

    def _quantity(
        self, state: SymbolicState, key: Fact, updates: list[_Update], trouble: list[Literal]
    ) -> tuple[int, int, Quantity]:
        """The new value of a fluent; worlds in which its updates conflict or read no value go to ``trouble``."""
        circuit = self.circuit
        defined, value = state.quantity(*key)
        for number, first in enumerate(updates):
            others = [second for second in updates[number + 1 :] if not _alike(first.operator, second.operator)]
            trouble += [circuit.both(first.fires, second.fires) for second in others]
        assigned: list[Literal] = []
        for fires, operator, operand in updates:
            if operator == "assign":
                assigned.append(fires)
                value = terms.select(fires, operand.value, value)
                continue
            trouble.append(circuit.both(fires, defined ^ 1))
            if operator in ("increase", "decrease"):
                amount = terms.select(fires, operand.value, terms.constant(0))
                value = terms.add(value, amount, 1 if operator == "increase" else -1)
                continue
            factor = terms.select(fires, operand.value, terms.constant(1))
            if operator == "scale-up":
                value = terms.multiply(value, factor)
            else:
                zero = terms.compare(circuit, "=", operand.value, terms.constant(0))
                trouble.append(circuit.both(fires, zero))
                value = terms.divide(value, factor)
        return (*key, Quantity(circuit.either(defined, circuit.disjunction(assigned)), value))


def alternative(circuit: Circuit, step: int, choice: Choice, objects: tuple[int, ...]) -> Literal:
    """Whether a world chooses one alternative: its input, and none of the inputs before it."""
    inputs = [
        circuit.input(OutcomeInput(step, choice.number, objects, k))
        for k in range(min(choice.alternative + 1, choice.alternatives - 1))
    ]
    if choice.alternative < choice.alternatives - 1:
        return circuit.conjunction([*[literal ^ 1 for literal in inputs[:-1]], inputs[-1]])
    return circuit.conjunction([literal ^ 1 for literal in inputs])


def _alike(a: str, b: str) -> bool:
    """Whether two numeric effects on one fluent combine."""
    sums, products = ("increase", "decrease"), ("scale-up", "scale-down")
    return (a in sums and b in sums) or (a in products and b in products)


class Letter(NamedTuple):
    """What changes on the way to a letter: facts with their new literals, fluents with their new values."""

    facts: list[tuple[int, int, Literal]]
    quantities: list[tuple[int, int, Quantity]]


class SymbolicTrace(NamedTuple):
    """``letters[i]`` lead to letter ``i`` (those of letter 0 are empty: ``start`` is S0), ``taken[i]`` leaves it.

    ``alive[i]``: the worlds in which the trace has letter ``i``. The trace ends with the last letter that any world
    has, or with ``limit``: why it could not be followed.
    """

    start: SymbolicState
    letters: list[Letter]
    alive: list[Literal]
    taken: list[GroundAction]
    steps: int
    limit: str | None


def build_trace(
    start: SymbolicState,
    derived: DerivedFacts | None,
    stepper: StepEncoder,
    steps: Sequence[GroundAction | IllFormed],
    deadline: float | None,
) -> SymbolicTrace:
    """Take the steps of a plan, as far as any world can. Raises :class:`LimitReached`."""
    circuit = stepper.circuit
    state = start.copy()
    letters, alive, taken = [Letter([], [])], [TRUE], list[GroundAction]()
    limit = None
    for number, step in enumerate(steps, 1):
        if deadline is not None and monotonic() > deadline:
            raise LimitReached(LimitKind.TIME)
        if isinstance(step, IllFormed):
            break
        try:
            able, changes = stepper.encode_step(state, step, number)
            there = circuit.both(alive[-1], able)
            if there == FALSE:
                break
            facts = _apply(state, changes.facts, changes.quantities, derived)
        except NumberTooLarge:
            limit = f"a number grew beyond 65,536 bits at step {number}"
            break
        letters.append(Letter(facts, changes.quantities))
        alive.append(there)
        taken.append(step)
    return SymbolicTrace(start, letters, alive, taken, len(steps), limit)


def end_literals(circuit: Circuit, alive: Sequence[Literal]) -> list[Literal]:
    """For each letter, the worlds whose trace ends with it."""
    return [circuit.both(a, b ^ 1) for a, b in zip(alive, [*alive[1:], FALSE], strict=True)]


def _apply(
    state: SymbolicState,
    facts: list[tuple[int, int, Literal]],
    quantities: list[tuple[int, int, Quantity]],
    derived: DerivedFacts | None,
) -> list[tuple[int, int, Literal]]:
    """Change a state; returns all facts that changed, derived ones included."""
    for predicate, code, literal in facts:
        state.put(predicate, code, literal)
    for function, code, quantity in quantities:
        state.quantities[function][code] = quantity
    if derived is None:
        return facts
    if not (derived.reads_numbers and quantities) and not any([p in derived.inputs for p, _, _ in facts]):
        return facts
    before = {p: {code: state.get(p, code) for code in state.facts[p]} for p in derived.predicates}
    derived.update(state)
    out = list(facts)
    for predicate, old in before.items():
        for code in old.keys() | state.facts[predicate]:
            literal = state.get(predicate, code)
            if literal != old.get(code, FALSE):
                out.append((predicate, code, literal))
    return out


class TraceReplay:
    """Follows a trace that is known, letter by letter, on a state of its own."""

    def __init__(self, trace: SymbolicTrace) -> None:
        self.trace = trace
        self.state = trace.start.copy()
        self.letter = 0

    def advance(self) -> Letter:
        """Go to the next letter; what has changed on the way."""
        self.letter += 1
        changes = self.trace.letters[self.letter]
        for predicate, code, literal in changes.facts:
            self.state.put(predicate, code, literal)
        for function, code, quantity in changes.quantities:
            self.state.quantities[function][code] = quantity
        return changes
