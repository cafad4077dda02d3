"""``llamacpp-local/FILE``: llama.cpp in this process, by xllamacpp. Grammars and schemas, no callback for tokens.

Faster on a CPU than transformers, and quick to load. Its server shares what prompts begin with. It also listens on
this machine, on a port of its choice; a random key protects it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from typing import Any

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.chat import ChatModel, Dialect
from plansafe.llm.models.dialects import llamacpp_field
from plansafe.llm.models.port import Capabilities, Model, ModelError
from plansafe.llm.models.received import inner, short
from plansafe.llm.models.request import Constraint, Grammar, Syntax
from plansafe.llm.models.transport import Refused
from plansafe.llm.models.weights import broken, checked_gguf, digest
from plansafe.verifier.extras import how_to_install

CAPABILITIES = Capabilities(gbnf=True, lark=True, json_schema=True, seed=True)
_LARK = "%llguidance {}\n"
_REFUSED = (400, 413, 422)


def open_file(path: str, threads: int, context: int) -> Model:
    """The model in a file, with room for ``context`` tokens. Raises :class:`ModelError`."""
    checked_gguf(path)
    line = _InProcess(path, threads, context)
    return ChatModel(Dialect("llamacpp-local", CAPABILITIES, "max_tokens", _constrained), f"{context}", line, 1)


def _constrained(constraint: Constraint) -> dict[str, Any]:
    if isinstance(constraint, Grammar) and constraint.syntax is Syntax.LARK:
        return {"grammar": _LARK + constraint.text}
    return llamacpp_field(constraint)


class _InProcess:
    """What :class:`~plansafe.llm.models.transport.Transport` is to a server, without a network."""

    def __init__(self, path: str, threads: int, context: int) -> None:
        try:
            import xllamacpp  # noqa: PLC0415 - 100 MB, and for this provider alone
        except ImportError as error:
            message = f"llama.cpp needs xllamacpp, which is not installed: {how_to_install('llamacpp')}"
            raise ModelError(
                Diagnostic(SC.MODEL_PACKAGE_MISSING, message, help="see docs/language-models.md"), True
            ) from error
        self.url = f"sha256:{digest([path])} xllamacpp {xllamacpp.__version__}"
        self._path = path
        self._lock = threading.Lock()
        wishes = xllamacpp.CommonParams()
        wishes.model.path = path
        wishes.n_ctx = context
        wishes.n_parallel = 1
        wishes.cpuparams.n_threads = wishes.cpuparams_batch.n_threads = threads
        wishes.api_keys = [secrets.token_hex(32)]
        wishes.ui = wishes.endpoint_slots = wishes.warmup = False
        wishes.offline = True
        wishes.verbosity = -1
        try:
            self._server: Any = xllamacpp.Server(wishes)
        except RuntimeError as error:
            raise broken(path, error) from error

    def post(self, path: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request of the chat protocol, the only one there is (``path`` is for servers)."""
        if path != "/chat/completions":
            raise ValueError(path)
        with self._lock:
            try:
                body = self._server.handle_chat_completions(dict(payload))
            except (RuntimeError, ValueError) as error:
                raise ModelError(Diagnostic(SC.MODEL_FAILED, f"llama.cpp failed: {self.clean(str(error))}")) from error
        error_text = self.clean(str(inner(body, "error", "message") or ""))
        if isinstance(body, dict) and "error" not in body:
            return {**body, "model": self._path}
        if inner(body, "error", "code") in _REFUSED:
            raise Refused(400, error_text, "")
        raise ModelError(Diagnostic(SC.MODEL_FAILED, f"llama.cpp failed: {error_text or 'no answer'}"))

    def clean(self, text: str) -> str:
        """The message, on one line."""
        return short(text)

    def hide(self, text: str) -> str:
        """The text unchanged: it has no key."""
        return text

    def cancel(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Let go of the weights."""
        self._server = None
