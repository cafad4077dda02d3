"""Measure safecheck against kairos: the same tasks, in turn, whole processes, medians.

usage: python bench/run.py [--only NAME ..] [--runs 5] [--budget 40] [--no-growth] [--output FILE]

Tasks come from ../shared/bench/gen.py where it is there, else from bench/tasks.py. Kairos is installed into
bench/.env-peers, unless KAIROS names its command.
Exit code 0 if every target was met, 1 if not, 2 if the benchmark could not run.
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

from measure import Summary, in_turn

HERE = Path(__file__).resolve().parent
SHARED_GENERATOR = HERE.parents[1] / "shared" / "bench" / "gen.py"
TASKS = HERE / "out" / "tasks"
PEERS = HERE / ".env-peers"
SAFECHECK = str(Path(sys.executable).parent / "safecheck")
GROWTH_STEPS = (1_000, 10_000, 100_000, 1_000_000)
GROWTH_LIMIT = 1.1  # a fitted exponent up to here counts as linear


class BenchmarkError(Exception):
    """The benchmark cannot run; says why."""


@dataclass(frozen=True)
class Workload:
    """One line of the table. Targets: our CPU time over the peer's, and our peak memory in MB."""

    name: str
    ratio: float | None = None
    memory: float | None = None
    task: str | None = None  # where the name is not that of the task
    expected: int = 0  # the exit code of either command


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
    """Our CPU time by number of steps, and the exponent fitted to it (start-up taken off)."""

    family: str
    steps: tuple[int, ...]
    cpu: tuple[float, ...]
    memory: tuple[float, ...]
    per_step: tuple[float, ...]
    exponent: float


def prepare_kairos() -> Path:
    """The ``kairos`` command: ``$KAIROS``, else that of an environment made for it."""
    if named := os.environ.get("KAIROS"):
        return Path(named)
    command = PEERS / "bin" / "kairos"
    if not command.is_file():
        print(f"installing kairos-planner into {PEERS.relative_to(HERE.parent)}", file=sys.stderr)
        for arguments in (["-m", "venv", str(PEERS)], ["-m", "pip", "install", "--quiet", "kairos-planner"]):
            python = sys.executable if arguments[1] == "venv" else str(PEERS / "bin" / "python")
            if subprocess.run([python, *arguments], check=False).returncode != 0:
                raise BenchmarkError("kairos-planner could not be installed; name another copy in KAIROS")
    return command


def version(command: Sequence[str]) -> str:
    """What a command prints about its version."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else "unknown"


def prepare_tasks(names: Sequence[str]) -> Path:
    """Write the tasks that are not there yet, in a process of its own (it would make this one large); the generator."""
    generator = SHARED_GENERATOR if SHARED_GENERATOR.is_file() else HERE / "tasks.py"
    folder = TASKS / ("shared" if generator == SHARED_GENERATOR else "own")
    missing = [name for name in names if not (folder / name / ".complete").is_file()]
    folder.mkdir(parents=True, exist_ok=True)
    if missing and subprocess.run([sys.executable, str(generator), str(folder), *missing], check=False).returncode != 0:
        raise BenchmarkError(f"{generator} failed")
    for name in missing:
        (folder / name / ".complete").touch()
    return folder


def our_command(folder: Path, plan: Path, form: str) -> list[str]:
    """Safecheck on a plan (or a folder of plans)."""
    files = ["--domain", str(folder / "domain.pddl"), "--problem", str(folder / "problem.pddl")]
    alone = ["--replay", "never"]  # bench/kernel.py measures the kernel
    return [SAFECHECK, str(plan), *files, "--no-default-spec", *alone, "--format", form]


def commands(workload: Workload, tasks: Path, kairos: Path) -> tuple[str, list[str], list[str]]:
    """The peer's name, our command, and the peer's."""
    folder = tasks / (workload.task or workload.name)
    files = [str(folder / "domain.pddl"), str(folder / "problem.pddl")]
    plan = folder / "plan"
    if workload.name == "hh20-start":
        return "python -c pass", our_command(folder, plan, "concise"), [sys.executable, "-c", "pass"]
    if workload.name.startswith("batch"):
        python = str(kairos.parent / "python")
        peer = [python, str(HERE / "kairos_batch.py"), str(folder)]
        return "kairos (its Python interface, one process)", our_command(folder, folder / "plans", "json"), peer
    if workload.name.startswith("read-"):
        plan = folder / "empty.plan"
        plan.write_text("", encoding="utf-8")
    return "kairos", our_command(folder, plan, "concise"), [str(kairos), "validate", *files, str(plan)]


def judge(workload: Workload, ours: Summary, peer: Summary) -> tuple[str, ...]:
    """What is wrong: exit codes first, then targets."""
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


def measure(workload: Workload, tasks: Path, kairos: Path, runs: int, budget: float) -> Row:
    """Run one workload."""
    name, mine, peers = commands(workload, tasks, kairos)
    ours, peer = in_turn([mine, peers], runs, budget)
    return Row(workload, name, ours, peer, judge(workload, ours, peer))


def fitted_exponent(steps: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of log seconds over log steps, by least squares."""
    xs, ys = [math.log(n) for n in steps], [math.log(s) for s in seconds]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def measure_growth(family: str, tasks: Path, start: float, runs: int, budget: float) -> Growth:
    """Time the sizes of a family. The fit leaves out sizes that cost less than the start of the process."""
    measured = []
    for steps in GROWTH_STEPS:
        folder = tasks / f"{family}{steps}"
        summary = in_turn([our_command(folder, folder / "plan", "concise")], runs, budget)[0]
        if summary.code != 0:
            raise BenchmarkError(f"{folder.name}: safecheck exits with {summary.code}: {summary.last_words}")
        measured.append(summary)
    net = [max(summary.cpu - start, 1e-6) for summary in measured]
    fit = [(steps, seconds) for steps, seconds in zip(GROWTH_STEPS, net, strict=True) if seconds >= start]
    if len(fit) < 2:
        fit = list(zip(GROWTH_STEPS, net, strict=True))[-2:]
    return Growth(
        family,
        GROWTH_STEPS,
        tuple(summary.cpu for summary in measured),
        tuple(summary.memory for summary in measured),
        tuple(seconds / steps for steps, seconds in zip(GROWTH_STEPS, net, strict=True)),
        fitted_exponent([steps for steps, _ in fit], [seconds for _, seconds in fit]),
    )


def print_row(row: Row) -> None:
    """One line of the table."""
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
    """One line: microseconds a step by size, and the exponent."""
    verdict = "pass" if growth.exponent <= GROWTH_LIMIT else "not linear"
    sizes = "  ".join(f"{n:,}: {s * 1e6:.2f}" for n, s in zip(growth.steps, growth.per_step, strict=True))
    print(f"{growth.family:6} microseconds a step  {sizes}  exponent {growth.exponent:.2f}  {verdict}", flush=True)


def report(rows: Sequence[Row], growth: Sequence[Growth], kairos: Path) -> dict[str, object]:
    """Everything measured, as JSON."""
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": {
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "cores": os.cpu_count(),
        },
        "versions": {"safecheck": version([SAFECHECK, "--version"]), "kairos": version([str(kairos), "--version"])},
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
        "growth": [asdict(one) for one in growth],
    }


def parse_arguments() -> argparse.Namespace:
    """Options of the command line."""
    names = [workload.name for workload in WORKLOADS]
    parser = argparse.ArgumentParser(description="Measure safecheck against kairos.")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", choices=[*names, "growth"], help="lines of the table, or growth"
    )
    parser.add_argument("--runs", type=int, default=5, help="runs of each command (default 5)")
    parser.add_argument("--budget", type=float, default=40, help="CPU seconds for the runs of one command (default 40)")
    parser.add_argument("--no-growth", action="store_true", help="leave out the sizes up to 1,000,000 steps")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "latest.json", help="where the JSON goes")
    return parser.parse_args()


def run(options: argparse.Namespace) -> int:
    """Measure what was asked for. Raises BenchmarkError."""
    if not Path(SAFECHECK).is_file():
        raise BenchmarkError(f"{SAFECHECK} is missing; run `make setup`")
    chosen = [one for one in WORKLOADS if options.only is None or one.name in options.only]
    with_growth = not options.no_growth and (options.only is None or "growth" in options.only)
    families = ("hh", "c_hh") if with_growth else ()
    kairos = prepare_kairos()
    names = {one.task or one.name for one in chosen} | {f"{family}{n}" for family in families for n in GROWTH_STEPS}
    tasks = prepare_tasks(sorted(names | {"hh20"}))
    print(f"{'':15} {'CPU seconds':>17} {'ratio':>9} {'target':>6} {'MB':>11} {'target':>10}  runs")
    print(f"{'':15} {'ours':>8} {'peer':>8} {'':9} {'':6} {'ours':>7} {'peer':>7}")
    rows = []
    for workload in chosen:
        rows.append(measure(workload, tasks, kairos, options.runs, options.budget))
        print_row(rows[-1])
    growth = []
    if families:
        start = in_turn([our_command(tasks / "hh20", tasks / "hh20" / "plan", "concise")], options.runs, options.budget)
        print(f"\ngrowth (the {start[0].cpu:.3f} s of 20 steps taken off)")
        for family in families:
            growth.append(measure_growth(family, tasks, start[0].cpu, options.runs, options.budget))
            print_growth(growth[-1])
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report(rows, growth, kairos), indent=1) + "\n", encoding="utf-8")
    print(f"\n{options.output}")
    missed = any(row.problems for row in rows) or any(one.exponent > GROWTH_LIMIT for one in growth)
    return 1 if missed else 0


def main() -> int:
    """Run the benchmark."""
    try:
        return run(parse_arguments())
    except BenchmarkError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
