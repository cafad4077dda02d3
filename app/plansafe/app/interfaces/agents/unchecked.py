"""What an audit did not check, did not understand or assumed, as short sentences for an agent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plansafe.app.render.folding import visible_findings
from plansafe.app.system.terminal_text import not_checked
from plansafe.grammar.diagnostics import Severity
from plansafe.verifier.reporting.report import Coverage, Report, Worlds

_FEW = 3


def unchecked_notes(report: Report) -> list[str]:
    """Return a sentence for each kind of thing that was not checked or not understood; empty if there is none.

    The number of sentences is bounded. Each begins with its number or its kind, so that it can be cut at the end.
    """
    if report.headline is None:
        return ["the plan was not checked: see `diagnostics`"]
    values = (("executable", report.executable), ("goal", report.goal), ("safe", report.safe))
    undecided = [name for name, value in values if value is Worlds.UNKNOWN]
    undecided_rules = [rule.name for rule in report.rules if rule.status == "undecided"]
    notes = [
        not_checked(report) if report.safety is None else "",
        f"not decided: {', '.join(undecided)}" if undecided else "",
        f"limits reached: {_listed(report.limits)}" if report.limits else "",
        f"{_count(len(undecided_rules), 'undecided rule')}: {_listed(undecided_rules)}" if undecided_rules else "",
        *(_coverage_notes(report.coverage) if report.coverage is not None else ()),
        *_nondeciding_notes(report),
        f"{_count(report.suppressed, 'finding')} beyond the limit of `max_findings`" if report.suppressed else "",
        *_finding_notes(report),
        *_worlds_notes(report),
    ]
    cautions = sum([diagnostic.severity is Severity.NOTE for diagnostic in report.diagnostics])
    notes.append(f"{_count(cautions, 'note')} on how the texts were read: part `diagnostics`" if cautions else "")
    return [note for note in notes if note]


def assumptions(report: Report) -> list[str]:
    """Return what the verdict assumes."""
    coverage = report.coverage
    harmless = [] if coverage is None else [entry.name for entry in coverage.given_kinds if not entry.kinds]
    return [*report.assumptions, *([f"harmless: {_listed(harmless)}"] if harmless else [])]


def _coverage_notes(coverage: Coverage) -> list[str]:
    notes = []
    count = sum([len(group.rules) for group in coverage.not_applicable])
    if count:
        reasons = [group.reason for group in coverage.not_applicable]
        notes.append(f"{_count(count, 'rule')} cannot apply: {_listed(reasons, '; ')}")
    for is_used, place in ((True, "used by the plan"), (False, "not used")):
        classes = [entry for entry in coverage.unclassified if entry.used == is_used]
        if not classes:
            continue
        rules = dict.fromkeys([violation.rule for entry in classes for violation in entry.possible_violations])
        danger = f"; with some kinds they break: {_listed(list(rules))}" if rules else ""
        names = [entry.name for entry in classes]
        notes.append(
            f"{_count(len(names), 'class')} of objects without a known kind, {place}: {_listed(names)}{danger}"
        )
    return notes


def _nondeciding_notes(report: Report) -> list[str]:
    basis = report.verdict_basis
    exempt = sum([used.times for used in basis.exempted])
    before = f"{_count(basis.before, 'finding')} not caused by the plan, without effect on the verdict (`judge`)"
    minor = f"{_count(basis.minor, 'finding')} below `min_severity`, without effect on the verdict"
    reasons = _listed([f"{used.exemption.description}: {used.exemption.reason}" for used in basis.exempted], "; ")
    switched_off = [] if report.home is None else [change.rule for change in report.home.changes]
    home = f"the home profile changes {_count(len(switched_off), 'rule')}: {_listed(switched_off)}"
    preferences = sum([count for _, count in report.preferences_violated])
    return [
        before if basis.before else "",
        minor if basis.minor else "",
        f"{_count(exempt, 'finding')} exempt by the home profile: {reasons}" if exempt else "",
        home if switched_off else "",
        f"{_count(preferences, 'preference')} violated" if preferences else "",
    ]


def _finding_notes(report: Report) -> list[str]:
    visible = visible_findings(report, False)
    following = len(report.findings) - len(visible)
    unconfirmed = sum([finding.replayed is None for finding in visible])
    proposed = dict.fromkeys([f"{p.object} is {p.kind}" for finding in visible for p in finding.proposals])
    return [
        f"{_count(following, 'finding')} after the failed step: part `findings`" if following else "",
        f"{_count(unconfirmed, 'finding')} not confirmed by the replay kernel" if unconfirmed else "",
        f"{'the verdict' if report.rests_on_proposals else 'a finding'} rests on unconfirmed kinds: "
        f"{_listed(list(proposed))}"
        if proposed
        else "",
    ]


def _worlds_notes(report: Report) -> list[str]:
    if report.worlds is None:
        return []
    from plansafe.app.render.worlds import notes, where  # noqa: PLC0415 - only needed if something is open

    holds = where(report)
    return [f"the headline holds {holds}" if holds else "", *notes(report)[:_FEW]]


def _listed(texts: Sequence[str] | Iterable[str], separator: str = ", ") -> str:
    """The first texts and the number of the others."""
    items = list(texts)
    hidden = f"{separator}and {len(items) - _FEW:,} more" if len(items) > _FEW else ""
    return separator.join([item[:80] for item in items[:_FEW]]) + hidden


def _count(number: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("ss") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"
