"""A task with a plan that is known to be good: what faults are seeded into."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Headline

GOOD = (Headline.SAFE, Headline.VALID)


class SeedTask(NamedTuple):
    """A task and a plan for it. ``source`` is the family it comes from; ``gold`` the steps as PDDL text."""

    name: str
    source: str
    domain: Source
    problem: Source
    specs: tuple[Source, ...]
    options: Options
    gold: tuple[str, ...]

    def checker(self) -> Checker:
        """The compiled task; the latest few are remembered."""
        return _checker(self.domain, self.problem, self.specs, self.options)


def plan_source(steps: tuple[str, ...] | list[str], name: str = "faulty.plan") -> Source:
    """Steps as a plan, one in a line."""
    return Source(name, "".join([step + "\n" for step in steps]))


def is_good(checker: Checker, steps: tuple[str, ...] | list[str]) -> bool:
    """Whether the plan is SAFE or VALID, in the one world that there is: faults are about what is known."""
    if not checker.ok:
        return False
    report = checker.check(plan_source(steps))
    return report.headline in GOOD and report.worlds is None


@lru_cache(maxsize=16)
def _checker(domain: Source, problem: Source, specs: tuple[Source, ...], options: Options) -> Checker:
    return Checker(domain, problem, specs, options, resolve=shipped_specification)


def shipped_specification(name: str, beside: Source) -> Source | None:
    """The specification that another one extends, if it is shipped."""
    del beside  # shipped specifications are found by name alone
    try:
        path = Path(spec_path(name))
    except KeyError:
        return None
    return Source(path.name, path.read_text(encoding="utf-8"))
