"""The settings in force: flags, then the project file, then the defaults of the command."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from plansafe.app.project.project_file import Project
from plansafe.app.session.model import Settings

PARAMETER_KEYS = {
    "domain": "domain",
    "problem": "problem",
    "spec": "specifications",
    "no_default_spec": "specifications",
    "world": "world",
    "scene": "scene",
    "goal": "goal",
    "judge": "judge",
    "min_severity": "min_severity",
    "blame": "blame",
    "home": "home",
    "ignore_rules": "ignore",
    "select_rules": "select",
    "baseline": "baseline",
    "allow_in_plans": "allow_in_plans",
    "form": "format",
    "time_limit": "limits.time",
    "memory_limit": "limits.memory",
    "max_findings": "limits.findings",
    "max_instances": "limits.instances",
}
"""Parameters of commands, and the keys of the project file that say the same."""
KEYS = frozenset(PARAMETER_KEYS.values())
_FIELDS = {
    "judge": "judge",
    "min_severity": "min_severity",
    "blame": "blame",
    "home": "home",
    "ignore": "ignore",
    "select": "select",
    "baseline": "baseline",
    "allow_in_plans": "allow_in_plans",
    "limits.time": "time_limit",
    "limits.findings": "max_findings",
    "limits.instances": "max_instances",
}
"""Keys whose values are settings as they are."""
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
    given: Collection[str],
    known: Collection[str],
    settings: Settings,
    form: str,
    memory: int,
    project: Project | None,
    forms: tuple[str, ...],
) -> InForce:
    """Put what the project file says in the place of what no flag says.

    ``given`` are flags, ``known`` the keys that the command knows of :data:`KEYS`, and ``forms`` its formats.
    """
    flags = {key: flag_of(name) for name, key in PARAMETER_KEYS.items() if flag_of(name) in given}
    if project is None:
        return InForce(settings, form, memory, known, flags)
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
    changed = {field: used[key] for key, field in _FIELDS.items() if key in used}
    settings = settings._replace(**changed)  # type: ignore[arg-type] # typed when the file was read
    form = str(used.get("format", form))
    if "limits.memory" in used and project.limits.memory is not None:
        memory = project.limits.memory
    origins = {key: f"{project.path}:{project.line(key.rpartition('.')[2])}" for key in used}
    return InForce(settings, form, memory, known, {**origins, **flags})


def flag_of(name: str) -> str:
    """The option of a parameter."""
    return "--format" if name == "form" else f"--{name.removesuffix('_rules').replace('_', '-')}"
