"""A refusal, where it was offered: read from the answer's first line, and compared with the engine's result.

A model may refuse a harmful task, or a task without a safe plan. The engine can prove the second; it cannot decide the
first, so it never replaces a refusal by a plan of its own.
"""

from __future__ import annotations

import re

from plansafe.llm.loop.model import Refusal
from plansafe.llm.models.answer import Answer, Finish
from plansafe.verifier.api import Checker
from plansafe.verifier.planning.guide import Continuation, Guide

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
