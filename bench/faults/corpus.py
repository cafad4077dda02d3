"""Faulty plans whose faults are known, because they were seeded into good ones.

usage: python -m bench.faults.corpus [--seed N] [--singles N] [--doubles N] [--output FILE]

A fault is kept only if it makes a SAFE or VALID plan neither. Its position is drawn first, uniformly over the steps of
a plan, then a kind that is possible there (the one that is rarest so far), then a fault of this kind. The same seed
gives the same corpus.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from bench.faults.reachable import Reachable
from bench.faults.sources import all_sources
from bench.faults.task import GOOD, SeedTask, plan_source, shipped_specification

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.reporting.report import Headline

EDITS = ("missing", "order", "additional", "substitute")
KINDS = (*EDITS, "grammar", "affordance")
SHARES = {"behavior": 0.32, "virtualhome": 0.23, "household": 0.22, "depot": 0.15, "survey": 0.08}
"""Of the cases; sources that are not there leave theirs to the others."""
TRIES = 16
"""So many faults of one kind are tried at one position."""
HAZARDS = 0.6
"""In this share of the cases with rules, a hazard is tried first."""
AHEAD = 3
"""A hazard of a kind that is so much more frequent than the rarest makes way for another fault."""


class PlanEdit(NamedTuple):
    """An edit of a plan. ``step``: the gold step that is deleted, replaced or moved (0: none).

    ``text`` is what is put in; it, or the moved step, stands before the gold step ``before`` (one past the end: last).
    """

    step: int = 0
    text: str = ""
    before: int = 0


class Fault(NamedTuple):
    """One seeded fault: its kind, the gold step it is about (from 1), in words, and the edit."""

    kind: str
    position: int
    description: str
    change: PlanEdit


class Case(NamedTuple):
    """A faulty plan. ``hazard``: it can be executed and reaches the goal, and is UNSAFE for that."""

    name: str
    task: SeedTask
    steps: tuple[str, ...]
    faults: tuple[Fault, ...]
    hazard: bool

    @property
    def plan(self) -> Source:
        """The faulty plan."""
        return plan_source(self.steps, f"{self.name}.plan")

    @property
    def kinds(self) -> frozenset[str]:
        """The true kinds."""
        return frozenset([fault.kind for fault in self.faults])


def apply(gold: Sequence[str], changes: Sequence[PlanEdit]) -> tuple[str, ...]:
    """The plan after edits of different gold steps, each told by its place in the gold plan."""
    slots: list[tuple[int, str]] = [*enumerate(gold, 1), (len(gold) + 1, "")]
    for change in changes:
        if change.step and change.text:
            slots = [(n, change.text if n == change.step else text) for n, text in slots]
    for change in changes:
        if not change.before:
            continue
        moved = (0, change.text)
        if change.step:
            moved = next(slot for slot in slots if slot[0] == change.step)
            slots.remove(moved)
        place = next((k for k, slot in enumerate(slots) if slot[0] == change.before))
        slots.insert(place, moved)
    gone = {change.step for change in changes if not change.text and not change.before}
    return tuple([text for n, text in slots if n not in gone and text])


class Seeder:
    """Faults of one task."""

    def __init__(self, task: SeedTask) -> None:
        self.task = task
        self._legal: dict[int, list[str]] = {}

    def faults(self, kind: str, position: int, rng: random.Random) -> Iterator[Fault]:
        """Faults of a kind at a position, in random order, at most ``TRIES``, not yet judged."""
        makers: dict[str, Callable[[int, random.Random], Iterator[Fault]]] = {
            "missing": self._missing,
            "order": self._order,
            "additional": self._additional,
            "substitute": self._substitute,
            "grammar": self._grammar,
            "affordance": self._affordance,
        }
        for count, fault in enumerate(makers[kind](position, rng)):
            if count == TRIES:
                return
            yield fault

    def verdict(self, faults: Sequence[Fault]) -> tuple[tuple[str, ...], Headline | None]:
        """The plan with the faults, and what it is."""
        steps = apply(self.task.gold, [fault.change for fault in faults])
        return steps, self.checker.check(plan_source(steps)).headline

    def find(self, kind: str, position: int, rng: random.Random, hazard: bool) -> Fault | None:
        """A fault that breaks the plan by itself; with ``hazard`` one that makes it UNSAFE, not INVALID."""
        wanted = (Headline.UNSAFE,) if hazard else (Headline.UNSAFE, Headline.INVALID)
        for fault in self.faults(kind, position, rng):
            if self.verdict([fault])[1] in wanted:
                return fault
        return None

    # -- the kinds ----------------------------------------------------------------------------------------------------

    def _missing(self, position: int, rng: random.Random) -> Iterator[Fault]:
        del rng
        text = self.task.gold[position - 1]
        yield Fault("missing", position, f"{text} left out", PlanEdit(step=position))

    def _order(self, position: int, rng: random.Random) -> Iterator[Fault]:
        """One step moved: half of the time to beside its neighbours, else anywhere."""
        gold = self.task.gold
        targets = [t for t in range(1, len(gold) + 2) if t not in (position, position + 1)]
        rng.shuffle(targets)
        if rng.random() < 0.5:
            targets.sort(key=lambda t: t not in (position - 1, position + 2))
        for target in targets:
            change = PlanEdit(step=position, before=target)
            if apply(gold, [change]) != gold:
                place = f"before step {target}" if target <= len(gold) else "to the end"
                yield Fault("order", position, f"{gold[position - 1]} moved {place}", change)

    def _additional(self, position: int, rng: random.Random) -> Iterator[Fault]:
        """A step put in beside the position: legal there, or one of the plan's, or any that may ever be taken."""
        while True:
            before = position + rng.randrange(2)
            pool = rng.choice((self.legal(before), self.legal(before), self.task.gold, self.steps))
            if not pool:
                continue
            text = rng.choice(pool)
            place = f"before step {before}" if before <= len(self.task.gold) else "at the end"
            yield Fault("additional", position, f"{text} put in {place}", PlanEdit(text=text, before=before))

    def _substitute(self, position: int, rng: random.Random) -> Iterator[Fault]:
        """Another object or another action, well typed, on objects on which it might be taken some time."""
        text = self.task.gold[position - 1]
        tokens = text[1:-1].split()
        options = [o for o in self._variants(tokens) if self._taken(o) is not None and self._possible(o)]
        rng.shuffle(options)
        for option in options:
            new = f"({' '.join(option)})"
            yield Fault("substitute", position, f"{text} replaced by {new}", PlanEdit(step=position, text=new))

    def _affordance(self, position: int, rng: random.Random) -> Iterator[Fault]:
        """An object of the wrong type, or one on which the action can never be taken."""
        text = self.task.gold[position - 1]
        tokens = text[1:-1].split()
        options = [o for o in self._variants(tokens) if o[0] == tokens[0] and not self._possible(o)]
        rng.shuffle(options)
        options.sort(key=lambda o: self._taken(o) is None if rng.random() < 0.5 else rng.random() < 0.5)
        for option in options:
            new = f"({' '.join(option)})"
            what = "impossible" if self._taken(option) is not None else "ill-typed"
            description = f"{text} replaced by the {what} {new}"
            yield Fault("affordance", position, description, PlanEdit(step=position, text=new))

    def _grammar(self, position: int, rng: random.Random) -> Iterator[Fault]:
        """A misspelt action or object, an object that is not there, or an argument too few or too many."""
        text = self.task.gold[position - 1]
        while True:
            tokens = text[1:-1].split()
            way = rng.choice(("action", "object", "stranger", "fewer", "more"))
            place = rng.randrange(1, len(tokens)) if len(tokens) > 1 else 0
            match way:
                case "action":
                    tokens[0] = misspelt(tokens[0], rng)
                case "object" if place:
                    tokens[place] = misspelt(tokens[place], rng)
                case "stranger" if place:
                    tokens[place] = rng.choice(("cup-of-coffee", "door_17", "the-thing", "somewhere", "box-99"))
                case "fewer" if place:
                    del tokens[place]
                case "more":
                    tokens.insert(place + 1, rng.choice(self.engine.task.objects))
            step = self.engine.resolver.tokens(tokens)
            if isinstance(step, IllFormed) and step.code in ("SC401", "SC402", "SC403"):
                new = f"({' '.join(tokens)})"
                yield Fault("grammar", position, f"{text} written {new}", PlanEdit(step=position, text=new))

    # -- steps --------------------------------------------------------------------------------------------------------

    @cached_property
    def checker(self) -> Checker:
        """The judge of faults; without the kernel, which confirms the first plan with findings alone."""
        task = self.task
        quick = task.options._replace(replay="never")
        return Checker(task.domain, task.problem, task.specs, quick, resolve=shipped_specification)

    @cached_property
    def engine(self) -> Engine:
        """The compiled task."""
        return self.checker.engine

    @cached_property
    def reachable(self) -> Reachable:
        """What may ever be taken."""
        return Reachable(self.engine.task)

    @cached_property
    def steps(self) -> list[str]:
        """All steps that may ever be taken, sorted."""
        return self.reachable.texts()

    def legal(self, before: int) -> list[str]:
        """The steps that can be taken before a gold step, sorted."""
        if before not in self._legal:
            simulation = Execution(self.engine)
            for text in self.task.gold[: before - 1]:
                step = self._taken(text[1:-1].split())
                assert step is not None
                simulation.take(step)
            objects = self.engine.task.objects
            self._legal[before] = sorted([step_text(step, objects) for step in simulation.legal()])
        return self._legal[before]

    def _variants(self, tokens: list[str]) -> list[list[str]]:
        """Steps that differ in one argument, or in the action alone."""
        task = self.engine.task
        found = []
        for place in range(1, len(tokens)):
            found += [[*tokens[:place], o, *tokens[place + 1 :]] for o in task.objects if o != tokens[place]]
        for name, action in task.actions.items():
            if name != tokens[0] and len(action.parameters) == len(tokens) - 1:
                found.append([name, *tokens[1:]])
        return found

    def _taken(self, tokens: list[str]) -> GroundAction | None:
        """The step, if it is well-formed and, whatever the options say, well typed."""
        step = self.engine.resolver.tokens(tokens)
        return step if isinstance(step, GroundAction) else None

    def _possible(self, tokens: list[str]) -> bool:
        step = self._taken(tokens)
        return step is not None and self.reachable.possible(step)


def misspelt(name: str, rng: random.Random) -> str:
    """The name with one letter dropped, doubled or swapped with the next."""
    place = rng.randrange(len(name))
    match rng.randrange(3):
        case 0 if len(name) > 2:
            return name[:place] + name[place + 1 :]
        case 1 if place + 1 < len(name):
            return name[:place] + name[place + 1] + name[place] + name[place + 2 :]
    return name[:place] + name[place] + name[place:]


# -- the corpus -------------------------------------------------------------------------------------------------------


def generate(
    seed: int = 0, singles: int = 360, doubles: int = 240, sources: dict[str, list[SeedTask]] | None = None
) -> list[Case]:
    """The corpus: so many single faults, then so many double ones. About a second for eight cases.

    ``sources`` are all there are unless given.
    """
    tasks = all_sources(seed) if sources is None else sources
    seeders = {name: [Seeder(task) for task in found] for name, found in tasks.items()}
    cases: list[Case] = []
    for faults, count in ((1, singles), (2, doubles)):
        for source, quota in quotas(count, list(seeders)).items():
            rng = random.Random(f"{seed} {faults} {source}")
            found = draw(seeders[source], quota, faults, rng)
            cases += [case._replace(name=f"{source}-{faults}-{n:03d}") for n, case in enumerate(found, 1)]
    return cases


def quotas(count: int, sources: list[str]) -> dict[str, int]:
    """How many cases each source gives."""
    total = sum([SHARES[source] for source in sources])
    found = {source: int(count * SHARES[source] / total) for source in sources}
    for source in sources[: count - sum(found.values())]:
        found[source] += 1
    return found


def draw(seeders: list[Seeder], quota: int, faults: int, rng: random.Random) -> list[Case]:
    """So many cases with so many faults each, from tasks of one source."""
    cases: list[Case] = []
    used: Counter[str] = Counter()
    seen: set[tuple[str, ...]] = set()
    while len(cases) < quota:
        seeder = rng.choice(seeders)
        length = len(seeder.task.gold)
        if length < faults + 1:
            continue
        hazards = bool(seeder.task.specs) and rng.random() < HAZARDS
        case = seed_case(seeder, rng.sample(range(1, length + 1), faults), used, rng, hazards)
        if case is None or case.steps in seen:
            continue
        seen.add(case.steps)
        used.update([fault.kind for fault in case.faults])
        cases.append(case)
    return cases


def seed_case(
    seeder: Seeder, positions: Sequence[int], used: Counter[str], rng: random.Random, hazard: bool
) -> Case | None:
    """A fault at each position, each a fault by itself; ``None`` if together they are none, or stand in one place.

    Grammar faults are possible everywhere, so some fault always is.
    """
    faults = []
    for position in positions:
        fault = seed_fault(seeder, position, EDITS, used, rng, True) if hazard else None
        if fault is None or used[fault.kind] > min([used[kind] for kind in KINDS]) + AHEAD:
            fault = seed_fault(seeder, position, KINDS, used, rng, False)
        assert fault is not None
        faults.append(fault)
    places = [fault.change.before for fault in faults if fault.change.before]
    if len(set(places)) < len(places):
        return None
    steps, headline = seeder.verdict(faults)
    if headline is None or headline in GOOD or headline is Headline.UNKNOWN:
        return None
    return Case("", seeder.task, steps, tuple(faults), headline is Headline.UNSAFE)


def seed_fault(
    seeder: Seeder, position: int, kinds: Sequence[str], used: Counter[str], rng: random.Random, hazard: bool
) -> Fault | None:
    """A fault of the kind that is rarest so far among those possible here."""
    for kind in sorted(kinds, key=lambda kind: (used[kind], rng.random())):
        fault = seeder.find(kind, position, rng, hazard)
        if fault is not None:
            return fault
    return None


def statistics(cases: Sequence[Case]) -> dict[str, object]:
    """Counts by number of faults, source, kind, hazard and fifth of the plan."""
    out: dict[str, object] = {"cases": len(cases)}
    for number in (1, 2):
        chosen = [case for case in cases if len(case.faults) == number]
        faults = [(case, fault) for case in chosen for fault in case.faults]
        table: dict[str, Counter[str]] = {}
        for case, fault in faults:
            table.setdefault(case.task.source, Counter())[fault.kind] += 1
        fifths = Counter([fifth(fault.position, len(case.task.gold)) for case, fault in faults])
        expected = dict.fromkeys(range(1, 6), 0.0)
        for case, _ in faults:
            length = len(case.task.gold)
            for position in range(1, length + 1):
                expected[fifth(position, length)] += 1 / length
        out["single" if number == 1 else "double"] = {
            "cases": len(chosen),
            "from published gold plans": sum([case.task.source in ("behavior", "virtualhome") for case in chosen]),
            "hazards": sum([case.hazard for case in chosen]),
            "plans": len({case.task.name for case in chosen}),
            "by kind": dict(sorted(Counter([fault.kind for _, fault in faults]).items())),
            "by source and kind": {source: dict(sorted(found.items())) for source, found in sorted(table.items())},
            "by fifth of the plan": dict(sorted(fifths.items())),
            "expected by fifth": {number: round(share, 1) for number, share in expected.items()},
        }
    return out


def fifth(position: int, length: int) -> int:
    """In which fifth of a plan a step stands."""
    return int(5 * (position - 0.5) / length) + 1


def as_json(case: Case) -> dict[str, object]:
    """A case as data, without the texts of the task."""
    return {
        "name": case.name,
        "task": case.task.name,
        "source": case.task.source,
        "hazard": case.hazard,
        "faults": [{"kind": f.kind, "position": f.position, "description": f.description} for f in case.faults],
        "gold": list(case.task.gold),
        "steps": list(case.steps),
    }


def main() -> int:
    """Generate, print the counts, and write the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--singles", type=int, default=360)
    parser.add_argument("--doubles", type=int, default=240)
    parser.add_argument("--only", nargs="+", choices=SHARES, metavar="SOURCE", help=", ".join(SHARES))
    parser.add_argument("--output", type=Path, help="write the cases here, as JSON")
    arguments = parser.parse_args()
    start = time.perf_counter()
    cases = generate(arguments.seed, arguments.singles, arguments.doubles, all_sources(arguments.seed, arguments.only))
    print(json.dumps(statistics(cases), indent=2))
    print(f"{time.perf_counter() - start:.1f} s")
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(json.dumps([as_json(case) for case in cases], indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
