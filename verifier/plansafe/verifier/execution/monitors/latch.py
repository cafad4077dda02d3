"""Rules about steps that look back: what the past says is kept in latches, and asked where a step matches.

A condition such as ``(once (washed ?food))`` depends on ``?food`` alone, also in a rule about a step with six
parameters. So each maximal temporal subformula has an automaton of its own, with an instance for each binding of *its*
free variables, and the rule is judged only at the steps that it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple, assert_never

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.execution.monitors.automaton import Automaton, Instance
from plansafe.verifier.execution.monitors.finding import Binding
from plansafe.verifier.execution.monitors.invariant import Invariant, Truth
from plansafe.verifier.execution.monitors.stepcheck import LatchTruth, StepCheck
from plansafe.verifier.execution.monitors.temporal_grounding import structural_key
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
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
    """The truth of a past formula at the present letter, for each binding of its free variables; violates nothing."""

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
        """Whether the letter itself decides nothing, nor leaves anything undecided."""
        self.unknown: set[Binding] = set()
        self._idle: list[Binding] = []

    def step(self, state: State, moment: LetterTime) -> None:
        """Read a letter; instances that cannot be decided are unknown to whoever asks, and to nobody else."""
        super().step(state, moment)
        default = self.default.state
        for binding in self._idle:
            if self.instances[binding].state == default:  # it is as those are that never differed
                del self.instances[binding]
                self.readers.remove(binding)
                self._awake.discard(binding)
        self._idle.clear()
        if self.undecided:
            self.unknown |= self.undecided
            self.undecided = set()

    def _advance(self, binding: Binding, instance: Instance, time_bits: int, moment: LetterTime) -> None:
        """Read a letter: nothing is violated, and nobody is to blame."""
        instance.state, sleeps = self.program.move(instance.state, instance.bits | self._global_bits, time_bits, moment)
        (self._awake.discard if sleeps else self._awake.add)(binding)
        if instance.bits == self.default_bits:
            self._idle.append(binding)

    def finish(self, _state: State, letter: int) -> None:
        """The trace ends: nothing is said."""

    def truth(self, binding: Binding) -> bool | None:
        """The formula at the letter read last; ``None`` if it cannot be decided."""
        if self.unknown and (binding in self.unknown or () in self.unknown):
            return None
        return self.program.output(self.instances.get(binding, self.default).state)

    def predict_truth(self, binding: Binding, state: State, moment: LetterTime) -> bool | None:
        """What :meth:`truth` would say after the letter of ``state`` at ``moment``. Nothing is changed."""
        if self.unknown and (binding in self.unknown or () in self.unknown):
            return None
        shared, own = self._bits(state, None), self._bits(state, binding)
        if shared is None or own is None:
            return None
        now = self.instances.get(binding, self.default).state
        return self.program.output(self.program.move(now, own | shared, self.program.time_bits(moment), moment)[0])

    def fork(self) -> Latch:
        """An independent copy."""
        copy = super().fork()
        assert isinstance(copy, Latch)
        copy.unknown = set(self.unknown)
        copy._idle = []  # noqa: SLF001 - of its own class
        return copy


def latch_truth(monitors: Sequence[object]) -> LatchTruth:
    """What the latches among some monitors say."""

    def truth(number: int, binding: Binding) -> bool | None:
        latch = monitors[number]
        assert isinstance(latch, Latch)
        return latch.truth(binding)

    return truth


class _Asked(NamedTuple):
    """A temporal subformula: the latch to ask (its number among the monitors), and the slots of its free variables."""

    monitor: int
    slots: tuple[int, ...]


class LatchedCheck(StepCheck):
    """``body`` must hold wherever ``step`` matches and ``guard`` holds; what it says of the past is asked of latches.

    ``monitors``, to which the latches are added; ``known`` are the numbers of those that are there, by what they say:
    rules that a mapping splits into several ask the same.
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
        monitors: list[Invariant | Automaton],
        known: dict[tuple[object, ...], int],
    ) -> None:
        super().__init__(part, emitter, parameters, step, guard, TRUE, after=True)
        self.after = False
        self.slots = [v.slot for v in parameters]
        self.asked: dict[int, _Asked] = {}
        self._truths: dict[int, tuple[Truth, tuple[int, ...]]] = {}
        self._body = body
        temporal: list[tuple[Temporal, tuple[Variable, ...]]] = []
        self._prepare(emitter, body, parameters, temporal)
        for formula, own in temporal:
            key = (tuple([(v.slot, v.domain) for v in own]), *structural_key(formula))
            if key not in known:
                monitors.append(Latch(part, emitter, own, formula, momentary))
                known[key] = len(monitors) - 1
            self.asked[id(formula)] = _Asked(known[key], tuple([v.slot for v in own]))

    def _prepare(
        self,
        emitter: Emitter,
        formula: Formula,
        variables: tuple[Variable, ...],
        temporal: list[tuple[Temporal, tuple[Variable, ...]]],
    ) -> None:
        """Find each maximal temporal subformula with its free variables; generate code for each maximal other one."""
        if is_temporal(formula) and not isinstance(formula, Temporal):
            if isinstance(formula, Quantified):
                variables = (*variables, *formula.variables)
            for part in children(formula):
                self._prepare(emitter, part, variables, temporal)
            return
        free = free_slots(formula)
        own = tuple([v for v in variables if v.slot in free])
        if isinstance(formula, Temporal):
            temporal.append((formula, own))
        else:
            self._truths[id(formula)] = (Truth(emitter, formula, own), tuple([v.slot for v in own]))

    def check_with_latches(self, state: State, truth: LatchTruth, moment: LetterTime) -> None:
        """The letter has been read by the latches: judge the steps that matched."""
        for binding in self._due:
            self._note(self._asked_now(state, binding, truth), binding, moment.letter + 1, moment.letter)
        self._due.clear()

    def _asked_now(self, state: State, binding: Binding, past: LatchTruth) -> bool | None:
        return self._value(state, past, self._body, dict(zip(self.slots, binding, strict=True)))

    def _value(self, state: State, truth: LatchTruth, formula: Formula, binding: dict[int, int]) -> bool | None:
        asked = self.asked.get(id(formula))
        if asked is not None:
            return truth(asked.monitor, tuple([binding[s] for s in asked.slots]))
        known = self._truths.get(id(formula))
        if known is not None:
            return known[0](state, tuple([binding[s] for s in known[1]]))
        match formula:
            case Not():
                value = self._value(state, truth, formula.body, binding)
                return None if value is None else not value
            case And() | Or():
                values = [self._value(state, truth, part, binding) for part in formula.parts]
                deciding = isinstance(formula, Or)
            case Quantified():
                domains = [self.task.domains[v.domain] for v in formula.variables]
                values = [
                    self._value(state, truth, formula.body, binding | bind(formula.variables, objects))
                    for objects in product(*domains)
                ]
                deciding = not formula.universal
            case model.Truth() | Atom() | Equal() | Compare() | Temporal():
                raise AssertionError("latched, or generated")
            case _:
                assert_never(formula)
        if deciding in values:
            return deciding
        return None if None in values else not deciding


def can_use_latches(
    step_simple: bool, guard: Formula | None, body: Formula, after: bool, momentary: frozenset[int]
) -> bool:
    """Whether a rule about steps can be judged with latches."""
    return (
        step_simple
        and not after
        and is_temporal(body)
        and is_past_only(body)
        and (guard is None or not (is_temporal(guard) or mentions(guard, momentary)))
    )
