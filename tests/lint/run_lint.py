"""Random tasks through the linter and its definition: `python tests/lint/run_lint.py --count 300 --seed 1`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "property")]

from lint_definitions import Traces, wrong_claims  # noqa: E402
from lint_random import other_problem, small_case  # noqa: E402

from plansafe.grammar.source import Source  # noqa: E402
from plansafe.specs.lint.api import lint  # noqa: E402
from plansafe.specs.lint.model import LintOptions, LintResult  # noqa: E402


def linted(
    seed: int,
    number: int,
    seconds: float = 3.0,
    with_problem: bool = True,
    rules: int = 5,
    quick: bool = False,
    search: bool = True,
) -> tuple[LintResult, list[str]]:
    """The findings about a random task, and the findings that a plan contradicts."""
    case = small_case(seed, number, rules)
    sources = [Source("domain", case.domain_text()), Source("problem", case.problem_text())]
    specs = [Source("rules", case.safety_text())] if case.rules else []
    result = lint(sources[0], sources[1:] if with_problem else [], specs, LintOptions(False, seconds, search))
    if not result.usable:
        return result, []
    other_problems = [Traces(other_problem(case, n), n, 12, 3, quick) for n in range(2)]
    return result, wrong_claims(result, Traces(case, 0, quick=quick), other_problems)


def main() -> int:
    """Check random tasks, and print the number of findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    codes: Counter[str] = Counter()
    wrong = rules = unusable = undecided = 0
    started = time.monotonic()
    for number in range(arguments.first, arguments.first + arguments.count):
        result, contradictions = linted(arguments.seed, number, with_problem=number % 4 > 0)
        unusable += not result.usable
        rules += result.rules
        undecided += len(result.open_questions)
        codes.update([f"{finding.code} {finding.scope.value}" for finding in result.findings])
        for text in contradictions:
            wrong += 1
            print(f"case {number}: {text}", flush=True)
    print(f"{arguments.count} tasks, {rules} rules, {unusable} unusable, {time.monotonic() - started:.0f} s")
    print(", ".join([f"{code}: {count}" for code, count in sorted(codes.items())]))
    print(f"undecided questions: {undecided}; false claims: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
