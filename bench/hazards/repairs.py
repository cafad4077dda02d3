"""How many hazards of household scripts are mended, and what are they called?

usage: python -m bench.hazards.repairs [--only people|faults] [--limit N] [--seconds 10] [--goals] [--pages FILE]
       python -m bench.hazards.repairs --make FAULTS

*people*: the scripts of ActivityPrograms that cause a hazard by themselves. *faults*: scripts that are SAFE and reach
their goal, each with one edit that puts a hazard in. Both are frozen in ``repairs.json``, by name and by edit, so that
the library may change around them; ``--make`` draws the faults anew by its seed. Each is repaired under what decides in
a world (``--judge introduced``), within ``--seconds`` of CPU time (what else runs on the machine costs nothing), and
the repair is replayed by the kernel without any limit. The faults are repaired for the goal of their task; people's
scripts are judged as they are in :mod:`bench.hazards.study`, without one, and with ``--goals`` for that, too. Reads the
folder ``eai-virtualhome`` of the data sets (``PLANSAFE_DATA``). Run it from the root of the repository. Exit code 1 if
the kernel does not call a repair safe.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from typing import NamedTuple

from bench.hazards.study import DATA, LIBRARY, scripts

from plansafe.app.session.audit import Session
from plansafe.app.session.model import Prepared, Result, Settings
from plansafe.app.session.repair import with_purpose
from plansafe.grammar.source import Source
from plansafe.verifier.diagnose.api import diagnose, edit_text
from plansafe.verifier.diagnose.model import Diagnosis, ErrorClass
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.replay import HALT, Replay
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning import best_first_search, forward_search, planner_chain
from plansafe.verifier.repair import alignments, api, attempt, search
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions, RepairResult
from plansafe.verifier.reporting.confirmation import Confirmer
from plansafe.verifier.reporting.report import Headline, Report

FROZEN = Path(__file__).with_suffix(".json")
FAULTS = ("left on", "left open", "dropped", "wrong order")
CLASSES = {
    "insert": ErrorClass.ADDITIONAL,
    "delete": ErrorClass.MISSING,
    "substitute": ErrorClass.SUBSTITUTE,
    "move": ErrorClass.ORDER,
}
"""What a fault is called by rights: by the edit that would take it back."""
HAZARDS = (ErrorClass.PROCESS_HAZARD, ErrorClass.TERMINATION_HAZARD)
NO_MORE = "is flagged no more"
CONTRADICTED = "the kernel does not call it safe"
MOST_TRIED = 100
"""Faults of one kind that are tried in one script, before the next."""


class Fault(NamedTuple):
    """One edit of a script: before or at ``step`` (from 1), ``text`` the new step; a moved one is put before ``to``."""

    script: str
    fault: str
    kind: str
    step: int
    text: str = ""
    to: int = 0


class Mended(NamedTuple):
    """What came of one script. ``failure``: why it counts as not mended, else empty."""

    name: str
    what: str
    seconds: float
    failure: str
    classes: tuple[str, ...]
    named: bool
    page: str


def main() -> int:
    """Repair, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", choices=("people", "faults"))
    parser.add_argument("--limit", type=int, help="so many of each")
    parser.add_argument("--seconds", type=float, default=10.0, help="of CPU time for each repair (default 10)")
    parser.add_argument("--goals", action="store_true", help="people's scripts have to reach the goal of their task")
    parser.add_argument("--pages", type=Path, help="write every repair side by side with its script")
    parser.add_argument("--make", type=int, metavar="FAULTS", help="draw so many faults, and freeze them")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"no data at {DATA} (set PLANSAFE_DATA)", file=sys.stderr)
        return 2
    frozen = json.loads(FROZEN.read_text(encoding="utf-8"))
    if options.make is not None:
        frozen["faults"] = [list(fault) for fault in drawn(options.make, frozen["seed"])]
        FROZEN.write_text(_written(frozen), encoding="utf-8")
        return 0
    by_processor_time()
    groups: list[list[Mended]] = []
    if options.only != "faults":
        names = frozen["people"][: options.limit]
        groups.append(
            told("scripts that people wrote", (mended(name, options.seconds, options.goals) for name in names))
        )
    if options.only != "people":
        faults = [Fault(*fault) for fault in frozen["faults"][: options.limit]]
        groups.append(told("scripts with a fault", (mended_fault(fault, options.seconds) for fault in faults)))
    if options.pages is not None:
        pages = [f"{number}. {one.page}" for group in groups for number, one in enumerate(group, 1)]
        options.pages.write_text("\n".join(pages), encoding="utf-8")
    return 1 if any([one.failure == CONTRADICTED for group in groups for one in group]) else 0


def by_processor_time() -> None:
    """The searches' clocks are that of the process: a limit is one of work, whatever else runs on the machine."""
    for module in (api, attempt, search, alignments, planner_chain, forward_search, best_first_search):
        setattr(module, "monotonic", process_time)  # noqa: B010 - their own names


def told(title: str, results: Iterator[Mended]) -> list[Mended]:
    """Print the figures of some scripts, and return these."""
    every: list[Mended] = []
    for one in results:
        every.append(one)
        if one.failure:
            print(f"  {one.name} ({one.what}): {one.failure}, {one.seconds:.1f} s", flush=True)
    good = [one for one in every if not one.failure]
    times = sorted([one.seconds for one in every]) or [0.0]
    gone = sum([one.failure == NO_MORE for one in every])
    less = f" ({gone} flagged no more)" if gone else ""
    cpu = f"CPU {median(times):.2f} s in the middle, {times[-1]:.1f} at most"
    print(f"{title}: {len(good)} of {len(every)} mended{less}; {cpu}")
    kinds = dict.fromkeys([one.what for one in every])
    for kind in kinds:
        own = [one for one in every if one.what == kind]
        named = sum([one.named for one in own])
        counted = Counter([name for one in own for name in one.classes]).most_common()
        texts = ", ".join([f"{name} {number}" for name, number in counted])
        right = f", {named} named right" if kind else ""
        done = sum([not one.failure for one in own])
        print(f"  {kind or 'classes'}: {done} of {len(own)} mended{right}; {texts}", flush=True)
    return every


# -- one script -------------------------------------------------------------------------------------------------------


def prepared(name: str, goal: bool) -> Prepared:
    """A script in its scene with the whole library; with ``goal``, also with the goal of its task."""
    with tempfile.TemporaryDirectory() as folder:
        scene = Path(folder) / "graph.json"
        scene.write_bytes(gzip.decompress((DATA / "init_and_final_graphs" / f"file{name}.json.gz").read_bytes()))
        settings = Settings(
            world="virtualhome",
            scene=str(scene),
            specs=LIBRARY,
            goal=str(DATA / "goals_and_tl.json") if goal else None,
            task=name if goal else None,
            replay="never",
        )
        found = Session(settings).prepare(str(DATA / "programs" / f"file{name}.txt"))
    if isinstance(found, Result):
        raise ValueError(f"{name}: {[d.message for d in found.report.diagnostics]}")
    return found


def mended(name: str, seconds: float, goal: bool) -> Mended:
    """Repair a script that somebody wrote."""
    ready = prepared(name, goal)
    return repaired(name, "", ready, ready.plan, seconds, None)


def mended_fault(fault: Fault, seconds: float) -> Mended:
    """Repair a script with a fault."""
    ready = prepared(fault.script, True)
    plan = Source(ready.plan.name, faulty(ready.plan.text.splitlines(), fault))
    return repaired(fault.script, fault.fault, ready, plan, seconds, CLASSES[fault.kind])


def repaired(name: str, what: str, ready: Prepared, plan: Source, seconds: float, right: ErrorClass | None) -> Mended:
    """Repair and diagnose a plan, in that much CPU time; ``right`` is what its fault should be called."""
    options = RepairOptions(max_cost=8, time_limit_s=seconds)
    begun = process_time()
    found = diagnose(ready.checker, plan, options)
    spent = process_time() - begun
    if right is None:  # as the command repairs what has no goal
        begun = process_time()
        found = found._replace(repair=repair(ready.checker, plan, with_purpose(options, ready, "virtualhome")))
        spent = process_time() - begun
    failure = wrong(found.report, found.repair, ready)
    classes = tuple([error.value for error in found.classes if error not in HAZARDS])
    flagged = any([error in HAZARDS for error in found.classes])
    named = right is None or (right in found.classes and flagged)
    return Mended(name, what, spent, failure, classes, named, page(name, what, ready, plan, found, failure))


def wrong(report: Report, found: RepairResult, ready: Prepared) -> str:
    """Why a plan is not mended; empty if it is, and the kernel says so."""
    if report.headline in (Headline.SAFE, Headline.VALID):
        return NO_MORE
    if not found.repairs:
        return f"{found.status.value}: {found.detail}"
    best = found.repairs[0]
    compiled = ready.checker.compiled
    kernel = Confirmer(compiled._replace(options=compiled.options._replace(replay="always")))
    safe = kernel.is_safe(Source("repaired", best.text), len(best.steps))
    return "" if safe else CONTRADICTED if safe is False else "the kernel does not cover it"


# -- faults -----------------------------------------------------------------------------------------------------------


def faulty(lines: list[str], fault: Fault) -> str:
    """A plan with a fault put in."""
    lines = list(lines)
    at = fault.step - 1
    match fault.kind:
        case "insert":
            lines.insert(at, fault.text)
        case "delete":
            del lines[at]
        case "substitute":
            lines[at] = fault.text
        case _:
            line = lines.pop(at)
            lines.insert(fault.to - 1, line)
    return "\n".join(lines) + "\n"


def drawn(count: int, seed: int) -> list[Fault]:
    """So many faults, of each kind about as many, in scripts at random, at most one of each kind in a script."""
    random = Random(seed)
    names = scripts()
    random.shuffle(names)
    out: dict[str, list[Fault]] = {kind: [] for kind in FAULTS}
    share = -(-count // len(FAULTS))
    for name in names:
        open_ = [kind for kind in FAULTS if len(out[kind]) < share]
        if not open_:
            break
        ready = prepared(name, True)
        if ready.checker.check(ready.plan).headline is not Headline.SAFE:
            continue
        for kind in open_:
            choices = list(possible(name, kind, ready))
            random.shuffle(choices)
            for fault in choices[:MOST_TRIED]:
                if hazardous(ready, Source("faulty", faulty(ready.plan.text.splitlines(), fault))):
                    out[kind].append(fault)
                    break
        print({kind: len(faults) for kind, faults in out.items()}, flush=True)
    return [fault for faults in out.values() for fault in faults][:count]


def hazardous(ready: Prepared, plan: Source) -> bool:
    """Whether a plan is UNSAFE: asked of the engine alone, which does not explain it."""
    engine, criteria = ready.checker.engine, ready.checker.options.criteria
    steps = ready.checker.read(plan).steps
    run = Replay(engine, HALT)
    run.run_steps(steps)
    outcome = run.outcome(len(steps))
    done = not outcome.failures and outcome.goal is True
    return done and any([engine.is_decisive(violation, criteria) for violation in outcome.violations])


def possible(name: str, kind: str, ready: Prepared) -> Iterator[Fault]:
    """The faults of a kind that a script may have; whether one puts in a hazard, the verdict says."""
    checker = ready.checker
    objects = checker.engine.task.objects
    steps = [step for step in checker.read(ready.plan).steps if isinstance(step, GroundAction)]
    words = {"left on": ("switchon", "switchoff"), "left open": ("open", "close"), "dropped": ("drop", "")}
    if kind == "wrong order":
        for at in range(1, len(steps) + 1):
            yield from [Fault(name, kind, "move", at, "", to) for to in range(1, len(steps) + 1) if to != at]
        return
    begin, end = words[kind]
    now = Execution.initial(checker.engine, rules=False)
    for at in range(1, len(steps) + 2):
        for step in now.legal(begin):
            yield Fault(name, kind, "insert", at, step_text(step, objects))
            if kind == "dropped" and at <= len(steps) and steps[at - 1].action.name in ("putback", "putin"):
                yield Fault(name, kind, "substitute", at, step_text(step, objects))
        if at <= len(steps):
            if steps[at - 1].action.name == end:
                yield Fault(name, kind, "delete", at)
            now.take(steps[at - 1])


def _written(frozen: dict[str, object]) -> str:
    """JSON with a fault on a line."""
    text = json.dumps({**frozen, "faults": []}, indent=1)
    faults = frozen["faults"]
    assert isinstance(faults, list)
    rows = ",\n".join([f"  {json.dumps(fault)}" for fault in faults])
    return text.replace('"faults": []', f'"faults": [\n{rows}\n ]') + "\n"


# -- for a reader -----------------------------------------------------------------------------------------------------


def page(name: str, what: str, ready: Prepared, plan: Source, found: Diagnosis, failure: str) -> str:
    """A script and its repair side by side, with the reason of each edit."""
    lines = [f"{name}{f' ({what})' if what else ''}: {failure or 'mended'}"]
    lines += [f"   hazard: {f.message}" for f in found.report.findings]
    if not found.repair.repairs:
        return "\n".join([*lines, *[f"   {line}" for line in plan.text.splitlines()], ""])
    best = found.repair.repairs[0]
    lines += [f"   edit: {edit_text(edit)}" for edit in best.edits]
    before = original_lines(ready, plan)
    after = list(best.steps)
    if ready.write is not None and plan == ready.plan:
        after = ready.write(ready, best).splitlines()[-len(best.steps) :] if best.steps else []
    width = max(map(len, before), default=0)
    for left, right, sign in beside(before, after, best.origin, {edit.position for edit in best.edits}):
        lines.append(f"   {left:{width}} {sign} {right}".rstrip())
    if found.report.verdict_basis.before:
        lines.append(f"   left as they were before: {best.report.verdict_basis.before} hazards of the scene")
    return "\n".join([*lines, ""])


def original_lines(ready: Prepared, plan: Source) -> list[str]:
    """The steps as the author wrote them, or those of a faulty plan."""
    text = ready.inputs[0].source.text
    return [text[slice(*place)] for place in ready.places] if plan == ready.plan else plan.text.splitlines()


def beside(
    before: list[str], after: list[str], origin: tuple[int, ...], changed: set[int]
) -> Iterator[tuple[str, str, str]]:
    """Rows of a listing: a step, the step that it became, and a sign where they differ."""
    pairs = list(enumerate(zip(after, origin, strict=True), 1))
    kept = {number for position, (_, number) in pairs if number and (position not in changed or before[number - 1])}
    moved = {
        number for position, (text, number) in pairs if position in changed and number and text == before[number - 1]
    }
    rest = list(range(1, len(before) + 1))
    for position, (text, number) in pairs:
        if not number or number in moved:
            yield "", text, "+" if not number else ">"
            continue
        while rest and rest[0] != number:
            gone = rest.pop(0)
            yield before[gone - 1], "", "<" if gone in kept else "-"
        rest.pop(0)
        yield before[number - 1], text, "|" if position in changed else " "
    for (gone,) in zip_longest(rest):
        yield before[gone - 1], "", "<" if gone in kept else "-"


if __name__ == "__main__":
    raise SystemExit(main())
