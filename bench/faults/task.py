"""A task with a good plan, into which faults are seeded."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from plansafe.domains.objects import add_kinds
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Headline

GOOD = (Headline.SAFE, Headline.VALID)


class SeedTask(NamedTuple):
    """A task and its good plan. ``source``: the family of the task; ``gold``: the steps as PDDL text."""

    name: str
    source: str
    domain: Source
    problem: Source
    specs: tuple[Source, ...]
    options: Options
    gold: tuple[str, ...]

    def checker(self) -> Checker:
        """The compiled task; the most recent ones are cached."""
        return _checker(self.domain, self.problem, self.specs, self.options)


def plan_source(steps: tuple[str, ...] | list[str], name: str = "faulty.plan") -> Source:
    """The steps as a plan, one per line."""
    return Source(name, "".join([step + "\n" for step in steps]))


def is_good(checker: Checker, steps: tuple[str, ...] | list[str]) -> bool:
    """True if the plan is SAFE or VALID and the task has no unknown facts (only one possible world)."""
    if not checker.ok:
        return False
    report = checker.check(plan_source(steps))
    return report.headline in GOOD and report.worlds is None


@lru_cache(maxsize=16)
def _checker(domain: Source, problem: Source, specs: tuple[Source, ...], options: Options) -> Checker:
    return Checker(domain, problem, add_kinds(domain, problem, specs), options, resolve=shipped_specification)


def shipped_specification(name: str, extending_source: Source) -> Source | None:
    """The shipped specification of this name, which another one extends, or ``None``."""
    del extending_source  # shipped specifications are found by name only
    try:
        path = Path(spec_path(name))
    except KeyError:
        return None
    return Source(path.name, path.read_text(encoding="utf-8"))
