"""Turn proposals into gaps: complete exploits to the goal, find another plan that satisfies the rule, rank the gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.source import Source
from plansafe.specs.lint.gaps.detours import ExploitedProposal
from plansafe.specs.lint.gaps.model import Gap, GapOptions
from plansafe.specs.lint.gaps.proposals import Proposal
from plansafe.specs.lint.gaps.safe_plans import (
    MAX_STATES_FROM_DETOUR,
    SAFE_HEADLINES,
    SafePlanFinder,
    StepPath,
    find_plan_violations,
    rebind_actions,
)
from plansafe.verifier.api import Checker
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus
from plansafe.verifier.reporting.report import Blame

MAX_PROPOSALS = 60
"""The most suspicious proposals, which are tried."""
MAX_BINDINGS = 3
"""Maximum number of findings whose bindings are shown for a proposal."""

CompileProposals = Callable[..., tuple[Checker, list[Proposal]]]


class _GapCandidate(NamedTuple):
    """A proposal that the safe plan ``exploit`` violates, and another safe plan satisfies."""

    proposal: Proposal
    exploit: StepPath
    instead: StepPath


class GapRanking:
    """Finds the gaps of one problem.

    ``harmless_paths`` are safe plans that are not called gaps, ``safe_paths`` all known safe plans to the goal.
    ``compile_proposals`` makes a checker with proposals, and returns the proposals that are well-formed.
    """

    def __init__(
        self,
        plans: SafePlanFinder,
        harmless_paths: Sequence[StepPath],
        safe_paths: Sequence[StepPath],
        compile_proposals: CompileProposals,
        options: GapOptions,
    ) -> None:
        self.plans = plans
        self.harmless_paths = harmless_paths
        self.safe_paths = safe_paths
        self.compile_proposals = compile_proposals
        self.options = options
        self.checker = plans.checker
        """The checker with the ranked proposals, once they are compiled."""
        self._known_plans: list[tuple[StepPath, set[int]]] = []
        """Safe plans to the goal, with the proposals that they violate."""
        self._completions: dict[tuple[str, ...], StepPath | None] = {}
        """For the steps of each path that was completed, the safe plan that begins with them."""

    def rank_gaps(self, exploited_proposals: Sequence[ExploitedProposal], problem: str) -> list[Gap]:
        """List the gaps, the most suspicious first."""
        exploited_by_text = {
            e.proposal.text: e for e in rank_proposals(exploited_proposals, self.options.min_score)[:MAX_PROPOSALS]
        }
        if not exploited_by_text:
            return []
        self.checker, proposals = self.compile_proposals(
            [exploited.proposal for exploited in exploited_by_text.values()]
        )
        excluded_numbers = set().union(*[self._find_violated_proposals(path) for path in self.harmless_paths])
        self._known_plans = [(path, self._find_violated_proposals(path)) for path in self.safe_paths]
        candidates: list[_GapCandidate] = []
        for number, proposal in enumerate(proposals):
            if monotonic() > self.plans.deadline or len(candidates) >= self.options.max_gaps:
                break
            if number in excluded_numbers:
                continue
            exploit = self._find_exploit(number, exploited_by_text[proposal.text])
            instead = self._find_satisfying_plan(number, proposal) if exploit is not None else None
            if exploit is not None and instead is not None:
                short_exploit = self.plans.shorten(exploit, partial(self._violates, number))
                candidates.append(_GapCandidate(proposal, short_exploit, instead))
        return self._confirm_gaps(problem, candidates) if candidates else []

    def _violates(self, number: int, path: StepPath) -> bool:
        return number in self._find_violated_proposals(path)

    def _find_violated_proposals(self, path: StepPath) -> set[int]:
        """Find the proposals that a safe plan to the goal violates; empty for any other path."""
        first_proposal = len(self.plans.engine.rules)
        return {rule - first_proposal for rule in find_plan_violations(path, self.checker.engine, first_proposal) or ()}

    # -- exploits -----------------------------------------------------------------------------------------------------

    def _find_exploit(self, number: int, exploited_proposal: ExploitedProposal) -> StepPath | None:
        """Find the shortest known safe plan to the goal that violates a proposal, or complete a witness."""
        paths = [path for path, violated_proposals in self._known_plans if number in violated_proposals]
        if paths:
            return min(paths, key=len)
        for witness in exploited_proposal.witnesses:
            completion = self._complete_path(witness.path, witness.remaining_steps)
            if completion is not None and number in self._add_known_plan(completion):
                return completion
        return None

    def _add_known_plan(self, path: StepPath) -> set[int]:
        violated_proposals = self._find_violated_proposals(path)
        self._known_plans.append((path, violated_proposals))
        return violated_proposals

    def _complete_path(self, path: StepPath, remaining_steps: StepPath) -> StepPath | None:
        """Find a safe plan to the goal that begins with a path."""
        path = rebind_actions(self.plans.engine, path)
        key = self.plans.format_steps(path)
        if key not in self._completions:
            completed_path = (*path, *rebind_actions(self.plans.engine, remaining_steps))
            safe = [candidate for candidate in (path, completed_path) if self.plans.is_safe(candidate)]
            self._completions[key] = safe[0] if safe else self.plans.find(path)
        return self._completions[key]

    # -- plans that satisfy the proposal ------------------------------------------------------------------------------

    def _find_satisfying_plan(self, number: int, proposal: Proposal) -> StepPath | None:
        """Find a safe plan to the goal that satisfies a proposal; without one, the rule would forbid the goal."""
        paths = [path for path, violated_proposals in self._known_plans if number not in violated_proposals]
        seconds = self.plans.deadline - monotonic()
        if paths or seconds <= 0:
            return min(paths, key=len, default=None)
        query = PlanningQuery(self.compile_proposals([proposal])[0], time_limit_s=seconds)
        result = ForwardSearch(MAX_STATES_FROM_DETOUR).solve(query)
        if result.status is not PlanningStatus.SOLVED:
            return None
        path = rebind_actions(self.plans.engine, result.steps)
        self._add_known_plan(path)
        return path

    # -- the list -----------------------------------------------------------------------------------------------------

    def _confirm_gaps(self, problem: str, candidates: list[_GapCandidate]) -> list[Gap]:
        """Check the plans again, and make a gap of each confirmed candidate, with the answer of the replay kernel."""
        violating_checker, _ = self.compile_proposals([candidate.proposal for candidate in candidates], "always")
        satisfying_checker, _ = self.compile_proposals([], "always")
        gaps = []
        for number, (proposal, exploit, instead) in enumerate(candidates):
            plan = Source("<gap>", self.plans.format_plan(exploit))
            report = satisfying_checker.check(plan)
            findings = [f for f in violating_checker.check(plan).findings if f.rule == f"gap-{number}"]
            findings = [finding for finding in findings if finding.blame is not Blame.PRE_EXISTING]
            if report.headline not in SAFE_HEADLINES or not findings:
                if any([diagnostic.code == SC.KERNEL_DISAGREES for diagnostic in report.diagnostics]):
                    raise AssertionError("the kernel does not confirm a plan that exploits a gap: a bug in plansafe")
                continue
            is_safe_by_kernel = satisfying_checker.confirmer.is_safe(plan, len(exploit))
            gaps.append(
                Gap(
                    code=proposal.code,
                    kind=proposal.kind,
                    score=proposal.score,
                    problem=problem,
                    plan=self.plans.format_steps(exploit),
                    steps=tuple(sorted({finding.step for finding in findings})),
                    bindings=tuple([finding.binding for finding in findings[:MAX_BINDINGS]]),
                    reasons=proposal.reasons,
                    rule=proposal.text,
                    instead=self.plans.format_steps(instead),
                    replayed=None if is_safe_by_kernel is None else is_safe_by_kernel and findings[0].replayed,
                )
            )
        return gaps


def rank_proposals(exploited_proposals: Sequence[ExploitedProposal], min_score: float) -> list[ExploitedProposal]:
    """Rank the proposals with enough score, the most suspicious first; patterns take turns, and gaps in a pattern."""
    ranked = sorted(exploited_proposals, key=lambda e: (-e.proposal.score, len(e.proposal.text), e.proposal.text))
    ranked = interleave_groups([e for e in ranked if e.proposal.score >= min_score], lambda e: e.proposal.gap_key)
    return interleave_groups(ranked, lambda exploited: exploited.proposal.kind)


def interleave_groups(
    exploited_proposals: Iterable[ExploitedProposal], get_group: Callable[[ExploitedProposal], Hashable]
) -> list[ExploitedProposal]:
    """List the first proposal of each group, then the second of each, and so on."""
    counts: Counter[Hashable] = Counter()
    numbered_proposals = []
    for exploited_proposal in exploited_proposals:
        group = get_group(exploited_proposal)
        counts[group] += 1
        numbered_proposals.append((counts[group], exploited_proposal))
    numbered_proposals.sort(key=lambda numbered: numbered[0])
    return [exploited_proposal for _, exploited_proposal in numbered_proposals]
