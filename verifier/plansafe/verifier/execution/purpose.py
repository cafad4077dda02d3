"""What a step of a plan is there for: what fails without it (docs/diagnose.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import NO_LIMIT, Evaluator
from plansafe.verifier.model.nodes import And, Binding, Formula, Not
from plansafe.verifier.model.printing import formula_text
from plansafe.verifier.rules.model import RulePart, shown_names
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria

ResolvedSteps = Sequence[GroundAction | IllFormed]


class NotCovered(ValueError):
    """The plan has durative actions, its task timed literals, or a number grew too large: the text says which."""


def require_untimed(engine: Engine, steps: ResolvedSteps) -> None:
    """Raise :class:`NotCovered` where steps alone do not say what happens: with time, or in many worlds."""
    if engine.refusal is not None:
        raise NotCovered(engine.refusal.message)
    if any([literal.time > 0 for literal in engine.task.timed_literals]):
        raise NotCovered("timed literals change the world beside the plan's steps")
    if any([isinstance(step, GroundAction) and step.action.end is not None for step in steps]):
        raise NotCovered("durative actions overlap")


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


def find_supports(
    engine: Engine, steps: ResolvedSteps, k: int, criteria: VerdictCriteria = EVERY_VIOLATION
) -> tuple[Support, ...]:
    """What step ``k`` (from 1) of a plan is there for.

    Two runs are held against each other: the plan, and the plan without step ``k``, in both of which the effects of
    every other step happen whether or not it can be taken, at its old time. Listed is what holds in the first and not
    in the second: preconditions of later steps and parts of the goal, literal by literal, and rule instances. An
    ill-formed step supports nothing. Of rules, what decides by ``criteria`` is asked. Raises :class:`NotCovered`. Two
    replays.
    """
    require_untimed(engine, steps)
    if not 1 <= k <= len(steps):
        raise IndexError(f"the plan has no step {k}")
    if isinstance(steps[k - 1], IllFormed):
        return ()
    task = engine.task
    with_it = Replay(engine, FORCE)
    with_it.run_steps(steps[: k - 1])
    without = with_it.resume(FORCE)
    without.step_of_letter = list(with_it.step_of_letter or ())
    with_it.run_steps(steps[k - 1 : k], k - 1)
    found: dict[Support, None] = {}
    for number, step in enumerate(steps[k:], k + 1):
        if isinstance(step, GroundAction):
            binding = step.binding
            condition = And(step.action.start.condition)
            for literal in _lost(engine, condition, binding, with_it.state, without.state):
                found[Support("step", number, literal, None, f"gives {literal} to step {number}")] = None
        failed = len(with_it.failures), len(without.failures)
        with_it.run_steps([step], number - 1)
        without.run_steps([step], number - 1)
        if len(without.failures) > failed[1] and len(with_it.failures) == failed[0]:
            failure = without.failures[-1]
            if failure.code != SC.PRECONDITION:
                text = f"keeps the effects of step {number} defined"
                found[Support("step", number, failure.detail, None, text)] = None
    end = len(steps) + 1
    for literal in _lost(engine, And(task.goal), {}, with_it.state, without.state):
        found[Support("goal", end, literal, None, f"gives {literal} to the goal")] = None
    for support in _supported_rules(engine, with_it, without, len(steps), criteria):
        found[support] = None
    return tuple(found)


def _lost(engine: Engine, condition: Formula, binding: Binding, before: State, after: State) -> Iterator[str]:
    """Literals that a condition true in one state rests on there, and that another state in which it fails lacks."""
    task = engine.task
    now = Evaluator(task, after.facts, after.fluents)
    if now.holds(condition, binding) is True:
        return
    then = Evaluator(task, before.facts, before.fluents)
    if then.holds(condition, binding) is not True:
        return
    for reason in then.unmet_literals(condition, binding, False, NO_LIMIT):
        if now.holds(reason.formula, reason.binding) is not (not reason.wanted):
            yield formula_text(task, Not(reason.formula) if reason.wanted else reason.formula, reason.binding)


def _supported_rules(
    engine: Engine, with_it: Replay, without: Replay, steps: int, criteria: VerdictCriteria
) -> Iterator[Support]:
    """The rule instances that only the second run violates."""
    parts = engine.rule_set.parts
    kept = {(v.part, v.binding) for v in with_it.outcome(steps).violations if engine.decides(v, criteria)}
    for violation in without.outcome(steps).violations:
        part = parts[violation.part]
        rule = engine.rules[part.rule]
        if not engine.decides(violation, criteria) or (violation.part, violation.binding) in kept:
            continue
        text = f"keeps rule `{rule.name}`{binding_phrase(engine, part, violation.binding)}"
        yield Support("rule", violation.step, "", rule.name, text)


def binding_phrase(engine: Engine, part: RulePart, objects: tuple[int, ...]) -> str:
    """The objects of an instance of a rule, as in `` for stove-1``; what matches anything is left out."""
    shown = shown_names([v.name for v in part.parameters])
    names = [o for name, o in zip(shown, engine.task.names(objects), strict=True) if name != "_"]
    return f" for {', '.join(names)}" if names else ""
