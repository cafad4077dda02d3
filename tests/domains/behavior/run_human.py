"""The action sequences of people in ``eai-behavior``: how many execute and reach the goal, and why others do not.

    python tests/domains/behavior/run_human.py [--prompts helm_prompts.json] [--count N]

With the prompts of the package ``eai-eval`` (behavior_eval/evaluation/action_sequencing/resources/prompts), names are
exact; without them they are inferred. bench/results/behavior.md holds the table.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

from behavior_data import JudgedPlan, data_folder, human

HERE = Path(__file__).parent


def reasons() -> dict[str, tuple[str, str]]:
    """The kind and the reason of each fault, by activity."""
    lines = (HERE / "human_faults.txt").read_text().splitlines()
    rows = [[part.strip() for part in line.split("|")] for line in lines if line and not line.startswith("#")]
    return {name: (kind, reason) for name, kind, reason in rows}


def activity(judged: JudgedPlan) -> str:
    return re.sub(r"_\d+_[A-Z].*", "", judged.name)


def summary(found: list[JudgedPlan]) -> str:
    counts = Counter(judged.verdict for judged in found)
    executable = sum(judged.report is not None and judged.report.executable.value == "ALL" for judged in found)
    parts = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return f"{len(found)} sequences, {executable} execute to the end: {parts}"


def table(found: list[JudgedPlan]) -> list[str]:
    """The rows of the sequences that are not VALID."""
    known = reasons()
    rows = ["| activity | failure | cause | reason |", "|---|---|---|---|"]
    for judged in found:
        if judged.verdict == "VALID":
            continue
        first = judged.first()
        if first is None:
            what = judged.diagnostics[0].message if judged.diagnostics else "?"
        elif first.code == "SC310":
            what = "the goal"
        else:
            assert first.step is not None
            fields = re.findall(r'"(?:action|object)": "([^"]*)"', judged.written[first.step - 1])
            what = f"`{' '.join(fields)}`"
        kind, reason = known.get(activity(judged), ("?", "not judged yet"))
        rows.append(f"| {activity(judged)} | {what} | {kind} | {reason} |")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=Path, help="helm_prompts.json of eai-eval: exact names")
    parser.add_argument("--count", type=int, help="so many sequences, the first by name; else all")
    options = parser.parse_args()
    found = list(islice(human(data_folder(), options.prompts), options.count))
    print(summary(found), "(exact names)" if options.prompts else "(inferred names)")
    print("\n".join(table(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
