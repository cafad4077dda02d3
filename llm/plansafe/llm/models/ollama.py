"""Ollama by its own protocol, ``/api/chat``: schemas in the field ``format``, and marked thinking apart."""

from __future__ import annotations

from typing import Any

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.shallow_json import loads
from plansafe.llm.models.answer import Answer, Finish, bounded, count
from plansafe.llm.models.chat import wire
from plansafe.llm.models.constraint import SupportedForm, to_supported_form, unpacked, with_form_check
from plansafe.llm.models.port import Capabilities, LogitsMask, ModelError, PlainModel
from plansafe.llm.models.received import inner, short, text_of, without_reasoning
from plansafe.llm.models.request import JsonSchema, Request, canonical
from plansafe.llm.models.transport import Refused, Transport

PORT = 11434
CAPABILITIES = Capabilities(json_schema=True, seed=True)


def url_of(host: str) -> str:
    """The address that ``OLLAMA_HOST`` means: a host, a port or both. ``0.0.0.0`` is for servers."""
    text = host.strip()
    if "://" in text:
        return text
    name, colon, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon:
        name, port = text, str(PORT)
    name = "127.0.0.1" if name in ("", "0.0.0.0") else name
    return f"http://{name}:{port}"


class OllamaModel(PlainModel):
    """A model on an Ollama server."""

    def __init__(self, name: str, transport: Transport, connections: int) -> None:
        super().__init__("ollama/", canonical(["ollama", name, transport.url]), CAPABILITIES, connections, keeps=True)
        self._name = name
        self._transport = transport

    def cancel(self) -> None:
        """Let calls that wait for another try give up."""
        self._transport.cancel()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def answer(self, request: Request, mask: LogitsMask | None = None) -> Answer:
        """See :class:`~plansafe.llm.models.port.Model`."""
        self.refuse(mask)
        supported = to_supported_form(request.constraint, self.capabilities)
        try:
            body = self._transport.post("/api/chat", self._payload(request, supported))
        except Refused as refused:
            message = f"{self._transport.url} refused the request: {refused.message} (status {refused.status})"
            raise ModelError(Diagnostic(SC.MODEL_FAILED, message)) from None
        return with_form_check(bounded(self._read(body, supported)), request.constraint)

    def _payload(self, request: Request, supported: SupportedForm) -> dict[str, Any]:
        options: dict[str, Any] = {
            "num_predict": request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
        }
        if request.seed is not None:
            options["seed"] = request.seed
        if request.stop:
            options["stop"] = list(request.stop)
        payload = {"model": self._name, "messages": wire(request), "stream": False, "options": options}
        if isinstance(supported.constraint, JsonSchema):
            payload["format"] = loads(supported.constraint.text)
        return payload

    def _read(self, body: dict[str, Any], supported: SupportedForm) -> Answer:
        message = inner(body, "message")
        if not isinstance(message, dict) or body.get("done") is False:
            error_text = self._transport.clean(short(body.get("error")) or "no complete message")
            raise ModelError(
                Diagnostic(SC.MODEL_FAILED, f"{self._transport.url} sent an answer without text: {error_text}")
            )
        text, marked = without_reasoning(text_of(message.get("content")))
        if supported.wrapped:
            text = unpacked(text)
        reason = short(body.get("done_reason"))
        return Answer(
            text=self._transport.hide(text),
            finish={"stop": Finish.STOP, "length": Finish.LENGTH}.get(reason, Finish.OTHER),
            enforced=supported.enforced,
            reasoning=marked + len(text_of(message.get("thinking"))),
            prompt_tokens=count(body.get("prompt_eval_count")),
            completion_tokens=count(body.get("eval_count")),
            model=self._transport.clean(short(body.get("model"))),
        )
