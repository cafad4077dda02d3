"""The monitors of a run over open durations: they look at the clock only where that may decide something."""

from __future__ import annotations

from collections.abc import Iterable

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.monitor_summary import StateMonitor
from plansafe.verifier.execution.monitors.program import LetterTime
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.durations.affine import ConstraintTrail


class NeverRuledOut(LetterTime):
    """A time that never rules out a later one: verdicts wait for the end, and need fewer comparisons for it."""

    __slots__ = ()

    def later_at_most(self, bound: Number) -> bool:  # noqa: ARG002 - whatever the bound
        """A later letter with a time <= ``bound`` is never ruled out."""
        return True

    def later_before(self, bound: Number) -> bool:  # noqa: ARG002 - whatever the bound
        """A later letter with a time < ``bound`` is never ruled out."""
        return True


class DurationMonitors(Runtime):
    """Monitors whose clocks wake nobody: an instance reads a letter if a fact that it reads has changed.

    That is the definition wherever repeated letters make no difference. If another's letter were read, too, its time
    could decide about a deadline, and what the instance's own time has to do with it would never be asked.
    ``counting`` are the parts of rules that see every letter. What parts decide is noted on ``trail`` as theirs;
    ``together``: the times of the events of the present happening, ``batch`` its number.
    """

    def __init__(self, engine: Engine, counting: frozenset[int], trail: ConstraintTrail) -> None:
        super().__init__(engine.rule_set, engine.emitter)
        self.counting = counting
        self.trail = trail
        self.together: tuple[Number, ...] = ()
        self.batch = 0

    def arrive(self, state: State, log: Iterable[StateChange], moment: LetterTime) -> None:
        """A state is reached; ``log`` are the changes since the last one."""
        self.trail.turn(())
        super().arrive(state, log, moment)

    def finish(self, state: State, moment: LetterTime) -> None:
        """The trace ends with the present letter, which has no actions."""
        self.trail.turn(())
        super().finish(state, moment)
        self.trail.turn(("goal",))

    def _read(self, monitor: StateMonitor, state: State, moment: LetterTime) -> bool:
        self.trail.turn(("part", monitor.part, self.batch))
        if isinstance(monitor, Invariant) or not monitor.program.timed or monitor.part in self.counting:
            return super()._read(monitor, state, moment)
        if monitor.pending:
            same = [time == moment.time for time in self.together]  # noted: the letter's time is that of each
            if not all(same):
                raise AssertionError("the events of a happening have one time")
            monitor.sleep(moment)
            monitor.step(state, moment)
        return False

    def _judge(self, check: StepCheck, state: State, moment: LetterTime) -> None:
        self.trail.turn(("part", check.part, self.batch))
        super()._judge(check, state, moment)

    def _end(self, monitor: StateMonitor, state: State, letter: int) -> None:
        self.trail.turn(("end", monitor.part))
        super()._end(monitor, state, letter)

    def fork(self) -> DurationMonitors:
        """An independent copy."""
        copy = super().fork()
        assert isinstance(copy, DurationMonitors)
        copy.counting, copy.trail, copy.together, copy.batch = self.counting, self.trail, (), 0
        return copy


def monitors_at_start(
    engine: Engine, counting: frozenset[int], first: LetterTime, trail: ConstraintTrail
) -> DurationMonitors | None:
    """Monitors that have read S0, to be forked for each run; ``None`` where there is nothing to watch."""
    if engine.prototype is None:
        return None
    out = DurationMonitors(engine, counting, trail)
    out.start(engine.initial(), first)
    return out
