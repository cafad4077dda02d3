"""Conditions as propositions of facts, of the memory of monitors, and of the state after a step (by regression)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.latch import LatchedCheck
from plansafe.verifier.execution.monitors.monitor_summary import StateMonitor
from plansafe.verifier.execution.monitors.program import Program
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Binding,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    bind,
    ground,
    match_arguments,
)
from plansafe.verifier.model.operations import past_operator
from plansafe.verifier.planning.lifted_relaxation import is_static
from plansafe.verifier.planning.proposition_network import Conjunction, PropositionNetwork, conjoin

MAX_COMPILED_NODES = 3_000_000
"""Nodes of formulas that are compiled."""
_OUTPUT = -1
"""Stands for the whole formula where the index of a past subformula is expected."""


class MonitorLetter(NamedTuple):
    """The letter at which the step with the ``action_fact`` is taken (``None``: some later letter).

    ``monitor``: the number of the monitor that remembers the past, for ``binding``.
    """

    monitor: int
    program: Program
    binding: tuple[int, ...]
    action_fact: tuple[int, int] | None


class LatchLetter(NamedTuple):
    """The letter at which a step is taken, for a rule whose past formulas are monitored by latches."""

    check: LatchedCheck
    action_fact: tuple[int, int] | None


class StateAfterStep(NamedTuple):
    """The letter after a step."""

    step: GroundAction


Letter = MonitorLetter | LatchLetter | StateAfterStep | None
"""The letter at which a condition is read; ``None``: the present state."""


class _MemoryKey(NamedTuple):
    """What a monitor remembers for a binding: the ``value`` of a past subformula, or of the formula (``_OUTPUT``)."""

    monitor: int
    binding: tuple[int, ...]
    past_index: int
    value: bool


class RelaxedConditions:
    """Compiles the conditions of one task into conjunctions over a network.

    Raises :class:`LimitReached` beyond :data:`MAX_COMPILED_NODES` nodes of formulas in all.
    """

    def __init__(
        self, engine: Engine, facts: list[set[int]], monitors: list[StateMonitor], network: PropositionNetwork
    ) -> None:
        self.engine = engine
        self.task = engine.task
        self.facts = facts
        self.monitors = monitors
        self.network = network
        self._compiled_node_count = 0
        self._memory_propositions: dict[_MemoryKey, int] = {}
        self._action_predicates = frozenset(engine.action_predicates.values())

    def compile_conjunction(
        self, formula: Formula, binding: Binding, positive: bool, letter: Letter = None
    ) -> Conjunction | None:
        """Compile the propositions that a condition (negated unless ``positive``) needs; ``None``: it is never true."""
        self._compiled_node_count += 1
        if self._compiled_node_count > MAX_COMPILED_NODES:
            raise LimitReached(LimitKind.GROUND_TASK)
        match formula:
            case Truth():
                return () if formula.value == positive else None
            case Not():
                return self.compile_conjunction(formula.body, binding, not positive, letter)
            case Equal():
                left, right = ground((formula.left, formula.right), binding)
                return () if (left == right) == positive else None
            case Atom():
                return self._compile_literal(formula, binding, positive, letter)
            case And() | Or():
                parts = (self.compile_conjunction(part, binding, positive, letter) for part in formula.parts)
                return conjoin(parts) if isinstance(formula, And) == positive else self.network.disjoin(parts)
            case Quantified():
                instances = self.task.bindings(formula.variables, binding)
                parts = (
                    self.compile_conjunction(formula.body, full_binding, positive, letter) for full_binding in instances
                )
                return conjoin(parts) if formula.universal == positive else self.network.disjoin(parts)
            case Temporal() if isinstance(letter, MonitorLetter) and id(formula) in letter.program.past_index:
                return self._compile_past(formula, binding, positive, letter)
            case Temporal() if isinstance(letter, LatchLetter):
                return self._compile_latched(formula, binding, positive, letter)
            case Compare() | Temporal():
                return ()  # ignored by the relaxation
            case _:
                assert_never(formula)

    def _compile_latched(
        self, formula: Temporal, binding: Binding, positive: bool, letter: LatchLetter
    ) -> Conjunction | None:
        """Compile a past formula whose value a latch stores."""
        query = letter.check.latch_references[id(formula)]
        latch = self.monitors[query.monitor]
        assert isinstance(latch, Automaton)
        objects = tuple([binding[slot] for slot in query.slots])
        monitor_letter = MonitorLetter(query.monitor, latch.program, objects, letter.action_fact)
        latch_binding = bind(latch.parameters, objects)
        value = self.compile_conjunction(latch.program.formula, latch_binding, positive, monitor_letter)
        if latch.reads_actions:
            return value
        # The latch has already read the present letter, so its memory is about the next letters.
        return self.network.disjoin([(self._find_output_proposition(query.monitor, objects, positive),), value])

    def _compile_past(
        self, formula: Temporal, binding: Binding, positive: bool, letter: MonitorLetter
    ) -> Conjunction | None:
        """Compile a past formula from the memory of its monitor and the values of its operands at the letter."""
        first, last = formula.operands[0], formula.operands[-1]
        memory = (self._find_memory_proposition(formula, binding, positive, letter),)
        operator = past_operator(formula)
        match operator:
            case "yesterday" | "weak-yesterday":
                return memory
            case "once" | "historically":
                present_value = self.compile_conjunction(first, binding, positive, letter)
                is_disjunction = (operator == "once") == positive
                parts = [memory, present_value]
                return self.network.disjoin(parts) if is_disjunction else conjoin(parts)
            case "since":
                lasts = self.compile_conjunction(first, binding, positive, letter)
                begins = self.compile_conjunction(last, binding, positive, letter)
                if positive:
                    return self.network.disjoin([begins, conjoin([lasts, memory])])
                return conjoin([begins, self.network.disjoin([lasts, memory])])
            case _:
                assert_never(operator)

    def _find_output_proposition(self, monitor: int, binding: tuple[int, ...], value: bool) -> int:
        """Return the proposition that a monitor's whole formula has a value."""
        key = _MemoryKey(monitor, binding, _OUTPUT, value)
        if key not in self._memory_propositions:
            self._memory_propositions[key] = self.network.add_proposition()
        return self._memory_propositions[key]

    def _find_memory_proposition(self, formula: Temporal, binding: Binding, value: bool, letter: MonitorLetter) -> int:
        """Return the proposition that a past formula has a value in memory, which is added with its achiever if new."""
        key = _MemoryKey(letter.monitor, letter.binding, letter.program.past_index[id(formula)], value)
        proposition = self._memory_propositions.get(key)
        if proposition is None:
            proposition = self._memory_propositions[key] = self.network.add_proposition()
            first, last = formula.operands[0], formula.operands[-1]
            later_letter = letter._replace(action_fact=None)
            operator = past_operator(formula)
            match operator:
                case "once" | "historically":
                    # Once it has this value, it keeps it.
                    is_permanent = (operator == "once") == value
                    precondition = (
                        self.compile_conjunction(first, binding, value, later_letter) if is_permanent else None
                    )
                case "since" if value:
                    precondition = self.compile_conjunction(last, binding, True, later_letter)
                case "since":
                    negated_operands = [
                        self.compile_conjunction(operand, binding, False, later_letter) for operand in (first, last)
                    ]
                    precondition = conjoin(negated_operands)
                case "yesterday" | "weak-yesterday":
                    precondition = self.compile_conjunction(first, binding, value, later_letter)
                case _:
                    assert_never(operator)
            if precondition is not None:
                self.network.effects[self.network.add_operator(precondition)].append(proposition)
        return proposition

    def _compile_literal(self, atom: Atom, binding: Binding, positive: bool, letter: Letter) -> Conjunction | None:
        predicate = atom.predicate
        code = self.task.code_of(atom.arguments, binding)
        if is_static(self.engine, predicate):
            return () if (code in self.facts[predicate]) == positive else None
        if predicate in self._action_predicates:
            if not isinstance(letter, MonitorLetter | LatchLetter) or (letter.action_fact is None and not positive):
                return ()
            if letter.action_fact is not None:
                return () if ((predicate, code) == letter.action_fact) == positive else None
        if isinstance(letter, StateAfterStep):
            return self._regress_literal(atom, binding, positive, letter.step)
        if not positive and self.engine.axioms is not None and predicate in self.engine.axioms.derived:
            return ()
        return (self.network.find_proposition((predicate, code, positive)),)

    def _regress_literal(self, atom: Atom, binding: Binding, positive: bool, step: GroundAction) -> Conjunction | None:
        """Compile the condition before a step for a literal to be true after it."""
        if self.engine.axioms is not None and atom.predicate in self.engine.axioms.derived:
            return ()
        arguments = ground(atom.arguments, binding)
        addition_conditions: list[Conjunction | None] = []
        persistence_conditions: list[Conjunction | None] = []
        parameters = step.binding
        for effect in step.action.start.effects:
            domains = {v.slot: self.task.domain_sets[v.domain] for v in effect.variables}
            for changes, conditions, value in (
                (effect.adds, addition_conditions, positive),
                (effect.deletes, persistence_conditions, not positive),
            ):
                for change in [change for change in changes if change.predicate == atom.predicate]:
                    unifier = match_arguments(change.arguments, arguments, domains, parameters)
                    if unifier is None:
                        continue
                    free_variables = [v for v in effect.variables if v.slot not in unifier]
                    for full_binding in self.task.bindings(free_variables, unifier):
                        conditions.append(self.compile_conjunction(effect.condition, full_binding, value))
        persistence_conditions.insert(0, self._compile_literal(atom, binding, positive, None))
        if positive:
            return self.network.disjoin([*addition_conditions, conjoin(persistence_conditions)])
        return conjoin([*addition_conditions, self.network.disjoin(persistence_conditions)])

    def list_memory_propositions(self, runtime: Runtime) -> Iterator[int]:
        """Yield the propositions about the memory of monitors that are true now."""
        for (monitor, binding, past_index, value), proposition in self._memory_propositions.items():
            automaton = runtime.monitors[monitor]
            assert isinstance(automaton, Automaton)
            instance = automaton.instances.get(binding)
            if instance is None and (automaton.default_retired or binding in automaton.retired):
                yield proposition  # both values, as the instance is decided permanently
                continue
            state = automaton.default_instance.state if instance is None else instance.state
            past_values, _, output = automaton.program.states[state]
            present_value = output if past_index == _OUTPUT else bool(past_values & (1 << past_index))
            if present_value == value:
                yield proposition
