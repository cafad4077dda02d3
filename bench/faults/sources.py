"""The sources of good plans: published gold plans, shipped examples and rule cases, and generated tasks."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Collection
from pathlib import Path

from bench.faults.depot import depot_task
from bench.faults.household import household_task
from bench.faults.survey import survey_task
from bench.faults.task import SeedTask, is_good
from tests.case_files import read_cases

from plansafe.domains import domain_path
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.api import Options

ROOT = Path(__file__).resolve().parents[2]
MIN_STEPS = 3
"""Shorter plans are excluded: they leave too little choice of faults."""
GENERATED_COUNTS = {"household": 24, "depot": 24, "survey": 16}
"""Number of generated tasks in a corpus, with 8 to 40 steps each."""
MIN_SHIPPED_STEPS = 6
"""Minimum length of the plans of examples and rule cases."""


def data_folder() -> Path:
    """The folder of public data sets: ``$PLANSAFE_DATA``, or else next to the repository."""
    return Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data"))


def load_sources(seed: int = 0, only: Collection[str] | None = None) -> dict[str, list[SeedTask]]:
    """Tasks with good plans by source (default: all sources), without published sources whose data are missing.

    Published and shipped tasks do not depend on the seed.
    """
    makers: dict[str, Callable[[], list[SeedTask]]] = {
        "behavior": lambda: published_tasks("eai-behavior", "behavior.pddl", lenient=False),
        "virtualhome": lambda: published_tasks("eai-virtualhome", "virtualhome.pddl", lenient=True),
        "household": lambda: [*shipped_household_tasks(), *generated_tasks("household", seed)],
        "depot": lambda: generated_tasks("depot", seed),
        "survey": lambda: generated_tasks("survey", seed),
    }
    tasks_by_source = {name: make_tasks() for name, make_tasks in makers.items() if only is None or name in only}
    return {name: tasks for name, tasks in tasks_by_source.items() if tasks}


def published_tasks(folder: str, domain: str, lenient: bool) -> list[SeedTask]:
    """The SAFE or VALID gold plans of the Embodied Agent Interface, by name, without duplicates."""
    root = data_folder() / folder
    gold_file = root / "gold_pddl_plan.json"
    if not gold_file.is_file():
        return []
    domain_source = Source(domain, (root / "domain" / domain).read_text(encoding="utf-8"))
    plans: dict[str, list[str]] = json.loads(gold_file.read_text(encoding="utf-8"))
    files = {path.stem: path for path in sorted((root / "problem_pddl").rglob("*.pddl"))}
    options = Options(lenient_types=lenient)
    tasks = []
    known_plans: set[tuple[str, ...]] = set()
    for name in sorted(plans):
        steps = tuple([f"({step})" for step in plans[name]])
        if name not in files or len(steps) < MIN_STEPS or steps in known_plans:
            continue
        known_plans.add(steps)
        problem = Source(f"{name}.pddl", files[name].read_text(encoding="utf-8"))
        task = SeedTask(name, folder.removeprefix("eai-"), domain_source, problem, (), options, steps)
        if is_good(task.checker(), steps):
            tasks.append(task)
    return tasks


def shipped_household_tasks() -> list[SeedTask]:
    """The SAFE household examples, and the longer test plans that satisfy a shipped rule."""
    domain, rules = _read_source(Path(domain_path("household"))), (_read_source(Path(spec_path("household"))),)
    plans = [
        (f"{path.parent.name}-{path.stem}", _read_source(path.parent / "problem.pddl"), _read_source(path))
        for path in sorted((ROOT / "examples").rglob("*.plan"))
    ]
    for path in sorted((ROOT / "tests" / "content" / "rules").glob("*.md"), key=lambda path: path.stem):
        cases = sorted(
            [case for case in read_cases(path) if case.name.startswith("keeps")], key=lambda case: f"{case.name}.plan"
        )
        plans += [(f"{path.stem}-{case.name}", case.source("problem.pddl"), case.source("plan")) for case in cases]
    tasks = []
    for name, problem, plan in plans:
        task = SeedTask(name, "household", domain, problem, rules, Options(), ())
        checker = task.checker()
        if not checker.ok:
            continue
        parsed = checker.read(plan)
        steps = tuple([f"({' '.join(step.tokens)})" for step in parsed.text.steps])
        if len(steps) >= MIN_SHIPPED_STEPS and is_good(checker, steps):
            tasks.append(task._replace(gold=steps))
    return tasks


def generated_tasks(kind: str, seed: int) -> list[SeedTask]:
    """Generate tasks with 8 to 40 steps; a length that is impossible in the domain is drawn again."""
    maker = {"household": household_task, "depot": depot_task, "survey": survey_task}[kind]
    rng = random.Random(f"lengths {kind} {seed}")
    tasks: list[SeedTask] = []
    while len(tasks) < GENERATED_COUNTS[kind]:
        length = rng.randint(8, 40)
        try:
            tasks.append(maker(f"{seed}-{len(tasks)}", length))
        except ValueError:
            continue  # another length
    return tasks


def _read_source(path: Path) -> Source:
    return Source(path.name, path.read_text(encoding="utf-8"))
