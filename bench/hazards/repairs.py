"""Repair hazards of household scripts, and name their error classes.

usage: python -m bench.hazards.repairs [--only people|faults] [--limit N] [--seconds 10] [--goals] [--pages FILE]
       python -m bench.hazards.repairs --make FAULTS

*people*: the scripts of ActivityPrograms that cause a hazard. *faults*: scripts that are SAFE and reach their goal,
each with one edit that adds a hazard. ``repairs.json`` lists both, by name and by edit, so that they stay the same when
the library changes; ``--make`` draws the faults again from its seed. Each script is repaired with ``--judge
introduced`` within ``--seconds`` of CPU time, so that other processes do not matter, and the kernel replays the repair
without a limit. The faults are repaired for the goal of their task; people's scripts without a goal as in
:mod:`bench.hazards.study`, or with one (``--goals``). Reads the folder ``eai-virtualhome`` of the data sets
(``PLANSAFE_DATA``). Run it from the root of the repository. Exit code 1 if the kernel does not call a repair safe.
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
from plansafe.verifier.diagnose.api import describe_edit, diagnose
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
"""The correct class of a fault: the class of the edit that undoes it."""
HAZARDS = (ErrorClass.PROCESS_HAZARD, ErrorClass.TERMINATION_HAZARD)
NOT_FLAGGED = "is not flagged"
CONTRADICTED = "the kernel does not call it safe"
MAX_TRIED = 100
"""Maximum number of faults of a kind that are tried in a script."""


class Fault(NamedTuple):
    """One edit of a script before or at ``step`` (from 1). ``text``: the new step; a moved step goes before ``to``."""

    script: str
    fault: str
    kind: str
    step: int
    text: str = ""
    to: int = 0


class RepairRecord(NamedTuple):
    """The repair of one script. ``failure``: the reason if it does not count as repaired; ``fault``: its kind."""

    name: str
    fault: str
    seconds: float
    failure: str
    classes: tuple[str, ...]
    is_named: bool
    page: str


def main() -> int:
    """Repair, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", choices=("people", "faults"))
    parser.add_argument("--limit", type=int, help="Repair only the first N of each group.")
    parser.add_argument("--seconds", type=float, default=10.0, help="Seconds of CPU time for each repair (default 10).")
    parser.add_argument(
        "--goals", action="store_true", help="Require that people's scripts reach the goal of their task."
    )
    parser.add_argument("--pages", type=Path, help="Write every repair next to its script.")
    parser.add_argument("--make", type=int, metavar="FAULTS", help="Draw this many faults and store them.")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"no data at {DATA} (set PLANSAFE_DATA)", file=sys.stderr)
        return 2
    frozen = json.loads(FROZEN.read_text(encoding="utf-8"))
    if options.make is not None:
        frozen["faults"] = [list(fault) for fault in draw_faults(options.make, frozen["seed"])]
        FROZEN.write_text(_frozen_text(frozen), encoding="utf-8")
        return 0
    use_processor_time()
    groups: list[list[RepairRecord]] = []
    if options.only != "faults":
        names = frozen["people"][: options.limit]
        groups.append(
            report_group(
                "scripts that people wrote", (repair_script(name, options.seconds, options.goals) for name in names)
            )
        )
    if options.only != "people":
        faults = [Fault(*fault) for fault in frozen["faults"][: options.limit]]
        groups.append(report_group("scripts with a fault", (repair_fault(fault, options.seconds) for fault in faults)))
    if options.pages is not None:
        pages = [f"{number}. {record.page}" for group in groups for number, record in enumerate(group, 1)]
        options.pages.write_text("\n".join(pages), encoding="utf-8")
    return 1 if any([record.failure == CONTRADICTED for group in groups for record in group]) else 0


def use_processor_time() -> None:
    """Let the searches measure CPU time, so that other processes do not affect their limits."""
    for module in (api, attempt, search, alignments, planner_chain, forward_search, best_first_search):
        setattr(module, "monotonic", process_time)  # noqa: B010 - their own names


def report_group(title: str, results: Iterator[RepairRecord]) -> list[RepairRecord]:
    """Print the figures of a group of scripts; returns the records."""
    records: list[RepairRecord] = []
    for record in results:
        records.append(record)
        if record.failure:
            print(f"  {record.name} ({record.fault}): {record.failure}, {record.seconds:.1f} s", flush=True)
    repaired_records = [record for record in records if not record.failure]
    times = sorted([record.seconds for record in records]) or [0.0]
    not_flagged = sum([record.failure == NOT_FLAGGED for record in records])
    not_flagged_text = f" ({not_flagged} not flagged)" if not_flagged else ""
    cpu = f"CPU {median(times):.2f} s median, {times[-1]:.1f} at most"
    print(f"{title}: {len(repaired_records)} of {len(records)} repaired{not_flagged_text}; {cpu}")
    groups = dict.fromkeys([record.fault for record in records])
    for group in groups:
        group_records = [record for record in records if record.fault == group]
        named_count = sum([record.is_named for record in group_records])
        class_counts = Counter([name for record in group_records for name in record.classes]).most_common()
        texts = ", ".join([f"{name} {number}" for name, number in class_counts])
        named_text = f", {named_count} named correctly" if group else ""
        repaired_count = sum([not record.failure for record in group_records])
        print(
            f"  {group or 'classes'}: {repaired_count} of {len(group_records)} repaired{named_text}; {texts}",
            flush=True,
        )
    return records


# -- one script -------------------------------------------------------------------------------------------------------


def prepare_script(name: str, goal: bool) -> Prepared:
    """Prepare a script in its scene with the whole library, and with the goal of its task if ``goal``."""
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
        ready = Session(settings).prepare(str(DATA / "programs" / f"file{name}.txt"))
    if isinstance(ready, Result):
        raise ValueError(f"{name}: {[d.message for d in ready.report.diagnostics]}")
    return ready


def repair_script(name: str, seconds: float, goal: bool) -> RepairRecord:
    """Repair a script that a person wrote."""
    ready = prepare_script(name, goal)
    return repaired(name, "", ready, ready.plan, seconds, None)


def repair_fault(fault: Fault, seconds: float) -> RepairRecord:
    """Repair a script with a fault."""
    ready = prepare_script(fault.script, True)
    plan = Source(ready.plan.name, insert_fault(ready.plan.text.splitlines(), fault))
    return repaired(fault.script, fault.fault, ready, plan, seconds, CLASSES[fault.kind])


def repaired(
    name: str, fault: str, ready: Prepared, plan: Source, seconds: float, right: ErrorClass | None
) -> RepairRecord:
    """Repair and diagnose a plan within ``seconds`` of CPU time; ``right`` is the correct class of its fault."""
    options = RepairOptions(max_cost=8, time_limit_s=seconds)
    start = process_time()
    diagnosis = diagnose(ready.checker, plan, options)
    seconds_used = process_time() - start
    if right is None:  # as the command repairs a plan without a goal
        start = process_time()
        diagnosis = diagnosis._replace(repair=repair(ready.checker, plan, with_purpose(options, ready, "virtualhome")))
        seconds_used = process_time() - start
    failure = find_failure(diagnosis.report, diagnosis.repair, ready)
    classes = tuple([error.value for error in diagnosis.classes if error not in HAZARDS])
    flagged = any([error in HAZARDS for error in diagnosis.classes])
    is_named = right is None or (right in diagnosis.classes and flagged)
    return RepairRecord(
        name, fault, seconds_used, failure, classes, is_named, write_page(name, fault, ready, plan, diagnosis, failure)
    )


def find_failure(report: Report, result: RepairResult, ready: Prepared) -> str:
    """The reason why a plan is not repaired; empty if the kernel confirms its repair."""
    if report.headline in (Headline.SAFE, Headline.VALID):
        return NOT_FLAGGED
    if not result.repairs:
        return f"{result.status.value}: {result.detail}"
    best = result.repairs[0]
    compiled = ready.checker.compiled
    kernel = Confirmer(compiled._replace(options=compiled.options._replace(replay="always")))
    safe = kernel.is_safe(Source("repaired", best.text), len(best.steps))
    return "" if safe else CONTRADICTED if safe is False else "the kernel does not cover it"


# -- faults -----------------------------------------------------------------------------------------------------------


def insert_fault(lines: list[str], fault: Fault) -> str:
    """The plan with a fault."""
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


def draw_faults(count: int, seed: int) -> list[Fault]:
    """Draw faults of all kinds in random scripts, at most one of each kind in a script."""
    random = Random(seed)
    names = scripts()
    random.shuffle(names)
    faults_by_kind: dict[str, list[Fault]] = {kind: [] for kind in FAULTS}
    share = -(-count // len(FAULTS))
    for name in names:
        open_ = [kind for kind in FAULTS if len(faults_by_kind[kind]) < share]
        if not open_:
            break
        ready = prepare_script(name, True)
        if ready.checker.check(ready.plan).headline is not Headline.SAFE:
            continue
        for kind in open_:
            choices = list(possible_faults(name, kind, ready))
            random.shuffle(choices)
            for fault in choices[:MAX_TRIED]:
                if is_unsafe(ready, Source("faulty", insert_fault(ready.plan.text.splitlines(), fault))):
                    faults_by_kind[kind].append(fault)
                    break
        print({kind: len(faults) for kind, faults in faults_by_kind.items()}, flush=True)
    return [fault for faults in faults_by_kind.values() for fault in faults][:count]


def is_unsafe(ready: Prepared, plan: Source) -> bool:
    """Whether a plan is UNSAFE, by the engine without explanations."""
    engine, criteria = ready.checker.engine, ready.checker.options.criteria
    steps = ready.checker.read(plan).steps
    run = Replay(engine, HALT)
    run.run_steps(steps)
    outcome = run.finish(len(steps))
    done = not outcome.failures and outcome.goal is True
    return done and any([engine.is_decisive(violation, criteria) for violation in outcome.violations])


def possible_faults(name: str, kind: str, ready: Prepared) -> Iterator[Fault]:
    """Yield the possible faults of a kind; not all of them add a hazard."""
    checker = ready.checker
    objects = checker.engine.task.objects
    steps = [step for step in checker.read(ready.plan).steps if isinstance(step, GroundAction)]
    words = {"left on": ("switchon", "switchoff"), "left open": ("open", "close"), "dropped": ("drop", "")}
    if kind == "wrong order":
        for at in range(1, len(steps) + 1):
            yield from [Fault(name, kind, "move", at, "", to) for to in range(1, len(steps) + 1) if to != at]
        return
    begin, end = words[kind]
    execution = Execution.initial(checker.engine, rules=False)
    for at in range(1, len(steps) + 2):
        for step in execution.legal(begin):
            yield Fault(name, kind, "insert", at, step_text(step, objects))
            if kind == "dropped" and at <= len(steps) and steps[at - 1].action.name in ("putback", "putin"):
                yield Fault(name, kind, "substitute", at, step_text(step, objects))
        if at <= len(steps):
            if steps[at - 1].action.name == end:
                yield Fault(name, kind, "delete", at)
            execution.take(steps[at - 1])


def _frozen_text(frozen: dict[str, object]) -> str:
    """JSON with one fault on each line."""
    text = json.dumps({**frozen, "faults": []}, indent=1)
    faults = frozen["faults"]
    assert isinstance(faults, list)
    rows = ",\n".join([f"  {json.dumps(fault)}" for fault in faults])
    return text.replace('"faults": []', f'"faults": [\n{rows}\n ]') + "\n"


# -- for a reader -----------------------------------------------------------------------------------------------------


def write_page(name: str, fault: str, ready: Prepared, plan: Source, diagnosis: Diagnosis, failure: str) -> str:
    """A script and its repair side by side, with the reason of each edit."""
    lines = [f"{name}{f' ({fault})' if fault else ''}: {failure or 'repaired'}"]
    lines += [f"   hazard: {f.message}" for f in diagnosis.report.findings]
    if not diagnosis.repair.repairs:
        return "\n".join([*lines, *[f"   {line}" for line in plan.text.splitlines()], ""])
    best = diagnosis.repair.repairs[0]
    lines += [f"   edit: {describe_edit(edit)}" for edit in best.edits]
    before = original_lines(ready, plan)
    after = list(best.steps)
    if ready.write is not None and plan == ready.plan:
        after = ready.write(ready, best).splitlines()[-len(best.steps) :] if best.steps else []
    width = max(map(len, before), default=0)
    for left, right, sign in rows_side_by_side(before, after, best.origin, {edit.position for edit in best.edits}):
        lines.append(f"   {left:{width}} {sign} {right}".rstrip())
    if diagnosis.report.verdict_basis.before:
        lines.append(f"   not changed: {best.report.verdict_basis.before} hazards of the scene")
    return "\n".join([*lines, ""])


def original_lines(ready: Prepared, plan: Source) -> list[str]:
    """The steps as the author wrote them, or the steps of a plan with a fault."""
    text = ready.inputs[0].source.text
    return [text[slice(*place)] for place in ready.places] if plan == ready.plan else plan.text.splitlines()


def rows_side_by_side(
    before: list[str], after: list[str], origin: tuple[int, ...], changed: set[int]
) -> Iterator[tuple[str, str, str]]:
    """Yield rows of a listing: a step, the step that it became, and a sign if they differ."""
    pairs = list(enumerate(zip(after, origin, strict=True), 1))
    kept_numbers = {
        number for position, (_, number) in pairs if number and (position not in changed or before[number - 1])
    }
    moved_numbers = {
        number for position, (text, number) in pairs if position in changed and number and text == before[number - 1]
    }
    remaining = list(range(1, len(before) + 1))
    for position, (text, number) in pairs:
        if not number or number in moved_numbers:
            yield "", text, "+" if not number else ">"
            continue
        while remaining and remaining[0] != number:
            deleted = remaining.pop(0)
            yield before[deleted - 1], "", "<" if deleted in kept_numbers else "-"
        remaining.pop(0)
        yield before[number - 1], text, "|" if position in changed else " "
    for (deleted,) in zip_longest(remaining):
        yield before[deleted - 1], "", "<" if deleted in kept_numbers else "-"


if __name__ == "__main__":
    raise SystemExit(main())
