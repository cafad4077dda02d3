"""The answer of a model, and how its requested form was enforced."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from plansafe.domains.json_text import BadJson, read_json

LONGEST = 1_000_000
"""Characters of an answer that are kept: as many as a loose plan may have (``loose.wrapping.LIMIT``)."""


class Finish(StrEnum):
    """Why an answer ends."""

    STOP = "stop"
    LENGTH = "length"
    FILTER = "filter"
    REFUSAL = "refusal"
    OTHER = "other"


class Enforced(StrEnum):
    """How the constraint of a request was enforced.

    ``NATIVE`` as it was asked; ``AS_GRAMMAR`` and ``AS_SCHEMA``: written as a grammar or a schema that means the same;
    ``AS_TOKENS``: token by token; ``NOT``: the provider cannot, and was asked without it. A server can
    ignore a constraint: ``Answer.met`` is the result of our own check.
    """

    NOTHING_ASKED = "nothing asked"
    NATIVE = "native"
    AS_GRAMMAR = "as a grammar"
    AS_SCHEMA = "as a schema"
    AS_TOKENS = "as tokens"
    NOT = "not enforced"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer without its reasoning. Numbers of tokens are None where the provider does not say them.

    ``reasoning`` counts the characters of marked reasoning, which is cut; ``met``: whether the answer has the form
    asked for, None if that is not checked. ``notes``: fields that the provider refused, and
    cuts. ``stored``: the answer came from the cache.
    """

    text: str
    finish: Finish = Finish.STOP
    enforced: Enforced = Enforced.NOTHING_ASKED
    met: bool | None = None
    reasoning: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    model: str = ""
    notes: tuple[str, ...] = ()
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """How likely a continuation is: the natural logarithm of its probability, and how many tokens it has."""

    text: str
    log_probability: float
    tokens: int


def to_json(answer: Answer) -> str:
    """An answer as pure ASCII; ``stored`` is left out."""
    record = asdict(answer)
    del record["stored"]
    return json.dumps(record, ensure_ascii=True)


def from_json(text: str) -> Answer | None:
    """The answer that was written so; None for a text that is none, whoever wrote it."""
    try:
        return from_record(read_json(text))
    except BadJson:
        return None


def from_record(record: Any) -> Answer | None:
    """An answer of JSON values, each of the right type; None otherwise. A missing field has its default."""
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        return None
    for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens"):
        if not (record.get(name) is None or count(record[name]) is not None):
            return None
    notes, met = record.get("notes", []), record.get("met")
    if not isinstance(notes, list) or not all([isinstance(note, str) for note in notes]):
        return None
    if not (met is None or isinstance(met, bool)) or not isinstance(record.get("model", ""), str):
        return None
    if count(record.get("reasoning", 0)) is None:
        return None
    try:
        finish = Finish(record.get("finish", Finish.STOP))
        enforced = Enforced(record.get("enforced", Enforced.NOTHING_ASKED))
    except ValueError:
        return None
    fields = {name: record[name] for name in Answer.__dataclass_fields__ if name in record and name != "stored"}
    return Answer(**{**fields, "finish": finish, "enforced": enforced, "notes": tuple(notes)})


def count(value: object) -> int | None:
    """A number of tokens as a server gives it; None for another value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def bounded(answer: Answer) -> Answer:
    """The answer with a text of at most ``LONGEST`` characters that can be encoded; a cut is noted."""
    text = answer.text
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= LONGEST:
        return answer if text == answer.text else replace(answer, text=text)
    note = f"the answer had {len(text):,} characters; the first {LONGEST:,} were kept"
    return replace(answer, text=text[:LONGEST], finish=Finish.LENGTH, notes=(*answer.notes, note))
