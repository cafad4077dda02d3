"""Kill a run repeatedly at random times and resume it; compare the run folder with an uninterrupted run's.

usage: python -m bench.kills OUT [--count 10000] [--kills 20] [--jobs 2] [--seed 1]

Audits VirtualHome scripts in their scenes (`bench/many_scripts.py`), half of them not executable, with
``--replay never``: once without interruption into ``OUT/whole``, and once into ``OUT/killed``, where all processes of
the run are killed (SIGKILL) after a random delay and the run is resumed. The delays are chosen so that some kills hit
the start of a run, most the middle, and some the end. Exit code 1 if the two folders differ in anything except times,
3 if the run ended before all kills. Needs the data set ``eai-virtualhome`` (``PLANSAFE_DATA``).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TIME_FIELDS = ("seconds", "started", "ended", "command")
"""Fields that may differ: times, and the command line, which contains the folder name."""


def run_command(out: Path, flag: str, name: str, jobs: int) -> list[str]:
    """The command that starts (``--run``) or resumes (``--resume``) the run of this name."""
    return [
        str(Path(sys.executable).with_name("safecheck")), "audit", str(out / "scripts.jsonl"), "--plan-column",
        "script", "--world", "virtualhome", "--scene", str(out / "scenes" / "{scene}.json.gz"), "--replay", "never",
        flag, str(out / name), "--jobs", str(jobs),
    ]  # fmt: skip


def start_run(out: Path, name: str, jobs: int) -> subprocess.Popen[bytes]:
    """Start or resume the run in its own process group."""
    flag = "--resume" if (out / name / "manifest.json").exists() else "--run"
    with (out / f"{name}.log").open("ab") as log:
        return subprocess.Popen(run_command(out, flag, name, jobs), stdout=log, stderr=log, start_new_session=True)


def remove_times(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSON Lines or JSON file as objects without times."""
    text = path.read_text(encoding="utf-8")
    objects = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]
    return [{key: value for key, value in record.items() if key not in TIME_FIELDS} for record in objects]


def have_same_contents(first_folder: Path, second_folder: Path) -> bool:
    """True if two run folders have the same files with the same contents, except times."""
    names = sorted([path.name for path in first_folder.iterdir()])
    if names != sorted([path.name for path in second_folder.iterdir()]):
        return False
    return all([remove_times(first_folder / name) == remove_times(second_folder / name) for name in names])


def kill_repeatedly(out: Path, jobs: int, kills: int, max_delay: float, rng: random.Random) -> list[float]:
    """Start the run, kill and resume it ``kills`` times, then let it end; returns the delays before the kills."""
    delays: list[float] = []
    for _ in range(kills):
        child = start_run(out, "killed", jobs)
        delay = rng.uniform(0, max_delay)
        try:
            child.wait(delay)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            delays.append(delay)
        else:
            break
    start_run(out, "killed", jobs).wait()
    return delays


def main() -> int:
    """Run twice and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    make_scripts = [sys.executable, "-m", "bench.many_scripts", str(options.out), "--count", str(options.count)]
    if (code := subprocess.run([*make_scripts, "--seed", str(options.seed)], check=False).returncode) != 0:
        return code
    if any([(options.out / name).exists() for name in ("whole", "killed")]):
        print(f"{options.out} already contains runs; choose another folder", file=sys.stderr)
        return 2
    start = time.monotonic()
    start_run(options.out, "whole", options.jobs).wait()
    whole_seconds = time.monotonic() - start
    print(f"uninterrupted: {whole_seconds:.1f} s", flush=True)
    rng = random.Random(options.seed)
    delays = kill_repeatedly(options.out, options.jobs, options.kills, 2 * whole_seconds / (options.kills + 1), rng)
    is_same = have_same_contents(options.out / "whole", options.out / "killed")
    print(f"killed {len(delays)} times, after {', '.join([f'{delay:.1f}' for delay in delays])} s")
    print("the folders are equivalent" if is_same else "the folders DIFFER")
    return 1 if not is_same else 0 if len(delays) == options.kills else 3


if __name__ == "__main__":
    raise SystemExit(main())
