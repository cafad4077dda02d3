"""A run as JSON lines, one for each call: what ``replay/FILE`` reads, and what came of each proposal.

Each line has the answer and the address of its request; the last line of a round has its plan, verdict and feedback.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.loop.model import Exchange, Planned, Round
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.request import Request, address
from plansafe.verifier.reporting.report import Finding


def lines(planned: Planned | None, before: Iterable[Exchange] = ()) -> Iterator[str]:
    """The lines, pure ASCII, each with its end; ``before`` are the calls for the goal, which are of round 0."""
    for request, answer in before:
        yield json.dumps({**exchanged(request, answer), "round": 0}, ensure_ascii=True) + "\n"
    for number, one in enumerate([] if planned is None else [one for one in planned.rounds if one.exchanges], 1):
        for at, (request, answer) in enumerate(one.exchanges, 1):
            record = exchanged(request, answer)
            record["round"] = number
            if at == len(one.exchanges):
                record["outcome"] = _outcome(one)
            yield json.dumps(record, ensure_ascii=True) + "\n"


def exchanged(request: Request, answer: Answer) -> dict[str, Any]:
    """One call: the answer, and the request with its address, sampling and messages."""
    record = asdict(answer)
    del record["stored"]
    record["request"] = address(request)
    record["temperature"], record["seed"] = request.temperature, request.seed
    record["messages"] = [[message.role.value, message.text] for message in request.messages]
    return record


def _outcome(one: Round) -> dict[str, Any]:
    report = one.report
    return {
        "plan": [part.step for part in one.parts] if one.plan is not None else None,
        "headline": report.headline.value if report is not None and report.headline is not None else None,
        "findings": [_finding(finding) for finding in report.findings] if report is not None else [],
        "diagnostics": [_diagnostic(said) for said in (*one.refused, *(report.diagnostics if report else ()))],
        "end": one.end,
        "refused": one.declined,
        "feedback": one.feedback,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "class": finding.finding_class.value,
        "step": finding.step,
        "at_end": finding.at_end,
        "rule": finding.rule,
        "message": finding.message,
    }


def _diagnostic(said: Diagnostic) -> dict[str, Any]:
    return {"code": said.code, "severity": said.severity.value, "message": said.message}
