"""Domains and specifications that are shipped, by name; a file of that name goes before."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plansafe.app.project.project_file import Project

STDIN = "-"
_LONGEST_NAME = 60


def named_in(project: Project, name: str, shipped: Callable[[str], str | None]) -> str:
    """A file beside the project file, or what is shipped under that name if there is no such file."""
    path = project.beside(name)
    return path if is_path(name) or os.path.exists(path) else shipped(name) or path


def shipped_or_file(path: str) -> str:
    """Read ``--domain household`` as the shipped domain of that name, unless there is such a file."""
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
    """Write a path from the current folder if it lies below it: people read it."""
    below = os.path.join(os.getcwd(), "")
    return path.removeprefix(below)


def is_path(name: str) -> bool:
    """Whether a name is written as that of a file."""
    return "/" in name or os.sep in name or os.path.splitext(name)[1] in (".pddl", ".safe")


def nearest_shipped(path: str, role: str) -> str | None:
    """The shipped domain or specification of nearly that name."""
    import difflib  # noqa: PLC0415 - needed for mistakes alone

    from plansafe.domains import domain_names  # noqa: PLC0415 - needed for mistakes alone
    from plansafe.specs import spec_names  # noqa: PLC0415

    names = domain_names() if role in ("domain", "base") else spec_names() if role == "specification" else ()
    near = difflib.get_close_matches(path.lower(), names, n=1, cutoff=0.75) if len(path) <= _LONGEST_NAME else []
    return near[0] if near else None
