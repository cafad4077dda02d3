"""A model's plan for people and for programs: each step with its author, the verdict, the cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plansafe.app.render.full import FullRenderer
from plansafe.app.render.json import JsonRenderer, diagnostic_object, dumps, safe_line
from plansafe.app.session.model import Settings
from plansafe.app.system.terminal_text import Style, brief, pad, visible, width
from plansafe.app.system.version import version
from plansafe.llm.loop.model import AttributedStep, PlanResult, Refusal, Round, StepAuthor
from plansafe.llm.prompts.planning import VERSION, Prompt
from plansafe.verifier.reporting.report import Report

if TYPE_CHECKING:
    from plansafe.app.session.model_plan import Proposal

SCHEMA = 1
_REMOVED = dict.fromkeys(StepAuthor, "removed") | {StepAuthor.MAPPED: "left out"}
_SHARE = {StepAuthor.GIVEN: "as given", StepAuthor.MAPPED: "mapped"}
_GONE = {
    StepAuthor.REPAIR: "removed by the repair",
    StepAuthor.MODEL: "removed by the model",
    StepAuthor.MAPPED: "left out",
}
_WIDEST = 60
"""Width up to which the authors of steps are aligned in a column."""


class PlannedRenderer:
    """Prints one plan of a model."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._full = FullRenderer(style)

    def plan(self, proposal: Proposal, written: str | None = None) -> str:
        """Render it; ``written`` is the file that the plan was written to."""
        if proposal.planned is None:
            return self._full.plan(proposal.result)
        blocks = [self._goal(proposal), self._listing(proposal.planned.parts), self._removed(proposal.planned.removed)]
        if proposal.planned.report is not None:
            blocks.append(self._full.plan(proposal.result).rstrip("\n"))
        else:
            blocks += self._full.arranged(proposal.result, [])
        if proposal.outcome is not None:
            blocks.append(self._full.diagnostic(proposal.outcome, proposal.result))
        blocks.append(self._cost(proposal, written))
        return "\n\n".join([block for block in blocks if block]) + "\n\n"

    def _goal(self, proposal: Proposal) -> str:
        """The goal, if it differs from the problem's; it comes before the plan."""
        if proposal.goal is None:
            return ""
        advice = "; --goal takes another" if proposal.goal.by == "model" else ""
        by = self._style.faint(f"  (by the {proposal.goal.by}{advice})")
        return f"{self._style.bold(pad('goal', 14))} {brief(proposal.goal.text)}{by}"

    def _listing(self, parts: tuple[AttributedStep, ...]) -> str:
        """The steps with their numbers and their authors."""
        size = len(str(len(parts)))
        step_texts = [brief(part.step) for part in parts]
        columns = min(_WIDEST, max([width(step) for step in step_texts], default=0))
        rows = []
        for number, (part, step) in enumerate(zip(parts, step_texts, strict=True), 1):
            mark = (
                part.by.value if part.by in (StepAuthor.MODEL, StepAuthor.GIVEN) else self._style.warning(part.by.value)
            )
            note = self._style.faint(f": {brief(part.note)}") if part.note else ""
            rows.append(f"{number:>{size}}  {pad(step, columns)}  {mark}{note}")
        return "\n".join(rows)

    def _removed(self, parts: tuple[AttributedStep, ...]) -> str:
        """The steps that the model wrote and the plan does not contain."""
        return "\n".join([f"- {brief(part.step)}  {_REMOVED[part.by]}: {brief(part.note)}" for part in parts])

    def _cost(self, proposal: Proposal, written: str | None) -> str:
        planned = proposal.planned
        assert planned is not None
        name = visible(f"{proposal.model}, --decode {proposal.wishes.decode.value}")
        rounds = len([attempt for attempt in planned.rounds if attempt.exchanges])
        figures = [_count(rounds, "round"), _count(len(planned.answers), "call"), *_tokens(planned)]
        lines = [f"{self._style.bold(pad('model', 14))} {name}: {', '.join(figures)}, {proposal.seconds:.1f} s"]
        if proposal.prompt is not None:
            lines.append(f"{self._style.bold(pad('prompt', 14))} {_prompt(proposal.prompt)}")
        if planned.parts:
            lines.append(f"{self._style.bold(pad('steps', 14))} {_shares(planned.parts)}{_gone(planned.removed)}")
        if written is not None:
            lines.append(f"written to {visible(written)}")
        return "\n".join(lines)


def _prompt(prompt: Prompt) -> str:
    summary = f"{prompt.style}, about {prompt.tokens:,} tokens, sha256 {prompt.sha256[:12]}"
    part = prompt.cropped
    if part is None:
        return summary
    left = f"{_count(part.left_objects, 'object')} and {_count(part.left_facts, 'fact')}"
    return f"{summary}; {left} of the home left out"


def _shares(parts: tuple[AttributedStep, ...]) -> str:
    counts = [(by, len([part for part in parts if part.by is by])) for by in StepAuthor]
    return ", ".join([f"{count} {_SHARE.get(by, f'by the {by.value}')}" for by, count in counts if count])


def _gone(parts: tuple[AttributedStep, ...]) -> str:
    counts = [(how, len([part for part in parts if part.by is by])) for by, how in _GONE.items()]
    return "".join([f"; {count} {how}" for how, count in counts if count])


def _tokens(planned: PlanResult) -> list[str]:
    read = [answer.prompt_tokens for answer in planned.answers if answer.prompt_tokens is not None]
    wrote = [answer.completion_tokens for answer in planned.answers if answer.completion_tokens is not None]
    return ([f"{sum(read):,} tokens in"] if read else []) + ([f"{sum(wrote):,} out"] if wrote else [])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class PlannedJsonRenderer:
    """Makes a JSON line, ``schema/plan-1.json``; the report on the plan is an object of ``schema/report-1.json``."""

    def __init__(self, settings: Settings) -> None:
        self._reports = JsonRenderer(settings, version())

    def plan(self, proposal: Proposal, written: str | None = None) -> str:
        """Render it; ``written`` is the file that the plan was written to."""
        planned, outcome = proposal.planned, proposal.outcome
        answers = planned.answers if planned is not None else []
        head: dict[str, Any] = {
            "schema": SCHEMA,
            "model": proposal.model,
            "decode": proposal.wishes.decode.value,
            "prompt": _prompt_object(proposal.prompt) if proposal.prompt is not None else None,
            "exit_code": proposal.exit_code,
            "status": planned.status.value if planned is not None else None,
            "goal": proposal.goal._asdict() if proposal.goal is not None else None,
            "refusal": _refusal(planned.refusal) if planned is not None and planned.refusal is not None else None,
            "detail": planned.detail if planned is not None else "",
            "text": proposal.text if proposal.exit_code == 0 else None,
            "steps": [_part(part) for part in planned.parts] if planned is not None else [],
            "removed": [_part(part) for part in planned.removed] if planned is not None else [],
            "rounds": [_round(attempt) for attempt in planned.rounds] if planned is not None else [],
            "calls": len(answers),
            "prompt_tokens": sum([answer.prompt_tokens or 0 for answer in answers]),
            "completion_tokens": sum([answer.completion_tokens or 0 for answer in answers]),
            "searches": planned.searches if planned is not None else 0,
            "seconds": round(proposal.seconds, 3),
            "written": written,
            "outcome": diagnostic_object(outcome, proposal.result.sources) if outcome is not None else None,
        }
        return safe_line(f'{dumps(head)[:-1]},"report":{self._reports.object(proposal.result)}}}')


def _prompt_object(prompt: Prompt) -> dict[str, Any]:
    part = prompt.cropped
    return {
        "version": VERSION,
        "style": prompt.style,
        "sha256": prompt.sha256,
        "tokens": prompt.tokens,
        "left_out": {
            "objects": 0 if part is None else part.left_objects,
            "facts": 0 if part is None else part.left_facts,
        },
    }


def _part(part: AttributedStep) -> dict[str, Any]:
    return {"step": part.step, "by": part.by.value, "note": part.note}


def _round(attempt: Round) -> dict[str, Any]:
    return {
        "calls": len(attempt.exchanges),
        "headline": _headline(attempt.report),
        "findings": len(attempt.report.findings) if attempt.report is not None else 0,
        "codes": [diagnostic.code for diagnostic in attempt.refused],
        "end": attempt.end,
        "refused": attempt.declined,
        "feedback": attempt.feedback,
    }


def _refusal(refusal: Refusal) -> dict[str, Any]:
    return {"reason": refusal.reason, "right": refusal.right, "steps": refusal.steps, "detail": refusal.detail}


def _headline(report: Report | None) -> str | None:
    return None if report is None or report.headline is None else report.headline.value
