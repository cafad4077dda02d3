"""From proposals to gaps: exploits completed to the goal, another plan that keeps the rule, the order of the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.specs.lint.gaps.explore import Found
from plansafe.specs.lint.gaps.model import Gap, GapOptions
from plansafe.specs.lint.gaps.rules import Proposal
from plansafe.specs.lint.gaps.trials import NEAR, SAFE, Path, Plans, Trials, own
from plansafe.verifier.api import Checker
from plansafe.verifier.planning.own_search import OwnSearch
from plansafe.verifier.planning.port import Answer, Query
from plansafe.verifier.reporting.report import Blame

CONSIDERED = 20
"""So many proposals of each pattern, the most suspicious, are judged."""
NATURAL = 0.5
"""What it adds that the shortest plan to the goal does it already."""
ALIKE = 0.3
"""What each gap that is listed takes from another about the same words."""

OF_A_KIND = 2
"""So many gaps of one pattern come before those of others."""

Compile = Callable[..., tuple[Checker, list[Proposal]]]


class _Scored(NamedTuple):
    """A proposal that a safe plan breaks, and another keeps."""

    score: float
    number: int
    proposal: Proposal
    exploit: Path
    instead: Path


class GapRanking:
    """Judges the proposals about one problem."""

    def __init__(
        self,
        plans: Plans,
        kept: Sequence[Path],
        references: Sequence[Path],
        met: Sequence[Path],
        compile: Compile,
        options: GapOptions,
    ) -> None:
        self.plans = plans
        self.kept = kept
        self.references = references
        self.compile = compile
        self.options = options
        self.pool: list[Path] = [*references, *met]
        shortest = min([len(path) for path in references])
        self.natural = [path for path in references if len(path) == shortest and path not in kept]
        self._completed: dict[tuple[str, ...], Path | None] = {}

    def gaps(self, found: Sequence[Found], problem: str) -> list[Gap]:
        """The gaps, in order."""
        chosen = self._chosen(found)
        if not chosen:
            return []
        entries = {f.proposal.text: f for f in chosen}
        checker, proposals = self.compile([f.proposal for f in chosen])
        chosen = [entries[proposal.text] for proposal in proposals]
        first = len(self.plans.engine.rules)
        trials = Trials(checker.engine, first)
        breaks: list[set[int]] = []

        def judged(path: Path) -> set[int]:
            trial = trials.run(own(path, trials.engine))
            if trial is None or not trial.accepted:
                return set()
            return {n - first for n in trial.ended if n >= first}

        breaks += [judged(path) for path in self.pool]
        natural = set().union(*[judged(path) for path in self.natural]) if self.natural else set()
        fine = set().union(*[judged(path) for path in self.kept]) if self.kept else set()
        gaps: list[_Scored] = []
        scored = []
        for number, entry in enumerate(chosen):
            if number in fine:
                continue
            score = entry.proposal.score + (NATURAL if number in natural else 0.0)
            if score >= self.options.least:
                scored.append((score, number, entry))
        scored.sort(key=lambda s: -s[0])
        counts: dict[str, int] = {}
        for score, number, entry in scored:
            if monotonic() > self.plans.deadline:
                break
            kind = entry.proposal.kind
            if counts.get(kind, 0) >= self.options.limit:
                continue
            exploit = self._exploit(number, entry, breaks, judged)
            if exploit is None:
                continue
            instead = self._instead(number, entry.proposal, breaks, judged)
            if instead is None:
                continue
            counts[kind] = counts.get(kind, 0) + 1
            gaps.append(_Scored(score, number, entry.proposal, exploit, instead))
        ordered = [
            gap._replace(exploit=self.plans.shorter(gap.exploit, lambda path, n=gap.number: n in judged(path)))  # type: ignore[misc]
            for gap in self._ordered(gaps)
        ]
        return self._shown(problem, ordered) if ordered else []

    def _chosen(self, found: Sequence[Found]) -> list[Found]:
        """The most suspicious proposals, not too many about the same words."""
        chosen: list[Found] = []
        counts: dict[tuple[str, ...], int] = {}
        kinds: dict[str, int] = {}
        for entry in sorted(found, key=lambda f: (-f.proposal.score, len(f.proposal.text), f.proposal.text)):
            proposal = entry.proposal
            key = tuple(sorted(proposal.words))
            full = counts.get(key, 0) >= 4 or kinds.get(proposal.kind, 0) >= CONSIDERED
            if full or proposal.score + NATURAL < self.options.least:
                continue
            counts[key] = counts.get(key, 0) + 1
            kinds[proposal.kind] = kinds.get(proposal.kind, 0) + 1
            chosen.append(entry)
        return chosen

    # -- exploits -----------------------------------------------------------------------------------------------------

    def _exploit(
        self, number: int, entry: Found, breaks: list[set[int]], judged: Callable[[Path], set[int]]
    ) -> Path | None:
        """The shortest safe plan to the goal that breaks a proposal."""
        plans = [path for path, broken in zip(self.pool, breaks, strict=True) if number in broken]
        if plans:
            return min(plans, key=len)
        for witness in entry.witnesses:
            completed = self._complete(witness.path, witness.rest)
            if completed is None:
                continue
            broken = judged(completed)
            self.pool.append(completed)
            breaks.append(broken)
            if number in broken:
                return completed
        return None

    def _complete(self, path: Path, rest: Path) -> Path | None:
        """A safe plan to the goal that begins with a path."""
        path = own(path, self.plans.engine)
        key = self.plans.steps(path)
        if key not in self._completed:
            straight = (*path, *own(rest, self.plans.engine))
            if self.plans.safe(path):
                self._completed[key] = path
            elif self.plans.safe(straight):
                self._completed[key] = straight
            else:
                self._completed[key] = self.plans.planned(path)
        return self._completed[key]

    # -- the other way ------------------------------------------------------------------------------------------------

    def _instead(
        self, number: int, proposal: Proposal, breaks: list[set[int]], judged: Callable[[Path], set[int]]
    ) -> Path | None:
        """A safe plan to the goal that keeps a proposal: without one, the rule would forbid the goal."""
        plans = [path for path, broken in zip(self.pool, breaks, strict=True) if number not in broken]
        if plans:
            return min(plans, key=len)
        left = self.plans.deadline - monotonic()
        if left <= 0:
            return None
        solution = OwnSearch(NEAR).solve(Query(self.compile([proposal])[0], time_limit_s=left))
        if solution.answer is not Answer.SOLVED:
            return None
        path = own(solution.steps, self.plans.engine)
        self.pool.append(path)
        breaks.append(judged(path))
        return path

    # -- the list -----------------------------------------------------------------------------------------------------

    def _ordered(self, gaps: list[_Scored]) -> list[_Scored]:
        """The most suspicious first; what says the same as gaps before it later."""
        out: list[_Scored] = []
        left = list(gaps)
        while left and len(out) < self.options.limit:

            def worth(gap: _Scored) -> float:
                return gap.score - ALIKE * sum([_overlap(gap.proposal.words, other.proposal.words) for other in out])

            fresh = [gap for gap in left if [o.proposal.kind for o in out].count(gap.proposal.kind) < OF_A_KIND]
            best = max(fresh or left, key=worth)
            left.remove(best)
            out.append(best._replace(score=round(worth(best), 3)))
        return out

    def _shown(self, problem: str, gaps: list[_Scored]) -> list[Gap]:
        """The gaps as they are reported: checked once more, with what the independent kernel says."""
        given, texts = self.plans, [self.plans.text(gap.exploit) for gap in gaps]
        breaking, _ = self.compile([gap.proposal for gap in gaps], "always")
        keeping, _ = self.compile([], "always")
        out = []
        for number, (gap, text) in enumerate(zip(gaps, texts, strict=True)):
            safe = keeping.check(Source("<gap>", text))
            findings = [f for f in breaking.check(Source("<gap>", text)).findings if f.rule == f"gap-{number}"]
            findings = [f for f in findings if f.blame is not Blame.PRE_EXISTING]
            if safe.headline not in SAFE or not findings:
                if any([d.code == "SC901" for d in safe.diagnostics]):
                    raise AssertionError("the kernel does not confirm a plan that exploits a gap: a bug in plansafe")
                continue
            sure = keeping.confirmer.is_safe(Source("<gap>", text), len(gap.exploit))
            out.append(
                Gap(
                    gap.proposal.code,
                    gap.proposal.kind,
                    gap.score,
                    problem,
                    given.steps(gap.exploit),
                    tuple(sorted({f.step for f in findings})),
                    tuple([f.binding for f in findings[:3]]),
                    gap.proposal.reasons,
                    gap.proposal.text,
                    given.steps(gap.instead),
                    sure if sure is None else sure and findings[0].replayed,
                )
            )
        return out


def _overlap(first: dict[str, float], second: dict[str, float]) -> float:
    """How much of what makes two proposals suspicious is the same (weighted Jaccard index)."""
    both = sum([weight for word, weight in first.items() if word in second])
    either = sum(first.values()) + sum([weight for word, weight in second.items() if word not in first])
    return both / either if either else 1.0
