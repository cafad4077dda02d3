"""Find shipped domains and specifications by name; a file of the same name takes precedence."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plansafe.app.project.project import Project

STDIN = "-"
_LONGEST_NAME = 60


def named_in(project: Project, name: str, shipped: Callable[[str], str | None]) -> str:
    """Resolve a name in the project file: a path relative to its folder, otherwise a shipped file."""
    path = project.resolve(name)
    return path if is_path(name) or os.path.exists(path) else shipped(name) or path


def shipped_or_file(path: str) -> str:
    """Resolve ``--domain household`` to the shipped domain, unless a file has this name."""
    if path == STDIN or is_path(path) or os.path.exists(path):
        return path
    return shipped_domain(path) or path


def shipped_domain(name: str) -> str | None:
    """The path of the shipped domain of that name, if there is one."""
    from plansafe.domains import domain_path  # noqa: PLC0415 - not needed when flags decide

    try:
        return as_read(domain_path(name))
    except KeyError:
        return None


def shipped_spec(name: str) -> str | None:
    """The path of the shipped specification of that name, if there is one."""
    from plansafe.specs import spec_path  # noqa: PLC0415 - not needed when flags decide

    try:
        return as_read(spec_path(name))
    except KeyError:
        return None


def as_read(path: str) -> str:
    """Shorten a path below the current folder for messages."""
    below = os.path.join(os.getcwd(), "")
    return path.removeprefix(below)


def is_path(name: str) -> bool:
    """True if a name looks like a path."""
    return "/" in name or os.sep in name or os.path.splitext(name)[1] in (".pddl", ".safe")


def nearest_shipped(path: str, role: str) -> str | None:
    """The shipped domain or specification with the most similar name."""
    import difflib  # noqa: PLC0415 - needed for mistakes alone

    from plansafe.domains import domain_names  # noqa: PLC0415 - needed for mistakes alone
    from plansafe.specs import spec_names  # noqa: PLC0415

    names = domain_names() if role in ("domain", "base") else spec_names() if role == "specification" else ()
    near = difflib.get_close_matches(path.lower(), names, n=1, cutoff=0.75) if len(path) <= _LONGEST_NAME else []
    return near[0] if near else None
