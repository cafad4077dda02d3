"""Rules about steps and their past: latches store the truth of past formulas, which is read when a step matches.

A condition such as ``(once (washed ?food))`` depends on ``?food`` alone, even in a rule about a step with six
parameters. Thus each maximal temporal subformula has its own automaton, with an instance for each binding of *its*
free variables, and the rule is evaluated only at matching steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple, assert_never

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.condition_evaluator import ConditionEvaluator
from plansafe.verifier.execution.monitors.finding import Binding
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.stepcheck import LatchTruth, StepCheck
from plansafe.verifier.execution.monitors.temporal_grounding import make_structural_key
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
    Temporal,
    Variable,
    bind,
)
from plansafe.verifier.model.operations import children, free_slots, is_temporal, mentions
from plansafe.verifier.rules.rule_conjuncts import is_past_only


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
        self.of_past = formula.operator in ("yesterday", "weak-yesterday") and not emitter.task.functions
        """Whether the truth does not depend on the present letter."""
        self.unknown_bindings: set[Binding] = set()
        """The bindings whose truth cannot be decided; ``()`` if none can be."""
        self._idle_bindings: list[Binding] = []

    def step(self, state: State, letter_time: LetterTime) -> None:
        """Read a letter; undecided instances become unknown, and are reported only by the checks that read them."""
        super().step(state, letter_time)
        default = self.default.state
        for binding in self._idle_bindings:
            if self.instances[binding].state == default:  # it behaves like the default instance
                del self.instances[binding]
                self.readers.remove(binding)
                self._awake.discard(binding)
        self._idle_bindings.clear()
        if self.undecided:
            self.unknown_bindings |= self.undecided
            self.undecided = set()

    def _advance(self, binding: Binding, instance: Instance, time_bits: int, letter_time: LetterTime) -> None:
        """Read a letter, without violations and blame."""
        instance.state, sleeps = self.program.move(
            instance.state, instance.bits | self._global_bits, time_bits, letter_time
        )
        (self._awake.discard if sleeps else self._awake.add)(binding)
        if instance.bits == self.default_bits:
            self._idle_bindings.append(binding)

    def finish(self, _state: State, letter: int) -> None:
        """A latch reports nothing at the end of the trace."""

    def truth(self, binding: Binding) -> bool | None:
        """The formula at the letter read last; ``None`` if it cannot be decided."""
        if self.unknown_bindings and (binding in self.unknown_bindings or () in self.unknown_bindings):
            return None
        return self.program.output(self.instances.get(binding, self.default).state)

    def predict_truth(self, binding: Binding, state: State, letter_time: LetterTime) -> bool | None:
        """The value of :meth:`truth` after the letter of ``state`` at ``letter_time``, without a change."""
        if self.unknown_bindings and (binding in self.unknown_bindings or () in self.unknown_bindings):
            return None
        global_bits, local_bits = self.leaves.evaluate_global(state), self.leaves.evaluate_local(state, binding)
        if global_bits is None or local_bits is None:
            return None
        program, instance = self.program, self.instances.get(binding, self.default)
        letter = local_bits | global_bits
        return program.output(program.move(instance.state, letter, program.time_bits(letter_time), letter_time)[0])

    def fork(self) -> Latch:
        """An independent copy."""
        copy = super().fork()
        assert isinstance(copy, Latch)
        copy.unknown_bindings = set(self.unknown_bindings)
        copy._idle_bindings = []  # noqa: SLF001 - of its own class
        return copy


def make_latch_reader(monitors: Sequence[object]) -> LatchTruth:
    """The function that reads the latches among some monitors."""

    def truth(number: int, binding: Binding) -> bool | None:
        latch = monitors[number]
        assert isinstance(latch, Latch)
        return latch.truth(binding)

    return truth


class _LatchReference(NamedTuple):
    """The latch of a temporal subformula (its number among the monitors), and the slots of its free variables."""

    monitor: int
    slots: tuple[int, ...]


class LatchedCheck(StepCheck):
    """``body`` must hold whenever ``step`` matches and ``guard`` holds; latches store the truth of its past formulas.

    New latches are added to ``monitors`` and ``latches``, which has the number of each latch by its formula: the rules
    that a mapping makes of one rule share latches.
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
        momentary: frozenset[int],
        monitors: list[InvariantMonitor | Automaton],
        latches: dict[tuple[object, ...], int],
    ) -> None:
        super().__init__(part, emitter, parameters, step, guard, TRUE, after=True)
        self.after = False
        self.slots = [v.slot for v in parameters]
        self.latch_references: dict[int, _LatchReference] = {}
        self._evaluators: dict[int, tuple[ConditionEvaluator, tuple[int, ...]]] = {}
        self._body = body
        temporal: list[tuple[Temporal, tuple[Variable, ...]]] = []
        self._prepare(emitter, body, parameters, temporal)
        for formula, variables in temporal:
            key = (tuple([(v.slot, v.domain) for v in variables]), *make_structural_key(formula))
            if key not in latches:
                monitors.append(Latch(part, emitter, variables, formula, momentary))
                latches[key] = len(monitors) - 1
            reference = _LatchReference(latches[key], tuple([v.slot for v in variables]))
            self.latch_references[id(formula)] = reference

    def _prepare(
        self,
        emitter: Emitter,
        formula: Formula,
        variables: tuple[Variable, ...],
        temporal: list[tuple[Temporal, tuple[Variable, ...]]],
    ) -> None:
        """Find the maximal temporal subformulas with their free variables; compile the maximal other subformulas."""
        if is_temporal(formula) and not isinstance(formula, Temporal):
            if isinstance(formula, Quantified):
                variables = (*variables, *formula.variables)
            for part in children(formula):
                self._prepare(emitter, part, variables, temporal)
            return
        free = free_slots(formula)
        free_variables = tuple([v for v in variables if v.slot in free])
        if isinstance(formula, Temporal):
            temporal.append((formula, free_variables))
        else:
            slots = tuple([v.slot for v in free_variables])
            self._evaluators[id(formula)] = ConditionEvaluator(emitter, formula, free_variables), slots

    def check_with_latches(self, state: State, truth: LatchTruth, letter_time: LetterTime) -> None:
        """Evaluate the steps that matched, after the latches have read the letter."""
        for binding in self._due:
            self._record(self._evaluate(state, binding, truth), binding, letter_time.letter + 1, letter_time.letter)
        self._due.clear()

    def _evaluate(self, state: State, binding: Binding, past: LatchTruth) -> bool | None:
        return self._evaluate_formula(state, past, self._body, dict(zip(self.slots, binding, strict=True)))

    def _evaluate_formula(
        self, state: State, truth: LatchTruth, formula: Formula, binding: dict[int, int]
    ) -> bool | None:
        reference = self.latch_references.get(id(formula))
        if reference is not None:
            return truth(reference.monitor, tuple([binding[s] for s in reference.slots]))
        compiled = self._evaluators.get(id(formula))
        if compiled is not None:
            return compiled[0](state, tuple([binding[s] for s in compiled[1]]))
        match formula:
            case Not():
                value = self._evaluate_formula(state, truth, formula.body, binding)
                return None if value is None else not value
            case And() | Or():
                values = [self._evaluate_formula(state, truth, part, binding) for part in formula.parts]
                deciding = isinstance(formula, Or)
            case Quantified():
                domains = [self.task.domains[v.domain] for v in formula.variables]
                values = [
                    self._evaluate_formula(state, truth, formula.body, binding | bind(formula.variables, objects))
                    for objects in product(*domains)
                ]
                deciding = not formula.universal
            case model.Truth() | Atom() | Equal() | Compare() | Temporal():
                raise AssertionError("has a latch or compiled code")
            case _:
                assert_never(formula)
        if deciding in values:
            return deciding
        return None if None in values else not deciding


def can_use_latches(
    is_momentary: bool, guard: Formula | None, body: Formula, after: bool, momentary: frozenset[int]
) -> bool:
    """Whether latches can evaluate a rule about steps."""
    return (
        is_momentary
        and not after
        and is_temporal(body)
        and is_past_only(body)
        and (guard is None or not (is_temporal(guard) or mentions(guard, momentary)))
    )
