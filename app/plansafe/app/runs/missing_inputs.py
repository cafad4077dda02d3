"""What all plans of a run would lack: a world or a file that a flag names for all of them, and that is not there."""

from __future__ import annotations

from collections.abc import Callable

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.project.shipped_files import STDIN, shipped_domain, shipped_spec
from plansafe.app.session.model import Settings
from plansafe.grammar.diagnostics import Diagnostic


def missing(settings: Settings) -> Diagnostic | None:
    """The first mistake that would be that of every plan; ``None`` where flags name what is there.

    Without it a slip of the pen in one flag becomes a run of ten thousand plans that were not judged. A pattern names
    another file for each plan: what it lacks is said at the plan.
    """
    if settings.world is not None:
        from plansafe.app.session.home_world import find_world  # noqa: PLC0415 - not needed for PDDL

        world = find_world(settings.world)
        if isinstance(world, Diagnostic):
            return world
    finder = Discovery(Choice())
    named: list[tuple[str, str | None, Callable[[str], str | None] | None]] = [
        ("domain", settings.domain, shipped_domain),
        ("problem", settings.problem, None),
        ("scene", settings.scene, None),
        ("goal", settings.goal, None),
        ("home", settings.home, None),
        *[("specification", spec, shipped_spec) for spec in settings.specs],
    ]
    for role, path, shipped in named:
        if path is None or path == STDIN or "{" in path:
            continue
        found = finder.read(path, role, "")
        if isinstance(found, Diagnostic) and (shipped is None or shipped(path) is None):
            return found
    return None
