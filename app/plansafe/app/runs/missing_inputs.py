"""Find a missing home world or file that an option names for all plans of a run."""

from __future__ import annotations

from collections.abc import Callable

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.project.shipped_files import STDIN, shipped_domain, shipped_spec
from plansafe.app.session.model import Settings
from plansafe.grammar.diagnostics import Diagnostic


def find_missing_input(settings: Settings) -> Diagnostic | None:
    """The first missing input that all plans would share; ``None`` if all named inputs exist.

    Without this check a typing error in one option results in a run of ten thousand plans that are not checked. A
    pattern names a different file for each plan; the row of the plan reports a missing one.
    """
    if settings.world is not None:
        from plansafe.app.session.home_world import find_world  # noqa: PLC0415 - not needed for PDDL

        world = find_world(settings.world)
        if isinstance(world, Diagnostic):
            return world
    finder = Discovery(Choice())
    candidates: list[tuple[str, str | None, Callable[[str], str | None] | None]] = [
        ("domain", settings.domain, shipped_domain),
        ("problem", settings.problem, None),
        ("scene", settings.scene, None),
        ("goal", settings.goal, None),
        ("home", settings.home, None),
        *[("specification", spec, shipped_spec) for spec in settings.specs],
    ]
    for role, path, shipped in candidates:
        if path is None or path == STDIN or "{" in path:
            continue
        file = finder.read(path, role, "")
        if isinstance(file, Diagnostic) and (shipped is None or shipped(path) is None):
            return file
    return None
