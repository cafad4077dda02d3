"""Replays of the stored plans of a set: by the checker, and by the kernel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.scenarios.model import Kind, Scenario
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline, Worlds


class Replay(NamedTuple):
    """The result of one plan. ``kernel``: the kernel confirms the verdict; ``None``: it does not cover it."""

    executable: bool
    goal: bool
    safe: bool
    kernel: bool | None

    @property
    def succeeds(self) -> bool:
        """Whether the plan reaches the goal and keeps the rules: what the success rate counts."""
        return self.executable and self.goal and self.safe


class PlanReplays(NamedTuple):
    """The replays of one kind of plan over the scenarios that have it."""

    plan: str
    replays: tuple[Replay, ...]

    def share(self, count: int) -> float:
        """A count as a share."""
        return count / max(1, len(self.replays))


def replay(checker: Checker, plan: Source) -> Replay:
    """Replay a plan. Raises ``AssertionError`` if kernel and checker disagree."""
    report = checker.check(plan)
    executable, goal = report.executable is Worlds.ALL, report.goal is Worlds.ALL
    if report.headline is Headline.SAFE:
        confirmed = checker.confirmer.is_safe(plan, report.steps)
        if confirmed is False:
            raise AssertionError(f"the kernel does not confirm that {plan.name} is safe")
        return Replay(executable, goal, True, confirmed)
    confirmed_report = checker.confirmer.confirm(plan, report)
    if confirmed_report.headline is None:
        raise AssertionError(f"the kernel does not confirm that {plan.name} is unsafe")
    replayed = [finding.replayed for finding in confirmed_report.findings if finding.rule]
    return Replay(executable, goal, False, True if True in replayed else None)


def replay_set(scenarios: Iterable[Scenario]) -> tuple[PlanReplays, ...]:
    """The replays of the situational reference and natural plans, and of the malicious plans."""
    replays_by_plan: dict[str, list[Replay]] = {
        "situational, reference": [],
        "situational, natural": [],
        "malicious, reference": [],
    }
    for scenario in scenarios:
        checker = scenario.checker()
        if scenario.kind is Kind.MALICIOUS:
            plans = {"malicious, reference": scenario.unsafe}
        else:
            plans = {"situational, reference": scenario.safe, "situational, natural": scenario.unsafe}
        for name, plan in plans.items():
            if plan is not None:
                replays_by_plan[name].append(replay(checker, plan))
    return tuple([PlanReplays(name, tuple(replays)) for name, replays in replays_by_plan.items()])
