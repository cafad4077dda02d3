"""Replays of a plan in one world, one for each reading (docs/language.md, section 6)."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.plan_text import split_plain_steps
from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.plan_steps import ResolvedPlan, resolve_plan
from plansafe.verifier.execution.replay import FORCE, HALT, SKIP, Outcome, Replay


class ReadingOutcomes(NamedTuple):
    """The outcomes of a plan's readings, ``halt`` first; a plan without a failure has only this one.

    ``read`` is ``None`` for a plain plan that was replayed without places, because it has no failure to show. There are
    no outcomes if the plan has mistakes or open parts.
    """

    read: ResolvedPlan | None
    outcomes: list[Outcome]


def replay_plan(compiled: CompiledTask, plan: Source, deadline: float | None = None) -> ReadingOutcomes:
    """Replay a plan in a task with one world. Raises :class:`LimitReached` past ``deadline`` (monotonic)."""
    engine = compiled.engine
    halt: Replay | None = None
    blocks = split_plain_steps(plan.text)
    if blocks is not None and not any([literal.time for literal in engine.task.timed_literals]):
        run = Replay(engine, HALT, deadline=deadline)
        if engine.expects_failures:
            run.keep_changes()
        steps = run.run_chunks(blocks)
        engine.expects_failures = bool(run.failures)
        if steps >= 0 and not run.failures and run.limit is None:
            return ReadingOutcomes(None, [run.outcome(steps)])
        if steps >= 0:
            halt = run
    read = resolve_plan(engine, plan)
    if read.text.diagnostics or read.is_open:
        return ReadingOutcomes(read, [])
    if halt is None or not halt.failures:
        first = halt.outcome(len(read.steps)) if halt is not None else None
        return ReadingOutcomes(read, replay_readings(compiled, read, deadline, first))
    before = halt.failures[0].step - 1
    runs = [halt, *[halt.resume(reading) for reading in (SKIP, FORCE)]]
    for number, run in enumerate(runs[1:], 1):
        run.explained_steps = frozenset().union(*[earlier.reasons for earlier in runs[:number]])
        run.run_steps(read.steps[before:], before)
    return ReadingOutcomes(read, [run.outcome(len(read.steps)) for run in runs])


def replay_readings(
    compiled: CompiledTask, read: ResolvedPlan, deadline: float | None = None, first: Outcome | None = None
) -> list[Outcome]:
    """Replay all readings of a plan that was read with places. ``first``: the outcome of ``halt``, if known."""
    halt = replay_reading(compiled, read, HALT, deadline) if first is None else first
    more_readings = (SKIP, FORCE) if halt.failures else ()
    return [halt, *[replay_reading(compiled, read, reading, deadline) for reading in more_readings]]


def replay_reading(compiled: CompiledTask, read: ResolvedPlan, reading: str, deadline: float | None = None) -> Outcome:
    """Replay one reading of a plan that was read with places."""
    if read.timed is not None:
        from plansafe.verifier.execution.timed_fast import FastTimedReplay  # noqa: PLC0415 - for timed plans alone

        timed = FastTimedReplay(compiled.engine, reading, read.timed, compiled.tolerance(read), deadline)
        timed.run()
        return timed.outcome(len(read.steps))._replace(rounded=frozenset(timed.rounded))
    run = Replay(compiled.engine, reading, deadline=deadline)
    run.run_steps(read.steps)
    return run.outcome(len(read.steps))
