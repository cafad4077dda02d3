"""Names of the documented Python API before they were renamed, for one release.

``from plansafe.specs.former_names import Monitor`` gives the present class and a ``DeprecationWarning`` with its place.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

FORMER_NAMES = {
    "Monitor": ("plansafe.verifier.execution.online_monitor", "Monitor"),
    "OwnSearch": ("plansafe.verifier.planning.forward_search", "ForwardSearch"),
    "Question": ("plansafe.verifier.rules.verdict_criteria", "VerdictCriteria"),
    "Regretted": ("plansafe.verifier.diagnose.regrets", "RegretCalculator"),
    "category_coverage": ("plansafe.specs.taxonomy", "find_category_coverage"),
    "coverage": ("plansafe.specs.taxonomy", "find_category_coverage"),
    "load": ("plansafe.specs.taxonomy", "load_taxonomies"),
    "minimal_cause": ("plansafe.verifier.diagnose.minimal_cause", "find_minimal_cause"),
    "read": ("plansafe.specs.taxonomy", "read_taxonomies"),
    "recoverable": ("plansafe.verifier.planning.guide", "check_recoverable"),
    "rule_coverage": ("plansafe.verifier.rules.domain_coverage", "describe_coverage"),
}
"""Maps each former name to the present module and name."""


def __getattr__(name: str) -> Any:
    """Import the object with a former name. Raises ``AttributeError`` for other names."""
    if name not in FORMER_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module_name, present_name = FORMER_NAMES[name]
    message = f"{name} is now {module_name}.{present_name}; the former name goes with the next release"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return getattr(import_module(module_name), present_name)
