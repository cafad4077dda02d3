"""Score answers with the published evaluator of ACPBench-Hard, in an environment that has it.

usage: PYTHON bench/field/acpbench/published.py ANSWERS.jsonl RECORDS

``pip install "tarski[clingo]==0.8.2" pddl==0.4.2 kstar-planner==1.4.2 "lark>=1.1.9"`` and ``pip install --no-deps
lm_eval`` make the environment. ``python -m bench.field.acpbench --answers`` writes ``ANSWERS.jsonl``; ``RECORDS`` is
the folder of the benchmark. Prints a JSON line with ``id``, ``task`` and ``score`` for each answer. Standard library
only: this file runs without the project.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib.util
import io
import json
import sys
import types
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

EVALUATOR = "lm_eval/tasks/acpbench/gen_2shot/acp_utils.py"


def load_evaluator() -> Any:
    """Load the evaluator of lm-evaluation-harness without the harness, which needs much more."""
    registry, extraction = types.ModuleType("lm_eval.api.registry"), types.ModuleType("lm_eval.filters.extraction")
    registry.register_filter = lambda _name: lambda cls: cls  # type: ignore[attr-defined]
    extraction.RegexFilter = object  # type: ignore[attr-defined]
    for name in ("lm_eval", "lm_eval.api", "lm_eval.filters"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules |= {registry.__name__: registry, extraction.__name__: extraction}
    path = distribution("lm_eval").locate_file(EVALUATOR)
    spec = importlib.util.spec_from_file_location("acp_utils", str(path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def format_answer(value: Any) -> str:
    """Return an answer as the text that the evaluator's grammar reads."""
    if isinstance(value, dict):
        return " ".join(["[" + ", ".join(value[side]) + "]" for side in ("pos", "neg")])
    return " ".join(value) if isinstance(value, list) else str(value)


def main() -> int:
    """Score all answers."""
    answers, folder = Path(sys.argv[1]), Path(sys.argv[2])
    evaluator = load_evaluator()
    records = {}
    for file in folder.glob("*.gen.json*"):
        data = file.read_bytes()
        for record in json.loads(gzip.decompress(data) if file.suffix == ".gz" else data):
            records[record["group"], record["id"]] = record
    for line in answers.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        record = records[entry["group"], entry["id"]]
        with contextlib.redirect_stdout(io.StringIO()):
            parser = evaluator.ACPGrammarParser(evaluator.get_grammar_task(record["group"]))
            parsed = parser.parse(format_answer(entry["answer"]))
            score = 0.0 if parsed is None else evaluator.get_evaluator(record["group"]).get_score([parsed], record)
        print(json.dumps({"id": entry["id"], "task": entry["task"], "score": float(score)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
