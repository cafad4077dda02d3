"""Test questions about worlds: the replay kernel confirms every answer."""

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
from plansafe.verifier.model.printing import format_formula

ORIGINS = ["drawn:stew/0/0", "drawn:tea/1/0", "drawn:pill/2/0", "drawn:plants/0/0", "scenario:crates-from-the-cellar"]


class PosedQuestion(NamedTuple):
    question: Question
    line: SftLine


@pytest.fixture(scope="module")
def posed() -> list[PosedQuestion]:
    return [PosedQuestion(*entry) for entry in questions_of(ORIGINS, 1000, 0)]


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
        """Whether a condition holds after these steps: the kernel decides it as the goal of the task."""
        compiled = self.task.checker.compiled
        problem = compiled.problem.text
        start = problem.index("(:goal")
        depth = 0
        for end in range(start, len(problem)):
            depth += {"(": 1, ")": -1}.get(problem[end], 0)
            if not depth:
                break
        text = f"{problem[:start]}(:goal {condition}){problem[end + 1 :]}"
        return Kernel(compiled.domain.text, text).audit("\n".join(steps)).goal


def parse_facts(texts: str) -> set[tuple[str, ...]]:
    return {tuple(text.split()) for text in texts.split(", ")}


def check_answer(replay: Replay, question: Question) -> None:
    """Assert that the kernel gives the same answer."""
    roles = PLACES[replay.task.world]
    before = replay.state(question.steps)
    match question.asks:
        case Asks.EFFECTS:
            after = replay.state((*question.steps, question.about))
            added = {fact for fact in after - before if len(fact) > 1}
            deleted = {("not", *fact) for fact in before - after if len(fact) > 1}
            answered = set() if question.answer == NOTHING else parse_facts(question.answer)
            assert added | deleted == {fact for fact in answered if "=" not in fact}
        case Asks.NEEDS:
            plan = "\n".join((*question.steps, question.about))
            assert replay.kernel.audit(plan).executable == (question.answer == NOTHING)
            compiled = replay.task.checker.compiled
            step = compiled.engine.resolver.resolve_step(tuple(question.about[1:-1].split()))
            parts = conjuncts(And(step.action.start.condition))
            texts = [format_formula(compiled.engine.task, part, step.binding) for part in parts]
            unmet = [bare(text) for text in texts if not replay.holds(question.steps, text)]
            assert ", ".join(unmet) == (question.answer if unmet else "") and (unmet or question.answer == NOTHING)
        case Asks.PLACE:
            after = before
            answered = parse_facts(question.answer)
            assert answered <= after
            places, visited = {question.entity}, {question.entity}
            expected: set[tuple[str, ...]] = set()
            for _ in range(3):
                step_up = {f for f in after if len(f) == 3 and f[0] in roles and f[1 + roles[f[0]][0]] in places}
                expected |= step_up
                places = {f[1 + roles[f[0]][1]] for f in step_up} - visited
                visited |= places
            assert answered == expected


@pytest.mark.slow
def test_kernel_confirms_answers(posed: list[PosedQuestion]) -> None:
    replays = {origin: Replay(task_of(origin)) for origin in ORIGINS}
    assert len(posed) >= 100 and {entry.question.asks for entry in posed} == set(Asks)
    for entry in posed:
        check_answer(replays[entry.line.origin], entry.question)


@pytest.mark.slow
def test_kernel_confirms_answers_about_virtualhome(data: Path) -> None:
    origin = virtualhome_origins(str(data))[5]
    posed = [PosedQuestion(*entry) for entry in questions_of([origin], 1000, 0, str(data))]
    assert len(posed) >= 15 and all([entry.line.world == "virtualhome" for entry in posed])
    replay = Replay(task_of(origin, str(data)))
    entry_of_kind = {
        entry.question.asks: entry for entry in posed if entry.question.asks is not Asks.NEEDS
    }  # slow: a kernel for each
    for entry in entry_of_kind.values():
        check_answer(replay, entry.question)
    assert Asks.EFFECTS in entry_of_kind and Asks.PLACE in entry_of_kind


@pytest.mark.slow
def test_seed_determines_the_questions(posed: list[PosedQuestion]) -> None:
    assert [PosedQuestion(*entry) for entry in questions_of(ORIGINS, 1000, 0)] == posed
    first = [PosedQuestion(*entry) for entry in questions_of(ORIGINS[:1], 1000, 0)]
    assert (
        posed[: len(first)] == first
        and [PosedQuestion(*entry) for entry in questions_of(ORIGINS[:1], 3, 0)] == first[:3]
    )
    other_seed = [PosedQuestion(*entry) for entry in questions_of(ORIGINS[:1], 1000, 1)]
    assert {entry.line.prompt for entry in other_seed} != {entry.line.prompt for entry in first}
    assert len({entry.line.prompt for entry in posed}) == len(posed)


def test_seed_determines_the_order_of_tasks() -> None:
    order = origins(2, 0, None)
    assert len(set(order)) == len(order) and origins(2, 0, None) == order != origins(2, 1, None)
    kinds = Counter([origin.partition(":")[0] for origin in order])
    assert kinds["drawn"] == 30 and kinds["scenario"] >= 60 and "virtualhome" not in kinds
    assert len({origin.partition(":")[0] for origin in order[:20]}) == 2


def test_lines_match_their_questions_and_are_short(posed: list[PosedQuestion], tmp_path: Path) -> None:
    for question, line in posed:
        task = line.origin
        assert line.kind == "knowledge" and line.prompt == question.prompt and line.completion == f"{question.answer}\n"
        assert line.split == split_of(line.family) and task in ORIGINS
        assert line.prompt.endswith("?\nAnswer:\n") and "\n" not in question.answer
        assert tokens_of(line.prompt + line.completion) <= MAX_TOKENS + 1
    assert write_sft(str(tmp_path / "k.jsonl"), [line for _, line in posed]) == len(posed)
    assert list(read_sft(str(tmp_path / "k.jsonl"))) == [line for _, line in posed]


def test_few_answers_are_empty(posed: list[PosedQuestion]) -> None:
    """Otherwise a model that always answers so would be correct too often."""
    empty = Counter([entry.question.asks for entry in posed if entry.question.answer == NOTHING])
    kinds = Counter([entry.question.asks for entry in posed])
    assert all([empty[asks] <= 0.2 * kinds[asks] + 1 for asks in Asks])


def test_questions_are_about_changeable_facts(posed: list[PosedQuestion]) -> None:
    """No step moves a stove to another room."""
    fixed = ("in-room ", "passage ", "links ", "hard-wired ", "opens ")
    needs = [entry.question.answer for entry in posed if entry.question.asks is Asks.NEEDS]
    assert needs and not [answer for answer in needs if answer.startswith(fixed)]


def test_line_of_a_question() -> None:
    task = task_of(ORIGINS[0])
    question = Question(Asks.PLACE, (), "", "pan", "on stove: pan", "Where is pan?", "on pan stove")
    line = line_of(task, question)
    assert (line.prompt, line.completion) == ("on stove: pan\nQuestion: Where is pan?\nAnswer:\n", "on pan stove\n")
    assert (line.task, line.family, line.world, line.origin) == ("stew-0/0", "stew", "household", ORIGINS[0])
