"""Answer the records of ACPBench-Hard, check the reasons with the kernel, and evaluate the answers.

usage: python -m bench.field.acpbench [--records PATH] [--task NAME ..] [--limit N] [--time-limit S] [--answers FILE]
                                      [--evaluator PYTHON] [--list]

Reads the folder ``acpbench`` of the data sets (``PLANSAFE_DATA``); ``--records`` reads another file or folder, whose
records need not have answers. ``--evaluator`` is the Python of an environment with the published evaluator
(``published.py`` says how to make it). Exit codes: 0; 1 if an answer is UNKNOWN, not right by the definition, or has a
claim that the kernel refutes; 2 without data.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.data_sets import DATA_SETS
from bench.field.acpbench.answers import Answer, answer_record
from bench.field.acpbench.evaluator import Evaluation, evaluate
from bench.field.acpbench.reasons import KernelReplay, ShortestClaim
from bench.field.acpbench.records import GROUPS, Record, read_records

DATA = DATA_SETS / "acpbench"


class Result(NamedTuple):
    """A record with its answer. ``evaluation``: ``None`` if the record stores no answer."""

    record: Record
    answer: Answer
    evaluation: Evaluation | None
    replayed: bool | None


def answer_and_evaluate(record: Record, time_limit_s: float) -> Result:
    """Answer a record and evaluate the answer. A task with errors has the answer UNKNOWN."""
    try:
        answer = answer_record(record, time_limit_s)
    except ValueError as error:
        return Result(record, Answer(None, str(error)), None, None)
    if record.stored is not None:
        evaluation = evaluate(record, answer)
        return Result(record, answer, evaluation, evaluation.replayed)
    replay = KernelReplay(record)
    checks = [replay.check(claim) for claim in answer.claims if not isinstance(claim, ShortestClaim)]
    return Result(record, answer, None, None if None in checks else all(checks))


def make_entry(result: Result) -> dict[str, Any]:
    """Return a result as JSON: the answer, its reason, and the claims that the kernel replayed."""
    record, answer = result.record, result.answer
    return {
        "id": record.id,
        "group": GROUPS[record.task],
        "task": record.task,
        "answer": answer.value,
        "reason": answer.reason,
        "claims": [{"kind": type(claim).__name__, **claim._asdict()} for claim in answer.claims],
        "replayed": result.replayed,
    }


def run_published_evaluator(python: str, answers: Path, records: Path) -> dict[tuple[str, int], float]:
    """Return the scores of the published evaluator, by task and record."""
    script = Path(__file__).with_name("published.py")
    command = [python, str(script), str(answers), str(records)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(process.stderr)
    entries = [json.loads(line) for line in process.stdout.splitlines()]
    return {(entry["task"], entry["id"]): entry["score"] for entry in entries}


def explain_difference(result: Result, score: float | None) -> str:
    """Why an answer that is right by the definition is not a stored one, or is not accepted; empty if it is."""
    assert result.evaluation is not None
    if result.evaluation.is_stored and score in (None, 1.0):
        return ""
    verdict = "" if score is None else f"; the published evaluator {'accepts' if score == 1.0 else 'rejects'} it"
    return f"{result.answer.value}: {result.answer.reason}{verdict}"


def format_table(results: Sequence[Result], scores: dict[tuple[str, int], float]) -> list[str]:
    """Return the counts by task as a table in Markdown."""
    lines = ["| task | records | right by the definition | stored | published evaluator | UNKNOWN | replayed |"]
    lines.append("|---|---|---|---|---|---|---|")
    totals = Counter[str]()
    for task in [*GROUPS, "all"]:
        counts = totals if task == "all" else Counter[str]()
        for result in results if task != "all" else ():
            if result.record.task != task:
                continue
            evaluation = result.evaluation
            counts["records"] += 1
            counts["right"] += evaluation is not None and evaluation.is_right
            counts["stored"] += evaluation is not None and evaluation.is_stored
            counts["accepted"] += scores.get((task, result.record.id)) == 1.0
            counts["unknown"] += result.answer.value is None
            counts["replayed"] += result.replayed is True
        if counts["records"]:
            accepted = counts["accepted"] if scores else "not run"
            cells = [task, counts["records"], counts["right"], counts["stored"], accepted, counts["unknown"]]
            lines.append("| " + " | ".join([str(cell) for cell in [*cells, counts["replayed"]]]) + " |")
        totals.update(counts if task != "all" else {})
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer, evaluate and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--records", type=Path, default=DATA, help="Read this file or folder.")
    parser.add_argument("--task", nargs="+", choices=GROUPS, default=list(GROUPS), help="Answer only these tasks.")
    parser.add_argument("--limit", type=int, help="Answer only the first N records of each task.")
    parser.add_argument("--time-limit", type=float, default=60.0, help="Maximum time for the searches of a record (s).")
    parser.add_argument("--answers", type=Path, help="Write the answers with their reasons to this file (JSON lines).")
    parser.add_argument("--evaluator", metavar="PYTHON", help="Score the answers with the published evaluator.")
    parser.add_argument("--list", action="store_true", help="List the answers that are not the stored ones.")
    options = parser.parse_args(arguments)
    if not options.records.exists():
        print(f"no data at {options.records} (set PLANSAFE_DATA)", file=sys.stderr)
        return 2
    counts, results = Counter[str](), list[Result]()
    for record in read_records(options.records):
        counts[record.task] += 1
        if record.task in options.task and (options.limit is None or counts[record.task] <= options.limit):
            results.append(answer_and_evaluate(record, options.time_limit))
    scores: dict[tuple[str, int], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = options.answers or Path(folder) / "answers.jsonl"
        path.write_text("".join([json.dumps(make_entry(result)) + "\n" for result in results]), encoding="utf-8")
        if options.evaluator:
            scores = run_published_evaluator(options.evaluator, path, options.records)
    print("\n".join(format_table(results, scores)))
    for result in results if options.list else ():
        if result.evaluation is not None:
            explanation = explain_difference(result, scores.get((result.record.task, result.record.id)))
            if explanation:
                print(f"- {result.record.name} {result.record.id}: {explanation}")
    is_complete = all(
        [
            result.answer.value is not None
            and result.replayed is not False
            and (result.evaluation is None or result.evaluation.is_right)
            for result in results
        ]
    )
    return 0 if is_complete else 1


if __name__ == "__main__":
    sys.exit(main())
