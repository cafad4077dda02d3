"""Count the unsafe tasks of SafeAgentBench that are flagged for a right reason, and the safe tasks with an alarm.

usage: python -m bench.hazards.safeagentbench [DATA] [--list] [--markdown] [--write PAGE] [--limit N]

DATA has `unsafe_detailed.jsonl`, `safe_detailed.jsonl` and `layouts/` (default: in ``PLANSAFE_DATA``). Each reference
plan is checked in its room with the whole shipped library, in one process. A rule is right for a task if it belongs to
a category of the task's label (`safeagentbench.toml`, `taxonomies.toml`). Plans that cannot be executed and violations
that the room had before do not count. ``--list`` prints every miss and alarm; ``--markdown`` prints the generated part
of `bench/results/safeagentbench.md`, with estimates for unread tasks; ``--write`` replaces that part of the page.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.data_sets import DATA_SETS
from bench.hazards.library import compile_scene, find_violations
from bench.hazards.unread_tasks import HALVES, ReadTask, estimate, estimate_from_halves

from plansafe.domains.objects import TableView
from plansafe.domains.safeagentbench import WORLD
from plansafe.domains.world import Request, Scene
from plansafe.grammar.source import Source
from plansafe.specs.taxonomy import load_taxonomies
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Report, Worlds
from plansafe.verifier.rules.model import Rule

HERE = Path(__file__).resolve().parent
DATA = DATA_SETS / "safeagentbench"
TAXONOMY = load_taxonomies()["safeagentbench"]
SERIOUS = ("medium", "high", "critical")
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


class Labels:
    """The categories of labels, and the reasons of misses and alarms: `safeagentbench.toml`."""

    def __init__(self) -> None:
        with open(HERE / "safeagentbench.toml", "rb") as file:
            tables = tomllib.load(file)
        self.labels: dict[str, list[str]] = tables["labels"]
        self.phrases: tuple[dict[str, list[str]], ...] = (tables["words"], tables["general"])
        self.reasons: dict[str, dict[str, str]] = tables.get("reasons", {})
        self.since: frozenset[str] = frozenset(tables["since"]["rules"])

    def categories(self, label: str) -> frozenset[str]:
        """Return the categories of a label; none if the label is unknown and has no known word."""
        return frozenset(self.labels[label]) if label in self.labels else self.by_words(label)

    def by_words(self, label: str) -> frozenset[str]:
        """Return the categories that the words of a label name; if none, the categories of a harm in general."""
        words = " " + " ".join(re.findall("[a-z]+", label.lower()))
        for phrases in self.phrases:
            matched = [name for phrase, names in phrases.items() if f" {phrase}" in words for name in names]
            if matched:
                return frozenset(matched)
        return frozenset()


class Alarm(NamedTuple):
    """A violation on a plan: its rule with its categories, its severity and its message."""

    rule: str
    categories: frozenset[str]
    severity: str
    message: str


class AuditedTask(NamedTuple):
    """A task with the alarms on its plan.

    ``stopped``: the reason why a step cannot be executed; ``wrong``: the reason why the plan could not be checked.
    """

    line: int
    label: str
    instruction: str
    steps: tuple[str, ...]
    alarms: tuple[Alarm, ...] = ()
    stopped: str | None = None
    wrong: str | None = None

    @property
    def executable(self) -> bool:
        """True if every step can be executed."""
        return self.stopped is None and self.wrong is None

    @property
    def name(self) -> str:
        """The task with its plan, for a list."""
        return f"{self.line}: {self.instruction.strip()} ({', '.join(self.steps)})"

    @property
    def serious(self) -> bool:
        """True if an alarm is of medium severity or above."""
        return any([alarm.severity in SERIOUS for alarm in self.alarms])

    def flagged(self, right: frozenset[str]) -> bool:
        """True if an alarm is of one of these categories."""
        return bool(self.rules(right))

    def rules(self, right: frozenset[str]) -> frozenset[str]:
        """Return the rules of the alarms that are of one of these categories."""
        return frozenset([alarm.rule for alarm in self.alarms if not right.isdisjoint(alarm.categories)])


class Auditor:
    """Audits tasks in their rooms. Equal rooms are compiled once.

    ``tries_kinds``: try every kind for objects without a kind, which changes no finding.
    """

    def __init__(self, data: Path, table_view: TableView | None = None, *, tries_kinds: bool = True) -> None:
        self.data = data
        self.table_view = table_view
        self.tries_kinds = tries_kinds
        self.checkers: dict[str, Checker] = {}
        self.categories: dict[str, frozenset[str]] = {}

    def audit_tasks(self, name: str, limit: int | None, places: Iterable[int] | None = None) -> Iterator[AuditedTask]:
        """Yield the tasks of a file with their alarms; with ``places`` only the tasks at these places, from 0."""
        lines = (self.data / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[:limit]
        for place in range(len(lines)) if places is None else places:
            entry = json.loads(lines[place])
            label, steps = str(entry.get("risk_category")), tuple(entry["step"])
            yield self.audit(entry, AuditedTask(entry["line"], label, entry["instruction"], steps))

    def audit(self, entry: dict[str, Any], task: AuditedTask) -> AuditedTask:
        """Audit the plan of a task."""
        layout = self.data / "layouts" / f"{entry['scene_name']}.json"
        # The goal is irrelevant. Without goals more rooms are equal.
        goal = Source("task.json", json.dumps({**entry, "final_state": None}))
        room = Source(layout.name, layout.read_text(encoding="utf-8"))
        scene = WORLD.read_scene(Request({"scene": room, "goal": goal}, None))
        if not scene.ok:
            return task._replace(wrong=scene.notes[0].message)
        read = WORLD.read_plan(Source("plan.json", json.dumps(entry["step"])), scene)
        if read.plan is None:
            return task._replace(wrong=read.diagnostics[0].message)
        if scene.problem.text not in self.checkers:
            self.checkers[scene.problem.text] = self.compile_room(scene)
        report = self.checkers[scene.problem.text].check(read.plan)
        if report.headline is None:
            return task._replace(wrong=report.diagnostics[0].message)
        messages = [finding.message for finding in report.findings if finding.rule is None]
        stopped = None if report.executable is Worlds.ALL else messages[0]
        return task._replace(alarms=self.find_alarms(report), stopped=stopped)

    def compile_room(self, scene: Scene) -> Checker:
        """Compile the task of a room with the library of the world."""
        checker = compile_scene(scene, WORLD.name, self.table_view)
        if not self.tries_kinds:
            checker.unclassified_check.classes.clear()
        self.categories.update({rule.name: find_categories(rule) for rule in checker.rules})
        return checker

    def find_alarms(self, report: Report) -> tuple[Alarm, ...]:
        """Return an alarm for each violation that the plan causes."""
        return tuple(
            [
                Alarm(rule, self.categories[rule], finding.severity or "high", finding.message)
                for rule, finding in find_violations(report)
            ]
        )


def find_categories(rule: Rule) -> frozenset[str]:
    """Return the names of a rule's categories."""
    return frozenset([category.name for category in TAXONOMY.find_categories(rule)])


def format_share(part: int, total: int) -> str:
    """Return a count with its percentage."""
    return f"{part} of {total} ({100 * part / total:.0f} %)" if total else "0 of 0"


def format_table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """Return the lines of a Markdown table, and an empty line."""
    head = list(head)
    return [
        "| " + " | ".join([str(cell).replace("|", "/") for cell in row]) + " |"
        for row in (head, ["---"] * len(head), *rows)
    ] + [""]


def summarize(unsafe: list[AuditedTask], safe: list[AuditedTask], labels: Labels) -> list[str]:
    """Return the figures of both files, and the figures of the unsafe tasks by category and by label."""
    right = {task.line: labels.categories(task.label) for task in unsafe}
    hits = {task.line for task in unsafe if task.flagged(right[task.line])}
    both = [*unsafe, *safe]
    rows = [
        ("tasks read", format_share(len([task for task in both if task.wrong is None]), len(both))),
        ("plans that can be executed", format_share(len([task for task in both if task.executable]), len(both))),
        ("unsafe tasks flagged in a right category", format_share(len(hits), len(unsafe))),
        ("unsafe tasks flagged in any", format_share(len([task for task in unsafe if task.alarms]), len(unsafe))),
        ("unsafe tasks whose label means nothing here", len([task for task in unsafe if not right[task.line]])),
        ("safe tasks with an alarm", format_share(len([task for task in safe if task.alarms]), len(safe))),
        (
            "safe tasks with a serious alarm (medium and above)",
            format_share(len([task for task in safe if task.serious]), len(safe)),
        ),
    ]

    def count(key: str, tasks: list[AuditedTask]) -> tuple[object, ...]:
        flagged = len([task for task in tasks if task.alarms])
        return key, len(tasks), len([task for task in tasks if task.line in hits]), flagged

    head = ("unsafe tasks", "flagged in a right category", "flagged in any")
    by_category = [
        count(category.title, [task for task in unsafe if category.name in right[task.line]])
        for category in TAXONOMY.categories
    ]
    sizes = sorted(Counter([task.label for task in unsafe]).items(), key=lambda entry: (-entry[1], entry[0]))
    by_label = [count(label, [task for task in unsafe if task.label == label]) for label, _ in sizes]
    return [
        *format_table(("", "tasks"), rows),
        *format_table(("category", *head), by_category),
        *format_table(("label", *head), by_label),
    ]


def list_errors(unsafe: list[AuditedTask], safe: list[AuditedTask], labels: Labels) -> list[str]:
    """List every missed unsafe task and every alarm on a safe task, with the recorded reasons."""

    def find_reason(kind: str, task: AuditedTask) -> str:
        return labels.reasons.get(kind, {}).get(str(task.line), "-")

    def format_rules(task: AuditedTask) -> str:
        rules = {f"`{alarm.rule}` ({alarm.severity})": None for alarm in task.alarms}
        return task.wrong or ", ".join(rules) or "-"

    missed = [
        (task.name, task.label, format_rules(task), find_reason("unsafe", task))
        for task in unsafe
        if not task.flagged(labels.categories(task.label))
    ]
    alarmed = [(task.name, format_rules(task), find_reason("safe", task)) for task in safe if task.alarms or task.wrong]
    stopped = [
        (f"{kind} {task.name}", task.stopped)
        for kind, tasks in (("unsafe", unsafe), ("safe", safe))
        for task in tasks
        if task.stopped
    ]
    return [
        "## Unsafe tasks without a rule in a right category",
        "",
        *format_table(("task", "label", "violated rules", "reason"), missed),
        "## Safe tasks with an alarm",
        "",
        *format_table(("task", "rules", "reason"), alarmed),
        "## Plans that cannot be executed",
        "",
        *format_table(("task", "reason"), stopped),
    ]


def estimate_unread(unsafe: list[AuditedTask], labels: Labels) -> list[str]:
    """Estimate the share of unread tasks that would be flagged, by category and in total."""
    tasks = []
    for task in unsafe:
        categories = labels.categories(task.label)
        tasks.append(ReadTask(task.line, categories, task.rules(categories)))
    names = [*[(category.title, category.name) for category in TAXONOMY.categories], ("all", None)]
    head = ("category", "unsafe tasks", "flagged", "by older rules", "category not read", "task not read")
    table = format_table(head, [(title, *estimate(tasks, labels.since, name)) for title, name in names])
    mean, least = estimate_from_halves(tasks, labels.since)
    halves = f"One half read, the other judged: {mean:.0%} flagged, the mean of {HALVES} halvings (least: {least:.0%})."
    return ["## Estimates for unread tasks", "", *table, halves, ""]


def make_page(unsafe: list[AuditedTask], safe: list[AuditedTask], labels: Labels) -> str:
    """Return the generated part of `bench/results/safeagentbench.md`."""
    lines = summarize(unsafe, safe, labels) + estimate_unread(unsafe, labels) + list_errors(unsafe, safe, labels)
    return "\n".join(lines).rstrip()


def main() -> int:
    """Check the plans of both files and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--list", action="store_true", help="print every miss and every alarm")
    parser.add_argument(
        "--markdown", action="store_true", help="print the generated part of bench/results/safeagentbench.md"
    )
    parser.add_argument("--write", type=Path, metavar="PAGE", help="replace the figures of this page")
    parser.add_argument("--limit", type=int, help="check only the first tasks of each file, up to this number")
    options = parser.parse_args()
    auditor, labels = Auditor(options.data), Labels()
    unsafe = list(auditor.audit_tasks("unsafe_detailed", options.limit))
    safe = list(auditor.audit_tasks("safe_detailed", options.limit))
    if options.markdown or options.write is not None:
        text = make_page(unsafe, safe, labels)
    else:
        lines = summarize(unsafe, safe, labels) + (list_errors(unsafe, safe, labels) if options.list else [])
        text = "\n".join(lines).rstrip()
    print(text)
    if options.write is not None:
        head, _, tail = options.write.read_text(encoding="utf-8").partition(BEGIN)
        options.write.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail.partition(END)[2]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
