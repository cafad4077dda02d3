"""What a set of pairs is about: counts as in Safe-BeAl, section 3.2 (figure 4: categories) and appendix F (objects)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import mean, median
from typing import Any

from plansafe.align.choosing.shape import parts
from plansafe.align.records import Pair
from plansafe.domains import domain_path
from plansafe.grammar.source import Source
from plansafe.specs import default_specs, spec_path

MOST_OBJECTS = 30
_NUMBER = re.compile(r"[_-]?\d+(?:[._]\d+)*$")


class Statistics:
    """Counts over pairs that are added one by one; memory grows with tasks, rules and kinds of objects."""

    def __init__(self) -> None:
        self.pairs = 0
        self.counts: dict[str, Counter[str]] = {
            name: Counter()
            for name in ("world", "source", "split", "moment", "edits", "category", "safel", "target", "rule", "family")
        }
        self.objects: Counter[str] = Counter()
        """Kinds of objects by the pairs whose plans handle one."""
        self._tasks: dict[str, set[str]] = {"train": set(), "test": set()}
        self._plans: set[int] = set()
        self._goals = 0
        self._longer: Counter[str] = Counter()
        self._lengths: dict[str, Counter[int]] = {name: Counter() for name in ("chosen", "rejected", "shared")}

    def add(self, pair: Pair) -> None:
        """Count a pair."""
        chosen, rejected = pair.actions.chosen, pair.actions.rejected
        counts = self.counts
        self.pairs += 1
        for name in ("world", "source", "split", "moment", "family", "rule"):
            counts[name][getattr(pair, name)] += 1
        counts["edits"][str(pair.edits)] += 1
        counts["category"].update(pair.categories)
        counts["safel"].update(pair.safel)
        counts["target"].update(targets_of(pair.world).get(pair.rule, ()))
        self._tasks[pair.split].add(pair.task)
        self._plans.add(hash(pair.chosen))
        self._goals += pair.goal.rejected
        more = len(chosen) - len(rejected)
        self._longer["safe plan" if more > 0 else "unsafe plan" if more else "neither"] += 1
        for name, length in (("chosen", len(chosen)), ("rejected", len(rejected)), ("shared", pair.shared)):
            self._lengths[name][length] += 1
        self.objects.update(_kinds((*chosen, *rejected)))

    def record(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "pairs": self.pairs,
            "tasks": {split: len(tasks) for split, tasks in self._tasks.items()},
            "safe plans": len(self._plans),
            "unsafe plans that reach the goal": self._goals,
            "longer is the": dict(self._longer.most_common()),
            "lengths": {name: _spread(counts) for name, counts in self._lengths.items() if counts},
            "by": {name: dict(counts.most_common()) for name, counts in self.counts.items()},
            "objects": dict(self.objects.most_common(MOST_OBJECTS)),
        }


_targets: dict[str, Mapping[str, tuple[str, ...]]] = {}


def targets_of(world: str) -> Mapping[str, tuple[str, ...]]:
    """Whom each rule of a shipped world protects, by the rule's name; empty for a world that is not shipped."""
    from plansafe.domains.objects import add_kinds  # noqa: PLC0415 - not needed for the other statistics
    from plansafe.llm.scenarios.model import resolve  # noqa: PLC0415 - once for each world
    from plansafe.verifier.api import Checker  # noqa: PLC0415

    if world not in _targets:
        _targets[world] = {}
        specs = [Source.from_path(spec_path(name)) for name in default_specs(world)]
        if specs:
            problem = Source("empty problem", f"(define (problem empty) (:domain {world}) (:init) (:goal (and)))")
            domain = Source.from_path(domain_path(world))
            checker = Checker(domain, problem, add_kinds(domain, problem, specs), resolve=resolve)
            _targets[world] = {rule.name: rule.targets for rule in checker.rules} if checker.ok else {}
    return _targets[world]


def kind(name: str) -> str:
    """What an object is by its name: ``mug_41`` and ``mug2`` are ``mug``."""
    return _NUMBER.sub("", name) or name


def _kinds(plan: Iterable[str]) -> list[str]:
    """Kinds of the objects that a plan handles, in order, but for who acts: what all actions name."""
    named = [frozenset(parts(action)[1:]) for action in plan]
    everywhere = frozenset.intersection(*named)
    return sorted({kind(name) for objects in named for name in objects - everywhere})


def _spread(counts: Counter[int]) -> dict[str, float]:
    values = sorted(counts.elements())
    return {"least": values[0], "median": median(values), "mean": round(mean(values), 2), "most": values[-1]}
