"""Ask a model for rules and keep its answers as JSON lines, which ``replay/FILE`` reads and ``evaluate.py`` judges.

usage: python -m bench.formalise.record chip|traps --model PROVIDER/NAME --output FILE [--samples N] [--limit N]
    [--threads N] [--data FOLDER]

Answers are appended as they come; a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from bench.formalise.sentences import chip_home, chip_sentences, sampled, traps

from plansafe.llm.formalise.asking import FormaliseOptions, question
from plansafe.llm.formalise.home import small_home
from plansafe.llm.models.providers import Settings, open_model
from plansafe.llm.models.request import Request, address
from plansafe.llm.prompts.formalising import Language
from plansafe.verifier.api import Checker, Options

ROOT = Path(__file__).resolve().parents[2]
CHIP_COUNT = 40
MAX_TOKENS = 120
TEMPERATURE = 0.5


def wishes_for(which: str, samples: int) -> FormaliseOptions:
    """How the answers of one set were asked for."""
    return FormaliseOptions(Language.LTL if which == "chip" else Language.RULES, samples, TEMPERATURE, MAX_TOKENS)


def asked(which: str, data: Path, samples: int) -> list[tuple[str, list[Request]]]:
    """The sentences of a set with their requests."""
    wishes = wishes_for(which, samples)
    if which == "chip":
        tasks = {home: chip_home(home) for home in ("0", "1")}
        said = [(c.sentence, tasks[c.home]) for c in sampled(chip_sentences(data / "safety-chip-ltl"), CHIP_COUNT)]
    else:
        task = Checker(*small_home("household"), (), Options(replay="never"))
        said = [(trap.sentence, task) for trap in traps()]
    return [(s, [question(s, task.compiled, wishes, n) for n in range(samples)]) for s, task in said]


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Ask a model for rules and keep its answers.")
    default = os.environ.get("PLANSAFE_DATA", str(ROOT.parent / "shared" / "data"))
    parser.add_argument("which", choices=("chip", "traps"))
    parser.add_argument("--model", required=True)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--data", default=default, type=Path)
    options = parser.parse_args()
    model = open_model(options.model, Settings(threads=options.threads, context=4096))
    done = set()
    if options.output.exists():
        done = {json.loads(line)["request"] for line in options.output.read_text(encoding="utf-8").splitlines()}
    with options.output.open("a", encoding="utf-8") as out:
        for sentence, requests in asked(options.which, options.data, options.samples)[: options.limit]:
            for request in requests:
                if (key := address(request)) in done:
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
