"""The steps and the trace of an untimed plan in all worlds at once.

The effects of an action are compiled once; each use enumerates the bindings of their quantifiers under which they may
happen. The alternative that a ``oneof`` takes is an input of the circuit, so safety for every outcome is safety for
every value of the inputs.

In a world, the trace ends at the first step that cannot be executed, so letter ``i`` exists only in the worlds of
``alive[i]``. States are computed as if every step were executed; their literals are not used for other worlds. The
trace stores the changes of each step, not the states.
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
from plansafe.verifier.symbolic.worlds.symbolic_state import Quantity, Search, StateChanges, SymbolicState
from plansafe.verifier.symbolic.worlds.world_replay import ChoiceKey

Fact = tuple[int, int]
_CodeFunction = Callable[[Binding], int]


class _Update(NamedTuple):
    """A numeric effect that happens in the worlds of ``fires``."""

    fires: Literal
    operator: str
    operand: Quantity


class _CompiledAssignment(NamedTuple):
    operator: str
    function: int
    code: _CodeFunction
    value: QuantityFunction


class _CompiledEffect(NamedTuple):
    """An effect as functions of a state and a binding of the action's parameters.

    ``slots`` are the effect's own variables, and ``search`` finds their bindings from the values of ``free_slots``; it
    is ``None`` if there are none. ``fires`` and ``fails`` return the worlds in which the condition is true, and false;
    ``fails`` is ``None`` if the condition reads no numbers, so that it is never undefined.
    """

    slots: tuple[int, ...]
    search: Search | None
    free_slots: tuple[int, ...]
    fires: LiteralFunction
    fails: LiteralFunction | None
    adds: list[tuple[int, _CodeFunction]]
    deletes: list[tuple[int, _CodeFunction]]
    assignments: list[_CompiledAssignment]
    choices: tuple[Choice, ...]


class StepEncoder:
    """Encodes the steps of untimed plans. ``alternative_counts``: the number of alternatives of each choice so far."""

    def __init__(self, compiler: FormulaCompiler) -> None:
        self.compiler = compiler
        self.circuit: Circuit = compiler.circuit
        self._actions: dict[int, tuple[Action, LiteralFunction, list[_CompiledEffect]]] = {}
        self.alternative_counts: dict[ChoiceKey, int] = {}

    def _compile_action(self, action: Action) -> tuple[Action, LiteralFunction, list[_CompiledEffect]]:
        if id(action) not in self._actions:
            condition = self.compiler.compile_true(And(action.start.condition))
            effects = [self._compile_effect(effect) for effect in action.start.effects]
            self._actions[id(action)] = action, condition, effects
        return self._actions[id(action)]

    def _compile_effect(self, effect: Effect) -> _CompiledEffect:
        compiler = self.compiler
        slots = tuple([v.slot for v in effect.variables])
        search, free_slots = None, tuple[int, ...]()
        if slots:
            possible = compiler.possible_certain.make_possible_condition(effect.condition)
            free_slots = tuple(sorted(compiler.possible_certain.emitter.free_slots(possible) - set(slots)))
            search = compiler.possible_certain.compile_search(possible, effect.variables, free_slots)
        return _CompiledEffect(
            slots,
            search,
            free_slots,
            compiler.compile_true(effect.condition),
            compiler.compile_false(effect.condition) if compiler.reads_numbers(effect.condition) else None,
            [self._compile_atom(atom) for atom in effect.adds],
            [self._compile_atom(atom) for atom in effect.deletes],
            [self._compile_assignment(assignment) for assignment in effect.assignments],
            effect.choices,
        )

    def _compile_atom(self, atom: Atom) -> tuple[int, _CodeFunction]:
        return atom.predicate, self.compiler.compile_code(atom.arguments)

    def _compile_assignment(self, assignment: Assignment) -> _CompiledAssignment:
        code = self.compiler.compile_code(assignment.arguments)
        value = self.compiler.compile_number(assignment.value)
        return _CompiledAssignment(assignment.operator, assignment.function, code, value)

    def encode_step(self, state: SymbolicState, ground: GroundAction, step: int) -> tuple[Literal, StateChanges]:
        """The worlds in which a step can be executed in a state, and the changes there. The state is not changed."""
        circuit = self.circuit
        action, condition, effects = self._compile_action(ground.action)
        binding: Binding = bind(action.parameters, ground.objects)
        executable = condition(state, binding)
        if executable == FALSE:
            return FALSE, StateChanges([], [])
        adds: dict[Fact, list[Literal]] = {}
        deletes: dict[Fact, list[Literal]] = {}
        updates: dict[Fact, list[_Update]] = {}
        failures: list[Literal] = []  # worlds in which the effects cannot be computed
        for effect in effects:
            for _ in self._bind_variables(effect, state, binding):
                chosen = self._encode_choices(effect.choices, step, binding) if effect.choices else TRUE
                fires = circuit.both(chosen, effect.fires(state, binding))
                if effect.fails is not None:
                    defined = circuit.either(fires, effect.fails(state, binding))
                    failures.append(circuit.both(chosen, defined ^ 1))
                if fires == FALSE:
                    continue
                for predicate, code in effect.adds:
                    adds.setdefault((predicate, code(binding)), []).append(fires)
                for predicate, code in effect.deletes:
                    deletes.setdefault((predicate, code(binding)), []).append(fires)
                for assignment in effect.assignments:
                    operand = assignment.value(state, binding)
                    failures.append(circuit.both(fires, operand.defined ^ 1))
                    fluent = (assignment.function, assignment.code(binding))
                    updates.setdefault(fluent, []).append(_Update(fires, assignment.operator, operand))
        facts = self._encode_facts(state, adds, deletes)
        quantities = [
            self._encode_quantity(state, fluent, fluent_updates, failures) for fluent, fluent_updates in updates.items()
        ]
        executable = circuit.both(executable, circuit.disjunction(failures) ^ 1)
        return executable, StateChanges(facts, quantities)

    def _bind_variables(self, effect: _CompiledEffect, state: SymbolicState, binding: Binding) -> Iterator[None]:
        """Extend ``binding`` by each binding of an effect's variables under which it may happen, one after another."""
        if effect.search is None:
            yield
            return
        candidates: list[tuple[int, ...]] = []
        effect.search(state.facts, (), candidates, *[binding[slot] for slot in effect.free_slots])
        for objects in dict.fromkeys(candidates):
            binding.update(zip(effect.slots, objects, strict=True))
            yield

    def _encode_choices(self, choices: tuple[Choice, ...], step: int, binding: Binding) -> Literal:
        """The worlds in which every choice takes its alternative."""
        literals = []
        for choice in choices:
            objects = tuple([binding[v.slot] for v in choice.variables])
            self.alternative_counts[step, choice.number, objects] = choice.alternatives
            literals.append(_encode_choice(self.circuit, step, choice, objects))
        return self.circuit.conjunction(literals)

    def _encode_facts(
        self, state: SymbolicState, adds: dict[Fact, list[Literal]], deletes: dict[Fact, list[Literal]]
    ) -> list[tuple[int, int, Literal]]:
        circuit = self.circuit
        changes = []
        for fact in dict.fromkeys([*adds, *deletes]):
            before = state.get(*fact)
            after = before
            if fact in deletes:
                after = circuit.both(after, circuit.disjunction(deletes[fact]) ^ 1)
            if fact in adds:  # a fact that is both deleted and added is true
                after = circuit.either(after, circuit.disjunction(adds[fact]))
            if after != before:
                changes.append((*fact, after))
        return changes

    def _encode_quantity(
        self, state: SymbolicState, fluent: Fact, updates: list[_Update], failures: list[Literal]
    ) -> tuple[int, int, Quantity]:
        """The new value of a fluent; appends the worlds in which updates conflict or read no value to ``failures``."""
        circuit = self.circuit
        defined, value = state.get_quantity(*fluent)
        for number, first in enumerate(updates):
            conflicts = [
                second for second in updates[number + 1 :] if not _can_combine(first.operator, second.operator)
            ]
            failures += [circuit.both(first.fires, second.fires) for second in conflicts]
        assigned: list[Literal] = []
        for fires, operator, operand in updates:
            if operator == "assign":
                assigned.append(fires)
                value = terms.select(fires, operand.value, value)
                continue
            failures.append(circuit.both(fires, defined ^ 1))
            if operator in ("increase", "decrease"):
                amount = terms.select(fires, operand.value, terms.constant(0))
                value = terms.add(value, amount, 1 if operator == "increase" else -1)
                continue
            factor = terms.select(fires, operand.value, terms.constant(1))
            if operator == "scale-up":
                value = terms.multiply(value, factor)
            else:
                zero = terms.compare(circuit, "=", operand.value, terms.constant(0))
                failures.append(circuit.both(fires, zero))
                value = terms.divide(value, factor)
        return (*fluent, Quantity(circuit.either(defined, circuit.disjunction(assigned)), value))


def _encode_choice(circuit: Circuit, step: int, choice: Choice, objects: tuple[int, ...]) -> Literal:
    """The worlds that choose an alternative: its input is true, and the inputs before it are false."""
    inputs = [
        circuit.input(OutcomeInput(step, choice.number, objects, alternative))
        for alternative in range(min(choice.alternative + 1, choice.alternatives - 1))
    ]
    if choice.alternative < choice.alternatives - 1:
        return circuit.conjunction([*[literal ^ 1 for literal in inputs[:-1]], inputs[-1]])
    return circuit.conjunction([literal ^ 1 for literal in inputs])


def _can_combine(first: str, second: str) -> bool:
    """Whether two numeric effects on one fluent may happen in one step."""
    sums, products = ("increase", "decrease"), ("scale-up", "scale-down")
    return (first in sums and second in sums) or (first in products and second in products)


class SymbolicTrace(NamedTuple):
    """``changes[i]`` lead to letter ``i`` from the letter before it (from ``start``, S0); ``changes[0]`` is empty.

    ``alive[i]``: the worlds in which the trace has letter ``i``. ``executed[i]`` is the step after letter ``i``. The
    trace ends with the last letter that any world has, or where ``limit`` says why the next step was not encoded.
    """

    start: SymbolicState
    changes: list[StateChanges]
    alive: list[Literal]
    executed: list[GroundAction]
    limit: str | None


def build_trace(
    start: SymbolicState,
    derived: DerivedFacts | None,
    encoder: StepEncoder,
    steps: Sequence[GroundAction | IllFormed],
    deadline: float | None,
) -> SymbolicTrace:
    """Encode the steps of a plan up to the first that no world can execute. Raises :class:`LimitReached`."""
    circuit = encoder.circuit
    state = start.copy()
    changes, alive, executed = [StateChanges([], [])], [TRUE], list[GroundAction]()
    limit = None
    for number, step in enumerate(steps, 1):
        if deadline is not None and monotonic() > deadline:
            raise LimitReached(LimitKind.TIME)
        if isinstance(step, IllFormed):
            break
        try:
            executable, step_changes = encoder.encode_step(state, step, number)
            still_alive = circuit.both(alive[-1], executable)
            if still_alive == FALSE:
                break
            step_changes.apply_to(state)
            if derived is not None:
                step_changes.facts.extend(_update_derived_facts(state, step_changes, derived))
        except NumberTooLarge:
            limit = f"a number grew beyond 65,536 bits at step {number}"
            break
        changes.append(step_changes)
        alive.append(still_alive)
        executed.append(step)
    return SymbolicTrace(start, changes, alive, executed, limit)


def encode_trace_ends(circuit: Circuit, alive: Sequence[Literal]) -> list[Literal]:
    """For each letter, the worlds in which the trace ends with it."""
    return [circuit.both(a, b ^ 1) for a, b in zip(alive, [*alive[1:], FALSE], strict=True)]


def _update_derived_facts(
    state: SymbolicState, changes: StateChanges, derived: DerivedFacts
) -> list[tuple[int, int, Literal]]:
    """Update the derived facts of a state after these changes; returns the derived facts that changed."""
    reads_changes = any([predicate in derived.input_predicates for predicate, _, _ in changes.facts])
    if not reads_changes and not (derived.reads_numbers and changes.quantities):
        return []
    before = {p: {code: state.get(p, code) for code in state.facts[p]} for p in derived.derived_predicates}
    derived.update(state)
    derived_changes = []
    for predicate, literals in before.items():
        for code in literals.keys() | state.facts[predicate]:
            literal = state.get(predicate, code)
            if literal != literals.get(code, FALSE):
                derived_changes.append((predicate, code, literal))
    return derived_changes
