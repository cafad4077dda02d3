"""Workflow commands of GitHub Actions: an annotation for each violated rule, and a line for each plan.

GitHub shows at most ten errors and ten warnings of a step: findings of one rule must not use them up.

Texts are escaped as the toolkit does it (``packages/core/src/command.ts`` of actions/toolkit), which undoes what
the runner does (``src/Runner.Common/ActionCommand.cs`` of actions/runner). The runner takes a line for a command that
begins with ``::``, and any line that contains ``##[``: a name must not turn another line into a command.
"""

from __future__ import annotations

from plansafe.app.render.concise import ConciseRenderer
from plansafe.app.render.issues import Issue, issues
from plansafe.app.session.fingerprints import Fingerprints
from plansafe.app.session.model import Result
from plansafe.app.system.terminal_text import PLAIN, brief, visible

_COMMANDS = {"critical": "error", "high": "error", "medium": "warning", "low": "notice", "note": "notice"}
_DATA = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY = (*_DATA, (":", "%3A"), (",", "%2C"))


class GithubRenderer:
    """Prints ``::error file=..,line=..::message`` lines, then ``safecheck: PLAN: VERDICT (..)``."""

    def __init__(self, show_all: bool = False) -> None:
        self._show_all = show_all
        self._concise = ConciseRenderer(PLAIN, show_all)
        self._fingerprints = Fingerprints()

    def plan(self, result: Result) -> str:
        """Render one result."""
        listed_issues = issues(result, self._show_all, self._fingerprints, grouped=not self._show_all)
        lines = [annotation(issue) for issue in listed_issues]
        verdict = f"safecheck: {brief(result.plan)}: {visible(self._concise.verdict(result))}"
        return "\n".join([*lines, verdict.replace("##[", "##\\[")]) + "\n"

    def end(self) -> str:
        """Return nothing: each result is complete by itself."""
        return ""


def annotation(issue: Issue) -> str:
    """One issue as a workflow command."""
    properties: dict[str, str] = {}
    if issue.path is not None:
        properties = {"file": visible(issue.path), "line": str(issue.line), "endLine": str(issue.end_line)}
        if issue.line == issue.end_line and issue.end_column > issue.column:  # columns count on one line alone
            properties |= {"col": str(issue.column), "endColumn": str(issue.end_column)}
    title = issue.code if issue.check == issue.code else f"{issue.code} {issue.check}"
    properties_text = [f"{key}={_escaped(value, _PROPERTY)}" for key, value in {**properties, "title": title}.items()]
    return f"::{_COMMANDS[issue.level]} {','.join(properties_text)}::{_escaped(issue.text, _DATA)}"


def _escaped(text: str, rule: tuple[tuple[str, str], ...]) -> str:
    for character, code in rule:
        text = text.replace(character, code)
    return text
