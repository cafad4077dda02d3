"""What mocks answer for a task: its planner, a plan that minds no rule, a reference, draws.

They show what a figure is worth: an oracle, a plan that is unsafe where that is possible, chance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from random import Random

from plansafe.llm.decoding.stepwise import DONE
from plansafe.llm.models.port import Policy
from plansafe.llm.models.request import Situation, canonical
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning.guide import Guide


def policies(
    compiled: CompiledTask, reference: str | None = None, seed: int = 0, longest: int = 60
) -> Mapping[str, Policy]:
    """The policies by the names of the mocks; ``reference`` is a plan, one step a line, where there is one.

    ``longest`` bounds plans that are drawn. A policy that knows no step answers nothing.
    """
    policies_by_name: dict[str, Policy] = {
        "planner": _Continuing(compiled, rules=True),
        "unsafe": _Continuing(compiled, rules=False),
        "natural": _Continuing(compiled, rules=False),
        "random": _Drawing(compiled, seed, longest),
    }
    if reference is not None:
        policies_by_name["reference"] = _Following(
            tuple([line.strip() for line in reference.splitlines() if line.strip()])
        )
    return policies_by_name


class _Following:
    """Writes a given plan, whole or step by step, and ends it."""

    def __init__(self, steps: tuple[str, ...]) -> None:
        self._steps = steps

    def __call__(self, situation: Situation) -> str:
        if not situation.legal:
            return "".join([f"{step}\n" for step in self._steps])
        at = len(situation.taken)
        return self._steps[at] if at < len(self._steps) else DONE


class _Continuing:
    """Follows the planner's continuation, computed again from the current state of the plan."""

    def __init__(self, compiled: CompiledTask, *, rules: bool) -> None:
        self._compiled = compiled
        self._rules = rules
        self._guide: Guide | None = None
        self._taken: list[str] = []

    def __call__(self, situation: Situation) -> str:
        guide = self._at(situation.taken)
        if guide is None:
            return ""
        continuation = guide.continuation()
        steps = [step_text(step, guide.objects) for step in continuation.steps]
        if not situation.legal:
            return "".join([f"{step}\n" for step in steps])
        if guide.may_end:
            return DONE
        return steps[0] if continuation.exists and steps else ""

    def _at(self, steps: tuple[str, ...]) -> Guide | None:
        """A guide that has taken these steps; ``None`` where it cannot, or the task is none that is searched."""
        guide = self._guide
        if guide is None or list(steps[: len(self._taken)]) != self._taken:
            try:
                guide = self._guide = Guide(self._compiled, rules=self._rules)
            except ValueError:
                return None
            self._taken = []
        for text in steps[len(self._taken) :]:
            step = _options(guide).get(text)
            if step is None:
                self._guide = None
                return None
            guide.take(step)
            self._taken.append(text)
        return guide


class _Drawing:
    """Draws each step by seed and situation; a whole plan is a walk of steps that can be taken."""

    def __init__(self, compiled: CompiledTask, seed: int, longest: int) -> None:
        self._compiled = compiled
        self._seed = seed
        self._longest = longest

    def __call__(self, situation: Situation) -> str:
        text = canonical([self._seed, situation.task, situation.taken, situation.legal])
        draw = Random(hashlib.sha256(text.encode("ascii")).hexdigest())
        if situation.legal:
            return draw.choice(situation.legal)
        try:
            guide = Guide(self._compiled, rules=False)
        except ValueError:
            return ""
        out = []
        for _ in range(draw.randint(1, self._longest)):
            options = _options(guide)
            if guide.may_end or not options:
                break
            out.append(draw.choice(sorted(options)))
            guide.take(options[out[-1]])
        return "".join([f"{step}\n" for step in out])


def _options(guide: Guide) -> dict[str, GroundAction]:
    return {step_text(option.step, guide.objects): option.step for option in guide.options()}
