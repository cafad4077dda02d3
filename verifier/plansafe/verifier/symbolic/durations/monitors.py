"""The monitors of a run over open durations: they look at the clock only where that may decide something."""

from __future__ import annotations

from collections.abc import Iterable

from plansafe.verifier.engine.replay import Engine
from plansafe.verifier.engine.state import Change, State
from plansafe.verifier.model import Number
from plansafe.verifier.monitor.automaton import Automaton
from plansafe.verifier.monitor.program import Moment
from plansafe.verifier.monitor.runtime import Runtime


class Patient(Moment):
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
    ``counting`` are the parts of rules that see every letter.
    """

    counting: frozenset[int] = frozenset()

    def arrive(self, state: State, log: Iterable[Change], moment: Moment) -> None:
        """A state is reached; ``log`` are the changes since the last one."""
        due = dict(self._awake)
        self._changed(state, log, due)
        for monitor in due:
            self._awake.pop(monitor, None)
            if monitor.acting:
                self._acting_due[monitor] = None
            elif isinstance(monitor, Automaton) and monitor.program.timed and monitor.part not in self.counting:
                if monitor._touched or monitor._candidates or monitor._global_dirty:
                    monitor._awake.clear()
                    monitor._default_awake = False
                    monitor._time_bits = monitor.program.time_bits(moment)
                    monitor.step(state, moment)
            else:
                monitor.step(state, moment)
                if monitor.awake:
                    self._awake[monitor] = None
        for check in self._due_after:
            check.arrive(state, moment)
        self._due_after.clear()

    def fork(self) -> Monitors:
        """An independent copy."""
        copy = super().fork()
        assert isinstance(copy, Monitors)
        copy.counting = self.counting
        return copy


def monitors_at_start(engine: Engine, counting: frozenset[int], first: Moment) -> Monitors | None:
    """Monitors that have read S0, to be forked for each run; ``None`` where there is nothing to watch."""
    if engine.prototype is None:
        return None
    out = Monitors(engine.plan, engine.emitter)
    out.counting = counting
    out.start(engine.initial(), first)
    return out
