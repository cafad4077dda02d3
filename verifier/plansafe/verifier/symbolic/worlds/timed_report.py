"""The report on a plan with times in which durations, and also facts or outcomes, are open.

The plan is audited over all durations in each completion with each outcome, up to a bound, because no circuit encodes
open durations. A SAT solver gives one completion for each combination of values of the open facts that the task can
read; the other open facts take any allowed value.
"""

from __future__ import annotations

from collections.abc import Callable

from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.model.limits import check_deadline
from plansafe.verifier.reporting.report import Finding, FindingClass, Worlds
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.worlds.open_parts import OpenParts, OpenPartsReporter
from plansafe.verifier.symbolic.worlds.verdict import (
    RuleCounts,
    WorldsVerdict,
    mark_undecided,
    merge_rule_counts,
    merge_verdicts,
)
from plansafe.verifier.symbolic.worlds.world_replay import close_task, make_certain_world, resolve_outcomes

MAX_WORLDS = 5_000
"""Maximum number of worlds to replay."""


class TimedReporter(OpenPartsReporter):
    """Reports on one plan with open durations."""

    def decide_verdict(self) -> WorldsVerdict:
        """Decide the verdict over all durations, in one world after the other if more is open."""
        if not self.open_parts.is_open:
            self.decision_method = "all durations"
            return self._audit_durations(self.compiled, make_certain_world(self.resolved.steps))
        self.decision_method = "one world after the other"
        if self.open_parts.open_numbers:
            limit = "numbers are open in a plan with times: only one value each could be tried"
            return WorldsVerdict(Worlds.UNKNOWN, Worlds.UNKNOWN, Worlds.UNKNOWN, None, None, None, (limit,))
        return audit_each_world(self.open_parts, self._audit_world, self.deadline)

    def _audit_world(self, world: Completion) -> WorldsVerdict:
        """The verdict on one completion with its outcomes, over all durations."""
        return self._audit_durations(close_task(self.compiled, world), world)

    def _audit_durations(self, compiled: CompiledTask, world: Completion) -> WorldsVerdict:
        """The verdict over all durations in a world, with worlds that include facts and outcomes."""
        from plansafe.verifier.symbolic.durations.duration_audit import audit_durations  # noqa: PLC0415 - 50 ms

        assert self.resolved.timed is not None
        steps = resolve_outcomes(self.resolved.steps, world)
        timed = [step._replace(resolved=ground) for step, ground in zip(self.resolved.timed, steps, strict=True)]
        verdict = audit_durations(compiled, timed, self.durations, self.deadline, self.resolved.text.decimals)

        def add_durations(duration_world: Completion | None) -> Completion | None:
            return None if duration_world is None else world._replace(durations=duration_world.durations)

        witnesses = [(rule, world._replace(durations=witness.durations)) for rule, witness in verdict.rule_witnesses]
        return verdict._replace(
            inexecutable_world=add_durations(verdict.inexecutable_world),
            unmet_goal_world=add_durations(verdict.unmet_goal_world),
            unsafe_world=add_durations(verdict.unsafe_world),
            rule_witnesses=tuple(witnesses),
        )

    def find_violating_world(self, rule: str) -> Completion | None:
        """The witness of a rule in the verdict."""
        return dict(self.verdict.rule_witnesses).get(rule)

    def count_rules(self, counts: RuleCounts) -> RuleCounts:
        """The counts, undecided if the verdict has none."""
        return counts if self.verdict.rules else mark_undecided(counts)

    def decide_finding(self, finding: Finding) -> Worlds:
        """The share of worlds that have a finding. If a property holds in some world, that world lacks the finding."""
        match finding.finding_class:
            case FindingClass.UNMET_GOAL:
                return Worlds.ALL if self.verdict.goal is Worlds.NONE else Worlds.SOME
            case FindingClass.INEXECUTABLE | FindingClass.ILL_FORMED:
                return Worlds.SOME if self.verdict.executable is Worlds.SOME else Worlds.UNKNOWN
            case _:
                return Worlds.SOME if self.verdict.safe is Worlds.SOME else Worlds.UNKNOWN


def audit_each_world(
    open_parts: OpenParts, audit_world: Callable[[Completion], WorldsVerdict], deadline: float | None
) -> WorldsVerdict:
    """Merge the verdicts of all worlds, each of which may be over several durations. Raises :class:`LimitReached`."""
    verdicts: list[WorldsVerdict] = []
    rules: RuleCounts = ()
    limits: dict[str, None] = {}
    for facts in open_parts.iterate_completions():
        if facts is None:
            limits["the solver gave up"] = None
            break
        for outcomes in open_parts.iterate_outcomes():
            if len(verdicts) == MAX_WORLDS:
                limits[f"there are more than {MAX_WORLDS:,} worlds to replay one by one"] = None
                break
            check_deadline(deadline)
            verdict = audit_world(Completion(facts, {}, outcomes))
            limits.update(dict.fromkeys(verdict.limits))
            rules = merge_rule_counts([rules, verdict.rules])
            verdicts.append(verdict._replace(rules=()))
        if limits:
            break
    return merge_verdicts(verdicts, limits, rules)
