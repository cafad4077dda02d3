"""Renderers: results to text, one file for each output format."""

from __future__ import annotations

import os
import sys
from typing import Protocol

from plansafe.app.session.model import Result, Settings
from plansafe.app.system.terminal_text import PLAIN, Style

FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")


class Renderer(Protocol):
    """Turns results into text, one at a time."""

    def plan(self, result: Result) -> str:
        """Render one result."""

    def end(self) -> str:
        """Render the text that follows the last result."""


def renderer(form: str, settings: Settings, style: Style = PLAIN) -> Renderer:
    """Choose the renderer of a format; only that one is imported. Raises ``ValueError`` for an unknown format."""
    match form:
        case "full":
            from plansafe.app.render.full import FullRenderer  # noqa: PLC0415 - one format is loaded, not all

            return FullRenderer(style, settings.full_state, settings.every)
        case "concise":
            from plansafe.app.render.concise import ConciseRenderer  # noqa: PLC0415 - one format is loaded, not all

            return ConciseRenderer(style, settings.every)
        case "json":
            from plansafe.app.render.json import JsonRenderer  # noqa: PLC0415 - one format is loaded, not all

            return JsonRenderer(settings, version())
        case "sarif":
            from plansafe.app.render.sarif import SarifRenderer  # noqa: PLC0415 - one format is loaded, not all

            return SarifRenderer(version())
        case "github":
            from plansafe.app.render.github import GithubRenderer  # noqa: PLC0415 - one format is loaded, not all

            return GithubRenderer(settings.every)
        case "gitlab":
            from plansafe.app.render.gitlab import GitlabRenderer  # noqa: PLC0415 - one format is loaded, not all

            return GitlabRenderer(settings.every)
        case "junit":
            from plansafe.app.render.junit import JunitRenderer  # noqa: PLC0415 - one format is loaded, not all

            return JunitRenderer()
    raise ValueError(f"no such format: {form}")


def version() -> str:
    """The installed version, or ``unknown`` in a bare checkout.

    Read from the name of the installed metadata's folder, as ``importlib.metadata`` would, whose import alone costs a
    small run an eighth of its time.
    """
    for place in sys.path:
        try:
            names = os.listdir(place or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith("plansafe-") and name.endswith(".dist-info"):
                return name[len("plansafe-") : -len(".dist-info")]
    return "unknown"
