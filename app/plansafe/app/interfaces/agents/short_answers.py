"""The short answers of ``audit``, ``repair`` and ``diagnose`` for an agent, which reads every character of an answer.

An answer has at most :data:`MAX_BYTES` as JSON. If it is longer, its texts are cut, then its groups and edits are
counted instead of listed, then the text of the repaired plan is left out. The verdict and the notes on unchecked parts
always stay. The full answer has the rest.

What an audit did not check, did not understand or assumed, as short sentences for an agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from plansafe.app.render.difference import lines
from plansafe.app.render.finding_groups import group_findings
from plansafe.app.render.folding import visible_findings
from plansafe.app.render.json import dumps, json_line
from plansafe.app.session.diagnosis import Examined
from plansafe.app.session.model import Result
from plansafe.app.system.terminal_text import not_checked
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.repair.model import Repair
from plansafe.verifier.reporting.report import Coverage, Finding, Report, Worlds
from plansafe.verifier.rules.verdict_criteria import SEVERITIES, VerdictCriteria

if TYPE_CHECKING:
    from plansafe.verifier.diagnose.localise import Localisation


MAX_BYTES = 2900
"""Maximum length of a short answer. The server adds the name of the full answer, which makes less than 3,000."""


class Size(NamedTuple):
    """How much of an answer is shown: ``items`` of each list, characters of each ``text``, and the repaired plan."""

    items: int
    text: int
    plan: bool


_SIZES = (
    Size(8, 240, True),
    Size(6, 160, True),
    Size(4, 110, True),
    Size(8, 200, False),
    Size(4, 110, False),
    Size(2, 70, False),
    Size(1, 40, False),
)


def short_audit(result: Result) -> str:
    """The short answer of ``audit``, one line of JSON."""
    return _fitted(lambda size: {**_verdict(result.report), **_report(result, size)})


def short_examination(examined: Examined) -> str:
    """The short answer of ``repair`` and ``diagnose``, one line of JSON."""
    return _fitted(lambda size: _examination(examined, size))


def _fitted(build: Callable[[Size], dict[str, Any]]) -> str:
    for size in _SIZES:
        text = json_line(build(size))
        if len(text) <= MAX_BYTES:
            return text
    raise AssertionError("the smallest size has a bounded length")


def _verdict(report: Report) -> dict[str, Any]:
    return {
        "headline": report.headline.value if report.headline is not None else None,
        "exit_code": report.exit_code,
        "executable": report.executable.value,
        "goal": report.goal.value,
        "safe": report.safety.value if report.safety is not None else None,
        "steps": report.steps,
        "rules_checked": report.rules_checked,
    }


def _report(result: Result, size: Size) -> dict[str, Any]:
    report = result.report
    groups = finding_groups(report)
    urgent = [d for d in report.diagnostics if d.severity is not Severity.NOTE]
    urgent.sort(key=lambda diagnostic: diagnostic.severity is not Severity.ERROR)
    out: dict[str, Any] = {
        "findings": [_group(group, report.verdict_basis.criteria, size) for group in groups[: size.items]]
    }
    if len(groups) > size.items:
        hidden = groups[size.items :]
        out["more_findings"] = {"count": sum(map(len, hidden)), "rules": len(hidden)}
    notes = [_cut(note, size) for note in unchecked_notes(report)]
    if len(urgent) > size.items:
        notes.append(f"{len(urgent) - size.items} more errors and warnings: part `diagnostics`")
    out["not_checked"] = notes
    if urgent:
        out["diagnostics"] = [short_diagnostic(d, result.sources, size.text) for d in urgent[: size.items]]
    if report.headline is not None:
        out["assumed"] = [_cut(text, size) for text in assumptions(report)[: size.items]]
    return out


def finding_groups(report: Report) -> list[tuple[Finding, ...]]:
    """Group the findings by rule; deciding and severe groups come first."""
    criteria = report.verdict_basis.criteria

    def rank(findings: tuple[Finding, ...]) -> tuple[bool, int]:
        severities = [SEVERITIES.index(f.severity) + 1 for f in findings if f.severity in SEVERITIES]
        return not any([f.decides(criteria) for f in findings]), min(severities, default=0)

    groups = group_findings(visible_findings(report, False))
    return sorted([group.findings for group in groups], key=rank)


def _group(findings: Sequence[Finding], criteria: VerdictCriteria, size: Size) -> dict[str, Any]:
    first = findings[0]
    steps = list(dict.fromkeys([finding.step for finding in findings]))
    out: dict[str, Any] = {
        **({} if first.rule is None else {"rule": _cut(first.rule, size)}),
        "code": first.code,
        "count": len(findings),
        "steps": steps[: size.items],
        "reason": _cut(first.message, size),
    }
    if first.severity is not None:
        out["severity"] = first.severity
    if not any([finding.decides(criteria) for finding in findings]):
        out["decides"] = False
    if first.worlds is not None:
        out["worlds"] = first.worlds.value
    if first.notes and first.rule is None:  # the message of a rule gives the reason in words
        out["because"] = _cut("; ".join(first.notes), size)
    if first.help:
        out["help"] = _cut(first.help, size)
    return out


def short_diagnostic(diagnostic: Diagnostic, sources: Mapping[str, Source], length: int) -> dict[str, Any]:
    """A diagnostic without notes and labels, except for the place of its first label."""
    out = {"code": diagnostic.code, "severity": diagnostic.severity.value, "message": cut(diagnostic.message, length)}
    label = next((label for label in diagnostic.labels if label.source in sources), None)
    if label is not None and label.source is not None and label.span is not None:
        line, column = sources[label.source].position(label.span[0])
        out["at"] = f"{cut(label.source, length)}:{line}:{column}"
    if diagnostic.help:
        out["help"] = cut(diagnostic.help, length)
    return out


def _examination(examined: Examined, size: Size) -> dict[str, Any]:
    result, search = examined.result, examined.repair
    out: dict[str, Any] = {**_verdict(result.report), "exit_code": examined.exit_code}
    if search is None:
        return {**out, **_report(result, size)}
    out["status"] = search.status.value
    if search.detail:
        out["detail"] = _cut(search.detail, size)
    if examined.outcome is not None:
        out["outcome"] = short_diagnostic(examined.outcome, result.sources, size.text)
    best = examined.best
    if best is not None:
        out["repair"] = _repair(best, examined, size)
        out["repair"] |= {"optimal": search.optimal, "alternatives": len(search.repairs) - 1}
        if search.purpose.steps and not search.purpose.is_kept:
            out["repair"]["drops_purpose"] = sorted(search.purpose.steps)[: size.items]
    if examined.witnesses:
        faults = [f"{witness.error.value}: {witness.text}" for witness in examined.witnesses]
        out["faults"] = _cut_all(faults, size)
    if examined.where is not None:
        out["where"] = _where(examined.where, size)
    if examined.causes:
        out["causes"] = _cut_all(dict.fromkeys([because.text for because in examined.causes]), size)
    return {**out, **_report(result, size)}


def _repair(repair: Repair, examined: Examined, size: Size) -> dict[str, Any]:
    after = repair.report if examined.after is None else examined.after.report
    edits = edit_lines(examined.original, repair)
    out: dict[str, Any] = {
        "headline": after.headline.value if after.headline is not None else None,
        "cost": str(repair.cost),
        "edits": [_cut(edit, size) for edit in edits[: size.items]],
    }
    if len(edits) > size.items:
        out["more_edits"] = len(edits) - size.items
    if examined.text is not None and size.plan:
        out["plan"] = examined.text
    else:
        out["plan_part"] = "text"
    before = unchecked_notes(examined.result.report)
    notes = [_cut(note, size) for note in unchecked_notes(after) if note not in before]
    if repair.replayed is None:
        notes.append("not confirmed by the replay kernel")
    if notes:
        out["not_checked"] = notes
    return out


def edit_lines(original: Sequence[str], repair: Repair) -> list[str]:
    """The edits in words, with the number of the step in the repaired plan and the reason."""
    verbs = {"+": "insert", "-": "delete step {old}", "~": "replace step {old} by", ">": "move step {old}"}
    edits = []
    for row in lines(original, repair):
        if row.mark in verbs:
            place = f" as step {row.new}" if row.new else ""
            reasons = [remark for remark in row.remarks if not remark.startswith(("moved: ", "instead of "))]
            because = f": {'; '.join(reasons)}" if reasons else ""
            edits.append(f"{verbs[row.mark].format(old=row.old)} {row.text}{place}{because}")
    return edits


def _where(where: Localisation, size: Size) -> dict[str, Any]:
    out: dict[str, Any] = {
        "violated": where.violated,
        "inexecutable": where.inexecutable,
        "point_of_no_return": where.point_of_no_return,
        "fatal": where.fatal,
    }
    if where.detail:
        out["detail"] = _cut(where.detail, size)
    return out


def _cut_all(texts: Iterable[str], size: Size) -> list[str]:
    items = list(texts)
    more = [f"and {len(items) - size.items} more"] if len(items) > size.items else []
    return [_cut(text, size) for text in items[: size.items]] + more


def _cut(text: str, size: Size) -> str:
    return cut(text, size.text)


def cut(text: str, length: int) -> str:
    """Cut a text so that it has at most ``length`` characters in JSON, where some characters need twelve."""
    if len(dumps(text)) <= length + 2:
        return text
    text = text[: length - 2]
    while len(dumps(text)) > length:
        text = text[: len(text) * length // len(dumps(text))]
    return f"{text}.."


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
