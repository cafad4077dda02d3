"""Fuzz safecheck with mutated files, in worker processes that may crash. ``make fuzz`` runs 20,000 inputs.

    run.py [--count 20000] [--seed 1] [--seconds 0] [--data FOLDER] [--out FOLDER] [--only NUMBER] [--no-reduce]

Input NUMBER of a seed is always the same. Exits with 1 if any input has a problem.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

from fuzz_check import check_case, run_command
from fuzz_corpus import PARTS, Case, default_data, load_cases
from fuzz_mutation import mutate_case
from fuzz_reduce import reduce

SILENCE = 30.0  # seconds without output after which a worker counts as hanging
MEMORY = 6 << 30
COMMAND_INTERVAL = 66  # the command runs on 304 of 20,000 inputs


def generate(cases: list[Case], seed: int, number: int) -> tuple[Case, str]:
    """Return input ``number`` of a seed, and the names of its mutations."""
    return mutate_case(cases, Random(f"{seed}:{number}"))


def check_inputs(options: argparse.Namespace, start: int) -> None:
    """Check the inputs from ``start`` on; print a line of JSON before and after each."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    cases = load_cases(options.data)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(start, options.count):
            print(json.dumps({"start": number}), flush=True)
            case, how = generate(cases, options.seed, number)
            outcome = check_case(case)
            problems = list(outcome.problems)
            with_command = number % COMMAND_INTERVAL == 0
            if with_command and not problems:
                problems += run_command(case, Path(folder), outcome)
            line = {
                "number": number,
                "code": outcome.code,
                "seconds": outcome.seconds,
                "kernel": outcome.kernel,
                "how": how,
            }
            line |= {"problems": problems, "command": with_command, "case": case.name}
            print(json.dumps(line), flush=True)


def run_workers(options: argparse.Namespace) -> tuple[list[dict[str, Any]], list[tuple[int, str]]]:
    """Run workers until all inputs are checked; return the results, and the inputs at which a worker died or hung."""
    results: list[dict[str, Any]] = []
    deaths: list[tuple[int, str]] = []
    start, started_at = 0, time.monotonic()
    arguments = [f"--seed={options.seed}", f"--count={options.count}", f"--data={options.data}"]
    while start < options.count:
        worker = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", __file__, f"--worker={start}", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert worker.stdout is not None and worker.stderr is not None
        os.set_blocking(worker.stdout.fileno(), False)
        os.set_blocking(worker.stderr.fileno(), False)
        buffer, current, last_output, hung, errors = b"", start, time.monotonic(), False, b""
        while True:
            ready, _, _ = select.select([worker.stdout, worker.stderr], [], [], 1.0)
            errors += (worker.stderr.read() or b"") if worker.stderr in ready else b""
            chunk = worker.stdout.read() if worker.stdout in ready else None
            if chunk:
                last_output = time.monotonic()
                *lines, buffer = (buffer + chunk).split(b"\n")
                for line in map(json.loads, lines):
                    if "start" in line:
                        current = line["start"]
                    else:
                        results.append(line)
                        _progress(len(results), options.count)
            elif chunk == b"" and worker.poll() is not None:
                break
            hung = time.monotonic() - last_output > SILENCE
            if hung or (options.seconds and time.monotonic() - started_at > options.seconds):
                worker.kill()
                worker.wait()
                break
        if options.seconds and time.monotonic() - started_at > options.seconds:
            break
        if hung or worker.returncode != 0:
            why = "silent" if hung else f"worker died with {worker.returncode}"
            deaths.append((current, f"{why}\n{errors.decode(errors='replace')[-1500:]}"))
        start = current + 1
    return results, deaths


def _progress(done: int, count: int) -> None:
    if sys.stderr.isatty() and done % 50 == 0:
        print(f"\r{done}/{count}", end="", file=sys.stderr)


def report(options: argparse.Namespace, results: list[dict[str, Any]], deaths: list[tuple[int, str]]) -> int:
    """Print the table, and each distinct problem with its smallest input; return the number of distinct problems."""
    cases = load_cases(options.data)
    seconds = sorted(line["seconds"] for line in results) or [0.0]
    commands = sum(line["command"] for line in results)
    inputs = len(results) + len(deaths)
    print(f"inputs     {inputs} of {len(cases)} cases, seed {options.seed}; {commands} also through the command")
    print("exit code  " + "  ".join(f"{code}: {n}" for code, n in sorted(Counter(x["code"] for x in results).items())))
    kernel_counts = Counter([line["kernel"] or "not asked" for line in results])
    print("kernel     " + "  ".join([f"{kernel}: {count}" for kernel, count in kernel_counts.most_common()]))
    high = seconds[min(len(seconds) - 1, int(len(seconds) * 0.999))]
    print(f"seconds    median {statistics.median(seconds):.3f}  99.9 % {high:.3f}  most {seconds[-1]:.3f}")
    inputs_by_problem: dict[str, list[tuple[dict[str, Any], str]]] = defaultdict(list)
    for line in results:
        for signature, detail in line["problems"]:
            inputs_by_problem[signature].append((line, detail))
    for number, why in deaths:
        inputs_by_problem[why.partition("\n")[0]].append(({"number": number, "how": ""}, why))
    print(f"problems   {len(inputs_by_problem)} distinct, in {sum(map(len, inputs_by_problem.values()))} inputs")
    for signature, occurrences in sorted(inputs_by_problem.items(), key=lambda problem: -len(problem[1])):
        sizes = [
            (len(b"".join(generate(cases, options.seed, line["number"])[0][1:])), i)
            for i, (line, _) in enumerate(occurrences[:20])
        ]
        line, detail = occurrences[min(sizes)[1]]
        print(f"\n{len(occurrences)} x {signature}")
        print(f"  input {line['number']}: {line.get('case')} {line['how']}\n  {detail.strip()[-1500:]}")
        case, _ = generate(cases, options.seed, line["number"])
        if options.reduce and line.get("case") and not signature.startswith("command"):
            case = reduce(
                case,
                lambda smaller: any(p.signature == signature for p in check_case(smaller).problems),
                options.reduce,
            )
        if options.out:
            folder = options.out / f"{line['number']}-{''.join(c if c.isalnum() else '-' for c in signature)[:60]}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "problem.txt").write_text(
                f"{signature}\n{detail}\n{line['how']}\n", encoding="utf-8", errors="replace"
            )
            for part in PARTS:
                (folder / part).write_bytes(case.part(part))
        for part in PARTS:
            text = case.part(part)
            print(f"  --- {part}: {text[:700]!r}" + (f" .. {len(text)} bytes" if len(text) > 700 else ""))
    return len(inputs_by_problem)


def main() -> int:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time; 0: no limit")
    parser.add_argument("--data", type=Path, default=default_data(), help="the folder of public data sets")
    parser.add_argument("--out", type=Path, help="write the smallest input of each problem into this folder")
    parser.add_argument("--only", type=int, help="check only this input")
    parser.add_argument("--reduce", type=float, default=10, help="seconds for reducing one input; 0: do not reduce")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        check_inputs(options, options.worker)
        return 0
    if options.only is not None:
        case, how = generate(load_cases(options.data), options.seed, options.only)
        outcome = check_case(case)
        print(case.name, how, outcome.code, f"{outcome.seconds:.3f} s", outcome.kernel, sep="\n")
        for problem in outcome.problems:
            print(problem.signature, problem.detail, sep="\n")
        return int(bool(outcome.problems))
    return int(report(options, *run_workers(options)) > 0)


if __name__ == "__main__":
    sys.exit(main())
