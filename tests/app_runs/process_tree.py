"""The processes that a process has started, directly or through others (Linux)."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """A process: its id, its name and its command line."""

    pid: int
    name: str
    command_line: str


def descendants(pid: int) -> list[Process]:
    """The processes below a process."""
    by_parent: dict[int, list[Process]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, stat_fields = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            by_parent.setdefault(int(stat_fields.split()[1]), []).append(Process(int(folder.name), name, words))
        except (OSError, IndexError, ValueError):
            continue
    processes: list[Process] = []
    pending = [pid]
    while pending:
        children = by_parent.get(pending.pop(), [])
        processes += children
        pending += [child.pid for child in children]
    return processes


def running_after(seconds: float, pids: Iterable[int]) -> list[int]:
    """The processes that still run after a number of seconds; returns as soon as none does."""
    end = time.monotonic() + seconds
    while (running := [pid for pid in pids if Path(f"/proc/{pid}").exists()]) and time.monotonic() < end:
        time.sleep(0.1)
    return running
