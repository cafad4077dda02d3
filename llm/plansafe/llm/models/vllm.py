"""vLLM's server: choices, grammars and schemas in the field ``structured_outputs`` (since 0.12; ``guided_*`` before).

https://docs.vllm.ai/en/latest/features/structured_outputs/. Grammars are GBNF, or Lark, which vLLM rewrites; what its
backend does not take it refuses, and the answer then says that nothing was enforced.
"""

from __future__ import annotations

from typing import Any, assert_never

from plansafe.grammar.shallow_json import loads
from plansafe.llm.models.chat import Dialect
from plansafe.llm.models.port import Capabilities
from plansafe.llm.models.request import Choice, Constraint, Grammar, JsonSchema

URL = "http://localhost:8000/v1"


def dialect() -> Dialect:
    """How vLLM differs from OpenAI."""
    capabilities = Capabilities(choice=True, gbnf=True, lark=True, json_schema=True, seed=True)
    return Dialect("vllm", capabilities, "max_tokens", structured_outputs)


def structured_outputs(constraint: Constraint) -> dict[str, Any]:
    """The field that carries a constraint."""
    match constraint:
        case Choice(texts):
            return {"structured_outputs": {"choice": list(texts)}}
        case Grammar(text):
            return {"structured_outputs": {"grammar": text}}
        case JsonSchema(text):
            return {"structured_outputs": {"json": loads(text)}}
        case unexpected:
            assert_never(unexpected)
