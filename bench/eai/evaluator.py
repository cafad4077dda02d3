"""The evaluator of ``eai-eval`` in an environment of its own: asked about answers, and what its commands share."""

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

from bench.eai.answers import Answer

ROOT = Path(__file__).resolve().parents[2]
Reasons = tuple[str, ...] | None
"""Why ours and theirs differ: empty where they agree, ``None`` where nobody knows."""


def arguments(doc: str | None, count: int) -> argparse.ArgumentParser:
    """What every comparison takes; ``count`` is how many tasks it draws unless told."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--python", required=True, help="an interpreter that has eai-eval")
    parser.add_argument("--count", type=int, default=count, help="so many tasks, drawn by the seed")
    parser.add_argument("--each", type=int, default=6, help="so many changed answers a task")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--list", action="store_true", help="each difference")
    return parser


def data_for(python: str) -> Path | None:
    """The folder of EAI's tasks in VirtualHome; ``None`` where it or the evaluator is missing, which is printed."""
    folder = Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data")) / "eai-virtualhome"
    if not folder.is_dir():
        print(f"no {folder} (set PLANSAFE_DATA)")
        return None
    probe = [python, "-c", "import virtualhome_eval"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        print(f"{python} has no eai-eval")
        return None
    return folder


def asked(python: str, script: str, answers: Sequence[Answer]) -> dict[str, dict[str, Any]]:
    """What a script beside this file, run by the evaluator's interpreter, says of each answer, by its id."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.jsonl"
        rows = [json.dumps({"id": a.id, "task": a.task, "text": a.text}) + "\n" for a in answers]
        path.write_text("".join(rows), encoding="utf-8")
        command = [python, str(Path(__file__).with_name(script)), str(path)]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"the evaluator failed:\n{done.stderr[-2000:]}")
    return {row["id"]: row for row in map(json.loads, done.stdout.splitlines())}


def recorded(path: Path, known: Collection[str]) -> list[Answer]:
    """The answers of a file of JSON lines to the tasks that are known, each with the number of its line."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    answers = [Answer(f"{row['task']} {at}", row["task"], "recorded", row["text"]) for at, row in enumerate(rows)]
    return [answer for answer in answers if answer.task in known]


def named(reasons: Reasons) -> tuple[str, ...]:
    """The reasons of a difference, one that nobody knows included."""
    return ("NO REASON",) if reasons is None else reasons


def show_reasons(found: Sequence[Reasons], words: Mapping[str, str]) -> None:
    """How often both agree, and each reason, the commonest first."""
    tally = Counter([reason for reasons in found for reason in named(reasons)])
    print(f"{len([reasons for reasons in found if reasons == ()]):6}  the same")
    for name, number in tally.most_common():
        print(f"{number:6}  {name}{f': {words[name]}' if name in words else ''}")
