"""Lint a specification against a domain and some of its problems (docs/safety-rules.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.specs.lint.example_problems import domain_name
from plansafe.specs.lint.lint_run import LintRun
from plansafe.specs.lint.model import LintFinding, LintOptions, LintResult, OpenQuestion
from plansafe.specs.lint.rule_checks import RuleCheck
from plansafe.specs.lint.rule_set_checks import RuleSetCheck
from plansafe.verifier.api import Checker, Options

EMPTY_PROBLEM_NAME = "<no problem>"
MAX_LABELS = 8
"""Rules that are shown of those that a question was asked about."""


def lint(
    domain: Source,
    problems: Sequence[Source],
    specs: Sequence[Source],
    options: LintOptions = LintOptions(),  # noqa: B008
    resolve: Callable[[str, Source], Source | None] | None = None,
) -> LintResult:
    """What is wrong with the rules of a domain, of problems and of specifications.

    Raises :class:`~plansafe.verifier.symbolic.circuits.solvers.SolverMissing` if no SAT solver is installed (the extra
    ``solve``). The work is bounded by ``options.time_limit_s`` for the formulas, and again for each problem.
    """
    checking = Options(lenient_types=options.lenient_types, replay="never")
    texts = list(problems) or [empty_problem(domain)]
    checkers = [Checker(domain, problem, specs, checking, resolve) for problem in texts]
    diagnostics = tuple(dict.fromkeys([d for checker in checkers for d in checker.diagnostics]))
    sources = {name: source for checker in checkers for name, source in checker.sources.items()}
    sources.pop(EMPTY_PROBLEM_NAME, None)
    if not all([checker.ok for checker in checkers]):
        return LintResult((), (), _explained(diagnostics, bool(problems)), sources, False, problems=len(problems))
    found = LintRun(checkers, bool(problems), options, sources)
    _look(found)
    idle = len([rule for rule in checkers[0].rules if not rule.applicable])
    faults = (*_ordered(found), *_undecided(found))
    return LintResult(
        faults, tuple(found.open_questions), diagnostics, sources, True, len(found.subjects), idle, len(found.given)
    )


def empty_problem(domain: Source) -> Source:
    """A problem of the domain without objects: the rules may name its constants alone."""
    return Source(EMPTY_PROBLEM_NAME, f"(define (problem none) (:domain {domain_name(domain)}) (:init) (:goal (and)))")


def _explained(diagnostics: tuple[Diagnostic, ...], given: bool) -> tuple[Diagnostic, ...]:
    """With advice where a rule names an object, and no problem was given that has it."""
    if given:
        return diagnostics
    return tuple(
        [
            d._replace(help=d.help or "also name the problem that declares this object")
            if d.code == SC.UNKNOWN_OBJECT
            else d
            for d in diagnostics
        ]
    )


def _look(found: LintRun) -> None:
    one, together = RuleCheck(found), RuleSetCheck(found)
    for subject in found.subjects:
        one.look(subject)
    together.any_problem()
    for subject in found.fine:
        one.unchanging(subject)
    together.given_problems()
    _left_out(found)
    one.search_examples()


def _left_out(found: LintRun) -> None:
    """Say of which problems no plans were searched."""
    for n, given in enumerate(found.given):
        if not given.can_search and found.options.search:
            why = "there are durative actions or timed literals"
            if found.checkers[n].open:
                why = "it has unknown facts"
            elif given.engine.limit is not None:
                why = given.engine.limit.message
            found.open_questions.append(
                OpenQuestion("what do its plans do?", None, found.problem(n), f"plans are not searched, because {why}")
            )


def _ordered(found: LintRun) -> list[LintFinding]:
    """Errors first, then in the order of the rules."""
    order = {subject.rule.name: n for n, subject in reversed(list(enumerate(found.subjects)))}
    ranks = list(Severity)
    return sorted(found.findings, key=lambda fault: (ranks.index(fault.severity), order[fault.rules[0]]))


def _undecided(found: LintRun) -> list[LintFinding]:
    """One note for each question that was not decided; rules of which the same was asked share it."""
    alike: dict[tuple[str, str | None, str], list[str]] = {}
    for question in found.open_questions:
        rules = alike.setdefault((question.question, question.problem, question.why), [])
        rules += [] if question.rule is None else [question.rule]
    out = []
    for (asked, problem, why), rules in alike.items():
        subjects = [s for s in found.subjects if s.rule.name in rules][:MAX_LABELS]
        about = "all rules" if not rules else f"rule `{rules[0]}`" if len(rules) == 1 else f"{len(rules)} rules"
        where = f" in {problem}" if problem is not None else ""
        labels = tuple([found.label(s, "not decided" if n == 0 else "", n == 0) for n, s in enumerate(subjects)])
        message = f"not decided for {about}{where}: {asked}"
        out.append(
            LintFinding(SC.UNDECIDED_QUESTION, Severity.NOTE, message, tuple(rules), labels, why, problem=problem)
        )
    return out
