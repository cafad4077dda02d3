"""Print randomly chosen repairs for review by a person.

usage: python -m bench.faults.sample [--count 40] [--seed N] [--faults 1 | 2] [--time-limit S]

Shows the goal, the seeded faults (``!``), and the best repair: ``-`` a deleted step, ``+`` an inserted step, ``~`` a
replaced step, ``>`` a moved step.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator

from bench.faults.corpus import SHARES, Case, generate_corpus
from bench.faults.sources import load_sources

from plansafe.grammar.sexpr import format_node
from plansafe.verifier.repair.model import Edit, EditKind, Repair, RepairOptions, RepairResult

MARKS = {
    EditKind.INSERT: "+",
    EditKind.MOVE: ">",
    EditKind.SUBSTITUTE: "~",
    EditKind.REPLACE: "~",
    EditKind.DELETE: "-",
}
CONTEXT_STEPS = 2
"""Number of unchanged steps that are shown before and after each edit."""


def format_case(case: Case, result: RepairResult) -> str:
    """One case and its best repair."""
    report = case.task.checker().check(case.plan)
    headline = report.headline.value if report.headline else "unreadable"
    lines = [f"{case.name}  ({case.task.source}: {case.task.name}, {len(case.steps)} steps)"]
    goals = dict.fromkeys([format_node(node) for node in case.task.checker().compiled.task.goal_nodes])  # type: ignore[arg-type]
    lines.append("goal: " + " ".join(goals))
    lines += [f"! {fault.kind}, gold step {fault.position}: {fault.description}" for fault in case.faults]
    lines.append(f"verdict: {headline}")
    lines += [f"  {finding.message}" for finding in report.findings if "halt" in finding.readings][:3]
    if not result.repairs:
        return "\n".join([*lines, f"repair: {result.status.value}; {result.detail}"])
    repair = result.repairs[0]
    optimality = "least" if result.optimal else f"at least {result.bound}"
    lines.append(f"repair: cost {repair.cost} ({optimality}), the first of {len(result.repairs)}")
    is_gold = repair.steps == case.task.gold
    lines += diff_lines(repair)
    lines.append("the repair is the gold plan" if is_gold else "the repair is not the gold plan")
    return "\n".join(lines)


def diff_lines(repair: Repair) -> Iterator[str]:
    """The lines of the repaired plan around its edits, with deleted steps at their old positions."""
    edits: dict[int, Edit] = {edit.position: edit for edit in repair.edits if edit.position}
    deletions = [edit for edit in repair.edits if edit.kind is EditKind.DELETE]
    lines: list[tuple[bool, str]] = []
    last_origin = 0
    for position, (step, origin) in enumerate(zip(repair.steps, repair.origin, strict=True), 1):
        edit = edits.get(position)
        if origin and (edit is None or edit.kind is not EditKind.MOVE):
            lines += [
                (True, f"  - {deletion.step:3}  {deletion.before}")
                for deletion in deletions
                if last_origin < deletion.step < origin
            ]
            last_origin = origin
        if edit is None:
            lines.append((False, f"    {origin:3}  {step}"))
        elif edit.kind is EditKind.INSERT:
            reason = f"   ; {edit.reason}" if edit.reason else ""
            lines.append((True, f"  +      {step}{reason}"))
        else:
            note = f"   ; was {edit.before}" if edit.kind is EditKind.SUBSTITUTE else f"   ; was step {origin}"
            lines.append((True, f"  {MARKS[edit.kind]} {origin:3}  {step}{note}"))
    lines += [
        (True, f"  - {deletion.step:3}  {deletion.before}") for deletion in deletions if last_origin < deletion.step
    ]
    shown_indices = {
        index + offset
        for index, (is_edited, _) in enumerate(lines)
        if is_edited
        for offset in range(-CONTEXT_STEPS, CONTEXT_STEPS + 1)
    }
    in_gap = False
    for index, (_, text) in enumerate(lines):
        if index in shown_indices:
            yield text
        elif not in_gap:
            yield "    .."
        in_gap = index not in shown_indices


def main() -> int:
    """Choose cases, repair and print them."""
    from plansafe.verifier.repair.api import repair

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0, help="Seed of the corpus and of the choice.")
    parser.add_argument("--faults", type=int, choices=(1, 2), help="Use only cases with this number of faults.")
    parser.add_argument("--singles", type=int, default=360, help="Number of cases with one fault in the corpus.")
    parser.add_argument("--doubles", type=int, default=240, help="Number of cases with two faults in the corpus.")
    parser.add_argument(
        "--only", nargs="+", choices=SHARES, metavar="SOURCE", help=f"Use only these sources: {', '.join(SHARES)}."
    )
    parser.add_argument("--time-limit", type=float, default=10.0, help="Time limit for one repair, in seconds.")
    arguments = parser.parse_args()
    sources = load_sources(arguments.seed, arguments.only)
    cases = generate_corpus(arguments.seed, arguments.singles, arguments.doubles, sources)
    cases = [case for case in cases if arguments.faults in (None, len(case.faults))]
    options = RepairOptions(max_cost=8, time_limit_s=arguments.time_limit)
    for case in random.Random(f"sample {arguments.seed}").sample(cases, arguments.count):
        print(format_case(case, repair(case.task.checker(), case.plan, options)), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
