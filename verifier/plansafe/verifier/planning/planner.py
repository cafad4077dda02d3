"""The port behind which planners stand.

A planner answers one question: from this moment of an execution (a state and what the rules remember of the past), is
there a continuation that reaches the goal and keeps every rule, and which is the shortest?
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import GroundAction


class PlanningStatus(Enum):
    """How a call ended. Only ``UNSOLVABLE`` is a proof that there is no plan."""

    SOLVED = "solved"
    UNSOLVABLE = "unsolvable"
    NOT_FOUND = "not found"
    UNSUPPORTED = "unsupported"


class PlanningQuery(NamedTuple):
    """The question. ``prefix``: the steps taken so far from the initial state of ``checker``'s task.

    ``rules`` says whether the continuation must keep them (else the goal alone counts). ``shortest`` asks for a proof
    of optimality (number of steps). The continuation may be empty.
    """

    checker: Checker
    prefix: Sequence[GroundAction] = ()
    rules: bool = True
    shortest: bool = False
    time_limit_s: float = 10.0


class PlanningResult(NamedTuple):
    """The answer.

    ``steps``: the continuation. ``optimal``: no shorter one exists, proved. ``detail``: why not, in words.
    """

    status: PlanningStatus
    steps: tuple[GroundAction, ...] = ()
    optimal: bool = False
    detail: str = ""
    planner: str = ""


class Planner(Protocol):
    """What an adapter implements."""

    name: str

    def available(self) -> bool:
        """Whether its package is installed."""

    def solve(self, query: PlanningQuery) -> PlanningResult:
        """Answer a query.

        A ``SOLVED`` answer has been replayed: prefix and continuation are SAFE (without rules: reach the goal).
        """
