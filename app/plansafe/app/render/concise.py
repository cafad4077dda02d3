"""A line for each violated rule, ``file:line:column: ..``, which editors and grep understand, and for each plan."""

from __future__ import annotations

from plansafe.app.render.excerpt import place
from plansafe.app.render.finding_groups import group_findings, later_findings_text
from plansafe.app.render.folding import baseline_notes, nondeciding_notes, visible_findings
from plansafe.app.session.model import Result
from plansafe.app.system.terminal_text import Style, brief, not_checked, visible
from plansafe.grammar.diagnostics import Severity
from plansafe.verifier.reporting.report import FindingClass, Worlds


class ConciseRenderer:
    """Prints ``place: kind[code] message`` lines, then the verdict."""

    def __init__(self, style: Style, show_all: bool = False) -> None:
        self._style = style
        self._show_all = show_all

    def plan(self, result: Result) -> str:
        """Render one result."""
        report = result.report
        name = visible(result.plan)
        out = []
        for diagnostic in report.diagnostics:
            label = diagnostic.labels[0] if diagnostic.labels else None
            where = place(label.source, label.span, result.sources) if label else name
            kind = self._style.paint_kind(diagnostic.severity.value, f"{diagnostic.severity.value}[{diagnostic.code}]")
            out.append(f"{self._style.bold(where)}: {kind} {brief(diagnostic.message)}")
        for group in group_findings(visible_findings(report, self._show_all), show_all=self._show_all):
            finding = group.first
            where = place(finding.source or result.plan, finding.span, result.sources)
            kind = "undecided" if finding.finding_class is FindingClass.UNDECIDED else "error"
            remarks = [finding.blame.value] if finding.blame is not None else []
            if finding.worlds is not None:
                remarks.append("in every world" if finding.worlds is Worlds.ALL else "in some worlds")
            if group.later:
                remarks.append(f"{brief(later_findings_text(group, complete=not report.suppressed))}: --all")
            remark = f" ({', '.join(remarks)})" if remarks else ""
            kind = self._style.paint_kind(kind, f"{kind}[{finding.code}]")
            out.append(f"{self._style.bold(where)}: {kind} {brief(finding.message)}{remark}")
        out.append(f"{self._style.bold(name)}: {self.verdict(result)}")
        return "\n".join(out) + "\n"

    def verdict(self, result: Result) -> str:
        """The verdict with its counts and the notes that a reader must not miss."""
        report = result.report
        if report.headline is None:
            errors = sum(1 for d in report.diagnostics if d.severity is Severity.ERROR)
            word = "INTERNAL ERROR" if result.exit_code == 4 else "NOT CHECKED"
            return f"{self._style.error(word)} ({errors} error{'' if errors == 1 else 's'})"
        head = self._style.verdict(report.headline.value)
        unused = sum(1 for rule in report.rules if rule.status in ("never applied", "not applicable"))
        hidden = len(report.findings) - len(visible_findings(report, self._show_all))
        counts = [_count(len(report.findings) + report.suppressed - hidden, "finding")]
        counts += [f"{hidden} more follow{'s' if hidden == 1 else ''}: --all"] if hidden else []
        counts.append(_count(report.steps, "step"))
        counts.append(not_checked(report) if report.safety is None else _count(len(report.rules), "rule"))
        counts += [f"{unused} of them idle"] if unused else []
        text = f"({', '.join([*counts, *nondeciding_notes(report), *baseline_notes(result)])}"
        if report.worlds is None:
            return f"{head} {text})"
        from plansafe.app.render.worlds import asking, where  # noqa: PLC0415 - where something is open

        worlds, questions = where(report), visible(asking(report.worlds))
        return f"{head}{worlds and f' {worlds}'} {text}{questions and f'; worth asking: {questions}'})"

    def end(self) -> str:
        """Return nothing: each result is complete by itself."""
        return ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
