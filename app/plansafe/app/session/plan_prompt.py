"""The prompt for a plan, as the command line asks for it: its length, its examples, what it says beside the task."""

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
from plansafe.llm.prompts.wishes import CROPPED, WHOLE, PromptStyle, PromptWishes

NO_WORDS = "reach the goal"
_TASK = re.compile(r"^[ \t]*;+[ \t]*task[ \t]*:[ \t]*(\S[^\r\n]{0,500})", re.IGNORECASE | re.MULTILINE)


def plan_prompt(session: Session, prepared: Prepared, words: str, wishes: PromptWishes) -> Prompt:
    """What the model is told first.

    Raises :class:`BadOption` where it cannot be as short as was asked, or for examples that cannot be shown.
    """
    compiled = prepared.checker.compiled
    shown = () if wishes.style is PromptStyle.ZERO_SHOT else _examples(session, prepared, words, wishes)
    return short_enough(
        wishes.most_tokens,
        lambda tokens: planning_prompt(
            words,
            compiled,
            shown,
            safety=wishes.safety,
            refusal=wishes.refusal,
            kind=wishes.style.value if shown and wishes.style is not None else "",
            most_tokens=tokens,
        ),
        len(shown),
    )


def short_enough(most: int | None, make: Callable[[int], Prompt], shots: int = 0) -> Prompt:
    """The prompt that fits into ``most`` tokens, or into what is usual with so many examples.

    Raises :class:`BadOption` where none does.
    """
    prompt = make(most or WHOLE * (1 + shots))
    if most is None:
        return prompt if prompt.cropped is None else make(CROPPED * (1 + shots))
    if prompt.tokens > most:
        left = "with nothing but one thing of the home in it"
        raise BadOption(f"--prompt-tokens {most}: the prompt has about {prompt.tokens} {left}")
    return prompt


def _examples(session: Session, prepared: Prepared, words: str, wishes: PromptWishes) -> tuple[Example, ...]:
    """The examples of files, or else of the domain, that are shown: the first, or the nearest by words."""
    if wishes.examples:
        given = [_of_file(session, prepared, path) for path in wishes.examples]
        return tuple([given[n] for n in _chosen(words, [one.words for one in given], wishes)])
    task = prepared.checker.compiled.task
    own = next((used.source.text for used in prepared.inputs if used.role == "problem"), "")
    known = [one for one in shipped(task.name) if one.problem != own]
    if not known:
        if wishes.style is None:
            return ()
        raise BadOption(f"no examples are shipped for the domain {task.name}", "give plans with --example FILE")
    if wishes.style is not PromptStyle.NEAREST:
        known = [*[task for task in benchmark_examples() if task.problem != own], *known]
    examples = tuple([example(known[n]) for n in _chosen(words, [task.words for task in known], wishes)])
    if wishes.style is None and any([list(e.compiled.task.actions) != list(task.actions) for e in examples]):
        return ()  # a domain of the user that has only the name of a shipped one
    return examples


def _chosen(words: str, others: list[str], wishes: PromptWishes) -> list[int]:
    if wishes.style is PromptStyle.NEAREST:
        return nearest(words, others, wishes.shots)
    return list(range(len(others)))[: wishes.shots]


def _of_file(session: Session, prepared: Prepared, path: str) -> Example:
    """The example that a plan with its task is, found as for an audit. Raises :class:`BadOption`."""
    found = session.for_existing_plans().prepare(path)
    if isinstance(found, Result):
        wrong = [said.message for said in found.report.diagnostics if said.severity is Severity.ERROR]
        raise BadOption(f"--example {path}: {wrong[0] if wrong else 'it cannot be read'}")
    own, wanted = found.checker.compiled.task, prepared.checker.compiled.task
    read = found.checker.read(found.plan).text
    if read.diagnostics:
        raise BadOption(f"--example {path}: {read.diagnostics[0].message}")
    if own.name != wanted.name or list(own.actions) != list(wanted.actions):
        raise BadOption(f"--example {path} is of the domain {own.name}, and the task of {wanted.name}")
    said = _TASK.search(found.inputs[0].source.text)
    words = said[1].strip() if said else re.sub(r"[-_]+", " ", os.path.splitext(os.path.basename(path))[0])
    plan = "".join([f"({' '.join(step.tokens)})\n" for step in read.steps])
    return Example(words, found.checker.compiled, plan)
