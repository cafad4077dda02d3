"""SARIF 2.1.0 with repairs: the log of an audit, whose results have the nearest safe plan as their fix."""

from __future__ import annotations

from plansafe.app.render.difference import replacements, sentence
from plansafe.app.render.sarif import Fix, SarifRenderer
from plansafe.app.session.diagnosis import Examined
from plansafe.app.session.model import Settings


class RepairSarifRenderer:
    """Collects the examined plans; :meth:`end` writes the log."""

    def __init__(self, settings: Settings, version: str) -> None:
        self._sarif = SarifRenderer(version, settings.every)

    def plan(self, examined: Examined, written: str | None = None) -> str:  # noqa: ARG002 - as other renderers
        """Collect one plan; nothing is written yet."""
        outcome = [] if examined.outcome is None else [examined.outcome.message, *examined.outcome.notes]
        self._sarif.add(examined.result, examined.exit_code, _fix(examined), outcome)
        return ""

    def end(self) -> str:
        """Write the log that all results are in."""
        return self._sarif.end()


def _fix(examined: Examined) -> Fix | None:
    """The repair as an edit of the plan's text; ``None`` without a repair."""
    if examined.best is None or examined.text is None or not examined.best.edits:
        return None
    plan = examined.result.inputs[0].source
    words = sentence(examined.original, examined.best)
    return Fix(f"nearest safe plan: {words}", tuple(replacements(plan.text, examined.text)))
