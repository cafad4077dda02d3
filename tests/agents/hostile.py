"""Hostile bodies: valid requests with a change to their bytes, their structure or their texts."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from agents_server import SAFE, TASK, UNSAFE

PATHS = (
    *["/v1/audit"] * 16,
    *["/v1/repair"] * 4,
    *["/v1/diagnose"] * 4,
    "/v1/formalise",
    *["/v1/sessions"] * 4,
    *[f"SESSION/{name}" for name in ("allowed", "take", "observe", "next", "state")] * 6,
)
"""The paths for the bodies; a cheap operation is listed more often."""
_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**64,
    1e308,
    "",
    "\0",
    "\ud800",
    "../../../../etc/passwd",
    "file:///etc/passwd",
    "http://127.0.0.1:1/",
    "(" * 5000,
    ")" * 5000,
    "((((define",
    "\u202e\u2066<script>alert(1)</script>",
    "x" * 100_000,
    [],
    {},
    [[[[[[]]]]]],
    ["(define (safety s) (:extends /etc/passwd))"],
    [1, None, "x"],
    {"a": {"b": {"c": 1}}},
)
_FIELDS = [
    "plan",
    "domain",
    "problem",
    "rules",
    "world",
    "scene",
    "goal",
    "task",
    "home",
    "judge",
    "name",
    "form",
    "gate",
]
_ATOMS = ["(", ")", "?x", "-", "not", "forall", "exists", "(:init", "when", "either", "object", "1e9", ";", "|", "é"]


def request(path: str, draw: random.Random) -> dict[str, Any]:
    """A valid request for a path."""
    if path.endswith("/observe"):
        return {"facts": ["(on hob)", "(not (robot-in hall))"], "complete": draw.random() < 0.3}
    if path.endswith(("/allowed", "/take")):
        return {"action": draw.choice(["(go kitchen hall)", "(switch-on hob kitchen)"])}
    if path.startswith("SESSION"):
        return {}
    if path == "/v1/formalise":
        drafts = ["(:process r :forbid (on hob))", "(:termination r :require (robot-in hall))"]
        return {"domain": TASK["domain"], "problem": TASK["problem"], "sentence": "never", "answers": drafts}
    plan = {} if path == "/v1/sessions" else {"plan": draw.choice([SAFE, UNSAFE])}
    return {**TASK, **plan}


def body(path: str, draw: random.Random) -> bytes:
    """A hostile body for a path."""
    mutate: Callable[[dict[str, Any], random.Random], bytes] = draw.choice(
        [_change_values, _change_texts, _change_texts, _change_bytes, _replace_body]
    )
    return mutate(request(path, draw), draw)


def _encode(fields: Any) -> bytes:
    return json.dumps(fields).encode()


def _change_values(fields: dict[str, Any], draw: random.Random) -> bytes:
    for _ in range(draw.randint(1, 3)):
        fields[draw.choice([*fields, *_FIELDS, "x" * 1000, ""])] = draw.choice(_VALUES)
    return _encode(fields)


def _change_texts(fields: dict[str, Any], draw: random.Random) -> bytes:
    names = [name for name, value in fields.items() if isinstance(value, str)]
    lists = [name for name, value in fields.items() if isinstance(value, list)]
    if lists and (not names or draw.random() < 0.3):
        name = draw.choice(lists)
        fields[name] = [_mutate_words(text, draw) for text in fields[name]]
    elif names:
        name = draw.choice(names)
        fields[name] = _mutate_words(fields[name], draw)
    return _encode(fields)


def _mutate_words(text: str, draw: random.Random) -> str:
    words = text.replace("(", " ( ").replace(")", " ) ").split()
    for _ in range(draw.randint(1, 4)):
        index = draw.randrange(len(words) or 1)
        mutation = draw.randrange(4)
        if mutation == 0:
            words.insert(index, draw.choice(_ATOMS))
        elif mutation == 1 and words:
            del words[index]
        elif mutation == 2 and words:
            words[index] = draw.choice(words)
        else:
            words = words[:index] + words[index : index + draw.randint(1, 20)] * draw.randint(2, 5) + words[index:]
    return " ".join(words)


def _change_bytes(fields: dict[str, Any], draw: random.Random) -> bytes:
    body = bytearray(_encode(fields))
    for _ in range(draw.randint(1, 8)):
        index = draw.randrange(len(body) or 1)
        mutation = draw.randrange(3)
        if mutation == 0 and body:
            body[index] = draw.randrange(256)
        elif mutation == 1:
            del body[index : index + draw.randint(1, 50)]
        else:
            body[index:index] = draw.randbytes(draw.randint(1, 10))
    return bytes(body)


def _replace_body(_: dict[str, Any], draw: random.Random) -> bytes:
    return draw.choice(
        [
            b"",
            b"null",
            b"[]",
            b"[" * 100_000,
            b'{"plan":' * 50_000,
            b'"' + b"\\" * 9999,
            b"9" * 100_000,
            b'{"plan": 1e999999}',
            b"\xff\xfe\x00",
            b'{"plan": "\xed\xa0\x80"}',
            draw.randbytes(draw.randint(1, 3000)),
        ]
    )
