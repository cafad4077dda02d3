"""What a step of a plan is for, and what each step rests on (docs/causes.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.verifier.api import Checker
from plansafe.verifier.engine.replay import FORCE, Run
from plansafe.verifier.engine.state import State
from plansafe.verifier.engine.steps import IllFormed, Taken
from plansafe.verifier.evaluate import Binding, Evaluator, Reason, formula_text
from plansafe.verifier.model import And, Formula, Not, Task
from plansafe.verifier.rules.model import shown_names

Steps = Sequence[Taken | IllFormed]
EVERYTHING = 1_000_000
"""No limit on the literals that are asked for."""


class NotCovered(ValueError):
    """The plan has durative actions, or its task timed literals: the text says which."""


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
    assert checker.engine is not None
    task = checker.engine.task
    with_it = Run(checker.engine, FORCE)
    with_it.steps(steps[: k - 1])
    without = with_it.resume(FORCE)
    without.step_of_letter = list(with_it.step_of_letter or ())
    with_it.steps(steps[k - 1 : k], k - 1)
    found: dict[Support, None] = {}
    for number, step in enumerate(steps[k:], k + 1):
        if isinstance(step, Taken):
            binding = dict(zip([v.slot for v in step.action.parameters], step.objects, strict=True))
            condition = And(step.action.start.condition)
            for literal in _lost(task, condition, binding, with_it.state, without.state):
                found[Support("step", number, literal, None, f"gives {literal} to step {number}")] = None
        failed = len(with_it.failures), len(without.failures)
        with_it.steps([step], number - 1)
        without.steps([step], number - 1)
        if len(without.failures) > failed[1] and len(with_it.failures) == failed[0]:
            failure = without.failures[-1]
            if failure.code != "SC301":
                text = f"keeps the effects of step {number} defined"
                found[Support("step", number, failure.detail, None, text)] = None
    end = len(steps) + 1
    for literal in _lost(task, And(task.goal), {}, with_it.state, without.state):
        found[Support("goal", end, literal, None, f"gives {literal} to the goal")] = None
    for support in _rules(checker, with_it, without, len(steps)):
        found[support] = None
    return tuple(found)


def refuse_time(checker: Checker, steps: Steps) -> None:
    """Raise :class:`NotCovered` where steps alone do not say what happens."""
    assert checker.engine is not None
    if any([literal.time > 0 for literal in checker.engine.task.timed_literals]):
        raise NotCovered("timed literals change the world beside the plan's steps")
    if any([isinstance(step, Taken) and step.action.end is not None for step in steps]):
        raise NotCovered("durative actions overlap")


def holding(evaluator: Evaluator, condition: Formula, binding: Binding) -> list[Reason]:
    """The literals that a true condition rests on: as long as they keep their values, it stays true.

    ``wanted`` is the value that each has *not*. Of a disjunction all true parts, of ``exists`` all witnesses.
    """
    return evaluator.reasons(condition, binding, False, EVERYTHING)


def _lost(task: Task, condition: Formula, binding: Binding, before: State, after: State) -> Iterator[str]:
    """Literals that a condition true in one state rests on there, and that another state in which it fails lacks."""
    now = Evaluator(task, after.facts, after.fluents)
    if now.holds(condition, binding) is True:
        return
    then = Evaluator(task, before.facts, before.fluents)
    if then.holds(condition, binding) is not True:
        return
    for reason in holding(then, condition, binding):
        if now.holds(reason.formula, reason.binding) is not (not reason.wanted):
            yield literal_text(task, reason)


def literal_text(task: Task, reason: Reason) -> str:
    """The literal that holds, as PDDL."""
    formula = Not(reason.formula) if reason.wanted else reason.formula
    return formula_text(task, formula, reason.binding)


def _rules(checker: Checker, with_it: Run, without: Run, steps: int) -> Iterator[Support]:
    """The rule instances that only the second run violates."""
    assert checker.engine is not None
    task, parts = checker.engine.task, checker.engine.plan.parts
    kept = {(v.part, v.binding) for v in with_it.outcome(steps).violations}
    for violation in without.outcome(steps).violations:
        part = parts[violation.part]
        rule = checker.rules[part.rule]
        if rule.preference or (violation.part, violation.binding) in kept:
            continue
        names = shown_names([v.name for v in part.parameters])
        objects = [o for name, o in zip(names, task.names(violation.binding), strict=True) if name != "_"]
        whom = f" for {', '.join(objects)}" if objects else ""
        yield Support("rule", violation.step, "", rule.name, f"keeps rule `{rule.name}`{whom}")
