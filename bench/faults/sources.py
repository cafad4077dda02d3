"""Where the good plans come from: published gold plans, the shipped examples and rule cases, and made tasks."""

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
SHORTEST = 3
"""Plans with fewer steps leave nothing to choose from."""
MADE = {"household": 24, "depot": 24, "survey": 16}
"""How many tasks are made for a corpus, of 8 to 40 steps each."""
SHIPPED_SHORTEST = 6
"""Cases of rules are short; those below this length say little."""


def data_folder() -> Path:
    """Where public data sets lie: ``$PLANSAFE_DATA``, else beside the repository."""
    return Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data"))


def all_sources(seed: int = 0, only: Collection[str] | None = None) -> dict[str, list[SeedTask]]:
    """Good plans by source, of these sources or of all; published ones are left out where their data are not there.

    The published and the shipped ones do not depend on the seed.
    """
    makers: dict[str, Callable[[], list[SeedTask]]] = {
        "behavior": lambda: published("eai-behavior", "behavior.pddl", lenient=False),
        "virtualhome": lambda: published("eai-virtualhome", "virtualhome.pddl", lenient=True),
        "household": lambda: [*shipped_household(), *made("household", seed)],
        "depot": lambda: made("depot", seed),
        "survey": lambda: made("survey", seed),
    }
    found = {name: make() for name, make in makers.items() if only is None or name in only}
    return {name: tasks for name, tasks in found.items() if tasks}


def published(folder: str, domain: str, lenient: bool) -> list[SeedTask]:
    """Gold plans of the Embodied Agent Interface that are good, each plan once, by name."""
    root = data_folder() / folder
    gold = root / "gold_pddl_plan.json"
    if not gold.is_file():
        return []
    text = Source(domain, (root / "domain" / domain).read_text(encoding="utf-8"))
    plans: dict[str, list[str]] = json.loads(gold.read_text(encoding="utf-8"))
    files = {path.stem: path for path in sorted((root / "problem_pddl").rglob("*.pddl"))}
    options = Options(lenient_types=lenient)
    tasks = []
    seen: set[tuple[str, ...]] = set()
    for name in sorted(plans):
        steps = tuple([f"({step})" for step in plans[name]])
        if name not in files or len(steps) < SHORTEST or steps in seen:
            continue
        seen.add(steps)
        problem = Source(f"{name}.pddl", files[name].read_text(encoding="utf-8"))
        task = SeedTask(name, folder.removeprefix("eai-"), text, problem, (), options, steps)
        if is_good(task.checker(), steps):
            tasks.append(task)
    return tasks


def shipped_household() -> list[SeedTask]:
    """The SAFE examples and the longer plans that keep a shipped rule; examples in other domains are left out."""
    domain, rules = _file(Path(domain_path("household"))), (_file(Path(spec_path("household"))),)
    plans = [
        (f"{path.parent.name}-{path.stem}", _file(path.parent / "problem.pddl"), _file(path))
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
        read = checker.read(plan)
        steps = tuple([f"({' '.join(step.tokens)})" for step in read.text.steps])
        if len(steps) >= SHIPPED_SHORTEST and is_good(checker, steps):
            tasks.append(task._replace(gold=steps))
    return tasks


def made(kind: str, seed: int) -> list[SeedTask]:
    """Made tasks of 8 to 40 steps; a length that the domain cannot meet is drawn again."""
    maker = {"household": household_task, "depot": depot_task, "survey": survey_task}[kind]
    rng = random.Random(f"lengths {kind} {seed}")
    tasks: list[SeedTask] = []
    while len(tasks) < MADE[kind]:
        length = rng.randint(8, 40)
        try:
            tasks.append(maker(f"{seed}-{len(tasks)}", length))
        except ValueError:
            continue  # another length
    return tasks


def _file(path: Path) -> Source:
    return Source(path.name, path.read_text(encoding="utf-8"))
