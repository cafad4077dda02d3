"""The state of one run of the linter: the rules, provers for the domain and the problems, and the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from plansafe.grammar.diagnostics import Label
from plansafe.grammar.source import Source
from plansafe.specs.lint.budget import Budget
from plansafe.specs.lint.domain_index import DomainIndex
from plansafe.specs.lint.formula_prover import FormulaProver
from plansafe.specs.lint.lint_problem import LintProblem
from plansafe.specs.lint.model import LintFinding, LintOptions, OpenQuestion
from plansafe.verifier.api import Checker
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.rules.model import Rule

FORMULA_PROOF = "formulas, for every problem of the domain"


class LintedRule(NamedTuple):
    """A rule: its first ``checker`` and its number there, and its number in each problem that has it.

    ``key`` identifies it over several problems: its kind, its file and its name.
    """

    key: tuple[str, str, str]
    rule: Rule
    checker: int
    number: int
    number_by_problem: dict[int, int]


class LintRun:
    """One run of the linter. ``checkers`` are of the given problems, or one checker has a problem without objects.

    ``useless_keys`` are the keys of rules that are never violated or never satisfied: they have no other findings.
    ``contradictions`` are the names of rules that contradict each other according to a finding.
    """

    def __init__(
        self, checkers: Sequence[Checker], has_problems: bool, options: LintOptions, sources: Mapping[str, Source]
    ) -> None:
        self.checkers = checkers
        self.options = options
        self.sources = sources
        self.budget = Budget(options.time_limit_s)
        self.domain_indexes = [DomainIndex(c.engine, c.compiled.symbols.types, options.lenient_types) for c in checkers]
        self.provers = [
            FormulaProver(index, checker.rules, self.budget)
            for index, checker in zip(self.domain_indexes, checkers, strict=True)
        ]
        problem_checkers = checkers if has_problems else ()
        self.problems = [LintProblem(checker, options.time_limit_s, options.search) for checker in problem_checkers]
        self.rules = _collect_linted_rules(checkers)
        self.findings: list[LintFinding] = []
        self.open_questions: list[OpenQuestion] = []
        self.useless_keys: set[tuple[str, str, str]] = set()
        self.contradictions: list[frozenset[str]] = []

    @property
    def useful_rules(self) -> list[LintedRule]:
        """The rules that can be violated and satisfied, or for which that is undecided."""
        return [linted_rule for linted_rule in self.rules if linted_rule.key not in self.useless_keys]

    def map_useful_rules(self, problem: int) -> dict[int, LintedRule]:
        """Map the numbers of the useful rules that have an instance in a problem to these rules."""
        rules = [rule for rule in self.useful_rules if problem in rule.number_by_problem]
        rule_by_number = {rule.number_by_problem[problem]: rule for rule in rules}
        return {n: rule for n, rule in rule_by_number.items() if self.problems[problem].has_instance(n)}

    def make_label(self, linted_rule: LintedRule, text: str = "", primary: bool = True) -> Label:
        """Make a label at the name of a rule; a constraint, which has no name, is labelled as a whole."""
        at = linted_rule.rule.at
        has_name = len(at.node) > 1 and isinstance(at.node[1], str) and linted_rule.rule.kind != "constraint"
        if at.child is None and has_name:
            at = Place(at.node, 1)
        return self.checkers[linted_rule.checker].compiled.context.label(at, text, primary)

    def add_finding(
        self, rules: Sequence[LintedRule], finding: LintFinding, label_text: str, extra_label: Label | None = None
    ) -> None:
        """Add a finding about rules, with their names and labels.

        ``label_text`` labels the first rule; ``extra_label`` is at a place that is not a rule.
        """
        texts = [label_text, *["and this one"] * (len(rules) - 1)]
        labels = [self.make_label(rule, text, rule is rules[0]) for rule, text in zip(rules, texts, strict=True)]
        labels += [] if extra_label is None else [extra_label]
        names = tuple([linted_rule.rule.name for linted_rule in rules])
        self.findings.append(finding._replace(rules=names, labels=tuple(labels)))

    def get_problem_name(self, number: int) -> str:
        """Return the name of a given problem."""
        return self.checkers[number].compiled.problem.name


def _collect_linted_rules(checkers: Sequence[Checker]) -> list[LintedRule]:
    rules: dict[tuple[str, str, str], LintedRule] = {}
    for checker_number, checker in enumerate(checkers):
        keys: set[tuple[str, str, str]] = set()
        for number, rule in enumerate(checker.rules):
            if rule.preference or not rule.applicable:
                continue
            key = rule.kind, rule.source, rule.name
            while key in keys:  # two constraints may have one name
                key = key[0], key[1], key[2] + "'"
            keys.add(key)
            linted_rule = rules.setdefault(key, LintedRule(key, rule, checker_number, number, {}))
            linted_rule.number_by_problem[checker_number] = number
    return list(rules.values())


def format_rule_list(rules: Sequence[LintedRule]) -> str:
    """Name rules in a sentence."""
    names = [f"`{linted_rule.rule.name}`" for linted_rule in rules]
    return f"rule {names[0]}" if len(names) == 1 else f"rules {', '.join(names[:-1])} and {names[-1]}"
