"""Baselines that change only the prompt: few-shot, LLM-Planner, and a safety prompt (Safe-BeAl, table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from plansafe.align.evaluating.tasks import EvalTask
from plansafe.align.reproducing.sizes import Prompting
from plansafe.align.reproducing.task_sets import compiled_task
from plansafe.llm.prompts.examples import nearest
from plansafe.llm.prompts.planning import SAFETY


def with_prompting(
    tasks: Sequence[EvalTask], training: Sequence[EvalTask], prompting: Prompting, seed: int
) -> list[EvalTask]:
    """The tasks with the prompts of a baseline."""
    paragraph = f"{SAFETY}\n" if prompting.safety else ""
    words = {task.id: compiled_task(task.origin).words for task in training} if prompting.example == "nearest" else {}
    prompts = []
    for task in tasks:
        examples = [example for example in training if example.family != task.family and example.reference]
        text = ""
        if prompting.example == "random" and examples:
            text = _text(Random(f"{seed}/{task.id}").choice(examples))
        elif prompting.example == "nearest" and examples:
            candidates = [words[example.id] for example in examples]
            text = _text(examples[nearest(compiled_task(task.origin).words, candidates, 1)[0]])
        prompts.append(task._replace(prompt=f"{paragraph}{text}{task.prompt}"))
    return prompts


def _text(example: EvalTask) -> str:
    return f"{example.prompt}{example.reference}\n"
