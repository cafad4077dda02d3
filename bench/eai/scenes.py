"""The Embodied Agent Interface: prompts as requests; verdicts on answers of action sequencing in VirtualHome.

The package ``eai-eval`` writes the prompts (``helm_prompt.json``). Answers are evaluated as written: the reader accepts
a plan only. Source: Li et al., Embodied Agent Interface, arXiv:2410.07166, and ``eai-eval`` 1.0.5 (MIT).
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from plansafe.domains.json_text import BadJson, read_json
from plansafe.domains.virtualhome import WORLD
from plansafe.domains.world import GOAL, SCENE
from plansafe.domains.world import Request as SceneRequest
from plansafe.domains.world import Scene as WorldScene
from plansafe.grammar.source import Source
from plansafe.llm.models.request import Request, Situation, user_messages
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import FindingClass, Worlds


class EaiPrompt(NamedTuple):
    """A prompt and the name of its task."""

    identifier: str
    prompt: str

    def request(self, max_tokens: int, seed: int | None = None) -> Request:
        """Return the request that sends the prompt."""
        return Request(user_messages(self.prompt), max_tokens, seed=seed, situation=Situation(self.identifier))


def read_prompts(path: Path) -> list[EaiPrompt]:
    """Read a prompt file of ``eai-eval``. Raises ``ValueError`` for another format, ``OSError`` for a missing file."""
    try:
        entries = read_json(path.read_text(encoding="utf-8"))
    except (BadJson, UnicodeDecodeError) as error:
        raise ValueError(f"{path} has no prompts: {error}") from None
    if not isinstance(entries, list):
        raise ValueError(f"{path} has no prompts: it is not a list")
    prompts = []
    for number, entry in enumerate(entries, 1):
        fields = entry if isinstance(entry, dict) else {}
        name, prompt = fields.get("identifier"), fields.get("llm_prompt")
        if not isinstance(name, str) or not isinstance(prompt, str):
            raise ValueError(f"{path} has no prompts: entry {number} lacks `identifier` and `llm_prompt`")
        prompts.append(EaiPrompt(name, prompt))
    return prompts


class Stage(StrEnum):
    """The last stage of the evaluation: no plan, an ill-formed step, a step that fails, or executed to the end."""

    UNREAD = "no plan"
    ILL_FORMED = "ill-formed step"
    STOPS = "stops"
    EXECUTED = "executed"


class EaiVerdict(NamedTuple):
    """The verdict on an answer.

    ``steps``: the number of steps in the plan; ``stopped``: the first step that fails, from 1; ``why``: the message of
    the first finding.
    """

    stage: Stage
    goal: bool
    steps: int = 0
    stopped: int | None = None
    why: str = ""

    @property
    def success(self) -> bool:
        """True if the plan is executed to the end and reaches the goal."""
        return self.stage is Stage.EXECUTED and self.goal


class Scene(NamedTuple):
    """A task of VirtualHome, compiled once."""

    checker: Checker
    world_scene: WorldScene

    def judge(self, answer: str) -> EaiVerdict:
        """Return the verdict on an answer of a model."""
        plan = WORLD.read_plan(Source("answer.txt", answer), self.world_scene)
        if plan.plan is None:
            return EaiVerdict(
                Stage.UNREAD, False, why=plan.diagnostics[0].message if plan.diagnostics else "it is empty"
            )
        report = self.checker.check(plan.plan)
        goal = report.goal is Worlds.ALL
        why = report.findings[0].message if report.findings else ""
        if any([finding.finding_class is FindingClass.ILL_FORMED for finding in report.findings]):
            return EaiVerdict(Stage.ILL_FORMED, False, report.steps, why=why)
        if report.executable is not Worlds.ALL:
            stopped = report.readings[0].executed + 1 if report.readings else None
            return EaiVerdict(Stage.STOPS, False, report.steps, stopped, why)
        return EaiVerdict(Stage.EXECUTED, goal, report.steps, why="" if goal else why)


def open_scene(graph: Source, goals: Source, task: str) -> Scene:
    """Compile the task of a script from its graph and its annotation. Raises ``ValueError``."""
    scene = WORLD.read_scene(SceneRequest({SCENE: graph, GOAL: goals}, task))
    if not scene.ok:
        raise ValueError(f"{task}: {scene.notes[0].message if scene.notes else 'no scene'}")
    return Scene(Checker(scene.domain, scene.problem, (), Options(replay="never")), scene)
