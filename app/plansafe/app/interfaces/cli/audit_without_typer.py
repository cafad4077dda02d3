"""Plain audits: plans and the usual flags, read without Typer, whose import takes half of the start of the process.

What is not known here, a mistake above all, is left to the whole command line; a test holds the two to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.app.interfaces.cli.audit_command import audit_plans
from plansafe.app.project.project_file import FORMATS, BadProject, find_project
from plansafe.app.session.configuration import KEYS, in_force
from plansafe.app.session.model import Settings
from plansafe.app.system.process import MEMORY_MIB, guarded, limit_memory

_VALUES = {"--format": FORMATS, "--replay": ("auto", "always", "never")}
_FILES = ("--domain", "--problem", "--output")
_SWITCHES = ("--no-default-spec", "--gate", "--allow-no-rules", "--require-rules", "--all", "--no-project")


class Plain(NamedTuple):
    """What a plain command line says: plans, files and choices by flag, specifications, switches."""

    plans: list[str]
    values: dict[str, str]
    specs: list[str]
    switches: set[str]


def read(arguments: Sequence[str]) -> Plain | None:
    """Read a command line; ``None`` of one that is not plain."""
    said = Plain([], {}, [], set())
    words = iter(arguments)
    for word in words:
        if word[:1] != "-" or word == "-":
            said.plans.append(word)
        elif word in _SWITCHES:
            said.switches.add(word)
        else:
            value = next(words, "-")
            if value[:1] == "-" or word in said.values:
                return None
            if word == "--spec":
                said.specs.append(value)
            elif word in _FILES or value in _VALUES.get(word, ()):
                said.values[word] = value
            else:
                return None
    if not said.plans or (arguments[0][:1] != "-" and arguments[0].replace("-", "").isalpha()):
        return None  # the first word may be the name of a command, or nearly one
    return said


def settings(said: Plain) -> Settings:
    """What is asked for, but for the project file."""
    return Settings(
        domain=said.values.get("--domain"),
        problem=said.values.get("--problem"),
        specs=tuple(said.specs),
        default_spec="--no-default-spec" not in said.switches,
        gate="--gate" in said.switches,
        allow_no_rules="--allow-no-rules" in said.switches,
        require_rules="--require-rules" in said.switches,
        every="--all" in said.switches,
        replay=said.values.get("--replay", "auto"),
    )


def run(said: Plain) -> int | None:
    """Audit. An exit code; ``None`` where the project file has a mistake, which the whole command line tells."""
    try:
        project = None if "--no-project" in said.switches else find_project()
    except BadProject:
        return None
    given = {*said.values, *said.switches, *["--spec" for _ in said.specs]}
    now = in_force(given, KEYS, settings(said), said.values.get("--format", "full"), MEMORY_MIB, project, FORMATS)
    limit_memory(now.memory)
    return guarded(lambda: audit_plans(said.plans, now.settings, now.form, said.values.get("--output")))
