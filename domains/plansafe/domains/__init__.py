"""Shipped PDDL domains and importers of home worlds: one folder each, with a ``domain.pddl``.

Paths are computed from the location of this package rather than through ``importlib.resources``, which loads zipfile
and tempfile and would cost more than a small audit.
"""

from __future__ import annotations

import os
import re

_ROOT = os.path.dirname(os.path.abspath(__file__))
_NAME = re.compile(r"[a-z][a-z0-9_-]*\Z")


def domain_names() -> tuple[str, ...]:
    """The names of the shipped domains, sorted."""
    return tuple(sorted(entry for entry in os.listdir(_ROOT) if _is_shipped(entry)))


def domain_path(name: str) -> str:
    """The absolute path of the shipped domain ``name`` (letters of any case).

    Raises ``KeyError`` if no domain of that name is shipped, also for a name such as ``../x``.
    """
    folded = name.lower()
    if not _is_shipped(folded):
        raise KeyError(name)
    return _file(folded)


def _is_shipped(name: str) -> bool:
    return _NAME.match(name) is not None and os.path.isfile(_file(name))


def _file(name: str) -> str:
    return os.path.join(_ROOT, name, "domain.pddl")
