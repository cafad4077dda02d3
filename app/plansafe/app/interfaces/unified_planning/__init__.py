"""safecheck as engines of unified-planning: a plan validator and a plan repairer (docs/unified-planning.md).

Importing this package imports unified-planning; no other package imports it.
"""

from __future__ import annotations

from typing import Any

from unified_planning.environment import get_environment

ENGINES = {"safecheck": "SafecheckValidator", "safecheck-repair": "SafecheckRepairer"}
"""The classes of :mod:`.engine`, by the name of the engine."""


def register(environment: Any = None) -> None:
    """Add the engines to the factory of an environment (default: the global environment), unless it has them."""
    factory = get_environment(environment).factory
    for name, class_name in ENGINES.items():
        if name not in factory.engines:
            factory.add_engine(name, f"{__name__}.engine", class_name)
