"""Monitors of rules about steps and their past: latches store the truth of past formulas until a step matches.

A condition such as ``(once (washed ?food))`` depends on ``?food`` alone, even in a rule about a step with six
parameters. Thus each maximal temporal subformula has its own automaton, with an instance for each binding of *its*
free variables, and the rule is evaluated only at matching steps. Rules with the same subformula share its automaton.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import assert_never

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.normal_forms import convert_to_dnf_or_literal, find_bound_slots
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.condition_evaluator import ConditionEvaluator
from plansafe.verifier.execution.monitors.finding import Binding
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.stepcheck import LatchReader, StepCheck
from plansafe.verifier.execution.monitors.temporal_grounding import make_renamed_key
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.monitors.violation_log import Instance
from plansafe.verifier.execution.state import State
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    TRUE,
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Task,
    Temporal,
    Variable,
    bind,
)
from plansafe.verifier.model.operations import children, conjuncts, free_slots, has_comparison, is_temporal, mentions
from plansafe.verifier.rules.model import RulePart, find_action_predicate

MAX_ENUMERATED_BINDINGS = 1000
"""The most bindings of a rule for a step and a guard without past formulas."""


class Latch(Automaton):
    """The truth of a past formula at the present letter, by binding of its free variables; it has no violations."""

    affects_end = False

    def __init__(
        self,
        part: int,
        emitter: Emitter,
        parameters: tuple[Variable, ...],
        formula: Temporal,
        momentary: frozenset[int],
    ) -> None:
        super().__init__(part, emitter, parameters, "latch", formula, reads_actions=mentions(formula, momentary))
        self.unknown_bindings: set[Binding] = set()
        """The bindings whose truth cannot be decided; ``()`` if none can be."""
        self._idle_bindings: list[Binding] = []
        """The bindings whose leaves have their default values again at the letter read last."""
        self._true_bindings: set[Binding] = set()
        """The bindings of instances under which the formula holds at the letter read last."""

    def step(self, state: State, letter_time: LetterTime) -> None:
        """Read a letter; undecided instances become unknown, and are reported only by the checks that read them."""
        super().step(state, letter_time)
        default_state = self.default_instance.state
        for binding in self._idle_bindings:
            if self.instances[binding].state == default_state:  # it behaves like the default instance
                del self.instances[binding]
                self.readers.remove(binding)
                self._awake.discard(binding)
                self._true_bindings.discard(binding)
        self._idle_bindings.clear()
        if self.undecided:
            self.unknown_bindings |= self.undecided
            self.undecided = set()

    def _advance(self, binding: Binding, instance: Instance, time_bits: int, letter_time: LetterTime) -> None:
        """Read a letter, without violations and blame."""
        instance.state, sleeps = self.program.move(
            instance.state, instance.bits | self._global_bits, time_bits, letter_time
        )
        if sleeps:
            self._awake.discard(binding)
        else:
            self._awake.add(binding)
        if self.program.read_output(instance.state):
            self._true_bindings.add(binding)
        else:
            self._true_bindings.discard(binding)
        if instance.bits == self.default_bits:
            self._idle_bindings.append(binding)

    def _retire(self, binding: Binding) -> None:
        """Remove an instance, whose truth is unknown from now on."""
        super()._retire(binding)
        self._true_bindings.discard(binding)

    def finish(self, _state: State, letter: int) -> None:
        """A latch reports nothing at the end of the trace."""

    @property
    def may_be_true(self) -> bool:
        """Whether the formula may hold under some binding at the letter read last."""
        return bool(self._true_bindings) or self.program.read_output(self.default_instance.state)

    def read_truth(self, binding: Binding) -> bool | None:
        """Return the truth of the formula at the letter read last; ``None`` if it cannot be decided."""
        if self.unknown_bindings and (binding in self.unknown_bindings or () in self.unknown_bindings):
            return None
        return self.program.read_output(self.instances.get(binding, self.default_instance).state)

    def fork(self) -> Latch:
        """An independent copy."""
        copy = super().fork()
        assert isinstance(copy, Latch)
        copy.unknown_bindings = set(self.unknown_bindings)
        copy._idle_bindings = []  # noqa: SLF001 - of its own class
        copy._true_bindings = set(self._true_bindings)  # noqa: SLF001 - of its own class
        return copy


def make_latch_reader(monitors: Sequence[object]) -> LatchReader:
    """Return the function that reads the latches among some monitors."""

    def read_latch(number: int, binding: Binding) -> bool | None:
        latch = monitors[number]
        assert isinstance(latch, Latch)
        return latch.read_truth(binding)

    return read_latch


class _LatchReference(NamedTuple):
    """The latch of a temporal subformula (its number among the monitors), and the slots of its free variables."""

    monitor: int
    slots: tuple[int, ...]


class LatchTable:
    """The latches of a runtime, which are added to ``monitors``. Formulas that differ only in variables share one.

    A latch for one variable is for all objects, so that rules about different types share it.
    """

    def __init__(
        self, emitter: Emitter, momentary: frozenset[int], monitors: list[InvariantMonitor | Automaton]
    ) -> None:
        self._emitter = emitter
        self.momentary = momentary
        self._monitors = monitors
        self._numbers: dict[tuple[object, ...], int] = {}
        """By the parameters' domains and the formula, the number of the latch among the monitors."""
        domains = emitter.task.domains
        self._all_objects = next((d for d in range(len(domains)) if emitter.contains_all_objects(d)), None)

    def find_latch(self, part: int, formula: Temporal, variables: dict[int, Variable]) -> _LatchReference:
        """Return the latch of a formula, made if there is none; ``variables`` has the formula's free variables by slot.

        ``part``: the part of a rule that reads the latch.
        """
        formula_key, slots = make_renamed_key(formula)
        parameters = tuple([variables[slot] for slot in slots if slot in variables])
        if len(parameters) == 1 and self._all_objects is not None:
            parameters = (parameters[0]._replace(domain=self._all_objects),)
        key = (tuple([v.domain for v in parameters]), *formula_key)
        if key not in self._numbers:
            latch = Latch(part, self._emitter, parameters, formula, self.momentary)
            self._numbers[key] = len(self._monitors)
            self._monitors.append(latch)
        return _LatchReference(self._numbers[key], tuple([v.slot for v in parameters]))


class LatchedCheck(StepCheck):
    """``body`` must hold whenever ``step`` matches and ``guard`` holds; latches store the truth of past formulas.

    With ``after``, only the guard has past formulas. Conditions about the past, and about the actions of the letter,
    are *late*: they are evaluated when the latches have read the letter.
    """

    needs_latches = True

    def __init__(
        self,
        part: int,
        emitter: Emitter,
        parameters: tuple[Variable, ...],
        step: Formula,
        guard: Formula | None,
        body: Formula,
        latches: LatchTable,
        *,
        after: bool,
    ) -> None:
        early_guards, self._late_guards = _split_guard(guard, latches.momentary)
        super().__init__(part, emitter, parameters, step, And(tuple(early_guards)), body if after else TRUE, after=True)
        self.after = after
        self.slots = [v.slot for v in parameters]
        self.latch_references: dict[int, _LatchReference] = {}
        """By identity of a temporal subformula."""
        self._evaluators: dict[int, tuple[ConditionEvaluator, tuple[int, ...]]] = {}
        """By identity of another subformula, its evaluator and the slots of its free variables."""
        self._late_body = TRUE if after else body
        for formula in (*self._late_guards, self._late_body):
            self._prepare_formula(latches, emitter, formula, {v.slot: v for v in parameters})
        references = [self.latch_references.get(id(guard)) for guard in self._late_guards]
        self._required_latches = tuple([reference.monitor for reference in references if reference is not None])
        """The latches (numbers of monitors) of the guards about the past alone, which must hold under some binding."""

    def _prepare_formula(
        self, latches: LatchTable, emitter: Emitter, formula: Formula, variables: dict[int, Variable]
    ) -> None:
        """Find the latches of the maximal temporal subformulas; compile the maximal other subformulas."""
        if isinstance(formula, Temporal):
            self.latch_references[id(formula)] = latches.find_latch(self.part, formula, variables)
        elif is_temporal(formula):
            if isinstance(formula, Quantified):
                variables = variables | {v.slot: v for v in formula.variables}
            for part in children(formula):
                self._prepare_formula(latches, emitter, part, variables)
        else:
            free_variables = tuple([variables[slot] for slot in sorted(free_slots(formula))])
            slots = tuple([v.slot for v in free_variables])
            self._evaluators[id(formula)] = ConditionEvaluator(emitter, formula, free_variables), slots

    def may_be_due(self, monitors: Sequence[object]) -> bool:
        """Whether the guards about the past may hold under some binding, after the latches have read the letter."""
        for number in self._required_latches:
            latch = monitors[number]
            assert isinstance(latch, Latch)
            if not latch.may_be_true:
                return False
        return True

    def check_with_latches(self, state: State, read_latch: LatchReader, letter_time: LetterTime) -> None:
        """Evaluate the steps that matched, after the latches have read the letter."""
        due_bindings = [binding for binding in self._due_bindings if self._late_guards_hold(state, binding, read_latch)]
        self._due_bindings[:] = due_bindings if self.after else []
        for binding in () if self.after else due_bindings:
            self._record_value(
                self._evaluate(state, binding, read_latch), binding, letter_time.letter + 1, letter_time.letter
            )

    def _late_guards_hold(self, state: State, binding: Binding, read_latch: LatchReader) -> bool:
        """Whether the guards about the past and the actions of the letter hold; they read no numbers."""
        slot_binding = dict(zip(self.slots, binding, strict=True))
        return all(self._evaluate_formula(state, read_latch, formula, slot_binding) for formula in self._late_guards)

    def _evaluate(self, state: State, binding: Binding, read_latch: LatchReader) -> bool | None:
        """Return the truth of the part of the body that is evaluated late; ``None`` if it cannot be decided."""
        return self._evaluate_formula(state, read_latch, self._late_body, dict(zip(self.slots, binding, strict=True)))

    def _evaluate_formula(
        self, state: State, read_latch: LatchReader, formula: Formula, binding: dict[int, int]
    ) -> bool | None:
        """Return the truth of a formula under a binding of slots; ``None`` if it cannot be decided."""
        reference = self.latch_references.get(id(formula))
        if reference is not None:
            return read_latch(reference.monitor, tuple([binding[s] for s in reference.slots]))
        entry = self._evaluators.get(id(formula))
        if entry is not None:
            evaluator, slots = entry
            return evaluator(state, tuple([binding[s] for s in slots]))
        match formula:
            case Not():
                value = self._evaluate_formula(state, read_latch, formula.body, binding)
                return None if value is None else not value
            case And() | Or():
                values = (self._evaluate_formula(state, read_latch, part, binding) for part in formula.parts)
                deciding_value = isinstance(formula, Or)
            case Quantified():
                domains = [self.task.domains[v.domain] for v in formula.variables]
                values = (
                    self._evaluate_formula(state, read_latch, formula.body, binding | bind(formula.variables, objects))
                    for objects in product(*domains)
                )
                deciding_value = not formula.universal
            case model.Truth() | Atom() | Equal() | Compare() | Temporal():
                raise AssertionError("has a latch or compiled code")
            case _:
                assert_never(formula)
        is_unknown = False
        for value in values:
            if value is deciding_value:
                return deciding_value
            is_unknown = is_unknown or value is None
        return None if is_unknown else not deciding_value


def can_use_latches(task: Task, part: RulePart, momentary: frozenset[int]) -> bool:
    """Whether latches can evaluate a part of a rule about steps, so that it needs no automaton of its own."""
    assert part.step is not None
    if find_action_predicate(part.step) not in momentary:
        return False
    if part.after and (is_temporal(part.body) or mentions(part.body, momentary)):
        return False
    early_guards, late_guards = _split_guard(part.guard, momentary)
    if not late_guards and is_temporal(part.body):
        return True
    if any([has_comparison(f) for f in (*early_guards, *late_guards, part.body)]):
        return False  # an automaton leaves an instance undecided from the first undefined number on
    # The bindings that the step and the guard leave open are enumerated.
    for disjunct in convert_to_dnf_or_literal(And((part.step, *early_guards))):
        bound = find_bound_slots(disjunct)
        sizes = [len(task.domains[v.domain]) for v in part.parameters if v.slot not in bound]
        if prod(sizes) > MAX_ENUMERATED_BINDINGS:
            return False
    return True


def _split_guard(guard: Formula | None, momentary: frozenset[int]) -> tuple[list[Formula], list[Formula]]:
    """Return the conjuncts of a guard about the state, and those about the past or the actions of the letter."""
    early_parts: list[Formula] = []
    late_parts: list[Formula] = []
    for part in () if guard is None else conjuncts(guard):
        if is_temporal(part) or mentions(part, momentary):
            late_parts.append(part)
        else:
            early_parts.append(part)
    return early_parts, late_parts
