"""The monitors of a run over open durations: they look at the clock only where that may decide something."""

from __future__ import annotations

from collections.abc import Iterable

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.program import LetterTime
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.replay import Engine
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.durations.affine import Trail


class Patient(LetterTime):
    """A moment that never rules out a later one: verdicts wait for the end, and need fewer comparisons for it."""

    __slots__ = ()

    def later_at_most(self, bound: Number) -> bool:  # noqa: ARG002
        """Perhaps."""
        return True

    def later_before(self, bound: Number) -> bool:  # noqa: ARG002
        """Perhaps."""
        return True


class Monitors(Runtime):
    """Monitors whose clocks wake nobody: an instance reads a letter if a fact that it reads has changed.

    That is the definition wherever repeated letters make no difference. If another's letter were read, too, its time
    could decide about a deadline, and what the instance's own time has to do with it would never be asked.
    ``counting`` are the parts of rules that see every letter. What parts decide is noted on ``trail`` as theirs;
    ``together``: the times of the events of the present happening, ``batch`` its number.
    """

    counting: frozenset[int] = frozenset()
    trail = Trail()
    together: tuple[Number, ...] = ()
    batch = 0

    def arrive(self, state: State, log: Iterable[StateChange], moment: LetterTime) -> None:
        """A state is reached; ``log`` are the changes since the last one."""
        self.trail.turn(())
        due = dict(self._awake)
        self._changed(state, log, due)
        for number in due:
            monitor = self._own(number)
            self._awake.pop(number, None)
            self.trail.turn(("part", monitor.part, self.batch))
            if monitor.acting:
                self._acting_due[number] = None
            elif isinstance(monitor, Automaton) and monitor.program.timed and monitor.part not in self.counting:
                if monitor._touched or monitor._candidates or monitor._global_dirty:
                    same = [time == moment.time for time in self.together]  # noted: the letter's time is that of each
                    if not all(same):
                        raise AssertionError("the events of a happening have one time")
                    monitor._awake.clear()
                    monitor._default_awake = False
                    monitor._time_bits = monitor.program.time_bits(moment)
                    monitor.step(state, moment)
            else:
                monitor.step(state, moment)
                if monitor.awake:
                    self._awake[number] = None
        for check in self._due_after:
            self.trail.turn(("part", check.part, self.batch))
            check.arrive(state, moment)
        self._due_after.clear()

    def finish(self, state: State, moment: LetterTime) -> None:
        """The trace ends with the present letter, which has no actions."""
        self.trail.turn(())
        self._act(state, moment)
        for number, monitor in enumerate(self.monitors):
            self.trail.turn(("end", monitor.part))
            if monitor.open:
                self._own(number).finish(state, moment.letter)
        self.trail.turn(("goal",))

    def fork(self) -> Monitors:
        """An independent copy."""
        copy = super().fork()
        assert isinstance(copy, Monitors)
        copy.counting, copy.trail = self.counting, self.trail
        return copy


def monitors_at_start(engine: Engine, counting: frozenset[int], first: LetterTime, trail: Trail) -> Monitors | None:
    """Monitors that have read S0, to be forked for each run; ``None`` where there is nothing to watch."""
    if engine.prototype is None:
        return None
    out = Monitors(engine.plan, engine.emitter)
    out.counting, out.trail = counting, trail
    out.start(engine.initial(), first)
    return out
