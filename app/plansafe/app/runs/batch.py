"""``audit --run`` and ``--resume``: many plans into a run folder, and a summary of it."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, NamedTuple

from plansafe.app.runs.executor import Crew, Pool
from plansafe.app.runs.input_tables import is_table
from plansafe.app.runs.items import Item, Items, listed
from plansafe.app.runs.missing_inputs import missing
from plansafe.app.runs.processes import Processes
from plansafe.app.runs.run_folder import SHARD, Folder, unused
from plansafe.app.runs.run_reader import VERSION, BadRun, Run, read_run
from plansafe.app.runs.summary import Summary
from plansafe.app.session.audit import combined_exit_code, usage_problem
from plansafe.app.session.model import Settings
from plansafe.app.system.process import complain, remark, standard_output
from plansafe.app.system.progress import Progress
from plansafe.app.system.terminal_text import visible
from plansafe.app.system.version import version
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

_CHUNK = 200
"""Plans of one task that a process gets at once, at most."""
_LEAST = 8
_TEXT = 1 << 22
"""Characters of plans that a process gets at once: one plan may be longer."""
_BEGUN = (
    ("tool", "by another version"),
    ("settings", "with other flags"),
    ("list", "for other plans"),
    ("plans", "for other plans"),
)
_MOST_SHARD = 10_000_000
PROCESSES, RAY = "processes", "ray"
"""Who judges: processes of this machine, or a Ray cluster."""
_OWN = ("hashes", "folders", "retell", "profile", "project", "baseline")
"""Settings that are no choice of the user, or are written in another way."""


class Batch(NamedTuple):
    """What is asked for beside the settings: the folder, whether it is taken up again, processes, columns.

    And who judges: with :data:`RAY` the cluster at ``address``, whose workers have ``memory`` MiB each (0: any).
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
    """Judge plans into a run folder, and print a summary. The exit code of the whole batch."""
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
            for item in listed(plans, settings, batch.id_column, batch.plan_column):
                items.add(item)
        except (OSError, EOFError) as error:
            name = f" {visible(str(error.filename))}" if isinstance(error, OSError) and error.filename else ""
            why = (error.strerror if isinstance(error, OSError) else None) or str(error)
            message = f"cannot read the list of plans{name}: {why.lower()}"
            raise BadRun(message, "name .jsonl or .csv files that can be read") from None
        if not items.judged:
            raise BadRun(f"there is no plan to judge: {items.why}", "name plans, folders of plans, or tables of them")
        manifest = _manifest(plans, settings, batch, items)
        before = read_run(batch.folder) if batch.resume else None
        if before is not None:
            _same(before, manifest)
        if before is None or not before.complete:
            folder = _resumed(stack, before) if before is not None else None
            lacking = missing(settings)
            if lacking is not None:
                return complain(lacking)
            if folder is None:
                unused(batch.folder)
            pool = stack.enter_context(Pool(_crew(settings, batch), batch.jobs, settings))
            # A folder is made when there is somebody who fills it.
            folder = folder or stack.enter_context(Folder.new(batch.folder, manifest))
            try:
                _judge(items, batch, folder, pool)
            except KeyboardInterrupt:
                said = f"{folder.done} of {len(items)} plans are judged: the same command with --resume {batch.folder}"
                remark((f"{said} in place of --run goes on",))
                raise
    run = read_run(batch.folder)
    summary = Summary.of(run)
    out = standard_output()
    out.write(summary.text(run))
    out.flush()
    return combined_exit_code(summary.exit_codes)


def _resumed(stack: ExitStack, before: Run) -> Folder:
    folder = stack.enter_context(Folder(before.path, before.manifest))
    folder.recover()
    _unchanged(folder)
    return folder


def _manifest(plans: list[str], settings: Settings, batch: Batch, items: Items) -> dict[str, Any]:
    said: dict[str, Any] = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in settings._asdict().items()
        if key not in _OWN
    }
    for key in ("ignore", "select"):
        said[key] = [f"{entry.said.removeprefix('rule ')}: {entry.reason}" for entry in said[key]]
    said["classes"] = [f"{one.name}={','.join(one.kinds)}" for one in settings.classes]
    project = settings.project
    said["project"] = None if project is None else project.path
    said["plans"] = plans
    said["id_column"], said["plan_column"] = batch.id_column, batch.plan_column
    named = [path for path in plans if is_table(path) and os.path.isfile(path)]
    named += [path for path in (said["project"], settings.home) if path is not None]
    return {
        "version": VERSION,
        "tool": f"safecheck {version()}",
        "command": sys.argv[1:],
        "settings": said,
        "inputs": {path: _sha256(path) for path in named},
        "list": items.sha256,
        "rules": {},
        "plans": len(items),
        "shard": SHARD,
        "started": _now(),
        "ended": None,
        "complete": False,
    }


def _same(before: Run, manifest: dict[str, Any]) -> None:
    """A run goes on as it began. Raises :class:`BadRun`."""
    old = before.manifest
    for key, what in _BEGUN:
        if old.get(key) != manifest[key]:
            advice = "give the same plans and flags as when it was begun, or begin a new run"
            if key == "settings":
                was, now = old.get("settings"), manifest["settings"]
                names = [name for name in now if not isinstance(was, dict) or was.get(name) != now[name]]
                if names == ["plans"]:
                    what = "for other plans"
                else:
                    advice = f"what differs: {', '.join(names[:5])}; {advice}"
            raise BadRun(f"{before.path} was begun {what}", advice)
    shard = old.get("shard")
    if not isinstance(shard, int) or isinstance(shard, bool) or not 0 < shard <= _MOST_SHARD:
        raise BadRun(f"{before.path} is damaged: it does not say how many plans a shard has", "begin a new run")


def _unchanged(folder: Folder) -> None:
    """What plans were judged with is as it was. Raises :class:`BadRun`."""
    for path, digest in folder.inputs.items():
        if _sha256(path) != digest:
            text = f"{path} has changed since {folder.path} was begun"
            raise BadRun(text, "begin a new run: one run is about one version of each file")


def _judge(items: Items, batch: Batch, folder: Folder, pool: Pool) -> None:
    """Judge what has no row yet, and complete the run."""
    progress = Progress(len(items))
    manifest = folder.manifest
    try:
        before, start = folder.done, time.monotonic()
        for judged in pool.judged(_chunks(items, folder, batch.jobs)):
            folder.used(judged.inputs)
            if judged.rules:
                for name, rule in judged.rules.items():
                    manifest["rules"].setdefault(name, rule)
                folder.save()  # before a row speaks of them
            folder.append(judged.number, judged.line)
            done = folder.done
            progress.at(done, pace(done - before, len(items) - done, time.monotonic() - start))
    finally:
        progress.clear()
    _complete(folder)


def _crew(settings: Settings, batch: Batch) -> Crew:
    if batch.executor == PROCESSES:
        return Processes(settings)
    from plansafe.app.runs.cluster import Cluster  # noqa: PLC0415 - for a cluster alone

    return Cluster(settings, batch.jobs, batch.address, batch.memory)


def _complete(folder: Folder) -> None:
    manifest = folder.manifest
    for path, digest in sorted(folder.inputs.items()):
        manifest["inputs"].setdefault(path, digest)
    manifest["rules"] = dict(sorted(manifest["rules"].items()))
    manifest["ended"] = _now()
    folder.finish()


def _chunks(items: Items, folder: Folder, jobs: int) -> Iterator[list[Item]]:
    """What is left to judge, shard by shard and there by task: a task is compiled once for a chunk."""
    left = len(items) - folder.done
    most = max(_LEAST, min(_CHUNK, left // (4 * jobs)))
    shard: int = folder.manifest["shard"]
    for first in range(0, len(items), shard):
        for numbers in items.tasks(first, min(first + shard, len(items))).values():
            yield from _divided((items.get(number) for number in numbers if number not in folder), most)


def _divided(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    chunk: list[Item] = []
    size = 0
    for item in items:
        length = len(item.text or "") + len(item.task or "")
        if chunk and (len(chunk) == most or size + length > _TEXT):
            yield chunk
            chunk, size = [], 0
        chunk.append(item)
        size += length
    if chunk:
        yield chunk


def pace(done: int, left: int, seconds: float) -> str:
    """The rate, and the time that is left at this rate."""
    if not done or seconds <= 0:
        return ""
    rate = done / seconds
    rest = round(left / rate)
    clock = f"{rest // 3600}:{rest // 60 % 60:02}:{rest % 60:02}" if rest >= 3600 else f"{rest // 60}:{rest % 60:02}"
    return f"{rate:.3g}/s, {clock} left"


def _sha256(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def refused(
    plans: bool,
    run: str | None,
    resume: str | None,
    of_runs: list[object],
    others: list[str],
    executor: str | None = None,
    address: str | None = None,
) -> int | None:
    """Say what is wrong with the flags of a run; an exit code, ``None`` where nothing is."""
    problem = None
    if run is not None and resume is not None:
        problem = Diagnostic(SC.BAD_OPTION, "--run begins a run, --resume goes on with one", help="leave one out")
    elif run is None and resume is None and any([flag is not None for flag in of_runs]):
        text = "--jobs, --id, --plan-column, --executor and --address belong to a run"
        problem = Diagnostic(SC.BAD_OPTION, text, help="--run FOLDER makes one (docs/batches.md)")
    elif address is not None and executor != RAY:
        problem = Diagnostic(SC.BAD_OPTION, "--address is that of a Ray cluster", help="say --executor ray with it")
    elif others:
        text = f"{others[0]} does not go with a run"
        problem = Diagnostic(SC.BAD_OPTION, text, help="a run is written into its folder, as JSON lines")
    elif resume is not None and not plans:
        try:
            problem = _how_to_go_on(resume)
        except BadRun as bad:
            problem = bad.diagnostic
    return None if problem is None else complain(problem)


def _how_to_go_on(folder: str) -> Diagnostic:
    """``--resume`` without plans: what is to be typed is shown, not taken from a file that others may have written."""
    words = read_run(folder).manifest.get("command")
    said = " ".join([str(word) for word in words]) if isinstance(words, list) else "PLAN.."
    text = "--resume wants the plans and flags that the run was begun with"
    return Diagnostic(SC.BAD_OPTION, text, help=f"it was begun by: safecheck {said}")
