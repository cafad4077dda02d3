"""What steps break: the instances of rules whose violation begins between two states of the monitors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.execution.steps import GroundAction


class Broken(NamedTuple):
    """An instance of a part of a rule whose violation a step begins; ``undecided``: it meets an undefined number."""

    part: int
    binding: tuple[int, ...]
    undecided: bool = False


class Option(NamedTuple):
    """A legal step, and what it would break, in order of parts and bindings; preferences are left out."""

    step: GroundAction
    broken: tuple[Broken, ...] = ()


def news(before: Runtime, after: Runtime) -> tuple[Broken, ...]:
    """The violations that began between two runtimes of one execution, the second a step (or none) after the first."""
    found: set[Broken] = set()
    for old, new in zip(before.monitors, after.monitors, strict=True):
        if old is not new:
            found.update(begun(old, new))
    for predicate, checks in after.checks.items():
        known = before.checks[predicate]
        if checks is not known:
            for check, later in zip(known, checks, strict=True):
                found.update(begun(check, later))
    return hard(before, found)


def begun(old: Invariant | Automaton | StepCheck | None, new: Invariant | Automaton | StepCheck) -> list[Broken]:
    """What a later copy of a monitor has found beyond an earlier one (``None``: before S0 was read)."""
    part = new.part
    if isinstance(new, Invariant):
        if new.final:
            return []
        assert old is None or isinstance(old, Invariant)
        # The violations of an invariant are noted when they end.
        known = () if old is None else old.episodes
        ended = [v.binding for v in new.violations] if old is None else []
        found = [Broken(part, binding) for binding in (*[b for b in new.episodes if b not in known], *ended)]
    else:
        found = [Broken(part, v.binding) for v in new.violations[0 if old is None else len(old.violations) :]]
    if new.undecided:
        found += [Broken(part, b, True) for b in (new.undecided if old is None else new.undecided - old.undecided)]
    return found


def undecided(runtime: Runtime) -> list[Broken]:
    """The instances that met an undefined number."""
    return [Broken(part, binding, True) for part, binding in runtime.undecided()]


def hard(runtime: Runtime, found: Iterable[Broken]) -> tuple[Broken, ...]:
    """Sorted, without what preferences say."""
    soft = runtime.plan.soft
    return tuple(sorted([b for b in found if b.part not in soft]))
