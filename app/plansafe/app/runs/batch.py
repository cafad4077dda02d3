"""``audit --run`` and ``--resume``: audit many plans into a run folder and print a summary.

Find a missing home world or file that an option names for all plans of a run.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, NamedTuple

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.project.shipped_files import STDIN, shipped_domain, shipped_spec
from plansafe.app.runs.executor import LostBackend, Pool, WorkerBackend
from plansafe.app.runs.item import AuditedRow, Item
from plansafe.app.runs.items import Items, is_table, list_items
from plansafe.app.runs.processes import Processes
from plansafe.app.runs.row_audit import RowAuditor
from plansafe.app.runs.run_folder import PLANS_PER_SHARD, RunFolder, create_run_folder
from plansafe.app.runs.run_reader import VERSION, BadRun, Run, read_run
from plansafe.app.runs.summary import Summary
from plansafe.app.session.audit import combined_exit_code
from plansafe.app.session.model import Settings, usage_problem
from plansafe.app.system.process import complain, remark, standard_output
from plansafe.app.system.progress import Progress
from plansafe.app.system.terminal_text import visible
from plansafe.app.system.version import version
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

_MAX_CHUNK = 200
"""Maximum number of plans in a chunk. All plans of a chunk belong to one task."""
_MIN_CHUNK = 8
_MAX_CHUNK_CHARACTERS = 1 << 22
"""Maximum length of the plans of a chunk. A single plan may be longer."""
_MANIFEST_CHECKS = (
    ("tool", "by another version"),
    ("settings", "with other options"),
    ("list", "for other plans"),
    ("plans", "for other plans"),
)
_MAX_SHARD = 10_000_000
PROCESSES, RAY = "processes", "ray"
"""What executes the audits: processes of this machine, or a Ray cluster."""
_NOT_RECORDED = ("hashes", "folders", "retell", "profile", "project", "baseline")
"""Settings that the user does not choose, or that the manifest records in another form."""


class Batch(NamedTuple):
    """The options of a run in addition to the settings: folder, resume, number of processes, columns, executor.

    With the executor :data:`RAY`, ``address`` is the address of the cluster. Each worker may use ``memory`` MiB
    (0: no limit).
    """

    folder: str
    resume: bool
    jobs: int
    id_column: str | None = None
    plan_column: str | None = None
    executor: str = PROCESSES
    address: str | None = None
    memory: int = 0


def run_plans(plans: list[str], settings: Settings, batch: Batch) -> int:
    """Audit plans into a run folder and print a summary. Returns the exit code of the batch."""
    problem = usage_problem(settings)
    if problem is not None:
        return complain(problem)
    try:
        return _run(plans, settings, batch)
    except BadRun as bad:
        return complain(bad.diagnostic)


def _run(plans: list[str], settings: Settings, batch: Batch) -> int:
    with ExitStack() as stack:
        items = stack.enter_context(Items())
        try:
            for item in list_items(plans, settings, batch.id_column, batch.plan_column):
                items.add(item)
        except (OSError, EOFError) as error:
            name = f" {visible(str(error.filename))}" if isinstance(error, OSError) and error.filename else ""
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            message = f"cannot read the list of plans{name}: {reason.lower()}"
            raise BadRun(message, "name .jsonl or .csv files that can be read") from None
        if not items.readable_count:
            raise BadRun(
                f"cannot read any plan: {items.last_problem}", "name plans, folders of plans, or tables of plans"
            )
        manifest = _manifest(plans, settings, batch, items)
        previous_run = read_run(batch.folder) if batch.resume else None
        if previous_run is not None:
            _check_same_run(previous_run, manifest)
        if previous_run is None or not previous_run.complete:
            folder = _open_resumed(stack, previous_run) if previous_run is not None else None
            missing_input = find_missing_input(settings)
            if missing_input is not None:
                return complain(missing_input)
            if folder is None:
                create_run_folder(batch.folder)
            pool = stack.enter_context(Pool(_worker_backend(settings, batch), batch.jobs, _failed_row(settings)))
            # Create the folder only when workers are available.
            folder = folder or stack.enter_context(RunFolder.new(batch.folder, manifest))
            try:
                _audit_items(items, batch, folder, pool)
            except (KeyboardInterrupt, LostBackend) as error:
                progress = f"{folder.done} of {len(items)} plans are audited"
                advice = f"to continue, run the same command with --resume {batch.folder} instead of --run"
                if isinstance(error, LostBackend):
                    raise BadRun(f"the run in {batch.folder} is incomplete: {progress}; {error}", advice) from None
                remark((f"{progress}; {advice}",))
                raise
    run = read_run(batch.folder)
    summary = Summary.of(run)
    out = standard_output()
    out.write(summary.text(run))
    out.flush()
    return combined_exit_code(summary.exit_codes)


def _open_resumed(stack: ExitStack, before: Run) -> RunFolder:
    folder = stack.enter_context(RunFolder(before.path, before.manifest))
    folder.recover()
    _check_inputs_unchanged(folder)
    return folder


def _manifest(plans: list[str], settings: Settings, batch: Batch, items: Items) -> dict[str, Any]:
    recorded: dict[str, Any] = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in settings._asdict().items()
        if key not in _NOT_RECORDED
    }
    for key in ("ignore", "select"):
        recorded[key] = [f"{entry.description.removeprefix('rule ')}: {entry.reason}" for entry in recorded[key]]
    recorded["classes"] = [f"{object_class.name}={','.join(object_class.kinds)}" for object_class in settings.classes]
    project = settings.project
    recorded["project"] = None if project is None else project.path
    recorded["plans"] = plans
    recorded["id_column"], recorded["plan_column"] = batch.id_column, batch.plan_column
    input_files = [path for path in plans if is_table(path) and os.path.isfile(path)]
    input_files += [path for path in (recorded["project"], settings.home) if path is not None]
    return {
        "version": VERSION,
        "tool": f"safecheck {version()}",
        "command": sys.argv[1:],
        "settings": recorded,
        "inputs": {path: _sha256(path) for path in input_files},
        "list": items.sha256,
        "rules": {},
        "plans": len(items),
        "shard": PLANS_PER_SHARD,
        "started": _timestamp(),
        "ended": None,
        "complete": False,
    }


def _check_same_run(previous_run: Run, manifest: dict[str, Any]) -> None:
    """Check that a resumed run has the same version, settings and plans. Raises :class:`BadRun`."""
    previous = previous_run.manifest
    for key, difference in _MANIFEST_CHECKS:
        if previous.get(key) != manifest[key]:
            advice = "give the plans and options of the original command, or begin a new run"
            if key == "settings":
                previous_settings, now = previous.get("settings"), manifest["settings"]
                names = [
                    name
                    for name in now
                    if not isinstance(previous_settings, dict) or previous_settings.get(name) != now[name]
                ]
                if names == ["plans"]:
                    difference = "for other plans"
                else:
                    advice = f"different settings: {', '.join(names[:5])}; {advice}"
            raise BadRun(f"{previous_run.path} was begun {difference}", advice)
    shard = previous.get("shard")
    if not isinstance(shard, int) or isinstance(shard, bool) or not 0 < shard <= _MAX_SHARD:
        raise BadRun(f"{previous_run.path} is damaged: it does not say how many plans a shard has", "begin a new run")


def _check_inputs_unchanged(folder: RunFolder) -> None:
    """Check that the input files of the run have not changed. Raises :class:`BadRun`."""
    for path, digest in folder.inputs.items():
        if _sha256(path) != digest:
            text = f"{path} has changed since {folder.path} was begun"
            raise BadRun(text, "begin a new run: a run uses one version of each file")


def _audit_items(items: Items, batch: Batch, folder: RunFolder, pool: Pool) -> None:
    """Audit the plans that do not have a row yet, and complete the run."""
    progress = Progress(len(items))
    manifest = folder.manifest
    try:
        done_before, start = folder.done, time.monotonic()
        for audited in pool.audit(_chunks(items, folder, batch.jobs)):
            folder.add_inputs(audited.inputs)
            if audited.rules:
                for name, rule in audited.rules.items():
                    manifest["rules"].setdefault(name, rule)
                folder.save()  # before a row refers to them
            folder.append(audited.number, audited.line)
            done = folder.done
            progress.at(done, format_pace(done - done_before, len(items) - done, time.monotonic() - start))
    finally:
        progress.clear()
    _complete_run(folder)


def _failed_row(settings: Settings) -> Callable[[Item, str], AuditedRow]:
    """The function that makes the row of a plan whose worker ended; most runs never create its auditor."""
    return lambda item, how: RowAuditor(settings).failed_row(item, how)


def _worker_backend(settings: Settings, batch: Batch) -> WorkerBackend:
    if batch.executor == PROCESSES:
        return Processes(settings)
    from plansafe.app.runs.cluster import Cluster  # noqa: PLC0415 - only for a cluster

    return Cluster(settings, batch.jobs, batch.address, batch.memory)


def _complete_run(folder: RunFolder) -> None:
    manifest = folder.manifest
    for path, digest in sorted(folder.inputs.items()):
        manifest["inputs"].setdefault(path, digest)
    manifest["rules"] = dict(sorted(manifest["rules"].items()))
    manifest["ended"] = _timestamp()
    folder.finish()


def _chunks(items: Items, folder: RunFolder, jobs: int) -> Iterator[list[Item]]:
    """Group the remaining plans by shard and task into chunks, so that a task is compiled once for each chunk."""
    remaining = len(items) - folder.done
    max_items = max(_MIN_CHUNK, min(_MAX_CHUNK, remaining // (4 * jobs)))
    shard: int = folder.manifest["shard"]
    for first in range(0, len(items), shard):
        for numbers in items.tasks(first, min(first + shard, len(items))).values():
            yield from _split_chunks((items.get(number) for number in numbers if number not in folder), max_items)


def _split_chunks(items: Iterable[Item], max_items: int) -> Iterator[list[Item]]:
    chunk: list[Item] = []
    size = 0
    for item in items:
        characters = len(item.text or "") + len(item.task or "")
        if chunk and (len(chunk) == max_items or size + characters > _MAX_CHUNK_CHARACTERS):
            yield chunk
            chunk, size = [], 0
        chunk.append(item)
        size += characters
    if chunk:
        yield chunk


def format_pace(done: int, remaining: int, seconds: float) -> str:
    """Format the rate and the estimated remaining time."""
    if not done or seconds <= 0:
        return ""
    rate = done / seconds
    seconds_left = round(remaining / rate)
    clock = (
        f"{seconds_left // 3600}:{seconds_left // 60 % 60:02}:{seconds_left % 60:02}"
        if seconds_left >= 3600
        else f"{seconds_left // 60}:{seconds_left % 60:02}"
    )
    return f"{rate:.3g}/s, {clock} left"


def _sha256(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def refused(
    plans: bool,
    run: str | None,
    resume: str | None,
    run_options: list[object],
    conflicting_options: list[str],
    executor: str | None = None,
    address: str | None = None,
) -> int | None:
    """Report the first wrong option of a run. Returns its exit code, or ``None`` if all options are right."""
    problem = None
    if run is not None and resume is not None:
        problem = Diagnostic(
            SC.BAD_OPTION, "--run begins a run, --resume continues one", help="leave out one of the two"
        )
    elif run is None and resume is None and any([flag is not None for flag in run_options]):
        text = "--jobs, --id, --plan-column, --executor and --address belong to a run"
        problem = Diagnostic(SC.BAD_OPTION, text, help="--run FOLDER makes one (docs/batches.md)")
    elif address is not None and executor != RAY:
        problem = Diagnostic(
            SC.BAD_OPTION, "--address requires --executor ray", help="add --executor ray, or leave out --address"
        )
    elif conflicting_options:
        text = f"{conflicting_options[0]} does not go with a run"
        problem = Diagnostic(SC.BAD_OPTION, text, help="a run is written into its folder, as JSON lines")
    elif resume is not None and not plans:
        try:
            problem = _resume_diagnostic(resume)
        except BadRun as bad:
            problem = bad.diagnostic
    return None if problem is None else complain(problem)


def _resume_diagnostic(folder: str) -> Diagnostic:
    """Report ``--resume`` without plans, and show the original command.

    The command is not executed: another user may have written the manifest.
    """
    words = read_run(folder).manifest.get("command")
    command_line = " ".join([str(word) for word in words]) if isinstance(words, list) else "PLAN.."
    text = "--resume needs the same plans and options as the original command"
    return Diagnostic(SC.BAD_OPTION, text, help=f"original command: safecheck {command_line}")


def find_missing_input(settings: Settings) -> Diagnostic | None:
    """The first missing input that all plans would share; ``None`` if all named inputs exist.

    Without this check a typing error in one option results in a run of ten thousand plans that are not checked. A
    pattern names a different file for each plan; the row of the plan reports a missing one.
    """
    if settings.world is not None:
        from plansafe.app.session.home_world import find_world  # noqa: PLC0415 - not needed for PDDL

        world = find_world(settings.world)
        if isinstance(world, Diagnostic):
            return world
    finder = Discovery(Choice())
    candidates: list[tuple[str, str | None, Callable[[str], str | None] | None]] = [
        ("domain", settings.domain, shipped_domain),
        ("problem", settings.problem, None),
        ("scene", settings.scene, None),
        ("goal", settings.goal, None),
        ("home", settings.home, None),
        *[("specification", spec, shipped_spec) for spec in settings.specs],
    ]
    for role, path, shipped in candidates:
        if path is None or path == STDIN or "{" in path:
            continue
        file = finder.read(path, role, "")
        if isinstance(file, Diagnostic) and (shipped is None or shipped(path) is None):
            return file
    return None
