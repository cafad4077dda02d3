"""The verification of repairs: whether a plan is safe, whether a repair is minimal, and the replay of repairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.replay import HALT, Replay
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.alignments import Alignment
from plansafe.verifier.repair.edit_reasons import EditDescriber
from plansafe.verifier.repair.model import Repair, RepairOptions
from plansafe.verifier.reporting.report import Headline

SAFE_HEADLINES = (Headline.SAFE, Headline.VALID)
_MAX_REPLAYED_BY_KERNEL = 3
"""Repairs of a plan that the kernel also replays, if the checker's options allow it."""


class ReplayedRepairs(NamedTuple):
    """The repairs that were replayed and are safe; ``is_complete``: all tied repairs are among them."""

    repairs: tuple[Repair, ...]
    is_complete: bool


class RepairVerifier:
    """Verifies the repairs of one plan.

    ``deadline``: the time (of :func:`monotonic`) at which tests of minimality stop; ``None``: never.
    """

    def __init__(self, checker: Checker, plan: Source, options: RepairOptions, deadline: float | None) -> None:
        self.checker = checker
        self.engine = checker.engine
        self.criteria = checker.options.criteria
        self.plan = plan
        self.options = options
        self.deadline = deadline
        self._safety_by_steps: dict[tuple[object, ...], bool] = {}

    def is_minimal(self, alignment: Alignment) -> bool | None:
        """Whether every set of new steps is needed: without it, the plan is unsafe. ``None`` if the time ran out.

        A set without substitutions need not be tested: if the plan were safe without it, there would be a cheaper
        repair, and there is none. The same holds for a set with insertions if a deletion costs no more than a
        substitution.
        """
        weights = self.options.weights
        if not alignment.substituted:
            return True
        tests_all_new_steps = weights.delete > weights.substitute
        positions = alignment.new_positions if tests_all_new_steps else tuple(sorted(alignment.substituted))
        for size in range(1, len(positions) + 1):
            for subset in combinations(positions, size):
                if size > 1 and self.deadline is not None and monotonic() > self.deadline:
                    return None
                if alignment.substituted & set(subset) and self.is_safe(alignment.steps_without(frozenset(subset))):
                    return False
        return True

    def is_safe(self, steps: tuple[GroundAction, ...]) -> bool:
        """Whether a plan is executable, reaches the goal and breaks no rule that decides."""
        key = tuple([step.key for step in steps])
        is_safe = self._safety_by_steps.get(key)
        if is_safe is None:
            run = Replay(self.engine, HALT)
            run.run_steps(steps)
            outcome = run.finish(len(steps))
            is_safe = (
                not outcome.failures
                and outcome.goal is True
                and not any([self.engine.is_decisive(v, self.criteria) for v in outcome.violations])
                and not self.engine.leaves_undecided(outcome.undecided, self.criteria)
                and outcome.limit is None
            )
            self._safety_by_steps[key] = is_safe
        return is_safe

    def replay_repairs(
        self, ranked_alignments: Sequence[Alignment], cost: Number, describer: EditDescriber
    ) -> ReplayedRepairs:
        """Replay tied repairs of a cost in their order, each once, at most as many as the options allow.

        A repair whose audit reaches a limit is left out.
        """
        repairs: list[Repair] = []
        is_complete = True
        replayed_keys: set[tuple[object, ...]] = set()
        describer.compare_ties(ranked_alignments)
        for alignment in ranked_alignments:
            key = (*[step.key for step in alignment.steps], *alignment.kinds)
            if key in replayed_keys:
                continue
            replayed_keys.add(key)
            if len(repairs) == self.options.max_repairs:
                is_complete = False
                break
            steps = tuple([step_text(step, self.engine.task.objects) for step in alignment.steps])
            source = Source(self.plan.name, "".join([step + "\n" for step in steps]))
            report = self.checker.check(source)
            is_limited = report.headline is Headline.UNKNOWN and report.limits
            # The search assumes proposed kinds. A violation that only exists without them is rare, and not searched.
            if is_limited or (report.headline is Headline.UNSAFE and self.checker.compiled.proposed_kinds):
                is_complete = False
                continue
            if report.headline not in SAFE_HEADLINES:
                raise AssertionError("the checker does not confirm a repair as safe")
            is_confirmed: bool | None = None
            if len(repairs) < _MAX_REPLAYED_BY_KERNEL:
                is_confirmed = self.checker.confirmer.is_safe(source, report.steps)
            if is_confirmed is False:
                raise AssertionError("the kernel does not confirm a repair as safe")
            edits = describer.describe(alignment)
            repairs.append(Repair(steps, alignment.origin, edits, cost, report, is_confirmed))
        return ReplayedRepairs(tuple(repairs), is_complete)
