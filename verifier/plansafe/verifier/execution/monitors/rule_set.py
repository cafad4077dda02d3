"""The rules of a task with their parts numbered, and how often steps match the rules about steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.triggers import ReadPattern, compile_read_patterns
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.rules.model import Rule, RulePart
from plansafe.verifier.rules.verdict_criteria import Exemption, VerdictCriteria

ActionFact = tuple[int, int]
"""A fact of an action predicate: (predicate, code of the arguments)."""
MAX_ENUMERATED_BINDINGS = 10_000
"""Maximum number of bindings that are compared to count the distinct bindings of a rule."""
MAX_CACHED_MATCHES = 100_000
"""The most action facts whose matches are cached."""


class RuleSet:
    """All rules and their numbered parts, and the predicates that represent actions. Shared by all runs of a check."""

    def __init__(
        self, task: Task, rules: Sequence[Rule], action_predicates: dict[tuple[str, str], int], limit: int
    ) -> None:
        self.task = task
        self.limit = limit
        self.rules = list(rules)
        self.parts: list[RulePart] = [part for rule in rules for part in rule.parts]
        self.action_predicates = action_predicates
        self.momentary = frozenset([p for (kind, _), p in action_predicates.items() if kind != "during"])
        """The predicates of actions that happen at one letter, as opposed to actions under way."""
        self.preference_parts = frozenset([n for n, part in enumerate(self.parts) if self.rules[part.rule].preference])
        """The parts of preferences, which may be violated."""
        self._below_severity: dict[str, frozenset[int]] = {}
        self._exempt: dict[tuple[Exemption, ...], frozenset[int]] = {}

    def find_nondecisive_parts(self, criteria: VerdictCriteria) -> frozenset[int]:
        """The parts whose violations never decide: of preferences, of rules not severe enough, and of exempt rules.

        A rule that is exempt for some objects only still decides.
        """
        nondecisive = self.preference_parts | self.find_parts_below_severity(criteria)
        return nondecisive | self._find_exempt_parts(criteria) if criteria.exemptions else nondecisive

    def _find_exempt_parts(self, criteria: VerdictCriteria) -> frozenset[int]:
        numbers = self._exempt.get(criteria.exemptions)
        if numbers is None:
            exempt = [n for n, part in enumerate(self.parts) if criteria.exempts_rule(self.rules[part.rule].name)]
            numbers = self._exempt[criteria.exemptions] = frozenset(exempt)
        return numbers

    def find_parts_below_severity(self, criteria: VerdictCriteria) -> frozenset[int]:
        """The parts of rules that are not severe enough; they do not affect the verdict even if undecided."""
        numbers = self._below_severity.get(criteria.min_severity)
        if numbers is None:
            severities = [self.rules[part.rule].severity for part in self.parts]
            below = [n for n, severity in enumerate(severities) if not criteria.is_severe_enough(severity)]
            numbers = self._below_severity[criteria.min_severity] = frozenset(below)
        return numbers


class MatchCounter:
    """Counts the bindings under which rules about steps match the actions of a letter; copies of a runtime share it."""

    def __init__(self, rule_set: RuleSet, emitter: Emitter) -> None:
        self._rule_set = rule_set
        self._patterns: dict[int, list[tuple[int, int, ReadPattern]]] = {}
        """By action predicate: a rule, its bindings for each match, and the pattern to match."""
        self._cache: dict[ActionFact, list[tuple[int, int]]] = {}
        for number, rule in enumerate(rule_set.rules):
            for match in rule.step_patterns:
                for pattern in compile_read_patterns(emitter, match.atom, rule.declared_parameters):
                    rule_patterns = self._patterns.setdefault(match.atom.predicate, [])
                    rule_patterns.append((number, match.bindings_per_match, pattern))

    def count_matches(self, action_facts: Sequence[ActionFact]) -> list[tuple[int, int]]:
        """The rules that match in a letter with these actions, each with its number of bindings."""
        if len(action_facts) != 1:
            return self._count(action_facts)
        action_fact = action_facts[0]
        counts = self._cache.get(action_fact)
        if counts is None:
            if len(self._cache) >= MAX_CACHED_MATCHES:
                self._cache.clear()
            counts = self._cache[action_fact] = self._count(action_facts)
        return counts

    def _count(self, action_facts: Sequence[ActionFact]) -> list[tuple[int, int]]:
        matches_by_rule: dict[int, list[tuple[int, tuple[int, ...], tuple[int, ...]]]] = {}
        for predicate, code in action_facts:
            for rule, bindings, pattern in self._patterns.get(predicate, ()):
                objects = pattern.key(code)
                if objects is not None:
                    matches_by_rule.setdefault(rule, []).append((bindings, pattern.parameters, objects))
        return [
            (rule, matches[0][0] if len(matches) == 1 else self._count_distinct(rule, matches))
            for rule, matches in matches_by_rule.items()
        ]

    def _count_distinct(self, rule: int, matches: list[tuple[int, tuple[int, ...], tuple[int, ...]]]) -> int:
        """The number of distinct bindings of several matches of a rule; above a limit the sum of their numbers."""
        declared = self._rule_set.rules[rule].declared_parameters
        total = sum([bindings for bindings, _, _ in matches])
        if total > MAX_ENUMERATED_BINDINGS:
            return total
        distinct_bindings: set[tuple[int, ...]] = set()
        for _, parameters, objects in matches:
            fixed_objects = dict(zip(parameters, objects, strict=True))
            all_objects = self._rule_set.task.domains
            distinct_bindings.update(
                product(
                    *[
                        (fixed_objects[i],) if i in fixed_objects else all_objects[v.domain]
                        for i, v in enumerate(declared)
                    ]
                )
            )
        return len(distinct_bindings)
