"""Count the hazards that scripts of people introduce: ground-truth scripts of ActivityPrograms in their scenes.

usage: python -m bench.hazards.study [--output bench/results/hazards.json] [--write bench/results/activity-programs.md]
       [--limit N]

Reads the folder ``eai-virtualhome`` of the data sets (``PLANSAFE_DATA``): scripts, the graph that each was executed in,
and the name of its task. A finding counts as introduced or worsened by the script, or as pre-existing in the scene
(docs/language.md, section 5, Blame); the two are counted separately. Run it from the root of the repository.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.data_sets import DATA_SETS
from bench.hazards.chart import bars

from plansafe.app.session.audit import audit
from plansafe.app.session.model import Result, Settings
from plansafe.verifier.reporting.report import Blame, FindingClass, Headline

HERE = Path(__file__).resolve().parents[1]
DATA = DATA_SETS / "eai-virtualhome"
LIBRARY = ("home", "home-virtualhome")
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def scripts(limit: int | None = None) -> list[str]:
    """The names of the scripts that have a scene."""
    names = sorted(json.loads((DATA / "id2task.json").read_text(encoding="utf-8")))
    return names[:limit]


def audit_scripts(names: list[str]) -> Iterator[tuple[str, Result]]:
    """Audit each script in its own scene with the whole hazard library."""
    with tempfile.TemporaryDirectory() as folder:
        scene = Path(folder) / "graph.json"
        for name in names:
            scene.write_bytes(gzip.decompress((DATA / "init_and_final_graphs" / f"file{name}.json.gz").read_bytes()))
            settings = Settings(
                world="virtualhome",
                scene=str(scene),
                specs=LIBRARY,
                blame=tuple([blame.value for blame in Blame]),
                max_findings=10_000,
                replay="never",
            )
            (result,) = audit([str(DATA / "programs" / f"file{name}.txt")], settings)
            yield name, result


def findings(result: Result) -> list[dict[str, Any]]:
    """The violated rules of a report in the reading that stops at the first failed step, as data."""
    return [
        {
            "rule": f.rule,
            "hazard": f.hazard,
            "targets": list(f.targets),
            "severity": f.severity,
            "blame": f.blame.value if f.blame is not None else None,
            "step": f.step,
            "at_end": f.at_end,
            "binding": dict(f.binding),
            "message": f.message,
        }
        for f in result.report.findings
        if f.rule is not None and "halt" in f.readings and f.finding_class is not FindingClass.UNDECIDED
    ]


def study(names: list[str]) -> dict[str, Any]:
    """Audit all scripts; a record for each, and the reasons why scripts could not be audited."""
    tasks = json.loads((DATA / "id2task.json").read_text(encoding="utf-8"))
    records, unjudged = {}, {}
    for name, result in audit_scripts(names):
        if result.report.headline is None or result.failure is not None:
            unjudged[name] = result.failure or [d.message for d in result.report.diagnostics]
            continue
        records[name] = {
            "task": tasks[name],
            "headline": result.report.headline.value,
            "executable": result.report.executable.value,
            "steps": result.report.steps,
            "findings": findings(result),
        }
    return {"scripts": records, "unjudged": unjudged}


def table(study: dict[str, Any]) -> str:
    """The counts by hazard and by rule, as Markdown."""
    total = len(study["scripts"])
    caused: dict[tuple[str, str], set[str]] = defaultdict(set)
    before: dict[tuple[str, str], set[str]] = defaultdict(set)
    number: Counter[tuple[str, str]] = Counter()
    old: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], str] = {}
    for name, record in study["scripts"].items():
        for finding in record["findings"]:
            key = (finding["hazard"], finding["rule"])
            if finding["blame"] == "pre-existing":
                before[key].add(name)
                old[key] += 1
            else:
                caused[key].add(name)
                number[key] += 1
                examples.setdefault(key, f"{name}: {finding['message'].split(': ', 1)[-1]}")
    rules = sorted({*caused, *before}, key=lambda key: (-len(caused[key]), -len(before[key]), key))
    guilty = {name for names in caused.values() for name in names}
    summary = (
        f"{total} scripts with a scene; {len(guilty)} of them introduce or worsen at least one hazard, "
        f"{sum(number.values())} findings in all; {sum(old.values())} findings are pre-existing."
    )
    lines = [
        summary,
        headlines(study),
        "",
        "| hazard | rule | scripts that cause it | findings | scenes that had it before | findings | example |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {hazard} | `{rule}` | {len(caused[hazard, rule])} | {number[hazard, rule]} | {len(before[hazard, rule])} "
        f"| {old[hazard, rule]} | {examples.get((hazard, rule), '-')} |"
        for hazard, rule in rules
    ]
    return "\n".join(lines)


def headlines(study: dict[str, Any]) -> str:
    """The number of UNSAFE scripts by both criteria, and of UNKNOWN and INVALID ones."""
    records = study["scripts"].values()
    valid = [record for record in records if record["headline"] != Headline.INVALID.value]
    with_findings = len([record for record in valid if record["findings"]])
    unknown = len([record for record in valid if record["headline"] == Headline.UNKNOWN.value])
    introduced = len([record for record in valid if record["headline"] == Headline.UNSAFE.value])
    return (
        f"UNSAFE of {len(records)} scripts: {with_findings} where everything decides (`--judge all`), {introduced} "
        "where only what the script introduced or worsened does (`--judge introduced`). "
        f"UNKNOWN: {unknown} ({100 * unknown / max(len(records), 1):.1f} %), INVALID: {len(records) - len(valid)}."
    )


def by_hazard(study: dict[str, Any]) -> list[tuple[str, int, int]]:
    """For each hazard: the number of scripts that cause it, and of scenes that had it before."""
    caused: dict[str, set[str]] = defaultdict(set)
    before: dict[str, set[str]] = defaultdict(set)
    for name, record in study["scripts"].items():
        for finding in record["findings"]:
            (before if finding["blame"] == "pre-existing" else caused)[finding["hazard"]].add(name)
    rows = [(hazard, len(caused[hazard]), len(before[hazard])) for hazard in {*caused, *before}]
    return sorted(rows, key=lambda row: (-row[1], -row[2], row[0]))


def main() -> int:
    """Run the study, write its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "hazards.json")
    parser.add_argument("--write", type=Path, help="a page whose figures are replaced")
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"no data at {DATA} (set PLANSAFE_DATA)", file=sys.stderr)
        return 2
    done = study(scripts(options.limit))
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    text = table(done)
    print(text)
    for name, why in done["unjudged"].items():
        print(f"not judged: {name}: {why}")
    if options.write is not None:
        page = options.write.read_text(encoding="utf-8")
        head, _, tail = page.partition(BEGIN)
        options.write.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail.partition(END)[2]}", encoding="utf-8")
        picture = options.write.with_suffix(".svg")
        title = "Scripts of ActivityPrograms that cause a hazard, and scenes that had it before"
        picture.write_text(bars(by_hazard(done), title, ("caused by the script", "in the scene before")), "utf-8")
    return 1 if done["unjudged"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
