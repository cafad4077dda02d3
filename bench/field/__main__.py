"""Run the comparisons with published benchmarks, and write the table of bench/results/field.md.

usage: python -m bench.field [NAME ..] [--eai PYTHON] [--write]

Needs the folder of public data sets (``PLANSAFE_DATA``). ``--eai`` is the Python of an environment with ``eai-eval``
1.0.5 (bench/results/eai.md), without which its rows are skipped. ``--write`` replaces the rows of the benchmarks that
were run. Exit codes: 0; 1 if a command fails, which it does for a difference without an explanation; 2 without data.
"""

from __future__ import annotations

import argparse
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from bench.data_sets import DATA_SETS
from bench.field.planbench import describe_commit

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "bench" / "results" / "field.md"
HEADER = ["| benchmark | items | agree | differences | CPU s | command |", "|---|---|---|---|---|---|"]


class Benchmark(NamedTuple):
    """A comparison.

    ``patterns``: expressions whose groups named ``items`` and ``agree`` match numbers in the output; several matches of
    a name are added. ``explanation``: the page that explains every difference.
    """

    title: str
    data: str
    command: str
    patterns: tuple[str, ...]
    explanation: str


BENCHMARKS = {
    "planbench": Benchmark(
        "PlanBench: plans with VAL's verdict",
        "planbench",
        "python -m bench.field.planbench",
        (r"^(?P<agree>\d+) of (?P<items>\d+) plans have VAL's verdict",),
        "planbench.md",
    ),
    "acpbench": Benchmark(
        "ACPBench-Hard: answers that are right by the definition",
        "acpbench",
        "python -m bench.field.acpbench",
        (r"^\| all \| (?P<items>\d+) \| (?P<agree>\d+) \|",),
        "#acpbench-hard",
    ),
    "virtualhome": Benchmark(
        "VirtualHome gold scripts: executed as by the public executor",
        "eai-virtualhome",
        "python tests/domains/virtualhome/run_oracle.py",
        (r"^gold scripts +(?P<items>\d+)", r"^both execute +(?P<agree>\d+)", r"^both stop at .* (?P<agree>\d+)$"),
        "virtualhome.md",
    ),
    "behavior-activities": Benchmark(
        "BEHAVIOR: activities that are read without a diagnostic",
        "bddl-behavior1k",
        "python tests/domains/behavior/run_activities.py",
        (r"^(?P<items>\d+) activities, (?P<differ>\d+) not read",),
        "behavior.md",
    ),
    "behavior-people": Benchmark(
        "BEHAVIOR: sequences of people that are VALID",
        "eai-behavior",
        "python tests/domains/behavior/run_human.py",
        (r"^(?P<items>\d+) sequences, .* (?P<agree>\d+) VALID",),
        "behavior.md",
    ),
    "safety-chip": Benchmark(
        "Safety Chip: programs with the published label",
        "safety-chip-ltl",
        "python tests/domains/safety_chip/run_agreement.py",
        (r"^\| all \| (?P<items>\d+) \| (?P<agree>\d+) ",),
        "safety-chip-agreement.md",
    ),
    "eai-goals": Benchmark(
        "Embodied Agent Interface: goal interpretation, counts of `eai-eval`",
        "eai-virtualhome",
        "python -m bench.eai.goals --count 20 --python {eai}",
        (r"^(?P<items>\d+) answers to", r"^ *(?P<agree>\d+)  the same"),
        "eai.md",
    ),
    "eai-transitions": Benchmark(
        "Embodied Agent Interface: transition modeling, verdicts of `eai-eval`",
        "eai-virtualhome",
        "python -m bench.eai.transitions --count 20 --python {eai}",
        (r"^(?P<items>\d+) sides of actions", r"^ *(?P<agree>\d+)  the same"),
        "eai.md",
    ),
}


def measure_children() -> float:
    """The CPU time of all processes that have ended, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def count(benchmark: Benchmark, output: str) -> dict[str, int]:
    """The numbers of items and of items that agree. Raises ``ValueError`` if the output does not have them."""
    counts: dict[str, int] = {}
    for pattern in benchmark.patterns:
        for match in re.finditer(pattern, output, re.MULTILINE):
            for name, number in match.groupdict().items():
                counts[name] = counts.get(name, 0) + int(number)
    if "differ" in counts:
        counts["agree"] = counts["items"] - counts["differ"]
    if not {"items", "agree"} <= counts.keys():
        raise ValueError(f"the output of `{benchmark.command}` has changed: {output[:300]}")
    return counts


def format_row(benchmark: Benchmark, counts: dict[str, int], seconds: float, commit: str) -> str:
    """The row of a benchmark in the table."""
    differ = counts["items"] - counts["agree"]
    explained = f"{differ}, explained in [{benchmark.explanation.strip('#')}]({benchmark.explanation})"
    command = benchmark.command.format(eai="EAI")
    cells = [benchmark.title, counts["items"], counts["agree"], explained if differ else "0"]
    return "| " + " | ".join([str(cell) for cell in [*cells, f"{seconds:.0f}{commit}", f"`{command}`"]]) + " |"


def write_rows(page: Path, rows: dict[str, str]) -> None:
    """Replace the rows of the table by their benchmarks' titles; a row that is missing is added."""
    before, _, table = page.read_text(encoding="utf-8").partition(HEADER[0] + "\n")
    lines = table.splitlines()
    end = next(number for number, line in enumerate(lines) if not line.startswith("|"))
    old_rows = {line.split(" | ")[0].removeprefix("| "): line for line in lines[1:end]}
    merged = old_rows | rows
    ordered = [merged[b.title] for b in BENCHMARKS.values() if b.title in merged]
    page.write_text("\n".join([before.rstrip("\n"), "", *HEADER, *ordered, *lines[end:]]) + "\n", encoding="utf-8")


def main() -> int:
    """Run the benchmarks and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"Run only these: {', '.join(BENCHMARKS)}.")
    parser.add_argument("--eai", metavar="PYTHON", help="Run the rows that need `eai-eval` with this Python.")
    parser.add_argument("--write", action="store_true", help=f"Replace the rows in {PAGE.relative_to(ROOT)}.")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark: {', '.join(unknown)}; the names are {', '.join(BENCHMARKS)}")
    if not DATA_SETS.is_dir():
        print(f"no data at {DATA_SETS} (set PLANSAFE_DATA)", file=sys.stderr)
        return 2
    rows: dict[str, str] = {}
    code = 0
    for name in options.names or BENCHMARKS:
        benchmark = BENCHMARKS[name]
        if not (DATA_SETS / benchmark.data).is_dir():
            print(f"{name}: skipped, no data set {benchmark.data}", file=sys.stderr)
            continue
        if "{eai}" in benchmark.command and not options.eai:
            print(f"{name}: skipped, needs --eai", file=sys.stderr)
            continue
        _, *arguments = shlex.split(benchmark.command.format(eai=options.eai))
        before = measure_children()
        process = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        seconds = measure_children() - before
        if process.returncode:
            print(f"{name}: exit code {process.returncode}\n{process.stdout}{process.stderr}", file=sys.stderr)
            code = 1
            continue
        rows[benchmark.title] = format_row(benchmark, count(benchmark, process.stdout), seconds, describe_commit())
    print("\n".join([*HEADER, *rows.values()]))
    if options.write:
        write_rows(PAGE, rows)
    return code


if __name__ == "__main__":
    sys.exit(main())
