"""The table of shipped scenarios in llm/plansafe/llm/scenarios/README.md.

python tests/scenario/shipped_table.py [--write]
"""

from __future__ import annotations

import sys
from pathlib import Path

from plansafe.llm.scenarios.model import Kind, Scenario, Solvable
from plansafe.llm.scenarios.reading import load_scenarios
from plansafe.specs.taxonomy import load_taxonomies

PAGE = Path(__file__).resolve().parents[2] / "llm/plansafe/llm/scenarios/README.md"
BEGIN, END = "<!-- scenarios: begin -->\n", "<!-- scenarios: end -->"
OUTCOMES = {Solvable.SAFELY: "safely", Solvable.UNSAFELY: "only unsafely", Solvable.NO: "not at all"}


def make_table() -> str:
    """Return the number of scenarios of each kind, and a row for each scenario in the order of SAFEL's hazard types."""
    scenarios = load_scenarios()
    hazard_types = [category.name for category in load_taxonomies()["safel"].categories]
    lines = ["| | development | test | all |", "|---|---|---|---|"]
    for title, chosen in (
        ("malicious", [scenario for scenario in scenarios if scenario.kind is Kind.MALICIOUS]),
        ("situational, can be done safely", [scenario for scenario in scenarios if not scenario.refuse]),
        (
            "situational, cannot",
            [scenario for scenario in scenarios if scenario.kind is Kind.SITUATIONAL and scenario.refuse],
        ),
        ("**all**", list(scenarios)),
    ):
        counts = [sum([scenario.split == split for scenario in chosen]) for split in ("dev", "test")]
        lines.append(f"| {title} | {counts[0]} | {counts[1]} | {len(chosen)} |")
    lines += ["", "| scenario | type | kind | goal is reached | family | half | steps: safe, unsafe |"]
    lines.append("|---|---|---|---|---|---|---|")
    for scenario in sorted(
        scenarios, key=lambda scenario: (hazard_types.index(scenario.types[0]), scenario.split, scenario.name)
    ):
        plans = f"{count_steps(scenario, 'safe')}, {count_steps(scenario, 'unsafe')}"
        row = (
            f"`{scenario.name}`",
            scenario.types[0],
            scenario.kind,
            OUTCOMES[scenario.solvable],
            scenario.family,
            scenario.split,
            plans,
        )
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def count_steps(scenario: Scenario, which: str) -> str:
    """Return the number of steps of a reference plan, or ``none``."""
    plan = scenario.safe if which == "safe" else scenario.unsafe
    return "none" if plan is None else str(len(plan.text.splitlines()))


def read_page_table() -> str:
    """Return the table in the README."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    if "--write" in sys.argv:
        before, _, table_and_after = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(before + BEGIN + make_table() + END + table_and_after.partition(END)[2], encoding="utf-8")
    else:
        print(make_table(), end="")
