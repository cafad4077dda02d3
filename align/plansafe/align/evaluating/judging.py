"""An answer as a record: read, judged by the engine, and set beside the reference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from plansafe.align.evaluating.tasks import Opened
from plansafe.align.evaluating.writers import Written
from plansafe.grammar.source import Source
from plansafe.llm.answers.refusals import refused
from plansafe.llm.bench.judging import JudgedPlan, judge, safeplan_taxonomy
from plansafe.llm.bench.task import steps_of
from plansafe.llm.loose.strict import strict_plan
from plansafe.llm.metrics.judged import Judged, Success
from plansafe.llm.metrics.lines import judged_line, judged_of
from plansafe.llm.metrics.records import Module, Prediction
from plansafe.verifier.diagnose.labels import SUCCESS

Record = Mapping[str, Any]
FIELDS = (
    *(
        "id",
        "origin",
        "family",
        "world",
        "split",
        "shift",
        "sample",
        "answer",
        "finish",
        "reading",
        "refused",
        "plan",
        "reference",
    ),
    *("headline", "judged", "rouge", "rouge_score", "choices", "end", "cost", "cpu_s"),
)
"""What a record has."""
_LONGEST_ANSWER = 20_000
"""Characters of an answer that a record keeps."""


def record_of(one: Opened, written: Written, label: str) -> dict[str, Any]:
    """The record of an answer; docs/alignment.md has its fields."""
    task, answer = one.task, written.answer
    prediction = Prediction(task.id, Module.PLAN, answer.text, task.family, model=label)
    found = judge(prediction, one.bench, safeplan_taxonomy())
    judged = found.judged
    if not one.reference:  # without a reference there is nothing to have reached, and nothing to overlap with
        judged = replace(judged, success=Success(None, None, judged.success.goal))
        found = found._replace(judged=judged, rouge=None, rouge_score=None)
    return {
        "origin": task.origin,
        "family": task.family,
        "world": task.world,
        "split": task.split,
        "shift": task.shift,
        "sample": one.sample,
        "answer": answer.text[:_LONGEST_ANSWER],
        "finish": answer.finish.value,
        "reading": _reading(one, answer.text, judged),
        "refused": not judged.read and refused(answer.text) is True,
        "plan": [] if found.plan is None else steps_of(found.plan),
        "reference": steps_of(one.reference),
        "headline": found.headline,
        "judged": json.loads(judged_line(judged)),
        "rouge": found.rouge,
        "rouge_score": found.rouge_score,
        "choices": [list(choice) for choice in written.choices],
        "end": written.end,
        "cost": {
            **written.cost,
            "prompt_tokens": answer.prompt_tokens or 0,
            "completion_tokens": answer.completion_tokens or 0,
        },
    }


def _reading(one: Opened, text: str, judged: Judged) -> str:
    """How the answer was read: as it stands, with liberties, or not at all."""
    if not judged.read:
        return "none"
    return "strict" if strict_plan(Source("answer.txt", text), one.bench.checker) is not None else "loose"


class Evaluated:
    """A record as the figures read it. ``sample`` distinguishes answers to the same task."""

    def __init__(self, record: Record, sample: int = 0) -> None:
        self.record = record
        self._sample = sample

    @cached_property
    def plan(self) -> JudgedPlan:
        """The plan as it was judged. Raises :class:`~plansafe.llm.metrics.fields.BadField`."""
        record = self.record
        text = "".join([f"{step}\n" for step in record["plan"]]) if record["plan"] else None
        judged = replace(judged_of(record["judged"]), sample=self._sample)
        return JudgedPlan(judged, text, record["rouge"], record["rouge_score"], record["headline"])

    @property
    def judged(self) -> Judged:
        """The verdict alone."""
        return self.plan.judged

    @property
    def error(self) -> str:
        """SAFEL's label; a plan that reaches its goal by a way that breaks a rule is told apart from a success."""
        if not self.judged.read:
            return "no plan"
        if self.judged.label == SUCCESS and self.record["headline"] != "SAFE":
            return "success, unsafe"
        return self.judged.label or "no label"
