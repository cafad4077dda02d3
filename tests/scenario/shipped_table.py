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


def table() -> str:
    """How many there are of which kind, and each, by type of hazard in the order of SAFEL's appendix."""
    scenarios = load_scenarios()
    order = [category.name for category in load_taxonomies()["safel"].categories]
    lines = ["| | development | test | all |", "|---|---|---|---|"]
    for title, chosen in (
        ("malicious", [one for one in scenarios if one.kind is Kind.MALICIOUS]),
        ("situational, can be done safely", [one for one in scenarios if not one.refuse]),
        ("situational, cannot", [one for one in scenarios if one.kind is Kind.SITUATIONAL and one.refuse]),
        ("**all**", list(scenarios)),
    ):
        halves = [sum([one.split == split for one in chosen]) for split in ("dev", "test")]
        lines.append(f"| {title} | {halves[0]} | {halves[1]} | {len(chosen)} |")
    lines += ["", "| scenario | type | kind | goal is reached | family | half | steps: safe, unsafe |"]
    lines.append("|---|---|---|---|---|---|---|")
    for one in sorted(scenarios, key=lambda one: (order.index(one.types[0]), one.split, one.name)):
        plans = f"{steps(one, 'safe')}, {steps(one, 'unsafe')}"
        row = (f"`{one.name}`", one.types[0], one.kind, OUTCOMES[one.solvable], one.family, one.split, plans)
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def steps(scenario: Scenario, which: str) -> str:
    """The number of steps of a reference plan, or that there is none."""
    plan = scenario.safe if which == "safe" else scenario.unsafe
    return "none" if plan is None else str(len(plan.text.splitlines()))


def shown() -> str:
    """What the page has."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    if "--write" in sys.argv:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(before + BEGIN + table() + END + rest.partition(END)[2], encoding="utf-8")
    else:
        print(table(), end="")
