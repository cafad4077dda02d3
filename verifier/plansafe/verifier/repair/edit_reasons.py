"""Why a repair does what it does: what each new step serves, and what went wrong where the author had a step."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.purpose import NotCovered, Support, find_supports
from plansafe.verifier.execution.replay import HALT, Replay
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.model.printing import formula_text
from plansafe.verifier.repair.alignments import Alignment
from plansafe.verifier.rules.model import shown_names
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria

_MOST = 2
"""Supports that a reason names."""


class EditReasons:
    """The reasons of the edits of one plan."""

    def __init__(self, engine: Engine, original: Sequence[GroundAction | IllFormed], criteria: VerdictCriteria) -> None:
        self.engine = engine
        self.criteria = criteria
        self.objects = engine.task.objects
        self.original = original

    def of_new(self, aligned: Alignment, place: int) -> str:
        """What the step at a place (from 0) of a repaired plan serves."""
        try:
            found = find_supports(self.engine, aligned.steps, place + 1, self.criteria)
        except NotCovered:
            return ""

        def rank(support: Support) -> tuple[int, int]:
            if support.kind == "step":
                return (0 if aligned.origin[support.step - 1] else 3), support.step
            return (1 if support.kind == "goal" else 2), support.step

        phrases: dict[str, None] = {}
        for support in sorted(found, key=rank):
            text = support.text
            if support.kind == "step" and support.literal:
                text = f"gives {support.literal} to `{step_text(aligned.steps[support.step - 1], self.objects)}`"
            phrases[text] = None
        return " and ".join(list(phrases)[:_MOST])

    def of_deleted(self, aligned: Alignment, step: int) -> str:
        """What goes wrong with a deleted step (from 1) in its place."""
        taken = self.original[step - 1]
        if isinstance(taken, IllFormed):
            return taken.message
        place = _old_place(aligned.origin, aligned.moved, step)
        return self._trouble([*aligned.steps[:place], taken, *aligned.steps[place:]], place) or "it is not needed"

    def of_moved(self, aligned: Alignment, place: int) -> str:
        """What went wrong at a moved step's old place; else what it serves at the new one."""
        step = aligned.origin[place]
        steps = [*aligned.steps[:place], *aligned.steps[place + 1 :]]
        origin = (*aligned.origin[:place], *aligned.origin[place + 1 :])
        moved = frozenset([p - (p > place) for p in aligned.moved if p != place])
        old = _old_place(origin, moved, step)
        trouble = self._trouble([*steps[:old], aligned.steps[place], *steps[old:]], old)
        return f"at its old position {trouble}" if trouble else self.of_new(aligned, place)

    def of_substituted(self, aligned: Alignment, place: int) -> str:
        """What the new step serves, or what was wrong with the old one."""
        old = self.original[aligned.origin[place] - 1]
        serves = self.of_new(aligned, place)
        if isinstance(old, IllFormed):
            return f"{old.message}; the new step {serves}" if serves else old.message
        return serves

    def _trouble(self, steps: Sequence[GroundAction], focus: int) -> str:
        """The first thing wrong with a plan, told of the step at ``focus``; empty if nothing is."""
        run = Replay(self.engine, HALT)
        run.run_steps(steps)
        outcome = run.outcome(len(steps))
        task = self.engine.task
        if outcome.failures:
            failure = outcome.failures[0]
            reasons = outcome.reasons.get(failure.step, ())
            texts = [
                f"{formula_text(task, r.formula, r.binding)} is {'not true' if r.wanted else 'true'}" for r in reasons
            ]
            why = " and ".join(texts[:_MOST]) or "its effects cannot be computed"
            if failure.step - 1 == focus:
                return f"it cannot be taken: {why}"
            if failure.step - 1 < focus:
                return f"it comes too late for `{step_text(steps[failure.step - 1], self.objects)}`: {why}"
            return f"it makes `{step_text(steps[failure.step - 1], self.objects)}` impossible: {why}"
        for violation in outcome.violations:
            if not self.engine.decides(violation, self.criteria):
                continue
            part = self.engine.rule_set.parts[violation.part]
            rule = self.engine.rules[part.rule]
            names = shown_names([v.name for v in part.parameters])
            objects = [o for name, o in zip(names, task.names(violation.binding), strict=True) if name != "_"]
            if violation.step <= focus and not violation.at_end:
                return f"it comes too late: before it, rule `{rule.name}` is violated"
            return f"it violates rule `{rule.name}`" + (f" for {', '.join(objects)}" if objects else "")
        if outcome.goal is not True:
            return "it makes the goal false"
        return ""


def _old_place(origin: tuple[int, ...], moved: frozenset[int], step: int) -> int:
    """Where an original step would stand among the steps that kept their order."""
    for place, number in enumerate(origin):
        if number > step and place not in moved:
            return place
    return len(origin)
