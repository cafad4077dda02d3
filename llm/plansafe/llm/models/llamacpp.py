"""The server of llama.cpp (``llama-server``): grammars in GBNF as the field ``grammar``, schemas as OpenAI has them."""

from __future__ import annotations

from typing import Any

from plansafe.llm.models.chat import Dialect
from plansafe.llm.models.openai import as_response_format
from plansafe.llm.models.port import Capabilities
from plansafe.llm.models.request import Constraint, Grammar

URL = "http://127.0.0.1:8080/v1"


def dialect() -> Dialect:
    """How this server differs from OpenAI."""
    return Dialect("llamacpp", Capabilities(gbnf=True, json_schema=True, seed=True), "max_tokens", constrained)


def constrained(constraint: Constraint) -> dict[str, Any]:
    """The field that carries a constraint."""
    return {"grammar": constraint.text} if isinstance(constraint, Grammar) else as_response_format(constraint)
