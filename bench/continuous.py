"""Compare verdicts in continuous time with kairos, and the time for a long plan.

usage: python bench/continuous.py [--count 300] [--mutants 2] [--seed 1] [--linear] [--happenings 1000] [--runs 5]
       [--show]

Checks the plans of `bench/continuous_tasks.py` and mutants of them with safecheck, its replay kernel and `kairos
validate`. Prints every disagreement of safecheck and kairos. Installs kairos into bench/.env-peers, unless the variable
KAIROS names its command. Exit code 1 if safecheck and its kernel disagree, 2 if the comparison cannot run, else 0.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import NamedTuple

from continuous_tasks import HybridTask, make_long_task, make_tasks, mutate_plan, write_plan
from measure import run_in_turn
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.kernel import Kernel, KernelLimit
from run import SAFECHECK, BenchmarkError, find_kairos, read_version


class Verdicts(NamedTuple):
    """The verdicts on one plan: of kairos (its output), and the headlines of safecheck and of the kernel."""

    kairos: bool
    output: str
    safecheck: str
    kernel: str
    message: str

    @property
    def differ(self) -> bool:
        """Whether safecheck and kairos disagree; UNKNOWN is neither."""
        return self.kairos != (self.safecheck in ("VALID", "SAFE"))


def ask_kairos(kairos: Path, folder: Path, plan: str) -> tuple[bool, str]:
    """Whether kairos accepts a plan of the task in a folder, and its output."""
    (folder / "plan").write_text(plan, "utf-8")
    command = [str(kairos), "validate", *(str(folder / name) for name in ("domain.pddl", "problem.pddl", "plan"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise BenchmarkError(f"kairos ended with {done.returncode}: {done.stderr}")
    return done.returncode == 0, (done.stdout + done.stderr).replace(str(folder) + "/", "").strip()


class Judges:
    """The three validators for one task."""

    def __init__(self, task: HybridTask, kairos: Path, folder: Path) -> None:
        self.kairos, self.folder = kairos, folder
        (folder / "domain.pddl").write_text(task.domain, "utf-8")
        (folder / "problem.pddl").write_text(task.problem, "utf-8")
        domain, problem = Source("domain.pddl", task.domain), Source("problem.pddl", task.problem)
        self.checker = Checker(domain, problem, (), Options(replay="never"))
        self.kernel = Kernel(task.domain, task.problem)

    def judge(self, plan: str) -> Verdicts:
        """Return the verdicts on a plan."""
        accepted, output = ask_kairos(self.kairos, self.folder, plan)
        report = self.checker.check(Source("plan", plan))
        messages = [finding.message for finding in report.findings] + [
            problem.message for problem in report.diagnostics
        ]
        try:
            kernel = self.kernel.audit(plan, other_readings=()).headline
        except KernelLimit:
            kernel = "UNKNOWN"
        headline = report.headline.value if report.headline else "unreadable"
        return Verdicts(accepted, output, headline, kernel, "; ".join(messages))


def describe_values(kernel: Kernel, plan: str) -> list[str]:
    """Return a line for each moment, with the exact values of the numbers that changed up to there."""
    try:
        trace = kernel.trace(plan)
    except KernelLimit as limit:
        return [f"   {limit}"]
    rows = dict[str, dict[str, str]]()
    for fluent, signal in trace.history.items():
        for letter, value in signal[1:] if fluent[0] == "#" else ():
            if not trace.starts[letter][1]:
                rows.setdefault(str(trace.times[letter]), {})[" ".join(fluent[1:])] = str(value)
    return [f"   {time}: " + ", ".join(f"{k} = {v}" for k, v in values.items()) for time, values in rows.items()]


def compare_verdicts(options: argparse.Namespace, kairos: Path) -> int:
    """Print every disagreement; return how often safecheck and its kernel disagree."""
    counts: Counter[tuple[str, bool, str]] = Counter()
    wrong = without_kernel = 0
    with tempfile.TemporaryDirectory() as name:
        for task in make_tasks(options.count, options.seed, linear=options.linear):
            judges, random = Judges(task, kairos, Path(name)), Random(f"{options.seed}/{task.number}")
            plans = [("plan", task.plan), *(mutate_plan(task, random) for _ in range(options.mutants))]
            for mutation, plan in plans:
                verdicts = judges.judge(write_plan(plan))
                counts[task.family, verdicts.kairos, verdicts.safecheck] += 1
                without_kernel += verdicts.kernel == "UNKNOWN" != verdicts.safecheck
                if verdicts.kernel not in (verdicts.safecheck, "UNKNOWN"):
                    wrong += 1
                    print(f"KERNEL {verdicts.kernel}, safecheck {verdicts.safecheck}: {task.problem}{write_plan(plan)}")
                if verdicts.differ:
                    kairos_says = "accepts" if verdicts.kairos else "rejects"
                    print(f"## {task.family} {task.number}, {mutation}: {verdicts.safecheck}; kairos {kairos_says}")
                    print(f"   safecheck: {verdicts.message}\n   kairos: {verdicts.output}", flush=True)
                    print(*describe_values(judges.kernel, write_plan(plan)), sep="\n", flush=True)
                    if options.show:
                        print(task.problem, write_plan(plan), sep="\n", flush=True)
    for (family, accepted, headline), count in sorted(counts.items()):
        print(f"{family:10} kairos {'accepts' if accepted else 'rejects'}, safecheck {headline:8} {count}")
    print(f"the kernel decides all plans that safecheck decides, except {without_kernel}")
    return wrong


def compare_speed(happenings: int, runs: int, kairos: Path) -> None:
    """Print the CPU time of safecheck and kairos for one long plan."""
    task = make_long_task(happenings, 20)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = {"domain.pddl": task.domain, "problem.pddl": task.problem, "plan": write_plan(task.plan)}
        for file, text in texts.items():
            (folder / file).write_text(text, "utf-8")
        domain, problem, plan = (str(folder / file) for file in texts)
        ours = [SAFECHECK, plan, "--domain", domain, "--problem", problem, "--no-default-spec", "--replay", "never"]
        commands = {"safecheck": ours, "kairos": [str(kairos), "validate", domain, problem, plan]}
        summaries = run_in_turn(list(commands.values()), runs, 60)
        for tool, summary in zip(commands, summaries, strict=True):
            print(f"{happenings} happenings, 20 processes: {tool} {summary.cpu:.2f} CPU s")


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description="Compare verdicts in continuous time with kairos.")
    parser.add_argument("--count", type=int, default=300, help="tasks (default 300)")
    parser.add_argument("--mutants", type=int, default=2, help="mutants of each plan (default 2)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random numbers (default 1)")
    parser.add_argument("--happenings", type=int, default=1000, help="happenings of the long plan (default 1000)")
    parser.add_argument("--runs", type=int, default=5, help="runs of each command on the long plan (default 5)")
    parser.add_argument("--linear", action="store_true", help="tasks whose rates read the numbers that they change")
    parser.add_argument("--show", action="store_true", help="print the task of each disagreement")
    options = parser.parse_args()
    try:
        kairos = find_kairos()
        print(read_version([str(kairos), "--version"]))
        wrong = compare_verdicts(options, kairos)
        compare_speed(options.happenings, options.runs, kairos)
    except BenchmarkError as error:
        print(error, file=sys.stderr)
        return 2
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
