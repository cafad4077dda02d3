"""What each step of a plan rests on, and which steps nothing needs (docs/diagnose.md)."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.causal_links import CausalLinker, Link, OpenPrecondition, Threat, record_run
from plansafe.verifier.execution.purpose import ResolvedSteps
from plansafe.verifier.execution.replay import FORCE, Outcome, Replay
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.evaluation import Evaluator

ILL_FORMED = "(ill-formed)"
"""The text of a step that names nothing the task has."""


class CausalStructure(NamedTuple):
    """How the steps of a plan hang together; ``steps`` are their texts. All in order of steps.

    ``redundant``: steps that can be left out together, and still every other step that could be taken can be, the
    goal is as true as it was, and no further rule instance is violated.
    """

    steps: tuple[str, ...]
    links: tuple[Link, ...]
    open: tuple[OpenPrecondition, ...]
    threats: tuple[Threat, ...]
    redundant: tuple[int, ...]

    @property
    def goal(self) -> int:
        """The consumer that stands for the goal."""
        return len(self.steps) + 1


def find_causal_structure(checker: Checker, steps: ResolvedSteps) -> CausalStructure:
    """The causal links, open preconditions, threats and redundant steps of a plan, read by *force*.

    Raises :class:`NotCovered` for durative actions, timed literals and numbers that grow too large. Linear in the
    length of the plan but for redundancy under rules: about log(n) replays for each redundant-looking step that a rule
    needs.
    """
    trace = record_run(checker, steps)
    full = _Reduced(checker, steps, frozenset())
    linker = CausalLinker(checker, steps, trace)
    linker.walk(
        [v for v in full.outcome.violations if checker.engine.decides(v, checker.options.criteria)],
        full.step_of_letter,
    )
    links = sorted(linker.links, key=lambda x: (x.consumer, x.producer, x.kind, x.literal, x.rule or ""))
    objects = checker.engine.task.objects
    return CausalStructure(
        tuple([step_text(step, objects) if isinstance(step, GroundAction) else ILL_FORMED for step in steps]),
        tuple(links),
        tuple(sorted(linker.open, key=lambda x: (x.consumer, x.literal))),
        tuple(sorted(linker.threats, key=lambda x: (x.consumer, x.step, x.literal))),
        _redundant(checker, steps, links, full),
    )


# -- redundant steps --------------------------------------------------------------------------------------------------


class _Reduced:
    """A run of a plan by force without some of its steps, and what to hold against another such run."""

    def __init__(self, checker: Checker, steps: ResolvedSteps, out: frozenset[int]) -> None:
        run = Replay(checker.engine, FORCE)
        for number, step in enumerate(steps, 1):
            if number not in out:
                run.run_steps([step], number - 1)
        self.outcome: Outcome = run.outcome(len(steps))
        self.step_of_letter = run.step_of_letter or [0]
        self.failed = {failure.step for failure in run.failures}
        task = checker.engine.task
        evaluator = Evaluator(task, run.state.facts, run.state.fluents)
        self.goal = [evaluator.holds(part, {}) is True for part in task.goal]
        asked = checker.options.criteria
        silent = checker.engine.rule_set.parts_below_severity(asked)
        self.broken = {(v.part, v.binding) for v in self.outcome.violations if checker.engine.decides(v, asked)}
        self.undecided = {unsure for unsure in self.outcome.undecided if unsure[0] not in silent}

    def worse(self, than: _Reduced) -> bool:
        """Whether something holds in the other run that does not hold in this one."""
        lost = any([there and not here for there, here in zip(than.goal, self.goal, strict=True)])
        more = self.failed - than.failed or self.broken - than.broken or self.undecided - than.undecided
        return lost or bool(more)


def _redundant(checker: Checker, steps: ResolvedSteps, links: list[Link], full: _Reduced) -> tuple[int, ...]:
    """Steps from which no chain of links leads to the goal, less those that a rule needs.

    Last to first, in halves: where leaving out many at once breaks a rule, fewer are tried.
    """
    sources: dict[int, set[int]] = {}
    for link in links:
        if link.kind != "rule":
            sources.setdefault(link.consumer, set()).add(link.producer)
    useful: set[int] = set()
    todo = [len(steps) + 1]
    while todo:
        new = sources.get(todo.pop(), set()) - useful
        useful |= new
        todo += new
    out: frozenset[int] = frozenset()
    blocks = [[n for n in range(len(steps), 0, -1) if n not in useful and isinstance(steps[n - 1], GroundAction)]]
    while blocks:
        block = blocks.pop()
        if block and not _Reduced(checker, steps, out | set(block)).worse(full):
            out |= set(block)
        elif len(block) > 1:
            blocks += [block[len(block) // 2 :], block[: len(block) // 2]]
    return tuple(sorted(out))
