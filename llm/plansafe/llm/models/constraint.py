"""How a constraint is put to a provider that knows another form of it, and whether an answer meets it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, NamedTuple, assert_never

from plansafe.domains.json_text import BadJson, read_json
from plansafe.llm.models.answer import Answer, Enforced
from plansafe.llm.models.port import Capabilities
from plansafe.llm.models.request import Choice, Constraint, Grammar, JsonSchema, Syntax

_FIELD = "answer"
_MOST_CHOICES = 1_000
_MANY_CHOICES = 250
_MOST_LETTERS = 15_000
"""Limits of OpenAI on an enumeration: the number of values, and the number of letters if there are many values."""


class SupportedForm(NamedTuple):
    """A constraint in a form that the provider knows, or None where it knows none."""

    constraint: Constraint | None
    enforced: Enforced
    wrapped: bool = False
    """Whether the answer comes as ``{"answer": ..}`` and is unpacked."""


def to_supported_form(constraint: Constraint | None, capabilities: Capabilities) -> SupportedForm:
    """The form in which a provider can enforce a constraint: its own, else a grammar, else a schema, else none."""
    match constraint:
        case None:
            return SupportedForm(None, Enforced.NOTHING_ASKED)
        case Choice(texts):
            if capabilities.choice:
                return SupportedForm(constraint, Enforced.NATIVE)
            if capabilities.gbnf:
                return SupportedForm(Grammar(gbnf_of(texts)), Enforced.AS_GRAMMAR)
            if capabilities.json_schema and _fits(texts):
                return SupportedForm(JsonSchema(schema_of(texts)), Enforced.AS_SCHEMA, wrapped=True)
        case Grammar(_, syntax):
            if capabilities.gbnf if syntax is Syntax.GBNF else capabilities.lark:
                return SupportedForm(constraint, Enforced.NATIVE)
        case JsonSchema():
            if capabilities.json_schema:
                return SupportedForm(constraint, Enforced.NATIVE)
        case unexpected:
            assert_never(unexpected)
    return SupportedForm(None, Enforced.NOT)


def _fits(texts: tuple[str, ...]) -> bool:
    letters = sum(map(len, texts))
    return len(texts) <= _MOST_CHOICES and (len(texts) <= _MANY_CHOICES or letters <= _MOST_LETTERS)


def gbnf_of(texts: tuple[str, ...]) -> str:
    """A grammar in GBNF with exactly these sentences."""
    return "root ::= " + " | ".join([f'"{_gbnf_literal(text)}"' for text in texts])


def _gbnf_literal(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join([c if c.isprintable() else f"\\U{ord(c):08x}" for c in plain])


def schema_of(texts: tuple[str, ...]) -> str:
    """A JSON schema of an object whose only field is one of the texts: services take no bare string."""
    field = {"type": "string", "enum": list(texts)}
    schema = {"type": "object", "properties": {_FIELD: field}, "required": [_FIELD], "additionalProperties": False}
    return json.dumps(schema)


def unpacked(text: str) -> str:
    """The text inside ``{"answer": ..}``; the text itself where it is nothing like that."""
    value = _json(text)
    inside = value.get(_FIELD) if isinstance(value, dict) else None
    return inside if isinstance(inside, str) else text


def with_form_check(answer: Answer, constraint: Constraint | None) -> Answer:
    """The answer with ``met`` set if that needs no parser for grammars.

    White space around a choice is cut where a choice is left. Of a schema only that the text is JSON of the right
    outermost type is looked at.
    """
    match constraint:
        case None | Grammar():
            return answer
        case Choice(texts):
            bare = answer.text.strip()
            if answer.text not in texts and bare in texts:
                answer = replace(answer, text=bare)
            return replace(answer, met=answer.text in texts)
        case JsonSchema():
            value, expected_type = _json(answer.text), constraint.value.get("type")
            kinds: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool}
            met = (
                value is not None
                if not isinstance(expected_type, str)
                else isinstance(value, kinds.get(expected_type, object))
            )
            return replace(answer, met=met and value is not None)
        case unexpected:
            assert_never(unexpected)


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except BadJson:
        return None
