"""Settings for files in an editor: from the project file of their folder and from the editor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from plansafe.app.options.shared import project_options
from plansafe.app.project.project_file import BadProject, find_project
from plansafe.app.session.configuration import in_force
from plansafe.app.session.model import Settings
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.verifier.rules.verdict_criteria import JUDGE_MODES, SEVERITIES

SECONDS = 20.0
"""Default time limit for one plan; the project file can change it."""
_TEXTS = {"domain": "domain", "problem": "problem", "world": "world", "scene": "scene", "goal": "goal", "task": "task"}
_KEYS = {"specs": "specifications"}
_CHOICES = {"judge": ("judge", JUDGE_MODES), "minSeverity": ("min_severity", SEVERITIES)}


class EffectiveSettings(NamedTuple):
    """The settings in force, and the errors in the project file or the editor settings (which are then ignored)."""

    settings: Settings
    problems: tuple[Diagnostic, ...] = ()


def effective_settings(folder: str, editor_settings: Mapping[str, Any]) -> EffectiveSettings:
    """Return the settings of a workspace folder; editor settings override the project file."""
    problems: list[Diagnostic] = []
    overrides = _read_editor_settings(editor_settings, problems)
    try:
        project = find_project(folder)
    except BadProject as bad:
        project = None
        problems += bad.diagnostics
    given_options = {_KEYS.get(field, field): "the editor" for field in overrides}
    base = Settings(time_limit=SECONDS)._replace(**overrides)
    configuration = in_force(given_options, project_options(), base, "full", 0, project, ())
    return EffectiveSettings(configuration.settings, tuple(problems))


def _read_editor_settings(editor_settings: Mapping[str, Any], problems: list[Diagnostic]) -> dict[str, Any]:
    overrides: dict[str, Any] = {}
    for key, value in editor_settings.items():
        if value in (None, "", []):
            continue  # editors also send settings without a value
        if key in _TEXTS and isinstance(value, str):
            overrides[_TEXTS[key]] = value
        elif key in _CHOICES and value in _CHOICES[key][1]:
            overrides[_CHOICES[key][0]] = value
        elif key == "specifications" and isinstance(value, list) and all([isinstance(spec, str) for spec in value]):
            overrides["specs"] = tuple(value)
        elif key in (*_TEXTS, *_CHOICES, "specifications") or (key == "lint" and not isinstance(value, bool)):
            problems.append(Diagnostic(SC.BAD_OPTION, f"the editor setting `safecheck.{key}` has an invalid value"))
    return overrides
