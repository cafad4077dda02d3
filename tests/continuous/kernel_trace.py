"""The letters of the replay kernel's trace, recorded while it executes a plan."""

from __future__ import annotations

from typing import Any

from hybrid_random import HybridCase
from pointwise import Letter

from plansafe.verifier.kernel import kernel as kernel_module
from plansafe.verifier.kernel.continuous_execution import ContinuousExecution
from plansafe.verifier.kernel.kernel import Kernel


class RecordingEvolution(ContinuousExecution):
    """Records every letter."""

    latest: RecordingEvolution

    def __init__(self, *args: Any) -> None:
        """Record the letter of the initial state, and all that are appended."""
        super().__init__(*args)
        RecordingEvolution.latest = self
        self.letters = list[Letter]()
        self._courses_now: Any = {}
        self._happened = frozenset[Any]()
        self._record(self.now, None)
        append = self.trace.append

        def recording_append(time: Any, step: int, change: Any, numbers: Any, after: Any = None) -> None:
            append(time, step, change, numbers, after)
            self._record(time, after)

        self.trace.append = recording_append  # type: ignore[method-assign]

    def _find_active_processes(self) -> Any:
        active, courses = super()._find_active_processes()
        self._courses_now = courses
        return active, courses

    def _execute_events(self, events: Any) -> bool:
        self._happened = frozenset((self.events[i].process.name, *self.events[i].binding.values()) for i in events)
        return super()._execute_events(events)

    def _record(self, time: Any, after: Any) -> None:
        facts = frozenset(fact if len(fact) > 1 else (fact[0],) for fact in self.state.facts)
        if self.letters and self.letters[-1].end == "open":
            self.letters[-1] = self.letters[-1]._replace(end=time)
        if after is None:
            courses = {fluent[1:]: {0: (value,)} for fluent, value in self.state.numbers.items()}
            self.letters.append(Letter(time, None, facts, courses, happened=self._happened))
            self._happened = frozenset()
            return
        running = tuple(step.terms for step, _ in self.running_steps.values())
        active = frozenset(
            (self.processes[i].process.name, *self.processes[i].binding.values()) for i in self.active_processes
        )
        courses = {fluent[1:]: course for fluent, course in self._courses_now.of.items()}
        start = self._courses_now.start
        self.letters.append(Letter(after, "open", facts, courses, running, active, start=start))


def record_letters(case: HybridCase) -> tuple[Kernel, list[Letter]]:
    """Return the letters of the trace under *halt*, and the kernel. Raises ``KernelRejects``."""
    kernel = Kernel(case.domain(), case.problem(), [case.safety()] if case.rules else [])
    original = kernel_module.ContinuousExecution
    kernel_module.ContinuousExecution = RecordingEvolution  # type: ignore[misc]
    try:
        kernel.trace(case.plan())
    finally:
        kernel_module.ContinuousExecution = original  # type: ignore[misc]
    letters = RecordingEvolution.latest.letters
    if letters[-1].end == "open":  # the trace halts before the moment at which a condition over all fails
        letters[-1] = letters[-1]._replace(end=RecordingEvolution.latest.now)
    return kernel, letters
