"""What servers send, which may be anything: bounded, decoded, and of the types that were hoped for.

Marked reasoning: counted, and cut from the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from plansafe.domains.json_text import BadJson, read_json

MOST_BYTES = 16 * 1024 * 1024
"""Of one response. A million characters of text, each written as an escape, and the JSON around them."""
_MOST_CONTAINERS = 200_000
_SHORT = 200


class Garbage(Exception):
    """A body without an answer; the message describes it."""


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object that a body is. Raises :class:`Garbage`. Bytes that are not UTF-8 are replaced.

    A body of 16 MB could hold as many lists, and a list takes fifty times the memory of its text.
    """
    if body.count(b"[") + body.count(b"{") > _MOST_CONTAINERS and _containers(body) > _MOST_CONTAINERS:
        raise Garbage("JSON with too many lists and objects")
    try:
        value = read_json(
            body.decode("utf-8", "replace")
        )  # which counts depth first: the standard reader recurses in C
    except BadJson as error:
        deep = "nests deeper" in error.message
        raise Garbage("JSON that is nested too deeplylyly" if deep else f"not JSON: {_start(body)}") from None
    if not isinstance(value, dict):
        raise Garbage(f"not a JSON object: {_start(body)}")
    return value


def read_events(body: bytes) -> dict[str, Any]:
    """The completion that a stream of chat events (``text/event-stream``) adds up to. Raises :class:`Garbage`.

    Only texts are put together: a stream of tool calls, or one that is cut, is refused.
    """
    texts: dict[str, list[str]] = {"content": [], "reasoning_content": [], "refusal": []}
    common: dict[str, Any] = {}
    finish = None
    for line in body.splitlines():
        data = line.removeprefix(b"data:").strip()
        if not line.startswith(b"data:") or data == b"[DONE]":
            continue
        event = read_object(data)
        common.update({name: event[name] for name in ("model", "usage", "error") if event.get(name) is not None})
        delta, finish = inner(event, "choices", 0, "delta"), inner(event, "choices", 0, "finish_reason") or finish
        if isinstance(inner(delta, "tool_calls"), list):
            raise Garbage("a stream of tool calls")
        for name, parts in texts.items():
            parts.append(text_of(inner(delta, name)))
    if finish is None and "error" not in common:
        raise Garbage("a stream of events without an end")
    message = {name: "".join(parts) for name, parts in texts.items()}
    return {**common, "choices": [{"message": message, "finish_reason": finish}]}


def _containers(body: bytes) -> int:
    """How many lists and objects begin outside of strings: a text may be full of brackets."""
    count, position, size = 0, 0, len(body)
    while position < size:
        quote = body.find(b'"', position)
        end = size if quote < 0 else quote
        count += body.count(b"[", position, end) + body.count(b"{", position, end)
        if quote < 0 or count > _MOST_CONTAINERS:
            break
        position = _end_of_string(body, quote + 1)
    return count


def _end_of_string(body: bytes, position: int) -> int:
    while True:
        quote = body.find(b'"', position)
        if quote < 0:
            return len(body)
        slashes = quote - len(body[position:quote].rstrip(b"\\")) - position
        position = quote + 1
        if slashes % 2 == 0:
            return position


def _start(body: bytes) -> str:
    text = body[:_SHORT].decode("utf-8", "replace").strip()
    return repr(text[:60]) if text else "an empty body"


def inner(value: object, *path: str | int) -> Any:
    """What a value has at a path of keys and indices; None where it has not."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def text_of(value: object) -> str:
    """A text, or the texts of a list of parts as some servers send it; empty for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join([part["text"] for part in value if isinstance(inner(part, "text"), str)])
    return ""


def short(value: object) -> str:
    """A text of one line and bounded length, for names and complaints."""
    text = value if isinstance(value, str) else ""
    return " ".join(text[: 4 * _SHORT].encode("utf-8", "replace").decode("utf-8").split())[:_SHORT]


def complaint(body: bytes) -> str:
    """What the body of an error says is wrong, in its usual places."""
    try:
        value = read_object(body)
    except Garbage:
        return short(body[: 4 * _SHORT].decode("utf-8", "replace"))
    for path in (("error", "message"), ("error",), ("message",), ("detail",), ("detail", 0, "msg")):
        if message := short(inner(value, *path)):
            return message
    return ""


_MARK = re.compile(r"<(/?)(?:think|thinking|reasoning|thought)>", re.IGNORECASE)


def without_reasoning(text: str) -> tuple[str, int]:
    """The text outside ``<think>..</think>``, and how many characters were inside, marks not counted.

    Reasoning that is not closed takes the rest, since the answer never began. A closing mark alone ends reasoning
    that began in the prompt. White space at the ends is cut if reasoning was cut.
    """
    parts: list[str] = []
    inside, depth, position = 0, 0, 0
    for mark in _MARK.finditer(text):
        passage = text[position : mark.start()]
        if not mark[1]:
            if depth:
                inside += len(passage)
            else:
                parts.append(passage)
            depth += 1
        elif depth:
            inside += len(passage)
            depth -= 1
        else:
            inside += sum(map(len, parts)) + len(passage)
            parts.clear()
        position = mark.end()
    if not position:
        return text, 0
    if depth:
        inside += len(text) - position
    else:
        parts.append(text[position:])
    return "".join(parts).strip(), inside
