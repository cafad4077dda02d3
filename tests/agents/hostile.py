"""Hostile bodies: right requests with a change to their bytes, to their structure, or to the texts in them."""

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
"""Where bodies are sent, each as often as it is cheap."""
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
    """A right request for a path."""
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
    found = request(path, draw)
    kind: Callable[[dict[str, Any], random.Random], bytes] = draw.choice([_values, _texts, _texts, _bytes, _other])
    return kind(found, draw)


def _encoded(found: Any) -> bytes:
    return json.dumps(found).encode()


def _values(found: dict[str, Any], draw: random.Random) -> bytes:
    for _ in range(draw.randint(1, 3)):
        found[draw.choice([*found, *_FIELDS, "x" * 1000, ""])] = draw.choice(_VALUES)
    return _encoded(found)


def _texts(found: dict[str, Any], draw: random.Random) -> bytes:
    names = [name for name, value in found.items() if isinstance(value, str)]
    lists = [name for name, value in found.items() if isinstance(value, list)]
    if lists and (not names or draw.random() < 0.3):
        name = draw.choice(lists)
        found[name] = [_mutated(text, draw) for text in found[name]]
    elif names:
        name = draw.choice(names)
        found[name] = _mutated(found[name], draw)
    return _encoded(found)


def _mutated(text: str, draw: random.Random) -> str:
    words = text.replace("(", " ( ").replace(")", " ) ").split()
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(words) or 1)
        choice = draw.randrange(4)
        if choice == 0:
            words.insert(at, draw.choice(_ATOMS))
        elif choice == 1 and words:
            del words[at]
        elif choice == 2 and words:
            words[at] = draw.choice(words)
        else:
            words = words[:at] + words[at : at + draw.randint(1, 20)] * draw.randint(2, 5) + words[at:]
    return " ".join(words)


def _bytes(found: dict[str, Any], draw: random.Random) -> bytes:
    out = bytearray(_encoded(found))
    for _ in range(draw.randint(1, 8)):
        at = draw.randrange(len(out) or 1)
        choice = draw.randrange(3)
        if choice == 0 and out:
            out[at] = draw.randrange(256)
        elif choice == 1:
            del out[at : at + draw.randint(1, 50)]
        else:
            out[at:at] = draw.randbytes(draw.randint(1, 10))
    return bytes(out)


def _other(_: dict[str, Any], draw: random.Random) -> bytes:
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
