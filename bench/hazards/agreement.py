"""Precision and recall of the findings in scripts that people wrote, by blind reading.

usage: python -m bench.hazards.agreement

Reads ``judgements.json`` and ``judgements-2.json`` beside this file. Language models judged the sheets that ``sheets``
drew, each script of a reading once, without sight of rules or findings: what the script introduces, and what was in the
scene before. Afterwards each drawn finding was compared with what they had named. ``confidence`` is the judge's own.
The second reading is of scripts that nobody had read, and of some (``again``) that had been, with the findings of their
scripts; hazards are those of the new ones.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SURE = 0.5
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


if __name__ == "__main__":
    print("\n\n".join(["\n".join(figures(json.loads(file.read_text(encoding="utf-8")))) for file in FILES]))
