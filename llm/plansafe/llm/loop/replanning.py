"""Planning again from where a plan failed, as LLM-Planner does (Song et al. 2023, section 3.3).

The steps are taken one after the other. The first that cannot be taken, or breaks a rule, is not taken; the model gets
the reason, the steps done and the current facts, and writes the remaining steps. The executed steps stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.loop import feedback
from plansafe.llm.loop.model import PLAN, AttributedStep, PlanOptions, Round, Style
from plansafe.llm.prompts.crop import Crop
from plansafe.llm.prompts.scene import facts_text
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.planning.forward_search import find_unsupported_task_reason

GO_ON = "Go on from here: write only the steps that are still to come, one a line and nothing else."


class Walk(NamedTuple):
    """The executed steps of a proposal; ``failed`` is the first step that was not executed, if any."""

    steps: tuple[AttributedStep, ...]
    failed: str | None


class Walker:
    """The current state of the plan. Raises ``ValueError`` for tasks whose steps cannot be executed one by one."""

    def __init__(self, checker: Checker, cropped: Crop | None) -> None:
        why = find_unsupported_task_reason(checker.compiled, True)
        if why:
            raise ValueError(why)
        self.checker = checker
        self.steps: list[AttributedStep] = []
        self._cropped = cropped
        self._now = Execution.initial(checker.engine, True, checker.options.criteria)

    def walk(self, parts: Sequence[AttributedStep]) -> Walk:
        """Take steps until one fails."""
        done: list[AttributedStep] = []
        objects = self.checker.engine.task.objects
        for part in parts:
            options = {step_text(option.step, objects): option for option in self._now.options()}
            option = options.get(part.step)
            if option is None or option.broken:
                return Walk(tuple(done), part.step)
            self._now.take(option.step)
            done.append(part)
            self.steps.append(part)
        return Walk(tuple(done), None)

    @property
    def ended(self) -> bool:
        """Whether the plan may end here."""
        return self._now.accepted

    def so_far(self) -> str:
        """The plan up to here, one step a line."""
        return "".join([f"{part.step}\n" for part in self.steps])

    def feedback_text(self, walk: Walk, wishes: PlanOptions) -> str:
        """The feedback: the failed step with its reason, the steps done, and the current facts."""
        if wishes.feedback is Style.NONE:
            return GO_ON
        text = f"{self.so_far()}{'' if walk.failed is None else walk.failed}\n"
        report = self.checker.check(Source(PLAN, text))
        steps = [part.step for part in self.steps] + ([] if walk.failed is None else [walk.failed])
        number = len(self.steps) + 1
        about = [f for f in report.findings if not f.follows]
        if walk.failed is not None:
            about = [f for f in about if f.step == number and not f.at_end]
        lines = [f"- {feedback.template(finding, steps)}" for finding in about[: feedback.MOST_FINDINGS]]
        if not lines and walk.failed is not None:
            lines = [f"- Step {number}, {walk.failed[: feedback.LONGEST_TEXT]}, is no step that can be taken here."]
        done = "".join([f"\n{part.step}" for part in self.steps]) or " nothing."
        facts = facts_text(self.checker.engine.task, self._cropped, self._now.state.facts)
        return "\n".join([*lines, f"Done so far:{done}", f"Now:\n{facts}", GO_ON])


def merged_round(proposal: Round, walker: Walker) -> Round:
    """The round with the plan of all rounds together, and its verdict."""
    text = walker.so_far()
    return proposal._replace(plan=text, parts=tuple(walker.steps), report=walker.checker.check(Source(PLAN, text)))
