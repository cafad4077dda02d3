"""A model's answers to the prompts of the Embodied Agent Interface.

usage: python -m bench.eai.ask PROMPTS.json --model PROVIDER/NAME --output ANSWERS.jsonl [--limit N] [--max-tokens N]

``PROMPTS.json`` is what ``eai-eval`` writes (``--mode generate_prompts``): of action sequencing, goal interpretation,
transition modeling, for VirtualHome and for BEHAVIOR. The answers are lines ``{"task", "text", "finish"}``, and beside
them, as ``ANSWERS.jsonl.eai.json``, the file that ``eai-eval`` judges. An answer that is kept is not asked for again.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bench.eai.scenes import read_prompts

from plansafe.llm.models.answer import Answer
from plansafe.llm.models.batch import ask_all
from plansafe.llm.models.port import ModelError
from plansafe.llm.models.providers import Settings, opened


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("prompts", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--limit", type=int, help="the first so many prompts")
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument("--context", type=int, default=8192, help="of weights in this process")
    options = parser.parse_args()
    try:
        asked = read_prompts(options.prompts)[: options.limit]
        settings = Settings(base_url=options.base_url, context=options.context)
        with opened(options.model, settings) as (model, cache):
            answers = ask_all(model, [one.request(options.max_tokens) for one in asked], cache)
    except (ValueError, OSError) as error:
        print(error)
        return 2
    except ModelError as error:
        print(error.diagnostic.message)
        return 2
    done = [(one, answer) for one, answer in zip(asked, answers, strict=True) if isinstance(answer, Answer)]
    rows = [{"task": one.identifier, "text": answer.text, "finish": answer.finish.value} for one, answer in done]
    options.output.write_text("".join([json.dumps(row) + "\n" for row in rows]), encoding="utf-8")
    theirs = [{"identifier": one.identifier, "llm_output": answer.text} for one, answer in done]
    options.output.with_name(f"{options.output.name}.eai.json").write_text(json.dumps(theirs), encoding="utf-8")
    print(f"{len(done)} of {len(asked)} answers, {sum([len(answer.text) for _, answer in done]):,} characters")
    return 0 if len(done) == len(asked) else 1


if __name__ == "__main__":
    sys.exit(main())
