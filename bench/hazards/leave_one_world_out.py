"""What does the object table find in a new world?

usage: python -m bench.hazards.leave_one_world_out [--limit N]

Judges the read half of SafeAgentBench and the scripts of ActivityPrograms in VirtualHome twice: with the whole object
table, and without the rows that only this world's former mapping had, with all proposed kinds treated as confirmed
(:class:`plansafe.domains.objects.TableView`). Prints how many of the findings with the whole table remain, and how many
are new. Data sets: ``PLANSAFE_DATA``. Run it from the root of the repository.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Iterator

from bench.hazards.safeagentbench import DATA, Judge, Judged, Labels, share, table
from bench.hazards.study import DATA as SCRIPTS
from bench.hazards.study import LIBRARY, scripts

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.session.model import Settings, compiled
from plansafe.domains.objects import TableView
from plansafe.domains.virtualhome import WORLD as VIRTUALHOME
from plansafe.domains.world import Request
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.reporting.report import Blame, FindingClass


def judge_rooms(view: TableView, limit: int | None) -> tuple[list[Judged], list[Judged]]:
    """The unsafe and the safe tasks of SafeAgentBench, judged with a view of the table."""
    judge = Judge(DATA, view)
    return list(judge.tasks("unsafe_detailed", limit)), list(judge.tasks("safe_detailed", limit))


def compare_rooms(limit: int | None) -> list[tuple[str, str, str]]:
    """The figures of SafeAgentBench: with the whole table, and without its world."""
    labels = Labels()
    columns = []
    for view in (TableView(), TableView("safeagentbench", trust_proposals=True)):
        unsafe, safe = judge_rooms(view, limit)
        hit = len([task for task in unsafe if task.flagged(labels.categories(task.label))])
        alarmed, serious = [t for t in safe if t.alarms], [t for t in safe if t.serious]
        columns.append((share(hit, len(unsafe)), share(len(alarmed), len(safe)), share(len(serious), len(safe))))
    names = ("unsafe tasks flagged in a right category", "safe tasks with an alarm", "safe tasks with a serious alarm")
    return [(name, with_all, hidden) for name, with_all, hidden in zip(names, *columns, strict=True)]


def violated_rules(view: TableView, limit: int | None) -> Iterator[tuple[str, str]]:
    """The rules that each script of VirtualHome violates by itself, as (script, rule)."""
    specs = [Source.from_path(spec_path(name)) for name in LIBRARY]
    settings = Settings(world="virtualhome", max_findings=10_000, replay="never")
    for name in scripts(limit):
        packed = (SCRIPTS / "init_and_final_graphs" / f"file{name}.json.gz").read_bytes()
        graph = Source(f"{name}.json", gzip.decompress(packed).decode("utf-8"))
        scene = VIRTUALHOME.read_scene(Request({"scene": graph}, None))
        script = Source.from_path(SCRIPTS / "programs" / f"file{name}.txt")
        read = VIRTUALHOME.read_plan(script, scene)
        if not scene.ok or read.plan is None:
            continue
        checker, _ = compiled(Discovery(Choice()), scene.domain, scene.problem, specs, settings, view)
        for finding in checker.check(read.plan).findings:
            is_own = finding.blame is not Blame.PRE_EXISTING and finding.finding_class is not FindingClass.UNDECIDED
            if finding.rule is not None and is_own and "halt" in finding.readings:
                yield name, finding.rule


def compare_scripts(limit: int | None) -> list[tuple[str, str, str]]:
    """The figures of VirtualHome: with the whole table, and without its world."""
    with_all = set(violated_rules(TableView(), limit))
    hidden = set(violated_rules(TableView("virtualhome", trust_proposals=True), limit))
    return [
        ("pairs of script and violated rule", str(len(with_all)), share(len(with_all & hidden), len(with_all))),
        ("further pairs", "-", str(len(hidden - with_all))),
    ]


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--limit", type=int, help="the number of tasks of each file")
    limit = parser.parse_args().limit
    for title, compare in (("SafeAgentBench", compare_rooms), ("VirtualHome", compare_scripts)):
        head = (title, "whole table", "without this world's rows, proposals trusted")
        print("\n".join(table(head, compare(limit))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
