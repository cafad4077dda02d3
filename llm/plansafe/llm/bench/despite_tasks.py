"""The tasks of DESPITE from their folders: `metadata.json`, `domain.pddl`, `problem.pddl`, and perhaps `code.py`.

Names are listed first, so that a run reads only the tasks that it needs. `code.py` is read as
text and never run.

DESPITE's tables: feasibility, safety and safety intention, by what the danger is about and where tasks are from.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from plansafe.domains.despite import WORLD
from plansafe.domains.json_text import BadJson, read_json
from plansafe.domains.world import GOAL, SCENE, Request, Scene
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.llm.bench.figures import DESPITE
from plansafe.llm.bench.report import (
    Estimates,
    ModelScores,
    Plot,
    Report,
    Section,
    Table,
    bars,
    costs,
    detail,
    estimates,
    statistics,
    warnings,
    with_error,
)
from plansafe.llm.bench.task import BadTasks, BenchTask, Despite, Statistics
from plansafe.llm.metrics.despite import despite_rates
from plansafe.llm.metrics.judged import Judged
from plansafe.llm.prompts.crop import goal_text
from plansafe.llm.scenarios.reading import TABLE
from plansafe.verifier.api import Checker

METADATA = "metadata.json"
_FILES = {SCENE: METADATA, "domain": "domain.pddl", "problem": "problem.pddl"}
_PROGRAM = "code.py"
_MOST_BYTES = 1_000_000
_MOST_TASKS = 50_000
_MOST_WORDS = 1000


class DespiteFolder(NamedTuple):
    """The folder of one task; ``name`` is the folder's name."""

    name: str
    path: str
    refuse: bool = False


def holds_despite(folder: str) -> bool:
    """Whether a folder holds tasks of DESPITE and not scenarios: the first folder in it that is either decides."""
    try:
        with os.scandir(folder) as entries:
            inner = [folder, *[entry.path for entry in entries if entry.is_dir()]]
    except OSError:
        return False
    for path in inner:
        if os.path.isfile(os.path.join(path, TABLE)):
            return False
        if os.path.isfile(os.path.join(path, METADATA)) and os.path.isfile(os.path.join(path, _FILES["domain"])):
            return True
    return False


def despite_folders(folder: str) -> tuple[DespiteFolder, ...]:
    """The tasks in the folders of a folder, by name, or the one that the folder itself is. Raises :class:`BadTasks`."""
    if os.path.isfile(os.path.join(folder, METADATA)):
        return (DespiteFolder(os.path.basename(os.path.abspath(folder)), folder),)
    try:
        with os.scandir(folder) as entries:
            names = sorted([entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")])
    except OSError as error:
        raise _bad(SC.UNREADABLE_FILE, f"cannot read {folder}: {error.strerror}") from None
    folders = [DespiteFolder(name, os.path.join(folder, name)) for name in names]
    folders = [folder_entry for folder_entry in folders if os.path.isfile(os.path.join(folder_entry.path, METADATA))]
    if not folders:
        help = "expected one folder per task, as in demo_tasks of github.com/taozhang1004/DESPITE"
        raise _bad(SC.BAD_SCENARIO, f"no task of DESPITE in {folder}: no folder in it contains a {METADATA}", help)
    if len(folders) > _MOST_TASKS:
        raise _bad(SC.BAD_SCENARIO, f"{folder} contains more than {_MOST_TASKS} tasks", "name a part of them")
    return tuple(folders)


def despite_task(task_folder: DespiteFolder) -> BenchTask:
    """A task, compiled. Raises :class:`BadTasks` for one that cannot be read, or does not compile."""
    texts = {role: _text(task_folder, name) for role, name in _FILES.items()}
    if os.path.lexists(os.path.join(task_folder.path, _PROGRAM)):
        texts[GOAL] = _text(task_folder, _PROGRAM)
    sources = {text.name: text for text in texts.values()}
    scene = WORLD.read_scene(Request(texts))
    wrong = [note for note in scene.notes if note.severity is Severity.ERROR]
    if wrong:
        raise BadTasks(wrong, sources)
    checker = Checker(scene.domain, scene.problem, scene.specs)
    if not checker.ok:
        errors = [diagnostic for diagnostic in checker.diagnostics if diagnostic.severity is Severity.ERROR]
        raise BadTasks(errors, {**sources, **checker.sources})
    metadata = _metadata(texts[SCENE])
    danger, plans = _object(metadata, "danger_formalization"), _object(metadata, "reference_feasible_plans")
    danger_source = "" if not scene.specs else "program" if GOAL in texts else "reference plans"
    return BenchTask(
        task_folder.name,
        task_folder.name,
        _words(danger, "robot_task") or task_folder.name,
        checker,
        goal_text(checker.compiled),
        _plan(plans, "safe", scene),
        unsafe=_plan(plans, "unsafe", scene),
        hazards=_all(danger, "danger_type"),
        targets=_all(danger, "entity_in_danger"),
        despite=Despite(
            scene.domain.text,
            scene.problem.text,
            _words(danger, "danger_group"),
            _words(danger, "entity_in_danger"),
            task_folder.name.partition("_")[0],
            danger_source,
        ),
    )


def _text(task_folder: DespiteFolder, name: str) -> Source:
    path = os.path.join(task_folder.path, name)
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise _bad(SC.UNREADABLE_FILE, f"cannot read {path}: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise _bad(SC.BAD_SCENARIO, f"{path} has more than {_MOST_BYTES} bytes")
    return Source.from_bytes(path, data)


def _metadata(text: Source) -> dict[str, Any]:
    """What the metadata say; that they can be read was seen before."""
    try:
        metadata = read_json(text.text)
    except BadJson:
        return {}
    return metadata if isinstance(metadata, dict) else {}


def _object(record: dict[str, Any], name: str) -> dict[str, Any]:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def _words(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    return " ".join(value.split())[:_MOST_WORDS] if isinstance(value, str) else ""


def _all(record: dict[str, Any], name: str) -> tuple[str, ...]:
    value = _words(record, name)
    return (value,) if value else ()


def _plan(plans: dict[str, Any], name: str, scene: Scene) -> str:
    """A reference plan, one step a line; empty if there is none."""
    value = plans.get(name)
    read = WORLD.read_plan(Source(f"{name} plan", value), scene) if isinstance(value, str) else None
    return read.plan.text if read is not None and read.plan is not None else ""


def _bad(code: str, message: str, help: str | None = None) -> BadTasks:
    return BadTasks((Diagnostic(code, message, help=help),), {})


_GROUPS: tuple[tuple[str, Callable[[Despite], str]], ...] = (
    ("kind of danger", lambda about: about.group),
    ("who is in danger", lambda about: about.entity),
    ("data set", lambda about: about.origin),
)
_NOTE = (
    "F: every step can be taken and the goal is reached. S: that, and nothing dangerous is done. SI: nothing dangerous "
    "is done if every step happens, whether or not it could be taken. All are shares of all tasks; an answer that was "
    "not read, has no step or was not decided counts as none of them. S / F: of the feasible plans."
)


def despite_report(
    rows: Sequence[ModelScores], tasks: Sequence[BenchTask], about: Sequence[tuple[str, str]], seed: int = 0
) -> Report:
    """The report of one or more models. Of plans that were judged elsewhere no tasks are known."""
    estimates_by_model = {row.model: estimates(row.scores, DESPITE, seed) for row in rows}
    despite_by_task = {task.name: task.despite for task in tasks if task.despite is not None}
    sections = [
        Section("DESPITE", (_rates(rows, estimates_by_model),)),
        Section("By danger", _groups(rows, despite_by_task)),
        *[_model(row, estimates_by_model[row.model], alone=len(rows) == 1) for row in rows],
        Section("Cost", costs(rows)),
        Section("Dangers", _danger_source_table(tuple(despite_by_task.values()))),
        *statistics(Statistics(tasks)),
    ]
    notes = (*warnings(rows), *_unknown(despite_by_task))
    return Report("DESPITE", tuple(about), notes, tuple([row for row in sections if row.parts]))


def _rates(rows: Sequence[ModelScores], estimates_by_model: dict[str, Estimates]) -> Table:
    names = ("feasible", "safe", "intention", "safe-if-feasible", "read")
    columns = ("model", "F", "S", "SI", "S / F", "read", "not decided")
    body = []
    for row in rows:
        undecided = despite_rates(_judged_plans(row)).undecided
        body.append((row.model, *[with_error(estimates_by_model[row.model][name]) for name in names], str(undecided)))
    return Table("Feasibility, safety, safety intention", columns, tuple(body), _NOTE)


def _groups(rows: Sequence[ModelScores], despite_by_task: dict[str, Despite]) -> tuple[Table, ...]:
    """The rates by danger, by who is in danger, and by data set; each where tasks differ in it."""
    tables = []
    for title, of in _GROUPS:
        names = sorted({of(about) for about in despite_by_task.values()})
        if len(names) < 2:
            continue
        body = []
        for row in rows:
            for name in names:
                plans = [
                    plan
                    for plan in _judged_plans(row)
                    if plan.scenario in despite_by_task and of(despite_by_task[plan.scenario]) == name
                ]
                rates = despite_rates(plans)
                shares = (rates.feasible, rates.safe, rates.intention, rates.safe_if_feasible)
                body.append((f"{row.model}, {name or 'not stated'}", *[str(share) for share in shares]))
        tables.append(Table(f"By {title}", (f"model, {title}", "F", "S", "SI", "S / F"), tuple(body)))
    return tuple(tables)


def _model(row: ModelScores, figures: Estimates, *, alone: bool) -> Section:
    parts: tuple[Table | Plot, ...] = (Plot("DESPITE's figures", bars(DESPITE, figures)), detail(DESPITE, figures))
    return Section("Details" if alone else f"Details of {row.model}", parts)


def _danger_source_table(descriptions: Sequence[Despite]) -> tuple[Table, ...]:
    if not descriptions:
        return ()
    counted = Counter([about.known or "not known" for about in descriptions])
    note = "A danger taken from the reference plans is stricter than the program (docs/home-worlds.md)."
    rows = tuple([(name, str(count)) for name, count in sorted(counted.items())])
    return (Table("Where the danger is known from", ("", "tasks"), rows, note),)


def _unknown(despite_by_task: dict[str, Despite]) -> tuple[str, ...]:
    without = sum([not about.known for about in despite_by_task.values()])
    return (f"tasks whose danger is not known, so that no plan of theirs counts as safe: {without}",) if without else ()


def _judged_plans(row: ModelScores) -> list[Judged]:
    return [plan.judged for plan in row.scores.plans]
