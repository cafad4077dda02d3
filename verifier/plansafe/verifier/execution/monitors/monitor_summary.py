"""What all monitors said when a runtime was first copied: copies look again only at those that changed since.

Hundreds of parts are watched, and a plan moves a few of them. What the others found (nearly always nothing) is summed
up once, so that the end of a run costs what the run touched, not what the rules are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.latch import Latch
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.rules.model import RulePart

StateMonitor = Invariant | Automaton


class MonitorSummary(NamedTuple):
    """What monitors (by number) and checks (by predicate) had to tell."""

    end_monitors: tuple[int, ...]
    """The monitors that had still to judge the end."""
    telling: tuple[int, ...]
    """The monitors with violations or undecided instances."""
    telling_checks: tuple[int, ...]
    """The predicates of such checks."""
    touches: tuple[int, ...]
    """Of each rule, how often changes had brought its condition into play."""


def summarize_monitors(
    monitors: Sequence[StateMonitor], checks: Mapping[int, Sequence[StepCheck]], parts: Sequence[RulePart], rules: int
) -> MonitorSummary:
    """Look at all of them; there are so many ``rules``."""
    touches = [0] * rules
    for monitor in monitors:
        touches[parts[monitor.part].rule] += touch_count(monitor)
    return MonitorSummary(
        tuple([n for n, monitor in enumerate(monitors) if monitor.affects_end]),
        tuple([n for n, monitor in enumerate(monitors) if monitor.violations or monitor.undecided]),
        tuple([p for p, entries in checks.items() if any([c.violations or c.undecided for c in entries])]),
        tuple(touches),
    )


def touch_count(monitor: StateMonitor) -> int:
    """How often changes brought the condition of a monitor's rule into play; latches are no conditions of rules."""
    return 0 if isinstance(monitor, Latch) else monitor.touches
