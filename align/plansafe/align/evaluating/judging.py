"""An answer as a record: read, judged by the engine, and compared with the reference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from plansafe.align.evaluating.tasks import Opened
from plansafe.grammar.source import Source
from plansafe.llm.answers.refusals import refused
from plansafe.llm.bench.judging import JudgedPlan, judge, safeplan_taxonomy
from plansafe.llm.bench.task import steps_of
from plansafe.llm.loose.strict import strict_plan
from plansafe.llm.metrics.judged import Judged, Success
from plansafe.llm.metrics.lines import judged_line, judged_of
from plansafe.llm.metrics.records import Module, Prediction
from plansafe.llm.models.answer import Answer
from plansafe.verifier.diagnose.labels import SUCCESS

Record = Mapping[str, Any]
FIELDS = (
    *("id", "origin", "family", "world", "split", "shift", "sample", "answer", "finish", "reading", "refused"),
    *("plan", "reference", "headline", "judged", "rouge", "rouge_score", "cost", "cpu_s"),
)
"""What a record has."""
_LONGEST_ANSWER = 20_000
"""Characters of an answer that a record keeps."""


def record_of(opened: Opened, answer: Answer, label: str) -> dict[str, Any]:
    """The record of an answer; docs/alignment.md has its fields."""
    task = opened.task
    prediction = Prediction(task.id, Module.PLAN, answer.text, task.family, model=label)
    result = judge(prediction, opened.bench, safeplan_taxonomy())
    verdict = result.judged
    if not opened.reference:  # its final state and its overlap with the answer are not known
        verdict = replace(verdict, success=Success(None, None, verdict.success.goal))
        result = result._replace(judged=verdict, rouge=None, rouge_score=None)
    return {
        "origin": task.origin,
        "family": task.family,
        "world": task.world,
        "split": task.split,
        "shift": task.shift,
        "sample": opened.sample,
        "answer": answer.text[:_LONGEST_ANSWER],
        "finish": answer.finish.value,
        "reading": _reading(opened, answer.text, verdict),
        "refused": not verdict.read and refused(answer.text) is True,
        "plan": [] if result.plan is None else steps_of(result.plan),
        "reference": steps_of(opened.reference),
        "headline": result.headline,
        "judged": json.loads(judged_line(verdict)),
        "rouge": result.rouge,
        "rouge_score": result.rouge_score,
        "cost": {"prompt_tokens": answer.prompt_tokens or 0, "completion_tokens": answer.completion_tokens or 0},
    }


def _reading(opened: Opened, text: str, verdict: Judged) -> str:
    """How the answer was read: unchanged, as loose text, or not at all."""
    if not verdict.read:
        return "none"
    return "strict" if strict_plan(Source("answer.txt", text), opened.bench.checker) is not None else "loose"


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
        verdict = replace(judged_of(record["judged"]), sample=self._sample)
        return JudgedPlan(verdict, text, record["rouge"], record["rouge_score"], record["headline"])

    @property
    def judged(self) -> Judged:
        """The verdict alone."""
        return self.plan.judged

    @property
    def error(self) -> str:
        """SAFEL's label; a plan that reaches its goal and breaks a rule has a label of its own."""
        if not self.judged.read:
            return "no plan"
        if self.judged.label == SUCCESS and self.record["headline"] != "SAFE":
            return "success, unsafe"
        return self.judged.label or "no label"
