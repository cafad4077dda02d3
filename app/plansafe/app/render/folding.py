"""Fold the findings that follow from a failed step into a count, and write the notes of the summary.

See docs/language.md, section 6.
"""

from __future__ import annotations

from plansafe.app.session.model import Result
from plansafe.app.system.terminal_text import visible
from plansafe.verifier.reporting.report import Finding, FindingClass, NotApplicableGroup, Report
from plansafe.verifier.rules.verdict_criteria import Exemption

_NAMES = 3
_CLASSES = 12
_LONG = 200
_FAILED = (FindingClass.ILL_FORMED, FindingClass.INEXECUTABLE)


def visible_findings(report: Report, show_all: bool) -> tuple[Finding, ...]:
    """The findings that are shown: all of them also where no cause is listed."""
    if show_all or first_failed_step(report) is None:
        return report.findings
    return tuple([f for f in report.findings if not f.follows])


def nondeciding_notes(report: Report) -> list[str]:
    """Notes on findings that do not decide the verdict, each with the option that makes them decide."""
    criteria, before, minor, exempted = report.verdict_basis
    out = []
    if before:
        out.append(f"the scene already had {before:,} hazard{'' if before == 1 else 's'}: --judge all")
    elif criteria.ignores_preexisting and report.worlds is not None:
        out.append("what the scene already had decides nothing, in any world: --judge all")
    if minor:
        are = "1 finding is" if minor == 1 else f"{minor:,} findings are"
        out.append(
            f"{are} below `{criteria.min_severity}`, and decide{'s' if minor == 1 else ''} nothing: --min-severity low"
        )
    for used in exempted:
        exemption = used.exemption
        findings = "1 finding" if used.times == 1 else f"{used.times:,} findings"
        rules = list(dict.fromkeys([finding.rule or "" for finding in used.findings]))
        names = ", ".join(rules[:_NAMES]) + (f" and {len(rules) - _NAMES} more rules" if len(rules) > _NAMES else "")
        out.append(f"exempt: {findings} of {names}: {visible(exemption.reason)} ({visible(exemption.place)})")
    if report.worlds is not None:
        counted = {used.exemption for used in exempted}
        out += [
            f"exempt in every world: {_exemption_text(unmatched)}"
            for unmatched in criteria.exemptions
            if unmatched not in counted
        ]
    return out


def _exemption_text(exemption: Exemption) -> str:
    """The rules that an exemption is about, and why: over many worlds its findings are not counted."""
    rules = sorted(exemption.rules)
    names = ", ".join(rules[:_NAMES]) + (f" and {len(rules) - _NAMES} more rules" if len(rules) > _NAMES else "")
    return f"{names}: {visible(exemption.reason)} ({visible(exemption.place)})"


def baseline_notes(result: Result) -> list[str]:
    """What a baseline says of a plan, each kind on a line."""
    marks = result.marks
    if marks is None:
        return []
    name = f"baseline {visible(marks.file)}"
    out = []
    if marks.known or marks.new:
        out.append(f"{name}: {len(marks.known):,} known, {marks.new:,} new")
        if not marks.new and marks.exit_code:
            out.append(f"{name}: not all findings are listed or decided, so the plan fails all the same")
    gone = (marks.gone or ())[:_NAMES]
    out += [f"{name}: gone: {visible(entry.rule)}: {visible(entry.message[:_LONG])}" for entry in gone]
    if marks.gone and len(marks.gone) > _NAMES:
        out.append(f"{name}: {len(marks.gone) - _NAMES:,} more are gone")
    return out


def home_profile_notes(report: Report) -> list[str]:
    """What the profile of a home changed in the rules, each reason on a line."""
    if report.home is None:
        return []
    alike: dict[tuple[bool, str, str], list[str]] = {}
    for change in report.home.changes:
        off = change.after == "off"
        change_text = change.rule if off else f"{change.rule} ({change.after}, not {change.before})"
        alike.setdefault((off, change.reason, change.place), []).append(change_text)
    out = []
    for (off, reason, place), rules in alike.items():
        summary = f"{len(rules):,} rule{'' if len(rules) == 1 else 's'} {'off' if off else 'of another severity'}"
        more = f", and {len(rules) - _NAMES} more" if len(rules) > _NAMES else ""
        out.append(f"{summary}: {', '.join(rules[:_NAMES])}{more}: {reason} ({place})")
    return out


def coverage_notes(report: Report) -> list[str]:
    """What the rules see of the task: how many can apply, which objects have no known kind, which kinds were given."""
    summary = report.coverage
    if summary is None:
        return []
    lines = []
    cannot = sum([len(group.rules) for group in summary.not_applicable])
    if cannot:
        groups = [f"{group.reason} ({_rules(group)})" for group in summary.not_applicable[:_NAMES]]
        hidden = len(summary.not_applicable) - len(groups)
        groups += [f"{hidden} more reasons, all with --format json"] if hidden > 0 else []
        can = f"{summary.applicable} of {summary.applicable + cannot} rules can apply here"
        lines.append(f"{can}; {cannot} cannot: {'; '.join(groups)}")
    for used, where in ((True, "used by the plan"), (False, "not used")):
        names = [entry.name for entry in summary.unclassified if entry.used == used]
        more = f", and {len(names) - _CLASSES} more" if len(names) > _CLASSES else ""
        if names:
            lines.append(f"no known kind ({where}): {', '.join(names[:_CLASSES])}{more}")
    for entry in summary.given_kinds:
        why = f": {entry.reason}" if entry.reason else ""
        text = f"{entry.name} is {', '.join(entry.kinds)}" if entry.kinds else f"{entry.name} is assumed to be harmless"
        lines.append(f"{text}{why} ({entry.place})")
    return [visible(line) for line in lines]


def _rules(group: NotApplicableGroup) -> str:
    """The rules of a group, or how many there are."""
    return ", ".join(group.rules) if len(group.rules) < _NAMES else f"{len(group.rules):,} rules"


def first_failed_step(report: Report) -> Finding | None:
    """The first failed step; later findings are counted under it."""
    return next((f for f in report.findings if f.finding_class in _FAILED and not f.follows), None)


def hidden_findings_note(report: Report) -> str:
    """Count the hidden findings: ``3 more follow where the plan stops, 2 if the step is skipped: --all``."""
    hidden = [f for f in report.findings if f.follows]
    steps = {step for finding in hidden for step in finding.follows}
    subject = "the step is" if len(steps) == 1 else "the failed steps are"
    texts = {"halt": "where the plan stops", "skip": f"if {subject} skipped", "force": f"if {subject} forced"}
    counts = [(sum([f.readings[0] == reading for f in hidden]), text) for reading, text in texts.items()]
    parts = [f"{number} {text}" for number, text in counts if number]
    first, _, remainder = ", ".join(parts).partition(" ")
    return f"{first} more follow{'s' if first == '1' else ''} {remainder}: --all"
