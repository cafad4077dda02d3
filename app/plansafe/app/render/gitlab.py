"""A code quality report as GitLab reads it: one list of issues, with the fingerprints of SARIF.

The keys are documented in ``doc/ci/testing/code_quality.md`` of GitLab, whose parser validates them against
``app/validators/json_schemas/codeclimate.json``.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from plansafe.app.render.concise import ConciseRenderer
from plansafe.app.render.folding import baseline_notes, home_profile_notes, nondeciding_notes
from plansafe.app.render.issues import Issue, issues
from plansafe.app.session.fingerprints import Fingerprints, clean, path_of
from plansafe.app.session.model import Result
from plansafe.app.system.terminal_text import PLAIN, brief

_SEVERITIES = {"critical": "blocker", "high": "critical", "medium": "major", "low": "minor", "note": "info"}
VERDICT = "verdict"
"""Name of the check that carries the verdict on the whole plan."""


class GitlabRenderer:
    """Writes the items of one JSON list as results come."""

    def __init__(self, show_all: bool = False) -> None:
        self._show_all = show_all
        self._concise = ConciseRenderer(PLAIN, show_all)
        self._fingerprints = Fingerprints()
        self._written = 0

    def plan(self, result: Result) -> str:
        """Render one result."""
        items = [_item(issue, result) for issue in issues(result, self._show_all, self._fingerprints)]
        notes = (
            [*nondeciding_notes(result.report), *home_profile_notes(result.report), *baseline_notes(result)]
            if result.report.headline is not None
            else []
        )
        if notes or (result.exit_code and not items):
            items.append(self._verdict(result))
        text = "".join([("[\n  " if not self._written + n else ",\n  ") + json.dumps(i) for n, i in enumerate(items)])
        self._written += len(items)
        return text

    def end(self) -> str:
        """Close the list."""
        return "\n]\n" if self._written else "[]\n"

    def _verdict(self, result: Result) -> dict[str, Any]:
        """The verdict as an issue, with the findings that do not decide it and why."""
        digest = hashlib.sha256(f"{VERDICT}\0{path_of(result.plan)}\0{self._written}".encode()).hexdigest()[:32]
        level = "high" if result.exit_code else "note"
        text = f"{brief(result.plan)}: {self._concise.verdict(result)}"
        return _item(Issue(VERDICT, VERDICT, level, text, path_of(result.plan), 1, 1, 1, 1, digest), result)


def _item(issue: Issue, result: Result) -> dict[str, Any]:
    return {
        "description": clean(issue.text),
        "check_name": clean(issue.check),
        "fingerprint": issue.fingerprint,
        "severity": _SEVERITIES[issue.level],
        "location": {
            "path": issue.path or path_of(result.plan),
            "lines": {"begin": issue.line, "end": issue.end_line},
        },
    }
