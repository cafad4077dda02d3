"""Answers from a file: recorded answers of a model, or answers written for a test.

A file of JSON lines. Each has the answer's ``text`` (and other fields of an answer, where they matter), and its
key: ``request`` (the address of the request), ``task`` (the name in its situation) or ``prompt`` (its last
message). Of several lines for the same, each is for another ``sample``, in order.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from plansafe.domains.json_text import BadJson, read_json
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.answer import Answer, Enforced, bounded, from_record
from plansafe.llm.models.constraint import with_form_check
from plansafe.llm.models.port import Capabilities, LogitsMask, ModelError, PlainModel
from plansafe.llm.models.received import without_reasoning
from plansafe.llm.models.request import Request, address, canonical

CAPABILITIES = Capabilities()
_KEYS = ("request", "task", "prompt")
_MOST_BYTES = 1 << 30
_LINE = 32 * 1024 * 1024


class ReplayModel(PlainModel):
    """Answers that were recorded. Raises :class:`ModelError` for a file that has none, naming the line."""

    def __init__(self, path: str) -> None:
        super().__init__("replay/", canonical(["replay", os.path.basename(path)]), CAPABILITIES)
        self._path = path
        self._known: dict[tuple[str, str], list[Answer]] = {}
        for number, record in _records(path):
            keys = [key for key in _KEYS if isinstance(record.get(key), str)]
            answer = from_record(record)
            if len(keys) != 1 or answer is None:
                raise _bad(path, f"line {number} has no `text`, or not exactly one of {', '.join(_KEYS)}")
            self._known.setdefault((keys[0], record[keys[0]]), []).append(bounded(answer))
        if not self._known:
            raise _bad(path, "it has no answers")

    def answer(self, request: Request, mask: LogitsMask | None = None) -> Answer:
        """The recorded answer. Raises :class:`ModelError` if this request has none."""
        self.refuse(mask)
        task = request.situation.task if request.situation is not None else None
        for key, value in (("request", address(request)), ("task", task), ("prompt", request.messages[-1].text)):
            recorded = self._known.get((key, value)) if value is not None else None
            if recorded and request.sample < len(recorded):
                return self._as_asked(recorded[request.sample], request)
        sample_name = f"sample {request.sample} of " if request.sample else ""
        name = f"task {task}" if task is not None else f"request {address(request)[:12]}"
        message = f"{self._path} has no answer for {sample_name}{name}"
        raise ModelError(Diagnostic(SC.NO_RECORDED_ANSWER, message, help="the prompt may have changed since"))

    def _as_asked(self, answer: Answer, request: Request) -> Answer:
        text, inside = without_reasoning(answer.text)
        enforced = answer.enforced
        if request.constraint is not None and enforced is Enforced.NOTHING_ASKED:
            enforced = Enforced.NOT
        answer = replace(answer, text=text, reasoning=answer.reasoning + inside, enforced=enforced)
        return with_form_check(answer, request.constraint)


def _bad(path: str, reason: str) -> ModelError:
    return ModelError(
        Diagnostic(SC.BAD_RECORD, f"{path} cannot be replayed: {reason}", help="see docs/language-models.md"), True
    )


def _records(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file, with their lines. Raises :class:`ModelError`."""
    try:
        if not os.path.isfile(path):
            raise ModelError(Diagnostic(SC.NO_FILE, f"file not found: {path}"), fatal=True)
        if os.path.getsize(path) > _MOST_BYTES:
            raise _bad(path, "it is larger than a gigabyte")
        with open(path, "rb") as file:
            number = 0
            while line := file.readline(_LINE + 1):
                number += 1
                if len(line) > _LINE:
                    raise _bad(path, f"line {number} is longer than {_LINE:,} bytes")
                if not line.strip():
                    continue
                try:
                    record = read_json(line.decode("utf-8", "replace"))
                except BadJson:
                    raise _bad(path, f"line {number} is not JSON") from None
                if not isinstance(record, dict):
                    raise _bad(path, f"line {number} is not a JSON object")
                yield number, record
    except OSError as error:
        raise _bad(path, error.strerror or str(error)) from None
