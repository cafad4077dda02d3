"""Lint a specification against a domain and some of its problems (docs/safety-rules.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.specs.lint.example_problems import find_domain_name
from plansafe.specs.lint.lint_run import LintRun
from plansafe.specs.lint.model import LintFinding, LintOptions, LintResult, OpenQuestion
from plansafe.specs.lint.rule_checks import RuleCheck
from plansafe.specs.lint.rule_set_checks import RuleSetCheck
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.one_world import make_continuous_refusal

EMPTY_PROBLEM_NAME = "<no problem>"
MAX_LABELS = 8
"""Maximum number of labelled rules of an undecided question."""


def lint(
    domain: Source,
    problems: Sequence[Source],
    specs: Sequence[Source],
    options: LintOptions = LintOptions(),  # noqa: B008
    resolve: Callable[[str, Source], Source | None] | None = None,
) -> LintResult:
    """Find the mistakes in the rules of a domain, of problems and of specifications.

    Raises :class:`~plansafe.verifier.symbolic.circuits.solvers.SolverMissing` if no SAT solver is installed (the extra
    ``solve``). The work is bounded by ``options.time_limit_s`` for the formulas, and again for each problem.
    """
    checker_options = Options(lenient_types=options.lenient_types, replay="never")
    problem_sources = list(problems) or [make_empty_problem(domain)]
    checkers = [Checker(domain, problem, specs, checker_options, resolve) for problem in problem_sources]
    diagnostics = tuple(dict.fromkeys([diagnostic for checker in checkers for diagnostic in checker.diagnostics]))
    sources = {name: source for checker in checkers for name, source in checker.sources.items()}
    sources.pop(EMPTY_PROBLEM_NAME, None)
    if not all([checker.ok for checker in checkers]):
        if not problems:
            diagnostics = tuple([_add_problem_help(diagnostic) for diagnostic in diagnostics])
        return LintResult((), (), diagnostics, sources, usable=False, problems=len(problems))
    if checkers[0].engine.task.is_continuous:  # the checks know only changes by steps
        refusal = make_continuous_refusal("the linter")._replace(severity=Severity.ERROR)
        return LintResult((), (), (*diagnostics, refusal), sources, usable=False, problems=len(problems))
    run = LintRun(checkers, bool(problems), options, sources)
    _run_checks(run)
    findings = (*_sort_findings(run), *_make_undecided_findings(run))
    not_applicable = len([rule for rule in checkers[0].rules if not rule.applicable])
    return LintResult(
        findings,
        tuple(run.open_questions),
        diagnostics,
        sources,
        usable=True,
        rules=len(run.rules),
        not_applicable=not_applicable,
        problems=len(run.problems),
    )


def make_empty_problem(domain: Source) -> Source:
    """Make a problem of the domain without objects: the rules may name only the constants of the domain."""
    text = f"(define (problem none) (:domain {find_domain_name(domain)}) (:init) (:goal (and)))"
    return Source(EMPTY_PROBLEM_NAME, text)


def _add_problem_help(diagnostic: Diagnostic) -> Diagnostic:
    """Add a help line if a rule names an object (no problem was given)."""
    if diagnostic.code != SC.UNKNOWN_OBJECT:
        return diagnostic
    return diagnostic._replace(help=diagnostic.help or "also name the problem that declares this object")


def _run_checks(run: LintRun) -> None:
    rule_check, rule_set_check = RuleCheck(run), RuleSetCheck(run)
    for linted_rule in run.rules:
        rule_check.check(linted_rule)
    rule_set_check.check_by_formulas()
    for linted_rule in run.useful_rules:
        rule_check.check_influence(linted_rule)
    rule_set_check.check_in_problems()
    _report_unsearched_problems(run)
    rule_check.search_examples()


def _report_unsearched_problems(run: LintRun) -> None:
    """Add an open question for each problem whose plans were not searched."""
    for number, problem in enumerate(run.problems):
        if not problem.can_search and run.options.search:
            cause = "there are durative actions or timed literals"
            if run.checkers[number].is_open:
                cause = "it has unknown facts"
            elif problem.engine.limit is not None:
                cause = problem.engine.limit.message
            reason = f"plans are not searched, because {cause}"
            run.open_questions.append(OpenQuestion("what do its plans do?", None, run.get_problem_name(number), reason))


def _sort_findings(run: LintRun) -> list[LintFinding]:
    """Sort the findings: errors first, then in the order of the rules."""
    number_by_rule = {linted_rule.rule.name: number for number, linted_rule in reversed(list(enumerate(run.rules)))}
    ranks = list(Severity)
    return sorted(run.findings, key=lambda finding: (ranks.index(finding.severity), number_by_rule[finding.rules[0]]))


def _make_undecided_findings(run: LintRun) -> list[LintFinding]:
    """Make a note for each undecided question; rules with the same question share a note."""
    names_by_question: dict[tuple[str, str | None, str], list[str]] = {}
    for question in run.open_questions:
        names = names_by_question.setdefault((question.question, question.problem, question.why), [])
        names += [] if question.rule is None else [question.rule]
    findings = []
    for (question_text, problem, reason), names in names_by_question.items():
        rules = [linted_rule for linted_rule in run.rules if linted_rule.rule.name in names][:MAX_LABELS]
        about = "all rules" if not names else f"rule `{names[0]}`" if len(names) == 1 else f"{len(names)} rules"
        where = f" in {problem}" if problem is not None else ""
        labels = tuple([run.make_label(rule, "not decided" if n == 0 else "", n == 0) for n, rule in enumerate(rules)])
        message = f"not decided for {about}{where}: {question_text}"
        finding = LintFinding(SC.UNDECIDED_QUESTION, Severity.NOTE, message, reason, problem=problem)
        findings.append(finding._replace(rules=tuple(names), labels=labels))
    return findings
