"""Repairs and diagnoses for people: the verdict, the errors, and the nearest safe plan as a listing of changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plansafe.app.render import folding
from plansafe.app.render.difference import cost_text, listing, sentence
from plansafe.app.render.full import FullRenderer
from plansafe.app.session.diagnosis import Examined
from plansafe.app.system.terminal_text import Style, pad, values, visible
from plansafe.verifier.repair.model import Repair, RepairResult, RepairStatus
from plansafe.verifier.reporting.report import Report

if TYPE_CHECKING:
    from plansafe.verifier.diagnose.labels import PublishedLabel

_FEW = 3
_NAME = 18


class RepairRenderer:
    """Prints one examined plan after the other.

    ``changes``: show the nearest safe plan as a listing, and with ``every`` all plans tied with it; else in a sentence.
    """

    def __init__(self, style: Style, changes: bool, show_all: bool = False) -> None:
        self._style = style
        self._changes = changes
        self._show_all = show_all
        self._full = FullRenderer(style)

    def plan(self, examined: Examined, written: str | None = None) -> str:
        """Render one plan; ``written`` is the file that the repaired plan (or the graph) was written to."""
        if examined.label is not None:
            return _label_line(examined.result.plan, examined.label)
        if examined.repair is None:
            return self._full.plan(examined.result)
        report = examined.result.report
        sections = [self._verdict(report), "\n".join(folding.home_profile_notes(report)), self._classes(examined)]
        sections += [self._where(examined), self._causes(examined), *self._repairs(examined)]
        if examined.outcome is not None:
            sections.append(self._full.diagnostic(examined.outcome, examined.result))
        blocks = self._full.arranged(examined.result, sections)
        if self._changes:
            blocks.append(self._end(examined, written))
        elif written is not None:
            blocks.append(f"graph written to {visible(written)}")
        return "\n\n".join(block for block in blocks if block) + "\n\n"

    def end(self) -> str:
        """Return nothing: each plan is complete by itself."""
        return ""

    # -- errors

    def _verdict(self, report: Report) -> str:
        style = self._style
        assert report.headline is not None
        head = report.headline.value
        if not report.findings:
            return f"{style.verdict(head)}   {_count(report.steps, 'step')}"
        first = report.findings[0]
        more_findings = len(folding.visible_findings(report, False)) + report.suppressed - 1
        more = style.faint(f"   and {_count(more_findings, 'more finding')}: safecheck audit") if more_findings else ""
        return f"{style.verdict(head)}   {visible(first.message)}{more}"

    def _classes(self, examined: Examined) -> str:
        rows = []
        last = None
        for witness in examined.witnesses:
            name = witness.error.value if witness.error is not last else ""
            last = witness.error
            rows.append(f"  {self._style.error(pad(name, _NAME))}  {visible(witness.text)}")
        return self._section("errors", rows)

    def _where(self, examined: Examined) -> str:
        """The indices, each with its step."""
        where = examined.where
        if where is None:
            return ""
        steps = examined.original
        low, high = where.point_of_no_return
        rows = [
            ("first violated rule", _violated(where.violated, steps, examined.result.report)),
            ("first failed step", _step(where.inexecutable, steps)),
            ("leaves the reference", _step(where.divergence, steps)),
            ("point of no return", _no_return(low, high, where.detail) if low < len(steps) else ""),
            ("fatal step", _step(where.fatal or None, steps)),
            ("regret", _regret(where.regret[:low]) if where.regret is not None and low > 0 else ""),
        ]
        lines = [f"  {pad(name, _NAME + 4)}{visible(text)}" for name, text in rows if text]
        return self._section("where it went wrong", lines)

    def _causes(self, examined: Examined) -> str:
        """The minimal causes; many findings may have the same one."""
        texts = dict.fromkeys([because.text for because in examined.causes])
        return self._section("why", [f"  {visible(text)}" for text in texts])

    def _section(self, title: str, rows: Sequence[str]) -> str:
        return "\n".join([self._style.bold(title), *rows]) if rows else ""

    # -- the nearest safe plan

    def _repairs(self, examined: Examined) -> list[str]:
        result = examined.repair
        if result is None or not result.repairs:
            return []
        best, *ties = result.repairs
        purpose = _purpose(result, examined.original)
        title = f"{'nearest safe plan' if result.optimal else 'a safe plan'}: {_summary(best, result)}"
        if not result.complete and result.detail:
            title += f" ({visible(result.detail)})"
        if not self._changes:
            rows = [f"  {visible(sentence(examined.original, best))}"]
            rows.append(self._style.faint("  the listing: safecheck repair"))
            return [self._section(title, [*rows, *purpose])]
        out = [self._section(title, [*listing(examined.original, best, self._style), *purpose])]
        if self._show_all:
            for number, repair in enumerate(ties, 2):
                head = f"safe plan {number} of {len(result.repairs)}, of the same cost"
                out.append(self._section(head, listing(examined.original, repair, self._style)))
        elif ties:
            rows = [
                f"  {number}. {visible(sentence(examined.original, repair))}"
                for number, repair in enumerate(ties[:_FEW], 2)
            ]
            more = len(ties) - _FEW
            if more > 0:
                rows.append(f"  and {more:,} more{'' if result.complete else ' at least'}: --all")
            out.append(self._section("of the same cost", rows))
        return out

    def _end(self, examined: Examined, written: str | None) -> str:
        """The verdict on what the user gets."""
        style = self._style
        saved = "" if written is None else f"written to {visible(written)}"
        if examined.repair is not None and examined.repair.status is RepairStatus.ALREADY_SAFE:
            left = folding.nondeciding_notes(examined.result.report)
            return "\n".join(["; ".join(filter(None, ["nothing to repair", saved])), *left])
        if examined.best is None:
            return ""
        report = examined.best.report
        assert report.headline is not None
        steps = _count(report.steps, "step")
        first = f"{style.good(report.headline.value)}   the repaired plan, replayed: {steps}, {values(report)}"
        notes = (*folding.nondeciding_notes(report), saved)
        indent = " " * (len(report.headline.value) + 3)
        return "\n".join([first, *[indent + line for line in notes if line]])


def _step(number: int | None, steps: Sequence[str]) -> str:
    if number is None:
        return ""
    if not number:
        return "the initial state"
    return f"step {number}  {steps[number - 1]}" if number <= len(steps) else "the end: steps are missing"


def _violated(number: int | None, steps: Sequence[str], report: Report) -> str:
    """The step that breaks a rule; a rule about the end is broken by none."""
    at_end = [f.at_end for f in report.findings if f.rule is not None and f.step == number and "halt" in f.readings]
    return "the end of the plan" if at_end and all(at_end) else _step(number, steps)


def _no_return(low: int, high: int, detail: str) -> str:
    """The last point from which a safe plan can be reached, as far as it is known."""
    if high < 0:
        return "before the first step: no safe plan can be reached from the initial state"
    if low == high:
        after = f"after step {low}" if low else "the initial state"
        return f"{after}: the last from which a safe plan can be reached"
    between = f"between step {low} and step {high}" if low >= 0 else f"after step {high} at the latest"
    return f"not known: {between}" + (f" ({detail})" if detail else "")


def _regret(regrets: Sequence[int | None]) -> str:
    """Only steps that cost something, and how many are not known."""
    parts = [f"step {number}: {regret}" for number, regret in enumerate(regrets, 1) if regret]
    unknown = sum([regret is None for regret in regrets])
    if unknown:
        parts.append(f"{_count(unknown, 'step')} not known")
    return ", ".join(parts) or "none"


def _label_line(plan: str, label: PublishedLabel) -> str:
    """``plan: missing step (step 3: (open fridge) is not true)``."""
    place = f"step {label.step}: " if label.step else ""
    reason = f" ({place}{label.text})" if label.text else ""
    return visible(f"{plan}: {label.name}{reason}") + "\n"


def _purpose(result: RepairResult, steps: Sequence[str]) -> list[str]:
    """The steps that show what a plan without a goal is for, and whether the repair keeps them."""
    numbers = sorted(result.purpose.steps)
    if not numbers:
        return []
    steps_kept = [f"step {n}, {visible(steps[n - 1])}" for n in numbers[:_FEW]]
    more = [f"{len(numbers) - _FEW} more"] if len(numbers) > _FEW else []
    text = f"{'; '.join([*steps_kept, *more])} ({result.purpose.source})"
    if result.purpose.is_kept:
        return [f"  keeps what the plan is for: {text}"]
    return [f"  note: no repair was found that keeps what the plan is for: {text}"]


def _summary(repair: Repair, result: RepairResult) -> str:
    """The cost of the repair, and whether a cheaper one can exist."""
    edits = f"{_count(len(repair.kinds), 'edit')}, cost {cost_text(repair.cost)}"
    least = f"; none costs less than {cost_text(result.bound)}" if result.bound else "; perhaps not the least"
    if result.optimal:
        least = ", proved least"
    if len(result.repairs) == 1:
        return edits + least
    ties = f"{len(result.repairs):,}{'' if result.complete else ' or more'}"
    return f"{edits}{least}; the first of {ties} of that cost"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
