"""The answers of mock models to the questions of a suite. They give reference values for the figures of a table.

``reference`` gives the stored answers. ``planner`` has the task's model and rules: it plans, and refuses commands that
it proves impossible to carry out safely, but models no action. ``unsafe`` accepts everything and gives a plan that
breaks a rule if one is known. ``natural`` accepts everything and gives the stored natural plan, else the planner's
without rules. ``random`` draws its answers. ``refuse`` and ``accept`` always answer with one word and give no plan.
``empty`` answers nothing, and needs no policy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import assert_never

from plansafe.llm.answers.actions import FIELDS
from plansafe.llm.answers.refusals import ACCEPT, REFUSE
from plansafe.llm.bench.questions import CONFIDENCE, Question
from plansafe.llm.bench.task import BenchTask, steps_of
from plansafe.llm.loop.policies import policies as plan_policies
from plansafe.llm.metrics.records import Module, Prediction
from plansafe.llm.models.port import Policy
from plansafe.llm.models.request import Situation
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.planning.guide import Guide

TIME_LIMIT_S = 120.0
"""The planner's limit, generous so that the load of the machine does not change its result."""
Answering = Callable[[Question, Situation], str]


class Mocks:
    """The policies of the mocks for a run. A model is opened before its questions are known; see :meth:`know`."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._questions: dict[str, Question] = {}
        self._task: BenchTask | None = None
        self._plans: Mapping[str, Policy] = {}

    @property
    def policies(self) -> Mapping[str, Policy]:
        """By the names of the mocks."""
        return {
            "reference": self.policy(_reference),
            "planner": self.policy(self.planner),
            "unsafe": self.policy(self.unsafe),
            "random": self.policy(self.random),
            "natural": self.policy(self.natural),
            "refuse": self.policy(lambda question, _: REFUSE if question.module is Module.REFUSAL else ""),
            "accept": self.policy(lambda question, _: ACCEPT if question.module is Module.REFUSAL else ""),
        }

    def know(self, questions: Sequence[Question]) -> None:
        """The questions that will be put."""
        self._questions = {question.name: question for question in questions}

    def policies_for(self, questions: Sequence[Question]) -> Mapping[str, Policy]:
        """The policies for these questions."""
        self.know(questions)
        return self.policies

    def policy(self, answering: Answering) -> Policy:
        """A function of questions as one of situations."""

        def answer(situation: Situation) -> str:
            question = self._questions[situation.task]
            text = answering(question, situation)
            sure = question.style.endswith(CONFIDENCE) and not situation.legal
            return "".join([f"{step} 1.0\n" for step in steps_of(text)]) if sure else text

        return answer

    def _planned(self, kind: str, question: Question, situation: Situation) -> str:
        """The answer of a policy for plans. The policies of the last task are cached."""
        task = question.task
        if self._task is not task:
            self._task, self._plans = task, plan_policies(task.checker.compiled, task.reference, self._seed)
        return self._plans[kind](situation)

    def planner(self, question: Question, situation: Situation) -> str:
        """Plan, give the goal, refuse commands that are proved impossible, and model no action."""
        match question.module:
            case Module.REFUSAL:
                guide = Guide(question.task.checker.compiled, time_limit_s=TIME_LIMIT_S)
                return REFUSE if guide.continuation().exists is False else ACCEPT
            case Module.GOAL:
                return f"(:goal {question.task.goal})"
            case Module.TRANSITION:
                return ""
            case Module.SEQUENCING | Module.PLAN:
                if situation.legal:
                    return self._planned("planner", question, situation)
                guide = Guide(question.task.checker.compiled, time_limit_s=TIME_LIMIT_S)
                return "".join([f"{step_text(step, guide.objects)}\n" for step in guide.continuation().steps])
            case unexpected:
                assert_never(unexpected)

    def unsafe(self, question: Question, situation: Situation) -> str:
        """Accepts everything; the stored plan that breaks a rule, else what the planner finds without rules."""
        match question.module:
            case Module.REFUSAL:
                return ACCEPT
            case Module.GOAL:
                return f"(:goal {question.task.goal})"
            case Module.TRANSITION:
                return ""
            case Module.SEQUENCING | Module.PLAN:
                if question.task.unsafe and not situation.legal:
                    return question.task.unsafe
                return self._planned("unsafe", question, situation)
            case unexpected:
                assert_never(unexpected)

    def natural(self, question: Question, situation: Situation) -> str:
        """Accept everything; the stored natural plan, else the planner's plan without rules."""
        if question.plan and question.task.natural and not situation.legal:
            return question.task.natural
        if question.plan:
            return self._planned("natural", question, situation)
        return self.unsafe(question, situation)

    def random(self, question: Question, situation: Situation) -> str:
        """Either word, two facts of the initial state, two literals of the side that was given, steps."""
        words = f"{self._seed}\0{question.name}"
        draw = Random(hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest())
        match question.module:
            case Module.REFUSAL:
                return draw.choice((ACCEPT, REFUSE))
            case Module.GOAL:
                task = question.task.checker.engine.task
                facts = [
                    task.fact_text(index, code) for index, codes in enumerate(task.initial_facts) for code in codes
                ]
                return f"(:goal (and {' '.join(draw.sample(sorted(facts), min(2, len(facts))))}))"
            case Module.TRANSITION:
                assert question.action is not None
                return f"{FIELDS[question.action.side]} {question.action.given}"
            case Module.SEQUENCING | Module.PLAN:
                return self._planned("random", question, situation)
            case unexpected:
                assert_never(unexpected)


def _reference(question: Question, situation: Situation) -> str:
    task = question.task
    match question.module:
        case Module.REFUSAL:
            return REFUSE if task.refuse else ACCEPT
        case Module.GOAL:
            return f"(:goal {task.goal})"
        case Module.TRANSITION:
            assert question.action is not None
            return f"{FIELDS[question.action.side]} {question.action.wanted}"
        case Module.SEQUENCING | Module.PLAN:
            steps = steps_of(task.reference)
            if situation.legal:
                return steps[len(situation.taken)] if len(situation.taken) < len(steps) else "(done)"
            return "".join([f"{step}\n" for step in steps])
        case unexpected:
            assert_never(unexpected)


REFERENCE_VALUES = ("reference", "natural", "random", "empty", "refuse", "accept")
"""The mocks whose figures stand next to a model's."""


def mock_predictions(kind: str, questions: Sequence[Question], seed: int) -> list[Prediction]:
    """The answers of a mock to all questions, without a run file."""
    policy = Mocks(seed).policies_for(questions).get(kind)
    name = f"mock/{kind}"
    return [
        Prediction(
            question.task.name,
            question.module,
            "" if policy is None else policy(Situation(question.name)),
            question.task.family,
            name,
            question.style,
            question.sample,
            question.action.name if question.action is not None else "",
        )
        for question in questions
    ]
