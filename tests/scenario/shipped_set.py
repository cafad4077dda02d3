"""Load a shipped set of scenarios and check the loading time."""

from __future__ import annotations

from time import process_time

from plansafe.llm.scenarios.model import Scenario
from plansafe.llm.scenarios.sets.reading import load_set


def load_in_time(name: str) -> tuple[Scenario, ...]:
    """Load the scenarios of a set; fail if that takes more than 20 seconds of CPU time."""
    started = process_time()
    scenarios = load_set(name)
    assert process_time() - started < 20  # 5 s on a machine without load
    return scenarios
