"""A model's answers to the prompts of the Embodied Agent Interface.

usage: python -m bench.eai.ask PROMPTS.json --model PROVIDER/NAME --output ANSWERS.jsonl [--limit N] [--max-tokens N]

``eai-eval`` writes ``PROMPTS.json`` (``--mode generate_prompts``) for action sequencing, goal interpretation and
transition modeling, in VirtualHome and in BEHAVIOR. The output has lines ``{"task", "text", "finish"}``. The file
``ANSWERS.jsonl.eai.json`` has the same answers in the format that ``eai-eval`` reads. Cached answers are not requested
again.
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
    parser.add_argument("--limit", type=int, help="use only the first prompts, up to this number")
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument(
        "--context", type=int, default=8192, help="context length of a model in this process, in tokens"
    )
    options = parser.parse_args()
    try:
        prompts = read_prompts(options.prompts)[: options.limit]
        settings = Settings(base_url=options.base_url, context=options.context)
        with opened(options.model, settings) as (model, cache):
            answers = ask_all(model, [prompt.request(options.max_tokens) for prompt in prompts], cache)
    except (ValueError, OSError) as error:
        print(error)
        return 2
    except ModelError as error:
        print(error.diagnostic.message)
        return 2
    answered = [(prompt, answer) for prompt, answer in zip(prompts, answers, strict=True) if isinstance(answer, Answer)]
    rows = [
        {"task": prompt.identifier, "text": answer.text, "finish": answer.finish.value} for prompt, answer in answered
    ]
    options.output.write_text("".join([json.dumps(row) + "\n" for row in rows]), encoding="utf-8")
    theirs = [{"identifier": prompt.identifier, "llm_output": answer.text} for prompt, answer in answered]
    options.output.with_name(f"{options.output.name}.eai.json").write_text(json.dumps(theirs), encoding="utf-8")
    characters = sum([len(answer.text) for _, answer in answered])
    print(f"{len(answered)} of {len(prompts)} answers, {characters:,} characters")
    return 0 if len(answered) == len(prompts) else 1


if __name__ == "__main__":
    sys.exit(main())
