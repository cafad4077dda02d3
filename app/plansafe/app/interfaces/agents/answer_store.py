"""The full answers of earlier calls of an agent: kept for ``details``, with the fields of their requests."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from plansafe.app.interfaces.agents.operation_fields import DETAILS, Operation
from plansafe.app.interfaces.agents.request_fields import BadRequest, read_fields
from plansafe.app.render.json import dumps, json_line
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import suggest_name

_MAX_ANSWERS = 32
_MAX_BYTES = 64 * 1024 * 1024
_MAX_PAGE = 8_000
"""Maximum number of characters of the entries of one ``details`` answer, unless the first entry is longer."""
_MAX_ENTRY = 20_000
SAME_AS = "same_as"
"""The field that takes over the fields of an earlier call."""


class StoredAnswer(NamedTuple):
    """The request fields and the full answer (JSON) of one call."""

    arguments: Mapping[str, Any]
    full: bytes
    size: int


class AnswerStore:
    """The latest answers by number. The oldest are dropped at a limit of number or size."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, StoredAnswer] = OrderedDict()
        self._count = 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def add(self, arguments: Mapping[str, Any], full: bytes) -> str:
        """Store an answer and return its number."""
        self._count += 1
        number = str(self._count)
        self._answers[number] = StoredAnswer(arguments, full, len(full) + len(dumps(arguments)))
        while len(self._answers) > _MAX_ANSWERS or sum([a.size for a in self._answers.values()]) > _MAX_BYTES:
            self._answers.popitem(last=False)
        return number

    def get(self, number: object) -> StoredAnswer:
        """Return an answer. Raises :class:`BadRequest` if it is not stored."""
        answer = self._answers.get(str(number))
        if answer is None:
            numbers = list(self._answers)
            advice = f"stored are {numbers[0]} to {numbers[-1]}" if numbers else "call `audit` first"
            raise BadRequest(f"no answer {str(number)[:20]!a} is stored", advice, SC.NOT_FOUND)
        return answer

    def merged(self, operation: Operation, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call; ``same_as`` adds those arguments of an earlier call that the operation has.

        Raises :class:`BadRequest` if the earlier call is not stored.
        """
        new = {name: value for name, value in arguments.items() if name != SAME_AS}
        if arguments.get(SAME_AS) is None:
            return new
        names = {field.name for field in operation.fields}
        earlier = self.get(arguments[SAME_AS]).arguments
        return {**{name: value for name, value in earlier.items() if name in names}, **new}

    def details(self, arguments: Mapping[str, Any]) -> str:
        """Return a part of an answer as JSON, a list or a text in pages. Raises :class:`BadRequest`."""
        values = read_fields(DETAILS.fields, arguments)
        full = json.loads(self.get(values["answer"]).full)
        parts = {**full.get("report", {}), **full}  # a repair contains the report on the original plan
        part = values["part"]
        if part not in parts:
            advice = suggest_name(part, tuple(parts)) or f"parts: {', '.join(parts)}"
            raise BadRequest(f"answer {values['answer']} has no part {part[:60]!a}", advice)
        content = parts[part]
        if isinstance(content, str) and "\n" in content:
            content = content.splitlines()
        if not isinstance(content, list):
            return json_line({"part": part, "content": _bounded(content)})
        if values["rule"] is not None:
            content = [e for e in content if isinstance(e, dict) and values["rule"] in (e.get("rule"), e.get("name"))]
        return json_line({"part": part, **_page(content, values["start"])})


def _page(entries: list[Any], start: int) -> dict[str, Any]:
    page: list[Any] = []
    characters = 0
    for entry in entries[start:]:
        bounded = _bounded(entry)
        characters += len(dumps(bounded))
        if page and characters > _MAX_PAGE:
            break
        page.append(bounded)
    following = start + len(page)
    return {
        "total": len(entries),
        "start": start,
        "content": page,
        **({"next_start": following} if following < len(entries) else {}),
    }


def _bounded(content: Any) -> Any:
    length = len(dumps(content))
    if length <= _MAX_ENTRY:
        return content
    return {"characters": length, "too_long": "read the resource safecheck://answers/NUMBER"}
