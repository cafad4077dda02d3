"""Run the evaluator of ``eai-eval`` in its own environment; options and output that the comparisons share."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.data_sets import DATA_SETS
from bench.eai.answers import Answer

Reasons = tuple[str, ...] | None
"""Why the two verdicts on an answer differ: empty if they agree, ``None`` if the difference is not explained."""


def make_parser(doc: str | None, count: int) -> argparse.ArgumentParser:
    """Return a parser with the options of all comparisons; ``count`` is the default of ``--count``."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--python", required=True, help="an interpreter that has eai-eval")
    parser.add_argument("--count", type=int, default=count, help="number of tasks, drawn with the seed")
    parser.add_argument("--each", type=int, default=6, help="number of changed answers for each task")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answers", type=Path, help="compare the answers of this file")
    parser.add_argument("--list", action="store_true", help="print each difference")
    return parser


def find_data(python: str) -> Path | None:
    """Return the folder of EAI's VirtualHome tasks; if it or ``eai-eval`` is missing, print so and return ``None``."""
    folder = DATA_SETS / "eai-virtualhome"
    if not folder.is_dir():
        print(f"no {folder} (set PLANSAFE_DATA)")
        return None
    probe = [python, "-c", "import virtualhome_eval"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        print(f"{python} has no eai-eval")
        return None
    return folder


def run_evaluator(python: str, script: str, answers: Sequence[Answer]) -> dict[str, dict[str, Any]]:
    """Run a script of this folder with the interpreter of ``eai-eval``; return its output by the answers' ids."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.jsonl"
        rows = [json.dumps({"id": answer.id, "task": answer.task, "text": answer.text}) + "\n" for answer in answers]
        path.write_text("".join(rows), encoding="utf-8")
        command = [python, str(Path(__file__).with_name(script)), str(path)]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}
        completed = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if completed.returncode:
        raise SystemExit(f"the evaluator failed:\n{completed.stderr[-2000:]}")
    return {row["id"]: row for row in map(json.loads, completed.stdout.splitlines())}


def read_recorded(path: Path, tasks: Collection[str]) -> list[Answer]:
    """Return the answers of a file of JSON lines to these tasks, identified by task and line number."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    answers = [Answer(f"{row['task']} {at}", row["task"], "recorded", row["text"]) for at, row in enumerate(rows)]
    return [answer for answer in answers if answer.task in tasks]


def name_reasons(reasons: Reasons) -> tuple[str, ...]:
    """Return the names of the reasons; ``NO REASON`` if the difference is not explained."""
    return ("NO REASON",) if reasons is None else reasons


def print_reasons(reasons_by_answer: Sequence[Reasons], explanations: Mapping[str, str]) -> None:
    """Print the number of equal verdicts, then the number of times that each reason applies, in descending order."""
    tally = Counter([reason for reasons in reasons_by_answer for reason in name_reasons(reasons)])
    print(f"{len([reasons for reasons in reasons_by_answer if reasons == ()]):6}  the same")
    for name, number in tally.most_common():
        print(f"{number:6}  {name}{f': {explanations[name]}' if name in explanations else ''}")
