"""Text in, report out: what the tests of the engine share."""

from __future__ import annotations

from collections.abc import Mapping

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Report


def domain(*sections: str, types: str = "thing - object", predicates: str = "", functions: str = "") -> str:
    """A domain ``d``."""
    return (
        f"(define (domain d) (:types {types}) (:predicates {predicates}) (:functions {functions}) "
        + "\n".join(sections)
        + ")"
    )


def problem(*sections: str, objects: str = "", init: str = "", goal: str = "()") -> str:
    """A problem of the domain ``d``."""
    return f"(define (problem p) (:domain d) (:objects {objects}) (:init {init}) (:goal {goal}) {' '.join(sections)})"


def safety(*sections: str, name: str = "s") -> str:
    """A safety specification."""
    return f"(define (safety {name}) " + "\n".join(sections) + ")"


def checker(
    domain_text: str,
    problem_text: str,
    *specs: str,
    options: Options | None = None,
    files: Mapping[str, str] | None = None,
) -> Checker:
    """A checker for texts. ``files`` are the specifications that others may extend."""
    specifications = {name: Source(name, text) for name, text in (files or {}).items()}
    return Checker(
        Source("domain", domain_text),
        Source("problem", problem_text),
        [Source("spec" if n == 0 else f"spec{n + 1}", text) for n, text in enumerate(specs)],
        options,
        lambda name, _extending: specifications.get(name),
    )


def judge(checked: Checker, plan: str) -> Report:
    """The report on a plan; the task must be free of errors."""
    assert checked.ok, checked.diagnostics
    return checked.check(Source("plan", plan))


def check(
    domain_text: str,
    problem_text: str,
    plan: str,
    *specs: str,
    options: Options | None = None,
    files: Mapping[str, str] | None = None,
) -> Report:
    """The report on a plan for a task and specifications that are free of errors."""
    return judge(checker(domain_text, problem_text, *specs, options=options, files=files), plan)


def verdict(report: Report) -> str:
    """The headline and the findings in one line: ``INVALID SC301@2`` or ``UNSAFE r(?x=a)@1 r(?x=b)@end``."""
    assert report.headline is not None, report.diagnostics
    words = [report.headline.value]
    for finding in report.findings:
        where = "end" if finding.at_end else str(finding.step)
        binding = ",".join(f"{variable}={value}" for variable, value in finding.binding)
        name = finding.code if finding.rule is None else finding.rule + (f"({binding})" if binding else "")
        words.append(f"{name}@{where}")
    return " ".join(words)
