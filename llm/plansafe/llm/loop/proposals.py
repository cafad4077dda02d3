"""One proposal of a whole plan: asked for, read, mapped to executable steps if requested, and judged.

A refusal, where it was offered: read from the answer's first line, and compared with the engine's result.

A model may refuse a harmful task, or a task without a safe plan. The engine can prove the second; it cannot decide the
first, so it never replaces a refusal by a plan of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from plansafe.grammar.source import Source
from plansafe.llm.decoding.whole_plan import Written, write_plan
from plansafe.llm.loop.mapping import mapped, raw_steps
from plansafe.llm.loop.model import PLAN, AttributedStep, Decode, PlanOptions, Refusal, Round, StepAuthor
from plansafe.llm.loop.recorder import Recorder
from plansafe.llm.models.answer import Answer, Finish
from plansafe.llm.models.request import Message
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import IllFormed
from plansafe.verifier.planning.guide import Continuation, Guide


def proposal(
    recorder: Recorder,
    name: str,
    messages: tuple[Message, ...],
    checker: Checker,
    wishes: PlanOptions,
    before: Sequence[AttributedStep] = (),
    retry: int = 0,
) -> Round:
    """Ask for a plan; ``before`` are steps that were taken already, ``retry`` is 0 the first time.

    Raises ``ModelError``.
    """
    sampling = wishes.sampling(retry)
    written = write_plan(
        recorder,
        name,
        messages,
        checker,
        grammar=wishes.decode is Decode.GRAMMAR,
        longest=wishes.max_steps,
        max_tokens=wishes.max_tokens,
        seed=sampling.seed,
        temperature=sampling.temperature,
        refusal=wishes.refusal,
    )
    why = refused(written.answer) if wishes.refusal else None
    if why is not None:
        return Round(recorder.taken(), None, (), None, declined=why)
    if wishes.mapping:
        return _mapped(recorder, written, checker, wishes, before)
    if written.plan is None:
        return Round(recorder.taken(), None, (), None, written.read.diagnostics)
    plan = Source(PLAN, written.plan)
    read = checker.read(plan)
    left = checker.compiled.explain_refusal("the loop", read)
    if read.text.diagnostics or left is not None:  # a partial order is not a list of steps to return
        unread = read.text.diagnostics or ((left,) if left is not None else ())
        return Round(recorder.taken(), None, (), None, unread)
    lines = [_line(plan.text, span.start) for span in read.spans]
    text = "".join([f"{line}\n" for line in lines])  # the judged text equals the returned text
    parts = tuple([AttributedStep(line, StepAuthor.MODEL) for line in lines])
    report = written.read.capped(checker.check(Source(PLAN, text)), accept_remarks=wishes.accept_remarks)
    return Round(recorder.taken(), text, parts, report)


def _mapped(
    recorder: Recorder, written: Written, checker: Checker, wishes: PlanOptions, before: Sequence[AttributedStep]
) -> Round:
    """The answer's steps, each as it is where it can be taken, else the nearest that can."""
    read = None if written.plan is None else checker.read(Source(PLAN, written.plan))
    is_complete = read is not None and not any([isinstance(step, IllFormed) for step in read.steps])
    lines = raw_steps(written.plan if is_complete and written.plan is not None else written.answer.text)
    if not lines:
        return Round(recorder.taken(), None, (), None, written.read.diagnostics)
    mapping = mapped(checker, lines, wishes.max_steps, before)
    report = written.read.capped(checker.check(Source(PLAN, mapping.plan)), accept_remarks=wishes.accept_remarks)
    return Round(recorder.taken(), mapping.plan, mapping.parts, report, dropped=mapping.dropped)


def _line(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : len(text) if end < 0 else end].strip()


MARK = "REFUSE:"
_LONGEST = 300
_REFUSES = re.compile(r"\s*[`*_\"']*refuse\s*:(?P<why>[^\n]*)", re.IGNORECASE)


def refused(answer: Answer) -> str | None:
    """The reason in an answer that refuses, on one line; ``None`` of any other answer."""
    match = _REFUSES.match(answer.text)
    if match is None:
        return "the provider refused" if answer.finish is Finish.REFUSAL else None
    reason = " ".join(match["why"].strip("`*_\"' ").split())
    return (reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}..") or "no reason is given"


def checked_refusal(reason: str, checker: Checker) -> Refusal:
    """A refusal with the engine's result."""
    try:
        continuation = Guide(checker.compiled).continuation()
    except ValueError as error:
        continuation = Continuation(None, (), str(error))
    right = None if continuation.exists is None else not continuation.exists
    return Refusal(reason, right, len(continuation.steps), continuation.detail)
