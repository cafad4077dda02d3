"""Do the tests see a change of meaning? Draw mutants of the engine and run the tests that reach each one.

    python tests/engine_mutants/run.py lines -o FOLDER               record which test runs which line
    python tests/engine_mutants/run.py test -o FOLDER --minutes 10   test mutants; the same call continues
    python tests/engine_mutants/run.py report -o FOLDER              the table, and the survivors

`lines` needs the package `coverage`.

A mutant is *killed* if a test fails that passes without it (each is run again without it), if the tests do not end
within the limit, or if mypy refuses it. `equivalent.txt` has a line for each survivor that cannot change any result:
the change, a tab, the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mutants import Mutant, draw

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
VERIFIER = "verifier/plansafe/verifier"
PACKAGES = tuple([f"{VERIFIER}/{name}" for name in ("execution", "rules", "elaborate", "symbolic", "repair")])
EQUIVALENT = HERE / "equivalent.txt"
SELECTED = "not whole"
"""The tests that are recorded and run, as a pytest marker expression."""
STAGES = (15.0, 120.0)
"""CPU seconds of tests, as measured without a mutant: the quickest tests first, then more of them."""
MAX_UNSTABLE = 5
"""The maximum number of tests of a mutant that also fail without it."""
PER_FILE = 6
"""In the first stage, the maximum number of tests of a file: different files see different things."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["lines", "test", "report"])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--tests", nargs="*", default=["tests"], help="record these tests only")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if options.command == "lines":
        return record_lines(options.output, options.tests, options.jobs)
    mutants = draw(ROOT, PACKAGES, options.count, options.seed)
    if options.command == "test":
        test_mutants(options.output, mutants, options.jobs, options.minutes)
    return report(options.output, mutants)


def record_lines(output: Path, tests: list[str], jobs: int) -> int:
    """Run the tests with `coverage`, and write the tests of each line and the seconds of each test.

    Slow tests are included, because most random comparisons are slow.
    """
    junit, data = output / "junit.xml", output / "coverage"
    for old in output.glob("coverage.*"):
        old.unlink()
    folders = ":".join([str(ROOT / package) for package in PACKAGES])
    flags = ["-q", "-n", str(jobs), f"--junitxml={junit}", "-m", SELECTED]
    environment = {"PLANSAFE_COVERAGE": str(data), "PLANSAFE_PACKAGES": folders}
    _pytest([*flags, *tests], environment).wait()
    numbers: dict[str, int] = {}
    lines: dict[str, dict[int, list[int]]] = {}
    from coverage import CoverageData

    for part in sorted(output.glob("coverage.*")):
        recorded = CoverageData(str(part))
        recorded.read()
        for file in recorded.measured_files():
            of_file = lines.setdefault(str(Path(file).relative_to(ROOT)), {})
            for line, names in recorded.contexts_by_lineno(file).items():
                of_line = of_file.setdefault(line, [])
                of_line.extend([numbers.setdefault(name, len(numbers)) for name in names if name])
    content = {"tests": list(numbers), "lines": lines, "seconds": _seconds(junit)}
    (output / "lines.json").write_text(json.dumps(content))
    return 0


def _seconds(junit: Path) -> dict[str, float]:
    """The seconds of each test. A test is named by its file and function as pytest prints them, without parameters."""
    from xml.etree import ElementTree

    return {
        f"{case.get('classname')}::{case.get('name')}": float(case.get("time") or 0)
        for case in ElementTree.parse(junit).iter("testcase")
    }


class Coverage:
    """The tests that reach a mutant, quickest first."""

    def __init__(self, output: Path) -> None:
        content = json.loads((output / "lines.json").read_text())
        self._tests: list[str] = content["tests"]
        self._lines: dict[str, dict[str, list[int]]] = content["lines"]
        self._seconds: dict[str, float] = content["seconds"]

    def seconds(self, test: str) -> float:
        """Return the CPU time of a test, by its name in coverage (a node id)."""
        file, _, name = test.partition("::")
        return self._seconds.get(f"{file.removesuffix('.py').replace('/', '.')}::{name}", 1.0)

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that run a line of the mutant; if it runs only at import, all tests of the module."""
        lines = self._lines.get(mutant.path, {})
        of_lines = [lines.get(str(line), []) for line in range(mutant.line, mutant.last + 1)]
        names = {self._tests[number] for numbers in of_lines for number in numbers}
        return sorted(names, key=lambda name: (self.seconds(name), name))


def test_mutants(output: Path, mutants: list[Mutant], jobs: int, minutes: float) -> None:
    """Test the mutants that have no result yet, until the time is over."""
    ends = time.monotonic() + 60 * minutes
    results, coverage = _results(output), Coverage(output)
    waiting = [mutant for mutant in mutants if mutant.name not in results]
    with (output / "results.jsonl").open("a") as file, ThreadPoolExecutor(jobs) as pool:

        def test_mutant(mutant: Mutant) -> None:
            if time.monotonic() < ends:
                record = _test(mutant, coverage)
                file.write(json.dumps(record) + "\n")
                file.flush()
                print(record["outcome"], mutant.name, flush=True)

        list(pool.map(test_mutant, waiting))


def _test(mutant: Mutant, coverage: Coverage) -> dict[str, Any]:
    tests = coverage.tests(mutant)
    record: dict[str, Any] = {"mutant": mutant.name, "package": mutant.path.split("/")[3], "tests": len(tests)}
    if not tests:
        return {**record, "outcome": "not reached"}
    with tempfile.TemporaryDirectory() as folder:
        mutated = Path(folder, "mutated.py")
        mutated.write_text(mutant.source((ROOT / mutant.path).read_text()))
        environment = {"PLANSAFE_MUTANT": f"{ROOT / mutant.path}:{mutated}"}
        done: set[str] = set()
        for limit in STAGES:
            chosen = _chosen([test for test in tests if test not in done], coverage.seconds, limit, limit == STAGES[0])
            done.update(chosen)
            outcome, test = (
                _outcome(chosen, environment, 4 * limit + 60, Path(folder, "failed")) if chosen else (None, "")
            )
            if outcome is not None:
                return {**record, "outcome": outcome, "run": len(done), "test": test}
        outcome = "killed by types" if _refused_by_mypy(mutant, mutated) else "survived"
        return {**record, "outcome": outcome, "run": len(done)}


def _chosen(tests: Iterable[str], seconds: Callable[[str], float], limit: float, spread: bool) -> list[str]:
    chosen: list[str] = []
    files: Counter[str] = Counter()
    total = 0.0
    for test in tests:
        file = test.partition("::")[0]
        if spread and files[file] >= PER_FILE:
            continue
        total += seconds(test)
        if chosen and total > limit:
            break
        files[file] += 1
        chosen.append(test)
    return chosen


def _outcome(tests: list[str], environment: dict[str, str], limit: float, failed: Path) -> tuple[str | None, str]:
    """``killed`` and the failed test; ``killed by time`` if the CPU time is over; None if no test sees the mutant.

    A test that also fails without the mutant does not see it: the tests are run again without that test.
    """
    for _ in range(MAX_UNSTABLE):
        failed.unlink(missing_ok=True)
        environment = {**environment, "PLANSAFE_FAILED": str(failed)}
        code = _pytest(["-q", "-x", "--no-header", "-m", SELECTED, *tests], environment, limit).wait()
        if code == 0:
            return None, ""
        if code < 0:
            return "killed by time", ""
        if not failed.exists():
            return "killed", "import"
        test = failed.read_text(encoding="utf-8")
        if _pytest(["-q", "--no-header", "-m", SELECTED, test], {}, limit).wait() == 0:
            return "killed", test
        print("fails without a mutant:", test, flush=True)
        tests = [name for name in tests if name not in (test, test.partition("[")[0])]
        if not tests:
            return None, ""
    return None, ""


def _pytest(flags: list[str], environment: dict[str, str], limit: float | None = None) -> subprocess.Popen[bytes]:
    plugins = ["-p", "mutation_plugin", "-p", "no:cacheprovider"]
    if limit is not None:
        environment = {**environment, "PLANSAFE_CPU_SECONDS": str(int(limit))}
    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", *plugins, *flags],
        cwd=ROOT,
        env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=None if limit is None else subprocess.DEVNULL,
        stderr=None if limit is None else subprocess.DEVNULL,
    )


def _refused_by_mypy(mutant: Mutant, mutated: Path) -> bool:
    """Whether mypy reports an error in the mutated module."""
    mypy = shutil.which("mypy", path=str(Path(sys.executable).parent)) or "mypy"
    shadow = ["--shadow-file", str(ROOT / mutant.path), str(mutated), "--cache-dir", str(mutated.parent / "cache")]
    command = [mypy, *shadow, "--follow-imports=silent", str(ROOT / mutant.path)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 1


def _results(output: Path) -> dict[str, dict[str, Any]]:
    path = output / "results.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {record["mutant"]: record for record in map(json.loads, lines)}


def report(output: Path, mutants: list[Mutant]) -> int:
    """Print the table by package and the unexplained survivors; return 1 if less than 90 % of the others is killed."""
    results = _results(output)
    reasons = dict([line.split("\t", 1) for line in EQUIVALENT.read_text().splitlines()])
    table: dict[str, Counter[str]] = {}
    survivors = []
    for mutant in mutants:
        if mutant.name not in results:
            continue
        outcome = results[mutant.name]["outcome"].split(" by ")[0]
        if outcome != "killed":
            outcome = "equivalent" if mutant.change in reasons else outcome
            survivors += [mutant.name] if mutant.change not in reasons else []
        for package in (results[mutant.name]["package"], "all"):
            table.setdefault(package, Counter())[outcome] += 1
    print("| package | mutants | killed | equivalent | survived | not reached |\n|---|---|---|---|---|---|")
    for package, counts in sorted(table.items(), key=lambda row: row[0] == "all"):
        row = [counts[outcome] for outcome in ("killed", "equivalent", "survived", "not reached")]
        print("|", " | ".join([package, *map(str, [counts.total(), *row])]), "|")
    print("\n".join(survivors))
    totals = table.get("all", Counter())
    return 0 if totals["killed"] >= 0.9 * (totals.total() - totals["equivalent"]) else 1


if __name__ == "__main__":
    sys.exit(main())
