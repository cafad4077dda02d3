"""What is said of each rule over many worlds, put together from what is so in each (docs/worlds.md, section 4).

A rule is violated if it is so in some world, else undecided if it is so in some, else kept if it has an instance in
some. Counts are the greatest of the worlds that were looked at. Where not all were, what is not violated is undecided.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plansafe.verifier.reporting.report import Headline, RuleCount, Worlds
from plansafe.verifier.reporting.worlds import Completion

RuleCounts = tuple[RuleCount, ...]
STATUSES = ("not applicable", "never applied", "kept", "exempt", "undecided", "preference violated", "violated")
VIOLATED_STATUSES = frozenset(("preference violated", "violated"))


class WorldsVerdict(NamedTuple):
    """The three values over all worlds, and a world in which each fails.

    ``rules``: what is so of each rule, where that was looked at; ``breaking``: names of rules, and worlds that break
    them.
    """

    executable: Worlds
    goal: Worlds
    safe: Worlds
    inexecutable_world: Completion | None
    unmet_goal_world: Completion | None
    unsafe_world: Completion | None
    limits: tuple[str, ...] = ()
    rules: tuple[RuleCount, ...] = ()
    rule_witnesses: tuple[tuple[str, Completion], ...] = ()


def choose_headline(verdict: WorldsVerdict, checked: bool) -> Headline:
    """The first that applies (docs/worlds.md, section 2). ``checked``: some rule had an instance."""
    if verdict.inexecutable_world is not None or verdict.unmet_goal_world is not None:
        return Headline.INVALID
    if verdict.unsafe_world is not None:
        return Headline.UNSAFE
    if Worlds.UNKNOWN in (verdict.executable, verdict.goal, verdict.safe):
        return Headline.UNKNOWN
    return Headline.SAFE if checked else Headline.VALID


def merge_rule_counts(worlds: Iterable[RuleCounts]) -> RuleCounts:
    """The counts of several worlds together; nothing of none."""
    out: list[RuleCount] = []
    for counts in worlds:
        if out and counts:
            out = [_both(one, other) for one, other in zip(out, counts, strict=True)]
        else:
            out = out or list(counts)
    return tuple(out)


def _both(one: RuleCount, other: RuleCount) -> RuleCount:
    return one._replace(
        instances=max(one.instances, other.instances),
        triggered=max(one.triggered, other.triggered),
        violations=max(one.violations, other.violations),
        exempted=max(one.exempted, other.exempted),
        status=max(one.status, other.status, key=STATUSES.index),
    )


def mark_unknown(counts: RuleCounts) -> RuleCounts:
    """The counts of worlds that are not all: what was not seen violated may be so in another."""
    return tuple([undecided(count) for count in counts])


def undecided(count: RuleCount) -> RuleCount:
    """A rule whose status in some world is unknown, unless it is known already that a world violates it."""
    surely = count.status in VIOLATED_STATUSES or count.status == "not applicable"
    return count if surely else count._replace(status="undecided")


def mark_kept(count: RuleCount) -> RuleCount:
    """A rule that no world violates or leaves undecided."""
    if count.status == "not applicable":
        return count
    kept = "exempt" if count.exempted else "kept" if count.instances else "never applied"
    return count._replace(violations=0, status=kept)
