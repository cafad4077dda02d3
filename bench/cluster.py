"""What a run costs by one process, by two, and by two workers of Ray of which one is killed: CPU, memory, bytes.

usage: python -m bench.cluster OUT [--count 20000] [--first N] [--only one,two,ray] [--seed 1]

Takes executable scripts of VirtualHome (`bench/many_scripts.py`) and judges them with ``--replay never``. CPU seconds
are those of all processes that a run starts, Ray's own among them, as /proc has them five times a second. A worker of
Ray is killed when a third of the rows are there. Each plan is to have one row, and all runs the same rows but for
times; else the exit code is 1. Needs Linux, ``eai-virtualhome`` of the data sets (``PLANSAFE_DATA``), for ``ray`` the
extra ``ray``.
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
WORKER = "ray::Hand"


class Process(NamedTuple):
    name: str
    cpu: float
    peak: int


def below(pid: int) -> dict[int, Process]:
    """A process and those below it, with CPU seconds and the most memory in MB."""
    parents: dict[int, list[int]] = {}
    found: dict[int, Process] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            lines = (folder / "status").read_text().splitlines()
        except OSError:
            continue
        values = rest.split()
        peak = next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
        parents.setdefault(int(values[1]), []).append(int(folder.name))
        found[int(folder.name)] = Process(name, (int(values[11]) + int(values[12])) / TICKS, peak // 1000)
    out, waiting = {}, [pid]
    while waiting:
        one = waiting.pop()
        if one in found:
            out[one] = found[one]
        waiting += parents.get(one, [])
    return out


def rows_so_far(run: Path) -> int:
    return sum([path.stat().st_size for path in (run / "shards").glob("0*")]) if (run / "shards").is_dir() else 0


def measured(mode: str, out: Path, table: Path, kill_at: int | None) -> dict[str, Any]:
    """Judge the table into OUT/MODE."""
    run = out / f"{mode}-{table.stem}"
    command = [
        str(Path(sys.executable).with_name("safecheck")), "audit", str(table), "--plan-column", "script",
        "--world", "virtualhome", "--scene", str(out / "scenes" / "{scene}.json.gz"), "--replay", "never",
        "--run", str(run), *MODES[mode],
    ]  # fmt: skip
    start = time.monotonic()
    seen: dict[int, Process] = {}
    killed = 0
    with (out / f"{mode}.said").open("wb") as said:
        driver = subprocess.Popen(command, stdout=said, stderr=said)
        while driver.poll() is None:
            now = below(driver.pid)
            for pid, process in now.items():  # one that has ended has no memory any more
                seen[pid] = process._replace(peak=max(process.peak, seen[pid].peak if pid in seen else 0))
            workers = [pid for pid, process in now.items() if process.name == WORKER]
            if kill_at is not None and not killed and workers and rows_so_far(run) > kill_at:
                os.kill(workers[0], signal.SIGKILL)
                killed = workers[0]
            time.sleep(0.2)
    work = sum([p.cpu for pid, p in seen.items() if pid != driver.pid and not (mode == "ray" and p.name != WORKER)])
    rays = sum([p.cpu for pid, p in seen.items() if pid != driver.pid and mode == "ray" and p.name != WORKER])
    return {
        "run": str(run), "exit": driver.returncode, "killed": bool(killed), "wall": round(time.monotonic() - start, 1),
        "workers_cpu": round(work, 1), "driver_cpu": round(seen[driver.pid].cpu, 1), "ray_cpu": round(rays, 1),
        "driver_peak_mb": seen[driver.pid].peak,
        "worker_peak_mb": max([p.peak for pid, p in seen.items() if pid != driver.pid], default=0),
    }  # fmt: skip


def rows(run: Path) -> list[dict[str, Any]]:
    with (run / "results.jsonl").open(encoding="utf-8") as file:
        return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in file]


def sizes(run: Path, plans: int) -> dict[str, int]:
    """Bytes of a row: as it is, packed by gzip, and as Parquet, where pyarrow is there."""
    results = run / "results.jsonl"
    data = results.read_bytes()
    found = {"jsonl": len(data) // plans, "gzip": len(gzip.compress(data, 6)) // plans}
    for name, flags in (("parquet", []), ("parquet_whole", ["--whole"])):
        file = run / f"{name}.parquet"
        command = [str(Path(sys.executable).with_name("safecheck")), "export", str(run), "-o", str(file), *flags]
        if subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0:
            found[name] = file.stat().st_size // plans
    return found


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, help="judge so many of them, which are of the first scenes")
    parser.add_argument("--only", default="one,two,ray")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    made = [sys.executable, "-m", "bench.many_scripts", str(options.out), "--count", str(2 * options.count)]
    if subprocess.run([*made, "--seed", str(options.seed)], check=False, stdout=subprocess.DEVNULL).returncode:
        return 2
    first_ones = min(options.first or options.count, options.count)
    table = options.out / f"executable-{first_ones}.jsonl"
    with (options.out / "scripts.jsonl").open(encoding="utf-8") as file, table.open("w", encoding="utf-8") as kept:
        kept.writelines(islice((line for line in file if '"executable": true' in line), first_ones))
    ids = [json.loads(line)["id"] for line in table.open(encoding="utf-8")]
    wrong = False
    first: list[dict[str, Any]] | None = None
    for mode in options.only.split(","):
        kill_at = len(ids) * 1000 if mode == "ray" else None
        found = measured(mode, options.out, table, kill_at)
        if not (Path(found["run"]) / "results.jsonl").exists():
            print((options.out / f"{mode}.said").read_text(errors="replace"), file=sys.stderr)
            return 2
        done = rows(Path(found["run"]))
        once = [row["id"] for row in done] == ids
        first = done if first is None else first
        same = done == first
        wrong = wrong or not once or not same
        cpu = found["workers_cpu"] + found["driver_cpu"] + found["ray_cpu"]
        line = {"mode": mode, "plans": len(ids), "each_once": once, "same_rows": same, **found}
        line |= {"cpu_ms_per_plan": round(1000 * cpu / len(ids), 2), "bytes": sizes(Path(found["run"]), len(ids))}
        print(json.dumps(line), flush=True)
    return int(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
