"""Rules about single states and single steps, in all worlds at once.

As in the explicit engine, the work is proportional to the changes: a fact whose literal changed is matched against the
rules, and only the bindings under which a rule may be violated are evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plansafe.verifier.compile.triggers import compile_extension, compile_read_patterns
from plansafe.verifier.execution.monitors.index import FactIndexes, InstanceIndex
from plansafe.verifier.model.nodes import TRUE as ALWAYS
from plansafe.verifier.model.nodes import And, Formula, Not, Task, Variable, bind, match_arguments
from plansafe.verifier.rules.model import RulePart, find_action_atom
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.worlds.encoding import InstanceLiteral
from plansafe.verifier.symbolic.worlds.formula_compiler import Binding, FormulaCompiler
from plansafe.verifier.symbolic.worlds.symbolic_state import StateChanges, SymbolicState

Objects = tuple[int, ...]
FactChange = tuple[int, int, Literal]
"""A predicate (or two times the number of predicates plus a function), a code, and the worlds in which it changes."""


class InstanceCollector:
    """Collects the worlds in which instances are violated, and undecided.

    ``ignores_preexisting``: pre-existing violations do not count (docs/language.md, "Blame"). ``skipped_rules``: the
    rules with too many instances, which are not encoded.
    """

    def __init__(self, circuit: Circuit, ignores_preexisting: bool = False) -> None:
        self.circuit = circuit
        self.ignores_preexisting = ignores_preexisting
        self.violations: list[InstanceLiteral] = []
        self.undecided: list[InstanceLiteral] = []
        self.skipped_rules: list[int] = []

    def add(self, part: int, binding: Objects, letter: int, exists: Literal, true: Literal, false: Literal) -> None:
        """Add the value of an instance at a letter that exists in the worlds of ``exists``."""
        violated = self.circuit.both(exists, false)
        if violated != FALSE:
            self.violations.append(InstanceLiteral(part, binding, letter, violated))
        if true != false ^ 1:
            undecided = self.circuit.conjunction([exists, true ^ 1, false ^ 1])
            if undecided != FALSE:
                self.undecided.append(InstanceLiteral(part, binding, letter, undecided))


class StateRule:
    """A part of a rule that every state must satisfy, or only the final state (``is_final``).

    ``candidates`` are the instances whose value may have changed since the last check.
    """

    def __init__(self, number: int, part: RulePart, compiler: FormulaCompiler, *, reads_actions: bool) -> None:
        self.number = number
        self.reads_actions = reads_actions
        self.is_final = part.mode == "end"
        possible_certain = compiler.possible_certain
        emitter = possible_certain.emitter
        self.slots = [v.slot for v in part.parameters]
        violation = possible_certain.make_possible_condition(part.body, False, keep_comparisons=True)
        self.search = compile_extension(emitter, violation, True, part.parameters)
        self._evaluate_body = compiler.compile_truth_and_falsity(part.body)
        self.candidates: list[Objects] = []
        self._last_values: dict[Objects, tuple[Literal, Literal]] = {}
        self._all_candidates: dict[Objects, None] = {}
        self._pre_existing_literals: dict[Objects, Literal] = {}
        """Instances that S0 may violate: the worlds in which they are still violated and nothing they read changed."""
        self.readers = InstanceIndex(compile_read_patterns(emitter, part.body, part.parameters))

    def store_initial_violations(self, state: SymbolicState) -> None:
        """Store the violations of S0 as pre-existing, before S0 is checked; a rule that reads actions has none."""
        for objects in () if self.reads_actions else dict.fromkeys(self.candidates):
            false = self._evaluate(state, objects)[1]
            if false != FALSE:
                self._pre_existing_literals[objects] = false
                self.readers.add(objects)

    def update_pre_existing_violations(
        self, state: SymbolicState, circuit: Circuit, changes: Sequence[FactChange]
    ) -> None:
        """Update the pre-existing violations before a letter is checked; readers of changes become candidates."""
        affected_instances: set[Objects] = set()
        for predicate, code, differs in changes:
            readers: set[Objects] = set()
            self.readers.add_readers(predicate, code, readers)
            for objects in readers:
                self._pre_existing_literals[objects] = circuit.both(self._pre_existing_literals[objects], differs ^ 1)
            affected_instances |= readers
        for objects in affected_instances:
            self._pre_existing_literals[objects] = circuit.both(
                self._pre_existing_literals[objects], self._evaluate(state, objects)[1]
            )
        self.candidates += sorted(affected_instances)

    def check(
        self, state: SymbolicState, letter: int, exists: Literal, is_last: Literal, collector: InstanceCollector
    ) -> None:
        """Check the candidates at a letter.

        The letter exists in the worlds of ``exists``, and is the last one in the worlds of ``is_last``.
        """
        if self.is_final:
            self._all_candidates.update(dict.fromkeys(self.candidates))
            self.candidates.clear()
            if is_last != FALSE:
                for objects in self._all_candidates:
                    collector.add(
                        self.number,
                        objects,
                        letter,
                        is_last,
                        *self._evaluate_without_pre_existing(state, objects, collector),
                    )
            return
        for objects in dict.fromkeys(self.candidates):
            values = self._evaluate_without_pre_existing(state, objects, collector)
            # An earlier letter exists wherever this one does: the same literals add nothing.
            if self._last_values.get(objects) != values:
                self._last_values[objects] = values
                collector.add(self.number, objects, letter, exists, *values)
        self.candidates.clear()

    def _evaluate_without_pre_existing(
        self, state: SymbolicState, objects: Objects, collector: InstanceCollector
    ) -> tuple[Literal, Literal]:
        """The worlds in which an instance is true, and false. A violation that does not count is true."""
        true, false = self._evaluate(state, objects)
        pre_existing = self._pre_existing_literals.get(objects, FALSE)
        if not collector.ignores_preexisting or pre_existing == FALSE:
            return true, false
        return collector.circuit.either(true, pre_existing), collector.circuit.both(false, pre_existing ^ 1)

    def _evaluate(self, state: SymbolicState, objects: Objects) -> tuple[Literal, Literal]:
        """The worlds in which an instance is true, and those in which it is false."""
        return self._evaluate_body(state, dict(zip(self.slots, objects, strict=True)))


class StepRule:
    """A part about the steps of one action, with conditions on the state before or, with ``after``, also after it."""

    def __init__(self, number: int, part: RulePart, compiler: FormulaCompiler) -> None:
        assert part.step is not None
        self.number = number
        self.after = part.after
        self.match = compile_step_matcher(compiler.task, part.step, part.parameters)
        guard: Formula = part.guard if part.guard is not None else ALWAYS
        bound = {-1 - argument for argument in find_action_atom(part.step).arguments if argument < 0}
        self.slots = [v.slot for v in part.parameters]
        self.unbound_parameters = [v for v in part.parameters if v.slot not in bound]
        possible_certain = compiler.possible_certain
        possible_condition = possible_certain.make_possible_condition(
            guard if part.after else And((guard, Not(part.body)))
        )
        self.bound_slots = sorted(possible_certain.emitter.free_slots(possible_condition) & bound)
        self.search = possible_certain.compile_search(possible_condition, self.unbound_parameters, self.bound_slots)
        self._evaluate_guard = compiler.compile_truth_and_falsity(guard)
        self._evaluate_body = compiler.compile_truth_and_falsity(part.body)
        self._pending_checks: list[tuple[Binding, Literal, Literal]] = []

    def check_state_before(
        self, state: SymbolicState, code: int, letter: int, exists: Literal, collector: InstanceCollector
    ) -> None:
        """Check the state before a step that leads to ``letter``; ``code``: of the objects of the step."""
        binding = self.match(code)
        if binding is None:
            return
        candidates: list[Objects] = []
        self.search(state.facts, (), candidates, *[binding[slot] for slot in self.bound_slots])
        for objects in dict.fromkeys(candidates):
            full_binding = {**binding, **bind(self.unbound_parameters, objects)}
            guard = self._evaluate_guard(state, full_binding)
            if self.after:
                self._pending_checks.append((full_binding, *guard))
            else:
                self._add(state, full_binding, *guard, letter, exists, collector)

    def check_state_after(
        self, state: SymbolicState, letter: int, exists: Literal, collector: InstanceCollector
    ) -> None:
        """Check the state after the step."""
        for binding, guard_true, guard_false in self._pending_checks:
            self._add(state, binding, guard_true, guard_false, letter, exists, collector)
        self._pending_checks.clear()

    def _add(
        self,
        state: SymbolicState,
        binding: Binding,
        guard_true: Literal,
        guard_false: Literal,
        letter: int,
        exists: Literal,
        collector: InstanceCollector,
    ) -> None:
        """Add the value of an instance: it is true where the guard is false or the body is true."""
        circuit = collector.circuit
        body_true, body_false = self._evaluate_body(state, binding)
        true, false = circuit.either(guard_false, body_true), circuit.both(guard_true, body_false)
        collector.add(self.number, tuple([binding[slot] for slot in self.slots]), letter, exists, true, false)


def compile_step_matcher(task: Task, step: Formula, parameters: Sequence[Variable]) -> Callable[[int], Binding | None]:
    """A function that matches a step pattern with the code of a step's objects, and returns the parameters' binding."""
    arguments = find_action_atom(step).arguments
    domains = {v.slot: task.domain_sets[v.domain] for v in parameters}

    return lambda code: match_arguments(arguments, task.decode(code, len(arguments)), domains)


class ChangeDispatch:
    """Finds the candidates of state rules from the changes of a letter."""

    def __init__(self, rules: list[StateRule], compiler: FormulaCompiler) -> None:
        emitter = compiler.possible_certain.emitter
        self.size = compiler.possible_certain.size
        self.rules = rules
        self._triggers: dict[int, list[tuple[list[Objects], Callable[..., None]]]] = {}
        for rule in rules:
            for trigger in rule.search.triggers:
                self._triggers.setdefault(trigger.predicate, []).append((rule.candidates, trigger.find))
        self.indexes = FactIndexes(emitter, emitter.requested_indexes)

    def collect_initial_candidates(self, state: SymbolicState) -> None:
        """Find the instances that S0 may violate."""
        self.indexes.build(state.facts)
        for rule in self.rules:
            rule.search.find_all(state.facts, (), self.indexes, 0, rule.candidates)

    def list_index_changes(self, state: SymbolicState, changes: StateChanges) -> list[tuple[int, int, bool]]:
        """The possible and the certain facts that change (predicate, code, new value), before the state is changed."""
        index_changes = []
        for predicate, code, literal in changes.facts:
            if literal > TRUE and code in state.literals[predicate]:
                continue
            for index, value in ((predicate, literal != FALSE), (predicate + self.size, literal == TRUE)):
                if (code in state.facts[index]) != value:
                    index_changes.append((index, code, value))
        return index_changes

    def collect_candidates(
        self, state: SymbolicState, changes: StateChanges, index_changes: list[tuple[int, int, bool]]
    ) -> None:
        """Find the instances that the changes may affect, after the state was changed."""
        self.indexes.follow(index_changes)
        facts, tables, size = state.facts, self.indexes, self.size
        for predicate, code, _ in changes.facts:
            for index in (predicate, predicate + size):
                for candidates, find in self._triggers.get(index, ()):
                    find(facts, (), tables, code, candidates)
        for function, code, _ in changes.quantities:
            for candidates, find in self._triggers.get(2 * size + function, ()):
                find(facts, (), tables, code, candidates)
