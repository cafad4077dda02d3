"""The purpose of a plan's step: the steps, goals and rules that fail without it (docs/diagnose.md)."""

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
from plansafe.verifier.rules.model import RulePart, shorten_variable_names
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria

ResolvedSteps = Sequence[GroundAction | IllFormed]


class NotCovered(ValueError):
    """Plans with durative actions, and tasks with timed literals or several possible worlds, are not supported."""


def require_untimed(engine: Engine, steps: ResolvedSteps) -> None:
    """Raise :class:`NotCovered` for durative actions, timed literals and several possible worlds."""
    if engine.refusal is not None:
        raise NotCovered(engine.refusal.message)
    if any([literal.time > 0 for literal in engine.task.timed_literals]):
        raise NotCovered("timed literals change the world in addition to the plan's steps")
    if any([isinstance(step, GroundAction) and step.action.end is not None for step in steps]):
        raise NotCovered("durative actions overlap")


class Support(NamedTuple):
    """A later step, a goal or a rule that would fail without a step.

    ``kind`` is ``step``, ``goal`` or ``rule``. ``step`` is the later step that could not be taken, one more than the
    plan's length for the goal, and for a rule the step at which it would be violated (0: the initial state).
    ``literal``: the fact that the step gives, empty for a rule. ``text``: such as ``gives (open fridge) to step 5``.
    """

    kind: str
    step: int
    literal: str
    rule: str | None
    text: str


def find_supports(
    engine: Engine, steps: ResolvedSteps, k: int, criteria: VerdictCriteria = EVERY_VIOLATION
) -> tuple[Support, ...]:
    """The supports of step ``k`` (from 1) of a plan. An ill-formed step has none. Raises :class:`NotCovered`.

    Compares two replays, with and without step ``k``, in which the effects of all other steps happen at their times
    even if a step fails. The supports hold in the first replay only: literals of preconditions and of the goal, and
    rule instances whose violation decides by ``criteria``.
    """
    require_untimed(engine, steps)
    if not 1 <= k <= len(steps):
        raise IndexError(f"the plan has no step {k}")
    if isinstance(steps[k - 1], IllFormed):
        return ()
    task = engine.task
    with_step = Replay(engine, FORCE)
    with_step.run_steps(steps[: k - 1])
    without_step = with_step.resume(FORCE)
    without_step.step_of_letter = list(with_step.step_of_letter or ())
    with_step.run_steps(steps[k - 1 : k], k - 1)
    supports: dict[Support, None] = {}
    for number, step in enumerate(steps[k:], k + 1):
        if isinstance(step, GroundAction):
            binding = step.binding
            condition = And(step.action.start.condition)
            for literal in _find_lost_literals(engine, condition, binding, with_step.state, without_step.state):
                supports[Support("step", number, literal, None, f"gives {literal} to step {number}")] = None
        failure_counts = len(with_step.failures), len(without_step.failures)
        with_step.run_steps([step], number - 1)
        without_step.run_steps([step], number - 1)
        if len(without_step.failures) > failure_counts[1] and len(with_step.failures) == failure_counts[0]:
            failure = without_step.failures[-1]
            if failure.code != SC.PRECONDITION:
                text = f"keeps the effects of step {number} defined"
                supports[Support("step", number, failure.detail, None, text)] = None
    end = len(steps) + 1
    for literal in _find_lost_literals(engine, And(task.goal), {}, with_step.state, without_step.state):
        supports[Support("goal", end, literal, None, f"gives {literal} to the goal")] = None
    for support in _find_supported_rules(engine, with_step, without_step, len(steps), criteria):
        supports[support] = None
    return tuple(supports)


def _find_lost_literals(
    engine: Engine, condition: Formula, binding: Binding, before: State, after: State
) -> Iterator[str]:
    """The literals that make a condition true in one state and are missing in another state, where it is false."""
    task = engine.task
    evaluator_after = Evaluator(task, after.facts, after.fluents)
    if evaluator_after.holds(condition, binding) is True:
        return
    evaluator_before = Evaluator(task, before.facts, before.fluents)
    if evaluator_before.holds(condition, binding) is not True:
        return
    for literal in evaluator_before.find_unmet_literals(condition, binding, False, NO_LIMIT):
        formula, required_value = literal.formula, literal.required_value
        if evaluator_after.holds(formula, literal.binding) is not (not required_value):
            yield formula_text(task, Not(formula) if required_value else formula, literal.binding)


def _find_supported_rules(
    engine: Engine, with_step: Replay, without_step: Replay, steps: int, criteria: VerdictCriteria
) -> Iterator[Support]:
    """The rule instances that only the second replay violates."""
    parts = engine.rule_set.parts
    violated_anyway = {
        (v.part, v.binding) for v in with_step.outcome(steps).violations if engine.is_decisive(v, criteria)
    }
    for violation in without_step.outcome(steps).violations:
        part = parts[violation.part]
        rule = engine.rules[part.rule]
        if not engine.is_decisive(violation, criteria) or (violation.part, violation.binding) in violated_anyway:
            continue
        text = f"keeps rule `{rule.name}`{binding_phrase(engine, part, violation.binding)}"
        yield Support("rule", violation.step, "", rule.name, text)


def binding_phrase(engine: Engine, part: RulePart, objects: tuple[int, ...]) -> str:
    """The objects of a rule instance, as in `` for stove-1``, without the objects of unnamed parameters."""
    names = shorten_variable_names([v.name for v in part.parameters])
    objects_shown = [o for name, o in zip(names, engine.task.names(objects), strict=True) if name != "_"]
    return f" for {', '.join(objects_shown)}" if objects_shown else ""
