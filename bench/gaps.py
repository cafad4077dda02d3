"""Measure how often ``lint --gaps`` finds a deleted rule: ``python -m bench.gaps --group fifty``.

``--variant`` selects the search: the complete search (``all``), the search without one of its parts
(``without-together``, ``without-words``, ..), or a baseline that proposes no rules: the first detour plans
(``detours``), or random detour plans (``random``).
``--control`` searches for gaps of the whole specifications instead. ``--library home,home-household`` also compares
with other specifications. ``--count`` and ``--seed`` draw from the group. ``-v`` prints the gaps.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time

from plansafe.specs.lint.gaps import gap_ranking, gap_search
from plansafe.specs.lint.gaps.detours import ExploitedProposal
from plansafe.specs.lint.gaps.gap_ranking import GapRanking
from plansafe.specs.lint.gaps.model import Gap, GapOptions
from plansafe.specs.lint.gaps.patterns import ProposalPatterns
from plansafe.specs.lint.gaps.proposals import Proposal
from plansafe.specs.lint.gaps.suspicion import NO_SUSPICION, Suspicion, TaskSuspicions

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "lint_gaps"))
import gaps_cases
from gaps_cases import Case, assess, search

GROUPS = {
    "household": gaps_cases.household,
    "home": gaps_cases.home,
    "mapped": gaps_cases.mapped,
    "examples": gaps_cases.examples,
    "fifty": gaps_cases.fifty,
    "fresh": gaps_cases.fresh,
}
TOP_RANKS = (1, 3, 5, 10)


class Detours(GapRanking):
    """A baseline: the first detour plans, without a proposed rule."""

    def rank_gaps(self, _: Sequence[ExploitedProposal], problem: str) -> list[Gap]:
        """List the plans as gaps."""
        unique = list({self.plans.format_steps(path): path for path in self.safe_paths})
        return [
            Gap("", "detour", 0.0, problem, steps, (), (), (), f"(detour {number})", ())
            for number, steps in enumerate(self.order_plans(unique)[: self.options.max_gaps])
        ]

    def order_plans(self, plans: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """The plans, best first: here in the order of the list."""
        return plans


class RandomDetours(Detours):
    """A baseline: detour plans in random order."""

    def order_plans(self, plans: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """The plans in random order."""
        return random.Random(len(plans)).sample(plans, len(plans))


def propose_nothing(*_: object) -> Iterator[Proposal]:
    """No proposals."""
    return iter(())


def set_equal_weights(weight: float) -> None:
    """Give every suspicious word the same weight."""
    original_init = TaskSuspicions.__init__

    def set_weight(suspicion: Suspicion) -> Suspicion:
        return suspicion._replace(weight=weight) if suspicion.weight * weight else NO_SUSPICION

    def init_with_equal_weights(self: TaskSuspicions, *arguments: object) -> None:
        original_init(self, *arguments)  # type: ignore[arg-type]
        self.predicate_suspicions = [set_weight(suspicion) for suspicion in self.predicate_suspicions]
        self.type_suspicions = [set_weight(suspicion) for suspicion in self.type_suspicions]
        self.action_suspicions = {
            name: Suspicion(weight * bool(suspicion.weight), suspicion.reason)
            for name, suspicion in self.action_suspicions.items()
        }

    TaskSuspicions.__init__ = init_with_equal_weights  # type: ignore[method-assign, assignment]


def apply_variant(variant: str) -> None:
    """Switch off the parts of the search that the variant excludes."""
    if variant in ("detours", "random"):
        set_equal_weights(0.0)
        gap_search.GapRanking = Detours if variant == "detours" else RandomDetours  # type: ignore[misc]
    match variant:
        case "without-together":
            ProposalPatterns.propose_items_together = propose_nothing  # type: ignore[method-assign, assignment]
        case "without-meanwhile":
            ProposalPatterns.propose_steps_near_facts = propose_nothing  # type: ignore[method-assign, assignment]
        case "without-left":
            ProposalPatterns.propose_left_facts = propose_nothing  # type: ignore[method-assign, assignment]
        case "without-siblings":
            gap_search.propose_sibling_rules = lambda *_: []  # type: ignore[assignment]
        case "without-words":
            set_equal_weights(1.0)
        case "without-turns":
            gap_ranking.interleave_groups = lambda entries, _: list(entries)  # type: ignore[assignment]


VARIANTS = (
    "all detours random without-together without-meanwhile without-left without-siblings without-words without-turns"
)


def main() -> None:
    """Run the cases, and print a line for each case and a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rules", nargs="*", help="Check only these rules.")
    parser.add_argument("--group", choices=GROUPS, default="fifty")
    parser.add_argument("--variant", choices=VARIANTS.split(), default="all")
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--library", default="")
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--least", type=float, default=GapOptions().min_score)
    parser.add_argument("--steps", type=int, default=GapOptions().max_steps)
    parser.add_argument("--time", type=float, default=120.0)
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    cases = [case for case in GROUPS[arguments.group]() if not arguments.rules or case.rule in arguments.rules]
    if arguments.count:
        cases = random.Random(arguments.seed).sample(cases, min(arguments.count, len(cases)))
    options = GapOptions(
        max_gaps=arguments.limit, min_score=arguments.least, max_steps=arguments.steps, time_limit_s=arguments.time
    )
    apply_variant(arguments.variant)
    library = tuple([name for name in arguments.library.split(",") if name])
    (print_control if arguments.control else print_deletions)(cases, options, library, arguments.verbose)


def format_case_name(case: Case) -> str:
    """The name of a case."""
    return f"{Path(case.problem.name).parent.name if case.group == 'examples' else case.group}/{case.rule}"


def print_deletions(cases: list[Case], options: GapOptions, library: tuple[str, ...], verbose: bool) -> None:
    """Delete the rule of each case; print the share of rules that the gaps reveal."""
    outcomes = []
    print(f"{'deleted rule':45} revealed caught restored  gaps  explored  seconds")
    for case in cases:
        outcome = assess(case, options, library)
        outcomes.append(outcome)
        ranks = [str(rank or "-") for rank in (outcome.revealed, outcome.caught, outcome.restored)]
        counts = f"{len(outcome.gaps):5} {outcome.explored:9} {outcome.seconds:8.1f}"
        print(f"{format_case_name(case):45} {ranks[0]:>8} {ranks[1]:>6} {ranks[2]:>8} {counts}", flush=True)
        if verbose:
            print_gaps(outcome.gaps)
    print()
    for measure in ("revealed", "caught", "restored"):
        gap_ranks = [getattr(outcome, measure) for outcome in outcomes]
        shares = []
        for top in TOP_RANKS:
            count = sum([rank is not None and rank <= top for rank in gap_ranks])
            shares.append(f"{count} ({count / len(outcomes):.0%}) by the first {top}")
        print(f"{measure:9} of {len(outcomes)}: {', '.join(shares)}")
    print(
        f"CPU seconds: {sum([outcome.seconds for outcome in outcomes]):.0f}, "
        f"at most {max([outcome.seconds for outcome in outcomes]):.1f} for one case"
    )


def print_control(cases: list[Case], options: GapOptions, library: tuple[str, ...], verbose: bool) -> None:
    """Print the number of gaps of complete specifications."""
    counts = []
    for case in cases:
        started = process_time()
        result = search(case, False, options, library)
        seconds = process_time() - started
        counts.append(len(result.gaps))
        scores = " ".join([f"{gap.score:.1f}" for gap in result.gaps])
        print(f"{format_case_name(case):45} {len(result.gaps):3} gaps {seconds:6.1f} s  {scores}", flush=True)
        if verbose:
            print_gaps(result.gaps)
    none = sum([1 for count in counts if not count])
    print(f"\n{sum(counts) / len(counts):.1f} gaps on average; none for {none} of {len(counts)}")


def print_gaps(gaps: tuple[Gap, ...]) -> None:
    """Print the gaps of a case."""
    for number, gap in enumerate(gaps, 1):
        print(f"   {number:2} {gap.code} {gap.score:5.2f} {gap.kind}: {gap.rule}")
        print(f"      violated at {gap.steps} by {' '.join(gap.plan)}")
        print(f"      {'; '.join(gap.reasons)}")


if __name__ == "__main__":
    main()
