"""An environment for PrimeIntellect's ``verifiers`` (extra ``verifiers``): the verdicts are the rewards.

``load_environment()`` returns a ``MultiTurnEnv``: a data set of tasks, a parser of plans, and a rubric. An unsafe plan
gets its findings as feedback, and the model can correct it for some rounds. The module is for ``verifiers`` 0.1 to 0.3,
which have this interface; nothing else imports it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

# The module exists only for verifiers, which loads it.
import verifiers as vf
from datasets import Dataset

from plansafe.grammar.source import Source
from plansafe.llm.bench.baselines import choose_example
from plansafe.llm.bench.settings import Baseline
from plansafe.llm.bench.sources import TaskSelection, tasks_of
from plansafe.llm.bench.task import BenchTask
from plansafe.llm.loop import feedback
from plansafe.llm.loop.feedback import Repairs
from plansafe.llm.loop.model import PLAN, PlanOptions, Style, is_safe
from plansafe.llm.loose.reader import check_answer
from plansafe.llm.models.answer import LONGEST
from plansafe.llm.models.received import without_reasoning
from plansafe.llm.prompts.planning import planning_prompt
from plansafe.verifier.reporting.report import Report, Worlds

Judge = Callable[[str, str], tuple[bool, Report | None]]
"""From the name of a task and an answer to whether a plan was read, and its report."""
WEIGHTS = {"safe": 1.0, "goal": 0.0, "executable": 0.0, "read": 0.0}
"""The default weights of the rewards; a weight of 0 makes a metric."""


def load_environment(
    split: str = "dev",
    tasks: str | None = None,
    drawn: int = 0,
    limit: int | None = None,
    seed: int = 0,
    rounds: int = 3,
    style: str = "finding",
    baseline: str = "few-shot",
    safety: bool = False,
    weights: dict[str, float] | None = None,
) -> PlanEnv:
    """Make the environment: shipped scenarios of a split, scenarios in the folder ``tasks``, or ``drawn`` households.

    ``rounds``: the maximum number of plans per task; ``style``: the feedback between them (``none``, ``verdict``,
    ``finding``, ``cause``, ``repair``); ``baseline``: the choice of the example in the prompt; ``safety``: the prompt
    has a paragraph on hazards. ``weights`` replace :data:`WEIGHTS`.
    """
    every_task = tasks_of(TaskSelection(tasks, split, drawn, limit, seed))
    usable = [task for task in every_task if task.planned]
    if not usable:
        raise ValueError("no task asks for a plan: choose another split or folder")
    rows = [_row(task, every_task, Baseline(baseline), seed, safety) for task in usable]
    parser = vf.Parser(extract_fn=lambda text: without_reasoning(text)[0])
    tasks_by_name = {task.name: task for task in usable}
    judge = _make_judge(tasks_by_name, parser)
    rubric = _rubric(judge, parser, {**WEIGHTS, **(weights or {})})
    return PlanEnv(
        tasks_by_name,
        judge,
        Style(style),
        dataset=Dataset.from_list(rows),
        parser=parser,
        rubric=rubric,
        max_turns=max(1, rounds),
    )


def _row(task: BenchTask, tasks: tuple[BenchTask, ...], baseline: Baseline, seed: int, safety: bool) -> dict[str, Any]:
    examples = choose_example(task, tasks, baseline, seed)
    prompt = planning_prompt(task.words, task.checker.compiled, examples, safety=safety, kind=baseline.value)
    return {
        "prompt": [{"role": message.role.value, "content": message.text} for message in prompt.messages],
        "answer": task.reference,
        "info": {"scenario": task.name, "family": task.family},
    }


class PlanEnv(vf.MultiTurnEnv):  # type: ignore[misc] # verifiers is installed into an environment of its own
    """Asks for a plan, and sends the findings about an unsafe plan back to the model."""

    def __init__(self, tasks: dict[str, BenchTask], judge: Judge, style: Style, **options: Any) -> None:
        super().__init__(**options)
        self._tasks = tasks
        self._judge = judge
        self._style = style

    @vf.stop
    async def plan_is_safe(self, state: Any) -> bool:
        """End when the last plan is SAFE or VALID."""
        text = _last_answer(state)
        if text is None:
            return False
        _, report = self._judge(state["info"]["scenario"], text)
        return report is not None and is_safe(report)

    async def env_response(self, messages: Any, state: Any, **_options: Any) -> list[Any]:
        """The findings about the last plan."""
        del messages  # the trajectory in the state has the last answer
        text = _last_answer(state) or ""
        content = self.feedback(state["info"]["scenario"], text)
        message_type = getattr(vf, "UserMessage", dict)  # early versions have plain dictionaries
        return [message_type(role="user", content=content)]

    def feedback(self, name: str, answer: str) -> str:
        """The feedback on an answer to a task."""
        checker = self._tasks[name].checker
        reading, report = check_answer(Source("answer.txt", self.parser.parse(answer)[:LONGEST]), checker)
        if reading.plan is None or report is None:
            return feedback.unread(self._style, reading.diagnostics, answer)
        steps = [step.text for step in reading.steps]
        repairs = Repairs(checker, PlanOptions().repair)
        return feedback.of_report(self._style, checker, Source(PLAN, reading.plan.text), report, steps, repairs)


def _make_judge(tasks: dict[str, BenchTask], parser: Any) -> Judge:
    """A function that audits an answer to a task; the verdicts of the last answers are cached."""

    @lru_cache(maxsize=1024)
    def judge(name: str, answer: str) -> tuple[bool, Report | None]:
        reading, report = check_answer(Source("answer.txt", parser.parse(answer)[:LONGEST]), tasks[name].checker)
        return reading.plan is not None, report

    return judge


def _last_answer(state: Any) -> str | None:
    """The text of the last answer of the model; ``None`` before the first."""
    if not state.get("trajectory"):
        return None
    return _text_of(state["trajectory"][-1]["completion"])


def _text_of(completion: Any) -> str:
    if isinstance(completion, str):
        return completion
    texts = []
    for message in completion:
        role = message.get("role") if isinstance(message, dict) else getattr(message, "role", None)
        content = message.get("content") if isinstance(message, dict) else getattr(message, "content", None)
        if role == "assistant" and isinstance(content, str):
            texts.append(content)
    return texts[-1] if texts else ""


def _rubric(judge: Judge, parser: Any, weights: dict[str, float]) -> Any:
    """The rewards, 1 or 0 each, for the last plan of a rollout. UNKNOWN counts as not safe."""

    def verdict(completion: Any, info: dict[str, Any]) -> tuple[bool, Report | None]:
        return judge(info["scenario"], _text_of(completion))

    def safe(completion: Any, info: dict[str, Any]) -> float:
        _, report = verdict(completion, info)
        return float(report is not None and is_safe(report))

    def goal(completion: Any, info: dict[str, Any]) -> float:
        _, report = verdict(completion, info)
        return float(report is not None and report.goal is Worlds.ALL)

    def executable(completion: Any, info: dict[str, Any]) -> float:
        _, report = verdict(completion, info)
        return float(report is not None and report.executable is Worlds.ALL)

    def read(completion: Any, info: dict[str, Any]) -> float:
        return float(verdict(completion, info)[0])

    return vf.Rubric([safe, goal, executable, read], [weights[name] for name in WEIGHTS], parser=parser)
