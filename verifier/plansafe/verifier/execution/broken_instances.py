"""What steps break: the instances of rules whose violation begins between two states of the monitors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.rules.verdict_criteria import CAUSED_BLAMES, VerdictCriteria


class BrokenInstance(NamedTuple):
    """An instance of a part of a rule whose violation a step begins; ``undecided``: it meets an undefined number."""

    part: int
    binding: tuple[int, ...]
    undecided: bool = False


class StepOption(NamedTuple):
    """A legal step, and what it would break, in order of parts and bindings; preferences are left out."""

    step: GroundAction
    broken: tuple[BrokenInstance, ...] = ()


def new_violations(
    before: Runtime, after: Runtime, criteria: VerdictCriteria | None = None
) -> tuple[BrokenInstance, ...]:
    """The violations that began between two runtimes of one execution, the second a step (or none) after the first.

    With a ``criteria``, what decides since the second, and did not before; else all but what preferences say.
    """
    found: set[BrokenInstance] = set()
    since = caused_since if criteria is not None and criteria.only_introduced else violations_since
    for old, new in zip(before.monitors, after.monitors, strict=True):
        if old is not new:
            found.update(since(old, new))
    for predicate, checks in after.checks.items():
        known = before.checks[predicate]
        if checks is not known:
            for check, later in zip(known, checks, strict=True):
                found.update(violations_since(check, later))
    return without_preferences(before, found) if criteria is None else decisive(before, found, criteria)


def lasting_violations(runtime: Runtime, criteria: VerdictCriteria) -> tuple[BrokenInstance, ...]:
    """The violations that there are, whatever comes, and that decide."""
    found = [BrokenInstance(part, (), True) for part in runtime.too_large]
    since = caused_since if criteria.only_introduced else violations_since
    for monitor in runtime.monitors:
        found += since(None, monitor)
    for check in [check for checks in runtime.checks.values() for check in checks]:
        found += violations_since(None, check)
    return decisive(runtime, found, criteria)


def has_lasting_violation(runtime: Runtime, criteria: VerdictCriteria) -> bool:
    """Whether there are violations, whatever comes, that decide."""
    idle = runtime.rule_set.nondecisive_parts(criteria)
    numbers, predicates = runtime.suspects()
    for monitor in [runtime.monitors[number] for number in numbers]:
        if monitor.part not in idle and (_doings(monitor) if criteria.only_introduced else _violated(monitor)):
            return True
    return any([bool(c.violations) and c.part not in idle for p in predicates for c in runtime.checks[p]])


def _violated(monitor: Invariant | Automaton) -> bool:
    return bool(monitor.violations) or (isinstance(monitor, Invariant) and not monitor.final and bool(monitor.episodes))


def violations_since(
    old: Invariant | Automaton | StepCheck | None, new: Invariant | Automaton | StepCheck
) -> list[BrokenInstance]:
    """What a later copy of a monitor has found beyond an earlier one (``None``: before S0 was read)."""
    part = new.part
    if isinstance(new, Invariant):
        if new.final:
            return []
        assert old is None or isinstance(old, Invariant)
        # The violations of an invariant are noted when they end.
        known = () if old is None else old.episodes
        ended = [v.binding for v in new.violations] if old is None else []
        found = [BrokenInstance(part, binding) for binding in (*[b for b in new.episodes if b not in known], *ended)]
    else:
        found = [BrokenInstance(part, v.binding) for v in new.violations[0 if old is None else len(old.violations) :]]
    return found + _undecided(old, new)


def caused_since(old: Invariant | Automaton | None, new: Invariant | Automaton) -> list[BrokenInstance]:
    """What the plan is to blame for, as a later copy of a monitor sees it, beyond what an earlier one saw.

    A violation that was there at letter 0 is none of it until a step changes what it reads and does not end it.
    """
    if isinstance(new, Invariant) and new.final:
        return []
    known = set() if old is None else _doings(old)
    return [BrokenInstance(new.part, binding) for binding in _doings(new) - known] + _undecided(old, new)


def _doings(monitor: Invariant | Automaton) -> set[tuple[int, ...]]:
    """The instances with a violation that the plan introduced or worsened, so far."""
    if isinstance(monitor, Automaton):
        return {v.binding for n, v in enumerate(monitor.violations) if monitor.blame(n) in CAUSED_BLAMES}
    out = {v.binding for v in monitor.violations if v.blame in CAUSED_BLAMES}
    if monitor.final:
        return out
    return out.union([b for b, e in monitor.episodes.items() if e.blame(monitor.mentions_actions) in CAUSED_BLAMES])


def _undecided(
    old: Invariant | Automaton | StepCheck | None, new: Invariant | Automaton | StepCheck
) -> list[BrokenInstance]:
    if not new.undecided:
        return []
    return [
        BrokenInstance(new.part, b, True) for b in (new.undecided if old is None else new.undecided - old.undecided)
    ]


def undecided_instances(runtime: Runtime) -> list[BrokenInstance]:
    """The instances that met an undefined number."""
    return [BrokenInstance(part, binding, True) for part, binding in runtime.undecided()]


def without_preferences(runtime: Runtime, found: Iterable[BrokenInstance]) -> tuple[BrokenInstance, ...]:
    """Sorted, without what preferences say."""
    soft = runtime.rule_set.preference_parts
    return tuple(sorted([b for b in found if b.part not in soft]))


def decisive(
    runtime: Runtime, found: Iterable[BrokenInstance], criteria: VerdictCriteria
) -> tuple[BrokenInstance, ...]:
    """Sorted, without what leaves a plan safe: a preference that cannot be decided does not."""
    idle, silent = runtime.rule_set.nondecisive_parts(criteria), runtime.rule_set.parts_below_severity(criteria)
    return tuple(sorted([b for b in found if b.part not in (silent if b.undecided else idle)]))
