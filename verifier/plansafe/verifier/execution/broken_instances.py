"""The instances of rules that steps break, found by comparing the monitors before and after the steps."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress, count, starmap
from operator import is_not
from typing import NamedTuple

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.rules.verdict_criteria import CAUSED_BLAMES, VerdictCriteria


class BrokenInstance(NamedTuple):
    """An instance of a rule part that a step violates, or (``undecided``) that reads an undefined number there."""

    part: int
    binding: tuple[int, ...]
    undecided: bool = False


class StepOption(NamedTuple):
    """A legal step and the instances that it would break, sorted by part and binding; preferences are left out."""

    step: GroundAction
    broken: tuple[BrokenInstance, ...] = ()


def find_new_violations(
    before: Runtime, after: Runtime, criteria: VerdictCriteria | None = None
) -> tuple[BrokenInstance, ...]:
    """Return the instances broken between two runtimes of an execution, the second at most one step after the first.

    With ``criteria``: the instances that decide the verdict after the step and did not before. Otherwise all instances
    except those of preferences.
    """
    broken: set[BrokenInstance] = set()
    find_broken_since = (
        find_caused_violations_since if criteria is not None and criteria.ignores_preexisting else find_violations_since
    )
    for number in find_changed_monitors(before, after):
        broken.update(find_broken_since(before.monitors[number], after.monitors[number]))
    for predicate, new_checks in after.checks.items():
        old_checks = before.checks[predicate]
        if new_checks is not old_checks:
            for old_check, new_check in zip(old_checks, new_checks, strict=True):
                broken.update(find_violations_since(old_check, new_check))
    return remove_preferences(before, broken) if criteria is None else select_decisive(before, broken, criteria)


def find_changed_monitors(before: Runtime, after: Runtime) -> list[int]:
    """Return the numbers of the monitors that differ between two runtimes of an execution."""
    return list(compress(count(), starmap(is_not, zip(before.monitors, after.monitors, strict=True))))


def find_lasting_violations(runtime: Runtime, criteria: VerdictCriteria) -> tuple[BrokenInstance, ...]:
    """Return the broken instances that decide the verdict whatever steps follow."""
    broken = [BrokenInstance(part, (), undecided=True) for part in runtime.too_large]
    find_broken_since = find_caused_violations_since if criteria.ignores_preexisting else find_violations_since
    for monitor in runtime.monitors:
        broken += find_broken_since(None, monitor)
    for check in [check for checks in runtime.checks.values() for check in checks]:
        broken += find_violations_since(None, check)
    return select_decisive(runtime, broken, criteria)


def has_lasting_violation(runtime: Runtime, criteria: VerdictCriteria) -> bool:
    """Whether some violation decides the verdict whatever steps follow."""
    nondecisive_parts = runtime.rule_set.find_nondecisive_parts(criteria)
    numbers, predicates = runtime.find_possible_violators()
    for monitor in [runtime.monitors[number] for number in numbers]:
        if monitor.part not in nondecisive_parts and (
            _find_blamed_bindings(monitor) if criteria.ignores_preexisting else _is_violated(monitor)
        ):
            return True
    return any([bool(c.violations) and c.part not in nondecisive_parts for p in predicates for c in runtime.checks[p]])


def _is_violated(monitor: InvariantMonitor | Automaton) -> bool:
    """Whether a monitor has a violation, whatever its blame, that lasts or has been recorded."""
    return bool(monitor.violations) or (
        isinstance(monitor, InvariantMonitor) and not monitor.final and bool(monitor.episodes)
    )


def find_violations_since(
    old: InvariantMonitor | Automaton | StepCheck | None, new: InvariantMonitor | Automaton | StepCheck
) -> list[BrokenInstance]:
    """Return the instances that ``new``, a later copy of a monitor, reports and ``old`` does not.

    ``old`` is ``None`` for all instances that ``new`` reports.
    """
    if not isinstance(new, InvariantMonitor):
        old_count = 0 if old is None else len(old.violations)
        bindings = [violation.binding for violation in new.violations[old_count:]]
    elif new.final:
        return []
    elif old is None:
        # An invariant records a violation when its episode ends.
        bindings = [*new.episodes, *[violation.binding for violation in new.violations]]
    else:
        assert isinstance(old, InvariantMonitor)
        bindings = [binding for binding in new.episodes if binding not in old.episodes]
    return [BrokenInstance(new.part, binding) for binding in bindings] + _find_undecided_since(old, new)


def find_caused_violations_since(
    old: InvariantMonitor | Automaton | None, new: InvariantMonitor | Automaton
) -> list[BrokenInstance]:
    """Return the instances with a violation that the plan caused according to ``new`` but not according to ``old``.

    The plan causes a violation that it introduces or worsens. It worsens a violation of letter 0 if a step changes a
    fact that the instance reads and does not end the violation.
    """
    if isinstance(new, InvariantMonitor) and new.final:
        return []
    old_bindings = set() if old is None else _find_blamed_bindings(old)
    instances = [BrokenInstance(new.part, binding) for binding in _find_blamed_bindings(new) - old_bindings]
    return instances + _find_undecided_since(old, new)


def _find_blamed_bindings(monitor: InvariantMonitor | Automaton) -> set[tuple[int, ...]]:
    """Return the bindings under which the plan has introduced or worsened a violation until now."""
    if isinstance(monitor, Automaton):
        return {
            v.binding
            for number, v in enumerate(monitor.violations)
            if monitor.violation_log.decide_blame(number) in CAUSED_BLAMES
        }
    bindings = {violation.binding for violation in monitor.violations if violation.blame in CAUSED_BLAMES}
    if monitor.final:
        return bindings
    for binding, episode in monitor.episodes.items():
        if episode.decide_blame(mentions_actions=monitor.mentions_actions) in CAUSED_BLAMES:
            bindings.add(binding)
    return bindings


def _find_undecided_since(
    old: InvariantMonitor | Automaton | StepCheck | None, new: InvariantMonitor | Automaton | StepCheck
) -> list[BrokenInstance]:
    """Return the instances that are undecided in ``new`` but not in ``old`` (``None``: all)."""
    if not new.undecided:
        return []
    bindings = new.undecided if old is None else new.undecided - old.undecided
    return [BrokenInstance(new.part, binding, undecided=True) for binding in bindings]


def find_undecided_instances(runtime: Runtime) -> list[BrokenInstance]:
    """Return the instances that read an undefined number."""
    return [BrokenInstance(part, binding, undecided=True) for part, binding in runtime.collect_undecided()]


def remove_preferences(runtime: Runtime, broken: Iterable[BrokenInstance]) -> tuple[BrokenInstance, ...]:
    """Return the instances of rules that are not preferences, sorted."""
    preference_parts = runtime.rule_set.preference_parts
    return tuple(sorted([instance for instance in broken if instance.part not in preference_parts]))


def select_decisive(
    runtime: Runtime, broken: Iterable[BrokenInstance], criteria: VerdictCriteria
) -> tuple[BrokenInstance, ...]:
    """Return the instances that keep a plan from being SAFE, sorted; undecided preferences are among them."""
    nondecisive_parts = runtime.rule_set.find_nondecisive_parts(criteria)
    insignificant_parts = runtime.rule_set.find_parts_below_severity(criteria)
    return tuple(
        sorted([b for b in broken if b.part not in (insignificant_parts if b.undecided else nondecisive_parts)])
    )
