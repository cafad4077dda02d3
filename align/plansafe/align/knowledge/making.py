"""Questions about many tasks, as lines for SFT: the same ones for the same seed, each once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from plansafe.align.knowledge.questions import LARGE, NOTHING, Asks, Moment, Question
from plansafe.align.pairs.splits import split_of
from plansafe.align.records import SftLine
from plansafe.align.tasks import AlignTask, scenario_origins, task_of, virtualhome_origins
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.prompts.crop import named_in
from plansafe.llm.prompts.tokens import tokens_of
from plansafe.verifier.execution.one_world import NeedsOneWorld
from plansafe.verifier.execution.online_monitor import Monitor
from plansafe.verifier.execution.steps import GroundAction

MOST_TOKENS = 300
"""Of a question with its answer, by :func:`~plansafe.llm.prompts.tokens.tokens_of`."""
MOST_OF_A_KIND = 5
"""Of a task."""
MOST_MOMENTS = 10
WALKS = 3
"""Along the plan that comes with the task, and on ways that leave it."""
_LEAVES = 0.4
"""How often a step is another than the plan's, on these ways."""
SCRIPTS = 80
"""Of VirtualHome: a task of it takes seconds."""


def origins(drawn: int, seed: int, data: str | None) -> list[str]:
    """The tasks that are asked about: so many draws of each family, shipped scenarios, some scripts of VirtualHome.

    In a random order, so that the first ones are of all kinds. Raises ``OSError`` for data that cannot be read.
    """
    random = Random(f"knowledge/{seed}")
    found = [f"drawn:{family}/{number}/{seed}" for family in FAMILIES for number in range(drawn)]
    found += scenario_origins()
    if data is not None:
        scripts = virtualhome_origins(data)
        found += random.sample(scripts, min(SCRIPTS, len(scripts)))
    random.shuffle(found)
    return found


def made(origins: Iterable[str], count: int, seed: int, data: str | None = None) -> Iterator[tuple[Question, SftLine]]:
    """Questions about tasks one after the other, each with its line, until there are ``count`` of them."""
    asked: set[str] = set()
    for origin in origins:
        task = task_of(origin, data)
        new = {question.prompt: question for question in about(task, seed) if question.prompt not in asked}
        for question in _chosen(list(new.values()), Random(f"knowledge/{seed}/{origin}/chosen")):
            asked.add(question.prompt)
            yield question, line_of(task, question)
            if len(asked) >= count:
                return


def _chosen(questions: list[Question], random: Random) -> list[Question]:
    """Some questions of a task: of each kind as many, and among these few whose answer is that there is nothing."""
    random.shuffle(questions)
    chosen: list[Question] = []
    for asks in Asks:
        those = [one for one in questions if one.asks is asks and tokens_of(one.prompt + one.answer) <= MOST_TOKENS]
        full = [one for one in those if one.answer != NOTHING][:MOST_OF_A_KIND]
        empty = [one for one in those if one.answer == NOTHING]
        chosen += full + empty[: max(1, len(full)) if asks is Asks.RULES else -(-len(full) // 6)]
    return chosen


def line_of(task: AlignTask, question: Question) -> SftLine:
    """The line of a question."""
    side = split_of(task.family)
    answer = f"{question.answer}\n"
    return SftLine(task.name, task.origin, task.family, task.world, side, question.prompt, answer, "knowledge")


def about(task: AlignTask, seed: int) -> Iterator[Question]:
    """Questions along the plan of a task, and on ways that leave it. None where its description leaves things open."""
    random = Random(f"knowledge/{seed}/{task.origin}")
    plan = tuple(task.reference.splitlines())
    for number in range(WALKS):
        try:
            monitor = Monitor(task.checker.compiled)
        except NeedsOneWorld:
            return
        steps: tuple[str, ...] = ()
        ahead = plan
        focus = [*named_in(monitor.task.goal), *[one for text in plan for one in _objects(monitor, text)]]
        for _ in range(MOST_MOMENTS if len(monitor.task.objects) <= LARGE else MOST_MOMENTS // 2):
            yield from Moment(monitor, steps, ahead, focus, task.world).questions(random)
            step = ahead[0] if ahead else None
            if number and (step is None or random.random() < _LEAVES):
                legal = monitor.legal()
                step = random.choice(legal) if legal else None
            if step is None or not monitor.take(step).executable:
                break
            steps += (step,)
            ahead = ahead[1:] if ahead and step == ahead[0] else ahead


def _objects(monitor: Monitor, text: str) -> tuple[int, ...]:
    step = monitor.step(text)
    return step.objects if isinstance(step, GroundAction) else ()
