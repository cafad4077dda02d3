"""OpenAI, and services that speak its protocol: JSON schemas alone are enforced."""

from __future__ import annotations

from typing import Any

from plansafe.grammar.shallow_json import loads
from plansafe.llm.models.chat import Dialect
from plansafe.llm.models.port import Capabilities
from plansafe.llm.models.request import Constraint, JsonSchema

URL = "https://api.openai.com/v1"


def dialect(url: str) -> Dialect:
    """The dialect of OpenAI itself, whose newer models know one name of the limit, or of a service like it."""
    length = "max_completion_tokens" if url.startswith(URL) else "max_tokens"
    return Dialect("openai", Capabilities(json_schema=True, seed=True), length, as_response_format)


def as_response_format(constraint: Constraint) -> dict[str, Any]:
    """The field ``response_format``. ``strict`` is asked for, since otherwise a schema is but a hint."""
    assert isinstance(constraint, JsonSchema)  # nothing else is among the capabilities
    schema = {"name": "answer", "strict": True, "schema": loads(constraint.text)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}
