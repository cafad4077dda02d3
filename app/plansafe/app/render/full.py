"""Reports for people, in the manner of rustc: the step and the rule with carets, the facts that changed, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.app.render.excerpt import excerpt, gutter
from plansafe.app.render.finding_groups import FindingGroup, group_findings, later_findings_text
from plansafe.app.render.folding import (
    baseline_notes,
    coverage_notes,
    first_failed_step,
    hidden_findings_note,
    home_profile_notes,
    nondeciding_notes,
    visible_findings,
)
from plansafe.app.render.table import changing, table_lines
from plansafe.app.session.model import Result
from plansafe.app.system.terminal_text import Style, brief, pad, values, visible
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.verifier.reporting.report import Blame, Finding, FindingClass, Report, Table, UsedExemption

_FEW = 3
"""Number of lines about the input that may precede the findings."""
_NAMES = 6


class FullRenderer:
    """Prints the inputs (when they change), every diagnostic and finding, and a summary."""

    def __init__(self, style: Style, full_state: bool = False, show_all: bool = False) -> None:
        self._style = style
        self._full_state = full_state
        self._show_all = show_all
        self._used: tuple[tuple[str, str], ...] = ()

    def plan(self, result: Result) -> str:
        """Render one result."""
        groups = group_findings(visible_findings(result.report, self._show_all), show_all=self._show_all)
        findings = [self._finding(group.first, result, later=self._later(group, result.report)) for group in groups]
        if self._show_all:
            findings += [
                self._exempt(used, f, result) for used in result.report.verdict_basis.exempted for f in used.findings
            ]
        findings += self._worlds(result.report)
        blocks = [*self.arranged(result, findings), self._summary(result)]
        return "\n\n".join(block for block in blocks if block) + "\n\n"

    def arranged(self, result: Result, finding_blocks: Sequence[str]) -> list[str]:
        """The inputs, the diagnostics about them, and the findings.

        Errors and findings come first; more than a few lines about the input follow them.
        """
        name, *used = self._inputs(result)
        diagnostic_blocks = [
            (d.severity is Severity.ERROR, self.diagnostic(d, result)) for d in result.report.diagnostics
        ]
        wrong = [block for is_error, block in diagnostic_blocks if is_error] + list(finding_blocks)
        notes = [block for is_error, block in diagnostic_blocks if not is_error]
        about = ["\n".join(used), *notes]
        if wrong and 1 + sum([block.count("\n") + 1 for block in about if block]) > _FEW:
            return [name, *wrong, *about]
        return ["\n".join([name, *used]), *(block for _, block in diagnostic_blocks), *finding_blocks]

    def end(self) -> str:
        """Return nothing: each result is complete by itself."""
        return ""

    # -- inputs

    def _inputs(self, result: Result) -> list[str]:
        """Show the plan, and the files that it is checked with unless they are those of the previous plan."""
        used = [i for i in result.inputs if i.role != "plan"]
        key = tuple((i.path, i.how) for i in used)
        lines = [f"{self._style.bold(pad('plan', 14))} {visible(result.plan)}"]
        if key != self._used:
            self._used = key
            alike: dict[tuple[str, str], list[str]] = {}
            for role, path, how in [(i.role, i.path, i.how) for i in used]:
                alike.setdefault((role, how), []).append(path)
            for (role, how), paths in alike.items():
                names = [paths[0], *(_short(path, paths[0]) for path in paths[1:])]
                lines.append(f"{self._style.bold(pad(role, 14))} {visible(', '.join(names))}  ({visible(how)})")
        return lines

    # -- diagnostics and findings

    def diagnostic(self, diagnostic: Diagnostic, result: Result) -> str:
        """Show one diagnostic with its places."""
        style = self._style
        margin = gutter(diagnostic.labels, result.sources)
        lines = [self._title(diagnostic.severity.value, diagnostic.code, diagnostic.message)]
        lines += excerpt(diagnostic.labels, result.sources, margin, style.about(diagnostic.severity.value))
        lines += self._remarks([("note", note) for note in diagnostic.notes] + _help(diagnostic.help), margin)
        return "\n".join(lines)

    def _exempt(self, used: UsedExemption, finding: Finding, result: Result) -> str:
        """Show what an exemption kept from deciding."""
        why = f"exempt: {used.exemption.reason} ({used.exemption.place})"
        return self._finding(finding._replace(notes=(why, *finding.notes)), result, "note")

    def _finding(self, finding: Finding, result: Result, kind: str = "error", later: str = "") -> str:
        style = self._style
        labels = _labels(finding)
        margin = gutter(labels, result.sources)
        kind = "undecided" if finding.finding_class is FindingClass.UNDECIDED else kind
        lines = [self._title(kind, finding.code, finding.message)]
        if finding.span is None:
            stopped = finding.step < result.report.steps
            end = "where the plan stops" if stopped else "at the end of the plan"
            where = end if finding.at_end else "before step 1" if result.report.steps else "in the initial state"
            name = visible(finding.source or result.plan)
            lines.append(f"{' ' * margin}{style.frame('-->')} {name}: {where}")
        lines += excerpt(labels, result.sources, margin, style.about(kind), begun=finding.span is None)
        table = None if finding.table is None else finding.table if self._full_state else changing(finding.table)
        if table is not None and table.columns and table.rows:
            bar = style.frame(" " * margin + " |")
            lines += [bar, *(f"{bar} {row}".rstrip() for row in table_lines(table, style, style.columns - margin - 3))]
        lines += self._remarks(_in_worlds(finding, result.report) + _facts(finding, table), margin)
        if (
            not self._show_all
            and finding is first_failed_step(result.report)
            and any(f.follows for f in result.report.findings)
        ):
            lines += self._remarks([("note", hidden_findings_note(result.report))], margin)
        if later:
            lines += self._remarks([("note", later)], margin)
        if finding.state:
            lines += self._remarks([("state", " ".join(visible(fact) for fact in finding.state))], margin)
        return "\n".join(lines)

    def _later(self, group: FindingGroup, report: Report) -> str:
        """Return the line that counts the later findings of a group, or an empty text."""
        return f"and {later_findings_text(group, complete=not report.suppressed)}: --all" if group.later else ""

    def _title(self, kind: str, code: str, message: str) -> str:
        return self._style.paint_kind(kind, f"{kind}[{code}]") + self._style.bold(f": {brief(message)}")

    def _remarks(self, remarks: Sequence[tuple[str, str]], margin: int) -> list[str]:
        out = []
        for word, text in remarks:
            start = f"{' ' * margin} {self._style.frame('=')} {self._style.bold(word)}: "
            lines = text.split("\n")
            out.append(start + brief(lines[0]))
            out += [" " * (margin + 5 + len(word)) + brief(line) for line in lines[1:]]
        return out

    # -- worlds

    def _worlds(self, report: Report) -> list[str]:
        """Show one world for each way of failing, where more than one is possible."""
        if report.worlds is None:
            return []
        from plansafe.app.render.worlds import heading, lines, scenes  # noqa: PLC0415 - where something is open

        blocks = []
        for scene in scenes(report.worlds):
            scene_lines = [self._style.bold(visible(heading(scene)))]
            scene_lines += [f"  {visible(line)}" for line in lines(scene, report.worlds)]
            blocks.append("\n".join(scene_lines))
        return blocks

    # -- the summary

    def _summary(self, result: Result) -> str:
        report = result.report
        style = self._style
        if report.headline is None:
            errors = sum(1 for d in report.diagnostics if d.severity is Severity.ERROR)
            word = "INTERNAL ERROR" if result.exit_code == 4 else "NOT CHECKED"
            lines = [f"{style.error(word)}   {_count(errors, 'error')}{self._explain(report)}"]
            return "\n".join(lines)
        head = report.headline.value
        hidden = len(report.findings) - len(visible_findings(report, self._show_all))
        findings = len(report.findings) + report.suppressed - hidden
        parts = [_count(findings, "finding") if report.findings else "no findings"]
        parts += [f"{hidden:,} more follow{'s' if hidden == 1 else ''}"] if hidden else []
        parts += [_count(report.steps, "step"), _rules(report)]
        indent = " " * (len(head) + 3)
        worlds = _where(report)
        lines = [f"{style.verdict(head)}   {worlds}{', '.join(parts)}{self._explain(report)}", indent + values(report)]
        lines += [indent + line for line in [*baseline_notes(result), *_summary_notes(report, self._show_all)]]
        return "\n".join(lines)

    def _explain(self, report: Report) -> str:
        worst = sorted(report.diagnostics, key=lambda d: list(Severity).index(d.severity))
        codes = [f.code for f in report.findings] or [d.code for d in worst]
        return "" if not codes else self._style.faint(f"   explain: safecheck --explain {codes[0]}")


def _labels(finding: Finding) -> list[Label]:
    """Put the step first; a related label at the same place replaces it."""
    labels = list(finding.related)
    if finding.source is None or finding.span is None:
        return labels
    for at, label in enumerate(labels):
        if label.source == finding.source and label.span == finding.span:
            return [label._replace(primary=True), *labels[:at], *labels[at + 1 :]]
    step_label = Label(finding.source, finding.span, "")
    return [step_label, *(label._replace(primary=False) for label in labels)]


def _facts(finding: Finding, table: Table | None) -> list[tuple[str, str]]:
    """Collect the lines below the excerpt, without repeating a label or the table."""
    out: list[tuple[str, str]] = []
    label_text = " ".join(label.text for label in finding.related)
    if not all(f"{name} = {value}" in label_text for name, value in finding.binding):
        out.append(("where", ", ".join(f"{name} = {value}" for name, value in finding.binding)))
    hazard = _hazard(finding)
    if hazard:
        out.append(("hazard", hazard))
    if finding.rationale:
        out.append(("why", finding.rationale))
    if finding.rationale_source:
        out.append(("source", finding.rationale_source))
    if finding.blame is not None and finding.blame.value != "introduced":
        touched = ", and touched by it" if finding.blame is Blame.WORSENED else ""
        out.append(("blame", f"{finding.blame.value}: there before the plan began{touched}"))
    if finding.readings != ("halt",) and finding.readings:
        out.append(("readings", ", ".join(finding.readings)))
    columns = tuple(f"`{column}` is " for column in table.columns) if table is not None else ()
    out += [("note", note) for note in finding.notes if not note.startswith(columns)]
    return out + _help(finding.help)


def _in_worlds(finding: Finding, report: Report) -> list[tuple[str, str]]:
    if finding.worlds is None or report.worlds is None:
        return []
    from plansafe.app.render.worlds import of_finding  # noqa: PLC0415 - where something is open

    worlds_text = of_finding(finding, report.worlds)
    return [("worlds", worlds_text)] if worlds_text else []


def _where(report: Report) -> str:
    if report.worlds is None:
        return ""
    from plansafe.app.render.worlds import where  # noqa: PLC0415 - where something is open

    worlds_text = where(report)
    return worlds_text and f"{worlds_text}: "


def _hazard(finding: Finding) -> str:
    parts = [finding.hazard] if finding.hazard else []
    if finding.targets:
        parts.append("harms " + _enumerate(finding.targets))
    if parts and finding.severity:
        parts.append(finding.severity)
    return ", ".join(parts)


def _short(path: str, first: str) -> str:
    """Leave the folder out if it is the folder of the first path."""
    folder, _, name = path.rpartition("/")
    return name if folder and folder == first.rpartition("/")[0] else path


def _enumerate(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _help(text: str | None) -> list[tuple[str, str]]:
    return [("help", text)] if text else []


def _rules(report: Report) -> str:
    if not report.rules:
        return "no rules"
    instances = sum(rule.instances for rule in report.rules)
    return f"{_count(len(report.rules), 'rule')} with {_count(instances, 'instance')}"


def _summary_notes(report: Report, show_all: bool) -> list[str]:
    """List what a reader must not miss: rules that checked nothing, limits, assumptions, other readings."""
    out = [*nondeciding_notes(report), *home_profile_notes(report), *coverage_notes(report)]
    worlds = ""
    if report.worlds is not None:
        from plansafe.app.render.worlds import first_world  # noqa: PLC0415 - where something is open

        worlds = first_world(report.worlds)
    unexplained = ("not applicable",) if report.coverage is None else ()  # the coverage says more
    for status in ("never applied", *unexplained, "undecided"):
        names = [rule.name for rule in report.rules if rule.status == status]
        if names:
            out.append(f"{_count(len(names), 'rule')} {status}: {_few(names)}")
    if len(report.readings) > 1:
        out += [
            f"reading {pad(r.name, 5)} {_count(r.executed, 'step')} executed, goal {r.goal.value}"
            + (f", safe {r.safe.value}" if report.has_applicable_rules else "")
            + worlds
            for r in report.readings
        ]
    if report.suppressed:
        out.append(f"{_count(report.suppressed, 'finding')} not listed (--max-findings)")
    unreplayed = sum(1 for f in visible_findings(report, show_all) if f.replayed is None)
    if unreplayed:
        out.append(f"not independently replayed: {_count(unreplayed, 'finding')}")
    if report.limits:
        out.append("limits reached: " + ", ".join(report.limits))
    if report.metric is not None:
        out.append(f"metric: {report.metric}")
    if report.preferences_violated:
        violated = ", ".join(f"{name} ({n})" for name, n in report.preferences_violated)
        out.append(f"preferences violated: {violated}{worlds}")
    out += [f"assumed: {a}" for a in report.assumptions]
    if report.worlds is not None:
        from plansafe.app.render.worlds import notes  # noqa: PLC0415 - where something is open

        out = [*notes(report), *out]
    return [visible(line) for line in out]


def _few(names: Sequence[str]) -> str:
    more = len(names) - _NAMES
    return ", ".join(names[:_NAMES]) + (f", and {more} more (all with --format json)" if more > 0 else "")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
