"""Show on standard error what a command with a language model is doing."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TextIO

from plansafe.app.system.terminal_text import visible
from plansafe.llm.models.answer import Answer, Score
from plansafe.llm.models.port import LogitsMask, Model, ModelError, PlainModel
from plansafe.llm.models.providers import split_model_name
from plansafe.llm.models.request import Request

_TICK_S = 1.0
_FIRST_S, _LONGEST_S = 10, 60
"""Seconds before the first plain line about a long activity, and maximum seconds between two lines."""


class Activity:
    """Updates a line every second on a terminal; otherwise writes plain lines at growing intervals.

    A context manager. Silent unless ``enabled``.
    """

    def __init__(self, enabled: bool, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._enabled = enabled
        self._rewrites = enabled and self._stream.isatty()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._text = ""
        self._since = time.monotonic()
        self._next = _FIRST_S

    def __enter__(self) -> Activity:
        if self._enabled:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._enabled:
            self._thread.join()
        if self._rewrites:
            self._write("\r\x1b[K")

    def start(self, text: str, brief: bool = False) -> None:
        """Start another activity. ``brief``: write a plain line only if it takes long."""
        with self._lock:
            previous, self._text = self._text, visible(text)
            self._since, self._next = time.monotonic(), _FIRST_S
            if self._rewrites:
                self._write(f"\r\x1b[K{self._text} ..")
            elif self._enabled and not brief and self._text != previous:
                self._write(f"{self._text} ..\n")

    def show(self, seconds: int) -> None:
        """Show the duration of the activity, if an update is due."""
        if self._rewrites:
            self._write(f"\r\x1b[K{self._text} .. {seconds} s")
        elif seconds >= self._next:
            self._next += min(self._next, _LONGEST_S)
            self._write(f"{self._text} .. {seconds} s\n")

    def _run(self) -> None:
        while not self._stop.wait(_TICK_S):
            with self._lock:
                self.show(int(time.monotonic() - self._since))

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def is_slow(name: str) -> bool:
    """True for a model that takes time to load or answer; false for mocks and recorded answers."""
    try:
        return bool(split_model_name(name)[0].packages)
    except ModelError:
        return False


class WatchedModel(PlainModel):
    """Wraps a model, and shows its calls as activities."""

    def __init__(self, model: Model, activity: Activity) -> None:
        super().__init__("the model", model.identity, model.capabilities, model.connections, model.keeps)
        self.vocabulary = model.vocabulary
        self._model = model
        self._activity = activity
        self._plans = 0

    def answer(self, request: Request, mask: LogitsMask | None = None) -> Answer:
        """The answer of the wrapped model. Raises :class:`plansafe.llm.models.port.ModelError`."""
        self._activity.start(self._question(request))
        try:
            return self._model.answer(request, mask)
        finally:
            self._activity.start("checking the answer", brief=True)

    def score(self, request: Request, texts: Sequence[str]) -> list[Score]:
        """The likelihoods of the wrapped model. Raises :class:`plansafe.llm.models.port.ModelError`."""
        return self._model.score(request, texts)

    def cancel(self) -> None:
        """Cancel the waiting calls of the wrapped model."""
        self._model.cancel()

    def _question(self, request: Request) -> str:
        situation = request.situation
        if situation is not None and situation.legal:
            return f"asking the model for step {len(situation.taken) + 1}"
        if situation is not None and situation.task.endswith("/goal"):
            return "asking the model for the goal"
        self._plans += 1
        return f"asking the model for a plan (call {self._plans})"
