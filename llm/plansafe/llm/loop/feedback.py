"""The feedback on a model's plan: a template for each kind of finding, filled from the report.

A finding that only follows from a failed step is left out: the model should fix the first cause. All texts are bounded,
since names in them are the model's own.

The repairs of a run's proposals: each is searched for once, though feedback and the last resort both ask for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.llm.loop.model import PLAN, Style
from plansafe.verifier.api import Checker
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import Edit, EditKind, RepairOptions, RepairResult
from plansafe.verifier.reporting.report import Finding, FindingClass, Report

MOST_FINDINGS = 8
LONGEST_TEXT = 300
AGAIN = "Write the whole plan again, corrected: one step a line and nothing else."
_UNREAD = "No plan could be read in your answer"
_FORM = "Write the plan alone, one step a line, each as (action argument ..), with names of the home."


def unread(style: Style, refused: Sequence[Diagnostic], answer: str) -> str:
    """Of an answer in which no plan was read: why, and in which line."""
    match style:
        case Style.NONE:
            return ""
        case Style.VERDICT:
            return f"{_UNREAD}. {AGAIN}"
        case Style.FINDING | Style.CAUSE | Style.REPAIR:
            errors = [diagnostic for diagnostic in refused if diagnostic.severity is Severity.ERROR] or list(refused)
            lines = [
                f"- {_line(diagnostic, answer)}{_sentence(diagnostic.message)}{_help(diagnostic.help)}"
                for diagnostic in errors[:MOST_FINDINGS]
            ]
            return "\n".join([f"{_UNREAD}:", *lines, *_more(len(errors)), _FORM])
        case unexpected:
            assert_never(unexpected)


def of_report(
    style: Style, checker: Checker, plan: Source, report: Report, steps: Sequence[str], repairs: Repairs
) -> str:
    """The findings about a plan that is not safe, in the order of its steps."""
    if style is Style.NONE:
        return ""
    verdict = f"The plan is {report.headline.value if report.headline else 'not a plan of this home'}"
    if style is Style.VERDICT:
        return f"{verdict}. {AGAIN}"
    firsts = [finding for finding in report.findings if not finding.follows]
    texts = dict.fromkeys(
        _findings(style, checker, plan, firsts[:MOST_FINDINGS], steps)
    )  # two readings, the same words
    lines = [f"- {line}" for line in texts]
    if not firsts:
        errors = [diagnostic for diagnostic in report.diagnostics if diagnostic.severity is Severity.ERROR] or list(
            report.diagnostics
        )
        lines = [f"- {_sentence(diagnostic.message)}{_help(diagnostic.help)}" for diagnostic in errors[:MOST_FINDINGS]]
        if any([diagnostic.code == SC.REMARK_NOT_UNDERSTOOD for diagnostic in errors]):
            lines = [*[f"- {_sentence(diagnostic.message)}" for diagnostic in errors[:MOST_FINDINGS]], _FORM]
    lines += _more(len(firsts))
    if style is Style.REPAIR:
        lines += _edits(repairs, plan)
    return "\n".join([f"{verdict}:", *lines, AGAIN])


def _findings(
    style: Style, checker: Checker, plan: Source, findings: Sequence[Finding], steps: Sequence[str]
) -> Iterator[str]:
    for finding in findings:
        cause = _cause(checker, plan, finding) if style in (Style.CAUSE, Style.REPAIR) else ""
        yield template(finding, steps) + cause


def template(finding: Finding, steps: Sequence[str]) -> str:
    """A finding in words: where, what, why, and what helps."""
    at = f"Step {finding.step}, {_text(steps[finding.step - 1])}" if 0 < finding.step <= len(steps) else "The start"
    where = "At the end" if finding.at_end else at
    notes = "".join([f" {_sentence(note[:1].upper() + note[1:])}" for note in finding.notes[:3]])
    help = _help(finding.help)
    match finding.finding_class:
        case FindingClass.ILL_FORMED:
            return f"{at}, is no step of this home: {_sentence(_without_place(finding.message))}{notes}{help}"
        case FindingClass.INEXECUTABLE:
            return f"{at}, cannot be taken: {_sentence(_without_place(finding.message))}{notes}{help}"
        case FindingClass.UNMET_GOAL:
            return f"At the end the goal is not reached:{notes or ' ' + _sentence(finding.message)}{help}"
        case FindingClass.UNDECIDED:
            return (
                f"{where}, it could not be decided whether the plan is safe: {_sentence(finding.message)}{notes}{help}"
            )
        case (
            FindingClass.PROCESS
            | FindingClass.TRAJECTORY
            | FindingClass.TERMINATION
            | FindingClass.OBLIGATION
            | FindingClass.CONSTRAINT
        ):
            rule = f"the rule {_text(finding.rule)}" if finding.rule else "a rule"
            why = f" Why: {_sentence(finding.rationale)}" if finding.rationale else ""
            return f"{where}, {rule} is broken: {_sentence(_without_place(finding.message))}{why}{help}"
        case unexpected:
            assert_never(unexpected)


def _cause(checker: Checker, plan: Source, finding: Finding) -> str:
    """The minimal cause, where it says more than the finding itself."""
    from plansafe.verifier.diagnose.minimal_cause import find_minimal_cause  # noqa: PLC0415 - for these styles alone
    from plansafe.verifier.execution.purpose import NotCovered  # noqa: PLC0415

    if finding.finding_class is FindingClass.ILL_FORMED:
        return ""
    try:
        return f" Cause: {_sentence(find_minimal_cause(checker, plan, finding).text)}"
    except NotCovered:
        return ""


def _edits(repairs: Repairs, plan: Source) -> list[str]:
    """The nearest safe plan as changes of this one."""
    repair = repairs.of(plan.text)
    if not repair.repairs:
        return ["No safe plan near this one was found: write another."]
    return ["These changes make it safe:", *[f"- {edit_text(edit)}" for edit in repair.repairs[0].edits]]


def edit_text(edit: Edit) -> str:
    """An edit as an instruction, with its reason."""
    why = f": {_text(edit.reason)}" if edit.reason else ""
    match edit.kind:
        case EditKind.INSERT:
            return f"insert {edit.after} as new step {edit.position}{why}"
        case EditKind.MOVE:
            return f"move step {edit.step}, {_text(edit.before)}, to be new step {edit.position}{why}"
        case EditKind.SUBSTITUTE | EditKind.REPLACE:
            return f"replace step {edit.step}, {_text(edit.before)}, by {edit.after}{why}"
        case EditKind.DELETE:
            return f"delete step {edit.step}, {_text(edit.before)}{why}"
        case unexpected:
            assert_never(unexpected)


def said_of(diagnostic: Diagnostic) -> str:
    """The error and its help, on one line of bounded length."""
    return f"{_sentence(diagnostic.message)}{_help(diagnostic.help)}"


def _without_place(message: str) -> str:
    """A message without its place, which the template has already."""
    head, colon, text = message.partition(": ")
    return text if colon and ("step " in head or "rule " in head) else message


def _line(diagnostic: Diagnostic, answer: str) -> str:
    label = next(iter(diagnostic.labels), None)
    return "" if label is None or not answer else f"line {answer.count(chr(10), 0, label.span.start) + 1}: "


def _more(count: int) -> list[str]:
    return [f"- and {count - MOST_FINDINGS} more"] if count > MOST_FINDINGS else []


def _help(text: str | None) -> str:
    return f" Help: {_sentence(text)}" if text else ""


def _sentence(text: str) -> str:
    sentence = _text(text)
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def _text(text: str) -> str:
    """On one line, without marks of Markdown, and of bounded length."""
    words = " ".join(text.replace("`", "").split())
    return words if len(words) <= LONGEST_TEXT else f"{words[:LONGEST_TEXT]}.."


class Repairs:
    """Searches by the options of the run; plans are identified by their text."""

    def __init__(self, checker: Checker, options: RepairOptions) -> None:
        self._checker = checker
        self._options = options
        self._known: dict[str, RepairResult] = {}

    def of(self, plan: str) -> RepairResult:
        """What the search found for a plan."""
        if plan not in self._known:
            self._known[plan] = repair(self._checker, Source(PLAN, plan), self._options)
        return self._known[plan]
