"""What a model is asked: messages, limits, and what the answer must look like. Data only, and its address."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from plansafe.grammar.shallow_json import loads

_VERSION = 1
"""Part of every address: a change of what an address covers must not find old answers."""


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Syntax(StrEnum):
    """How a grammar is written: as llama.cpp reads it (GBNF), or as llguidance does (Lark)."""

    GBNF = "gbnf"
    LARK = "lark"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. What many requests share comes first, so that providers need to read it only once."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer is exactly one of these texts. Raises ``ValueError`` for none, an empty or a repeated one."""

    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.texts or not all(self.texts) or len(set(self.texts)) < len(self.texts):
            raise ValueError("a choice needs different texts that are not empty")


@dataclass(frozen=True, slots=True)
class Grammar:
    """The answer is a sentence of a grammar that starts at ``root`` (GBNF) or ``start`` (Lark)."""

    text: str
    syntax: Syntax = Syntax.GBNF


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """The answer is a JSON value that a schema (JSON text) describes.

    Raises ``ValueError`` if the schema is not an object.
    """

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.value, dict):
            raise ValueError("a schema must be a JSON object")

    @property
    def value(self) -> Any:
        """The schema as an object. Raises ``ValueError`` where it is nested too deep to be read."""
        try:
            return loads(self.text)
        except RecursionError:
            raise ValueError("a schema that is nested too deeplylyly") from None


Constraint = Choice | Grammar | JsonSchema


@dataclass(frozen=True, slots=True)
class Situation:
    """The position in a task, for mocks that act as policies; it is never sent to a model.

    ``task`` is the caller's name of the task, ``taken`` are the earlier steps and ``legal`` the possible next steps,
    all as the caller writes them. Whole plans are asked for without ``legal``.
    """

    task: str
    taken: tuple[str, ...] = ()
    legal: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One question. ``temperature`` 0 is greedy; ``max_tokens`` bounds reasoning and answer together.

    ``sample`` distinguishes requests that are otherwise equal: a second draw is another request.
    Raises ``ValueError`` for numbers that mean nothing.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 1024
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    constraint: Constraint | None = None
    situation: Situation | None = None
    sample: int = 0

    def __post_init__(self) -> None:
        if not self.messages or self.max_tokens < 1 or self.sample < 0 or not all(self.stop):
            raise ValueError("a request needs messages, at least one token for the answer, and no empty stop")
        if not (0 <= self.temperature <= 10 and 0 < self.top_p <= 1):
            raise ValueError("temperature must be from 0 to 10, top_p above 0 and at most 1")


def user_messages(prompt: str, system: str = "") -> tuple[Message, ...]:
    """The messages of a question, after an optional system message."""
    first = (Message(Role.SYSTEM, system),) if system else ()
    return (*first, Message(Role.USER, prompt))


def content(request: Request) -> dict[str, Any]:
    """The content of a request as JSON values. The situation is left out: no model sees it."""
    return {
        "messages": [[message.role.value, message.text] for message in request.messages],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
        "stop": list(request.stop),
        "constraint": _constraint(request.constraint),
        "sample": request.sample,
    }


def _constraint(constraint: Constraint | None) -> list[Any] | None:
    match constraint:
        case None:
            return None
        case Choice(texts):
            return ["choice", *texts]
        case Grammar(text, syntax):
            return ["grammar", syntax.value, text]
        case JsonSchema(text):
            return ["schema", text]
        case unexpected:
            assert_never(unexpected)


def address(request: Request, identity: str = "") -> str:
    """The SHA-256 of a request and of the model that is asked (``Model.identity``; empty: whoever is asked)."""
    record = {"version": _VERSION, "model": identity, "request": content(request)}
    return hashlib.sha256(canonical(record).encode("ascii")).hexdigest()


def canonical(value: object) -> str:
    """JSON in one spelling, pure ASCII: other characters are escaped."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
