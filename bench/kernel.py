"""Compare the CPU time of the replay kernel with the engine: whole processes, run in turn, medians.

usage: python bench/kernel.py [--only NAME ..] [--runs 3] [--tasks FOLDER]

Reads tasks (domain.pddl, problem.pddl, plan) from FOLDER (default: bench/out/tasks, where bench/run.py writes them) and
adds the task `derived1200`, a chain of derived predicates. The examples are audited with and without replay.
Exit code 0 if the exit codes agree and every target is met, else 1.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

from measure import run_once

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
SAFECHECK = str(Path(sys.executable).parent / "safecheck")
KERNEL = """import sys
from plansafe.verifier.kernel import Kernel
domain, problem, plan = (open(path).read() for path in sys.argv[1:])
headline = Kernel(domain, problem).audit(plan).headline
sys.exit({"SAFE": 0, "VALID": 0, "UNKNOWN": 3}.get(headline, 1))"""
TARGETS = {"hh10000": 10, "c_hh10000": 10, "grip3334": 10, "timed2000": 3, "ax40": 3, "derived1200": 3, "wh200": 10}
CHAIN_LENGTH = 1200


class Case(NamedTuple):
    """Two commands: the engine alone, and the kernel alone (``together``: engine and kernel)."""

    name: str
    engine: list[str]
    kernel: list[str]
    together: bool = False


def make_task_case(folder: Path) -> Case:
    """A task folder: engine alone and kernel alone."""
    texts = [str(folder / "domain.pddl"), str(folder / "problem.pddl")]
    flags = ["--domain", texts[0], "--problem", texts[1], "--no-default-spec", "--replay", "never"]
    plan = str(folder / "plan")
    return Case(folder.name, [SAFECHECK, plan, *flags], [sys.executable, "-c", KERNEL, *texts, plan])


def make_example_case(path: Path, flags: list[str]) -> Case:
    """An example with its rules and possible worlds: without and with replay."""
    command = [SAFECHECK, str(path), *flags]
    return Case(path.name, [*command, "--replay", "never"], [*command, "--replay", "always"], together=True)


def write_derived_chain(folder: Path) -> None:
    """Write a task with a chain of derived predicates: each one depends on the previous one."""
    folder.mkdir(parents=True, exist_ok=True)
    names = " ".join([f"(d{i})" for i in range(CHAIN_LENGTH + 1)])
    rules = "\n".join([f"(:derived (d{i}) (d{i - 1}))" for i in range(1, CHAIN_LENGTH + 1)])
    domain = f"(define (domain chain) (:predicates {names})\n{rules}\n(:action start :effect (d0)))"
    (folder / "domain.pddl").write_text(domain)
    (folder / "problem.pddl").write_text(f"(define (problem p) (:domain chain) (:init) (:goal (d{CHAIN_LENGTH})))")
    (folder / "plan").write_text("(start)\n")


def list_cases(tasks: Path) -> list[Case]:
    """All existing tasks, and the examples."""
    write_derived_chain(tasks / "derived1200")
    task_cases = [make_task_case(tasks / name) for name in TARGETS if (tasks / name / "plan").exists()]
    task_cases += [make_example_case(path, []) for path in sorted(EXAMPLES.glob("*/*.plan"))]
    home_flags = ["--world", "virtualhome", "--scene", str(EXAMPLES / "virtualhome" / "home.json")]
    return [*task_cases, *(make_example_case(path, home_flags) for path in sorted(EXAMPLES.glob("virtualhome/*.txt")))]


def main() -> int:
    """Measure the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tasks", type=Path, default=HERE / "out" / "tasks")
    options = parser.parse_args()
    missed = different = 0
    print(f"{'task':32} {'engine s':>9} {'kernel s':>9} {'ratio':>6} {'target':>6}")
    for case in list_cases(options.tasks):
        if options.only and case.name not in options.only:
            continue
        runs = [(run_once(case.engine), run_once(case.kernel)) for _ in range(options.runs)]
        engine, kernel = (
            statistics.median([run.cpu for run in command_runs]) for command_runs in zip(*runs, strict=True)
        )
        codes = runs[-1][0].code, runs[-1][1].code
        kernel -= engine if case.together else 0
        target = TARGETS.get(case.name)
        missed += target is not None and kernel > target * engine
        same_code = codes[0] == codes[1]
        different += not same_code
        answer = "" if same_code else f"  exit {codes[0]} and {codes[1]}: NOT THE SAME"
        print(
            f"{case.name:32} {engine:9.2f} {kernel:9.2f} {kernel / engine:6.1f} {target or '':>6}{answer}", flush=True
        )
    return 1 if missed or different else 0


if __name__ == "__main__":
    raise SystemExit(main())
