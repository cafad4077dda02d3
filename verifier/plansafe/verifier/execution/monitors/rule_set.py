"""The rules of a task with their numbered parts, and a counter of the steps that match rules about steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from plansafe.grammar.named_tuple import NamedTuple
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


class RuleCount(NamedTuple):
    """A rule by number, and a number of its bindings."""

    rule: int
    binding_count: int


class _RulePattern(NamedTuple):
    """A pattern by which a rule about steps matches action facts, and how many bindings each match has."""

    rule: int
    bindings_per_match: int
    pattern: ReadPattern


class _RuleMatch(NamedTuple):
    """A match of a rule: its number of bindings, and the positions and objects of the parameters that it fixes."""

    binding_count: int
    parameters: tuple[int, ...]
    objects: tuple[int, ...]


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
        self._parts_below_severity: dict[str, frozenset[int]] = {}
        self._exempt_parts: dict[tuple[Exemption, ...], frozenset[int]] = {}

    def find_nondecisive_parts(self, criteria: VerdictCriteria) -> frozenset[int]:
        """Return the parts whose violations never decide: of preferences, rules not severe enough, and exempt rules.

        A rule that is exempt for some objects only still decides.
        """
        parts = self.preference_parts | self.find_parts_below_severity(criteria)
        return parts | self._find_exempt_parts(criteria) if criteria.exemptions else parts

    def _find_exempt_parts(self, criteria: VerdictCriteria) -> frozenset[int]:
        """Return the parts of rules that are exempt for all objects."""
        parts = self._exempt_parts.get(criteria.exemptions)
        if parts is None:
            exempt_numbers = [
                n for n, part in enumerate(self.parts) if criteria.exempts_rule(self.rules[part.rule].name)
            ]
            parts = self._exempt_parts[criteria.exemptions] = frozenset(exempt_numbers)
        return parts

    def find_parts_below_severity(self, criteria: VerdictCriteria) -> frozenset[int]:
        """Return the parts of rules that are not severe enough; they do not affect the verdict even if undecided."""
        parts = self._parts_below_severity.get(criteria.min_severity)
        if parts is None:
            severities = [self.rules[part.rule].severity for part in self.parts]
            below = [n for n, severity in enumerate(severities) if not criteria.is_severe_enough(severity)]
            parts = self._parts_below_severity[criteria.min_severity] = frozenset(below)
        return parts


class MatchCounter:
    """Counts the bindings under which rules about steps match the actions of a letter; copies of a runtime share it."""

    def __init__(self, rule_set: RuleSet, emitter: Emitter) -> None:
        self._rule_set = rule_set
        self._patterns: dict[int, list[_RulePattern]] = {}
        """By action predicate, the patterns of rules."""
        self._counts_by_action: dict[ActionFact, list[RuleCount]] = {}
        """For letters with a single action: the result of :meth:`count_matches`."""
        for number, rule in enumerate(rule_set.rules):
            for step_pattern in rule.step_patterns:
                for pattern in compile_read_patterns(emitter, step_pattern.atom, rule.declared_parameters):
                    rule_pattern = _RulePattern(number, step_pattern.bindings_per_match, pattern)
                    self._patterns.setdefault(step_pattern.atom.predicate, []).append(rule_pattern)

    def count_matches(self, action_facts: Sequence[ActionFact]) -> list[RuleCount]:
        """Return the rules that match in a letter with these actions, each with its number of bindings."""
        if len(action_facts) != 1:
            return self._compute_counts(action_facts)
        action_fact = action_facts[0]
        counts = self._counts_by_action.get(action_fact)
        if counts is None:
            if len(self._counts_by_action) >= MAX_CACHED_MATCHES:
                self._counts_by_action.clear()
            counts = self._counts_by_action[action_fact] = self._compute_counts(action_facts)
        return counts

    def _compute_counts(self, action_facts: Sequence[ActionFact]) -> list[RuleCount]:
        """Compute the result of :meth:`count_matches`."""
        matches_by_rule: dict[int, list[_RuleMatch]] = {}
        for predicate, code in action_facts:
            for rule, binding_count, pattern in self._patterns.get(predicate, ()):
                objects = pattern.key(code)
                if objects is not None:
                    match = _RuleMatch(binding_count, pattern.parameters, objects)
                    matches_by_rule.setdefault(rule, []).append(match)
        return [RuleCount(rule, self._count_bindings(rule, matches)) for rule, matches in matches_by_rule.items()]

    def _count_bindings(self, rule: int, matches: list[_RuleMatch]) -> int:
        """Return the number of distinct bindings of the matches of a rule; above a limit, the sum of their numbers."""
        total = sum([match.binding_count for match in matches])
        if len(matches) == 1 or total > MAX_ENUMERATED_BINDINGS:
            return total
        domains, parameters = self._rule_set.task.domains, self._rule_set.rules[rule].declared_parameters
        bindings: set[tuple[int, ...]] = set()
        for match in matches:
            candidates: list[Sequence[int]] = [domains[parameter.domain] for parameter in parameters]
            for position, number in zip(match.parameters, match.objects, strict=True):
                candidates[position] = (number,)
            bindings.update(product(*candidates))
        return len(bindings)
