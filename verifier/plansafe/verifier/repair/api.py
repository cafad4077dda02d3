"""The nearest safe plans of a plan, which keep its purpose (docs/repair.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.repair.attempt import RepairAttempt
from plansafe.verifier.repair.effect_index import EffectIndex
from plansafe.verifier.repair.limited_searches import ProgressCallback
from plansafe.verifier.repair.model import RepairOptions, RepairResult, RepairStatus
from plansafe.verifier.repair.plan_purpose import PlanPurpose, find_plan_purpose
from plansafe.verifier.repair.verification import SAFE_HEADLINES


def repair(
    checker: Checker,
    plan: Source,
    options: RepairOptions = RepairOptions(),  # noqa: B008
    progress: ProgressCallback | None = None,
) -> RepairResult:
    """Find the repairs of least cost of ``plan``, the best first, each replayed. ``checker`` must be ``ok``.

    Exponential in the cost of the repair in the worst case, and linear in the plan's length between faults. Ends at the
    limits of ``options`` with the best repair found and a lower bound. Raises ``ValueError`` without a task.
    """
    report = checker.check(plan)
    if report.headline in SAFE_HEADLINES:
        return RepairResult(RepairStatus.ALREADY_SAFE, optimal=True, complete=True)
    checker = checker.assuming_proposals
    resolved = checker.read(plan)
    unsupported_reason = find_unsupported_reason(checker, resolved)
    if unsupported_reason:
        return RepairResult(RepairStatus.NOT_FOUND, detail=unsupported_reason)
    return Repairer(checker, plan, resolved.steps, options, progress).run()


def find_unsupported_reason(checker: Checker, resolved: ResolvedPlan) -> str:
    """Return the reason why a plan cannot be repaired; empty if it can."""
    if resolved.text.diagnostics:
        return "the plan cannot be read"
    if checker.options.criteria.has_partial_exemptions:
        return "plans cannot be repaired if a rule is exempt for only some objects"
    refusal = checker.compiled.explain_refusal("the search for repairs", resolved)
    if refusal is not None:
        return refusal.message
    if resolved.timed is not None or any([literal.time > 0 for literal in checker.engine.task.timed_literals]):
        return "plans with times, durative actions or timed facts cannot be repaired"
    return ""


class Repairer:
    """One call of :func:`repair`; keeps the steps that a plan without a goal is for, if it can.

    ``steps``: the resolved steps of ``plan``. ``report_progress``: see :data:`ProgressCallback`.
    """

    def __init__(
        self,
        checker: Checker,
        plan: Source,
        steps: Sequence[GroundAction | IllFormed],
        options: RepairOptions,
        report_progress: ProgressCallback | None = None,
    ) -> None:
        self.checker = checker
        self.plan = plan
        self.steps = steps
        self.options = options
        self._report_progress = report_progress
        self.purpose = PlanPurpose()
        if options.purpose_hints is not None and not checker.engine.task.goal:
            self.purpose = find_plan_purpose(checker.engine, steps, options.purpose_hints)
        self._effect_index = EffectIndex(checker.engine)
        self._last_attempt: RepairAttempt | None = None

    def _attempt(self, options: RepairOptions) -> RepairResult:
        has_purpose = options.purpose_hints is not None and not self.checker.engine.task.goal
        purpose = self.purpose.steps if has_purpose else None
        self._last_attempt = RepairAttempt(
            self.checker, self.plan, self.steps, options, purpose, self._report_progress, self._effect_index
        )
        return self._last_attempt.run()

    @property
    def last_attempt(self) -> RepairAttempt:
        """The search that gave the result, after :meth:`run`."""
        assert self._last_attempt is not None
        return self._last_attempt

    def run(self) -> RepairResult:
        """Search for repairs that keep the purpose; then for those that keep its last step; then for any."""
        options = self.options
        begin, limit, work = monotonic(), options.time_limit_s, options.max_work
        for steps in self._enumerate_kept_steps():
            share_options = options._replace(
                protected=options.protected | steps,
                time_limit_s=None if limit is None else (limit - (monotonic() - begin)) / 2,
                max_work=None if work is None else work // 2,
            )
            result = self._attempt(share_options)
            if result.status is RepairStatus.FOUND:
                is_complete = steps == self.purpose.steps
                return result._replace(purpose=self.purpose if is_complete else self.purpose._replace(steps=steps))
            work = share_options.max_work
            if self.last_attempt.reached_limit:
                break  # the remaining time is for the search without this restriction
        time_limit_s = None if limit is None else max(0.0, limit - (monotonic() - begin))
        result = self._attempt(options._replace(time_limit_s=time_limit_s, max_work=work))
        if self.purpose.steps and result.status is RepairStatus.FOUND:
            return result._replace(purpose=self.purpose._replace(is_kept=self.purpose.steps <= options.protected))
        return result

    def _enumerate_kept_steps(self) -> Iterator[frozenset[int]]:
        steps = self.purpose.steps
        if steps - self.options.protected:
            yield steps
            if len(steps) > 1:
                yield frozenset([max(steps)])
