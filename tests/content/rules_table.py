"""Print the table of the library's rules, or write it into specs/rules.md.

python tests/content/rules_table.py [--write]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import home_cases

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "specs" / "rules.md"
HAZARDS = ROOT / "docs" / "safety-rules.md"
BEGIN, END = "<!-- rules: begin -->\n", "<!-- rules: end -->"


def make_table() -> str:
    """Return the table of the rules, by area and in the order of the files."""
    checker = home_cases.ontology_checker()
    assert checker.compiled.expanded is not None
    areas = {str(plain.node[1]): plain.specification for plain in checker.compiled.expanded.rules}
    lines = ["| area | rule | hazard | harms | severity | source |", "|---|---|---|---|---|---|"]
    for rule in checker.rules:
        area = areas[rule.name].removeprefix("home-")
        cells = (
            area,
            f"`{rule.name}`",
            rule.hazard,
            " ".join(rule.targets),
            rule.severity,
            rule.rationale_source or "",
        )
        lines.append(f"| {' | '.join([str(cell) for cell in cells])} |")
    return "\n".join(lines) + "\n"


def read_page_table() -> str:
    """Return the table in the page."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    if "--write" in sys.argv:
        before, _, old_table_and_after = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = old_table_and_after.partition(END)[2]
        PAGE.write_text(before + BEGIN + make_table() + END + after, encoding="utf-8")
    else:
        print(make_table(), end="")
