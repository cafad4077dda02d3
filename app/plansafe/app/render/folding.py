"""What follows from a failed step is counted under its cause, unless all is asked for (docs/language.md, section 6)."""

from __future__ import annotations

from plansafe.verifier.reporting.report import Finding, FindingClass, Report

_FAILED = (FindingClass.ILL_FORMED, FindingClass.INEXECUTABLE)


def shown(report: Report, every: bool) -> tuple[Finding, ...]:
    """The findings that are shown: all of them also where no cause is listed."""
    if every or cause(report) is None:
        return report.findings
    return tuple([f for f in report.findings if not f.follows])


def idle(report: Report) -> list[str]:
    """What was found and decided nothing, each kind on a line with the flag that has it decide."""
    question, before, minor = report.decided
    out = []
    if before:
        out.append(f"the scene already had {before:,} hazard{'' if before == 1 else 's'}: --judge all")
    elif question.introduced and report.worlds is not None:
        out.append("what the scene already had decides nothing, in any world: --judge all")
    if minor:
        are = "1 finding is" if minor == 1 else f"{minor:,} findings are"
        out.append(
            f"{are} below `{question.min_severity}`, and decide{'s' if minor == 1 else ''} nothing: --min-severity low"
        )
    return out


def cause(report: Report) -> Finding | None:
    """The first failed step, which the rest is told under."""
    return next((f for f in report.findings if f.finding_class in _FAILED and not f.follows), None)


def said(report: Report) -> str:
    """What is not shown, in words: ``3 more follow where the plan stops, 2 if the step is skipped: --all``."""
    hidden = [f for f in report.findings if f.follows]
    steps = {step for finding in hidden for step in finding.follows}
    one = "the step is" if len(steps) == 1 else "the failed steps are"
    texts = {"halt": "where the plan stops", "skip": f"if {one} skipped", "force": f"if {one} forced"}
    counts = [(sum([f.readings[0] == reading for f in hidden]), text) for reading, text in texts.items()]
    parts = [f"{number} {text}" for number, text in counts if number]
    first, _, rest = ", ".join(parts).partition(" ")
    return f"{first} more follow{'s' if first == '1' else ''} {rest}: --all"
