"""From proposals to gaps: exploits completed to the goal, another plan that keeps the rule, the order of the list."""

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
    violated_by,
    with_actions_of,
)
from plansafe.verifier.api import Checker
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus
from plansafe.verifier.reporting.report import Blame

MAX_PROPOSALS = 60
"""So many proposals are judged at most."""

CompileProposals = Callable[..., tuple[Checker, list[Proposal]]]


class _Scored(NamedTuple):
    """A proposal that a safe plan breaks, and another keeps."""

    proposal: Proposal
    exploit: StepPath
    instead: StepPath


class GapRanking:
    """Judges the proposals about one problem. ``met`` are safe plans to the goal; ``kept`` those that are in order."""

    def __init__(
        self,
        plans: SafePlans,
        kept: Sequence[StepPath],
        met: Sequence[StepPath],
        compile: CompileProposals,
        options: GapOptions,
    ) -> None:
        self.plans = plans
        self.kept = kept
        self.compile = compile
        self.options = options
        self.met = met
        self._pool: list[tuple[StepPath, set[int]]] = []
        """Safe plans to the goal, with the proposals that they break."""
        self._completed: dict[tuple[str, ...], StepPath | None] = {}

    def gaps(self, found: Sequence[ExploitedProposal], problem: str) -> list[Gap]:
        """The gaps, in order."""
        entries = {f.proposal.text: f for f in rank_varied(found, self.options.min_score)[:MAX_PROPOSALS]}
        if not entries:
            return []
        self.checker, proposals = self.compile([f.proposal for f in entries.values()])
        fine = set().union(*[self._broken(path) for path in self.kept])
        self._pool = [(path, self._broken(path)) for path in self.met]
        gaps: list[_Scored] = []
        for number, proposal in enumerate(proposals):
            if monotonic() > self.plans.deadline or len(gaps) >= self.options.max_gaps:
                break
            exploit = self._exploit(number, entries[proposal.text]) if number not in fine else None
            instead = self._instead(number, proposal) if exploit is not None else None
            if exploit is not None and instead is not None:
                shorter = self.plans.shorter(exploit, partial(self._breaks, number))
                gaps.append(_Scored(proposal, shorter, instead))
        return self._shown(problem, gaps) if gaps else []

    def _breaks(self, number: int, path: StepPath) -> bool:
        return number in self._broken(path)

    def _broken(self, path: StepPath) -> set[int]:
        """The proposals that a safe plan to the goal breaks; none for anything else."""
        given = len(self.plans.engine.rules)
        return {rule - given for rule in violated_by(path, self.checker.engine, given) or ()}

    # -- exploits -----------------------------------------------------------------------------------------------------

    def _exploit(self, number: int, entry: ExploitedProposal) -> StepPath | None:
        """The shortest safe plan to the goal that breaks a proposal."""
        plans = [path for path, broken in self._pool if number in broken]
        if plans:
            return min(plans, key=len)
        for witness in entry.witnesses:
            completed = self._complete(witness.path, witness.rest)
            if completed is not None and number in self._met(completed):
                return completed
        return None

    def _met(self, path: StepPath) -> set[int]:
        broken = self._broken(path)
        self._pool.append((path, broken))
        return broken

    def _complete(self, path: StepPath, rest: StepPath) -> StepPath | None:
        """A safe plan to the goal that begins with a path."""
        path = with_actions_of(path, self.plans.engine)
        key = self.plans.steps(path)
        if key not in self._completed:
            straight = (*path, *with_actions_of(rest, self.plans.engine))
            safe = [plan for plan in (path, straight) if self.plans.safe(plan)]
            self._completed[key] = safe[0] if safe else self.plans.planned(path)
        return self._completed[key]

    # -- the other way ------------------------------------------------------------------------------------------------

    def _instead(self, number: int, proposal: Proposal) -> StepPath | None:
        """A safe plan to the goal that keeps a proposal: without one, the rule would forbid the goal."""
        plans = [path for path, broken in self._pool if number not in broken]
        left = self.plans.deadline - monotonic()
        if plans or left <= 0:
            return min(plans, key=len, default=None)
        solution = ForwardSearch(MAX_STATES_FROM_DETOUR).solve(
            PlanningQuery(self.compile([proposal])[0], time_limit_s=left)
        )
        if solution.status is not PlanningStatus.SOLVED:
            return None
        path = with_actions_of(solution.steps, self.plans.engine)
        self._met(path)
        return path

    # -- the list -----------------------------------------------------------------------------------------------------

    def _shown(self, problem: str, gaps: list[_Scored]) -> list[Gap]:
        """The gaps as they are reported: checked once more, with what the independent kernel says."""
        breaking, _ = self.compile([gap.proposal for gap in gaps], "always")
        keeping, _ = self.compile([], "always")
        out = []
        for number, (proposal, exploit, instead) in enumerate(gaps):
            plan = Source("<gap>", self.plans.text(exploit))
            safe = keeping.check(plan)
            findings = [f for f in breaking.check(plan).findings if f.rule == f"gap-{number}"]
            findings = [f for f in findings if f.blame is not Blame.PRE_EXISTING]
            if safe.headline not in SAFE_HEADLINES or not findings:
                if any([d.code == SC.KERNEL_DISAGREES for d in safe.diagnostics]):
                    raise AssertionError("the kernel does not confirm a plan that exploits a gap: a bug in plansafe")
                continue
            sure = keeping.confirmer.is_safe(plan, len(exploit))
            out.append(
                Gap(
                    proposal.code,
                    proposal.kind,
                    proposal.score,
                    problem,
                    self.plans.steps(exploit),
                    tuple(sorted({f.step for f in findings})),
                    tuple([f.binding for f in findings[:3]]),
                    proposal.reasons,
                    proposal.text,
                    self.plans.steps(instead),
                    sure if sure is None else sure and findings[0].replayed,
                )
            )
        return out


def rank_varied(found: Sequence[ExploitedProposal], least: float) -> list[ExploitedProposal]:
    """The proposals that are suspicious enough, the most suspicious first: each pattern and each hole has its turn."""
    ranked = sorted(found, key=lambda f: (-f.proposal.score, len(f.proposal.text), f.proposal.text))
    ranked = interleave_groups([f for f in ranked if f.proposal.score >= least], lambda f: f.proposal.words)
    return interleave_groups(ranked, lambda f: f.proposal.kind)


def interleave_groups(
    entries: Iterable[ExploitedProposal], group: Callable[[ExploitedProposal], Hashable]
) -> list[ExploitedProposal]:
    """The first of each group, then the second of each, and so on."""
    counts: Counter[Hashable] = Counter()
    rounds = []
    for entry in entries:
        counts[group(entry)] += 1
        rounds.append((counts[group(entry)], entry))
    return [entry for _, entry in sorted(rounds, key=lambda r: r[0])]
