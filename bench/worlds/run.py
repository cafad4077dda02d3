"""Measure verdicts over worlds: whole processes of safecheck with default flags, on tasks whose verdicts are known.

usage: python -m bench.worlds.run [--only SECTION ..] [--quick] [--runs 3] [--limit 60] [--wall] [--output FILE]

Times are CPU seconds (user and system) of whole processes, medians; the clock stands beside them. Targets are judged by
CPU time, or with --wall by the clock, which says something on a quiet machine alone. Run it from the root of the
repository.
Exit code 0 if every verdict was right and every target met, 1 if not.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.measure import Sample, run_once
from bench.worlds.kitchen import kitchen
from bench.worlds.orders import doors, interlock, rounds, shifts
from bench.worlds.outcomes import piles, pouring
from bench.worlds.shelves import counted, floor, pairwise
from bench.worlds.task import FILES, Task, answer_said

HERE = Path(__file__).resolve().parents[1]
TASKS = HERE / "out" / "worlds"
SAFECHECK = str(Path(sys.executable).parent / "safecheck")
SECTIONS = ("size", "naive", "growth", "outcomes", "places", "capacity", "orders", "cause")
BUDGET = 40.0
"""CPU seconds for the runs of one command; each runs once at least."""
CAUSE_MS = 50.0
"""The target for the median time of a minimal cause beyond the verdict."""


@dataclass(frozen=True)
class Timed:
    """Medians over the runs of one command, and its answer. ``beyond``: it was ended at the limit."""

    cpu: float
    wall: float
    memory: float
    runs: int
    answer: str
    beyond: bool = False


@dataclass(frozen=True)
class Row:
    """A measured task. ``problems`` are wrong answers and missed targets."""

    section: str
    name: str
    target: float | None
    timed: Timed
    expected: str
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Growth:
    """CPU time by size, start-up taken off, and the exponent fitted to it; ``None`` where too few sizes finished."""

    name: str
    sizes: tuple[int, ...]
    cpu: tuple[float | None, ...]
    exponent: float | None


class Bench:
    """What was asked for, and what was measured so far."""

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

    def ours(self, name: str, task: Task) -> Timed:
        """Safecheck with default flags."""
        folder = TASKS / name
        task.write(folder)
        domain, problem, rules, plan = [str(folder / FILES[field]) for field in ("domain", "problem", "rules", "plan")]
        files = ["--domain", domain, "--problem", problem, "--spec", rules, "--no-default-spec"]
        samples = self._samples([SAFECHECK, plan, *files])
        said = answer_said(samples[-1].output)
        return _timed(samples, str(said) if said is not None else f"exit {samples[-1].code}: {samples[-1].last_words}")

    def naive(self, name: str, task: Task) -> Timed:
        """The naive encoding, with the limit."""
        folder = TASKS / name
        task.write(folder)
        command = [sys.executable, "-m", "bench.worlds.naive", str(folder), "--limit", str(self.limit)]
        samples = self._samples(command)
        last = samples[-1]
        answer = last.output.strip() if last.code in (0, 1) and last.output else f"exit {last.code}: {last.last_words}"
        return _timed(samples, answer, last.code not in (0, 1) or not last.output)

    def _samples(self, command: Sequence[str]) -> list[Sample]:
        samples = [run_once(command, keep_output=True)]
        while len(samples) < self.runs and sum([one.cpu for one in samples]) + samples[-1].cpu <= BUDGET:
            samples.append(run_once(command, keep_output=True))
        return samples

    def row(self, section: str, name: str, task: Task, target: float | None = None) -> Timed:
        """Measure a task and print its line."""
        timed = self.ours(name, task)
        problems = []
        if timed.answer != str(task.expected):
            problems.append(f"should be {task.expected}")
        seconds = timed.wall if self.wall else timed.cpu
        if target is not None and seconds > target:
            problems.append("missed")
        row = Row(section, name, target, timed, str(task.expected), tuple(problems))
        self.rows.append(row)
        wanted = "" if target is None else f"{target:g}"
        verdict = "; ".join(problems) or ("pass" if target is not None else "right")
        print(
            f"{section:9} {name:26} {timed.cpu:8.2f} {timed.wall:8.2f} {wanted:>6} {timed.memory:6.0f} {timed.runs:4}"
            f"  {timed.answer:24} {verdict}",
            flush=True,
        )
        return timed

    # -- sections -----------------------------------------------------------------------------------------------------

    def size(self) -> None:
        """500 objects, 1,000 steps, more than 10,000 open facts; 100 objects, 100 steps."""
        for safe in (True, False):
            self.row("size", f"kitchen-100x100-{_word(safe)}", kitchen(100, 100, 500, safe=safe), 0.5)
        for safe in (True, False):
            self.row("size", f"kitchen-500x1000-{_word(safe)}", kitchen(500, 1000, 10_500, safe=safe), 5)

    def agreement(self) -> None:
        """On small tasks the naive encoding has the same answers."""
        for name, make in SMALL.items():
            for safe in (True, False):
                task = make(safe)
                ours, naive = self.ours(f"small-{name}-{_word(safe)}", task), self.naive(f"small-{name}", task)
                same = naive.answer == task.expected.headline and ours.answer == str(task.expected)
                line = {"name": name, "ours": ours.answer, "naive": naive.answer, "same": "yes" if same else "no"}
                self.agreements.append(line)
                answers = f"{ours.answer:24} {naive.answer:8} {'same' if same else 'NOT THE SAME'}"
                print(
                    f"naive     {name:26} {ours.cpu:8.2f} s, naive {naive.cpu:8.2f} s  {answers}",
                    flush=True,
                )

    def growing(self) -> None:
        """By objects at 100 steps and 5 containers, by steps at 50 objects; each against the naive encoding."""
        by_objects = (50, 100, 200) if self.quick else (50, 100, 200, 400, 800)
        by_steps = (100, 200, 400) if self.quick else (100, 200, 400, 1_000, 3_000)
        families: list[tuple[str, Sequence[int], Callable[[int, bool], Task]]] = [
            ("objects", by_objects, lambda n, safe: kitchen(n, 100, 4 * n, safe=safe, containers=5)),
            ("steps", by_steps, lambda n, safe: kitchen(50, n, 300, safe=safe)),
        ]
        for what, sizes, make in families:
            for safe in (True, False):
                tasks = {n: make(n, safe) for n in sizes}
                self._grow(f"{what}-{_word(safe)}", tasks, self._ours_again)
            self._grow(f"{what}-safe-naive", {n: make(n, True) for n in sizes}, self.naive)

    def _ours_again(self, name: str, task: Task) -> Timed:
        return self.row("growth", name, task)

    def _grow(self, name: str, tasks: dict[int, Task], measure: Callable[[str, Task], Timed]) -> None:
        """Measure sizes until one is beyond the limit."""
        small = kitchen(10, 10, 20, safe=True)
        start = (self.naive if measure == self.naive else self.ours)("start", small).cpu
        found: dict[int, float | None] = dict.fromkeys(tasks)
        for n, task in tasks.items():
            timed = measure(f"{name}-{n}", task)
            if timed.beyond:
                break
            found[n] = timed.cpu
            if measure == self.naive and timed.answer != task.expected.headline:
                self.agreements.append(
                    {"name": f"{name}-{n}", "ours": str(task.expected), "naive": timed.answer, "same": "no"}
                )
                print(f"growth    {name}-{n}: {timed.answer}, should be {task.expected.headline}: NOT THE SAME")
        net = [(n, cpu - start) for n, cpu in found.items() if cpu is not None and cpu - start > 0.05]
        exponent = fitted_exponent(net) if len(net) > 1 else None
        self.growth.append(Growth(name, tuple(found), tuple(found.values()), exponent))
        shown = "  ".join([f"{n}: {'>' + str(self.limit) if s is None else f'{s:.2f}'}" for n, s in found.items()])
        fit = "-" if exponent is None else f"{exponent:.2f}"
        print(f"growth    {name:26} exponent {fit} (start-up of {start:.2f} s taken off)  {shown}", flush=True)

    def outcomes(self) -> None:
        """Effects with outcomes at many steps."""
        for tokens in (20,) if self.quick else (20, 40, 80):
            for safe in (True, False):
                self.row("outcomes", f"piles-{tokens}-{_word(safe)}", piles(tokens, safe=safe))
        for items, steps in ((20, 100),) if self.quick else ((20, 100), (50, 200), (50, 400)):
            for safe in (True, False):
                task = pouring(items, 8, steps, spills=True, safe=safe)
                self.row("outcomes", f"spills-{items}x{steps}-{_word(safe)}", task)

    def places(self) -> None:
        """Each thing is in exactly one container, and containers are poured into each other."""
        for items, steps in ((20, 100),) if self.quick else ((20, 100), (50, 200), (100, 500)):
            for safe in (True, False):
                task = pouring(items, 10, steps, spills=False, safe=safe)
                self.row("places", f"pours-{items}x{steps}-{_word(safe)}", task)

    def capacity(self) -> None:
        """Things on shelves: too many, and just enough."""
        for make in (pairwise, counted, floor):
            for n in (10, 20) if self.quick else (10, 20, 40):
                for fits in (False, True):
                    word = "enough" if fits else "too-small"
                    self.row("capacity", f"{make.__name__}-{n}-{word}", make(n, fits=fits), 1)

    def orders(self) -> None:
        """Partially ordered plans with many writers of one fact."""
        for make in (rounds, doors, shifts, interlock):
            for size in (50, 100) if self.quick else (50, 100, 200, 400):
                for safe in (True, False):
                    name = f"{make.__name__}-{size}-{_word(safe)}"
                    self.row("orders", name, make(size, safe=safe), 10 if size <= 200 else None)

    def causes(self) -> None:
        """The minimal cause beyond the verdict, in this process."""
        from bench.worlds.cause import measure_all, summary  # what it imports would make the other children large

        rows = measure_all(20 if self.quick else 100, 0)
        self.cause = {"milliseconds": summary(rows), "target_ms": CAUSE_MS, "rows": [row._asdict() for row in rows]}
        for what, values in summary(rows).items():
            wanted = f"{CAUSE_MS:g}" if what == "cause" else ""
            met = "" if what != "cause" else "pass" if values["median"] <= CAUSE_MS else "missed"
            print(f"cause     {what:26} CPU ms {values}  target {wanted or '-'}  {met}", flush=True)

    def missed(self) -> bool:
        """Whether anything is not as it should be."""
        spans = self.cause.get("milliseconds")
        late = isinstance(spans, dict) and spans["cause"]["median"] > CAUSE_MS
        return late or any([row.problems for row in self.rows]) or any([a["same"] == "no" for a in self.agreements])


SMALL: dict[str, Callable[[bool], Task]] = {
    "kitchen": lambda safe: kitchen(30, 30, 80, safe=safe),
    "pours": lambda safe: pouring(5, 4, 20, spills=False, safe=safe),
    "spills": lambda safe: pouring(5, 4, 20, spills=True, safe=safe),
    "piles": lambda safe: piles(10, safe=safe),
    "pairwise": lambda safe: pairwise(4, fits=not safe),
}


def _word(safe: bool) -> str:
    return "safe" if safe else "unsafe"


def _timed(samples: Sequence[Sample], answer: str, beyond: bool = False) -> Timed:
    return Timed(
        statistics.median([one.cpu for one in samples]),
        statistics.median([one.wall for one in samples]),
        statistics.median([one.memory for one in samples]),
        len(samples),
        answer,
        beyond,
    )


def fitted_exponent(points: Sequence[tuple[int, float]]) -> float:
    """The slope of log seconds over log size, by least squares."""
    return statistics.linear_regression([math.log(n) for n, _ in points], [math.log(s) for _, s in points]).slope


def machine() -> dict[str, object]:
    """What it ran on, and how busy that was."""
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
    """Options of the command line."""
    parser = argparse.ArgumentParser(description="Measure verdicts over worlds.")
    parser.add_argument("--only", nargs="+", metavar="SECTION", choices=SECTIONS, help=", ".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="small sizes, one run each")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command (default 3)")
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds for the naive encoding (default 60)")
    parser.add_argument("--wall", action="store_true", help="judge targets by the clock (on a quiet machine)")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "worlds.json", help="where the JSON goes")
    return parser.parse_args()


def main() -> int:
    """Run the benchmark."""
    options = parse_arguments()
    bench = Bench(options)
    before = machine()
    print(f"{before['processor']}, {before['cores']} cores, load {os.getloadavg()[0]:.1f}, Python {before['python']}")
    print(f"{'':9} {'':26} {'CPU s':>8} {'clock':>8} {'target':>6} {'MB':>6} runs  answer")
    sections = dict(
        zip(
            SECTIONS,
            (
                bench.size,
                bench.agreement,
                bench.growing,
                bench.outcomes,
                bench.places,
                bench.capacity,
                bench.orders,
                bench.causes,
            ),
            strict=True,
        )
    )
    for name, measure in sections.items():
        if options.only is None or name in options.only:
            measure()
    found = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": before,
        "quick": bench.quick,
        "naive_limit_s": bench.limit,
        "rows": [asdict(row) for row in bench.rows],
        "naive": bench.agreements,
        "growth": [asdict(one) for one in bench.growth],
        "cause": bench.cause,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"\n{options.output}")
    return 1 if bench.missed() else 0


if __name__ == "__main__":
    sys.exit(main())
