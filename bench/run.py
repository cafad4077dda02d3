"""Compare safecheck with kairos on the same tasks: whole processes, run in turn, medians.

usage: python bench/run.py [--only NAME ..] [--runs 5] [--budget 40] [--no-growth] [--output FILE]

Makes the tasks with ../shared/bench/gen.py if that file exists, else with bench/tasks.py. Installs kairos into
bench/.env-peers, unless the variable KAIROS names its command.
Exit code 0 if every target is met, 1 if not, 2 if the benchmark cannot run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from measure import Summary, fit_exponent, run_in_turn

HERE = Path(__file__).resolve().parent
SHARED_GENERATOR = HERE.parents[1] / "shared" / "bench" / "gen.py"
TASKS = HERE / "out" / "tasks"
PEERS = HERE / ".env-peers"
SAFECHECK = str(Path(sys.executable).parent / "safecheck")
GROWTH_STEPS = (1_000, 10_000, 100_000, 1_000_000)
GROWTH_LIMIT = 1.1  # fitted exponents up to this limit count as linear


class BenchmarkError(Exception):
    """The benchmark cannot run; the message says why."""


@dataclass(frozen=True)
class Workload:
    """One line of the table. Targets: our CPU time over the peer's, and our peak memory in MB."""

    name: str
    ratio: float | None = None
    memory: float | None = None
    task: str | None = None  # if the task has another name
    expected: int = 0  # the exit code of both commands


WORKLOADS = (
    Workload("c_hh100000", 0.2, 80),
    Workload("c_hhbig10000", 0.02, 80),
    Workload("m_hhbig1000", 0.02),
    Workload("hh100000", 1.5, 80),
    Workload("grip33334", 2, 120),
    Workload("wh5000", 1.5),
    Workload("batch1000", 4, expected=1),
    Workload("read-grip33334", 2.5, task="grip33334", expected=1),
    Workload("grounded10000", 4),
    Workload("hh20"),
    Workload("hh20-start", 15, task="hh20"),
)


@dataclass(frozen=True)
class Row:
    """A measured workload. ``problems`` are wrong exit codes and missed targets."""

    workload: Workload
    peer_name: str
    ours: Summary
    peer: Summary
    problems: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """Our CPU time over the peer's."""
        return self.ours.cpu / self.peer.cpu if self.peer.cpu else math.inf


@dataclass(frozen=True)
class Growth:
    """Our CPU time by number of steps, and the exponent fitted to it (start-up time subtracted)."""

    family: str
    steps: tuple[int, ...]
    cpu: tuple[float, ...]
    memory: tuple[float, ...]
    per_step: tuple[float, ...]
    exponent: float


def find_kairos() -> Path:
    """The ``kairos`` command: ``$KAIROS``, or else the command of an environment that is created for it."""
    if kairos_path := os.environ.get("KAIROS"):
        return Path(kairos_path)
    command = PEERS / "bin" / "kairos"
    if not command.is_file():
        print(f"installing kairos-planner into {PEERS.relative_to(HERE.parent)}", file=sys.stderr)
        for arguments in (["-m", "venv", str(PEERS)], ["-m", "pip", "install", "--quiet", "kairos-planner"]):
            python = sys.executable if arguments[1] == "venv" else str(PEERS / "bin" / "python")
            if subprocess.run([python, *arguments], check=False).returncode != 0:
                raise BenchmarkError(
                    "kairos-planner cannot be installed; set KAIROS to the path of an installed `kairos`"
                )
    return command


def read_version(command: Sequence[str]) -> str:
    """The version that a command prints."""
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    return process.stdout.strip().splitlines()[0] if process.stdout.strip() else "unknown"


def prepare_tasks(names: Sequence[str]) -> Path:
    """Write the missing tasks; returns their folder. The generator runs as a child, so this process stays small."""
    generator = SHARED_GENERATOR if SHARED_GENERATOR.is_file() else HERE / "tasks.py"
    folder = TASKS / ("shared" if generator == SHARED_GENERATOR else "own")
    missing = [name for name in names if not (folder / name / ".complete").is_file()]
    folder.mkdir(parents=True, exist_ok=True)
    if missing and subprocess.run([sys.executable, str(generator), str(folder), *missing], check=False).returncode != 0:
        raise BenchmarkError(f"{generator} failed")
    for name in missing:
        (folder / name / ".complete").touch()
    return folder


def make_our_command(folder: Path, plan: Path, output_format: str) -> list[str]:
    """The safecheck command for a plan (or a folder of plans)."""
    files = ["--domain", str(folder / "domain.pddl"), "--problem", str(folder / "problem.pddl")]
    no_replay = ["--replay", "never"]  # bench/kernel.py measures the kernel
    return [SAFECHECK, str(plan), *files, "--no-default-spec", *no_replay, "--format", output_format]


def make_commands(workload: Workload, tasks: Path, kairos: Path) -> tuple[str, list[str], list[str]]:
    """The peer's name, our command, and the peer's."""
    folder = tasks / (workload.task or workload.name)
    files = [str(folder / "domain.pddl"), str(folder / "problem.pddl")]
    plan = folder / "plan"
    if workload.name == "hh20-start":
        return "python -c pass", make_our_command(folder, plan, "concise"), [sys.executable, "-c", "pass"]
    if workload.name.startswith("batch"):
        python = str(kairos.parent / "python")
        peer_command = [python, str(HERE / "kairos_batch.py"), str(folder)]
        return (
            "kairos (its Python interface, one process)",
            make_our_command(folder, folder / "plans", "json"),
            peer_command,
        )
    if workload.name.startswith("read-"):
        plan = folder / "empty.plan"
        plan.write_text("", encoding="utf-8")
    return "kairos", make_our_command(folder, plan, "concise"), [str(kairos), "validate", *files, str(plan)]


def find_problems(workload: Workload, ours: Summary, peer: Summary) -> tuple[str, ...]:
    """The problems: wrong exit codes, or else missed targets."""
    problems = []
    if ours.code != workload.expected:
        problems.append(f"safecheck exits with {ours.code}, not {workload.expected}: {ours.last_words}")
    if workload.name != "hh20-start" and peer.code != workload.expected:
        problems.append(f"the peer exits with {peer.code}, not {workload.expected}: {peer.last_words}")
    if not problems and workload.ratio is not None and ours.cpu > workload.ratio * peer.cpu:
        problems.append("ratio missed")
    if not problems and workload.memory is not None and ours.memory > workload.memory:
        problems.append("memory missed")
    return tuple(problems)


def measure_workload(workload: Workload, tasks: Path, kairos: Path, runs: int, budget: float) -> Row:
    """Measure one workload."""
    peer_name, our_arguments, peer_arguments = make_commands(workload, tasks, kairos)
    ours, peer = run_in_turn([our_arguments, peer_arguments], runs, budget)
    return Row(workload, peer_name, ours, peer, find_problems(workload, ours, peer))


def measure_growth(family: str, tasks: Path, start_time: float, runs: int, budget: float) -> Growth:
    """Measure the sizes of a family. The fit excludes sizes that cost less than the start of the process."""
    summaries = []
    for steps in GROWTH_STEPS:
        folder = tasks / f"{family}{steps}"
        summary = run_in_turn([make_our_command(folder, folder / "plan", "concise")], runs, budget)[0]
        if summary.code != 0:
            raise BenchmarkError(f"{folder.name}: safecheck exits with {summary.code}: {summary.last_words}")
        summaries.append(summary)
    net_seconds = [max(summary.cpu - start_time, 1e-6) for summary in summaries]
    fitted_points = [
        (steps, seconds) for steps, seconds in zip(GROWTH_STEPS, net_seconds, strict=True) if seconds >= start_time
    ]
    if len(fitted_points) < 2:
        fitted_points = list(zip(GROWTH_STEPS, net_seconds, strict=True))[-2:]
    return Growth(
        family,
        GROWTH_STEPS,
        tuple(summary.cpu for summary in summaries),
        tuple(summary.memory for summary in summaries),
        tuple(seconds / steps for steps, seconds in zip(GROWTH_STEPS, net_seconds, strict=True)),
        fit_exponent(fitted_points),
    )


def print_row(row: Row) -> None:
    """Print one line of the table."""
    target = "" if row.workload.ratio is None else f"{row.workload.ratio:g}"
    limit = "" if row.workload.memory is None else f"{row.workload.memory:g}"
    verdict = "; ".join(row.problems) or ("pass" if target or limit else "")
    runs = f"{row.ours.runs}/{row.peer.runs}"
    print(
        f"{row.workload.name:15} {row.ours.cpu:8.3f} {row.peer.cpu:8.3f} {row.ratio:9.3f} {target:>6} "
        f"{row.ours.memory:7.0f} {row.peer.memory:7.0f} {limit:>6} {runs:>5}  {verdict}"
        + ("" if row.peer_name == "kairos" else f"  [against {row.peer_name}]"),
        flush=True,
    )


def print_growth(growth: Growth) -> None:
    """Print one line: microseconds per step by size, and the exponent."""
    verdict = "pass" if growth.exponent <= GROWTH_LIMIT else "not linear"
    sizes = "  ".join(
        f"{size:,}: {seconds * 1e6:.2f}" for size, seconds in zip(growth.steps, growth.per_step, strict=True)
    )
    print(f"{growth.family:6} microseconds a step  {sizes}  exponent {growth.exponent:.2f}  {verdict}", flush=True)


def make_json_object(rows: Sequence[Row], growth: Sequence[Growth], kairos: Path) -> dict[str, object]:
    """All measurements, as JSON."""
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": {
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "cores": os.cpu_count(),
        },
        "versions": {
            "safecheck": read_version([SAFECHECK, "--version"]),
            "kairos": read_version([str(kairos), "--version"]),
        },
        "workloads": [
            {
                "name": row.workload.name,
                "peer": row.peer_name,
                "ratio": row.ratio,
                "target_ratio": row.workload.ratio,
                "target_memory_mb": row.workload.memory,
                "safecheck": asdict(row.ours),
                "against": asdict(row.peer),
                "problems": row.problems,
            }
            for row in rows
        ],
        "growth": [asdict(family) for family in growth],
    }


def parse_arguments() -> argparse.Namespace:
    """The options of the command line."""
    names = [workload.name for workload in WORKLOADS]
    parser = argparse.ArgumentParser(description="Measure safecheck against kairos.")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", choices=[*names, "growth"], help="Measure only these workloads, or growth."
    )
    parser.add_argument("--runs", type=int, default=5, help="Number of runs of each command (default 5).")
    parser.add_argument(
        "--budget", type=float, default=40, help="CPU seconds for all runs of one command (default 40)."
    )
    parser.add_argument("--no-growth", action="store_true", help="Do not measure growth up to 1,000,000 steps.")
    parser.add_argument(
        "--output", type=Path, default=HERE / "results" / "latest.json", help="Write the JSON to this file."
    )
    return parser.parse_args()


def run_benchmark(options: argparse.Namespace) -> int:
    """Measure the chosen workloads. Raises BenchmarkError."""
    if not Path(SAFECHECK).is_file():
        raise BenchmarkError(f"{SAFECHECK} is missing; run `make setup`")
    workloads = [workload for workload in WORKLOADS if options.only is None or workload.name in options.only]
    with_growth = not options.no_growth and (options.only is None or "growth" in options.only)
    families = ("hh", "c_hh") if with_growth else ()
    kairos = find_kairos()
    names = {workload.task or workload.name for workload in workloads} | {
        f"{family}{n}" for family in families for n in GROWTH_STEPS
    }
    tasks = prepare_tasks(sorted(names | {"hh20"}))
    print(f"{'':15} {'CPU seconds':>17} {'ratio':>9} {'target':>6} {'MB':>11} {'target':>10}  runs")
    print(f"{'':15} {'ours':>8} {'peer':>8} {'':9} {'':6} {'ours':>7} {'peer':>7}")
    rows = []
    for workload in workloads:
        rows.append(measure_workload(workload, tasks, kairos, options.runs, options.budget))
        print_row(rows[-1])
    growth = []
    if families:
        start = run_in_turn(
            [make_our_command(tasks / "hh20", tasks / "hh20" / "plan", "concise")], options.runs, options.budget
        )
        print(f"\ngrowth (the {start[0].cpu:.3f} s of 20 steps subtracted)")
        for family in families:
            growth.append(measure_growth(family, tasks, start[0].cpu, options.runs, options.budget))
            print_growth(growth[-1])
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(make_json_object(rows, growth, kairos), indent=1) + "\n", encoding="utf-8")
    print(f"\n{options.output}")
    missed = any(row.problems for row in rows) or any(family.exponent > GROWTH_LIMIT for family in growth)
    return 1 if missed else 0


def main() -> int:
    """Run the benchmark."""
    try:
        return run_benchmark(parse_arguments())
    except BenchmarkError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
