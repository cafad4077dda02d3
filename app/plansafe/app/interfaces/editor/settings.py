"""What an editor's files are checked with: the project file of their folder, and what the editor itself is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from plansafe.app.options.shared import project_options
from plansafe.app.project.project_file import BadProject, find_project
from plansafe.app.session.configuration import in_force
from plansafe.app.session.model import Settings
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.verifier.rules.question import JUDGES, SEVERITIES

SECONDS = 20.0
"""For one plan, unless the project file says otherwise: who types does not wait for minutes."""
_TEXTS = {"domain": "domain", "problem": "problem", "world": "world", "scene": "scene", "goal": "goal", "task": "task"}
_KEYS = {"specs": "specifications"}
_CHOICES = {"judge": ("judge", JUDGES), "minSeverity": ("min_severity", SEVERITIES)}


class Configured(NamedTuple):
    """Settings, and what is wrong with the project file or with what the editor says (then that is left out)."""

    settings: Settings
    problems: tuple[Diagnostic, ...] = ()


def configured(folder: str, said: Mapping[str, Any]) -> Configured:
    """What is in force in a workspace folder; ``said`` is what the editor was told, which wins."""
    problems: list[Diagnostic] = []
    own = _own(said, problems)
    try:
        project = find_project(folder)
    except BadProject as bad:
        project = None
        problems += bad.diagnostics
    given = {_KEYS.get(field, field): "the editor" for field in own}
    base = Settings(time_limit=SECONDS)._replace(**own)
    now = in_force(given, project_options(), base, "full", 0, project, ())
    return Configured(now.settings, tuple(problems))


def _own(said: Mapping[str, Any], problems: list[Diagnostic]) -> dict[str, Any]:
    own: dict[str, Any] = {}
    for key, value in said.items():
        if value in (None, "", []):
            continue  # editors send every setting, those without a value too
        if key in _TEXTS and isinstance(value, str):
            own[_TEXTS[key]] = value
        elif key in _CHOICES and value in _CHOICES[key][1]:
            own[_CHOICES[key][0]] = value
        elif key == "specifications" and isinstance(value, list) and all([isinstance(one, str) for one in value]):
            own["specs"] = tuple(value)
        elif key in (*_TEXTS, *_CHOICES, "specifications") or (key == "lint" and not isinstance(value, bool)):
            problems.append(Diagnostic(SC.BAD_OPTION, f"the editor's setting `safecheck.{key}` cannot be used"))
    return own
