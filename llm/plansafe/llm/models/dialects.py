"""The constraints that OpenAI, vLLM and the server of llama.cpp enforce, and the fields that carry them."""

from __future__ import annotations

from typing import Any, assert_never

from plansafe.grammar.shallow_json import loads
from plansafe.llm.models.chat import Dialect
from plansafe.llm.models.port import Capabilities
from plansafe.llm.models.request import Choice, Constraint, Grammar, JsonSchema

OPENAI_URL = "https://api.openai.com/v1"
VLLM_URL = "http://localhost:8000/v1"
LLAMACPP_URL = "http://127.0.0.1:8080/v1"


def openai_dialect(url: str) -> Dialect:
    """The dialect of OpenAI itself, whose newer models know one name of the limit, or of a service like it.

    JSON schemas alone are enforced.
    """
    length = "max_completion_tokens" if url.startswith(OPENAI_URL) else "max_tokens"
    return Dialect("openai", Capabilities(json_schema=True, seed=True), length, as_response_format)


def as_response_format(constraint: Constraint) -> dict[str, Any]:
    """The field ``response_format``. ``strict`` is asked for, since otherwise a schema is but a hint."""
    assert isinstance(constraint, JsonSchema)  # nothing else is among the capabilities
    schema = {"name": "answer", "strict": True, "schema": loads(constraint.text)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def vllm_dialect() -> Dialect:
    """The dialect of vLLM: choices, grammars and schemas.

    Grammars are GBNF, or Lark, which vLLM rewrites; what its backend does not take it refuses, and the answer then says
    that nothing was enforced.
    """
    capabilities = Capabilities(choice=True, gbnf=True, lark=True, json_schema=True, seed=True)
    return Dialect("vllm", capabilities, "max_tokens", structured_outputs)


def structured_outputs(constraint: Constraint) -> dict[str, Any]:
    """The field ``structured_outputs`` of vLLM (since 0.12; ``guided_*`` before).

    https://docs.vllm.ai/en/latest/features/structured_outputs/
    """
    match constraint:
        case Choice(texts):
            return {"structured_outputs": {"choice": list(texts)}}
        case Grammar(text):
            return {"structured_outputs": {"grammar": text}}
        case JsonSchema(text):
            return {"structured_outputs": {"json": loads(text)}}
        case unexpected:
            assert_never(unexpected)


def llamacpp_dialect() -> Dialect:
    """The dialect of ``llama-server``: grammars in GBNF, schemas as OpenAI has them."""
    return Dialect("llamacpp", Capabilities(gbnf=True, json_schema=True, seed=True), "max_tokens", llamacpp_field)


def llamacpp_field(constraint: Constraint) -> dict[str, Any]:
    """The field that carries a constraint to ``llama-server``."""
    return {"grammar": constraint.text} if isinstance(constraint, Grammar) else as_response_format(constraint)
