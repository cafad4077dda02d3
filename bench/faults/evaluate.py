"""What diagnosis and the published labels make of the corpus of seeded faults.

usage: python -m bench.faults.evaluate [--seed N] [--singles N] [--doubles N] [--time-limit S] [--every N]
                                       [--only SOURCE ..] [--output FILE]

Prints the table and writes it, with the cases in which a true kind was not named, to FILE
(bench/results/faults.json). README.md says what counts as right. Exit code 0, or 1 if some diagnosis raised.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.faults.corpus import KINDS, SHARES, Case, generate
from bench.faults.sources import all_sources
from bench.faults.spread import spread

from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose import labels, labels_eai
from plansafe.verifier.diagnose.model import FLAGS, Diagnosis, ErrorClass
from plansafe.verifier.repair.model import RepairOptions

RESULTS = Path(__file__).resolve().parents[1] / "results" / "faults.json"
EDITS = {"insert": "missing", "delete": "additional", "move": "order", "substitute": "substitute"}
LABELS: dict[str, tuple[str, ...]] = {
    labels.GRAMMAR: ("grammar",),
    labels_eai.PARSING: ("grammar",),
    labels_eai.HALLUCINATION: ("grammar",),
    labels_eai.ARGUMENTS: ("grammar",),
    labels.AFFORDANCE: ("affordance", "substitute"),
    labels.WRONG_ORDER: ("order",),
    labels.MISSING: ("missing",),
    labels.ADDITIONAL: ("additional",),
}
"""The kinds that a label names; labels that are not here name none."""
GOALS = (labels.UNMET_GOAL, labels_eai.UNSATISFIED_GOAL)
SCHEMES: dict[str, Callable[[Checker, Case], labels.PublishedLabel]] = {
    "SAFEL": lambda checker, case: labels.safel_label(checker, case.plan),
    "EAI, VirtualHome": lambda checker, case: labels_eai.eai_label(checker, case.plan, "virtualhome"),
    "EAI, BEHAVIOR": lambda checker, case: labels_eai.eai_label(checker, case.plan, "behavior"),
}


class Row(NamedTuple):
    """What was said about one case. ``named`` are the kinds that the set names; ``labels`` the names by scheme."""

    case: Case
    classes: tuple[str, ...]
    named: frozenset[str]
    labels: dict[str, str]
    seconds: float
    status: str
    cost: float
    error: str = ""


def named_kinds(diagnosis: Diagnosis) -> frozenset[str]:
    """The kinds of fault that a diagnosis names."""
    found: set[str] = set()
    for witness in diagnosis.witnesses:
        if witness.error.value in KINDS:
            found.add(witness.error.value)
        elif witness.error is ErrorClass.COMPOUND:
            found |= {EDITS[edit] for edit, count in witness.vector if count}
    return frozenset(found)


def judge(case: Case, options: RepairOptions) -> Row:
    """Diagnose a case and label it. What is raised is part of the row."""
    from plansafe.verifier.diagnose.api import diagnose

    checker = case.task.checker()
    said = {scheme: label(checker, case).name for scheme, label in SCHEMES.items()}
    start = time.perf_counter()
    try:
        diagnosis = diagnose(checker, case.plan, options)
    except Exception:
        return Row(case, (), frozenset(), said, time.perf_counter() - start, "raised", 0, traceback.format_exc())
    seconds = time.perf_counter() - start
    classes = tuple([error.value for error in diagnosis.classes if error not in FLAGS])
    repair = diagnosis.repair
    cost = float(repair.repairs[0].cost) if repair.repairs else 0.0
    return Row(case, classes, named_kinds(diagnosis), said, seconds, repair.status.value, cost)


# -- the table --------------------------------------------------------------------------------------------------------


def share(hits: Iterable[bool]) -> float | None:
    """The share of what is true, in percent."""
    found = list(hits)
    return round(100 * sum(found) / len(found), 1) if found else None


def times(rows: Sequence[Row]) -> dict[str, float]:
    """Median, 95th percentile and maximum of the seconds per case."""
    return spread([row.seconds for row in rows])


def diagnosis_line(rows: Sequence[Row]) -> dict[str, Any]:
    """What diagnosis makes of some cases. Sizes are of the set without flags."""
    return {
        "cases": len(rows),
        "all kinds named": share([row.case.kinds <= row.named for row in rows]),
        "some kind named": share([bool(row.case.kinds & row.named) for row in rows]),
        "mean size": round(statistics.mean([len(row.classes) for row in rows]), 2),
        "mean kinds named": round(statistics.mean([len(row.named) for row in rows]), 2),
        "singletons": share([len(row.classes) == 1 for row in rows]),
        "right singletons": share([len(row.classes) == 1 and row.case.kinds <= row.named for row in rows]),
        "irreparable": share(["irreparable" in row.classes for row in rows]),
        "cost at most the faults": share([row.status == "found" and row.cost <= len(row.case.faults) for row in rows]),
        "seconds": times(rows),
    }


def label_line(rows: Sequence[Row], scheme: str) -> dict[str, Any]:
    """What a scheme's labels make of some cases."""
    kinds = [LABELS.get(row.labels[scheme], ()) for row in rows]
    right = [bool(row.case.kinds & set(found)) for row, found in zip(rows, kinds, strict=True)]
    goal = [row.labels[scheme] in GOALS for row in rows]
    both = [row.case.kinds <= set(found) for row, found in zip(rows, kinds, strict=True)]
    return {
        "right": share(right),
        "or goal": share([a or b for a, b in zip(right, goal, strict=True)]),
        "all kinds named": share(both),
        "success": share([row.labels[scheme] == labels.SUCCESS for row in rows]),
    }


def line(rows: Sequence[Row]) -> dict[str, Any]:
    """All judges on the same cases."""
    return {"diagnosis": diagnosis_line(rows), **{scheme: label_line(rows, scheme) for scheme in SCHEMES}}


def table(rows: Sequence[Row]) -> dict[str, Any]:
    """The table by number of faults: in all, by source, by kind (single faults), and of hazards."""
    out: dict[str, Any] = {}
    for number, name in ((1, "single"), (2, "double")):
        chosen = [row for row in rows if len(row.case.faults) == number]
        if not chosen:
            continue
        out[name] = {"all": line(chosen)}
        published = [row for row in chosen if row.case.task.source in ("behavior", "virtualhome")]
        parts = {"published gold plans": published, "hazards": [row for row in chosen if row.case.hazard]}
        for source in sorted({row.case.task.source for row in chosen}):
            parts[f"source: {source}"] = [row for row in chosen if row.case.task.source == source]
        if number == 1:
            parts["the four edits"] = [row for row in chosen if row.case.kinds <= set(EDITS.values())]
            for kind in KINDS:
                parts[f"kind: {kind}"] = [row for row in chosen if row.case.kinds == {kind}]
        out[name].update({part: line(found) for part, found in parts.items() if found})
    return out


def missed(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The cases in which a true kind was not named."""
    return [
        {
            "case": row.case.name,
            "task": row.case.task.name,
            "faults": [fault.description for fault in row.case.faults],
            "kinds": sorted(row.case.kinds),
            "classes": list(row.classes),
            "repair": row.status,
            "cost": row.cost,
            "error": row.error,
        }
        for row in rows
        if not row.case.kinds <= row.named
    ]


def as_text(result: dict[str, Any]) -> str:
    """The table for a terminal."""
    out = []
    for number, parts in result.items():
        out.append(
            f"{number + ' faults':28}{'cases':>6}{'named':>7}{'some':>7}{'size':>6}{'single':>8}{'right s.':>9}"
            f"{'median':>8}{'95 %':>7}{'max':>7}" + "".join([f"{scheme:>18}" for scheme in SCHEMES])
        )
        for part, columns in parts.items():
            of, seconds = columns["diagnosis"], columns["diagnosis"]["seconds"]
            out.append(
                f"{part:28}{of['cases']:6}{of['all kinds named']:6.0f}%{of['some kind named']:6.0f}%"
                f"{of['mean size']:6.2f}{of['singletons']:7.0f}%{of['right singletons']:8.0f}%"
                f"{seconds['median']:8.2f}{seconds['95 %']:7.2f}{seconds['max']:7.2f}"
                + "".join([f"{columns[s]['right']:10.0f}% ({columns[s]['or goal']:3.0f}%)" for s in SCHEMES])
            )
        out.append("")
    return "\n".join(out)


def main() -> int:
    """Generate the corpus, judge it, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--singles", type=int, default=360)
    parser.add_argument("--doubles", type=int, default=240)
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for the repair of one case")
    parser.add_argument("--every", type=int, default=1, help="judge every Nth case only")
    parser.add_argument("--only", nargs="+", choices=SHARES, metavar="SOURCE", help=", ".join(SHARES))
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    sources = all_sources(arguments.seed, arguments.only)
    cases = generate(arguments.seed, arguments.singles, arguments.doubles, sources)[:: arguments.every]
    cases.sort(key=lambda case: (case.task.source, case.task.name))  # compiled tasks are used again
    options = RepairOptions(max_cost=8, time_limit_s=arguments.time_limit)
    rows = []
    for number, case in enumerate(cases, 1):
        rows.append(judge(case, options))
        if sys.stderr.isatty():
            print(f"\r{number} of {len(cases)}", end="", file=sys.stderr)
    result = table(rows)
    print(as_text(result))
    raised = [row for row in rows if row.error]
    for row in raised[:3]:
        print(row.case.name, row.error)
    print(f"{len(raised)} diagnoses raised")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    written = {
        "seed": arguments.seed,
        "time limit": arguments.time_limit,
        "every": arguments.every,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "raised": len(raised),
        "table": result,
        "missed": missed(rows),
    }
    arguments.output.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return 1 if raised else 0


if __name__ == "__main__":
    sys.exit(main())
