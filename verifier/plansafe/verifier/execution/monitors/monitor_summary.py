"""A summary of all monitors when a runtime is first copied: its copies examine only the monitors changed since.

A plan affects a few of hundreds of monitors. Thus the end of a run costs time linear in the affected monitors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.latch import Latch
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.rules.model import RulePart

StateMonitor = InvariantMonitor | Automaton


class MonitorSummary(NamedTuple):
    """The monitors (by number) and checks (by predicate) that have something to report."""

    end_monitors: tuple[int, ...]
    """The monitors that the end of the trace concerns."""
    reporting_monitors: tuple[int, ...]
    """The monitors with violations or undecided instances."""
    reporting_checks: tuple[int, ...]
    """The predicates of checks with violations or undecided instances."""
    candidate_counts: tuple[int, ...]
    """By rule, how many bindings the triggers of its monitors have found."""


def summarize_monitors(
    monitors: Sequence[StateMonitor],
    checks: Mapping[int, Sequence[StepCheck]],
    parts: Sequence[RulePart],
    rule_count: int,
) -> MonitorSummary:
    """Summarize all monitors and checks."""
    candidate_counts = [0] * rule_count
    for monitor in monitors:
        candidate_counts[parts[monitor.part].rule] += count_candidates(monitor)
    return MonitorSummary(
        tuple([n for n, monitor in enumerate(monitors) if monitor.affects_end]),
        tuple([n for n, monitor in enumerate(monitors) if monitor.violations or monitor.undecided]),
        tuple([p for p, entries in checks.items() if any([c.violations or c.undecided for c in entries])]),
        tuple(candidate_counts),
    )


def count_candidates(monitor: StateMonitor) -> int:
    """Return how many bindings the triggers of a monitor have found; 0 for latches, which several rules share."""
    return 0 if isinstance(monitor, Latch) else monitor.candidate_count
