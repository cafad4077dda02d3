"""Build the prompt for a plan with the requested length, examples and additional sections."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from plansafe.app.session.audit import Session
from plansafe.app.session.model import Prepared, Result
from plansafe.app.session.option_values import BadOption
from plansafe.grammar.diagnostics import Severity
from plansafe.llm.prompts.examples import benchmark_examples, example, nearest, shipped
from plansafe.llm.prompts.planning import Example, Prompt, planning_prompt
from plansafe.llm.prompts.prompt_options import CROPPED, WHOLE, PromptOptions, PromptStyle

NO_WORDS = "reach the goal"
_TASK = re.compile(r"^[ \t]*;+[ \t]*task[ \t]*:[ \t]*(\S[^\r\n]{0,500})", re.IGNORECASE | re.MULTILINE)


def plan_prompt(session: Session, prepared: Prepared, words: str, wishes: PromptOptions) -> Prompt:
    """Build the first prompt.

    Raises :class:`BadOption` if it exceeds the requested length, or if an example cannot be used.
    """
    compiled = prepared.checker.compiled
    examples = () if wishes.style is PromptStyle.ZERO_SHOT else _examples(session, prepared, words, wishes)
    return short_enough(
        wishes.most_tokens,
        lambda tokens: planning_prompt(
            words,
            compiled,
            examples,
            safety=wishes.safety,
            refusal=wishes.refusal,
            kind=wishes.style.value if examples and wishes.style is not None else "",
            most_tokens=tokens,
        ),
        len(examples),
    )


def short_enough(most: int | None, make: Callable[[int], Prompt], shots: int = 0) -> Prompt:
    """Build a prompt of at most ``most`` tokens; the default limit depends on the number of examples.

    Raises :class:`BadOption` if the shortest prompt is longer.
    """
    prompt = make(most or WHOLE * (1 + shots))
    if most is None:
        return prompt if prompt.cropped is None else make(CROPPED * (1 + shots))
    if prompt.tokens > most:
        raise BadOption(f"--prompt-tokens {most}: the shortest prompt has about {prompt.tokens} tokens")
    return prompt


def _examples(session: Session, prepared: Prepared, words: str, wishes: PromptOptions) -> tuple[Example, ...]:
    """Choose examples from files or the shipped ones of the domain: the first, or the most similar by words."""
    if wishes.examples:
        file_examples = [_of_file(session, prepared, path) for path in wishes.examples]
        return tuple(
            [file_examples[n] for n in _chosen(words, [candidate.words for candidate in file_examples], wishes)]
        )
    task = prepared.checker.compiled.task
    own_problem = next((used.source.text for used in prepared.inputs if used.role == "problem"), "")
    candidates = [candidate for candidate in shipped(task.name) if candidate.problem != own_problem]
    if not candidates:
        if wishes.style is None:
            return ()
        raise BadOption(f"no examples are shipped for the domain {task.name}", "name plans with --example FILE")
    if wishes.style is not PromptStyle.NEAREST:
        candidates = [*[task for task in benchmark_examples() if task.problem != own_problem], *candidates]
    examples = tuple([example(candidates[n]) for n in _chosen(words, [task.words for task in candidates], wishes)])
    if wishes.style is None and any([list(e.compiled.task.actions) != list(task.actions) for e in examples]):
        return ()  # a different domain with the name of a shipped one
    return examples


def _chosen(words: str, example_words: list[str], wishes: PromptOptions) -> list[int]:
    if wishes.style is PromptStyle.NEAREST:
        return nearest(words, example_words, wishes.shots)
    return list(range(len(example_words)))[: wishes.shots]


def _of_file(session: Session, prepared: Prepared, path: str) -> Example:
    """Read a plan and its task as an example; inputs are found as for an audit. Raises :class:`BadOption`."""
    prepared_example = session.for_existing_plans().prepare(path)
    if isinstance(prepared_example, Result):
        errors = [x.message for x in prepared_example.report.diagnostics if x.severity is Severity.ERROR]
        raise BadOption(f"--example {path}: {errors[0] if errors else 'it cannot be read'}")
    own_task, task_of_prompt = prepared_example.checker.compiled.task, prepared.checker.compiled.task
    read = prepared_example.checker.read(prepared_example.plan).text
    if read.diagnostics:
        raise BadOption(f"--example {path}: {read.diagnostics[0].message}")
    if own_task.name != task_of_prompt.name or list(own_task.actions) != list(task_of_prompt.actions):
        raise BadOption(f"--example {path} is of the domain {own_task.name}, but the task is of {task_of_prompt.name}")
    task_comment = _TASK.search(prepared_example.inputs[0].source.text)
    words = (
        task_comment[1].strip() if task_comment else re.sub(r"[-_]+", " ", os.path.splitext(os.path.basename(path))[0])
    )
    plan = "".join([f"({' '.join(step.tokens)})\n" for step in read.steps])
    return Example(words, prepared_example.checker.compiled, plan)
