"""The causal structure of a plan: links, open preconditions, threats and redundant steps (docs/diagnose.md)."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.causal_links import CausalLinker, Link, OpenPrecondition, Threat, record_run
from plansafe.verifier.execution.outcome import Outcome
from plansafe.verifier.execution.purpose import ResolvedSteps
from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.evaluation import Evaluator

ILL_FORMED = "(ill-formed)"
"""The text of a step that is not a step of the task."""


class CausalStructure(NamedTuple):
    """The causal links of a plan; ``steps`` are the texts of its steps. All fields are in the order of the steps.

    ``redundant``: steps that can be omitted together without making another step impossible, a part of the goal false,
    or a further rule instance violated. Unless ``has_all_links``, there were too many links: ``links`` has the needed
    links and the links of violated rules.
    """

    steps: tuple[str, ...]
    links: tuple[Link, ...]
    open_preconditions: tuple[OpenPrecondition, ...]
    threats: tuple[Threat, ...]
    redundant: tuple[int, ...]
    has_all_links: bool = True

    @property
    def goal(self) -> int:
        """The consumer number of the goal."""
        return len(self.steps) + 1


def find_causal_structure(checker: Checker, steps: ResolvedSteps, max_links: int | None = None) -> CausalStructure:
    """Return the causal links, open preconditions, threats and redundant steps of a plan under *force*.

    If there are more than ``max_links`` links, only the needed links and the links of violated rules are returned.
    Raises :class:`NotCovered` for durative actions, timed literals, numbers that grow too large, and with ``max_links``
    if there are far more links. Linear in the length of the plan, except for redundancy under rules: about log(n)
    replays for each step that only a rule needs.
    """
    run = record_run(checker, steps)
    full_run = _ReducedRun(checker, steps, frozenset())
    linker = CausalLinker(checker, steps, run, max_links)
    criteria = checker.options.criteria
    decisive_violations = [v for v in full_run.outcome.violations if checker.engine.is_decisive(v, criteria)]
    linker.find_links(decisive_violations, full_run.step_of_letter)
    links = sorted(
        linker.links, key=lambda link: (link.consumer, link.producer, link.kind, link.literal, link.rule or "")
    )
    objects = checker.engine.task.objects
    return CausalStructure(
        tuple([step_text(step, objects) if isinstance(step, GroundAction) else ILL_FORMED for step in steps]),
        tuple(links),
        tuple(sorted(linker.open_preconditions, key=lambda missing: (missing.consumer, missing.literal))),
        tuple(sorted(linker.threats, key=lambda threat: (threat.consumer, threat.step, threat.literal))),
        _find_redundant_steps(checker, steps, linker.producers, full_run),
        linker.has_all_links,
    )


class _ReducedRun:
    """The results of a run under *force* without some of the steps."""

    def __init__(self, checker: Checker, steps: ResolvedSteps, omitted_steps: frozenset[int]) -> None:
        run = Replay(checker.engine, FORCE)
        for number, step in enumerate(steps, 1):
            if number not in omitted_steps:
                run.run_steps([step], number - 1)
        self.outcome: Outcome = run.finish(len(steps))
        self.step_of_letter = run.step_of_letter or [0]
        self.failed_steps = {failure.step for failure in run.failures}
        task = checker.engine.task
        evaluator = Evaluator(task, run.state.facts, run.state.fluents)
        self.goal_values = [evaluator.holds(part, {}) is True for part in task.goal]
        criteria = checker.options.criteria
        ignored_parts = checker.engine.rule_set.find_parts_below_severity(criteria)
        self.violated_instances = {
            (v.part, v.binding) for v in self.outcome.violations if checker.engine.is_decisive(v, criteria)
        }
        self.undecided_instances = {instance for instance in self.outcome.undecided if instance[0] not in ignored_parts}

    def is_worse_than(self, full_run: _ReducedRun) -> bool:
        """Whether a step, a part of the goal or a rule instance fails here that does not fail in the full run."""
        goal_pairs = zip(full_run.goal_values, self.goal_values, strict=True)
        has_lost_goal = any([full_value and not value for full_value, value in goal_pairs])
        new_problems = (
            self.failed_steps - full_run.failed_steps
            or self.violated_instances - full_run.violated_instances
            or self.undecided_instances - full_run.undecided_instances
        )
        return has_lost_goal or bool(new_problems)


def _find_redundant_steps(
    checker: Checker, steps: ResolvedSteps, producers: dict[int, set[int]], full_run: _ReducedRun
) -> tuple[int, ...]:
    """Return the steps without a chain of links to the goal, except the steps that a rule needs.

    Omits blocks of steps, last to first, and halves a block that a rule needs.
    """
    useful_steps: set[int] = set()
    stack = [len(steps) + 1]
    while stack:
        new_steps = producers.get(stack.pop(), set()) - useful_steps
        useful_steps |= new_steps
        stack += new_steps
    omitted_steps: frozenset[int] = frozenset()
    ground_steps = [number for number, step in enumerate(steps, 1) if isinstance(step, GroundAction)]
    blocks = [[number for number in reversed(ground_steps) if number not in useful_steps]]
    while blocks:
        block = blocks.pop()
        if block and not _ReducedRun(checker, steps, omitted_steps | set(block)).is_worse_than(full_run):
            omitted_steps |= set(block)
        elif len(block) > 1:
            blocks += [block[len(block) // 2 :], block[: len(block) // 2]]
    return tuple(sorted(omitted_steps))
