"""Random walks through random tasks: what ``options`` says of each legal step is what taking it does.

And the same steps lead to the same place one by one (``take``), all at once (``follow``), and without rules.

usage: python tests/property/walks.py [--tasks 200] [--seed 1] [--letters 12]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from generate import STREAMS, case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.broken_instances import BrokenInstance
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, step_text

UNTIMED = tuple([stream for stream in STREAMS if stream != "timed"])
Options = list[tuple[GroundAction, tuple[BrokenInstance, ...]]]


def checker(stream: str, seed: int, number: int) -> Checker:
    """A random task with its rules, compiled."""
    found = case(stream, seed, number)
    specs = [Source("rules.safe", found.safety_text())]
    return Checker(Source("domain.pddl", found.domain_text()), Source("problem.pddl", found.problem_text()), specs)


def one_by_one(now: Execution, steps: list[GroundAction]) -> Options:
    """What each step breaks, by taking it from a copy."""
    out = []
    for step in steps:
        after = now.after(step)
        assert after is not None, step_text(step, now.task.objects)
        out.append((step, after.new_violations))
    return out


class Looked(NamedTuple):
    """A state of a walk: how many steps are legal there, how many break a rule, and about which the two ways differ."""

    legal: int
    breaking: int
    differ: list[str]


def differences(checked: Checker, random: Random, letters: int) -> Iterator[Looked]:
    """Look at each state of a random walk."""
    now = Execution.initial(checked.engine)
    walked: list[GroundAction] = []
    for letter in range(letters):
        before = now.key()
        options = now.options()
        steps = [option.step for option in options]
        taken = one_by_one(now, steps)
        assert now.key() == before
        objects = now.task.objects
        breaking = [option.step for option in options if option.broken]
        yield Looked(
            len(steps),
            len(breaking),
            [
                f"letter {letter}: {step_text(step, objects)}: options {option.broken}, taken {news}"
                for option, (step, news) in zip(options, taken, strict=True)
                if option.broken != news
            ],
        )
        if not steps:
            break
        step = random.choice(breaking if breaking and random.random() < 0.3 else steps)
        if random.random() < 0.5:
            after = now.after(step)
            assert after is not None
            now = after
        else:
            assert now.take(step)
        walked.append(step)
    yield Looked(0, 0, list(_otherwise(checked, now, walked, random)))


def _otherwise(checked: Checker, now: Execution, walked: list[GroundAction], random: Random) -> Iterator[str]:
    """How the steps of a walk lead elsewhere when they are followed from one of its places."""
    here = Execution.initial(checked.engine)
    at = random.randrange(len(walked) + 1)
    assert all(here.take(step) for step in walked[:at])
    before, bare, followed = here.key(), here.without_rules(), here.fork()
    if not followed.follow(walked[at:]) or followed.key() != now.key() or _found(followed) != _found(now):
        yield f"followed from {at}: {_found(followed)}, taken {_found(now)}"
    if not bare.follow(walked[at:]) or bare.runtime is not None or bare.state_key() != now.state_key():
        yield f"without rules from {at} another state"
    if here.key() != before:
        yield f"what was followed from {at} changed"
    illegal = [step for step in walked if now.after(step) is None]
    if any(now.fork().follow([step]) or now.without_rules().follow([step]) for step in illegal):
        yield "a step was followed that cannot be taken"


def _found(now: Execution) -> object:
    end = now.finished_runtime()
    return None if end is None else (end.violations(), end.undecided(), end.touches())


def main() -> int:
    """Walk through many tasks; 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--letters", type=int, default=12)
    given = parser.parse_args()
    states = steps = breaking = 0
    wrong: list[str] = []
    for number in range(given.tasks):
        stream = UNTIMED[number % len(UNTIMED)]
        checked = checker(stream, given.seed, number)
        if not checked.ok or any(action.end is not None for action in checked.engine.task.actions.values()):
            continue
        try:
            for looked in differences(checked, Random(f"{given.seed} {number}"), given.letters):
                states, steps, breaking = states + 1, steps + looked.legal, breaking + looked.breaking
                wrong += [f"{stream} {given.seed} {number}: {text}" for text in looked.differ]
        except NumberTooLarge:
            continue
    print(*wrong[:20], sep="\n")
    print(f"{states} states, {steps} legal steps, {breaking} of them break a rule, {len(wrong)} differ")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
