"""Measure CPU time, memory and bytes per plan of a run: one process, two processes, two Ray workers with one killed.

usage: python -m bench.cluster OUT [--count 20000] [--first N] [--only one,two,ray] [--seed 1]

Audits executable VirtualHome scripts (`bench/many_scripts.py`) with ``--replay never``. CPU seconds include all
processes that a run starts, also Ray's own; they are read from /proc five times a second. One Ray worker is killed when
about a third of the rows are written. Exit code 1 if a plan does not have exactly one row, or if two runs differ in
anything except times. Needs Linux, the data set ``eai-virtualhome`` (``PLANSAFE_DATA``), and for ``ray`` the extra
``ray``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
MODES = {"one": ("--jobs", "1"), "two": ("--jobs", "2"), "ray": ("--executor", "ray", "--jobs", "2")}
WORKER = "ray::RowActor"


class Process(NamedTuple):
    """CPU seconds and peak memory (MB) of a process."""

    name: str
    cpu: float
    peak: int


def read_process_tree(pid: int) -> dict[int, Process]:
    """The process and its descendants, by process id."""
    parents: dict[int, list[int]] = {}
    processes: dict[int, Process] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, stat_fields = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            lines = (folder / "status").read_text().splitlines()
        except OSError:
            continue
        fields = stat_fields.split()
        peak = next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
        parents.setdefault(int(fields[1]), []).append(int(folder.name))
        processes[int(folder.name)] = Process(name, (int(fields[11]) + int(fields[12])) / TICKS, peak // 1000)
    descendants, pending_ids = {}, [pid]
    while pending_ids:
        process_id = pending_ids.pop()
        if process_id in processes:
            descendants[process_id] = processes[process_id]
        pending_ids += parents.get(process_id, [])
    return descendants


def count_shard_bytes(run: Path) -> int:
    """Bytes of the rows written until now."""
    return sum([path.stat().st_size for path in (run / "shards").glob("0*")]) if (run / "shards").is_dir() else 0


def audit_table(mode: str, out: Path, table: Path, kill_at_bytes: int | None) -> dict[str, Any]:
    """Audit the table into its run folder; returns the measurements."""
    run = out / f"{mode}-{table.stem}"
    command = [
        str(Path(sys.executable).with_name("safecheck")), "audit", str(table), "--plan-column", "script",
        "--world", "virtualhome", "--scene", str(out / "scenes" / "{scene}.json.gz"), "--replay", "never",
        "--run", str(run), *MODES[mode],
    ]  # fmt: skip
    start = time.monotonic()
    processes: dict[int, Process] = {}
    killed = 0
    with (out / f"{mode}.log").open("wb") as log:
        driver = subprocess.Popen(command, stdout=log, stderr=log)
        while driver.poll() is None:
            running = read_process_tree(driver.pid)
            for pid, process in running.items():  # the peak of an ended process is no longer in /proc
                earlier_peak = processes[pid].peak if pid in processes else 0
                processes[pid] = process._replace(peak=max(process.peak, earlier_peak))
            workers = [pid for pid, process in running.items() if process.name == WORKER]
            if kill_at_bytes is not None and not killed and workers and count_shard_bytes(run) > kill_at_bytes:
                os.kill(workers[0], signal.SIGKILL)
                killed = workers[0]
            time.sleep(0.2)
    children = [process for pid, process in processes.items() if pid != driver.pid]
    ray_cpu = sum([process.cpu for process in children if mode == "ray" and process.name != WORKER])
    worker_cpu = sum([process.cpu for process in children]) - ray_cpu
    return {
        "run": str(run), "exit": driver.returncode, "killed": bool(killed), "wall": round(time.monotonic() - start, 1),
        "workers_cpu": round(worker_cpu, 1), "driver_cpu": round(processes[driver.pid].cpu, 1),
        "ray_cpu": round(ray_cpu, 1), "driver_peak_mb": processes[driver.pid].peak,
        "worker_peak_mb": max([process.peak for process in children], default=0),
    }  # fmt: skip


def read_rows(run: Path) -> list[dict[str, Any]]:
    """The rows of a run, without times."""
    with (run / "results.jsonl").open(encoding="utf-8") as file:
        return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in file]


def measure_row_sizes(run: Path, plans: int) -> dict[str, int]:
    """Bytes per row: as JSON Lines, gzipped, and as Parquet if pyarrow is installed."""
    results = run / "results.jsonl"
    content = results.read_bytes()
    bytes_per_row = {"jsonl": len(content) // plans, "gzip": len(gzip.compress(content, 6)) // plans}
    for name, flags in (("parquet", []), ("parquet_whole", ["--whole"])):
        file = run / f"{name}.parquet"
        command = [str(Path(sys.executable).with_name("safecheck")), "export", str(run), "-o", str(file), *flags]
        if subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0:
            bytes_per_row[name] = file.stat().st_size // plans
    return bytes_per_row


def main() -> int:
    """Audit the same table in each mode and print one JSON line per mode."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, help="Audit only the first N scripts (they belong to the first scenes).")
    parser.add_argument("--only", default="one,two,ray")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    make_scripts = [sys.executable, "-m", "bench.many_scripts", str(options.out), "--count", str(2 * options.count)]
    if subprocess.run([*make_scripts, "--seed", str(options.seed)], check=False, stdout=subprocess.DEVNULL).returncode:
        return 2
    plan_count = min(options.first or options.count, options.count)
    table = options.out / f"executable-{plan_count}.jsonl"
    with (
        (options.out / "scripts.jsonl").open(encoding="utf-8") as file,
        table.open("w", encoding="utf-8") as table_file,
    ):
        table_file.writelines(islice((line for line in file if '"executable": true' in line), plan_count))
    ids = [json.loads(line)["id"] for line in table.open(encoding="utf-8")]
    failed = False
    first_rows: list[dict[str, Any]] | None = None
    for mode in options.only.split(","):
        kill_at_bytes = len(ids) * 1000 if mode == "ray" else None
        measurement = audit_table(mode, options.out, table, kill_at_bytes)
        if not (Path(measurement["run"]) / "results.jsonl").exists():
            print((options.out / f"{mode}.log").read_text(errors="replace"), file=sys.stderr)
            return 2
        run_rows = read_rows(Path(measurement["run"]))
        each_once = [row["id"] for row in run_rows] == ids
        first_rows = run_rows if first_rows is None else first_rows
        same_rows = run_rows == first_rows
        failed = failed or not each_once or not same_rows
        cpu = measurement["workers_cpu"] + measurement["driver_cpu"] + measurement["ray_cpu"]
        line = {"mode": mode, "plans": len(ids), "each_once": each_once, "same_rows": same_rows, **measurement}
        line |= {
            "cpu_ms_per_plan": round(1000 * cpu / len(ids), 2),
            "bytes": measure_row_sizes(Path(measurement["run"]), len(ids)),
        }
        print(json.dumps(line), flush=True)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
