"""``lint --gaps``: suspicious safe plans, and rules that forbid them (docs/safety-rules.md, "Gaps")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.sexpr import Node, format_node
from plansafe.grammar.source import Source
from plansafe.specs.lint.gaps.detours import DetourSearch
from plansafe.specs.lint.gaps.gap_ranking import GapRanking
from plansafe.specs.lint.gaps.model import Gap, GapOptions, GapsResult
from plansafe.specs.lint.gaps.proposals import NAME, Proposal, make_proposal
from plansafe.specs.lint.gaps.safe_plans import SafePlans, StepPath, with_actions_of
from plansafe.specs.lint.gaps.state_graph import TaskGraph
from plansafe.specs.lint.gaps.suspicion import Suspicion, SuspicionWeights, iterate_words
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.elaborate.types import TypeTable
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions

MAX_SIBLING_RULES = 60
"""Maximum number of rules that are proposed as siblings of given rules."""
SIBLING_WEIGHT = 1.0
"""The weight of a sibling of a rule; doubled if other rules contain both words."""
_TEXT_FIELDS = frozenset((":hazard", ":target", ":severity", ":message", ":rationale", ":source", ":fix"))

PROPOSED = "<proposed>"
LIBRARY_WEIGHT = 5.0
MAX_REFERENCES = 4
"""Maximum number of reference plans."""
EXPLORATION_SHARE, SEARCH_SHARE, SHORTEST_SHARE = 0.6, 0.25, 0.07
"""Shares of the time limit: until the end of the exploration, for a first plan, and for a shortest plan."""
_REPAIR_OPTIONS = RepairOptions(max_cost=8, max_repairs=2, time_limit_s=1.0, max_work=20_000)
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
    """Search for gaps of ``specs`` by exploiting them: safe plans to the goals of ``problems`` that are suspicious.

    ``examples`` are plans for these problems: the safe ones are taken as harmless, so nothing that they do is called a
    gap, and the search also starts from repairs of the others. ``library``: other specifications for this domain; a
    plan that violates one of their rules is also a gap. Time is bounded by ``options``.
    """
    ranked_gaps: list[tuple[int, Gap]] = []
    diagnostics: list[Diagnostic] = []
    explored = candidates = 0
    for problem in problems:
        search = _ProblemGapSearch(_Inputs(domain, problem, specs, examples, library, resolve), options)
        ranked_gaps += enumerate(search.find_gaps())
        diagnostics += search.diagnostics
        explored, candidates = explored + search.explored, candidates + search.candidates
    best: dict[str, Gap] = {}
    for _, gap in sorted(ranked_gaps, key=lambda ranked: ranked[0]):
        best.setdefault(gap.rule, gap)
    gaps = [gap._replace(rule=gap.rule.replace(NAME, f"gap-{number}")) for number, gap in enumerate(best.values(), 1)]
    return GapsResult(tuple(gaps[: options.max_gaps]), tuple(diagnostics), explored, candidates)


class _Inputs(NamedTuple):
    domain: Source
    problem: Source
    specs: Sequence[Source]
    examples: Sequence[Source]
    library: Sequence[Source]
    resolve: Resolve | None


class _ProblemGapSearch:
    """The search for gaps in one problem."""

    def __init__(self, inputs: _Inputs, options: GapOptions) -> None:
        self.inputs = inputs
        self.options = options
        self.started = monotonic()
        self.deadline = self.started + options.time_limit_s
        self.diagnostics: list[Diagnostic] = []
        self.explored = self.candidates = 0

    def find_gaps(self) -> list[Gap]:
        """The gaps of this problem, the most suspicious first."""
        checker = self._make_checker([])
        if not checker.ok:
            self.diagnostics += [d for d in checker.diagnostics if d.severity is Severity.ERROR]
            return []
        if checker.engine.refusal is not None:
            self.diagnostics.append(checker.engine.refusal)
            return []
        plans = SafePlans(checker, self.deadline)
        harmless_paths, references = self._find_reference_plans(plans)
        if not references:
            self._add_note("no safe plan to the goal was found, so safecheck did not search for gaps")
            return []
        nodes = [rule.node for rule in checker.compiled.expanded.rules]
        weights = SuspicionWeights(checker.engine.task, checker.rules, nodes, checker.engine.action_predicates)
        proposals = [
            *propose_sibling_rules(weights, nodes, checker.compiled.symbols.types),
            *self._propose_library_rules(checker),
        ]
        monitoring_checker, monitored = self._compile(proposals)
        detours = DetourSearch(
            TaskGraph(weights, monitoring_checker.engine),
            len(checker.rules),
            monitored,
            self.options.max_steps,
            self.started + EXPLORATION_SHARE * self.options.time_limit_s,
        )
        detours.run([with_actions_of(monitoring_checker.engine, path) for path in references])
        self.explored, self.candidates = detours.explored, len(detours.exploited)
        safe_paths = [*references, *detours.plans]
        ranking = GapRanking(plans, harmless_paths, safe_paths, self._compile, self.options)
        return ranking.rank_gaps(list(detours.exploited.values()), self.inputs.problem.name)

    # -- compiling ----------------------------------------------------------------------------------------------------

    def _make_checker(self, proposals: Sequence[Proposal], replay: str = "never") -> Checker:
        """The specification together with proposed rules, named ``gap-0``, ``gap-1``, .."""
        specs = list(self.inputs.specs)
        if proposals:
            rules = "\n".join([p.text.replace(NAME, f"gap-{number}") for number, p in enumerate(proposals)])
            specs.append(Source(PROPOSED, f"(define (safety proposed)\n{rules})"))
        options = Options(replay=replay, judge=self.options.judge)
        return Checker(self.inputs.domain, self.inputs.problem, specs, options, self.inputs.resolve)

    def _compile(self, proposals: list[Proposal], replay: str = "never") -> tuple[Checker, list[Proposal]]:
        """A checker with all proposals that are well-formed, and these proposals."""
        checker = self._make_checker(proposals, replay)
        while not checker.ok:
            text = checker.sources[PROPOSED].text
            places = [label.span.start for d in checker.diagnostics for label in d.labels if label.source == PROPOSED]
            wrong = {text.count("\n", 0, place) - 1 for place in places}
            if not wrong:
                return self._make_checker([], replay), []
            proposals = [proposal for number, proposal in enumerate(proposals) if number not in wrong]
            checker = self._make_checker(proposals, replay)
        return checker, proposals

    def _propose_library_rules(self, checker: Checker) -> list[Proposal]:
        """The applicable rules of the library that the specification does not have."""
        if not self.inputs.library:
            return []
        options = Options(replay="never")
        library = Checker(self.inputs.domain, self.inputs.problem, self.inputs.library, options, self.inputs.resolve)
        self.diagnostics += [diagnostic for diagnostic in library.diagnostics if diagnostic.severity is Severity.ERROR]
        if not library.ok:
            return []
        existing = {_unnamed_text(rule.node) for rule in checker.compiled.expanded.rules}
        applicable = {rule.name for rule in library.rules if rule.applicable}
        proposals = []
        for rule in library.compiled.expanded.rules:
            text = _unnamed_text(rule.node)
            if text not in existing and rule.node[1] in applicable:
                reason = f"the library has a rule that forbids it: `{rule.node[1]}` of {rule.specification}"
                suspicion = Suspicion(LIBRARY_WEIGHT, reason)
                proposals.append(make_proposal("library", text, [suspicion], SC.GAP_LIBRARY))
        return proposals

    # -- plans to start from ------------------------------------------------------------------------------------------

    def _find_reference_plans(self, plans: SafePlans) -> tuple[list[StepPath], list[StepPath]]:
        """The safe examples, and all plans to start from: these, repairs of the other examples, and found plans."""
        harmless_paths: list[StepPath] = []
        start_paths: list[StepPath] = []
        for example in self.inputs.examples:
            path = plans.parse(example)
            if path is None:
                continue
            if plans.is_safe(path):
                harmless_paths.append(path)
            else:
                repairs = repair(plans.checker, example, _REPAIR_OPTIONS).repairs[:2]
                paths = [plans.parse(Source("<repair>", repair.text)) for repair in repairs]
                start_paths += [path for path in paths if path is not None]
        limit_s = self.options.time_limit_s
        first_path = plans.find(limit_s=SEARCH_SHARE * limit_s)
        shortest_path: StepPath | None = None
        if first_path is not None or not harmless_paths:
            shortest_path = plans.find(shortest=True, limit_s=SHORTEST_SHARE * limit_s)
        if first_path is None and shortest_path is None and not harmless_paths and self.options.use_planners:
            first_path = plans.find_with_planners(SEARCH_SHARE * limit_s)
        if first_path is not None and shortest_path is None:
            shortest_path = plans.shorten(first_path, plans.is_safe)
        start_paths += [path for path in (shortest_path, first_path) if path is not None]
        unique_paths: dict[tuple[str, ...], StepPath] = {
            plans.list_step_texts(p): p for p in [*harmless_paths, *start_paths]
        }
        return harmless_paths, list(unique_paths.values())[:MAX_REFERENCES]

    def _add_note(self, message: str) -> None:
        label = Label(self.inputs.problem.name, Span(0, 0), "for this problem")
        self.diagnostics.append(Diagnostic(SC.UNDECIDED_QUESTION, message, (label,), severity=Severity.NOTE))


def _unnamed_text(node: list[Node]) -> str:
    """The text of a rule with :data:`NAME` for its name."""
    return format_node([node[0], NAME, *node[2:]])


def propose_sibling_rules(weights: SuspicionWeights, nodes: Sequence[list[Node]], table: TypeTable) -> list[Proposal]:
    """Each rule with one word replaced by a sibling, unless that is a rule already; the most suspicious ones."""
    stripped_rules = [_strip_texts(node) for node in nodes]
    existing = {format_node(rule) for rule in stripped_rules}
    words_of_rules = [set(iterate_words(rule)) for rule in stripped_rules]
    proposals: dict[str, Proposal] = {}
    for word, sibling, suspicion in _find_siblings(weights, table):
        candidates = [
            (node, format_node(_replace_word(rule, word, sibling)))
            for node, rule, rule_words in zip(nodes, stripped_rules, words_of_rules, strict=True)
            if word in rule_words and sibling not in rule_words
        ]
        are_alike = any([{word, sibling} <= rule_words for rule_words in words_of_rules])
        are_alike = are_alike or any([text in existing for _, text in candidates])
        for node, text in candidates:
            if text not in existing:
                reason = f"`{node[1]}` is about `{word}`, a sibling of `{sibling}`"
                suspicions = [suspicion, Suspicion(SIBLING_WEIGHT * (1 + are_alike), reason)]
                proposals.setdefault(text, make_proposal("sibling", text, suspicions, SC.GAP_SIBLING))
    return sorted(proposals.values(), key=lambda proposal: -proposal.score)[:MAX_SIBLING_RULES]


def _find_siblings(weights: SuspicionWeights, table: TypeTable) -> Iterator[tuple[str, str, Suspicion]]:
    """Pairs of words that are possible in the same places, and the suspicion against the second."""
    task = weights.task
    declared_types = sorted({type_number for types in task.object_types for type_number in types})
    for type_number, name in enumerate(table.names):
        for sibling in declared_types:
            if type_number != sibling and set(table.parents[type_number]) & set(table.parents[sibling]):
                yield name, table.names[sibling], weights.types[sibling]
    predicates = list(enumerate(task.predicates[: len(weights.facts)]))
    for index, first in predicates:
        for other_index, second in predicates:
            is_like = (
                index != other_index and first.types == second.types and task.static[index] == task.static[other_index]
            )
            if is_like and weights.facts[other_index].weight:
                yield first.name, second.name, weights.facts[other_index]
    for action in task.actions.values():
        domains = [v.domain for v in action.parameters]
        for twin in task.actions.values():
            if twin is not action and [v.domain for v in twin.parameters] == domains:
                yield action.name, twin.name, weights.actions[twin.name]


def _strip_texts(node: list[Node]) -> list[Node]:
    """A rule without its name, and without fields that only people read."""
    stripped_node: list[Node] = [node[0], NAME]
    for place in range(2, len(node) - 1, 2):
        if node[place] not in _TEXT_FIELDS:
            stripped_node += node[place : place + 2]
    return stripped_node


def _replace_word(node: Node, old: str, new: str) -> Node:
    if isinstance(node, str):
        return new if node == old else node
    return [_replace_word(child, old, new) for child in node]
