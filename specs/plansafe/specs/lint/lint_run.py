"""What the parts of the linter share: the rules, what is known of the domain and the problems, and what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from plansafe.grammar.diagnostics import Label, Severity
from plansafe.grammar.source import Source
from plansafe.specs.lint.budget import Budget
from plansafe.specs.lint.domain_index import DomainIndex
from plansafe.specs.lint.formula_prover import FormulaProver
from plansafe.specs.lint.lint_problem import LintProblem
from plansafe.specs.lint.model import LintFinding, LintOptions, OpenQuestion, Scope
from plansafe.verifier.api import Checker
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.rules.model import Rule

FORMULA_PROOF = "formulas, for every problem of the domain"


class LintedRule(NamedTuple):
    """A rule: its checker and number there, and its number in each problem that has it.

    ``key`` tells it apart over several problems: its kind, its file and its name.
    """

    key: tuple[str, str, str]
    rule: Rule
    base: int
    number: int
    places: dict[int, int]


class LintRun:
    """One run of the linter. ``checkers`` are of the given problems, or there is one without objects.

    ``useless`` are the rules that are never broken or never kept: nothing more is said about them. ``contradicting``
    are the names of rules that were said to contradict each other.
    """

    def __init__(
        self, checkers: Sequence[Checker], given: bool, options: LintOptions, sources: Mapping[str, Source]
    ) -> None:
        self.checkers = checkers
        self.options = options
        self.sources = sources
        self.budget = Budget(options.time_limit_s)
        self.words: list[DomainIndex] = []
        self.formulas: list[FormulaProver] = []
        for checker in checkers:
            words = DomainIndex(checker.engine, checker.compiled.symbols.types, options.lenient_types)
            self.words.append(words)
            self.formulas.append(FormulaProver(words, checker.rules, self.budget))
        self.given = (
            [LintProblem(checker, options.time_limit_s, options.search) for checker in checkers] if given else []
        )
        self.subjects = _subjects(checkers)
        self.findings: list[LintFinding] = []
        self.open_questions: list[OpenQuestion] = []
        self.useless: set[tuple[str, str, str]] = set()
        self.contradicting: list[frozenset[str]] = []

    @property
    def fine(self) -> list[LintedRule]:
        """The rules that can be broken, and kept, as far as is known."""
        return [subject for subject in self.subjects if subject.key not in self.useless]

    def fine_in(self, problem: int) -> dict[int, LintedRule]:
        """Those of them that have an instance in a problem, by their number there."""
        given = self.given[problem]
        places = [(subject.places.get(problem), subject) for subject in self.fine]
        return {number: subject for number, subject in places if number is not None and given.has_instance(number)}

    def label(self, subject: LintedRule, text: str = "", primary: bool = True) -> Label:
        """The place of a rule: its name."""
        at = subject.rule.at
        if at.child is None and len(at.node) > 1 and isinstance(at.node[1], str) and subject.rule.kind != "constraint":
            at = Place(at.node, 1)
        return self.checkers[subject.base].compiled.context.label(at, text, primary)

    def add(
        self,
        code: str,
        severity: Severity,
        message: str,
        subjects: Sequence[LintedRule],
        reason: str,
        proof: str = "",
        scope: Scope = Scope.ANY,
        problem: str | None = None,
        help: str | None = None,
        said: str = "",
        other: Label | None = None,
    ) -> None:
        """Add a finding. ``said`` stands at the first rule; ``other`` is a place that is no rule's."""
        labels = [self.label(s, said if n == 0 else "and this one", n == 0) for n, s in enumerate(subjects)]
        labels += [] if other is None else [other]
        names = tuple([s.rule.name for s in subjects])
        self.findings.append(
            LintFinding(code, severity, message, names, tuple(labels), reason, proof, scope, problem, help)
        )

    def problem(self, number: int) -> str:
        """The name of a given problem."""
        return self.checkers[number].compiled.problem.name


def _subjects(checkers: Sequence[Checker]) -> list[LintedRule]:
    found: dict[tuple[str, str, str], LintedRule] = {}
    for base, checker in enumerate(checkers):
        seen: set[tuple[str, str, str]] = set()
        for number, rule in enumerate(checker.rules):
            if rule.preference or not rule.applicable:
                continue
            key = rule.kind, rule.source, rule.name
            while key in seen:  # two constraints may have one name
                key = key[0], key[1], key[2] + "'"
            seen.add(key)
            found.setdefault(key, LintedRule(key, rule, base, number, {})).places[base] = number
    return list(found.values())


def rule_list_text(subjects: Sequence[LintedRule]) -> str:
    """Rules in words."""
    names = [f"`{s.rule.name}`" for s in subjects]
    return f"rule {names[0]}" if len(names) == 1 else f"rules {', '.join(names[:-1])} and {names[-1]}"
