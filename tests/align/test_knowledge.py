"""Questions about our worlds: every answer is what the replay kernel, which knows only definitions, finds too."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest

from plansafe.align.knowledge import (
    MAX_TOKENS,
    NOTHING,
    PLACES,
    Asks,
    Question,
    line_of,
    origins,
    questions_of,
)
from plansafe.align.pairs.splits import split_of
from plansafe.align.prompts import bare
from plansafe.align.records import SftLine, read_sft, write_sft
from plansafe.align.tasks import AlignTask, task_of, virtualhome_origins
from plansafe.llm.prompts.prompt_options import tokens_of
from plansafe.verifier.kernel.kernel import Kernel
from plansafe.verifier.model.nodes import And
from plansafe.verifier.model.operations import conjuncts
from plansafe.verifier.model.printing import formula_text

SOME = ["drawn:stew/0/0", "drawn:tea/1/0", "drawn:pill/2/0", "drawn:plants/0/0", "scenario:crates-from-the-cellar"]


class Asked(NamedTuple):
    question: Question
    line: SftLine


@pytest.fixture(scope="module")
def some() -> list[Asked]:
    return [Asked(*one) for one in questions_of(SOME, 1000, 0)]


class Replay:
    """The kernel on a task, and on the same task with another goal."""

    def __init__(self, task: AlignTask) -> None:
        self.task = task
        kernel = task.checker.confirmer.kernel
        assert kernel is not None
        self.kernel = kernel
        self.states = lru_cache(maxsize=256)(kernel.states)

    def state(self, steps: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
        states = self.states("\n".join(steps))
        assert len(states) == len(steps) + 1, "the plan cannot be executed"
        return states[-1]

    def holds(self, steps: tuple[str, ...], condition: str) -> bool:
        """Whether a condition holds behind some steps: as the goal of the task, which the kernel judges."""
        compiled = self.task.checker.compiled
        problem = compiled.problem.text
        begin = problem.index("(:goal")
        depth = 0
        for end in range(begin, len(problem)):
            depth += {"(": 1, ")": -1}.get(problem[end], 0)
            if not depth:
                break
        text = f"{problem[:begin]}(:goal {condition}){problem[end + 1 :]}"
        return Kernel(compiled.domain.text, text).audit("\n".join(steps)).goal


def facts(texts: str) -> set[tuple[str, ...]]:
    return {tuple(text.split()) for text in texts.split(", ")}


def check(replay: Replay, question: Question) -> None:
    """Whether the kernel gives the same answer."""
    roles = PLACES[replay.task.world]
    before = replay.state(question.steps)
    match question.asks:
        case Asks.EFFECTS:
            after = replay.state((*question.steps, question.about))
            found = {fact for fact in after - before if len(fact) > 1}
            gone = {("not", *fact) for fact in before - after if len(fact) > 1}
            told = set() if question.answer == NOTHING else facts(question.answer)
            assert found | gone == {fact for fact in told if "=" not in fact}
        case Asks.NEEDS:
            plan = "\n".join((*question.steps, question.about))
            assert replay.kernel.audit(plan).executable == (question.answer == NOTHING)
            monitor = replay.task.checker.compiled
            step = monitor.engine.resolver.resolve_step(tuple(question.about[1:-1].split()))
            parts = conjuncts(And(step.action.start.condition))
            texts = [formula_text(monitor.engine.task, part, step.binding) for part in parts]
            unmet = [bare(text) for text in texts if not replay.holds(question.steps, text)]
            assert ", ".join(unmet) == (question.answer if unmet else "") and (unmet or question.answer == NOTHING)
        case Asks.PLACE:
            after = before
            told = facts(question.answer)
            assert told <= after
            here, known = {question.entity}, {question.entity}
            chain: set[tuple[str, ...]] = set()
            for _ in range(3):
                step_up = {f for f in after if len(f) == 3 and f[0] in roles and f[1 + roles[f[0]][0]] in here}
                chain |= step_up
                here = {f[1 + roles[f[0]][1]] for f in step_up} - known
                known |= here
            assert told == chain


@pytest.mark.slow
def test_every_answer_is_what_the_kernel_finds(some: list[Asked]) -> None:
    replays = {origin: Replay(task_of(origin)) for origin in SOME}
    assert len(some) >= 100 and {asked.question.asks for asked in some} == set(Asks)
    for asked in some:
        check(replays[asked.line.origin], asked.question)


@pytest.mark.slow
def test_scripts_of_virtualhome_are_asked_about_too(data: Path) -> None:
    origin = virtualhome_origins(str(data))[5]
    asked = [Asked(*one) for one in questions_of([origin], 1000, 0, str(data))]
    assert len(asked) >= 15 and all([one.line.world == "virtualhome" for one in asked])
    replay = Replay(task_of(origin, str(data)))
    kinds = {one.question.asks: one for one in asked if one.question.asks is not Asks.NEEDS}  # slow: a kernel for each
    for one in kinds.values():
        check(replay, one.question)
    assert Asks.EFFECTS in kinds and Asks.PLACE in kinds


@pytest.mark.slow
def test_a_seed_gives_the_same_questions_each_once(some: list[Asked]) -> None:
    assert [Asked(*one) for one in questions_of(SOME, 1000, 0)] == some
    first = [Asked(*one) for one in questions_of(SOME[:1], 1000, 0)]
    assert some[: len(first)] == first and [Asked(*one) for one in questions_of(SOME[:1], 3, 0)] == first[:3]
    other = [Asked(*one) for one in questions_of(SOME[:1], 1000, 1)]
    assert {one.line.prompt for one in other} != {one.line.prompt for one in first}
    assert len({one.line.prompt for one in some}) == len(some)


def test_tasks_are_of_all_sources_in_an_order_that_the_seed_decides() -> None:
    found = origins(2, 0, None)
    assert len(set(found)) == len(found) and origins(2, 0, None) == found != origins(2, 1, None)
    kinds = Counter([origin.partition(":")[0] for origin in found])
    assert kinds["drawn"] == 30 and kinds["scenario"] >= 60 and "virtualhome" not in kinds
    assert len({origin.partition(":")[0] for origin in found[:20]}) == 2


def test_lines_say_what_they_are_about_and_stay_short(some: list[Asked], tmp_path: Path) -> None:
    for question, line in some:
        task = line.origin
        assert line.kind == "knowledge" and line.prompt == question.prompt and line.completion == f"{question.answer}\n"
        assert line.split == split_of(line.family) and task in SOME
        assert line.prompt.endswith("?\nAnswer:\n") and "\n" not in question.answer
        assert tokens_of(line.prompt + line.completion) <= MAX_TOKENS + 1
    assert write_sft(str(tmp_path / "k.jsonl"), [line for _, line in some]) == len(some)
    assert list(read_sft(str(tmp_path / "k.jsonl"))) == [line for _, line in some]


def test_few_answers_say_that_there_is_nothing(some: list[Asked]) -> None:
    """A model that always says so would be right too often."""
    nothing = Counter([one.question.asks for one in some if one.question.answer == NOTHING])
    kinds = Counter([one.question.asks for one in some])
    assert all([nothing[asks] <= 0.2 * kinds[asks] + 1 for asks in Asks])


def test_what_no_step_changes_is_not_asked_for(some: list[Asked]) -> None:
    """A stove that stands in another room is missing for ever."""
    fixed = ("in-room ", "passage ", "links ", "hard-wired ", "opens ")
    needs = [one.question.answer for one in some if one.question.asks is Asks.NEEDS]
    assert needs and not [answer for answer in needs if answer.startswith(fixed)]


def test_a_line_is_made_of_its_question() -> None:
    task = task_of(SOME[0])
    question = Question(Asks.PLACE, (), "", "pan", "on stove: pan", "Where is pan?", "on pan stove")
    line = line_of(task, question)
    assert (line.prompt, line.completion) == ("on stove: pan\nQuestion: Where is pan?\nAnswer:\n", "on pan stove\n")
    assert (line.task, line.family, line.world, line.origin) == ("stew-0/0", "stew", "household", SOME[0])
