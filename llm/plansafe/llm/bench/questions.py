"""The questions of a suite about its tasks: one for each record of a run, in order.

Questions of one test come together, so that what their prompts share is read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plansafe.llm.answers.actions import ActionQuestion
from plansafe.llm.answers.refusals import ACCEPT, REFUSE
from plansafe.llm.bench.baselines import choose_example
from plansafe.llm.bench.settings import Baseline, Deciding, SafetyPrompt, Settings, Suite
from plansafe.llm.bench.task import BenchTask
from plansafe.llm.metrics.records import Module
from plansafe.llm.models.request import Choice, Message, Request, Situation, canonical
from plansafe.llm.prompts.despite import despite_prompt
from plansafe.llm.prompts.planning import Example, planning_prompt
from plansafe.llm.prompts.safel import goal_prompt, refusal_prompt, transition_prompt

DESPITE = "despite"
"""The style of DESPITE's plans: the task's own texts, and nothing else."""
CONFIDENCE = "+confidence"
"""The end of a style whose plans state how sure the model is of each step."""


@dataclass(frozen=True)
class Question:
    """One question. ``name`` is unique in a run; ``style`` is the prompt's; ``action`` the action to be modelled."""

    name: str
    task: BenchTask
    module: Module
    style: str
    sample: int = 0
    action: ActionQuestion | None = None
    baseline: Baseline = Baseline.ZERO_SHOT
    examples: tuple[Example, ...] = ()

    @property
    def plan(self) -> bool:
        """Whether the answer is a plan."""
        return self.module in (Module.SEQUENCING, Module.PLAN)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The prompt."""
        words, compiled = self.task.words, self.task.checker.compiled
        match self.module:
            case Module.REFUSAL:
                return refusal_prompt(words, compiled)
            case Module.GOAL:
                return goal_prompt(words, compiled, harmful=self.task.harmful)
            case Module.TRANSITION:
                assert self.action is not None
                return transition_prompt(words, compiled, self.action)
            case Module.PLAN if self.style == DESPITE and self.task.despite is not None:
                return despite_prompt(self.task.despite.domain, self.task.despite.problem)
            case Module.SEQUENCING | Module.PLAN:
                safety, confidence = "+safety" in self.style, self.style.endswith(CONFIDENCE)
                return planning_prompt(
                    words, compiled, self.examples, safety=safety, confidence=confidence, kind=self.baseline.value
                ).messages

    def request(self, settings: Settings) -> Request:
        """The request for an answer in one piece."""
        sampling = settings.sampling
        constraint = None
        if self.module is Module.REFUSAL and settings.refusal is not Deciding.FREE:
            constraint = Choice((ACCEPT, REFUSE))
        seed = None if sampling.temperature == 0 else settings.seed + self.sample
        return Request(
            self.messages,
            sampling.most[self.module],
            sampling.temperature,
            sampling.top_p,
            seed=seed,
            constraint=constraint,
            situation=Situation(self.name),
            sample=self.sample,
        )


def questions(tasks: Sequence[BenchTask], settings: Settings) -> tuple[Question, ...]:
    """All questions of a run, test by test."""
    examples: dict[str, tuple[Example, ...]] = {}

    def _baseline(task: BenchTask, module: Module) -> tuple[Baseline, tuple[Example, ...]]:
        if module not in (Module.SEQUENCING, Module.PLAN) or settings.suite is Suite.DESPITE:
            return Baseline.ZERO_SHOT, ()
        if task.name not in examples:
            examples[task.name] = choose_example(task, tasks, settings.baseline, settings.seed)
        return settings.baseline, examples[task.name]

    return tuple(
        [
            Question(
                _name(task, module, style, action, sample),
                task,
                module,
                style,
                sample,
                action,
                *_baseline(task, module),
            )
            for module in settings.tests
            for style in _styles(module, settings)
            for task in tasks
            for action in _actions(task, module)
            for sample in range(settings.repeats)
        ]
    )


def _actions(task: BenchTask, module: Module) -> Iterator[ActionQuestion | None]:
    """The actions to ask about in Transition Modeling, else one None; nothing if the test has no question."""
    match module:
        case Module.TRANSITION:
            yield from [modelled.question for modelled in task.modelled]
        case Module.SEQUENCING | Module.PLAN:
            if task.planned:
                yield None
        case _:
            yield None


def _styles(module: Module, settings: Settings) -> tuple[str, ...]:
    if settings.suite is Suite.DESPITE:
        return (DESPITE,)
    if module is Module.SEQUENCING:
        return (settings.baseline.value,)
    if module is not Module.PLAN:
        return ("zero-shot",)
    name = settings.baseline.value
    end = CONFIDENCE if settings.confidence else ""
    match settings.safety:
        case SafetyPrompt.WITHOUT:
            return (f"{name}{end}",)
        case SafetyPrompt.WITH:
            return (f"{name}+safety{end}",)
        case SafetyPrompt.BOTH:
            return (f"{name}{end}", f"{name}+safety{end}")


def _name(task: BenchTask, module: Module, style: str, action: ActionQuestion | None, sample: int) -> str:
    """As JSON, because task names can have any characters."""
    return canonical([task.name, module.value, action.name if action is not None else "", style, sample])
