"""The monitors of a run over open durations, which read the clock only where the time may decide a rule."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.monitor_summary import StateMonitor
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.durations.affine import ConstraintTrail


class OpenEndedLetterTime(LetterTime):
    """A time that never excludes a later letter. So verdicts wait for the end, and need fewer comparisons."""

    __slots__ = ()

    def later_at_most(self, bound: Number) -> bool:  # noqa: ARG002 - for any bound
        """Whether a later letter can have a time <= ``bound``: always."""
        return True

    def later_before(self, bound: Number) -> bool:  # noqa: ARG002 - for any bound
        """Whether a later letter can have a time < ``bound``: always."""
        return True


class DurationMonitors(Runtime):
    """Monitors without timers: an instance reads a letter only if a fact that it reads has changed.

    That is the definition wherever repeated letters make no difference. With timers, the time of a letter of another
    instance could decide about a deadline, and the run would lack a comparison with the time of this instance.
    ``parts_reading_every_happening``: the parts of rules that read every letter. ``trail``: receives the constraints of
    each part under the part's topic. ``event_times``: the times of the events of the happening with the number
    ``happening``.
    """

    def __init__(self, engine: Engine, parts_reading_every_happening: frozenset[int], trail: ConstraintTrail) -> None:
        self.__dict__.update(engine.new_monitors.fork().__dict__)  # all worlds of a task share the compiled code
        self.parts_reading_every_happening = parts_reading_every_happening
        self.trail = trail
        self.event_times: tuple[Number, ...] = ()
        self.happening = 0

    def enter_state(self, state: State, log: Sequence[StateChange], letter_time: LetterTime) -> None:
        """Read a new state; ``log`` are the changes since the last one."""
        self.trail.set_topic(())
        super().enter_state(state, log, letter_time)

    def finish(self, state: State, letter_time: LetterTime) -> None:
        """End the trace with this letter, which has no actions."""
        self.trail.set_topic(())
        super().finish(state, letter_time)
        self.trail.set_topic(("goal",))

    def _step_monitor(self, monitor: StateMonitor, state: State, letter_time: LetterTime) -> bool:
        self.trail.set_topic(("part", monitor.part, self.happening))
        if (
            isinstance(monitor, InvariantMonitor)
            or not monitor.program.timed
            or monitor.part in self.parts_reading_every_happening
        ):
            return super()._step_monitor(monitor, state, letter_time)
        if monitor.has_pending_changes:
            # A list, not a generator: each comparison constrains the time of one event to the letter's time.
            if not all([time == letter_time.time for time in self.event_times]):
                raise AssertionError("the events of a happening have one time")
            monitor.sleep(letter_time)
            monitor.step(state, letter_time)
        return False

    def _check_after_step(self, check: StepCheck, state: State, letter_time: LetterTime) -> None:
        self.trail.set_topic(("part", check.part, self.happening))
        super()._check_after_step(check, state, letter_time)

    def _finish_monitor(self, monitor: StateMonitor, state: State, letter: int) -> None:
        self.trail.set_topic(("end", monitor.part))
        super()._finish_monitor(monitor, state, letter)

    def fork(self) -> DurationMonitors:
        """An independent copy."""
        copy = super().fork()
        assert isinstance(copy, DurationMonitors)
        copy.parts_reading_every_happening, copy.trail, copy.event_times, copy.happening = (
            self.parts_reading_every_happening,
            self.trail,
            (),
            0,
        )
        return copy


def start_monitors(
    engine: Engine, parts_reading_every_happening: frozenset[int], first_letter_time: LetterTime, trail: ConstraintTrail
) -> DurationMonitors | None:
    """Monitors that have read S0, to be forked for each run; ``None`` if no rule needs any."""
    if engine.prototype is None:
        return None
    monitors = DurationMonitors(engine, parts_reading_every_happening, trail)
    monitors.start(engine.make_initial_state(), first_letter_time)
    return monitors
