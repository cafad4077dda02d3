"""The safety specifications that come with safecheck: one ``.safe`` file each.

Paths are computed from the location of this package rather than through ``importlib.resources``, which loads zipfile
and tempfile and would cost more than a small audit.
"""

from __future__ import annotations

import os
import re

_ROOT = os.path.dirname(os.path.abspath(__file__))
_SUFFIX = ".safe"
_NAME = re.compile(r"[a-z][a-z0-9_-]*\Z")
_DEFAULT_SPECS: dict[str, tuple[str, ...]] = {
    "earbench": ("home", "home-earbench"),
    "household": ("household",),
    "igibson": ("home", "home-igibson"),
    "omnigibson": ("home", "home-omnigibson"),
    "safeagentbench": ("home", "home-safeagentbench"),
    "virtualhome": ("home", "home-virtualhome"),
}


def spec_names() -> tuple[str, ...]:
    """The names of the shipped specifications, sorted."""
    names = (entry.removesuffix(_SUFFIX) for entry in os.listdir(_ROOT) if entry.endswith(_SUFFIX))
    return tuple(sorted(name for name in names if _is_shipped(name)))


def spec_path(name: str) -> str:
    """The absolute path of the shipped specification ``name`` (case is ignored).

    Raises ``KeyError`` if no shipped specification has this name, also for a path such as ``../x``.
    """
    folded = name.lower()
    if not _is_shipped(folded):
        raise KeyError(name)
    return _make_spec_path(folded)


def list_detector_worlds() -> tuple[str, ...]:
    """The worlds that have a shipped detector table, sorted."""
    names = [entry.removeprefix("detector-").removesuffix(".toml") for entry in os.listdir(_ROOT)]
    return tuple(sorted([name for name in names if find_detector_path(name) is not None]))


def find_detector_path(world: str) -> str | None:
    """The absolute path of the shipped detector table for a world, if there is one."""
    path = os.path.join(_ROOT, f"detector-{world.lower()}.toml")
    return path if _NAME.match(world.lower()) and os.path.isfile(path) else None


def default_specs(domain_name: str) -> tuple[str, ...]:
    """The default specifications of a domain; may be empty."""
    return _DEFAULT_SPECS.get(domain_name.lower(), ())


def _is_shipped(name: str) -> bool:
    return _NAME.match(name) is not None and os.path.isfile(_make_spec_path(name))


def _make_spec_path(name: str) -> str:
    return os.path.join(_ROOT, name + _SUFFIX)
