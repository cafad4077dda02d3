"""Questions about many tasks, as lines for SFT: determined by the seed, each question once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from plansafe.align.knowledge.questions import NOTHING, Asks, Moment, Question
from plansafe.align.pairs.splits import split_of
from plansafe.align.records import SftLine
from plansafe.align.tasks import AlignTask, scenario_origins, task_of, virtualhome_origins
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.prompts.prompt_options import tokens_of
from plansafe.verifier.execution.one_world import NeedsOneWorld
from plansafe.verifier.execution.online_monitor import Monitor

MAX_TOKENS = 300
"""Tokens of a question with its answer, by :func:`~plansafe.llm.prompts.prompt_options.tokens_of`."""
MAX_OF_A_KIND = 10
"""Questions of a kind about a task."""
MAX_MOMENTS = 10
TRACES = 3
"""The plan of the task, and random deviations from it."""
_DEVIATION = 0.4
"""The share of random steps in a deviation."""
SCRIPTS = 80
"""Number of scripts of VirtualHome: each takes seconds."""


def origins(drawn: int, seed: int, data: str | None) -> list[str]:
    """The tasks: ``drawn`` draws of each family, shipped scenarios, and some scripts of VirtualHome, in random order.

    Raises ``OSError`` for data that cannot be read.
    """
    random = Random(f"knowledge/{seed}")
    selected = [f"drawn:{family}/{number}/{seed}" for family in FAMILIES for number in range(drawn)]
    selected += scenario_origins()
    if data is not None:
        scripts = virtualhome_origins(data)
        selected += random.sample(scripts, min(SCRIPTS, len(scripts)))
    random.shuffle(selected)
    return selected


def questions_of(
    origins: Iterable[str], count: int, seed: int, data: str | None = None
) -> Iterator[tuple[Question, SftLine]]:
    """At most ``count`` questions about tasks, each with its line."""
    prompts: set[str] = set()
    for origin in origins:
        task = task_of(origin, data)
        new = {question.prompt: question for question in about(task, seed) if question.prompt not in prompts}
        for question in _chosen(list(new.values()), Random(f"knowledge/{seed}/{origin}/chosen")):
            prompts.add(question.prompt)
            yield question, line_of(task, question)
            if len(prompts) >= count:
                return


def _chosen(questions: list[Question], random: Random) -> list[Question]:
    """Questions of a task, equally many of each kind, few with the answer ``nothing``."""
    random.shuffle(questions)
    chosen: list[Question] = []
    for asks in Asks:
        of_kind = [question for question in questions if question.asks is asks and _fits(question)]
        full = [question for question in of_kind if question.answer != NOTHING][:MAX_OF_A_KIND]
        empty = [question for question in of_kind if question.answer == NOTHING]
        chosen += full + empty[: -(-len(full) // 6)]
    return chosen


def _fits(question: Question) -> bool:
    return tokens_of(question.prompt + question.answer) <= MAX_TOKENS


def line_of(task: AlignTask, question: Question) -> SftLine:
    """The line of a question."""
    side = split_of(task.family)
    answer = f"{question.answer}\n"
    return SftLine(task.name, task.origin, task.family, task.world, side, question.prompt, answer, "knowledge")


def about(task: AlignTask, seed: int) -> Iterator[Question]:
    """Questions along the plan of a task and along deviations; none for a task with several possible worlds."""
    random = Random(f"knowledge/{seed}/{task.origin}")
    plan = tuple(task.reference.splitlines())
    for number in range(TRACES):
        try:
            monitor = Monitor(task.checker.compiled)
        except NeedsOneWorld:
            return
        steps: tuple[str, ...] = ()
        upcoming = plan
        for _ in range(MAX_MOMENTS):
            yield from Moment(monitor, steps, upcoming, task.world).questions(random)
            step = upcoming[0] if upcoming else None
            if number and (step is None or random.random() < _DEVIATION):
                legal = monitor.legal()
                step = random.choice(legal) if legal else None
            if step is None or not monitor.take(step).executable:
                break
            steps += (step,)
            upcoming = upcoming[1:] if upcoming and step == upcoming[0] else upcoming
