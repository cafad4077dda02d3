"""How many of SafeAgentBench's unsafe tasks are flagged for a right reason, how many of its safe ones raise an alarm?

usage: python -m bench.hazards.safeagentbench [DATA] [--list] [--markdown] [--write PAGE] [--limit N]

DATA holds `unsafe_detailed.jsonl`, `safe_detailed.jsonl` and `layouts/` (default: in ``PLANSAFE_DATA``). Each reference
plan is judged in its room with the whole shipped library, in one process. A rule is right for a task if it stands for a
category that the task's label means (`safeagentbench.toml`, `taxonomies.toml`); that a plan cannot be executed does not
count, nor does what was in the room before. ``--list`` names every miss and alarm; ``--markdown`` prints what stands
between the marks of `bench/results/safeagentbench.md`, with estimates for tasks that nobody has read,
``--write`` puts it there.
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
from bench.hazards.library import compile_scene
from bench.hazards.unseen import HALVES, Seen, estimate, halves

from plansafe.domains.objects import TableView
from plansafe.domains.safeagentbench import WORLD
from plansafe.domains.world import Request, Scene
from plansafe.grammar.source import Source
from plansafe.specs.taxonomy import load_taxonomies
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Blame, Finding, FindingClass, Report, Worlds
from plansafe.verifier.rules.model import Rule

HERE = Path(__file__).resolve().parent
DATA = DATA_SETS / "safeagentbench"
TAXONOMY = load_taxonomies()["safeagentbench"]
SERIOUS = ("medium", "high", "critical")
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


class Labels:
    """What labels mean, and why misses and alarms are: `safeagentbench.toml`."""

    def __init__(self) -> None:
        with open(HERE / "safeagentbench.toml", "rb") as file:
            table = tomllib.load(file)
        self.labels: dict[str, list[str]] = table["labels"]
        self.phrases: tuple[dict[str, list[str]], ...] = (table["words"], table["general"])
        self.reasons: dict[str, dict[str, str]] = table.get("reasons", {})
        self.since: frozenset[str] = frozenset(table["since"]["rules"])

    def categories(self, label: str) -> frozenset[str]:
        """The categories of a label; none if nothing in its words is known."""
        return frozenset(self.labels[label]) if label in self.labels else self.by_words(label)

    def by_words(self, label: str) -> frozenset[str]:
        """The categories that the words of a label name; if none, those that a harm in general can come from."""
        said = " " + " ".join(re.findall("[a-z]+", label.lower()))
        for phrases in self.phrases:
            found = [category for phrase, named in phrases.items() if f" {phrase}" in said for category in named]
            if found:
                return frozenset(found)
        return frozenset()


class Alarm(NamedTuple):
    """A finding about a plan: its rule, the categories that this stands for, its severity, and what it says."""

    rule: str
    categories: frozenset[str]
    severity: str
    message: str


class Judged(NamedTuple):
    """A task with what came of its plan.

    ``stopped`` says why a step of it cannot be taken, ``wrong`` why it could not be judged.
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
        """Whether every step can be taken."""
        return self.stopped is None and self.wrong is None

    @property
    def name(self) -> str:
        """The task with its plan, for a list."""
        return f"{self.line}: {self.instruction.strip()} ({', '.join(self.steps)})"

    @property
    def serious(self) -> bool:
        """Whether some alarm is of medium severity or above."""
        return any([alarm.severity in SERIOUS for alarm in self.alarms])

    def flagged(self, right: frozenset[str]) -> bool:
        """Whether an alarm is of one of these categories."""
        return bool(self.rules(right))

    def rules(self, right: frozenset[str]) -> frozenset[str]:
        """The rules of the alarms that are of one of these categories."""
        return frozenset([alarm.rule for alarm in self.alarms if not right.isdisjoint(alarm.categories)])


class Judge:
    """Judges tasks in their rooms; a room with the same things in it is compiled once.

    Without ``tries_kinds``, objects without a kind are not tried with every kind, which changes no finding.
    """

    def __init__(self, data: Path, table_view: TableView | None = None, *, tries_kinds: bool = True) -> None:
        self.data = data
        self.table_view = table_view
        self.tries_kinds = tries_kinds
        self.checkers: dict[str, Checker] = {}
        self.categories: dict[str, frozenset[str]] = {}

    def tasks(self, name: str, limit: int | None, places: Iterable[int] | None = None) -> Iterator[Judged]:
        """The tasks of a file, judged; with ``places`` those alone, counted from 0."""
        lines = (self.data / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[:limit]
        for place in range(len(lines)) if places is None else places:
            entry = json.loads(lines[place])
            about = (entry["line"], str(entry.get("risk_category")), entry["instruction"], tuple(entry["step"]))
            yield self.judge(entry, Judged(*about))

    def judge(self, entry: dict[str, Any], task: Judged) -> Judged:
        """A task with what came of its plan."""
        layout = self.data / "layouts" / f"{entry['scene_name']}.json"
        # Whether the goal is reached is not asked: without one, rooms are alike.
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
        stops = [found.message for found in report.findings if found.rule is None]
        stopped = None if report.executable is Worlds.ALL else stops[0]
        return task._replace(alarms=tuple(self.alarms(report)), stopped=stopped)

    def compile_room(self, scene: Scene) -> Checker:
        """Compile the task of a room with the library of the world."""
        checker = compile_scene(scene, WORLD.name, self.table_view)
        if not self.tries_kinds:
            checker.unclassified_check.classes.clear()
        self.categories.update({rule.name: of_rule(rule) for rule in checker.rules})
        return checker

    def alarms(self, report: Report) -> Iterator[Alarm]:
        """The rules that a plan violates, each finding once; not those that the room violated before."""
        for found in report.findings:
            if found.rule is not None and counts(found):
                categories = self.categories[found.rule]
                yield Alarm(found.rule, categories, found.severity or "high", found.message)


def of_rule(rule: Rule) -> frozenset[str]:
    """The names of a rule's categories."""
    return frozenset([category.name for category in TAXONOMY.find_categories(rule)])


def counts(found: Finding) -> bool:
    """Whether a finding is the plan's own."""
    return found.finding_class is not FindingClass.UNDECIDED and found.blame is not Blame.PRE_EXISTING


def share(part: int, whole: int) -> str:
    """A count with its percentage."""
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "0 of 0"


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """A table in Markdown."""
    head = list(head)
    return [
        "| " + " | ".join([str(cell).replace("|", "/") for cell in row]) + " |"
        for row in (head, ["---"] * len(head), *rows)
    ] + [""]


def summary(unsafe: list[Judged], safe: list[Judged], labels: Labels) -> list[str]:
    """The figures of both files, and those of the unsafe tasks by category and by label."""
    right = {task.line: labels.categories(task.label) for task in unsafe}
    hit = {task.line for task in unsafe if task.flagged(right[task.line])}
    both = [*unsafe, *safe]
    rows = [
        ("tasks read", share(len([t for t in both if t.wrong is None]), len(both))),
        ("plans that can be executed", share(len([t for t in both if t.executable]), len(both))),
        ("unsafe tasks flagged in a right category", share(len(hit), len(unsafe))),
        ("unsafe tasks flagged in any", share(len([t for t in unsafe if t.alarms]), len(unsafe))),
        ("unsafe tasks whose label means nothing here", len([t for t in unsafe if not right[t.line]])),
        ("safe tasks with an alarm", share(len([t for t in safe if t.alarms]), len(safe))),
        ("safe tasks with a serious alarm (medium and above)", share(len([t for t in safe if t.serious]), len(safe))),
    ]
    lines = table(("", "tasks"), rows)

    def counted(key: str, of: list[Judged]) -> tuple[object, ...]:
        return key, len(of), len([t for t in of if t.line in hit]), len([t for t in of if t.alarms])

    head = ("unsafe tasks", "flagged in a right category", "flagged in any")
    by_category = [counted(c.title, [t for t in unsafe if c.name in right[t.line]]) for c in TAXONOMY.categories]
    lines += table(("category", *head), by_category)
    every = sorted(Counter([task.label for task in unsafe]).items(), key=lambda item: (-item[1], item[0]))
    return lines + table(
        ("label", *head), [counted(label, [t for t in unsafe if t.label == label]) for label, _ in every]
    )


def listed(unsafe: list[Judged], safe: list[Judged], labels: Labels) -> list[str]:
    """Every unsafe task that is missed, and every alarm about a safe one, with the reason where one is written down."""

    def why(kind: str, task: Judged) -> str:
        return labels.reasons.get(kind, {}).get(str(task.line), "-")

    def said(task: Judged) -> str:
        rules = {f"`{alarm.rule}` ({alarm.severity})": None for alarm in task.alarms}
        return task.wrong or ", ".join(rules) or "-"

    missed = [task for task in unsafe if not task.flagged(labels.categories(task.label))]
    alarmed = [task for task in safe if task.alarms or task.wrong]
    lines = ["## Unsafe tasks without a rule in a right category", ""]
    lines += table(
        ("task", "label", "what is said instead", "why"), [(t.name, t.label, said(t), why("unsafe", t)) for t in missed]
    )
    lines += ["## Safe tasks with an alarm", ""]
    lines += table(("task", "rules", "why"), [(t.name, said(t), why("safe", t)) for t in alarmed])
    lines += ["## Plans that cannot be executed", ""]
    both = (("unsafe", unsafe), ("safe", safe))
    stopped = [(f"{kind} {task.name}", task.stopped) for kind, tasks in both for task in tasks if task.stopped]
    return lines + table(("task", "why"), stopped)


def expected(unsafe: list[Judged], labels: Labels) -> list[str]:
    """What share of tasks that nobody has read would be flagged, by category and in all."""
    seen = [Seen(t.line, right := labels.categories(t.label), t.rules(right)) for t in unsafe]
    rows: list[tuple[str, str | None]] = [(c.title, c.name) for c in TAXONOMY.categories]
    lines = ["## What to expect of tasks that nobody has read", ""]
    head = ("category", "unsafe tasks", "flagged", "by older rules", "category not read", "task not read")
    lines += table(head, [(title, *estimate(seen, labels.since, name)) for title, name in (*rows, ("all", None))])
    mean, least = halves(seen, labels.since)
    said = f"One half read, the other judged: {mean:.0%} flagged, the mean of {HALVES} halvings (least: {least:.0%})."
    return [*lines, said, ""]


def page(unsafe: list[Judged], safe: list[Judged], labels: Labels) -> str:
    """What stands between the marks of `bench/results/safeagentbench.md`."""
    lines = summary(unsafe, safe, labels) + expected(unsafe, labels) + listed(unsafe, safe, labels)
    return "\n".join(lines).rstrip()


def main() -> int:
    """Judge both files, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--list", action="store_true", help="name every miss and every alarm")
    parser.add_argument("--markdown", action="store_true", help="print what stands in bench/results/safeagentbench.md")
    parser.add_argument("--write", type=Path, help="a page whose figures are replaced")
    parser.add_argument("--limit", type=int, help="so many tasks of each file")
    options = parser.parse_args()
    judge, labels = Judge(options.data), Labels()
    unsafe = list(judge.tasks("unsafe_detailed", options.limit))
    safe = list(judge.tasks("safe_detailed", options.limit))
    if options.markdown or options.write is not None:
        text = page(unsafe, safe, labels)
    else:
        lines = summary(unsafe, safe, labels) + (listed(unsafe, safe, labels) if options.list else [])
        text = "\n".join(lines).rstrip()
    print(text)
    if options.write is not None:
        head, _, rest = options.write.read_text(encoding="utf-8").partition(BEGIN)
        options.write.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
