"""Measure diagnosis and the published error labels on the corpus of seeded faults.

usage: python -m bench.faults.evaluate [--seed N] [--singles N] [--doubles N] [--time-limit S] [--every N]
                                       [--only SOURCE ..] [--output FILE]

Prints the table and writes it, with the cases in which a seeded kind was not named, to FILE
(bench/results/faults.json). README.md defines what counts as right. Exit code 1 if a diagnosis raised an exception.
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

from bench.faults.corpus import KINDS, SHARES, Case, generate_corpus
from bench.faults.sources import load_sources
from bench.measure import spread

from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose import labels, labels_eai
from plansafe.verifier.diagnose.model import FLAGS, Diagnosis, ErrorClass
from plansafe.verifier.repair.model import RepairOptions

RESULTS = Path(__file__).resolve().parents[1] / "results" / "faults.json"
KIND_OF_EDIT = {"insert": "missing", "delete": "additional", "move": "order", "substitute": "substitute"}
KINDS_OF_LABEL: dict[str, tuple[str, ...]] = {
    labels.GRAMMAR: ("grammar",),
    labels_eai.PARSING: ("grammar",),
    labels_eai.HALLUCINATION: ("grammar",),
    labels_eai.ARGUMENTS: ("grammar",),
    labels.AFFORDANCE: ("affordance", "substitute"),
    labels.WRONG_ORDER: ("order",),
    labels.MISSING: ("missing",),
    labels.ADDITIONAL: ("additional",),
}
"""The kinds that a label names; other labels name none."""
GOAL_LABELS = (labels.UNMET_GOAL, labels_eai.UNSATISFIED_GOAL)
SCHEMES: dict[str, Callable[[Checker, Case], labels.PublishedLabel]] = {
    "SAFEL": lambda checker, case: labels.find_safel_label(checker, case.plan),
    "EAI, VirtualHome": lambda checker, case: labels_eai.find_eai_label(checker, case.plan, "virtualhome"),
    "EAI, BEHAVIOR": lambda checker, case: labels_eai.find_eai_label(checker, case.plan, "behavior"),
}


class Row(NamedTuple):
    """The results for one case. ``named``: the kinds that the diagnosis names; ``labels``: the label by scheme."""

    case: Case
    classes: tuple[str, ...]
    diagnosed_kinds: frozenset[str]
    labels: dict[str, str]
    seconds: float
    status: str
    cost: float
    error: str = ""


def named_kinds(diagnosis: Diagnosis) -> frozenset[str]:
    """The kinds of fault that a diagnosis names."""
    kinds: set[str] = set()
    for witness in diagnosis.witnesses:
        if witness.error.value in KINDS:
            kinds.add(witness.error.value)
        elif witness.error is ErrorClass.COMPOUND:
            kinds |= {KIND_OF_EDIT[edit] for edit, count in witness.vector if count}
    return frozenset(kinds)


def diagnose_case(case: Case, options: RepairOptions) -> Row:
    """Diagnose and label a case. The row contains the traceback of an exception."""
    from plansafe.verifier.diagnose.api import diagnose

    checker = case.task.checker()
    case_labels = {scheme: label(checker, case).name for scheme, label in SCHEMES.items()}
    start = time.perf_counter()
    try:
        diagnosis = diagnose(checker, case.plan, options)
    except Exception:
        return Row(case, (), frozenset(), case_labels, time.perf_counter() - start, "raised", 0, traceback.format_exc())
    seconds = time.perf_counter() - start
    classes = tuple([error.value for error in diagnosis.classes if error not in FLAGS])
    repair = diagnosis.repair
    cost = float(repair.repairs[0].cost) if repair.repairs else 0.0
    return Row(case, classes, named_kinds(diagnosis), case_labels, seconds, repair.status.value, cost)


# -- the table --------------------------------------------------------------------------------------------------------


def percentage(hits: Iterable[bool]) -> float | None:
    """The share of true values, in percent."""
    values = list(hits)
    return round(100 * sum(values) / len(values), 1) if values else None


def time_spread(rows: Sequence[Row]) -> dict[str, float]:
    """Median, 95th percentile and maximum of the seconds per case."""
    return spread([row.seconds for row in rows])


def diagnosis_figures(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures of diagnosis for these cases. Sizes exclude flags."""
    return {
        "cases": len(rows),
        "all kinds named": percentage([row.case.kinds <= row.diagnosed_kinds for row in rows]),
        "some kind named": percentage([bool(row.case.kinds & row.diagnosed_kinds) for row in rows]),
        "mean size": round(statistics.mean([len(row.classes) for row in rows]), 2),
        "mean kinds named": round(statistics.mean([len(row.diagnosed_kinds) for row in rows]), 2),
        "singletons": percentage([len(row.classes) == 1 for row in rows]),
        "right singletons": percentage(
            [len(row.classes) == 1 and row.case.kinds <= row.diagnosed_kinds for row in rows]
        ),
        "irreparable": percentage(["irreparable" in row.classes for row in rows]),
        "cost at most the faults": percentage(
            [row.status == "found" and row.cost <= len(row.case.faults) for row in rows]
        ),
        "seconds": time_spread(rows),
    }


def label_figures(rows: Sequence[Row], scheme: str) -> dict[str, Any]:
    """The figures of a label scheme for these cases."""
    kinds = [KINDS_OF_LABEL.get(row.labels[scheme], ()) for row in rows]
    is_right = [bool(row.case.kinds & set(label_kinds)) for row, label_kinds in zip(rows, kinds, strict=True)]
    is_goal = [row.labels[scheme] in GOAL_LABELS for row in rows]
    names_all = [row.case.kinds <= set(label_kinds) for row, label_kinds in zip(rows, kinds, strict=True)]
    return {
        "right": percentage(is_right),
        "or goal": percentage([right or goal for right, goal in zip(is_right, is_goal, strict=True)]),
        "all kinds named": percentage(names_all),
        "success": percentage([row.labels[scheme] == labels.SUCCESS for row in rows]),
    }


def all_figures(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures of diagnosis and of all label schemes for these cases."""
    return {"diagnosis": diagnosis_figures(rows), **{scheme: label_figures(rows, scheme) for scheme in SCHEMES}}


def figure_table(rows: Sequence[Row]) -> dict[str, Any]:
    """The table by number of faults: all cases, by source, by kind (single faults), and hazards."""
    result: dict[str, Any] = {}
    for number, name in ((1, "single"), (2, "double")):
        number_rows = [row for row in rows if len(row.case.faults) == number]
        if not number_rows:
            continue
        result[name] = {"all": all_figures(number_rows)}
        published = [row for row in number_rows if row.case.task.source in ("behavior", "virtualhome")]
        parts = {"published gold plans": published, "hazards": [row for row in number_rows if row.case.hazard]}
        for source in sorted({row.case.task.source for row in number_rows}):
            parts[f"source: {source}"] = [row for row in number_rows if row.case.task.source == source]
        if number == 1:
            parts["the four edits"] = [row for row in number_rows if row.case.kinds <= set(KIND_OF_EDIT.values())]
            for kind in KINDS:
                parts[f"kind: {kind}"] = [row for row in number_rows if row.case.kinds == {kind}]
        result[name].update({part: all_figures(part_rows) for part, part_rows in parts.items() if part_rows})
    return result


def missed_cases(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The cases in which a seeded kind was not named."""
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
        if not row.case.kinds <= row.diagnosed_kinds
    ]


def as_text(result: dict[str, Any]) -> str:
    """The table as text."""
    lines = []
    for number, parts in result.items():
        lines.append(
            f"{number + ' faults':28}{'cases':>6}{'named':>7}{'some':>7}{'size':>6}{'single':>8}{'right s.':>9}"
            f"{'median':>8}{'95 %':>7}{'max':>7}" + "".join([f"{scheme:>18}" for scheme in SCHEMES])
        )
        for part, columns in parts.items():
            diagnosis, seconds = columns["diagnosis"], columns["diagnosis"]["seconds"]
            lines.append(
                f"{part:28}{diagnosis['cases']:6}{diagnosis['all kinds named']:6.0f}%"
                f"{diagnosis['some kind named']:6.0f}%"
                f"{diagnosis['mean size']:6.2f}{diagnosis['singletons']:7.0f}%{diagnosis['right singletons']:8.0f}%"
                f"{seconds['median']:8.2f}{seconds['95 %']:7.2f}{seconds['max']:7.2f}"
                + "".join([f"{columns[name]['right']:10.0f}% ({columns[name]['or goal']:3.0f}%)" for name in SCHEMES])
            )
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    """Generate the corpus, diagnose it, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--singles", type=int, default=360)
    parser.add_argument("--doubles", type=int, default=240)
    parser.add_argument(
        "--time-limit", type=float, default=10.0, help="Time limit for the repair of one case, in seconds."
    )
    parser.add_argument("--every", type=int, default=1, help="Use only every Nth case.")
    parser.add_argument(
        "--only", nargs="+", choices=SHARES, metavar="SOURCE", help=f"Use only these sources: {', '.join(SHARES)}."
    )
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    sources = load_sources(arguments.seed, arguments.only)
    cases = generate_corpus(arguments.seed, arguments.singles, arguments.doubles, sources)[:: arguments.every]
    cases.sort(key=lambda case: (case.task.source, case.task.name))  # compiled tasks are cached
    options = RepairOptions(max_cost=8, time_limit_s=arguments.time_limit)
    rows = []
    for number, case in enumerate(cases, 1):
        rows.append(diagnose_case(case, options))
        if sys.stderr.isatty():
            print(f"\r{number} of {len(cases)}", end="", file=sys.stderr)
    result = figure_table(rows)
    print(as_text(result))
    raised = [row for row in rows if row.error]
    for row in raised[:3]:
        print(row.case.name, row.error)
    print(f"{len(raised)} diagnoses raised")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "seed": arguments.seed,
        "time limit": arguments.time_limit,
        "every": arguments.every,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "raised": len(raised),
        "table": result,
        "missed": missed_cases(rows),
    }
    arguments.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 1 if raised else 0


if __name__ == "__main__":
    sys.exit(main())
