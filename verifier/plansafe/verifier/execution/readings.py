"""Replays of a plan in one world, one for each reading (docs/language.md, section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.plan_text import split_plain_steps
from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.outcome import Outcome
from plansafe.verifier.execution.plan_steps import ResolvedPlan, resolve_plan
from plansafe.verifier.execution.replay import FORCE, HALT, SKIP, LetterRecorder, Observer, Replay
from plansafe.verifier.execution.steps import TimedStep, Tolerance

if TYPE_CHECKING:
    from plansafe.verifier.execution.timed import TimedReplay


class ReadingOutcomes(NamedTuple):
    """The outcomes of a plan's readings, ``halt`` first; a plan without a failure has only this one.

    There are no outcomes if the plan has mistakes or open parts. ``resolved`` is ``None`` for a plain plan without a
    failed step: it was replayed without resolving its places, because no place is shown.
    """

    resolved: ResolvedPlan | None
    outcomes: list[Outcome]


class _PlainReplay(NamedTuple):
    """The replay of a plain plan (*halt*), and the number of steps that it read, with the failed one."""

    replay: Replay
    step_count: int


def replay_plan(
    compiled: CompiledTask, plan: Source, deadline: float | None = None, recorder: LetterRecorder | None = None
) -> ReadingOutcomes:
    """Replay a plan in a task with one world. Raises :class:`LimitReached` past ``deadline`` (monotonic).

    ``recorder`` records the letters of a plain plan, after a failed step in the reading *force*.
    """
    plain = _replay_plain_plan(compiled.engine, plan, deadline, recorder)
    if plain is not None and not plain.replay.failures and plain.replay.limit is None:
        return ReadingOutcomes(None, [plain.replay.finish(plain.step_count)])
    resolved = resolve_plan(compiled.engine, plan)
    if resolved.text.diagnostics or resolved.is_open:
        return ReadingOutcomes(resolved, [])
    if plain is None:
        return ReadingOutcomes(resolved, replay_readings(compiled, resolved, deadline))
    if not plain.replay.failures:  # it has reached a limit
        return ReadingOutcomes(resolved, [plain.replay.finish(len(resolved.steps))])
    return ReadingOutcomes(resolved, _resume_readings(plain.replay, resolved))


def _replay_plain_plan(
    engine: Engine, plan: Source, deadline: float | None, recorder: LetterRecorder | None
) -> _PlainReplay | None:
    """Replay a plan directly from its text; ``None`` if that is not a list of instantaneous steps without times.

    If the last plan of this engine failed, the changes are recorded, because this plan may fail too: then the findings
    after its failed step can be explained without another replay.
    """
    blocks = split_plain_steps(plan.text)
    if blocks is None or engine.is_continuous or engine.has_late_literals:
        return None
    replay = Replay(engine, HALT, deadline=deadline)
    if recorder is not None:
        replay.record_letters(recorder)
    elif engine.expects_failures:
        replay.keep_changes()
    step_count = replay.run_chunks(blocks)
    engine.expects_failures = bool(replay.failures)
    return None if step_count is None else _PlainReplay(replay, step_count)


def _resume_readings(halted: Replay, resolved: ResolvedPlan) -> list[Outcome]:
    """Return the outcomes of all readings; *skip* and *force* resume before the step at which ``halted`` stopped."""
    steps_before = halted.failures[0].step - 1
    replays = [halted]
    for reading in (SKIP, FORCE):
        replay = halted.resume(reading)
        if reading == FORCE and halted.recorder is not None:
            replay.record_letters(halted.recorder)
        # One explanation of a failed step is enough: the report shows that of the first reading in which it fails.
        replay.explained_steps = frozenset().union(*[earlier.unmet_literals for earlier in replays])
        replay.run_steps(resolved.steps[steps_before:], steps_before)
        replays.append(replay)
    return [replay.finish(len(resolved.steps)) for replay in replays]


def replay_readings(compiled: CompiledTask, resolved: ResolvedPlan, deadline: float | None = None) -> list[Outcome]:
    """Replay all readings of a plan that was resolved with places."""
    halt = replay_reading(compiled, resolved, HALT, deadline)
    other_readings = (SKIP, FORCE) if halt.failures else ()
    return [halt, *[replay_reading(compiled, resolved, reading, deadline) for reading in other_readings]]


def make_timed_replay(
    engine: Engine,
    reading: str,
    steps: list[TimedStep],
    tolerance: Tolerance,
    deadline: float | None = None,
    observer: Observer | None = None,
) -> TimedReplay:
    """Return the replay of one reading of a timed plan, before it runs."""
    if engine.is_continuous:
        from plansafe.verifier.execution.continuous.replay import (  # noqa: PLC0415 - for continuous tasks alone
            ContinuousReplay,
        )

        return ContinuousReplay(engine, reading, steps, tolerance, deadline, observer)
    from plansafe.verifier.execution.timed_fast import FastTimedReplay  # noqa: PLC0415 - for timed plans alone

    return FastTimedReplay(engine, reading, steps, tolerance, deadline, observer)


def replay_reading(
    compiled: CompiledTask, resolved: ResolvedPlan, reading: str, deadline: float | None = None
) -> Outcome:
    """Replay one reading of a plan that was resolved with places."""
    if resolved.timed is not None:
        tolerance = compiled.find_tolerance(resolved)
        timed_replay = make_timed_replay(compiled.engine, reading, resolved.timed, tolerance, deadline)
        timed_replay.run()
        outcome = timed_replay.finish(len(resolved.steps))
        return outcome._replace(rounded_steps=frozenset(timed_replay.rounded_steps))
    replay = Replay(compiled.engine, reading, deadline=deadline)
    replay.run_steps(resolved.steps)
    return replay.finish(len(resolved.steps))
