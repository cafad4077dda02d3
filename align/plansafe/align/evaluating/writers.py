"""Who writes the plans that are evaluated: a model, or a policy that stands in for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from plansafe.align.evaluating.tasks import Opened
from plansafe.llm.loop.policies import policies
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.mock import MockModel
from plansafe.llm.models.port import Model
from plansafe.llm.models.request import Message, Request, Role, Situation, canonical

MOCKS = ("planner", "reference", "random", "unsafe", "empty")


class Written(NamedTuple):
    """An answer to a task.

    Where its steps were chosen one by one, ``choices`` are how, ``end`` says why the plan ends, and ``cost`` what it
    took beside tokens.
    """

    answer: Answer
    choices: tuple[Sequence[Any], ...] = ()
    end: str | None = None
    cost: Mapping[str, int] = MappingProxyType({})


class Writer(Protocol):
    """Writes plans."""

    @property
    def label(self) -> str:
        """What tables call it."""

    @property
    def identity(self) -> str:
        """All that its answers depend on, as a text."""

    def write(self, tasks: Sequence[Opened]) -> list[Written]:
        """An answer to each task, in order. Raises :class:`plansafe.llm.models.port.ModelError`."""


class Mock:
    """A policy of :mod:`~plansafe.llm.loop.policies`: what the figures come to for an oracle, for chance, for nothing.

    ``longest``: of plans that are drawn.
    """

    def __init__(self, kind: str, seed: int = 0, longest: int = 40) -> None:
        if kind not in MOCKS:
            raise ValueError(f"unknown policy {kind!a}: choose from {', '.join(MOCKS)}")
        self.label = f"mock/{kind}"
        self.identity = canonical(["mock", kind, seed, longest])
        self._kind = kind
        self._seed = seed
        self._longest = longest

    def write(self, tasks: Sequence[Opened]) -> list[Written]:
        """See :class:`Writer`."""
        return [Written(self._answer(one)) for one in tasks]

    def model(self, one: Opened) -> Model:
        """The policy for a task as a model that is asked step by step."""
        known = policies(one.bench.checker.compiled, one.reference or None, self._seed, self._longest)
        return MockModel(self._kind, known, self._seed)

    def _answer(self, one: Opened) -> Answer:
        if self._kind == "reference" and not one.reference:
            return Answer("")
        return self.model(one).answer(Request((Message(Role.USER, one.prompt),), situation=Situation(one.task.id)))
