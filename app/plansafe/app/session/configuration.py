"""Combine options, project file and defaults; options take precedence over the project file."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from plansafe.app.options.shared import project_options
from plansafe.app.project.project import Project
from plansafe.app.session.model import Settings
from plansafe.grammar.named_tuple import NamedTuple

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
"""Keys that affect the verdict; under ``--gate`` only the command line sets them."""


class InForce(NamedTuple):
    """The effective settings of a command, the keys that it supports, and the origin of each value."""

    settings: Settings
    form: str
    memory: int
    keys: Collection[str]
    origins: dict[str, str]


def in_force(
    flags: Mapping[str, str],
    supported: Collection[str],
    settings: Settings,
    form: str,
    memory: int,
    project: Project | None,
    forms: tuple[str, ...],
) -> InForce:
    """Use the values of the project file for keys without an option on the command line.

    ``flags`` maps the keys on the command line to their options. ``supported`` are the keys and ``forms`` the formats
    of the command.
    """
    if project is None:
        return InForce(settings, form, memory, supported, dict(flags))
    # For plans of another world, the command line gives all inputs.
    world = settings.world if "world" in flags or settings.loose else project.world
    if world != project.world:
        project = project._replace(domain=None, problem=None, specifications=None, world=None, scene=None, goal=None)
        project = project._replace(
            home=None, ignore=None, select=None, baseline=None
        )  # these refer to objects of the world in the project file
    settings = settings._replace(world=world, project=project)
    values: dict[str, object] = {**project._asdict(), **{f"limits.{k}": v for k, v in project.limits._asdict().items()}}
    for key in ("home", "baseline"):
        if values[key] is not None:
            values[key] = project.resolve(str(values[key]))
    if values["format"] not in forms:
        values["format"] = None
    if settings.gate:
        values.update(dict.fromkeys(_OF_GATES))
        if settings.judge is None and "world" not in flags:
            settings = settings._replace(judge="all")  # a world in the project file must not weaken the gate
    used = {key: values[key] for key in supported if values[key] is not None and key not in flags}
    options = project_options()
    changed = {options[key].setting or key: value for key, value in used.items() if key in COPIED_KEYS}
    settings = settings._replace(**changed)  # type: ignore[arg-type] # the reader of the file checks the types
    form = str(used.get("format", form))
    if "limits.memory" in used and project.limits.memory is not None:
        memory = project.limits.memory
    origins = {key: f"{project.path}:{project.line(key.rpartition('.')[2])}" for key in used}
    return InForce(settings, form, memory, supported, {**origins, **flags})
