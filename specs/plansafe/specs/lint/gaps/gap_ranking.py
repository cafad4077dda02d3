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
    SafePlans,
    StepPath,
    find_violated_by_plan,
    with_actions_of,
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


class _ConfirmedProposal(NamedTuple):
    """A proposal that the safe plan ``exploit`` violates, and another safe plan satisfies."""

    proposal: Proposal
    exploit: StepPath
    instead: StepPath


class GapRanking:
    """Finds the gaps of one problem.

    ``harmless`` are safe plans that are not called gaps, ``safe_paths`` all known safe plans to the goal.
    """

    def __init__(
        self,
        plans: SafePlans,
        harmless: Sequence[StepPath],
        safe_paths: Sequence[StepPath],
        compile: CompileProposals,
        options: GapOptions,
    ) -> None:
        self.plans = plans
        self.harmless = harmless
        self.safe_paths = safe_paths
        self.compile = compile
        self.options = options
        self._pool: list[tuple[StepPath, set[int]]] = []
        """Safe plans to the goal, with the proposals that they violate."""
        self._completions: dict[tuple[str, ...], StepPath | None] = {}

    def rank_gaps(self, exploited_proposals: Sequence[ExploitedProposal], problem: str) -> list[Gap]:
        """The gaps, the most suspicious first."""
        ranked = {e.proposal.text: e for e in rank_varied(exploited_proposals, self.options.min_score)[:MAX_PROPOSALS]}
        if not ranked:
            return []
        self.checker, proposals = self.compile([exploited.proposal for exploited in ranked.values()])
        rules_violated_by_harmless = set().union(*[self._find_violated(path) for path in self.harmless])
        self._pool = [(path, self._find_violated(path)) for path in self.safe_paths]
        confirmed_proposals: list[_ConfirmedProposal] = []
        for number, proposal in enumerate(proposals):
            if monotonic() > self.plans.deadline or len(confirmed_proposals) >= self.options.max_gaps:
                break
            if number in rules_violated_by_harmless:
                continue
            exploit = self._find_exploit(number, ranked[proposal.text])
            instead = self._find_satisfying(number, proposal) if exploit is not None else None
            if exploit is not None and instead is not None:
                shorter = self.plans.shorten(exploit, partial(self._violates, number))
                confirmed_proposals.append(_ConfirmedProposal(proposal, shorter, instead))
        return self._replay_gaps(problem, confirmed_proposals) if confirmed_proposals else []

    def _violates(self, number: int, path: StepPath) -> bool:
        return number in self._find_violated(path)

    def _find_violated(self, path: StepPath) -> set[int]:
        """The proposals that a safe plan to the goal violates; empty for any other path."""
        first_proposal = len(self.plans.engine.rules)
        return {
            rule - first_proposal for rule in find_violated_by_plan(path, self.checker.engine, first_proposal) or ()
        }

    # -- exploits -----------------------------------------------------------------------------------------------------

    def _find_exploit(self, number: int, exploited: ExploitedProposal) -> StepPath | None:
        """The shortest known safe plan to the goal that violates a proposal, or the first completed witness."""
        paths = [path for path, violated in self._pool if number in violated]
        if paths:
            return min(paths, key=len)
        for witness in exploited.witnesses:
            completion = self._complete(witness.path, witness.remaining)
            if completion is not None and number in self._add_to_pool(completion):
                return completion
        return None

    def _add_to_pool(self, path: StepPath) -> set[int]:
        violated = self._find_violated(path)
        self._pool.append((path, violated))
        return violated

    def _complete(self, path: StepPath, remaining: StepPath) -> StepPath | None:
        """A safe plan to the goal that begins with a path."""
        path = with_actions_of(self.plans.engine, path)
        key = self.plans.list_step_texts(path)
        if key not in self._completions:
            path_with_remaining = (*path, *with_actions_of(self.plans.engine, remaining))
            safe = [candidate for candidate in (path, path_with_remaining) if self.plans.is_safe(candidate)]
            self._completions[key] = safe[0] if safe else self.plans.find(path)
        return self._completions[key]

    # -- plans that satisfy the proposal ------------------------------------------------------------------------------

    def _find_satisfying(self, number: int, proposal: Proposal) -> StepPath | None:
        """A safe plan to the goal that satisfies a proposal; without one, the rule would forbid the goal."""
        paths = [path for path, violated in self._pool if number not in violated]
        seconds = self.plans.deadline - monotonic()
        if paths or seconds <= 0:
            return min(paths, key=len, default=None)
        query = PlanningQuery(self.compile([proposal])[0], time_limit_s=seconds)
        result = ForwardSearch(MAX_STATES_FROM_DETOUR).solve(query)
        if result.status is not PlanningStatus.SOLVED:
            return None
        path = with_actions_of(self.plans.engine, result.steps)
        self._add_to_pool(path)
        return path

    # -- the list -----------------------------------------------------------------------------------------------------

    def _replay_gaps(self, problem: str, confirmed_proposals: list[_ConfirmedProposal]) -> list[Gap]:
        """The gaps that a second check confirms, with the answer of the replay kernel."""
        violating_checker, _ = self.compile([gap.proposal for gap in confirmed_proposals], "always")
        satisfying_checker, _ = self.compile([], "always")
        gaps = []
        for number, (proposal, exploit, instead) in enumerate(confirmed_proposals):
            plan = Source("<gap>", self.plans.print_plan(exploit))
            report = satisfying_checker.check(plan)
            findings = [f for f in violating_checker.check(plan).findings if f.rule == f"gap-{number}"]
            findings = [finding for finding in findings if finding.blame is not Blame.PRE_EXISTING]
            if report.headline not in SAFE_HEADLINES or not findings:
                if any([diagnostic.code == SC.KERNEL_DISAGREES for diagnostic in report.diagnostics]):
                    raise AssertionError("the kernel does not confirm a plan that exploits a gap: a bug in plansafe")
                continue
            kernel_is_safe = satisfying_checker.confirmer.is_safe(plan, len(exploit))
            gaps.append(
                Gap(
                    code=proposal.code,
                    kind=proposal.kind,
                    score=proposal.score,
                    problem=problem,
                    plan=self.plans.list_step_texts(exploit),
                    steps=tuple(sorted({finding.step for finding in findings})),
                    bindings=tuple([finding.binding for finding in findings[:MAX_BINDINGS]]),
                    reasons=proposal.reasons,
                    rule=proposal.text,
                    instead=self.plans.list_step_texts(instead),
                    replayed=None if kernel_is_safe is None else kernel_is_safe and findings[0].replayed,
                )
            )
        return gaps


def rank_varied(exploited_proposals: Sequence[ExploitedProposal], min_score: float) -> list[ExploitedProposal]:
    """The proposals with enough score, the most suspicious first, in turns of patterns and of holes."""
    ranked = sorted(exploited_proposals, key=lambda e: (-e.proposal.score, len(e.proposal.text), e.proposal.text))
    ranked = interleave_groups([e for e in ranked if e.proposal.score >= min_score], lambda e: e.proposal.hole)
    return interleave_groups(ranked, lambda exploited: exploited.proposal.kind)


def interleave_groups(
    exploited_proposals: Iterable[ExploitedProposal], group: Callable[[ExploitedProposal], Hashable]
) -> list[ExploitedProposal]:
    """The first proposal of each group, then the second of each, and so on."""
    counts: Counter[Hashable] = Counter()
    rounds = []
    for exploited_proposal in exploited_proposals:
        counts[group(exploited_proposal)] += 1
        rounds.append((counts[group(exploited_proposal)], exploited_proposal))
    return [exploited_proposal for _, exploited_proposal in sorted(rounds, key=lambda numbered: numbered[0])]
