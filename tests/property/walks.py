"""Compare ways of execution on random walks through random tasks.

The violations that ``options`` predicts for each legal step must occur when the step is executed. The same steps must
lead to the same state step by step (``take``), together (``follow``), and without rules.

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
    task = case(stream, seed, number)
    specs = [Source("rules.safe", task.safety_text())]
    return Checker(Source("domain.pddl", task.domain_text()), Source("problem.pddl", task.problem_text()), specs)


def executed_options(now: Execution, steps: list[GroundAction]) -> Options:
    """The violations of each step, by executing it on a copy."""
    out = []
    for step in steps:
        after = now.after(step)
        assert after is not None, step_text(step, now.task.objects)
        preference_parts = now.engine.rule_set.preference_parts  # ``options`` leaves them out, also undecided ones
        out.append((step, tuple([v for v in after.new_violations if v.part not in preference_parts])))
    return out


class VisitedState(NamedTuple):
    """A state of a walk: the numbers of legal steps and of steps that break a rule, and the differences found."""

    legal: int
    breaking: int
    differences: list[str]


def differences(compiled: Checker, random: Random, letters: int) -> Iterator[VisitedState]:
    """Compare in each state of a random walk, then compare the whole walk."""
    now = Execution.initial(compiled.engine)
    walked: list[GroundAction] = []
    for letter in range(letters):
        before = now.key()
        options = now.options()
        steps = [option.step for option in options]
        executed = executed_options(now, steps)
        assert now.key() == before
        objects = now.task.objects
        breaking = [option.step for option in options if option.broken]
        yield VisitedState(
            len(steps),
            len(breaking),
            [
                f"letter {letter}: {step_text(step, objects)}: options {option.broken}, executed {violations}"
                for option, (step, violations) in zip(options, executed, strict=True)
                if option.broken != violations
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
    yield VisitedState(0, 0, list(_follow_differences(compiled, now, walked, random)))


def _follow_differences(compiled: Checker, now: Execution, walked: list[GroundAction], random: Random) -> Iterator[str]:
    """Differences between the walk and its rest when ``follow`` executes it from one of its states."""
    here = Execution.initial(compiled.engine)
    at = random.randrange(len(walked) + 1)
    assert all(here.take(step) for step in walked[:at])
    before, bare, followed = here.key(), here.without_rules(), here.fork()
    if not followed.follow(walked[at:]) or followed.key() != now.key() or _rule_results(followed) != _rule_results(now):
        yield f"followed from {at}: {_rule_results(followed)}, taken {_rule_results(now)}"
    if not bare.follow(walked[at:]) or bare.runtime is not None or bare.state_key() != now.state_key():
        yield f"without rules, the walk from {at} ends in another state"
    if here.key() != before:
        yield f"the execution at {at} was changed by its copies"
    illegal = [step for step in walked if now.after(step) is None]
    if any(now.fork().follow([step]) or now.without_rules().follow([step]) for step in illegal):
        yield "follow executed an illegal step"


def _rule_results(now: Execution) -> object:
    end = now.finish_runtime()
    return None if end is None else (end.collect_violations(), end.collect_undecided(), end.count_triggers())


def main() -> int:
    """Walk through many tasks; returns 1 if there is a difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--letters", type=int, default=12)
    options = parser.parse_args()
    states = steps = breaking = 0
    wrong: list[str] = []
    for number in range(options.tasks):
        stream = UNTIMED[number % len(UNTIMED)]
        compiled = checker(stream, options.seed, number)
        if not compiled.ok or any(action.end is not None for action in compiled.engine.task.actions.values()):
            continue
        try:
            for visited in differences(compiled, Random(f"{options.seed} {number}"), options.letters):
                states, steps, breaking = states + 1, steps + visited.legal, breaking + visited.breaking
                wrong += [f"{stream} {options.seed} {number}: {text}" for text in visited.differences]
        except NumberTooLarge:
            continue
    print(*wrong[:20], sep="\n")
    print(f"{states} states, {steps} legal steps, {breaking} of them break a rule, {len(wrong)} differ")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
