"""Measure verdicts over possible worlds: whole safecheck processes with default options, tasks with known verdicts.

usage: python -m bench.worlds.run [--only SECTION ..] [--quick] [--runs 3] [--limit 60] [--wall] [--output FILE]

Times are median CPU seconds (user and system) of whole processes; wall-clock seconds are printed next to them. Targets
apply to CPU time, or with --wall to wall-clock time, which is meaningful only on an idle machine. Run it from the root
of the repository. Exit code 0 if every verdict is correct and every target is met, else 1.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.measure import Sample, fit_exponent, run_once
from bench.worlds.kitchen import kitchen_task
from bench.worlds.orders import doors_task, interlock_task, rounds_task, shifts_task
from bench.worlds.outcomes import piles_task, pouring_task
from bench.worlds.shelves import counted_task, floor_task, pairwise_task
from bench.worlds.task import FILES, Task, parse_answer

HERE = Path(__file__).resolve().parents[1]
TASKS = HERE / "out" / "worlds"
SAFECHECK = str(Path(sys.executable).parent / "safecheck")
SECTIONS = ("size", "naive", "growth", "outcomes", "places", "capacity", "orders", "cause")
BUDGET = 40.0
"""CPU seconds for all runs of one command; each command runs at least once."""
CAUSE_MS = 50.0
"""Target for the median time of a minimal cause, without the verdict."""


@dataclass(frozen=True)
class Timed:
    """Medians over the runs of one command, and its answer. ``beyond``: it reached the limit."""

    cpu: float
    wall: float
    memory: float
    runs: int
    answer: str
    beyond: bool = False


@dataclass(frozen=True)
class Row:
    """A measured task. ``problems`` are wrong verdicts and missed targets."""

    section: str
    name: str
    target: float | None
    timed: Timed
    expected: str
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Growth:
    """CPU time by size, and the exponent fitted to it without start-up time; ``None`` if too few sizes finished."""

    name: str
    sizes: tuple[int, ...]
    cpu: tuple[float | None, ...]
    exponent: float | None


class Bench:
    """The options, and the measurements of the sections that have run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.quick: bool = options.quick
        self.runs: int = 1 if options.quick else options.runs
        self.limit: int = min(options.limit, 10) if options.quick else options.limit
        self.wall: bool = options.wall
        self.rows: list[Row] = []
        self.growth: list[Growth] = []
        self.agreements: list[dict[str, str]] = []
        self.cause: dict[str, object] = {}

    # -- single tasks -------------------------------------------------------------------------------------------------

    def measure_safecheck(self, name: str, task: Task) -> Timed:
        """Measure safecheck with default options."""
        folder = TASKS / name
        task.write(folder)
        domain, problem, rules, plan = [str(folder / FILES[field]) for field in ("domain", "problem", "rules", "plan")]
        files = ["--domain", domain, "--problem", problem, "--spec", rules, "--no-default-spec"]
        samples = self._run_samples([SAFECHECK, plan, *files])
        parsed_answer = parse_answer(samples[-1].output)
        last = samples[-1]
        answer = str(parsed_answer) if parsed_answer is not None else f"exit {last.code}: {last.last_words}"
        return _summarize_runs(samples, answer)

    def measure_naive(self, name: str, task: Task) -> Timed:
        """Measure the naive encoding with its limit."""
        folder = TASKS / name
        task.write(folder)
        command = [sys.executable, "-m", "bench.worlds.naive", str(folder), "--limit", str(self.limit)]
        samples = self._run_samples(command)
        last = samples[-1]
        answer = last.output.strip() if last.code in (0, 1) and last.output else f"exit {last.code}: {last.last_words}"
        return _summarize_runs(samples, answer, last.code not in (0, 1) or not last.output)

    def _run_samples(self, command: Sequence[str]) -> list[Sample]:
        samples = [run_once(command, keep_output=True)]
        while len(samples) < self.runs and sum([sample.cpu for sample in samples]) + samples[-1].cpu <= BUDGET:
            samples.append(run_once(command, keep_output=True))
        return samples

    def measure_row(self, section: str, name: str, task: Task, target: float | None = None) -> Timed:
        """Measure a task and print its line."""
        timed = self.measure_safecheck(name, task)
        problems = []
        if timed.answer != str(task.expected):
            problems.append(f"should be {task.expected}")
        seconds = timed.wall if self.wall else timed.cpu
        if target is not None and seconds > target:
            problems.append("missed")
        row = Row(section, name, target, timed, str(task.expected), tuple(problems))
        self.rows.append(row)
        target_text = "" if target is None else f"{target:g}"
        verdict = "; ".join(problems) or ("pass" if target is not None else "right")
        print(
            f"{section:9} {name:26} {timed.cpu:8.2f} {timed.wall:8.2f} {target_text:>6} {timed.memory:6.0f}"
            f" {timed.runs:4}  {timed.answer:24} {verdict}",
            flush=True,
        )
        return timed

    # -- sections -----------------------------------------------------------------------------------------------------

    def size(self) -> None:
        """500 objects, 1,000 steps, more than 10,000 open facts; 100 objects, 100 steps."""
        for safe in (True, False):
            self.measure_row(
                "size", f"kitchen-100x100-{_safety_word(safe)}", kitchen_task(100, 100, 500, safe=safe), 0.5
            )
        for safe in (True, False):
            self.measure_row(
                "size", f"kitchen-500x1000-{_safety_word(safe)}", kitchen_task(500, 1000, 10_500, safe=safe), 5
            )

    def compare_naive(self) -> None:
        """Compare the verdicts with the naive encoding on small tasks."""
        for name, make_task in SMALL.items():
            for safe in (True, False):
                task = make_task(safe)
                ours, naive = (
                    self.measure_safecheck(f"small-{name}-{_safety_word(safe)}", task),
                    self.measure_naive(f"small-{name}", task),
                )
                agree = naive.answer == task.expected.headline and ours.answer == str(task.expected)
                line = {"name": name, "ours": ours.answer, "naive": naive.answer, "same": "yes" if agree else "no"}
                self.agreements.append(line)
                answers = f"{ours.answer:24} {naive.answer:8} {'same' if agree else 'NOT THE SAME'}"
                print(
                    f"naive     {name:26} {ours.cpu:8.2f} s, naive {naive.cpu:8.2f} s  {answers}",
                    flush=True,
                )

    def growth_by_size(self) -> None:
        """Growth by objects (100 steps, 5 containers) and by steps (50 objects), also of the naive encoding."""
        by_objects = (50, 100, 200) if self.quick else (50, 100, 200, 400, 800)
        by_steps = (100, 200, 400) if self.quick else (100, 200, 400, 1_000, 3_000)
        families: list[tuple[str, Sequence[int], Callable[[int, bool], Task]]] = [
            ("objects", by_objects, lambda n, safe: kitchen_task(n, 100, 4 * n, safe=safe, containers=5)),
            ("steps", by_steps, lambda n, safe: kitchen_task(50, n, 300, safe=safe)),
        ]
        for parameter, sizes, make_task in families:
            for safe in (True, False):
                tasks = {n: make_task(n, safe) for n in sizes}
                self._measure_growth(f"{parameter}-{_safety_word(safe)}", tasks, self._measure_growth_row)
            self._measure_growth(f"{parameter}-safe-naive", {n: make_task(n, True) for n in sizes}, self.measure_naive)

    def _measure_growth_row(self, name: str, task: Task) -> Timed:
        return self.measure_row("growth", name, task)

    def _measure_growth(self, name: str, tasks: dict[int, Task], measure: Callable[[str, Task], Timed]) -> None:
        """Measure sizes until one reaches the limit."""
        small_task = kitchen_task(10, 10, 20, safe=True)
        start_time = (self.measure_naive if measure == self.measure_naive else self.measure_safecheck)(
            "start", small_task
        ).cpu
        cpu_by_size: dict[int, float | None] = dict.fromkeys(tasks)
        for size, task in tasks.items():
            timed = measure(f"{name}-{size}", task)
            if timed.beyond:
                break
            cpu_by_size[size] = timed.cpu
            if measure == self.measure_naive and timed.answer != task.expected.headline:
                self.agreements.append(
                    {"name": f"{name}-{size}", "ours": str(task.expected), "naive": timed.answer, "same": "no"}
                )
                print(f"growth    {name}-{size}: {timed.answer}, should be {task.expected.headline}: NOT THE SAME")
        points = [
            (size, cpu - start_time) for size, cpu in cpu_by_size.items() if cpu is not None and cpu - start_time > 0.05
        ]
        exponent = fit_exponent(points) if len(points) > 1 else None
        self.growth.append(Growth(name, tuple(cpu_by_size), tuple(cpu_by_size.values()), exponent))
        times_text = "  ".join(
            [
                f"{size}: {'>' + str(self.limit) if seconds is None else f'{seconds:.2f}'}"
                for size, seconds in cpu_by_size.items()
            ]
        )
        exponent_text = "-" if exponent is None else f"{exponent:.2f}"
        print(
            f"growth    {name:26} exponent {exponent_text} (start-up of {start_time:.2f} s subtracted)  {times_text}",
            flush=True,
        )

    def outcomes(self) -> None:
        """Nondeterministic effects at many steps."""
        for tokens in (20,) if self.quick else (20, 40, 80):
            for safe in (True, False):
                self.measure_row("outcomes", f"piles-{tokens}-{_safety_word(safe)}", piles_task(tokens, safe=safe))
        for items, steps in ((20, 100),) if self.quick else ((20, 100), (50, 200), (50, 400)):
            for safe in (True, False):
                task = pouring_task(items, 8, steps, spills=True, safe=safe)
                self.measure_row("outcomes", f"spills-{items}x{steps}-{_safety_word(safe)}", task)

    def places(self) -> None:
        """Each item is in exactly one container, and containers are poured into each other."""
        for items, steps in ((20, 100),) if self.quick else ((20, 100), (50, 200), (100, 500)):
            for safe in (True, False):
                task = pouring_task(items, 10, steps, spills=False, safe=safe)
                self.measure_row("places", f"pours-{items}x{steps}-{_safety_word(safe)}", task)

    def capacity(self) -> None:
        """Objects on shelves: one too many, and just enough."""
        for make_task in (pairwise_task, counted_task, floor_task):
            for n in (10, 20) if self.quick else (10, 20, 40):
                for fits in (False, True):
                    size_word = "enough" if fits else "too-small"
                    self.measure_row("capacity", f"{_family(make_task)}-{n}-{size_word}", make_task(n, fits=fits), 1)

    def orders(self) -> None:
        """Partially ordered plans in which many steps write the same fact."""
        for make_task in (rounds_task, doors_task, shifts_task, interlock_task):
            for size in (50, 100) if self.quick else (50, 100, 200, 400):
                for safe in (True, False):
                    name = f"{_family(make_task)}-{size}-{_safety_word(safe)}"
                    self.measure_row("orders", name, make_task(size, safe=safe), 10 if size <= 200 else None)

    def causes(self) -> None:
        """The time of the minimal cause after the verdict, in this process."""
        # Imported here, because its imports would raise the measured memory of the other sections.
        from bench.worlds.cause import measure_all, summarize

        rows = measure_all(20 if self.quick else 100, 0)
        self.cause = {"milliseconds": summarize(rows), "target_ms": CAUSE_MS, "rows": [row._asdict() for row in rows]}
        for phase, phase_statistics in summarize(rows).items():
            target_text = f"{CAUSE_MS:g}" if phase == "cause" else ""
            outcome = "" if phase != "cause" else "pass" if phase_statistics["median"] <= CAUSE_MS else "missed"
            print(f"cause     {phase:26} CPU ms {phase_statistics}  target {target_text or '-'}  {outcome}", flush=True)

    def has_problems(self) -> bool:
        """True if a verdict is wrong or a target is missed."""
        milliseconds = self.cause.get("milliseconds")
        cause_is_late = isinstance(milliseconds, dict) and milliseconds["cause"]["median"] > CAUSE_MS
        return (
            cause_is_late
            or any([row.problems for row in self.rows])
            or any([agreement["same"] == "no" for agreement in self.agreements])
        )


SMALL: dict[str, Callable[[bool], Task]] = {
    "kitchen": lambda safe: kitchen_task(30, 30, 80, safe=safe),
    "pours": lambda safe: pouring_task(5, 4, 20, spills=False, safe=safe),
    "spills": lambda safe: pouring_task(5, 4, 20, spills=True, safe=safe),
    "piles": lambda safe: piles_task(10, safe=safe),
    "pairwise": lambda safe: pairwise_task(4, fits=not safe),
}


def _family(make_task: Callable[..., Task]) -> str:
    return make_task.__name__.removesuffix("_task")


def _safety_word(safe: bool) -> str:
    return "safe" if safe else "unsafe"


def _summarize_runs(samples: Sequence[Sample], answer: str, beyond: bool = False) -> Timed:
    return Timed(
        statistics.median([sample.cpu for sample in samples]),
        statistics.median([sample.wall for sample in samples]),
        statistics.median([sample.memory for sample in samples]),
        len(samples),
        answer,
        beyond,
    )


def machine_information() -> dict[str, object]:
    """The machine and its load."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": next(_processors(), platform.processor()),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
    }


def _processors() -> Iterator[str]:
    path = Path("/proc/cpuinfo")
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        if line.startswith("model name"):
            yield line.partition(":")[2].strip()


def parse_arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="Measure verdicts over possible worlds.")
    parser.add_argument(
        "--only", nargs="+", metavar="SECTION", choices=SECTIONS, help=f"Measure only these: {', '.join(SECTIONS)}."
    )
    parser.add_argument("--quick", action="store_true", help="Measure small sizes, one run each.")
    parser.add_argument("--runs", type=int, default=3, help="Number of runs of each command (default 3).")
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds for the naive encoding (default 60).")
    parser.add_argument(
        "--wall", action="store_true", help="Compare targets with wall-clock time (on an idle machine)."
    )
    parser.add_argument(
        "--output", type=Path, default=HERE / "results" / "worlds.json", help="Write the JSON to this file."
    )
    return parser.parse_args()


def main() -> int:
    """Run the benchmark."""
    options = parse_arguments()
    bench = Bench(options)
    machine_info = machine_information()
    load = os.getloadavg()[0]
    print(
        f"{machine_info['processor']}, {machine_info['cores']} cores, load {load:.1f}, Python {machine_info['python']}"
    )
    print(f"{'':9} {'':26} {'CPU s':>8} {'clock':>8} {'target':>6} {'MB':>6} runs  answer")
    sections = dict(
        zip(
            SECTIONS,
            (
                bench.size,
                bench.compare_naive,
                bench.growth_by_size,
                bench.outcomes,
                bench.places,
                bench.capacity,
                bench.orders,
                bench.causes,
            ),
            strict=True,
        )
    )
    for name, measure_section in sections.items():
        if options.only is None or name in options.only:
            measure_section()
    results = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": machine_info,
        "quick": bench.quick,
        "naive_limit_s": bench.limit,
        "rows": [asdict(row) for row in bench.rows],
        "naive": bench.agreements,
        "growth": [asdict(growth) for growth in bench.growth],
        "cause": bench.cause,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"\n{options.output}")
    return 1 if bench.has_problems() else 0


if __name__ == "__main__":
    sys.exit(main())
