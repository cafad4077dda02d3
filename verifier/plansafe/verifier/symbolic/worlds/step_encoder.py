"""The conditions and effects of steps in all worlds at once.

The effects of an action are compiled once; each use enumerates the bindings of their quantifiers under which they may
happen. The alternative that a ``oneof`` takes is an input of the circuit, so safety for every outcome is safety for
every value of the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import TRUE as ALWAYS
from plansafe.verifier.model.nodes import And, Assignment, Atom, Choice, Effect, Snap
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.worlds.encoding import OutcomeInput
from plansafe.verifier.symbolic.worlds.formula_compiler import (
    Binding,
    FormulaCompiler,
    LiteralFunction,
    QuantityFunction,
)
from plansafe.verifier.symbolic.worlds.symbolic_state import Quantity, Search, StateChanges, SymbolicState
from plansafe.verifier.symbolic.worlds.world_replay import ChoiceKey

T = TypeVar("T")
Fact = tuple[int, int]
_CodeFunction = Callable[[Binding], int]


class NumericUpdate(NamedTuple):
    """A numeric effect that happens in the worlds of ``fires``."""

    fires: Literal
    operator: str
    operand: Quantity


class _CompiledAssignment(NamedTuple):
    """A numeric effect as functions of a state and a binding."""

    operator: str
    function: int
    code: _CodeFunction
    value: QuantityFunction


class SnapEffects(NamedTuple):
    """The effects of an action, or of the start or end of a durative one, in all worlds.

    ``adds``, ``deletes`` and ``updates``: for each fact and fluent, the worlds in which an effect changes it.
    ``failures``: the worlds in which an effect is undefined.
    """

    adds: dict[Fact, list[Literal]]
    deletes: dict[Fact, list[Literal]]
    updates: dict[Fact, list[NumericUpdate]]
    failures: list[Literal]


class _CompiledEffect(NamedTuple):
    """An effect as functions of a state and a binding of the action's parameters.

    ``slots`` are the effect's own variables, and ``search`` finds their bindings from the values of ``free_slots``; it
    is ``None`` if there are none. ``fires`` and ``fails`` return the worlds in which the condition is true, and false;
    ``fails`` is ``None`` if the condition reads no numbers, so that it is never undefined. ``at_start`` has both
    functions for the condition at the start of a durative action, ``None`` if there is none.
    """

    slots: tuple[int, ...]
    search: Search | None
    free_slots: tuple[int, ...]
    fires: LiteralFunction
    fails: LiteralFunction | None
    at_start: tuple[LiteralFunction, LiteralFunction] | None
    adds: list[tuple[int, _CodeFunction]]
    deletes: list[tuple[int, _CodeFunction]]
    assignments: list[_CompiledAssignment]
    choices: tuple[Choice, ...]


class _CompiledSnap(NamedTuple):
    """The condition and the effects of a snap action. ``snap`` is kept, so that its ``id`` is not used again."""

    snap: Snap
    condition: LiteralFunction
    effects: list[_CompiledEffect]


class StepEncoder:
    """Encodes the steps of plans. ``alternative_counts``: the number of alternatives of each choice in them."""

    def __init__(self, compiler: FormulaCompiler) -> None:
        self.compiler = compiler
        self.circuit: Circuit = compiler.circuit
        self._compiled_snaps: dict[int, _CompiledSnap] = {}
        self.alternative_counts: dict[ChoiceKey, int] = {}

    def _compile_snap(self, snap: Snap) -> _CompiledSnap:
        if id(snap) not in self._compiled_snaps:
            condition = self.compiler.compile_truth(And(snap.condition))
            effects = [self._compile_effect(effect) for effect in snap.effects]
            self._compiled_snaps[id(snap)] = _CompiledSnap(snap, condition, effects)
        return self._compiled_snaps[id(snap)]

    def _compile_effect(self, effect: Effect) -> _CompiledEffect:
        compiler = self.compiler
        slots = tuple([v.slot for v in effect.variables])
        search, free_slots = None, tuple[int, ...]()
        if slots:
            possible_condition = compiler.possible_certain.make_possible_condition(effect.condition)
            free_slots = tuple(sorted(compiler.possible_certain.emitter.free_slots(possible_condition) - set(slots)))
            search = compiler.possible_certain.compile_search(possible_condition, effect.variables, free_slots)
        return _CompiledEffect(
            slots=slots,
            search=search,
            free_slots=free_slots,
            fires=compiler.compile_truth(effect.condition),
            fails=compiler.compile_falsity(effect.condition) if compiler.reads_numbers(effect.condition) else None,
            at_start=None
            if effect.at_start is ALWAYS
            else (compiler.compile_truth(effect.at_start), compiler.compile_falsity(effect.at_start)),
            adds=[self._compile_atom(atom) for atom in effect.adds],
            deletes=[self._compile_atom(atom) for atom in effect.deletes],
            assignments=[self._compile_assignment(assignment) for assignment in effect.assignments],
            choices=effect.choices,
        )

    def _compile_atom(self, atom: Atom) -> tuple[int, _CodeFunction]:
        return atom.predicate, self.compiler.compile_code(atom.arguments)

    def _compile_assignment(self, assignment: Assignment) -> _CompiledAssignment:
        code = self.compiler.compile_code(assignment.arguments)
        value = self.compiler.compile_number(assignment.value)
        return _CompiledAssignment(assignment.operator, assignment.function, code, value)

    def encode_step(self, state: SymbolicState, ground_action: GroundAction, step: int) -> tuple[Literal, StateChanges]:
        """The worlds in which a step can be executed in a state, and the changes there. The state is not changed."""
        executable, effects = self.encode_snap(state, ground_action.action.start, ground_action.binding, step)
        if executable == FALSE:
            return FALSE, StateChanges([], [])
        changes, failures = self.combine_effects(state, [effects])
        return self.circuit.both(executable, failures ^ 1), changes

    def encode_snap(
        self, state: SymbolicState, snap: Snap, binding: Binding, step: int, start: SymbolicState | None = None
    ) -> tuple[Literal, SnapEffects]:
        """The worlds in which the condition of a snap action of a step holds, and its effects.

        ``start``: the state before the start of a durative action, for the effects at its end.
        """
        circuit = self.circuit
        compiled_snap = self._compile_snap(snap)
        executable = compiled_snap.condition(state, binding)
        effects = SnapEffects({}, {}, {}, [])
        for effect in compiled_snap.effects if executable != FALSE else ():
            for _ in self._iterate_bindings(effect, state, binding):
                chosen, fires = TRUE, effect.fires(state, binding)
                if effect.choices:
                    chosen = self._encode_choices(effect.choices, step, binding)
                    fires = circuit.both(chosen, fires)
                fails = None if effect.fails is None else effect.fails(state, binding)
                if effect.at_start is not None and start is not None:
                    true_at_start, false_at_start = [function(start, binding) for function in effect.at_start]
                    fails = circuit.either(fires ^ 1 if fails is None else fails, false_at_start)
                    fires = circuit.both(fires, true_at_start)
                if fails is not None:
                    effects.failures.append(circuit.both(chosen, circuit.either(fires, fails) ^ 1))
                if fires == FALSE:
                    continue
                for predicate, code in effect.adds:
                    effects.adds.setdefault((predicate, code(binding)), []).append(fires)
                for predicate, code in effect.deletes:
                    effects.deletes.setdefault((predicate, code(binding)), []).append(fires)
                for assignment in effect.assignments:
                    operand = assignment.value(state, binding)
                    effects.failures.append(circuit.both(fires, operand.defined ^ 1))
                    fluent = (assignment.function, assignment.code(binding))
                    effects.updates.setdefault(fluent, []).append(NumericUpdate(fires, assignment.operator, operand))
        return executable, effects

    def combine_effects(self, state: SymbolicState, parts: Sequence[SnapEffects]) -> tuple[StateChanges, Literal]:
        """The changes of effects that happen together, and the worlds in which some are undefined or conflict."""
        adds, deletes = _merge_lists([part.adds for part in parts]), _merge_lists([part.deletes for part in parts])
        updates = _merge_lists([part.updates for part in parts])
        failures = [literal for part in parts for literal in part.failures]
        facts = self._encode_facts(state, adds, deletes)
        quantities = [self._encode_quantity(state, fluent, updates[fluent], failures) for fluent in updates]
        return StateChanges(facts, quantities), self.circuit.disjunction(failures)

    def _iterate_bindings(self, effect: _CompiledEffect, state: SymbolicState, binding: Binding) -> Iterator[None]:
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
        """The worlds that choose all these alternatives; stores the number of alternatives of each choice."""
        literals = []
        for choice in choices:
            objects = tuple([binding[v.slot] for v in choice.variables])
            self.alternative_counts[step, choice.number, objects] = choice.alternative_count
            literals.append(_encode_choice(self.circuit, step, choice, objects))
        return self.circuit.conjunction(literals)

    def _encode_facts(
        self, state: SymbolicState, adds: Mapping[Fact, list[Literal]], deletes: Mapping[Fact, list[Literal]]
    ) -> list[tuple[int, int, Literal]]:
        """The facts that change (predicate, code), each with its new literal."""
        circuit = self.circuit
        changes = []
        for fact, literals in adds.items():
            before = after = state.get(*fact)
            if fact in deletes:
                after = circuit.both(after, _join(circuit, deletes[fact]) ^ 1)
            after = circuit.either(after, _join(circuit, literals))  # a fact that is deleted and added is true
            if after != before:
                changes.append((*fact, after))
        for fact, literals in deletes.items():
            if fact not in adds:
                before = state.get(*fact)
                after = circuit.both(before, _join(circuit, literals) ^ 1)
                if after != before:
                    changes.append((*fact, after))
        return changes

    def _encode_quantity(
        self, state: SymbolicState, fluent: Fact, updates: list[NumericUpdate], failures: list[Literal]
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
                value = terms.choose(fires, operand.value, value)
                continue
            failures.append(circuit.both(fires, defined ^ 1))
            if operator in ("increase", "decrease"):
                amount = terms.choose(fires, operand.value, terms.constant(0))
                value = terms.add(value, amount, 1 if operator == "increase" else -1)
                continue
            factor = terms.choose(fires, operand.value, terms.constant(1))
            if operator == "scale-up":
                value = terms.multiply(value, factor)
            else:
                zero = terms.compare(circuit, "=", operand.value, terms.constant(0))
                failures.append(circuit.both(fires, zero))
                value = terms.divide(value, factor)
        return (*fluent, Quantity(circuit.either(defined, circuit.disjunction(assigned)), value))


def _join(circuit: Circuit, literals: list[Literal]) -> Literal:
    """The disjunction of literals, most often one."""
    return literals[0] if len(literals) == 1 else circuit.disjunction(literals)


def _encode_choice(circuit: Circuit, step: int, choice: Choice, objects: tuple[int, ...]) -> Literal:
    """The worlds that choose an alternative: its input is true, and the inputs before it are false."""
    inputs = [
        circuit.input(OutcomeInput(step, choice.number, objects, alternative))
        for alternative in range(min(choice.alternative + 1, choice.alternative_count - 1))
    ]
    if choice.alternative < choice.alternative_count - 1:
        return circuit.conjunction([*[literal ^ 1 for literal in inputs[:-1]], inputs[-1]])
    return circuit.conjunction([literal ^ 1 for literal in inputs])


def _can_combine(first: str, second: str) -> bool:
    """Whether effects with two operators on one fluent may happen in one step."""
    sums, products = ("increase", "decrease"), ("scale-up", "scale-down")
    return (first in sums and second in sums) or (first in products and second in products)


def _merge_lists(lists_by_fact: Sequence[Mapping[Fact, list[T]]]) -> Mapping[Fact, list[T]]:
    """One map with the joined lists of each fact."""
    if len(lists_by_fact) == 1:
        return lists_by_fact[0]
    merged: dict[Fact, list[T]] = {}
    for items_by_fact in lists_by_fact:
        for fact, items in items_by_fact.items():
            merged.setdefault(fact, []).extend(items)
    return merged
