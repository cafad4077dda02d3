"""The settings in force: flags, then the project file, then the defaults of the command."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from plansafe.app.options.shared import project_options
from plansafe.app.project.project_file import Project
from plansafe.app.session.model import Settings

COPIED_KEYS = frozenset(
    (
        "judge",
        "min_severity",
        "blame",
        "home",
        "ignore",
        "select",
        "baseline",
        "allow_in_plans",
        "limits.time",
        "limits.findings",
        "limits.instances",
    )
)
"""Keys of the project file whose values become settings unchanged."""
_OF_GATES = frozenset(("judge", "min_severity", "home", "ignore", "select", "baseline", "allow_in_plans"))
"""What decides: under ``--gate`` the command line alone says that."""


class InForce(NamedTuple):
    """What a command works with; which keys of the project file it has, and where the value of each comes from."""

    settings: Settings
    form: str
    memory: int
    keys: Collection[str]
    origins: dict[str, str]


def in_force(
    flags: Mapping[str, str],
    known: Collection[str],
    settings: Settings,
    form: str,
    memory: int,
    project: Project | None,
    forms: tuple[str, ...],
) -> InForce:
    """Put what the project file says in the place of what no flag says.

    ``flags`` are the keys that the command line sets, each with its flag, ``known`` the keys that the command has,
    and ``forms`` its formats.
    """
    if project is None:
        return InForce(settings, form, memory, known, dict(flags))
    # Plans of another world than the file is about are given with all that they need.
    world = settings.world if "world" in flags or settings.loose else project.world
    if world != project.world:
        project = project._replace(domain=None, problem=None, specifications=None, world=None, scene=None, goal=None)
        project = project._replace(
            home=None, ignore=None, select=None, baseline=None
        )  # whose things are those of the file's own world
    settings = settings._replace(world=world, project=project)
    said: dict[str, object] = {**project._asdict(), **{f"limits.{k}": v for k, v in project.limits._asdict().items()}}
    for key in ("home", "baseline"):
        if said[key] is not None:
            said[key] = project.beside(str(said[key]))
    if said["format"] not in forms:
        said["format"] = None
    if settings.gate:
        said.update(dict.fromkeys(_OF_GATES))
        if settings.judge is None and "world" not in flags:
            settings = settings._replace(judge="all")  # a world that the file names must not make it milder
    used = {key: said[key] for key in known if said[key] is not None and key not in flags}
    options = project_options()
    changed = {options[key].setting or key: value for key, value in used.items() if key in COPIED_KEYS}
    settings = settings._replace(**changed)  # type: ignore[arg-type] # typed when the file was read
    form = str(used.get("format", form))
    if "limits.memory" in used and project.limits.memory is not None:
        memory = project.limits.memory
    origins = {key: f"{project.path}:{project.line(key.rpartition('.')[2])}" for key in used}
    return InForce(settings, form, memory, known, {**origins, **flags})
