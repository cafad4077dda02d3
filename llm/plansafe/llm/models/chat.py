"""The protocol of ``/v1/chat/completions``, which OpenAI, vLLM and llama.cpp share, each with ways of its own."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.answer import Answer, Enforced, Finish, bounded, count
from plansafe.llm.models.constraint import SupportedForm, to_supported_form, unpacked, with_form_check
from plansafe.llm.models.port import Capabilities, LogitsMask, ModelError, PlainModel
from plansafe.llm.models.received import inner, short, text_of, without_reasoning
from plansafe.llm.models.request import Constraint, Request, canonical
from plansafe.llm.models.transport import Refused

_FINISH = {"stop": Finish.STOP, "length": Finish.LENGTH, "content_filter": Finish.FILTER}
_OPTIONAL = ("seed", "temperature", "top_p", "stop")
_FORMS = ("structured_outputs", "response_format", "grammar", "json_schema")
_LENGTHS = ("max_tokens", "max_completion_tokens")
_MOST_DROPPED = 6
_TOO_LONG = re.compile(r"context|too long|too many tokens|maximum.*length", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a provider does in its own way. ``write`` gives the fields of a request that carry a constraint."""

    provider: str
    capabilities: Capabilities
    length_field: str
    write: Callable[[Constraint], dict[str, Any]]


class Line(Protocol):
    """The connection to a server, or to a substitute in this process. ``url`` is part of the key of cached answers."""

    url: str

    def post(self, path: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Ask. Raises :class:`Refused`, :class:`ModelError`, or that it was cancelled."""

    def clean(self, text: str) -> str:
        """The server's message, on one line, without the key."""

    def hide(self, text: str) -> str:
        """A text without the key."""

    def cancel(self) -> None:
        """Let calls that wait give up."""

    def close(self) -> None:
        """Let go of it."""


class ChatModel(PlainModel):
    """A model on a server with this protocol."""

    def __init__(self, dialect: Dialect, name: str, transport: Line, connections: int) -> None:
        identity = canonical([dialect.provider, name, transport.url])
        super().__init__(f"{dialect.provider}/", identity, dialect.capabilities, connections, keeps=True)
        self._dialect = dialect
        self._name = name
        self._transport = transport
        self._dropped: dict[str, str] = {}
        """Fields that the server refused, with its message. They are not sent again; constraints are."""
        self._lock = threading.Lock()

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
        form: dict[str, str] = {}
        for _ in range(_MOST_DROPPED):
            with self._lock:
                dropped = {**self._dropped, **form}
            payload = self._payload(request, supported, dropped)
            try:
                return self._read(
                    self._transport.post("/chat/completions", payload), request, supported, payload, dropped
                )
            except Refused as refused:
                field = self._dispensable(payload, refused)
                if field in _FORMS:  # another grammar may be taken
                    form[field] = refused.message
                else:
                    with self._lock:
                        self._dropped[field] = refused.message
        raise self._gave_up(Refused(400, "it refuses every optional field", ""))

    def _payload(self, request: Request, supported: SupportedForm, dropped: dict[str, str]) -> dict[str, Any]:
        length = self._dialect.length_field
        if length in dropped:
            length = _LENGTHS[1 - _LENGTHS.index(length)]
        payload: dict[str, Any] = {
            "model": self._name,
            "messages": wire(request),
            length: request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "stream": False,
        }
        if request.seed is not None:
            payload["seed"] = request.seed
        if request.stop:
            payload["stop"] = list(request.stop)
        if supported.constraint is not None:
            payload.update(self._dialect.write(supported.constraint))
        return {name: value for name, value in payload.items() if name not in dropped}

    def _dispensable(self, payload: dict[str, Any], refused: Refused) -> str:
        """The field that the server refused, where it can be done without. Raises :class:`ModelError`."""
        named_fields = [refused.field.split(".")[0]] if refused.field else []
        for field in (
            *named_fields,
            *[f for f in (*_FORMS, *_OPTIONAL, *_LENGTHS) if re.search(rf"\b{f}\b", refused.message)],
        ):
            other_lengths = [f for f in _LENGTHS if f != field]
            without = field in (*_FORMS, *_OPTIONAL) or (field in _LENGTHS and other_lengths[0] not in self._dropped)
            if field in payload and without and not _TOO_LONG.search(refused.message):
                return field
        raise self._gave_up(refused)

    def _gave_up(self, refused: Refused) -> ModelError:
        message = f"{self._transport.url} refused the request: {refused.message} (status {refused.status})"
        return ModelError(Diagnostic(SC.MODEL_FAILED, message))

    def _read(
        self,
        body: dict[str, Any],
        request: Request,
        supported: SupportedForm,
        payload: dict[str, Any],
        dropped: dict[str, str],
    ) -> Answer:
        choice = inner(body, "choices", 0)
        message = inner(choice, "message")
        if not isinstance(message, dict):
            error_text = self._transport.clean(str(inner(body, "error", "message") or "no choice with a message"))
            raise ModelError(
                Diagnostic(SC.MODEL_FAILED, f"{self._transport.url} sent an answer without text: {error_text}")
            )
        text, marked = without_reasoning(text_of(message.get("content")))
        finish = _FINISH.get(short(inner(choice, "finish_reason")), Finish.OTHER)
        refusal = text_of(message.get("refusal"))
        if refusal and not text:
            text, finish = refusal, Finish.REFUSAL
        enforced = supported.enforced
        if supported.constraint is not None and not any([field in payload for field in _FORMS]):
            enforced = Enforced.NOT
        if supported.wrapped and enforced is not Enforced.NOT:
            text = unpacked(text)
        apart = text_of(message.get("reasoning_content")) or text_of(message.get("reasoning"))
        usage = inner(body, "usage")
        tried = self._payload(request, supported, {})
        answer = Answer(
            text=self._transport.hide(text),
            finish=finish,
            enforced=enforced,
            reasoning=marked + len(apart),
            prompt_tokens=count(inner(usage, "prompt_tokens")),
            completion_tokens=count(inner(usage, "completion_tokens")),
            cached_tokens=count(inner(usage, "prompt_tokens_details", "cached_tokens")),
            reasoning_tokens=count(inner(usage, "completion_tokens_details", "reasoning_tokens")),
            model=self._transport.clean(short(inner(body, "model"))),
            notes=tuple(
                [f"asked without {name}: {error_text}" for name, error_text in sorted(dropped.items()) if name in tried]
            ),
        )
        return with_form_check(bounded(answer), request.constraint)


def wire(request: Request) -> list[dict[str, str]]:
    """The messages as every server takes them; what cannot be encoded is replaced."""
    return [
        {"role": m.role.value, "content": m.text.encode("utf-8", "replace").decode("utf-8")} for m in request.messages
    ]
