"""A run as JSON lines, one for each call: what ``replay/FILE`` reads, and what came of each proposal.

Each line has the answer and the address of its request; the last line of a round has its plan, verdict and feedback.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.loop.model import Planned, Round
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.request import Request, address
from plansafe.verifier.reporting.report import Finding


def lines(planned: Planned) -> Iterator[str]:
    """The lines, pure ASCII, each with its end."""
    for number, one in enumerate(planned.rounds, 1):
        for at, (request, answer) in enumerate(one.exchanges, 1):
            record = exchanged(request, answer)
            record["round"] = number
            if at == len(one.exchanges):
                record["outcome"] = _outcome(one)
            yield json.dumps(record, ensure_ascii=True) + "\n"


def exchanged(request: Request, answer: Answer) -> dict[str, Any]:
    """One call: the answer, the address of the request, and what was said to the model."""
    record = asdict(answer)
    del record["stored"]
    record["request"] = address(request)
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
