"""``lint --gaps``: suspicious safe plans, and rules that forbid them (docs/safety-rules.md, "Gaps")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.sexpr import format_node
from plansafe.grammar.source import Source
from plansafe.specs.lint.gaps.detours import DetourSearch
from plansafe.specs.lint.gaps.gap_ranking import GapRanking
from plansafe.specs.lint.gaps.model import LIBRARY, Gap, GapOptions, GapsResult
from plansafe.specs.lint.gaps.proposals import NAME, Proposal, make_proposal
from plansafe.specs.lint.gaps.safe_plans import SafePlans, StepPath, with_actions_of
from plansafe.specs.lint.gaps.sibling_rules import sibling_rules
from plansafe.specs.lint.gaps.state_graph import TaskGraph
from plansafe.specs.lint.gaps.suspicion import Suspicion, SuspicionWeights
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions

PROPOSED = "<proposed>"
LIBRARY_WEIGHT = 5.0
_REPAIR = RepairOptions(max_cost=8, max_repairs=2, time_limit_s=1.0, max_work=20_000)
Resolve = Callable[[str, Source], "Source | None"]


def find_gaps(
    domain: Source,
    problems: Sequence[Source],
    specs: Sequence[Source],
    *,
    examples: Sequence[Source] = (),
    library: Sequence[Source] = (),
    options: GapOptions = GapOptions(),  # noqa: B008
    resolve: Resolve | None = None,
) -> GapsResult:
    """Look for holes of ``specs`` by exploiting them: safe plans to the goals of ``problems`` that are suspicious.

    ``examples`` are plans for these problems: the safe ones are taken to be in order, so nothing that they do is called
    a gap, and the repairs of the others are looked at. ``library``: specifications that other people wrote for this
    domain; a plan that breaks one of their rules is a gap, too. Time is bounded by ``options``.
    """
    gaps: list[tuple[int, Gap]] = []
    diagnostics: list[Diagnostic] = []
    explored = candidates = 0
    for problem in problems:
        run = _Run(domain, problem, specs, examples, library, options, resolve)
        gaps += enumerate(run.gaps())
        diagnostics += run.diagnostics
        explored, candidates = explored + run.explored, candidates + run.candidates
    best: dict[str, Gap] = {}
    for _, gap in sorted(gaps, key=lambda ranked: ranked[0]):
        best.setdefault(gap.rule, gap)
    named = [gap._replace(rule=gap.rule.replace(NAME, f"gap-{n}")) for n, gap in enumerate(best.values(), 1)]
    return GapsResult(tuple(named[: options.max_gaps]), tuple(diagnostics), explored, candidates)


class _Run:
    """One problem."""

    def __init__(
        self,
        domain: Source,
        problem: Source,
        specs: Sequence[Source],
        examples: Sequence[Source],
        library: Sequence[Source],
        options: GapOptions,
        resolve: Resolve | None,
    ) -> None:
        self.domain, self.problem, self.specs = domain, problem, list(specs)
        self.examples, self.library = examples, library
        self.options, self.resolve = options, resolve
        self.started = monotonic()
        self.deadline = self.started + options.time_limit_s
        self.diagnostics: list[Diagnostic] = []
        self.explored = self.candidates = 0

    def gaps(self) -> list[Gap]:
        """The gaps of this problem, the most suspicious first."""
        given = self._checker([])
        if not given.ok:
            self.diagnostics += [d for d in given.diagnostics if d.severity is Severity.ERROR]
            return []
        if given.engine.refusal is not None:
            self.diagnostics.append(given.engine.refusal)
            return []
        plans = SafePlans(given, self.deadline)
        kept, references = self._references(plans)
        if not references:
            self._say("no safe plan to the goal was found, so safecheck did not search for gaps")
            return []
        nodes = [rule.node for rule in given.compiled.expanded.rules]
        words = SuspicionWeights(given.engine.task, given.rules, nodes, given.engine.action_predicates)
        likely = [*sibling_rules(words, nodes, given.compiled.symbols.types), *self._of_library(given)]
        watching, watched = self._compiled(likely)
        shared = TaskGraph(words, watching.engine)
        until = self.started + 0.6 * self.options.time_limit_s
        explorer = DetourSearch(shared, len(given.rules), watched, self.options.max_steps, until)
        explorer.run([with_actions_of(path, watching.engine) for path in references])
        self.explored, self.candidates = explorer.explored, len(explorer.found)
        judge = GapRanking(plans, kept, [*references, *explorer.plans], self._compiled, self.options)
        return judge.gaps(list(explorer.found.values()), self.problem.name)

    # -- compiling ----------------------------------------------------------------------------------------------------

    def _checker(self, proposals: Sequence[Proposal], replay: str = "never") -> Checker:
        """The specification with proposed rules beside it, named ``gap-0``, ``gap-1``, .."""
        specs = list(self.specs)
        if proposals:
            rules = "\n".join([p.text.replace(NAME, f"gap-{n}") for n, p in enumerate(proposals)])
            specs.append(Source(PROPOSED, f"(define (safety proposed)\n{rules})"))
        options = Options(replay=replay, judge=self.options.judge)
        return Checker(self.domain, self.problem, specs, options, self.resolve)

    def _compiled(self, proposals: list[Proposal], replay: str = "never") -> tuple[Checker, list[Proposal]]:
        """A checker with all proposals that are well-formed, and these."""
        checker = self._checker(proposals, replay)
        while not checker.ok:
            text = checker.sources[PROPOSED].text
            places = [label.span.start for d in checker.diagnostics for label in d.labels if label.source == PROPOSED]
            wrong = {text.count("\n", 0, place) - 1 for place in places}
            if not wrong:
                return self._checker([], replay), []
            proposals = [p for n, p in enumerate(proposals) if n not in wrong]
            checker = self._checker(proposals, replay)
        return checker, proposals

    def _of_library(self, given: Checker) -> list[Proposal]:
        """The rules of the library that the specification does not have."""
        if not self.library:
            return []
        theirs = Checker(self.domain, self.problem, self.library, Options(replay="never"), self.resolve)
        self.diagnostics += [d for d in theirs.diagnostics if d.severity is Severity.ERROR]
        if not theirs.ok:
            return []
        known = {format_node([r.node[0], NAME, *r.node[2:]]) for r in given.compiled.expanded.rules}
        applicable = {rule.name for rule in theirs.rules if rule.applicable}
        found = []
        for rule in theirs.compiled.expanded.rules:
            text = format_node([rule.node[0], NAME, *rule.node[2:]])
            if text not in known and rule.node[1] in applicable:
                word = Suspicion(
                    LIBRARY_WEIGHT, f"the library has a rule that forbids it: `{rule.node[1]}` of {rule.specification}"
                )
                found.append(make_proposal("library", text, [word], LIBRARY))
        return found

    # -- plans to start from ------------------------------------------------------------------------------------------

    def _references(self, plans: SafePlans) -> tuple[list[StepPath], list[StepPath]]:
        """The examples that are safe, and all plans to start from: these, repairs of others, and planned ones."""
        kept: list[StepPath] = []
        others: list[StepPath] = []
        for example in self.examples:
            path = plans.parsed(example)
            if path is None:
                continue
            if plans.safe(path):
                kept.append(path)
            else:
                repaired = repair(plans.checker, example, _REPAIR)
                sources = [Source("<repair>", r.text) for r in repaired.repairs[:2]]
                others += [p for p in [plans.parsed(source) for source in sources] if p is not None]
        limit = self.options.time_limit_s
        planned = plans.planned(limit_s=0.25 * limit)
        shortest = plans.planned(shortest=True, limit_s=0.07 * limit) if planned is not None or not kept else None
        if planned is None and shortest is None and not kept and self.options.use_planners:
            planned = plans.by_others(0.25 * limit)
        if planned is not None and shortest is None:
            shortest = plans.shorter(planned, plans.safe)
        others += [p for p in (shortest, planned) if p is not None]
        unique: dict[tuple[str, ...], StepPath] = {plans.steps(p): p for p in [*kept, *others]}
        return kept, list(unique.values())[:4]

    def _say(self, message: str) -> None:
        label = Label(self.problem.name, Span(0, 0), "for this problem")
        self.diagnostics.append(Diagnostic(SC.UNDECIDED_QUESTION, message, (label,), severity=Severity.NOTE))
