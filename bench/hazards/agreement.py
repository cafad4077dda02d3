"""Precision and recall of the findings in scripts that people wrote, by blind reading.

usage: python -m bench.hazards.agreement

Reads ``judgements.json`` and ``judgements-2.json`` beside this file. Language models judged the sheets that ``sheets``
drew, each script of a reading once, without sight of rules or findings: what the script introduces, and what was in the
scene before. Afterwards each drawn finding was compared with what they had named. ``confidence`` is the judge's own.
The second reading is of scripts that nobody had read, and of some (``again``) that had been, with the findings of their
scripts; hazards are those of the new ones.

``judgements-3.json`` is of all 87 scripts that nobody had read, three readers each: every hazard that one names, with
``same`` for what is the same hazard in a script, decided from the words before the findings were set beside them.
"""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from typing import Any

SURE = 0.5
PANEL = Path(__file__).with_name("judgements-3.json")
MAJORITY = 2
FILES = tuple([Path(__file__).with_name(name) for name in ("judgements.json", "judgements-2.json")])


def figures(data: dict[str, list[dict[str, Any]]]) -> list[str]:
    """The figures as lines of a Markdown table."""
    rows = ["| of | number | also the other | share |", "|---|---|---|---|"]

    def row(what: str, total: int, both: int) -> None:
        if total:
            rows.append(f"| {what} | {total} | {both} | {both / total:.0%} |")

    findings, hazards = data["findings"], data["hazards"]
    for blame, words in (("introduced", "findings that the script causes"), ("pre-existing", "findings of the scene")):
        mine = [f for f in findings if (f["blame"] == "pre-existing") == (blame == "pre-existing")]
        row(f"{words}: named by the judge", len(mine), sum(f["confirmed"] for f in mine))
        sure = sum(f["confirmed"] and f["confidence"] >= SURE for f in mine)
        row(f"{words}: named with confidence {SURE:g} or more", len(mine), sure)
    row("all findings: named by the judge", len(findings), sum(f["confirmed"] for f in findings))
    for least in (SURE, 0.0):
        named = [h for h in hazards if h["confidence"] >= least]
        what = f"hazards that a judge says a script causes, confidence {least:g} or more: found"
        row(what, len(named), sum(h["found"] for h in named))
    clean = {sheet["script"] for sheet in data["sheets"] if sheet["clean"]}
    missed = {h["script"] for h in hazards if h["script"] in clean and h["confidence"] >= SURE}
    row("scripts drawn as clean: clean for the judge, too", len(clean), len(clean) - len(missed))
    return rows


def panel(data: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Precision and recall by a panel of readers, with Wilson's 95 % intervals, as lines of a Markdown table."""
    votes: dict[tuple[str, str], set[int]] = {}
    named: dict[tuple[str, str], set[int]] = {}
    for hazard in data["hazards"]:
        key = (hazard["script"], hazard["same"])
        named.setdefault(key, set()).add(hazard["reader"])
        if hazard["confidence"] >= SURE:
            votes.setdefault(key, set()).add(hazard["reader"])
    agreed = {key for key, readers in votes.items() if len(readers) >= MAJORITY}
    found = [(finding["script"], finding["same"]) for finding in data["findings"]]
    rows = ["| of | number | also the other | share | 95 % interval |", "|---|---|---|---|---|"]
    for what, total, both in (
        ("findings: two readers name it", found, [key for key in found if len(named.get(key, ())) >= MAJORITY]),
        (f"findings: two name it with {SURE:g} or more", found, [key for key in found if key in agreed]),
        (f"hazards that two name with {SURE:g} or more: found", agreed, [key for key in agreed if key in found]),
    ):
        low, high = wilson(len(both), len(total))
        rows.append(f"| {what} | {len(total)} | {len(both)} | {len(both) / len(total):.0%} | {low:.0%} to {high:.0%} |")
    return rows


def wilson(successes: int, total: int) -> tuple[float, float]:
    """Wilson's score interval of a share (1927), for 95 %."""
    z = 1.959964
    middle = (successes + z * z / 2) / (total + z * z)
    half = z / (total + z * z) * sqrt(successes * (total - successes) / total + z * z / 4)
    return middle - half, middle + half


if __name__ == "__main__":
    print("\n\n".join(["\n".join(figures(json.loads(file.read_text(encoding="utf-8")))) for file in FILES]))
    print("\n" + "\n".join(panel(json.loads(PANEL.read_text(encoding="utf-8")))))
