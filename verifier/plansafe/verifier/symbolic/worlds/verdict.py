"""The verdict over many worlds: three values, the status of each rule, and the headline (docs/worlds.md).

A rule is violated if some world violates it, else undecided if it is undecided in some world, else kept if it has an
instance in some world. Its counts are the maximum over the worlds that were examined. If not all worlds were examined,
a rule without a violation is undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.outcome import Outcome
from plansafe.verifier.reporting.report import Headline, RuleCount, Worlds
from plansafe.verifier.reporting.summary import merge_violations
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.rules.model import Rule
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION

RuleCounts = tuple[RuleCount, ...]
"""The counts of each rule of a task, or none."""
ORDERED_STATUSES = ("not applicable", "never applied", "kept", "exempt", "undecided", "preference violated", "violated")
"""The statuses of a rule; over several worlds, the last of them counts."""
VIOLATED_STATUSES = frozenset(("preference violated", "violated"))


class WorldVerdict(NamedTuple):
    """The verdict in one world; ``None``: unknown. ``violated``: rules, by number."""

    executable: bool | None
    goal: bool | None
    safe: bool | None
    violated: frozenset[int] = frozenset()


def decide_in_world(compiled: CompiledTask, outcome: Outcome) -> WorldVerdict:
    """Decide the verdict in one world from the outcome of the *halt* reading."""
    has_stopped = bool(outcome.failures)
    is_unknown = outcome.limit is not None and not has_stopped
    violated = _list_violated_rules(compiled, outcome)
    is_undecided = compiled.engine.leaves_undecided(outcome.undecided, compiled.options.criteria)
    safe: bool | None = not violated
    if not violated and (is_undecided or outcome.limit is not None):
        safe = None
    return WorldVerdict(
        None if is_unknown else not has_stopped, None if is_unknown else outcome.goal is True, safe, violated
    )


def _list_violated_rules(compiled: CompiledTask, outcome: Outcome) -> frozenset[int]:
    """The rules (by number) with a violation that decides the verdict."""
    parts, rules, criteria = compiled.engine.rule_set.parts, compiled.engine.rule_set.rules, compiled.options.criteria
    hard_violations = [v for v in outcome.violations if not rules[parts[v.part].rule].preference]
    if not hard_violations or criteria == EVERY_VIOLATION:
        return frozenset([parts[v.part].rule for v in hard_violations])
    return frozenset(
        [
            violation.part.rule
            for violation in merge_violations(compiled, [outcome._replace(violations=tuple(hard_violations))])
            if criteria.is_decisive(violation.rule, violation.blame, [name for _, name in violation.binding])
        ]
    )


class WorldsVerdict(NamedTuple):
    """The three values over all worlds, and a world in which each property fails.

    ``rules`` is empty if rules were not counted. ``rule_witnesses``: names of rules, with a world that violates each.
    """

    executable: Worlds
    goal: Worlds
    safe: Worlds
    inexecutable_world: Completion | None
    unmet_goal_world: Completion | None
    unsafe_world: Completion | None
    limits: tuple[str, ...] = ()
    rules: RuleCounts = ()
    rule_witnesses: tuple[tuple[str, Completion], ...] = ()

    @property
    def failures(self) -> list[tuple[str, Completion]]:
        """The properties that fail in some world (``executable``, ``goal``, ``safe``), each with that world."""
        worlds = ("executable", self.inexecutable_world), ("goal", self.unmet_goal_world), ("safe", self.unsafe_world)
        return [(about, world) for about, world in worlds if world is not None]


def choose_headline(verdict: WorldsVerdict, has_instances: bool) -> Headline:
    """Choose the first headline that applies (docs/worlds.md, section 2).

    ``has_instances``: some rule that can decide the verdict has an instance.
    """
    if verdict.inexecutable_world is not None or verdict.unmet_goal_world is not None:
        return Headline.INVALID
    if verdict.unsafe_world is not None:
        return Headline.UNSAFE
    if Worlds.UNKNOWN in (verdict.executable, verdict.goal, verdict.safe):
        return Headline.UNKNOWN
    return Headline.SAFE if has_instances else Headline.VALID


def summarise_world(verdict: WorldVerdict, world: Completion, rules: Sequence[Rule]) -> WorldsVerdict:
    """The verdict on a world as a verdict over worlds; it is the witness of everything that fails in it."""
    values = {True: Worlds.ALL, False: Worlds.NONE, None: Worlds.UNKNOWN}
    return WorldsVerdict(
        values[verdict.executable],
        values[verdict.goal],
        values[verdict.safe],
        world if verdict.executable is False else None,
        world if verdict.goal is False else None,
        world if verdict.safe is False else None,
        rule_witnesses=tuple([(rules[rule].name, world) for rule in sorted(verdict.violated)]),
    )


def merge_verdicts(verdicts: Sequence[WorldsVerdict], limits: Iterable[str], rules: RuleCounts) -> WorldsVerdict:
    """Merge the verdicts on parts of the worlds; ``limits`` say why the other worlds were not examined."""
    limits = tuple(limits)
    rule_witnesses: dict[str, Completion] = {}
    for verdict in verdicts:
        for rule, world in verdict.rule_witnesses:
            rule_witnesses.setdefault(rule, world)
    return WorldsVerdict(
        _merge_values({verdict.executable for verdict in verdicts}, bool(limits)),
        _merge_values({verdict.goal for verdict in verdicts}, bool(limits)),
        _merge_values({verdict.safe for verdict in verdicts}, bool(limits)),
        _find_first_world([verdict.inexecutable_world for verdict in verdicts]),
        _find_first_world([verdict.unmet_goal_world for verdict in verdicts]),
        _find_first_world([verdict.unsafe_world for verdict in verdicts]),
        limits,
        mark_undecided(rules) if limits else rules,
        tuple(rule_witnesses.items()),
    )


def _find_first_world(worlds: Sequence[Completion | None]) -> Completion | None:
    return next((world for world in worlds if world is not None), None)


def _merge_values(values: set[Worlds], is_incomplete: bool) -> Worlds:
    """The value over several worlds from the values in each of them."""
    if Worlds.SOME in values or {Worlds.ALL, Worlds.NONE} <= values:
        return Worlds.SOME
    if is_incomplete or Worlds.UNKNOWN in values or not values:
        return Worlds.UNKNOWN
    return next(iter(values))


def merge_rule_counts(counts_by_world: Iterable[RuleCounts]) -> RuleCounts:
    """Merge the rule counts of several worlds; worlds with empty counts are skipped."""
    merged_counts: RuleCounts = ()
    for counts in counts_by_world:
        if merged_counts and counts:
            merged_counts = tuple([_merge_counts(*pair) for pair in zip(merged_counts, counts, strict=True)])
        else:
            merged_counts = merged_counts or counts
    return merged_counts


def _merge_counts(first: RuleCount, second: RuleCount) -> RuleCount:
    return first._replace(
        instances=max(first.instances, second.instances),
        triggered=max(first.triggered, second.triggered),
        violations=max(first.violations, second.violations),
        exempted=max(first.exempted, second.exempted),
        status=max(first.status, second.status, key=ORDERED_STATUSES.index),
    )


def mark_undecided(counts: RuleCounts) -> RuleCounts:
    """Mark the rules without a violation as undecided: not all worlds were examined."""
    return tuple([mark_rule_undecided(count) for count in counts])


def mark_rule_undecided(count: RuleCount) -> RuleCount:
    """Set the status to undecided, unless a violation was found or the rule is not applicable."""
    is_final = count.status in VIOLATED_STATUSES or count.status == "not applicable"
    return count if is_final else count._replace(status="undecided")


def mark_kept(count: RuleCount) -> RuleCount:
    """Set the status of a rule that no world violates or leaves undecided."""
    if count.status == "not applicable":
        return count
    status = "exempt" if count.exempted else "kept" if count.instances else "never applied"
    return count._replace(violations=0, status=status)
