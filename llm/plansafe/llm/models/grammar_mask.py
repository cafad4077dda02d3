"""A grammar or a JSON schema as a mask over tokens, by llguidance: the tokens that can follow each token of a sentence.

llguidance (MIT, Rust, 8 MB) reads Lark-like grammars and JSON schemas, and takes about 20 microseconds a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.port import ModelError
from plansafe.llm.models.request import Grammar, JsonSchema
from plansafe.verifier.extras import how_to_install


class Grammars:
    """What llguidance knows of a tokenizer: made once, about a second."""

    def __init__(self, tokenizer: Any, ends: Iterable[int]) -> None:
        try:
            import llguidance  # noqa: PLC0415 - for grammars alone
            import llguidance.hf  # noqa: PLC0415 - the same
        except ImportError as error:
            message = f"grammars need llguidance, which is not installed: {how_to_install('hf')}"
            raise ModelError(
                Diagnostic(SC.MODEL_PACKAGE_MISSING, message, help="see docs/language-models.md"), True
            ) from error
        self._matcher = llguidance.LLMatcher
        try:
            self._tokens = llguidance.hf.from_tokenizer(tokenizer, eos_token=sorted(ends))
        except Exception as error:  # any complaint of the library is about the tokenizer, a file of the user
            message = f"grammars cannot be enforced with this tokenizer: {_short(error)}"
            raise ModelError(Diagnostic(SC.MODEL_UNABLE, message, help="see docs/language-models.md"), True) from error

    def mask(self, constraint: Grammar | JsonSchema) -> GrammarMask:
        """The mask for one answer. Raises :class:`ModelError` for a grammar that llguidance does not read."""
        match constraint:
            case Grammar(text):
                grammar = text
            case JsonSchema(text):
                grammar = self._matcher.grammar_from_json_schema(text)
            case unexpected:
                assert_never(unexpected)
        matcher = self._matcher(self._tokens, grammar)
        if matcher.is_error():
            message = f"the grammar cannot be used: {_short(matcher.get_error())}"
            raise ModelError(Diagnostic(SC.MODEL_FAILED, message, help="see docs/language-models.md"))
        return GrammarMask(matcher)


class GrammarMask:
    """A :data:`~plansafe.llm.models.port.LogitsMask` that is asked after each token of one answer."""

    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher
        self._read = 0

    def __call__(self, tokens: Sequence[int]) -> Sequence[int]:
        """The tokens with which a sentence goes on, the end among them where it is one; none where it cannot go on."""
        import numpy  # noqa: PLC0415 - comes with torch, without which no mask is requested

        new, self._read = list(tokens[self._read :]), len(tokens)
        if (new and not self._matcher.consume_tokens(new)) or self._matcher.is_stopped():
            return []
        bits = numpy.frombuffer(self._matcher.compute_bitmask(), dtype=numpy.uint8)
        tokens_allowed: list[int] = numpy.flatnonzero(numpy.unpackbits(bits, bitorder="little")).tolist()
        return tokens_allowed


def _short(error: object) -> str:
    return " ".join(str(error).split())[:200]
