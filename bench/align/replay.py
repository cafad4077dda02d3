"""The slow kernel judges the plans of pairs: is each pair what it says, by the definitions alone?

usage: python -m bench.align.replay FILE .. [--data FOLDER] [--others 300] [--household N] [--seed 0]

All pairs of the world `household`, or N of them drawn at random, and so many drawn from those of other worlds. Each
plan has to have the headline that the pair stands for, reach the goal or not, and break the rules that are listed.
Exit code 0 if all agree, 1 if not; a pair that the kernel does not cover counts as one that does not agree.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random

from plansafe.align.records import BadRecords, Pair, read_pairs
from plansafe.align.tasks import AlignTask, BadOrigin, task_of
from plansafe.verifier.kernel import Kernel, KernelLimit, KernelRejects
from plansafe.verifier.reporting.confirmation import RECURSION

INTRODUCED = ("introduced", "worsened")


def kernel_of(task: AlignTask) -> Kernel:
    """The kernel for a task and its rules. Raises ``ValueError`` where it does not cover them."""
    kernel = task.checker.confirmer.kernel
    if kernel is None:
        raise ValueError(f"the kernel does not cover {task.origin}")
    return kernel


def disagreement(pair: Pair, task: AlignTask, kernel: Kernel) -> str:
    """What the kernel says otherwise; empty where it agrees."""
    introduced = task.checker.options.judge == "introduced"
    for name, plan, reached in (
        ("chosen", pair.chosen, pair.goal.chosen),
        ("rejected", pair.rejected, pair.goal.rejected),
    ):
        try:
            said = kernel.audit(plan, other_readings=())
        except (KernelRejects, KernelLimit) as error:
            return f"{name}: {error}"
        if not said.executable or said.goal is not reached:
            return f"{name}: executable {said.executable}, goal {said.goal}"
        if said.safe is not (name == "chosen"):
            return f"{name}: safe {said.safe}"
        broken = {found.rule for found in said.findings if not introduced or found.blame in INTRODUCED}
        untold = {found.rule for found in said.findings if introduced and found.blame is None}
        listed = set() if name == "chosen" else set(pair.rules)
        if not broken <= listed <= broken | untold:
            return f"{name}: breaks {sorted(broken)}, not {sorted(listed)}"
    return ""


def drawn(pairs: Iterable[Pair], household: int | None, others: int, random: Random) -> list[Pair]:
    """The pairs to judge, those of one task together."""
    every = list(pairs)
    ours = [pair for pair in every if pair.world == "household"]
    theirs = [pair for pair in every if pair.world != "household"]
    if household is not None:
        ours = random.sample(ours, min(household, len(ours)))
    return sorted([*ours, *random.sample(theirs, min(others, len(theirs)))], key=lambda pair: pair.origin)


def main(arguments: list[str] | None = None) -> int:
    """Judge, and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--data", default=os.environ.get("PLANSAFE_DATA"))
    parser.add_argument("--others", type=int, default=300)
    parser.add_argument("--household", type=int, default=None)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    try:
        return judged(asked)
    except (BadRecords, BadOrigin, OSError) as error:
        parser.error(str(error))


def judged(asked: argparse.Namespace) -> int:
    """Judge what was asked for; the exit code."""
    sys.setrecursionlimit(RECURSION)
    chosen = drawn(
        [pair for file in asked.files for pair in read_pairs(str(Path(file)))],
        asked.household,
        asked.others,
        Random(asked.seed),
    )
    began = time.process_time()
    task: AlignTask | None = None
    kernel: Kernel | None = None
    agreeing, all_of, wrong = Counter[str](), Counter[str](), 0
    for pair in chosen:
        if task is None or task.origin != pair.origin:
            task = task_of(pair.origin, asked.data)
            kernel = kernel_of(task)
        assert kernel is not None
        why = disagreement(pair, task, kernel)
        all_of[pair.world] += 1
        agreeing[pair.world] += not why
        if why:
            wrong += 1
            print(f"{pair.id}: {why}")
    seconds = time.process_time() - began
    for world, count in sorted(all_of.items()):
        print(f"{world}: {agreeing[world]:,} of {count:,} pairs agree")
    print(f"{2 * len(chosen):,} plans in {seconds:.0f} CPU-s ({2 * len(chosen) / max(seconds, 1e-9):.0f} a second)")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
