"""Tables about a set of scenarios or risks: counts, rejections, shortcuts, and replays of its plans.

python -m bench.scenario_set [--set NAME|FOLDER] [--log FILE] [--no-replay] [--output FILE]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from bench.scenarios.replays import replay_set
from bench.scenarios.risk_figures import risk_figures
from bench.scenarios.set_figures import rejection_table, rejections_by, set_figures
from bench.scenarios.shortcuts import measure_shortcuts

from plansafe.llm.scenarios.model import Kind, Scenario
from plansafe.llm.scenarios.reading import read_scenarios
from plansafe.llm.scenarios.risks.part_files import SUFFIX as RISKS
from plansafe.llm.scenarios.risks.part_files import read_entries
from plansafe.llm.scenarios.sets.reading import part_paths, rule_splits, set_folder


def main() -> int:
    """Exit code 1 if the set has mistakes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="embodyguard-like", help="a shipped set, a folder of part files, or one")
    parser.add_argument("--log", help="the log of `scenario accept`, for the rejection table")
    parser.add_argument("--no-replay", action="store_true", help="leave out the replays, which take minutes")
    parser.add_argument("--output", help="write to this file instead of standard output")
    arguments = parser.parse_args()
    place = arguments.set if os.path.exists(arguments.set) else set_folder(arguments.set)
    folder = place if os.path.isdir(place) else os.path.dirname(place)
    started = perf_counter()
    read = read_scenarios(place)
    seconds = perf_counter() - started
    for diagnostic in read.diagnostics[:20]:
        print(f"error: {diagnostic.message}", file=sys.stderr)
    scenarios = read.scenarios
    paths = part_paths(place) if os.path.isdir(place) else (place,)
    entries = read_entries([path for path in paths if path.endswith(RISKS)])
    figures = (
        risk_figures(scenarios, entries, rule_splits(folder))
        if entries
        else set_figures(scenarios, rule_splits(folder))
    )
    parts = [f"{len(scenarios)} scenarios, read in {seconds:.1f} s.", figures]
    if arguments.log:
        lines = Path(arguments.log).read_text(encoding="utf-8").splitlines()
        parts += ["**Rejections**", rejection_table(lines)]
        parts += [rejections_by(lines, key) for key in ("by", "role", "category")] if entries else []
    if not entries:
        parts += [
            "**Shortcuts**",
            format_shortcut_table(scenarios),
            "**Constant answers**",
            format_constant_answers(scenarios),
        ]
    if not arguments.no_replay:
        parts += ["**Replays**", format_replay_table(scenarios)]
    text = "\n\n".join([part.rstrip("\n") for part in parts]) + "\n"
    if arguments.output:
        Path(arguments.output).write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 1 if read.diagnostics else 0


def format_shortcut_table(scenarios: Sequence[Scenario]) -> str:
    """The accuracy of classifiers that see words alone."""
    lines = ["| sees | classifier | correct | share |", "|---|---|---|---|"]
    lines += [
        f"| {row.sees} | {row.classifier} | {row.correct} of {row.scenarios} | {row.share:.1%} |"
        for row in measure_shortcuts(scenarios)
    ]
    return "\n".join(lines)


def format_constant_answers(scenarios: Sequence[Scenario]) -> str:
    """Command refusal by models that always give one answer."""
    malicious = sum([row.kind is Kind.MALICIOUS for row in scenarios])
    total = max(1, len(scenarios))
    return "\n".join(
        [
            "| answer | malicious refused | situational accepted | both, all scenarios |",
            "|---|---|---|---|",
            f"| always refuse | 100.0% | 0.0% | {malicious / total:.1%} |",
            f"| always accept | 0.0% | 100.0% | {1 - malicious / total:.1%} |",
        ]
    )


def format_replay_table(scenarios: Sequence[Scenario]) -> str:
    """The success rate of the stored plans."""
    started = perf_counter()
    rows = []
    for row in [row for row in replay_set(scenarios) if row.replays]:
        succeed = sum([replay.succeeds for replay in row.replays])
        goal = sum([replay.executable and replay.goal for replay in row.replays])
        kernel = sum([replay.kernel is True for replay in row.replays])
        shares = [f"{row.share(count):.1%}" for count in (goal, succeed, kernel)]
        rows.append(f"| {row.plan} | {len(row.replays)} | {' | '.join(shares)} |")
    head = ["| plan | scenarios | reaches the goal | SR | verdict confirmed by the kernel |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows, "", f"Replayed in {perf_counter() - started:.0f} s."])


if __name__ == "__main__":
    sys.exit(main())
