"""Load a shipped set as its tests do."""

from __future__ import annotations

from time import process_time

from plansafe.llm.scenarios.model import Scenario
from plansafe.llm.scenarios.sets.reading import load_set


def load_in_time(name: str) -> tuple[Scenario, ...]:
    """The scenarios of a set, loaded in the CPU time that its users can expect."""
    started = process_time()
    scenarios = load_set(name)
    assert process_time() - started < 20  # 5 s on a machine without load
    return scenarios
