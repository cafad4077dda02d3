"""Ask a model for rules and write its answers as JSON lines, the input of ``replay/FILE`` and ``evaluate.py``.

usage: python -m bench.formalise.record chip|traps --model PROVIDER/NAME --output FILE [--samples N] [--limit N]
    [--threads N] [--data FOLDER]

Each answer is appended at once; an interrupted run continues where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bench.data_sets import DATA_SETS
from bench.formalise.sentences import compile_home, draw_sample, read_chip_sentences, read_traps

from plansafe.llm.formalise.asking import FormaliseOptions, question
from plansafe.llm.formalise.home import small_home
from plansafe.llm.models.providers import Settings, open_model
from plansafe.llm.models.request import Request, address
from plansafe.llm.prompts.formalising import Language
from plansafe.verifier.api import Checker, Options

CHIP_COUNT = 40
MAX_TOKENS = 120
TEMPERATURE = 0.5


def make_requests(set_name: str, data: Path, samples: int) -> list[tuple[str, list[Request]]]:
    """Return the sentences of a set, each with its requests."""
    language = Language.LTL if set_name == "chip" else Language.RULES
    options = FormaliseOptions(language, samples, TEMPERATURE, MAX_TOKENS)
    if set_name == "chip":
        tasks = {home: compile_home(home) for home in ("0", "1")}
        sample = draw_sample(read_chip_sentences(data / "safety-chip-ltl"), CHIP_COUNT)
        sentences = [(chip.sentence, tasks[chip.home]) for chip in sample]
    else:
        task = Checker(*small_home("household"), (), Options(replay="never"))
        sentences = [(trap.sentence, task) for trap in read_traps()]
    return [
        (sentence, [question(sentence, task.compiled, options, number) for number in range(samples)])
        for sentence, task in sentences
    ]


def make_parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that recording and evaluation share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("set", choices=("chip", "traps"), help="sentences of Safety Chip, or sentences with traps")
    parser.add_argument("--samples", type=int, default=5, help="answers to each sentence")
    parser.add_argument("--limit", type=int, help="use only the first sentences, up to this number")
    parser.add_argument("--data", default=DATA_SETS, type=Path, help="folder of the public data sets")
    return parser


def main() -> int:
    """Run from the command line."""
    parser = make_parser("Ask a model for rules and write its answers.")
    parser.add_argument("--model", required=True)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    model = open_model(options.model, Settings(threads=options.threads, context=4096))
    recorded = set()
    if options.output.exists():
        recorded = {json.loads(line)["request"] for line in options.output.read_text(encoding="utf-8").splitlines()}
    with options.output.open("a", encoding="utf-8") as out:
        for sentence, requests in make_requests(options.set, options.data, options.samples)[: options.limit]:
            for request in requests:
                if (key := address(request)) in recorded:
                    continue
                answer = model.answer(request)
                record = {"request": key, "sentence": sentence, "sample": request.sample, "text": answer.text}
                record |= {"finish": answer.finish.value, "enforced": answer.enforced.value}
                record |= {"completion_tokens": answer.completion_tokens}
                out.write(json.dumps(record, ensure_ascii=True) + "\n")
                out.flush()
    model.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
