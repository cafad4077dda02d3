"""Why a plan is not safe in all worlds, and what to find out, in words."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.reporting.worlds import Completion, ShownValue
from plansafe.verifier.symbolic.worlds.cause import minimal_cause
from plansafe.verifier.symbolic.worlds.completions import Completions
from plansafe.verifier.symbolic.worlds.decision import Opens, Partial, decision_of
from plansafe.verifier.symbolic.worlds.model import Encoding
from plansafe.verifier.symbolic.worlds.question import question

MOST_ASKED = 20
"""Facts that people can be asked for: where more are seen to be needed, no question is looked for."""
MAX_WORK = 1_000_000
"""The work budget for a cause and a question: about a second."""


class Reasons(NamedTuple):
    """The cause and the question; ``None`` where there is none or it was not found, as the notes say."""

    cause: tuple[ShownValue, ...] | None = None
    cause_note: str = ""
    question: tuple[str, ...] | None = None
    question_note: str = ""


def reasons(
    encoding: Encoding, task: Task, engine: str, deadline: float | None, world: Completion | None, wanted: bool = True
) -> Reasons:
    """A minimal cause, taken from a bad world, and (where ``wanted``) a question."""
    decision = decision_of(encoding)
    completions = Completions(decision, engine, deadline, WorkBudget(MAX_WORK))
    try:
        cause = minimal_cause(decision, world=world, completions=completions)
        asked = question(decision, completions=completions, most=MOST_ASKED) if wanted else None
    finally:
        completions.close()
    said = None if cause.values is None else _partial(task, cause.values)
    out = Reasons(said, cause.note)
    if asked is not None:
        out = out._replace(
            question=None if asked.asked is None else _opens(task, asked.asked), question_note=asked.note
        )
    return out


def _partial(task: Task, values: Partial) -> tuple[ShownValue, ...]:
    facts = [
        ShownValue(task.fact_text(key.predicate, key.code), "true" if value else "false") for key, value in values.facts
    ]
    return (*facts, *[ShownValue(task.fluent_text(*key), str(value)) for key, value in values.numbers])


def _opens(task: Task, opens: Opens) -> tuple[str, ...]:
    facts = [task.fact_text(key.predicate, key.code) for key in opens.facts]
    return (*facts, *[task.fluent_text(*key) for key in opens.numbers])
