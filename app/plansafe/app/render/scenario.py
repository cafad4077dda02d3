"""Verdicts on scenarios, and corrections: for people, and as JSON lines.

Their schemas are ``schema/scenario-check-1.json`` and ``schema/scenario-fix-1.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plansafe.app.render.difference import unified
from plansafe.app.render.full import FullRenderer
from plansafe.app.render.json import diagnostic_object, json_line
from plansafe.app.session.model import Result
from plansafe.app.session.scenario_files import FoundScenario
from plansafe.app.system.terminal_text import Style, pad, visible
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.model import Correction, Criterion, Fixed, ScenarioReport, Verdict, Witness
from plansafe.verifier.reporting.report import make_unchecked_report

SCHEMA = 1
_WIDTH = 12
_MAX_WIDTH = 60
_ROLE = 16


class ScenarioRenderer:
    """Prints scenarios one after the other."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._full = FullRenderer(style)

    def checked(self, files: FoundScenario, report: ScenarioReport) -> str:
        """Render the verdict on a scenario."""
        blocks = [self._files(files), self._criteria(report.criteria)]
        blocks += self._diagnostics(report.notes, report.sources)
        blocks += self._diagnostics([d for c in report.criteria for d in c.diagnostics], report.sources)
        blocks += [self._witness(witness) for witness in _witnesses(report)]
        blocks.append(self._summary(report))
        return "\n\n".join([block for block in blocks if block]) + "\n\n"

    def fixed(self, files: FoundScenario, fixed: Fixed, written: str | None) -> str:
        """Render the corrections, the remaining errors and the verdict on the result."""
        originals = dict(fixed.originals)
        rows = [self._correction(correction, originals) for correction in fixed.corrections]
        title = self._style.bold(f"{_count(len(rows), 'correction')}" if rows else "nothing to correct")
        blocks = [self._files(files), "\n".join([title, *rows])]
        blocks += self._diagnostics(fixed.left, fixed.report.sources)
        blocks += ["\n".join([self._style.bold("afterwards"), self._criteria(fixed.report.criteria)])]
        saved = "nothing was written: --output FOLDER writes the scenario, --diff shows the changes"
        if written is not None:
            saved = f"written to {visible(written)}"
        elif not fixed.corrections:
            saved = ""
        blocks.append("\n".join(filter(None, [self._summary(fixed.report), saved])))
        return "\n\n".join([block for block in blocks if block]) + "\n\n"

    # -- parts

    def _files(self, files: FoundScenario) -> str:
        rows = [f"{self._style.bold(pad('scenario', _ROLE))} {visible(files.scenario.name)}"]
        alike: dict[tuple[str, str], list[str]] = {}
        for role, path, how in files.files:
            alike.setdefault((role, how), []).append(path)
        for (role, how), paths in alike.items():
            if role != "problem" or paths != [files.scenario.name]:
                names = [paths[0], *[path.rpartition("/")[2] for path in paths[1:]]]
                rows.append(f"{self._style.bold(pad(role, _ROLE))} {visible(', '.join(names))}  ({how})")
        return "\n".join(rows)

    def _criteria(self, criteria: Sequence[Criterion]) -> str:
        paint = {Verdict.YES: self._style.good, Verdict.NO: self._style.error, Verdict.UNKNOWN: self._style.warning}
        rows = []
        for criterion in criteria:
            word = paint.get(criterion.verdict, self._style.faint)(pad(criterion.verdict.value, _WIDTH))
            rows.append(f"  {pad(criterion.name, _WIDTH)}{word}{visible(criterion.reason)}")
        return "\n".join(rows)

    def _diagnostics(self, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> list[str]:
        around = Result("", make_unchecked_report(""), (), sources)
        return [self._full.diagnostic(diagnostic, around) for diagnostic in diagnostics]

    def _witness(self, witness: Witness) -> str:
        kernel_note = ", also replayed by the kernel" if witness.kernel else ""
        title = f"{witness.what} ({_count(len(witness.steps), 'step')}{kernel_note})"
        rows = [f"  {number:>3}  {visible(step)}" for number, step in enumerate(witness.steps, 1)]
        note = [f"       {visible(witness.note)}"] if witness.note else []
        return "\n".join([self._style.bold(title), *rows, *note])

    def _correction(self, correction: Correction, sources: Mapping[str, Source]) -> str:
        source = sources.get(correction.source)
        place = visible(correction.source)
        if source is not None:
            line, column = source.position(min(correction.span.start, len(source.text)))
            place += f":{line}:{column}"
        before, after = _short(correction.before), _short(correction.after)
        change = f"`{before}` -> `{after}`" if before and after else f"+ `{after}`" if after else f"- `{before}`"
        rule = self._style.good(f"[{correction.rule}]")
        return f"  {place} {rule} {visible(correction.reason)}: {visible(change)}"

    def _summary(self, report: ScenarioReport) -> str:
        style = self._style
        wrong = [c for c in report.criteria if c.verdict is Verdict.NO]
        open_ = [c for c in report.criteria if c.verdict is Verdict.UNKNOWN]
        explain = style.faint(f"   explain: safecheck --explain {(wrong or open_)[0].code}") if wrong or open_ else ""
        names = ", ".join([c.name for c in wrong or open_])
        if wrong:
            return f"{style.error('REJECTED')}   violated: {names}{explain}"
        if open_:
            return f"{style.warning('UNDECIDED')}   not known: {names}{explain}"
        met = [c.name for c in report.criteria if c.verdict is Verdict.YES]
        return f"{style.good('ACCEPTED')}   met: {', '.join(met)}   (profile {report.profile.name})"


def checked_object(files: FoundScenario, report: ScenarioReport) -> str:
    """The verdict on a scenario as a line of JSON."""
    return json_line({**_head(files), **_report(report)})


def fixed_object(files: FoundScenario, fixed: Fixed, written: str | None) -> str:
    """Corrections, and the verdict on their result, as a line of JSON."""
    corrections = []
    for correction in fixed.corrections:
        source = fixed.originals.get(correction.source)
        line, column = source.position(correction.span.start) if source is not None else (None, None)
        corrections.append(
            {
                "rule": correction.rule,
                "reason": correction.reason,
                "source": correction.source,
                "start": correction.span.start,
                "end": correction.span.end,
                "line": line,
                "column": column,
                "before": correction.before,
                "after": correction.after,
            }
        )
    left = [diagnostic_object(diagnostic, fixed.report.sources) for diagnostic in fixed.left]
    changed = [{"path": source.name, "text": source.text} for source in fixed.changed]
    head = {**_head(files), "corrections": corrections, "left": left, "changed": changed, "written": written}
    return json_line({**head, **_report(fixed.report)})


def difference(fixed: Fixed) -> str:
    """The changes as a unified diff."""
    out: list[str] = []
    for source in fixed.changed:
        before = fixed.originals.get(source.name)
        name = visible(source.name)
        fromfile = f"a/{name}" if before is not None else "/dev/null"
        out += unified("" if before is None else before.text, source.text, fromfile, f"b/{name}")
    return "".join(out)


def _head(files: FoundScenario) -> dict[str, Any]:
    inputs = [{"role": role, "path": path, "how": how} for role, path, how in files.files]
    return {"schema": SCHEMA, "scenario": files.scenario.name, "inputs": inputs}


def _report(report: ScenarioReport) -> dict[str, Any]:
    criteria = [
        {
            "name": c.name,
            "verdict": c.verdict.value,
            "code": c.code,
            "reason": c.reason,
            "figures": dict(c.figures),
            "diagnostics": [diagnostic_object(diagnostic, report.sources) for diagnostic in c.diagnostics],
            "witnesses": [witness._asdict() for witness in c.witnesses],
        }
        for c in report.criteria
    ]
    notes = [diagnostic_object(diagnostic, report.sources) for diagnostic in report.notes]
    return {"profile": report.profile.name, "exit_code": report.exit_code, "criteria": criteria, "notes": notes}


def _witnesses(report: ScenarioReport) -> list[Witness]:
    """Each plan once, under everything that it shows."""
    by_steps: dict[tuple[str, ...], Witness] = {}
    for witness in [w for c in report.criteria for w in c.witnesses]:
        previous = by_steps.get(witness.steps)
        if previous is None:
            by_steps[witness.steps] = witness
        elif witness.what not in previous.what:
            purposes = f"{previous.what}, {witness.what}"
            by_steps[witness.steps] = previous._replace(
                what=purposes, kernel=previous.kernel or witness.kernel, note=previous.note or witness.note
            )
    return list(by_steps.values())


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_WIDTH else line[: _MAX_WIDTH - 2] + ".."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
