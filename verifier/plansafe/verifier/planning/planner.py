"""The interface of planners.

A planner answers one query: from this state of an execution (with what the rules remember of the past), is there a
continuation that reaches the goal and keeps every rule, and which is the shortest?
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import GroundAction


class PlanningStatus(Enum):
    """How a call ended. Only ``UNSOLVABLE`` proves that no plan exists."""

    SOLVED = "solved"
    UNSOLVABLE = "unsolvable"
    NOT_FOUND = "not found"
    UNSUPPORTED = "unsupported"


class PlanningQuery(NamedTuple):
    """A query for a continuation, maybe an empty one, of a ``prefix`` of steps from the initial state.

    ``rules``: whether the continuation must keep the rules (otherwise only the goal counts). ``shortest`` asks for a
    continuation that is proved to have the fewest steps.
    """

    checker: Checker
    prefix: Sequence[GroundAction] = ()
    rules: bool = True
    shortest: bool = False
    time_limit_s: float = 10.0


class PlanningResult(NamedTuple):
    """The answer to a query.

    ``steps``: the continuation. ``optimal``: it is proved shortest. ``detail``: why none was found, in words.
    """

    status: PlanningStatus
    steps: tuple[GroundAction, ...] = ()
    optimal: bool = False
    detail: str = ""
    planner: str = ""


class Planner(Protocol):
    """A planner."""

    name: str

    def available(self) -> bool:
        """Whether its package is installed."""

    def solve(self, query: PlanningQuery) -> PlanningResult:
        """Answer a query.

        A ``SOLVED`` answer has been replayed: prefix and continuation are SAFE (without rules: reach the goal).
        """
