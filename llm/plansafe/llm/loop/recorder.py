"""A model that records its requests and answers, cached or not."""

from __future__ import annotations

from plansafe.llm.loop.model import Exchange
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.batch import ask
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import LogitsMask, Model, PlainModel
from plansafe.llm.models.request import Request


class Recorder(PlainModel):
    """Asks another model, which keeps its answers in ``cache``."""

    def __init__(self, model: Model, cache: Cache | None) -> None:
        super().__init__("the model", model.identity, model.capabilities)
        self._model = model
        self._cache = cache
        self._since: list[Exchange] = []

    def answer(self, request: Request, mask: LogitsMask | None = None) -> Answer:
        """The other model's answer. Raises :class:`plansafe.llm.models.port.ModelError`."""
        self.refuse(mask)
        answer = ask(self._model, request, self._cache)
        self._since.append(Exchange(request, answer))
        return answer

    def taken(self) -> tuple[Exchange, ...]:
        """The calls since the last call of this function."""
        out, self._since = tuple(self._since), []
        return out
