"""Measure the agreement with VAL on plans of PlanBench, in one batch run.

usage: python -m bench.field.planbench [--limit N] [--jobs N] [--output FILE.md]

Reads the folder ``planbench`` of the data sets (``PLANSAFE_DATA``): plans that language models wrote, VAL's label of
each, and the texts of the tasks. VAL's "valid" corresponds to VALID, its "not valid" to INVALID. The kernel checks each
plan again. Every plan that differs, or has another verdict (NOT CHECKED, UNKNOWN), needs a reason: the script computes
it, or ``REASONS`` lists it. Exit codes: 0; 1 if a reason is missing, or the kernel disagrees; 2 without data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bench.data_sets import DATA_SETS

from plansafe.app.runs import read_run

HERE = Path(__file__).resolve().parent
DATA = DATA_SETS / "planbench"
REASONS: dict[str, str] = {}
"""Why the verdicts on a plan differ, by the plan's id, where the script cannot compute it."""
UNREADABLE = {
    "SC002": "its parentheses do not match",
    "SC003": "it is not a list of steps",
    "SC604": "the text is not a plan",
}
"""Codes of diagnostics about the text of a plan. VAL cannot read such a text either."""


def write_files(folder: Path, plans: list[dict[str, Any]]) -> None:
    """Write the table of plans, and the files of their tasks below ``tasks``."""
    tasks = json.loads(gzip.decompress((DATA / "tasks.json.gz").read_bytes()))
    for names, suffix in ((tasks["domains"], ".domain.pddl"), (tasks["instances"], "")):
        for name, text in names.items():
            path = folder / "tasks" / f"{name}{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    (folder / "plans.jsonl").write_text("".join([json.dumps(plan) + "\n" for plan in plans]), encoding="utf-8")


def run_audit(folder: Path, jobs: int) -> tuple[list[dict[str, Any]], float]:
    """The rows of a batch run over the table, and the seconds that the run took."""
    program = str(Path(sys.executable).with_name("safecheck"))
    flags = ["--domain", "tasks/{domain}.domain.pddl", "--problem", "tasks/{instance}", "--replay", "always"]
    command = [program, "audit", "plans.jsonl", *flags, "--run", "run", "--jobs", str(jobs)]
    start = time.perf_counter()
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if process.returncode not in (0, 1, 2):
        raise RuntimeError(process.stderr)
    return list(read_run(folder / "run").rows()), seconds


def find_reason(row: dict[str, Any]) -> str:
    """Why the verdict on a plan is not VAL's; empty if that is unknown."""
    if row["id"] in REASONS:
        return REASONS[row["id"]]
    errors = [diagnostic for diagnostic in row["diagnostics"] if diagnostic["severity"] == "error"]
    if row["headline"] != "NOT CHECKED" or row["columns"]["val_says_valid"] or not errors:
        return ""
    return next(
        (
            f"{UNREADABLE[diagnostic['code']]}: {diagnostic['message']}"
            for diagnostic in errors
            if diagnostic["code"] in UNREADABLE
        ),
        "",
    )


def describe_commit() -> str:
    """The commit that is measured, as pages name it; empty outside of a repository."""
    command = ["git", "-C", str(HERE), "rev-parse", "--short=7", "HEAD"]
    revision = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return f" (at {revision})" if revision else ""


def format_report(rows: list[dict[str, Any]], seconds: float, jobs: int) -> tuple[str, int]:
    """The result as Markdown, and the number of disagreements without a reason, the kernel's included."""
    counts = Counter([(row["columns"]["val_says_valid"], row["headline"]) for row in rows])
    disagreements = [
        row for row in rows if row["headline"] != ("VALID" if row["columns"]["val_says_valid"] else "INVALID")
    ]
    by_domain: dict[str, Counter[str]] = {}
    for row in rows:
        by_domain.setdefault(row["columns"]["domain"], Counter())["plans"] += 1
    for row in disagreements:
        by_domain[row["columns"]["domain"]]["differ"] += 1
    lines = ["# PlanBench: agreement with VAL", ""]
    lines += [
        f"{len(rows) - len(disagreements)} of {len(rows)} plans have VAL's verdict; {len(disagreements)} differ.",
        "",
    ]
    lines += ["| VAL | safecheck | plans |", "|---|---|---|"]
    lines += [
        f"| {'valid' if valid else 'not valid'} | {name} | {count} |" for (valid, name), count in sorted(counts.items())
    ]
    lines += ["", "| domain | plans | differ |", "|---|---|---|"]
    lines += [f"| {name} | {count['plans']} | {count['differ']} |" for name, count in sorted(by_domain.items())]
    contradictions = sum([diagnostic["code"] == "SC901" for row in rows for diagnostic in row["diagnostics"]])
    lines += ["", f"{seconds:.1f} s with {jobs} process(es){describe_commit()}; the kernel checked every plan again:"]
    lines += [f"{contradictions} contradictions."]
    reasons = [(row, find_reason(row)) for row in disagreements]
    if disagreements:
        lines += ["", "Disagreements:"]
        lines += [f"- {row['id']} ({row['headline']}): {explanation or 'UNEXPLAINED'}" for row, explanation in reasons]
    return "\n".join(lines) + "\n", contradictions + sum([not explanation for _, explanation in reasons])


def main() -> int:
    """Audit the plans and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--limit", type=int, help="Audit only the first N plans.")
    parser.add_argument("--jobs", type=int, default=1, help="Number of processes.")
    parser.add_argument("--output", type=Path, help="Write the result to this file.")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"no data at {DATA} (set PLANSAFE_DATA)", file=sys.stderr)
        return 2
    lines = gzip.decompress((DATA / "plans.jsonl.gz").read_bytes()).decode().splitlines()
    plans = [json.loads(line) for line in lines[: options.limit]]
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), plans)
        rows, seconds = run_audit(Path(folder), options.jobs)
    text, unexplained = format_report(rows, seconds, options.jobs)
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    return 1 if unexplained or len(rows) != len(plans) else 0


if __name__ == "__main__":
    sys.exit(main())
