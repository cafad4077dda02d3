"""A run as JSON lines, one for each call: the input of ``replay/FILE``, and the result of each proposal.

Each line has the answer and the address of its request; the last line of a round has its plan, verdict and feedback.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.loop.model import Exchange, PlanResult, Round
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.request import Request, address
from plansafe.verifier.reporting.report import Finding


def lines(planned: PlanResult | None, before: Iterable[Exchange] = ()) -> Iterator[str]:
    """The lines, pure ASCII, each with its end; ``before`` are the calls for the goal, which are of round 0."""
    for request, answer in before:
        yield json.dumps({**exchanged(request, answer), "round": 0}, ensure_ascii=True) + "\n"
    for number, proposal in enumerate(
        [] if planned is None else [proposal for proposal in planned.rounds if proposal.exchanges], 1
    ):
        for at, (request, answer) in enumerate(proposal.exchanges, 1):
            record = exchanged(request, answer)
            record["round"] = number
            if at == len(proposal.exchanges):
                record["outcome"] = _outcome(proposal)
            yield json.dumps(record, ensure_ascii=True) + "\n"


def exchanged(request: Request, answer: Answer) -> dict[str, Any]:
    """One call: the answer, and the request with its address, sampling and messages."""
    record = asdict(answer)
    del record["stored"]
    record["request"] = address(request)
    record["temperature"], record["seed"] = request.temperature, request.seed
    record["messages"] = [[message.role.value, message.text] for message in request.messages]
    return record


def _outcome(proposal: Round) -> dict[str, Any]:
    report = proposal.report
    return {
        "plan": [part.step for part in proposal.parts] if proposal.plan is not None else None,
        "headline": report.headline.value if report is not None and report.headline is not None else None,
        "findings": [_finding(finding) for finding in report.findings] if report is not None else [],
        "diagnostics": [
            _diagnostic(diagnostic) for diagnostic in (*proposal.refused, *(report.diagnostics if report else ()))
        ],
        "end": proposal.end,
        "refused": proposal.declined,
        "feedback": proposal.feedback,
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


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {"code": diagnostic.code, "severity": diagnostic.severity.value, "message": diagnostic.message}
