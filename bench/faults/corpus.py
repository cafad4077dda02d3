"""Generate faulty plans with known faults, by seeding faults into good plans.

usage: python -m bench.faults.corpus [--seed N] [--singles N] [--doubles N] [--output FILE]

A fault is kept only if the plan is then neither SAFE nor VALID. Its position is drawn first, uniformly over the steps
of a plan, then a kind that is possible there (the rarest one in the corpus up to now), then a fault of this kind. The
same seed gives the same corpus.
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

from bench.faults.reachable import RelaxedReachability
from bench.faults.sources import load_sources
from bench.faults.task import GOOD, SeedTask, plan_source, shipped_specification

from plansafe.domains.objects import add_kinds
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.reporting.report import Headline

EDIT_KINDS = ("missing", "order", "additional", "substitute")
KINDS = (*EDIT_KINDS, "grammar", "affordance")
SHARES = {"behavior": 0.32, "virtualhome": 0.23, "household": 0.22, "depot": 0.15, "survey": 0.08}
"""Share of each source in the corpus; the shares of missing sources are distributed over the others."""
MAX_TRIES = 16
"""Maximum number of faults of one kind that are tried at one position."""
HAZARD_SHARE = 0.6
"""Share of the cases with rules in which a hazard is tried first."""
MAX_LEAD = 3
"""A hazard is replaced by another fault if its kind has this many more faults than the rarest kind."""


class PlanEdit(NamedTuple):
    """An edit of a plan. ``step``: the gold step that is deleted, replaced or moved (0: none).

    ``text`` is the new step. It, or the moved step, is placed before the gold step ``before`` (one past the end: last).
    """

    step: int = 0
    text: str = ""
    before: int = 0


class Fault(NamedTuple):
    """One seeded fault: its kind, its gold step (from 1), a description, and the edit."""

    kind: str
    position: int
    description: str
    edit: PlanEdit


class Case(NamedTuple):
    """A faulty plan. ``hazard``: it is executable and reaches the goal, but is UNSAFE."""

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
        """The kinds of the seeded faults."""
        return frozenset([fault.kind for fault in self.faults])


def apply_edits(gold: Sequence[str], edits: Sequence[PlanEdit]) -> tuple[str, ...]:
    """The plan after edits of different gold steps; all positions refer to the gold plan."""
    slots: list[tuple[int, str]] = [*enumerate(gold, 1), (len(gold) + 1, "")]
    for edit in edits:
        if edit.step and edit.text:
            slots = [(number, edit.text if number == edit.step else text) for number, text in slots]
    for edit in edits:
        if not edit.before:
            continue
        slot_to_insert = (0, edit.text)
        if edit.step:
            slot_to_insert = next(slot for slot in slots if slot[0] == edit.step)
            slots.remove(slot_to_insert)
        index = next((index for index, slot in enumerate(slots) if slot[0] == edit.before))
        slots.insert(index, slot_to_insert)
    deleted = {edit.step for edit in edits if not edit.text and not edit.before}
    return tuple([text for number, text in slots if number not in deleted and text])


class Seeder:
    """Seeds faults into the plan of one task."""

    def __init__(self, task: SeedTask) -> None:
        self.task = task
        self._legal: dict[int, list[str]] = {}

    def faults(self, kind: str, position: int, rng: random.Random) -> Iterator[Fault]:
        """Faults of a kind at a position, in random order, at most ``MAX_TRIES``, not yet checked."""
        makers: dict[str, Callable[[int, random.Random], Iterator[Fault]]] = {
            "missing": self._missing_faults,
            "order": self._order_faults,
            "additional": self._additional_faults,
            "substitute": self._substitute_faults,
            "grammar": self._grammar_faults,
            "affordance": self._affordance_faults,
        }
        for count, fault in enumerate(makers[kind](position, rng)):
            if count == MAX_TRIES:
                return
            yield fault

    def check_faults(self, faults: Sequence[Fault]) -> tuple[tuple[str, ...], Headline | None]:
        """The plan with the faults, and its headline."""
        steps = apply_edits(self.task.gold, [fault.edit for fault in faults])
        return steps, self.checker.check(plan_source(steps)).headline

    def find_fault(self, kind: str, position: int, rng: random.Random, hazard: bool) -> Fault | None:
        """A fault that makes the plan UNSAFE or INVALID by itself; with ``hazard`` only UNSAFE."""
        headlines = (Headline.UNSAFE,) if hazard else (Headline.UNSAFE, Headline.INVALID)
        for fault in self.faults(kind, position, rng):
            if self.check_faults([fault])[1] in headlines:
                return fault
        return None

    # -- the kinds ----------------------------------------------------------------------------------------------------

    def _missing_faults(self, position: int, rng: random.Random) -> Iterator[Fault]:
        del rng
        text = self.task.gold[position - 1]
        yield Fault("missing", position, f"{text} left out", PlanEdit(step=position))

    def _order_faults(self, position: int, rng: random.Random) -> Iterator[Fault]:
        """Move one step: in half of the cases over a neighbouring step, else anywhere."""
        gold = self.task.gold
        targets = [t for t in range(1, len(gold) + 2) if t not in (position, position + 1)]
        rng.shuffle(targets)
        if rng.random() < 0.5:
            targets.sort(key=lambda t: t not in (position - 1, position + 2))
        for target in targets:
            edit = PlanEdit(step=position, before=target)
            if apply_edits(gold, [edit]) != gold:
                place = f"before step {target}" if target <= len(gold) else "to the end"
                yield Fault("order", position, f"{gold[position - 1]} moved {place}", edit)

    def _additional_faults(self, position: int, rng: random.Random) -> Iterator[Fault]:
        """Insert a step next to the position: a legal step, a step of the plan, or any reachable step."""
        while True:
            before = position + rng.randrange(2)
            step_pool = rng.choice(
                (self.legal_steps(before), self.legal_steps(before), self.task.gold, self.reachable_steps)
            )
            if not step_pool:
                continue
            text = rng.choice(step_pool)
            where = f"before step {before}" if before <= len(self.task.gold) else "at the end"
            yield Fault("additional", position, f"{text} put in {where}", PlanEdit(text=text, before=before))

    def _substitute_faults(self, position: int, rng: random.Random) -> Iterator[Fault]:
        """Replace an argument or the action by another, so that the step is well typed and reachable."""
        text = self.task.gold[position - 1]
        tokens = text[1:-1].split()
        options = [o for o in self._step_variants(tokens) if self._ground_step(o) is not None and self._is_reachable(o)]
        rng.shuffle(options)
        for option in options:
            new_text = f"({' '.join(option)})"
            yield Fault(
                "substitute", position, f"{text} replaced by {new_text}", PlanEdit(step=position, text=new_text)
            )

    def _affordance_faults(self, position: int, rng: random.Random) -> Iterator[Fault]:
        """Replace an argument by an object of the wrong type, or by one for which the action is unreachable."""
        text = self.task.gold[position - 1]
        tokens = text[1:-1].split()
        options = [o for o in self._step_variants(tokens) if o[0] == tokens[0] and not self._is_reachable(o)]
        rng.shuffle(options)
        options.sort(key=lambda o: self._ground_step(o) is None if rng.random() < 0.5 else rng.random() < 0.5)
        for option in options:
            new_text = f"({' '.join(option)})"
            mistake = "impossible" if self._ground_step(option) is not None else "ill-typed"
            description = f"{text} replaced by the {mistake} {new_text}"
            yield Fault("affordance", position, description, PlanEdit(step=position, text=new_text))

    def _grammar_faults(self, position: int, rng: random.Random) -> Iterator[Fault]:
        """Write a misspelt action or object, an unknown object, one argument too few or too many."""
        text = self.task.gold[position - 1]
        while True:
            tokens = text[1:-1].split()
            mistake = rng.choice(("action", "object", "stranger", "fewer", "more"))
            argument = rng.randrange(1, len(tokens)) if len(tokens) > 1 else 0
            match mistake:
                case "action":
                    tokens[0] = misspell(tokens[0], rng)
                case "object" if argument:
                    tokens[argument] = misspell(tokens[argument], rng)
                case "stranger" if argument:
                    tokens[argument] = rng.choice(("cup-of-coffee", "door_17", "the-thing", "somewhere", "box-99"))
                case "fewer" if argument:
                    del tokens[argument]
                case "more":
                    tokens.insert(argument + 1, rng.choice(self.engine.task.objects))
            step = self.engine.resolver.resolve_tokens(tokens)
            if isinstance(step, IllFormed) and step.code in ("SC401", "SC402", "SC403"):
                new_text = f"({' '.join(tokens)})"
                yield Fault("grammar", position, f"{text} written {new_text}", PlanEdit(step=position, text=new_text))

    # -- steps --------------------------------------------------------------------------------------------------------

    @cached_property
    def checker(self) -> Checker:
        """The compiled task, without replay by the kernel, which would only confirm findings."""
        task = self.task
        options = task.options._replace(replay="never")
        specs = add_kinds(task.domain, task.problem, task.specs)
        return Checker(task.domain, task.problem, specs, options, resolve=shipped_specification)

    @cached_property
    def engine(self) -> Engine:
        """The engine of the checker."""
        return self.checker.engine

    @cached_property
    def reachability(self) -> RelaxedReachability:
        """The reachable steps of the task."""
        return RelaxedReachability(self.engine.task)

    @cached_property
    def reachable_steps(self) -> list[str]:
        """All reachable steps, sorted."""
        return self.reachability.step_texts()

    def legal_steps(self, before: int) -> list[str]:
        """The legal steps in the state before a gold step, sorted."""
        if before not in self._legal:
            simulation = Execution(self.engine)
            for text in self.task.gold[: before - 1]:
                step = self._ground_step(text[1:-1].split())
                assert step is not None
                simulation.take(step)
            objects = self.engine.task.objects
            self._legal[before] = sorted([step_text(step, objects) for step in simulation.legal()])
        return self._legal[before]

    def _step_variants(self, tokens: list[str]) -> list[list[str]]:
        """The steps that differ in one argument, or only in the action."""
        task = self.engine.task
        variants = []
        for argument in range(1, len(tokens)):
            variants += [
                [*tokens[:argument], o, *tokens[argument + 1 :]] for o in task.objects if o != tokens[argument]
            ]
        for name, action in task.actions.items():
            if name != tokens[0] and len(action.parameters) == len(tokens) - 1:
                variants.append([name, *tokens[1:]])
        return variants

    def _ground_step(self, tokens: list[str]) -> GroundAction | None:
        """The ground step if it is well-formed and well typed (with any options), else ``None``."""
        step = self.engine.resolver.resolve_tokens(tokens)
        return step if isinstance(step, GroundAction) else None

    def _is_reachable(self, tokens: list[str]) -> bool:
        step = self._ground_step(tokens)
        return step is not None and self.reachability.is_reachable(step)


def misspell(name: str, rng: random.Random) -> str:
    """The name with one letter dropped, doubled or swapped with the next."""
    index = rng.randrange(len(name))
    match rng.randrange(3):
        case 0 if len(name) > 2:
            return name[:index] + name[index + 1 :]
        case 1 if index + 1 < len(name):
            return name[:index] + name[index + 1] + name[index] + name[index + 2 :]
    return name[:index] + name[index] + name[index:]


# -- the corpus -------------------------------------------------------------------------------------------------------


def generate_corpus(
    seed: int = 0, singles: int = 360, doubles: int = 240, sources: dict[str, list[SeedTask]] | None = None
) -> list[Case]:
    """Generate cases with one fault, then cases with two faults. It takes about a second for eight cases.

    ``sources``: tasks by source (default: all sources).
    """
    tasks = load_sources(seed) if sources is None else sources
    seeders = {name: [Seeder(task) for task in source_cases] for name, source_cases in tasks.items()}
    cases: list[Case] = []
    for faults, count in ((1, singles), (2, doubles)):
        for source, quota in source_quotas(count, list(seeders)).items():
            rng = random.Random(f"{seed} {faults} {source}")
            source_cases = draw_cases(seeders[source], quota, faults, rng)
            cases += [
                case._replace(name=f"{source}-{faults}-{number:03d}") for number, case in enumerate(source_cases, 1)
            ]
    return cases


def source_quotas(count: int, sources: list[str]) -> dict[str, int]:
    """The number of cases of each source."""
    total = sum([SHARES[source] for source in sources])
    quota_by_source = {source: int(count * SHARES[source] / total) for source in sources}
    for source in sources[: count - sum(quota_by_source.values())]:
        quota_by_source[source] += 1
    return quota_by_source


def draw_cases(seeders: list[Seeder], quota: int, faults: int, rng: random.Random) -> list[Case]:
    """Draw ``quota`` cases with ``faults`` faults each from tasks of one source."""
    cases: list[Case] = []
    kind_counts: Counter[str] = Counter()
    known_plans: set[tuple[str, ...]] = set()
    while len(cases) < quota:
        seeder = rng.choice(seeders)
        length = len(seeder.task.gold)
        if length < faults + 1:
            continue
        try_hazard = bool(seeder.task.specs) and rng.random() < HAZARD_SHARE
        case = seed_case(seeder, rng.sample(range(1, length + 1), faults), kind_counts, rng, try_hazard)
        if case is None or case.steps in known_plans:
            continue
        known_plans.add(case.steps)
        kind_counts.update([fault.kind for fault in case.faults])
        cases.append(case)
    return cases


def seed_case(
    seeder: Seeder, positions: Sequence[int], kind_counts: Counter[str], rng: random.Random, hazard: bool
) -> Case | None:
    """A case with a fault at each position; ``None`` if the plan is good, or two insertions have the same position.

    Each fault is a fault by itself. Grammar faults are possible everywhere, so there is always a fault.
    """
    faults = []
    for position in positions:
        fault = seed_fault(seeder, position, EDIT_KINDS, kind_counts, rng, True) if hazard else None
        if fault is None or kind_counts[fault.kind] > min([kind_counts[kind] for kind in KINDS]) + MAX_LEAD:
            fault = seed_fault(seeder, position, KINDS, kind_counts, rng, False)
        assert fault is not None
        faults.append(fault)
    insert_positions = [fault.edit.before for fault in faults if fault.edit.before]
    if len(set(insert_positions)) < len(insert_positions):
        return None
    steps, headline = seeder.check_faults(faults)
    if headline is None or headline in GOOD or headline is Headline.UNKNOWN:
        return None
    return Case("", seeder.task, steps, tuple(faults), headline is Headline.UNSAFE)


def seed_fault(
    seeder: Seeder, position: int, kinds: Sequence[str], kind_counts: Counter[str], rng: random.Random, hazard: bool
) -> Fault | None:
    """A fault of the rarest kind in the corpus that is possible at this position."""
    for kind in sorted(kinds, key=lambda kind: (kind_counts[kind], rng.random())):
        fault = seeder.find_fault(kind, position, rng, hazard)
        if fault is not None:
            return fault
    return None


def corpus_statistics(cases: Sequence[Case]) -> dict[str, object]:
    """Counts by number of faults, source, kind, hazard and fifth of the plan."""
    result: dict[str, object] = {"cases": len(cases)}
    for number in (1, 2):
        number_cases = [case for case in cases if len(case.faults) == number]
        faults = [(case, fault) for case in number_cases for fault in case.faults]
        kinds_by_source: dict[str, Counter[str]] = {}
        for case, fault in faults:
            kinds_by_source.setdefault(case.task.source, Counter())[fault.kind] += 1
        fifths = Counter([plan_fifth(fault.position, len(case.task.gold)) for case, fault in faults])
        expected_by_fifth = dict.fromkeys(range(1, 6), 0.0)
        for case, _ in faults:
            length = len(case.task.gold)
            for position in range(1, length + 1):
                expected_by_fifth[plan_fifth(position, length)] += 1 / length
        result["single" if number == 1 else "double"] = {
            "cases": len(number_cases),
            "from published gold plans": sum(
                [case.task.source in ("behavior", "virtualhome") for case in number_cases]
            ),
            "hazards": sum([case.hazard for case in number_cases]),
            "plans": len({case.task.name for case in number_cases}),
            "by kind": dict(sorted(Counter([fault.kind for _, fault in faults]).items())),
            "by source and kind": {
                source: dict(sorted(kinds.items())) for source, kinds in sorted(kinds_by_source.items())
            },
            "by fifth of the plan": dict(sorted(fifths.items())),
            "expected by fifth": {number: round(share, 1) for number, share in expected_by_fifth.items()},
        }
    return result


def plan_fifth(position: int, length: int) -> int:
    """The fifth of a plan (1 to 5) that contains a step."""
    return int(5 * (position - 0.5) / length) + 1


def as_json(case: Case) -> dict[str, object]:
    """A case as JSON, without the texts of the task."""
    return {
        "name": case.name,
        "task": case.task.name,
        "source": case.task.source,
        "hazard": case.hazard,
        "faults": [
            {"kind": fault.kind, "position": fault.position, "description": fault.description} for fault in case.faults
        ],
        "gold": list(case.task.gold),
        "steps": list(case.steps),
    }


def main() -> int:
    """Generate, print the counts, and write the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--singles", type=int, default=360)
    parser.add_argument("--doubles", type=int, default=240)
    parser.add_argument(
        "--only", nargs="+", choices=SHARES, metavar="SOURCE", help=f"Use only these sources: {', '.join(SHARES)}."
    )
    parser.add_argument("--output", type=Path, help="Write the cases to this file, as JSON.")
    arguments = parser.parse_args()
    start = time.perf_counter()
    cases = generate_corpus(
        arguments.seed, arguments.singles, arguments.doubles, load_sources(arguments.seed, arguments.only)
    )
    print(json.dumps(corpus_statistics(cases), indent=2))
    print(f"{time.perf_counter() - start:.1f} s")
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(json.dumps([as_json(case) for case in cases], indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
