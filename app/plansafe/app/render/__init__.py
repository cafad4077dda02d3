"""Renderers: results to text, one file for each output format."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from plansafe.app.session.model import Result, Settings
from plansafe.app.system.terminal_text import PLAIN, Style
from plansafe.app.system.version import version
from plansafe.grammar.named_tuple import NamedTuple

FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")


class Renderer(Protocol):
    """Turns results into text, one at a time."""

    def plan(self, result: Result) -> str:
        """Render one result."""

    def end(self) -> str:
        """Render the text that follows the last result."""


class _Writer(NamedTuple):
    """The class of a renderer as ``module:class``, and its arguments. The module is imported when it is asked for."""

    place: str
    arguments: Callable[[Settings, Style], tuple[object, ...]]


_WRITERS = {
    "full": _Writer("full:FullRenderer", lambda settings, style: (style, settings.full_state, settings.every)),
    "concise": _Writer("concise:ConciseRenderer", lambda settings, style: (style, settings.every)),
    "json": _Writer("json:JsonRenderer", lambda settings, _: (settings, version())),
    "sarif": _Writer("sarif:SarifRenderer", lambda settings, _: (version(), settings.every)),
    "github": _Writer("github:GithubRenderer", lambda settings, _: (settings.every,)),
    "gitlab": _Writer("gitlab:GitlabRenderer", lambda settings, _: (settings.every,)),
    "junit": _Writer("junit:JunitRenderer", lambda *_: ()),
}


def renderer(form: str, settings: Settings, style: Style = PLAIN) -> Renderer:
    """Make the renderer of a format. Raises ``ValueError`` for an unknown format."""
    if form not in _WRITERS:
        raise ValueError(f"no such format: {form}")
    writer = _WRITERS[form]
    module, _, name = writer.place.partition(":")
    made: Renderer = getattr(import_module(f"{__name__}.{module}"), name)(*writer.arguments(settings, style))
    return made
