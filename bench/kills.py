"""A run that is killed again and again at random moments, and taken up each time: is the folder that of a run in peace?

usage: python -m bench.kills OUT [--count 10000] [--kills 20] [--jobs 2] [--seed 1]

Scripts of VirtualHome in their scenes (`bench/many_scripts.py`), half of them not executable, are judged by
``--replay never``: once in peace into ``OUT/whole``, and once into ``OUT/killed``, where all processes of it are killed
(SIGKILL) at moments drawn anew for each. They are drawn from a time in which such a run gets a good part of its work
done, so that some fall into its start, most into its middle, some into its end. The exit code is 1 where the two
folders differ in more than times, 3 where the run ended before all kills. Needs ``eai-virtualhome`` of the data sets
(``PLANSAFE_DATA``).
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

TIMES = ("seconds", "started", "ended", "command")
"""What is a time, and the words of the command, which name the folder."""


def command(out: Path, flag: str, name: str, jobs: int) -> list[str]:
    """The run of this name, begun or taken up."""
    return [
        str(Path(sys.executable).with_name("safecheck")), "audit", str(out / "scripts.jsonl"), "--plan-column",
        "script", "--world", "virtualhome", "--scene", str(out / "scenes" / "{scene}.json.gz"), "--replay", "never",
        flag, str(out / name), "--jobs", str(jobs),
    ]  # fmt: skip


def begun(out: Path, name: str, jobs: int) -> subprocess.Popen[bytes]:
    """Start the run, or take it up, in a group of processes of its own."""
    flag = "--resume" if (out / name / "manifest.json").exists() else "--run"
    with (out / f"{name}.said").open("ab") as said:
        return subprocess.Popen(command(out, flag, name, jobs), stdout=said, stderr=said, start_new_session=True)


def timeless(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSON Lines or JSON file as objects without times."""
    text = path.read_text(encoding="utf-8")
    objects = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]
    return [{key: value for key, value in one.items() if key not in TIMES} for one in objects]


def same(one: Path, other: Path) -> bool:
    """Whether two run folders have the same files, and these say the same."""
    names = sorted([path.name for path in one.iterdir()])
    if names != sorted([path.name for path in other.iterdir()]):
        return False
    return all([timeless(one / name) == timeless(other / name) for name in names])


def killed(out: Path, jobs: int, kills: int, span: float, draw: random.Random) -> list[float]:
    """Begin the run and kill it so often, then let it end. The moments, in seconds from each start."""
    moments: list[float] = []
    for _ in range(kills):
        child = begun(out, "killed", jobs)
        moment = draw.uniform(0, span)
        try:
            child.wait(moment)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            moments.append(moment)
        else:
            break
    begun(out, "killed", jobs).wait()
    return moments


def main() -> int:
    """Judge twice, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    making = [sys.executable, "-m", "bench.many_scripts", str(options.out), "--count", str(options.count)]
    if (code := subprocess.run([*making, "--seed", str(options.seed)], check=False).returncode) != 0:
        return code
    if any([(options.out / name).exists() for name in ("whole", "killed")]):
        print(f"there are runs in {options.out}: name another folder", file=sys.stderr)
        return 2
    start = time.monotonic()
    begun(options.out, "whole", options.jobs).wait()
    took = time.monotonic() - start
    print(f"in peace: {took:.1f} s", flush=True)
    draw = random.Random(options.seed)
    moments = killed(options.out, options.jobs, options.kills, 2 * took / (options.kills + 1), draw)
    equal = same(options.out / "whole", options.out / "killed")
    print(f"killed {len(moments)} times, after {', '.join([f'{one:.1f}' for one in moments])} s")
    print("the folders are equivalent" if equal else "the folders DIFFER")
    return 1 if not equal else 0 if len(moments) == options.kills else 3


if __name__ == "__main__":
    raise SystemExit(main())
