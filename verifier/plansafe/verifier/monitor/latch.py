"""Rules about steps that look back: what the past says is kept in latches, and asked where a step matches.

A condition such as ``(once (washed ?food))`` depends on ``?food`` alone, also in a rule about a step with six
parameters. So each maximal temporal subformula has an automaton of its own, with an instance for each binding of *its*
free variables, and the rule is judged only at the steps that it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from plansafe.verifier.compile.emit import Emitter
from plansafe.verifier.compile.normal import free_slots, is_temporal, mentions
from plansafe.verifier.engine.state import State
from plansafe.verifier.model import TRUE, And, Formula, Not, Or, Quantified, Temporal, Variable
from plansafe.verifier.monitor.automaton import Automaton
from plansafe.verifier.monitor.finding import Binding
from plansafe.verifier.monitor.invariant import Truth
from plansafe.verifier.monitor.program import Moment
from plansafe.verifier.monitor.stepcheck import StepCheck
from plansafe.verifier.rules.split import past_only


class Latch(Automaton):
    """The truth of a past formula at the present letter, for each binding of its free variables; violates nothing."""

    def __init__(
        self, part: int, emitter: Emitter, parameters: tuple[Variable, ...], formula: Formula, momentary: frozenset[int]
    ) -> None:
        super().__init__(part, emitter, parameters, "latch", formula, acting=mentions(formula, momentary))
        self.unknown: set[Binding] = set()

    def step(self, state: State, moment: Moment) -> None:
        """Read a letter; instances that cannot be decided are unknown to whoever asks, and to nobody else."""
        super().step(state, moment)
        if self.undecided:
            self.unknown |= self.undecided
            self.undecided = set()

    def finish(self, _state: State, letter: int) -> None:
        """The trace ends: nothing is said."""

    def truth(self, binding: Binding) -> bool | None:
        """The formula at the letter read last; ``None`` if it cannot be decided."""
        if self.unknown and (binding in self.unknown or () in self.unknown):
            return None
        return self.program.output(self.instances.get(binding, self.default).state)

    def fork(self) -> Latch:
        """An independent copy."""
        copy = super().fork()
        assert isinstance(copy, Latch)
        copy.unknown = set(self.unknown)
        return copy


class _Asked(NamedTuple):
    """A temporal subformula: the latch to ask (its number among the monitors), and the slots of its free variables."""

    monitor: int
    slots: tuple[int, ...]


class LatchedCheck(StepCheck):
    """``body`` must hold wherever ``step`` matches and ``guard`` holds; what it says of the past is asked of latches.

    ``first``: the number that the first of :attr:`latches` will have among the monitors.
    """

    late = True

    def __init__(
        self,
        part: int,
        emitter: Emitter,
        parameters: tuple[Variable, ...],
        step: Formula,
        guard: Formula | None,
        body: Formula,
        momentary: frozenset[int],
        first: int,
    ) -> None:
        super().__init__(part, emitter, parameters, step, guard, TRUE, after=True)
        self.after = False
        self.slots = [v.slot for v in parameters]
        self.latches: list[Latch] = []
        self._asked: dict[int, _Asked] = {}
        self._truths: dict[int, tuple[Truth, tuple[int, ...]]] = {}
        self._body = body
        self._momentary = momentary
        self._first = first
        self._prepare(emitter, body, parameters)

    def _prepare(self, emitter: Emitter, formula: Formula, variables: tuple[Variable, ...]) -> None:
        """A latch for each maximal temporal subformula, generated code for each maximal other one."""
        if is_temporal(formula) and not isinstance(formula, Temporal):
            if isinstance(formula, Not):
                self._prepare(emitter, formula.body, variables)
            elif isinstance(formula, And | Or):
                for part in formula.parts:
                    self._prepare(emitter, part, variables)
            elif isinstance(formula, Quantified):
                self._prepare(emitter, formula.body, (*variables, *formula.variables))
            return
        free = free_slots(formula)
        own = tuple([v for v in variables if v.slot in free])
        slots = tuple([v.slot for v in own])
        if isinstance(formula, Temporal):
            self._asked[id(formula)] = _Asked(self._first + len(self.latches), slots)
            self.latches.append(Latch(self.part, emitter, own, formula, self._momentary))
        else:
            self._truths[id(formula)] = (Truth(emitter, formula, own), slots)

    def conclude(self, state: State, monitors: Sequence[object], moment: Moment) -> None:
        """The letter has been read by the latches: judge the steps that matched."""
        for binding in self._due:
            value = self._value(state, monitors, self._body, dict(zip(self.slots, binding, strict=True)))
            self._note(value, binding, moment.letter + 1, moment.letter)
        self._due.clear()

    def _value(
        self, state: State, monitors: Sequence[object], formula: Formula, binding: dict[int, int]
    ) -> bool | None:
        asked = self._asked.get(id(formula))
        if asked is not None:
            latch = monitors[asked.monitor]
            assert isinstance(latch, Latch)
            return latch.truth(tuple([binding[s] for s in asked.slots]))
        known = self._truths.get(id(formula))
        if known is not None:
            return known[0](state, tuple([binding[s] for s in known[1]]))
        if isinstance(formula, Not):
            value = self._value(state, monitors, formula.body, binding)
            return None if value is None else not value
        if isinstance(formula, And | Or):
            values = [self._value(state, monitors, part, binding) for part in formula.parts]
            deciding = isinstance(formula, Or)
        else:
            assert isinstance(formula, Quantified)
            slots = [v.slot for v in formula.variables]
            domains = [self.task.domains[v.domain] for v in formula.variables]
            values = [
                self._value(state, monitors, formula.body, {**binding, **dict(zip(slots, objects, strict=True))})
                for objects in product(*domains)
            ]
            deciding = not formula.universal
        if deciding in values:
            return deciding
        return None if None in values else not deciding


def latched(step_simple: bool, guard: Formula | None, body: Formula, after: bool, momentary: frozenset[int]) -> bool:
    """Whether a rule about steps can be judged with latches."""
    return (
        step_simple
        and not after
        and is_temporal(body)
        and past_only(body)
        and (guard is None or not (is_temporal(guard) or mentions(guard, momentary)))
    )
