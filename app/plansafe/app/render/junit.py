"""JUnit XML, as the xUnit plugin of Jenkins and GitLab read it: a suite for each plan, a case for each claim about it.

The cases are the verdict, ``executable``, ``goal``, and each rule that had something to check. An undecided
claim is an error, never a pass. An exempt rule is skipped with the reason. The case of the verdict fails if the exit
code is not 0, so that no plan passes here that fails there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.app.render.concise import ConciseRenderer
from plansafe.app.render.excerpt import place
from plansafe.app.session.model import Result
from plansafe.app.system.terminal_text import PLAIN, brief, visible
from plansafe.grammar.diagnostics import Severity
from plansafe.verifier.reporting.report import Finding, FindingClass, Report, RuleCount, Worlds

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="safecheck">\n'
_STEPS = (FindingClass.ILL_FORMED, FindingClass.INEXECUTABLE)
_IDLE = ("never applied", "not applicable")


class _Case(NamedTuple):
    """A claim and its outcome: ``failure``, ``error``, ``skipped``, or empty if it holds."""

    name: str
    outcome: str = ""
    message: str = ""
    lines: tuple[str, ...] = ()


class JunitRenderer:
    """Writes one suite for each result as it comes."""

    def __init__(self) -> None:
        self._concise = ConciseRenderer(PLAIN, show_all=True)
        self._begun = False

    def plan(self, result: Result) -> str:
        """Render one result."""
        cases = [self._verdict(result), *(_claims(result) if result.report.headline is not None else ())]
        if result.marks is not None and not result.exit_code:
            cases = [_skip_known(case, result.marks.file) for case in cases]
        name = _attribute(brief(result.plan))
        counts = {kind: sum([case.outcome == kind for case in cases]) for kind in ("failure", "error", "skipped")}
        attributes = f'failures="{counts["failure"]}" errors="{counts["error"]}" skipped="{counts["skipped"]}"'
        out = [f'  <testsuite name={name} tests="{len(cases)}" {attributes} file={name}>']
        out += [_case_xml(case, name) for case in cases]
        out.append("  </testsuite>\n")
        head = "" if self._begun else _HEAD
        self._begun = True
        return head + "\n".join(out)

    def end(self) -> str:
        """Close the document."""
        return ("" if self._begun else _HEAD) + "</testsuites>\n"

    def _verdict(self, result: Result) -> _Case:
        """The verdict as the exit code reports it, with every diagnostic."""
        verdict_text = visible(self._concise.verdict(result))
        lines = [verdict_text]
        for diagnostic in result.report.diagnostics:
            lines.append(f"{diagnostic.severity.value}[{diagnostic.code}] {brief(diagnostic.message)}")
            lines += [f"help: {brief(diagnostic.help)}"] if diagnostic.help else []
        errors = [d for d in result.report.diagnostics if d.severity is Severity.ERROR]
        message = brief(errors[0].message) if errors else verdict_text
        outcome = {0: "", 1: "failure"}.get(result.exit_code, "error")
        return _Case("verdict", outcome, message, tuple(lines))


def _claims(result: Result) -> Iterator[_Case]:
    report = result.report
    steps = [f for f in report.findings if f.finding_class in _STEPS]
    yield _world_case("executable", report.executable, steps, result)
    unmet = [f for f in report.findings if f.finding_class is FindingClass.UNMET_GOAL]
    yield _world_case("goal", report.goal, unmet, result)
    for rule in [rule for rule in report.rules if rule.status not in _IDLE]:
        finding_numbers = [number for number, finding in enumerate(report.findings) if finding.rule == rule.name]
        case = _rule_case(rule, [report.findings[number] for number in finding_numbers], result)
        marks = result.marks
        all_known = marks is not None and bool(finding_numbers) and marks.known.issuperset(finding_numbers)
        yield _skip_known(case, marks.file) if marks is not None and all_known else case


def _skip_known(case: _Case, file: str) -> _Case:
    """Turn a failure that the baseline knows into a skipped case."""
    if case.outcome != "failure":
        return case
    return case._replace(outcome="skipped", message=f"known: {visible(file)}: {case.message}")


def _world_case(name: str, extent: Worlds, findings: list[Finding], result: Result) -> _Case:
    if extent is Worlds.ALL:
        return _Case(name)
    message = brief(findings[0].message) if findings else f"{name}: {extent.value}"
    return _Case(name, "error" if extent is Worlds.UNKNOWN else "failure", message, _finding_lines(findings, result))


def _rule_case(rule: RuleCount, findings: list[Finding], result: Result) -> _Case:
    """The rule's count shows violations that are counted but not listed (a limit, ``--blame``)."""
    report, name = result.report, f"rule {visible(rule.name)}"
    criteria = report.verdict_basis.criteria
    undecided = [f for f in findings if f.finding_class is FindingClass.UNDECIDED]
    broken = [f for f in findings if f.finding_class is not FindingClass.UNDECIDED and f.decides(criteria)]
    may = criteria.may_decide(rule.name, rule.severity)
    if broken or (rule.status == "violated" and may):
        message = brief(broken[0].message) if broken else f"violated {rule.violations:,} times"
        return _Case(name, "failure", message, _finding_lines(broken, result))
    if undecided or rule.status == "undecided":
        message = brief(undecided[0].message) if undecided else "undecided"
        return _Case(name, "error", message, _finding_lines(undecided, result))
    if rule.status == "exempt" or not may:
        return _Case(name, "skipped", _why(rule, report), _finding_lines(findings, result))
    return _Case(name, lines=_finding_lines(findings, result))


def _why(rule: RuleCount, report: Report) -> str:
    """Why a rule decides nothing here."""
    criteria = report.verdict_basis.criteria
    used = next((e for e in criteria.exemptions if rule.name in e.rules), None)
    if used is not None:
        times = f" ({rule.exempted:,} found)" if rule.exempted else ""
        return f"exempt{times}: {visible(used.reason)} ({visible(used.place)})"
    return f"below {criteria.min_severity}"


def _finding_lines(findings: list[Finding], result: Result) -> tuple[str, ...]:
    lines = []
    for finding in findings:
        where = place(finding.source or result.plan, finding.span, result.sources)
        lines.append(f"{where}: [{finding.code}] {brief(finding.message)}")
        lines += [f"help: {brief(line)}" for line in (finding.help or "").split("\n") if line]
    return tuple(lines)


def _case_xml(case: _Case, suite: str) -> str:
    head = f"    <testcase classname={suite} name={_attribute(case.name)}"
    text = _text("\n".join(case.lines))
    if case.outcome:
        return f"{head}><{case.outcome} message={_attribute(case.message)}>{text}</{case.outcome}></testcase>"
    return f"{head}><system-out>{text}</system-out></testcase>" if text else f"{head}/>"


def _text(text: str) -> str:
    """Text that is visible already, as XML: nothing in it is a control that XML forbids."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(text: str) -> str:
    return '"' + _text(visible(text)).replace('"', "&quot;") + '"'
