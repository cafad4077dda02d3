"""Measure how many findings in a world remain if the object table has nothing from this world.

usage: python -m bench.hazards.leave_one_world_out [--world NAME] [--limit N] [--output FILE]

Audits the read half of SafeAgentBench and the scripts of ActivityPrograms in VirtualHome twice: with the whole object
table, and with a table that has nothing from this world. The second table has no row that only this world's former
mapping had, no row of a class that only this world has, and no name of this world; kinds are proposed again from the
rows that remain (:mod:`bench.hazards.propose_kinds`), and all proposals are treated as confirmed
(:class:`plansafe.domains.objects.TableView`). Prints how many of the findings with the whole table remain, and how many
are new. Objects that still have no kind are not tried with every kind: this changes no finding. ``--output`` writes the
findings with both tables as JSON. Data sets: ``PLANSAFE_DATA``. Run it from the root of the repository.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.data_sets import DATA_SETS
from bench.hazards.library import find_violations
from bench.hazards.propose_kinds import make_proposals, write_proposals
from bench.hazards.safeagentbench import DATA, AuditedTask, Auditor, Labels, format_share, format_table
from bench.hazards.study import DATA as SCRIPTS
from bench.hazards.study import LIBRARY, scripts

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.session.model import Settings, compiled
from plansafe.domains.objects import TableView, load_table
from plansafe.domains.objects.classification import read_type_tree
from plansafe.domains.objects.names import resolve_name
from plansafe.domains.objects.table import FOLDER, letters
from plansafe.domains.virtualhome import WORLD as VIRTUALHOME
from plansafe.domains.world import Request
from plansafe.grammar.source import Source
from plansafe.specs import spec_path

OTHER_WORLDS = ("safeagentbench", "virtualhome", "igibson", "omnigibson", "household")
SYNSETS = DATA_SETS / "bddl-behavior1k" / "generated_data" / "properties_to_synsets.json.gz"
Row = tuple[str, str, str]
"""A figure: its name, its value with the whole table and without the world."""


def write_table_without(world: str, folder: Path) -> None:
    """Write the object table without the rows and names of a world, with kinds proposed from the rest."""
    own_classes = find_own_classes(world)
    for name in ("kinds.csv", "objects.csv", "names.csv"):
        with open(Path(FOLDER) / name, encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        if name == "objects.csv":
            rows = [row for row in rows if row[-1] != world and letters(row[0]) not in own_classes]
        elif name == "names.csv":
            rows = [row for row in rows if row[0] != world and letters(row[2]) not in own_classes]
        with open(folder / name, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
    proposals, _ = make_proposals(DATA_SETS, load_table(str(folder)))
    load_table.cache_clear()
    write_proposals(folder, proposals)


def find_own_classes(world: str) -> set[str]:
    """Return the letters of the classes that only this world has."""
    with gzip.open(SYNSETS, "rt", encoding="utf-8") as file:
        synsets_of_property: dict[str, list[str]] = json.load(file)
    other_classes = {
        letters(synset.rsplit(".", 2)[0]) for synsets in synsets_of_property.values() for synset in synsets
    }
    for other_world in OTHER_WORLDS:
        other_classes |= find_classes(other_world) if other_world != world else set()
    rows = load_table().rows
    named_by_others = {key for key in rows if {name for row in rows[key] for name in row.worlds} - {world}}
    return find_classes(world) - other_classes - named_by_others


def find_classes(world: str) -> set[str]:
    """Return the letters of the classes that the types of a world's domain mean."""
    domain = Source.from_path(str(Path(FOLDER).parent / world / "domain.pddl"))
    resolved = [resolve_name(load_table(), name, world, with_proposals=False) for name in read_type_tree(domain).leaves]
    return {letters(class_name) for meaning in resolved if meaning is not None for class_name in meaning.class_names}


def audit_rooms(view: TableView, limit: int | None) -> tuple[list[AuditedTask], list[AuditedTask]]:
    """The unsafe and the safe tasks of SafeAgentBench, audited with a view of the table."""
    auditor = Auditor(DATA, view, tries_kinds=False)
    return list(auditor.audit_tasks("unsafe_detailed", limit)), list(auditor.audit_tasks("safe_detailed", limit))


def compare_rooms(hidden_view: TableView, limit: int | None) -> tuple[list[Row], Any]:
    """The figures of SafeAgentBench, and the rules that each plan violates."""
    labels = Labels()
    columns, violated = [], []
    for view in (TableView(), hidden_view):
        unsafe, safe = audit_rooms(view, limit)
        hit = [task.line for task in unsafe if task.flagged(labels.categories(task.label))]
        alarmed, serious = [t for t in safe if t.alarms], [t for t in safe if t.serious]
        columns.append(
            (
                format_share(len(hit), len(unsafe)),
                format_share(len(alarmed), len(safe)),
                format_share(len(serious), len(safe)),
            )
        )
        both = (("unsafe", unsafe), ("safe", safe))
        rules = {f"{kind} {t.name}": sorted({a.rule for a in t.alarms}) for kind, tasks in both for t in tasks}
        violated.append({"flagged": hit, "rules": rules})
    names = ("unsafe tasks flagged in a right category", "safe tasks with an alarm", "safe tasks with a serious alarm")
    return [(name, with_all, hidden) for name, with_all, hidden in zip(names, *columns, strict=True)], violated


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
        checker.unclassified_check.classes.clear()
        for rule, finding in find_violations(checker.check(read.plan)):
            if "halt" in finding.readings:
                yield name, rule


def compare_scripts(hidden_view: TableView, limit: int | None) -> tuple[list[Row], Any]:
    """The figures of VirtualHome, and the pairs of script and rule."""
    with_all, hidden = set(violated_rules(TableView(), limit)), set(violated_rules(hidden_view, limit))
    scripts_with_all, scripts_hidden = {name for name, _ in with_all}, {name for name, _ in hidden}
    rows = [
        ("pairs of script and violated rule", str(len(with_all)), format_share(len(with_all & hidden), len(with_all))),
        ("further pairs", "-", str(len(hidden - with_all))),
        (
            "scripts with a violated rule",
            str(len(scripts_with_all)),
            format_share(len(scripts_with_all & scripts_hidden), len(scripts_with_all)),
        ),
        ("further scripts", "-", str(len(scripts_hidden - scripts_with_all))),
    ]
    return rows, [sorted(with_all), sorted(hidden)]


COMPARE: dict[str, Callable[[TableView, int | None], tuple[list[Row], Any]]] = {
    "safeagentbench": compare_rooms,
    "virtualhome": compare_scripts,
}


def main() -> int:
    """Print the table of each world."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--world", choices=COMPARE, help="only this world")
    parser.add_argument("--limit", type=int, help="the number of tasks of each file")
    parser.add_argument("--output", type=Path, help="a file for the findings with both tables")
    options = parser.parse_args()
    findings = {}
    for world, compare in COMPARE.items():
        if options.world not in (None, world):
            continue
        with tempfile.TemporaryDirectory() as folder:
            write_table_without(world, Path(folder))
            rows, findings[world] = compare(TableView(folder, trust_proposals=True), options.limit)
        head = (world, "whole table", "without this world, proposals trusted")
        print("\n".join(format_table(head, rows)), flush=True)
    if options.output is not None:
        options.output.write_text(json.dumps(findings, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
