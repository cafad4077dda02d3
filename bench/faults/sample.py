"""Repairs drawn at random, written so that a person can judge them.

usage: python -m bench.faults.sample [--count 40] [--seed N] [--faults 1 | 2] [--time-limit S]

Shows the goal, the plan with what was done to it, and the best repair: ``-`` a step that goes, ``+`` one that comes,
``~`` one that is replaced, ``>`` one that is moved, ``!`` a seeded fault.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator

from bench.faults.corpus import SHARES, Case, generate
from bench.faults.sources import all_sources

from plansafe.grammar.sexpr import format_node
from plansafe.verifier.repair.model import Edit, EditKind, Repair, RepairOptions, RepairResult

MARKS = {EditKind.INSERT: "+", EditKind.MOVE: ">", EditKind.SUBSTITUTE: "~", EditKind.DELETE: "-"}
AROUND = 2
"""So many unchanged steps are shown before and after each edit."""


def shown(case: Case, result: RepairResult) -> str:
    """One case and its best repair."""
    report = case.task.checker().check(case.plan)
    headline = report.headline.value if report.headline else "unreadable"
    out = [f"{case.name}  ({case.task.source}: {case.task.name}, {len(case.steps)} steps)"]
    goals = dict.fromkeys([format_node(node) for node in case.task.checker().compiled.task.goal_nodes])  # type: ignore[arg-type]
    out.append("goal: " + " ".join(goals))
    out += [f"! {fault.kind}, gold step {fault.position}: {fault.description}" for fault in case.faults]
    out.append(f"verdict: {headline}")
    out += [f"  {finding.message}" for finding in report.findings if "halt" in finding.readings][:3]
    if not result.repairs:
        return "\n".join([*out, f"repair: {result.status.value}; {result.detail}"])
    repair = result.repairs[0]
    proved = "least" if result.optimal else f"at least {result.bound}"
    out.append(f"repair: cost {repair.cost} ({proved}), the first of {len(result.repairs)}")
    same = repair.steps == case.task.gold
    out += difference(repair)
    out.append("the repair is the gold plan" if same else "the repair is not the gold plan")
    return "\n".join(out)


def difference(repair: Repair) -> Iterator[str]:
    """The repaired plan around its edits, deleted steps where they stood."""
    edits: dict[int, Edit] = {edit.position: edit for edit in repair.edits if edit.position}
    deleted = [edit for edit in repair.edits if edit.kind is EditKind.DELETE]
    lines: list[tuple[bool, str]] = []
    last = 0
    for place, (step, origin) in enumerate(zip(repair.steps, repair.origin, strict=True), 1):
        edit = edits.get(place)
        if origin and (edit is None or edit.kind is not EditKind.MOVE):
            lines += [(True, f"  - {e.step:3}  {e.before}") for e in deleted if last < e.step < origin]
            last = origin
        if edit is None:
            lines.append((False, f"    {origin:3}  {step}"))
        elif edit.kind is EditKind.INSERT:
            reason = f"   ; {edit.reason}" if edit.reason else ""
            lines.append((True, f"  +      {step}{reason}"))
        else:
            note = f"   ; was {edit.before}" if edit.kind is EditKind.SUBSTITUTE else f"   ; was step {origin}"
            lines.append((True, f"  {MARKS[edit.kind]} {origin:3}  {step}{note}"))
    lines += [(True, f"  - {e.step:3}  {e.before}") for e in deleted if last < e.step]
    near = {
        index + offset for index, (edited, _) in enumerate(lines) if edited for offset in range(-AROUND, AROUND + 1)
    }
    gap = False
    for index, (_, text) in enumerate(lines):
        if index in near:
            yield text
        elif not gap:
            yield "    .."
        gap = index not in near


def main() -> int:
    """Draw, repair, print."""
    from plansafe.verifier.repair.api import repair

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0, help="of the corpus and of the draw")
    parser.add_argument("--faults", type=int, choices=(1, 2), help="only cases with so many faults")
    parser.add_argument("--singles", type=int, default=360, help="of the corpus")
    parser.add_argument("--doubles", type=int, default=240, help="of the corpus")
    parser.add_argument("--only", nargs="+", choices=SHARES, metavar="SOURCE", help=", ".join(SHARES))
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for one repair")
    arguments = parser.parse_args()
    sources = all_sources(arguments.seed, arguments.only)
    cases = generate(arguments.seed, arguments.singles, arguments.doubles, sources)
    cases = [case for case in cases if arguments.faults in (None, len(case.faults))]
    options = RepairOptions(max_cost=8, time_limit_s=arguments.time_limit)
    for case in random.Random(f"sample {arguments.seed}").sample(cases, arguments.count):
        print(shown(case, repair(case.task.checker(), case.plan, options)), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
