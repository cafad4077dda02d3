"""Check the action sequences of people in ``eai-behavior``: which execute and reach the goal, and why others do not.

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


def read_fault_reasons() -> dict[str, tuple[str, str]]:
    """Return the kind and the reason of each fault, by activity."""
    lines = (HERE / "human_faults.txt").read_text().splitlines()
    rows = [[part.strip() for part in line.split("|")] for line in lines if line and not line.startswith("#")]
    return {name: (kind, reason) for name, kind, reason in rows}


def activity_name(plan: JudgedPlan) -> str:
    return re.sub(r"_\d+_[A-Z].*", "", plan.name)


def summarise(plans: list[JudgedPlan]) -> str:
    counts = Counter(plan.verdict for plan in plans)
    executable = sum(plan.report is not None and plan.report.executable.value == "ALL" for plan in plans)
    parts = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return f"{len(plans)} sequences, {executable} execute to the end: {parts}"


def make_table(plans: list[JudgedPlan]) -> list[str]:
    """Return a row for each sequence that is not VALID."""
    known_faults = read_fault_reasons()
    rows = ["| activity | failure | cause | reason |", "|---|---|---|---|"]
    for plan in plans:
        if plan.verdict == "VALID":
            continue
        first = plan.first()
        if first is None:
            failure = plan.diagnostics[0].message if plan.diagnostics else "?"
        elif first.code == "SC310":
            failure = "the goal"
        else:
            assert first.step is not None
            fields = re.findall(r'"(?:action|object)": "([^"]*)"', plan.written[first.step - 1])
            failure = f"`{' '.join(fields)}`"
        kind, reason = known_faults.get(activity_name(plan), ("?", "not judged yet"))
        rows.append(f"| {activity_name(plan)} | {failure} | {kind} | {reason} |")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=Path, help="helm_prompts.json of eai-eval: exact names")
    parser.add_argument("--count", type=int, help="check only this number of sequences, the first by name")
    options = parser.parse_args()
    plans = list(islice(human(data_folder(), options.prompts), options.count))
    print(summarise(plans), "(exact names)" if options.prompts else "(inferred names)")
    print("\n".join(make_table(plans)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
