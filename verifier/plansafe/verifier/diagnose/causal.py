"""What each step of a plan rests on, and what it is for (docs/causes.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.links import (
    Link,
    Linker,
    NotCovered,
    Open,
    Steps,
    Threat,
    record,
    refuse_time,
    whom,
)
from plansafe.verifier.diagnose.support import EVERYTHING
from plansafe.verifier.execution.replay import FORCE, Outcome, Run
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Binding, Formula, Not
from plansafe.verifier.model.printing import formula_text

__all__ = [
    "ILL_FORMED",
    "CausalStructure",
    "Link",
    "NotCovered",
    "Open",
    "Support",
    "Threat",
    "causal_structure",
    "supports",
]

ILL_FORMED = "(ill-formed)"
"""The text of a step that names nothing the task has."""


class CausalStructure(NamedTuple):
    """How the steps of a plan hang together; ``steps`` are their texts. All in order of steps.

    ``redundant``: steps that can be left out together, and still every other step that could be taken can be, the
    goal is as true as it was, and no further rule instance is violated.
    """

    steps: tuple[str, ...]
    links: tuple[Link, ...]
    open: tuple[Open, ...]
    threats: tuple[Threat, ...]
    redundant: tuple[int, ...]

    @property
    def goal(self) -> int:
        """The consumer that stands for the goal."""
        return len(self.steps) + 1


def causal_structure(checker: Checker, steps: Steps) -> CausalStructure:
    """The causal links, open preconditions, threats and redundant steps of a plan, read by *force*.

    Raises :class:`NotCovered` for durative actions, timed literals and numbers that grow too large. Linear in the
    length of the plan but for redundancy under rules: about log(n) replays for each redundant-looking step that a rule
    needs.
    """
    trace = record(checker, steps)
    full = _Reduced(checker, steps, frozenset())
    linker = Linker(checker, steps, trace)
    linker.walk(
        [v for v in full.outcome.violations if not checker.rules[checker.engine.plan.parts[v.part].rule].preference],
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

    def __init__(self, checker: Checker, steps: Steps, out: frozenset[int]) -> None:
        run = Run(checker.engine, FORCE)
        for number, step in enumerate(steps, 1):
            if number not in out:
                run.steps([step], number - 1)
        self.outcome: Outcome = run.outcome(len(steps))
        self.step_of_letter = run.step_of_letter or [0]
        self.failed = {failure.step for failure in run.failures}
        task = checker.engine.task
        evaluator = Evaluator(task, run.state.facts, run.state.fluents)
        self.goal = [evaluator.holds(part, {}) is True for part in task.goal]
        self.broken = {(v.part, v.binding) for v in self.outcome.violations}
        self.undecided = set(self.outcome.undecided)

    def worse(self, than: _Reduced) -> bool:
        """Whether something holds in the other run that does not hold in this one."""
        lost = any([there and not here for there, here in zip(than.goal, self.goal, strict=True)])
        more = self.failed - than.failed or self.broken - than.broken or self.undecided - than.undecided
        return lost or bool(more)


def _redundant(checker: Checker, steps: Steps, links: list[Link], full: _Reduced) -> tuple[int, ...]:
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


# -- what a step supports ---------------------------------------------------------------------------------------------


class Support(NamedTuple):
    """Something that would fail if a step were left out.

    ``kind`` is ``step``, ``goal`` or ``rule``. ``step`` is the later step that could not be taken, one more than the
    plan's length for the goal, and for a rule the step at which it would be violated (0: the initial state).
    ``literal``: what the step gives, empty for a rule. ``text``: a phrase such as ``gives (open fridge) to step 5``.
    """

    kind: str
    step: int
    literal: str
    rule: str | None
    text: str


def supports(checker: Checker, steps: Steps, k: int) -> tuple[Support, ...]:
    """What step ``k`` (from 1) of a plan is there for.

    Two runs are held against each other: the plan, and the plan without step ``k``, in both of which the effects of
    every other step happen whether or not it can be taken, at its old time. Listed is what holds in the first and not
    in the second: preconditions of later steps and parts of the goal, literal by literal, and rule instances. An
    ill-formed step supports nothing. Raises :class:`NotCovered`. Two replays.
    """
    refuse_time(checker, steps)
    if not 1 <= k <= len(steps):
        raise IndexError(f"the plan has no step {k}")
    if isinstance(steps[k - 1], IllFormed):
        return ()
    task = checker.engine.task
    with_it = Run(checker.engine, FORCE)
    with_it.steps(steps[: k - 1])
    without = with_it.resume(FORCE)
    without.step_of_letter = list(with_it.step_of_letter or ())
    with_it.steps(steps[k - 1 : k], k - 1)
    found: dict[Support, None] = {}
    for number, step in enumerate(steps[k:], k + 1):
        if isinstance(step, GroundAction):
            binding = step.binding
            condition = And(step.action.start.condition)
            for literal in _lost(checker, condition, binding, with_it.state, without.state):
                found[Support("step", number, literal, None, f"gives {literal} to step {number}")] = None
        failed = len(with_it.failures), len(without.failures)
        with_it.steps([step], number - 1)
        without.steps([step], number - 1)
        if len(without.failures) > failed[1] and len(with_it.failures) == failed[0]:
            failure = without.failures[-1]
            if failure.code != SC.PRECONDITION:
                text = f"keeps the effects of step {number} defined"
                found[Support("step", number, failure.detail, None, text)] = None
    end = len(steps) + 1
    for literal in _lost(checker, And(task.goal), {}, with_it.state, without.state):
        found[Support("goal", end, literal, None, f"gives {literal} to the goal")] = None
    for support in _rules(checker, with_it, without, len(steps)):
        found[support] = None
    return tuple(found)


def _lost(checker: Checker, condition: Formula, binding: Binding, before: State, after: State) -> Iterator[str]:
    """Literals that a condition true in one state rests on there, and that another state in which it fails lacks."""
    task = checker.engine.task
    now = Evaluator(task, after.facts, after.fluents)
    if now.holds(condition, binding) is True:
        return
    then = Evaluator(task, before.facts, before.fluents)
    if then.holds(condition, binding) is not True:
        return
    for reason in then.reasons(condition, binding, False, EVERYTHING):
        if now.holds(reason.formula, reason.binding) is not (not reason.wanted):
            yield formula_text(task, Not(reason.formula) if reason.wanted else reason.formula, reason.binding)


def _rules(checker: Checker, with_it: Run, without: Run, steps: int) -> Iterator[Support]:
    """The rule instances that only the second run violates."""
    parts = checker.engine.plan.parts
    kept = {(v.part, v.binding) for v in with_it.outcome(steps).violations}
    for violation in without.outcome(steps).violations:
        part = parts[violation.part]
        rule = checker.rules[part.rule]
        if rule.preference or (violation.part, violation.binding) in kept:
            continue
        text = f"keeps rule `{rule.name}`{whom(checker, part, violation.binding)}"
        yield Support("rule", violation.step, "", rule.name, text)
