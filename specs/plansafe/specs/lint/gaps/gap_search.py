"""``lint --gaps``: suspicious safe plans, and rules that forbid them (docs/safety-rules.md, "Gaps")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.sexpr import Node, format_node
from plansafe.grammar.source import Source
from plansafe.specs.lint.gaps.detours import DetourSearch
from plansafe.specs.lint.gaps.gap_ranking import GapRanking
from plansafe.specs.lint.gaps.model import Gap, GapOptions, GapsResult
from plansafe.specs.lint.gaps.proposals import NAME_PLACEHOLDER, Proposal, make_proposal
from plansafe.specs.lint.gaps.safe_plans import SafePlanFinder, StepPath, rebind_actions
from plansafe.specs.lint.gaps.state_graph import TaskGraph
from plansafe.specs.lint.gaps.suspicion import Suspicion, TaskSuspicions, iterate_words
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.elaborate.types import TypeTable
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions

MAX_SIBLING_RULES = 60
"""Maximum number of rules that are proposed as siblings of given rules."""
SIBLING_WEIGHT = 1.0
"""The weight of a sibling of a rule; doubled if the rules treat both words alike elsewhere."""
_DESCRIPTIVE_FIELDS = frozenset((":hazard", ":target", ":severity", ":message", ":rationale", ":source", ":fix"))
PROPOSED_SOURCE = "<proposed>"
"""The name of the source with the proposed rules."""
LIBRARY_WEIGHT = 5.0
"""The weight of a rule of the library."""
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
    explored_count = proposal_count = 0
    for problem in problems:
        search = _ProblemGapSearch(_Inputs(domain, problem, specs, examples, library, resolve), options)
        ranked_gaps += enumerate(search.find_gaps())
        diagnostics += search.diagnostics
        explored_count += search.explored_count
        proposal_count += search.proposal_count
    gap_by_rule: dict[str, Gap] = {}
    for _, gap in sorted(ranked_gaps, key=lambda ranked: ranked[0]):
        gap_by_rule.setdefault(gap.rule, gap)
    gaps = [
        gap._replace(rule=rule.replace(NAME_PLACEHOLDER, f"gap-{number}"))
        for number, (rule, gap) in enumerate(gap_by_rule.items(), 1)
    ]
    return GapsResult(tuple(gaps[: options.max_gaps]), tuple(diagnostics), explored_count, proposal_count)


class _Inputs(NamedTuple):
    """The arguments of :func:`find_gaps` for one problem."""

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
        self.explored_count = self.proposal_count = 0

    def find_gaps(self) -> list[Gap]:
        """Find the gaps of this problem, the most suspicious first."""
        checker = self._make_checker([])
        if not checker.ok:
            self.diagnostics += [d for d in checker.diagnostics if d.severity is Severity.ERROR]
            return []
        if checker.engine.refusal is not None:
            self.diagnostics.append(checker.engine.refusal)
            return []
        plans = SafePlanFinder(checker, self.deadline)
        harmless_paths, references = self._find_reference_plans(plans)
        if not references:
            self._add_note("no safe plan to the goal was found, so safecheck did not search for gaps")
            return []
        nodes = [rule.node for rule in checker.compiled.expanded.rules]
        task_suspicions = TaskSuspicions(checker.engine.task, checker.rules, nodes, checker.engine.action_predicates)
        proposals = [
            *propose_sibling_rules(task_suspicions, nodes, checker.compiled.symbols.types),
            *self._propose_library_rules(checker),
        ]
        monitoring_checker, monitored_proposals = self._compile_proposals(proposals)
        detour_search = DetourSearch(
            TaskGraph(task_suspicions, monitoring_checker.engine),
            len(checker.rules),
            monitored_proposals,
            self.options.max_steps,
            self.started + EXPLORATION_SHARE * self.options.time_limit_s,
        )
        detour_search.search([rebind_actions(monitoring_checker.engine, path) for path in references])
        self.explored_count, self.proposal_count = detour_search.explored_count, len(detour_search.exploited_by_text)
        safe_paths = [*references, *detour_search.found_plans]
        ranking = GapRanking(plans, harmless_paths, safe_paths, self._compile_proposals, self.options)
        return ranking.rank_gaps(list(detour_search.exploited_by_text.values()), self.inputs.problem.name)

    # -- compiling ----------------------------------------------------------------------------------------------------

    def _make_checker(self, proposals: Sequence[Proposal], replay: str = "never") -> Checker:
        """Make a checker of the specification and of proposed rules, named ``gap-0``, ``gap-1``, .."""
        specs = list(self.inputs.specs)
        if proposals:
            rules = "\n".join([p.text.replace(NAME_PLACEHOLDER, f"gap-{number}") for number, p in enumerate(proposals)])
            specs.append(Source(PROPOSED_SOURCE, f"(define (safety proposed)\n{rules})"))
        options = Options(replay=replay, judge=self.options.judge)
        return Checker(self.inputs.domain, self.inputs.problem, specs, options, self.inputs.resolve)

    def _compile_proposals(self, proposals: list[Proposal], replay: str = "never") -> tuple[Checker, list[Proposal]]:
        """Make a checker with all proposals that are well-formed; also return these proposals."""
        checker = self._make_checker(proposals, replay)
        while not checker.ok:
            text = checker.sources[PROPOSED_SOURCE].text
            places = [
                label.span.start for d in checker.diagnostics for label in d.labels if label.source == PROPOSED_SOURCE
            ]
            wrong_numbers = {text.count("\n", 0, place) - 1 for place in places}
            if not wrong_numbers:
                return self._make_checker([], replay), []
            proposals = [proposal for number, proposal in enumerate(proposals) if number not in wrong_numbers]
            checker = self._make_checker(proposals, replay)
        return checker, proposals

    def _propose_library_rules(self, checker: Checker) -> list[Proposal]:
        """Propose the applicable rules of the library that the specification does not have."""
        if not self.inputs.library:
            return []
        options = Options(replay="never")
        library = Checker(self.inputs.domain, self.inputs.problem, self.inputs.library, options, self.inputs.resolve)
        self.diagnostics += [diagnostic for diagnostic in library.diagnostics if diagnostic.severity is Severity.ERROR]
        if not library.ok:
            return []
        existing = {_format_unnamed_rule(rule.node) for rule in checker.compiled.expanded.rules}
        applicable = {rule.name for rule in library.rules if rule.applicable}
        proposals = []
        for rule in library.compiled.expanded.rules:
            text = _format_unnamed_rule(rule.node)
            if text not in existing and rule.node[1] in applicable:
                reason = f"the library has a rule that forbids it: `{rule.node[1]}` of {rule.specification}"
                suspicion = Suspicion(LIBRARY_WEIGHT, reason)
                proposals.append(make_proposal("library", text, [suspicion], SC.GAP_LIBRARY))
        return proposals

    # -- plans to start from ------------------------------------------------------------------------------------------

    def _find_reference_plans(self, plans: SafePlanFinder) -> tuple[list[StepPath], list[StepPath]]:
        """Find the safe examples, and plans to start from: these, repairs of the other examples, and found plans."""
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
            plans.format_steps(p): p for p in [*harmless_paths, *start_paths]
        }
        return harmless_paths, list(unique_paths.values())[:MAX_REFERENCES]

    def _add_note(self, message: str) -> None:
        label = Label(self.inputs.problem.name, Span(0, 0), "for this problem")
        self.diagnostics.append(Diagnostic(SC.UNDECIDED_QUESTION, message, (label,), severity=Severity.NOTE))


def _format_unnamed_rule(node: list[Node]) -> str:
    """Format a rule with :data:`NAME_PLACEHOLDER` for its name."""
    return format_node([node[0], NAME_PLACEHOLDER, *node[2:]])


def propose_sibling_rules(
    task_suspicions: TaskSuspicions, nodes: Sequence[list[Node]], table: TypeTable
) -> list[Proposal]:
    """Propose each rule with one word replaced by a sibling, unless it is a rule already; the most suspicious first."""
    stripped_rules = [_strip_description(node) for node in nodes]
    existing = {format_node(rule) for rule in stripped_rules}
    words_by_rule = [set(iterate_words(rule)) for rule in stripped_rules]
    proposals: dict[str, Proposal] = {}
    for word, sibling_word, suspicion in _iterate_siblings(task_suspicions, table):
        candidates = [
            (node, format_node(_replace_word(rule, word, sibling_word)))
            for node, rule, rule_words in zip(nodes, stripped_rules, words_by_rule, strict=True)
            if word in rule_words and sibling_word not in rule_words
        ]
        has_common_rule = any([{word, sibling_word} <= rule_words for rule_words in words_by_rule])
        has_precedent = has_common_rule or any([text in existing for _, text in candidates])
        for node, text in candidates:
            if text not in existing:
                reason = f"`{node[1]}` is about `{word}`, a sibling of `{sibling_word}`"
                suspicions = [suspicion, Suspicion(SIBLING_WEIGHT * (1 + has_precedent), reason)]
                proposals.setdefault(text, make_proposal("sibling", text, suspicions, SC.GAP_SIBLING))
    return sorted(proposals.values(), key=lambda proposal: -proposal.score)[:MAX_SIBLING_RULES]


class _SiblingWords(NamedTuple):
    """A word, another word that is possible in the same places, and the suspicion against the other word."""

    word: str
    sibling_word: str
    suspicion: Suspicion


def _iterate_siblings(task_suspicions: TaskSuspicions, table: TypeTable) -> Iterator[_SiblingWords]:
    """Yield pairs of types with a common parent, of predicates and of actions with equal parameters."""
    task = task_suspicions.task
    declared_types = sorted({type_number for types in task.object_types for type_number in types})
    for type_number, name in enumerate(table.names):
        for sibling in declared_types:
            if type_number != sibling and set(table.parents[type_number]) & set(table.parents[sibling]):
                yield _SiblingWords(name, table.names[sibling], task_suspicions.type_suspicions[sibling])
    predicates = list(enumerate(task.predicates[: len(task_suspicions.predicate_suspicions)]))
    for (number, predicate), (sibling_number, sibling_predicate) in permutations(predicates, 2):
        has_equal_types = predicate.types == sibling_predicate.types
        suspicion = task_suspicions.predicate_suspicions[sibling_number]
        if has_equal_types and task.static[number] == task.static[sibling_number] and suspicion.weight:
            yield _SiblingWords(predicate.name, sibling_predicate.name, suspicion)
    for action, sibling_action in permutations(task.actions.values(), 2):
        if [v.domain for v in action.parameters] == [v.domain for v in sibling_action.parameters]:
            suspicion = task_suspicions.action_suspicions[sibling_action.name]
            yield _SiblingWords(action.name, sibling_action.name, suspicion)


def _strip_description(node: list[Node]) -> list[Node]:
    """Remove the name of a rule, and the fields that only describe it."""
    stripped_rule: list[Node] = [node[0], NAME_PLACEHOLDER]
    for place in range(2, len(node) - 1, 2):
        if node[place] not in _DESCRIPTIVE_FIELDS:
            stripped_rule += node[place : place + 2]
    return stripped_rule


def _replace_word(node: Node, old: str, new: str) -> Node:
    if isinstance(node, str):
        return new if node == old else node
    return [_replace_word(child, old, new) for child in node]
