"""Writers of the plans that are evaluated: the interface, and policies with known figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plansafe.align.evaluating.tasks import Opened
from plansafe.llm.loop.policies import policies
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.mock import MockModel
from plansafe.llm.models.request import Message, Request, Role, Situation, canonical

MOCKS = ("planner", "reference", "random", "unsafe", "empty")


class Writer(Protocol):
    """Writes plans."""

    @property
    def label(self) -> str:
        """The name of the writer in tables."""

    @property
    def identity(self) -> str:
        """Everything that determines the answers, as a text."""

    def write(self, tasks: Sequence[Opened]) -> list[Answer]:
        """An answer to each task, in order. Raises :class:`plansafe.llm.models.port.ModelError`."""


class Mock:
    """A policy of :mod:`~plansafe.llm.loop.policies`: an oracle, random choice, an empty plan, and so on.

    ``longest``: maximum length of random plans.
    """

    def __init__(self, kind: str, seed: int = 0, longest: int = 40) -> None:
        if kind not in MOCKS:
            raise ValueError(f"unknown policy {kind!a}: choose from {', '.join(MOCKS)}")
        self.label = f"mock/{kind}"
        self.identity = canonical(["mock", kind, seed, longest])
        self._kind = kind
        self._seed = seed
        self._longest = longest

    def write(self, tasks: Sequence[Opened]) -> list[Answer]:
        """See :class:`Writer`."""
        return [self._answer(opened) for opened in tasks]

    def _answer(self, opened: Opened) -> Answer:
        if self._kind == "reference" and not opened.reference:
            return Answer("")
        by_name = policies(opened.bench.checker.compiled, opened.reference or None, self._seed, self._longest)
        request = Request((Message(Role.USER, opened.prompt),), situation=Situation(opened.task.id))
        return MockModel(self._kind, by_name, self._seed).answer(request)
