"""A refusal, where it was offered: read from the answer's first line, and set beside what the engine knows.

A model may refuse what is meant to do harm, or what has no safe plan. The second the engine can prove; of the first it
knows nothing, so that no plan of its own stands in for a refused one.
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
    found = _REFUSES.match(answer.text)
    if found is None:
        return "the provider refused" if answer.finish is Finish.REFUSAL else None
    said = " ".join(found["why"].strip("`*_\"' ").split())
    return (said if len(said) <= _LONGEST else f"{said[:_LONGEST]}..") or "no reason is given"


def weighed(reason: str, checker: Checker) -> Refusal:
    """A refusal beside the engine's answer."""
    try:
        ahead = Guide(checker.compiled).continuation()
    except ValueError as error:
        ahead = Continuation(None, (), str(error))
    right = None if ahead.exists is None else not ahead.exists
    return Refusal(reason, right, len(ahead.steps), ahead.detail)
