"""The purpose of a plan's step: the steps, goals and rules that fail without it (docs/diagnose.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.outcome import Failure
from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import NO_LIMIT, Evaluator
from plansafe.verifier.model.nodes import And, Binding, Formula, Not
from plansafe.verifier.model.printing import format_formula
from plansafe.verifier.rules.model import RulePart, shorten_variable_names
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria

ResolvedSteps = Sequence[GroundAction | IllFormed]


class NotCovered(ValueError):
    """A plan with durative actions, or a task with timed literals or several possible worlds: not supported."""


def require_untimed(engine: Engine, steps: ResolvedSteps) -> None:
    """Raise :class:`NotCovered` for durative actions, timed literals and several possible worlds."""
    if engine.refusal is not None:
        raise NotCovered(engine.refusal.message)
    if any([literal.time > 0 for literal in engine.task.timed_literals]):
        raise NotCovered("timed literals change the world in addition to the plan's steps")
    if any([isinstance(step, GroundAction) and step.action.end is not None for step in steps]):
        raise NotCovered("durative actions overlap")


class Support(NamedTuple):
    """A later step, the goal or a rule that would fail without a step.

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
    engine: Engine, steps: ResolvedSteps, number: int, criteria: VerdictCriteria = EVERY_VIOLATION
) -> tuple[Support, ...]:
    """Return what would fail without step ``number`` (from 1) of a plan; nothing for an ill-formed step.

    Compares a *full* replay of all steps with a *reduced* replay without the step. In both, a failed step makes its
    effects nevertheless. A support holds in the full replay only: a literal of a precondition or of the goal, or a rule
    instance whose violation decides by ``criteria``. Raises :class:`NotCovered`.
    """
    require_untimed(engine, steps)
    if not 1 <= number <= len(steps):
        raise IndexError(f"the plan has no step {number}")
    if isinstance(steps[number - 1], IllFormed):
        return ()
    full = Replay(engine, FORCE)
    full.run_steps(steps[: number - 1])
    reduced = full.resume(FORCE)
    reduced.step_of_letter = list(full.step_of_letter or ())
    full.run_steps(steps[number - 1 : number], number - 1)
    supports: list[Support] = []
    for later_number, step in enumerate(steps[number:], number + 1):
        supports += _run_later_step(full, reduced, later_number, step)
    for literal in _find_lost_literals(full, reduced, And(engine.task.goal), {}):
        supports.append(Support("goal", len(steps) + 1, literal, None, f"gives {literal} to the goal"))
    supports += _find_supported_rules(full, reduced, len(steps), criteria)
    return tuple(dict.fromkeys(supports))


def _run_later_step(full: Replay, reduced: Replay, number: int, step: GroundAction | IllFormed) -> Iterator[Support]:
    """Run a step in both replays; yield why it fails in the reduced replay alone."""
    if isinstance(step, GroundAction):
        for literal in _find_lost_literals(full, reduced, And(step.action.start.condition), step.binding):
            yield Support("step", number, literal, None, f"gives {literal} to step {number}")
    full_failure, reduced_failure = [_run_step(replay, number, step) for replay in (full, reduced)]
    if full_failure is None and reduced_failure is not None and reduced_failure.code != SC.PRECONDITION:
        text = f"keeps the effects of step {number} defined"
        yield Support("step", number, reduced_failure.detail, None, text)


def _run_step(replay: Replay, number: int, step: GroundAction | IllFormed) -> Failure | None:
    """Run one step, and return its failure; ``None`` if it was taken."""
    failure_count = len(replay.failures)
    replay.run_steps([step], number - 1)
    return replay.failures[-1] if len(replay.failures) > failure_count else None


def _find_lost_literals(full: Replay, reduced: Replay, condition: Formula, binding: Binding) -> Iterator[str]:
    """Yield the literals that make a condition true in the full replay and are missing where it is false."""
    task = full.task
    reduced_evaluator = Evaluator(task, reduced.state.facts, reduced.state.fluents)
    if reduced_evaluator.holds(condition, binding) is True:
        return
    full_evaluator = Evaluator(task, full.state.facts, full.state.fluents)
    if full_evaluator.holds(condition, binding) is not True:
        return
    for literal in full_evaluator.find_unmet_literals(condition, binding, False, NO_LIMIT):
        formula, required_value = literal.formula, literal.required_value
        if reduced_evaluator.holds(formula, literal.binding) is not (not required_value):
            yield format_formula(task, Not(formula) if required_value else formula, literal.binding)


def _find_supported_rules(
    full: Replay, reduced: Replay, step_count: int, criteria: VerdictCriteria
) -> Iterator[Support]:
    """Yield the rule instances that only the reduced replay violates."""
    engine = full.engine
    violated_in_full = {
        (v.part, v.binding) for v in full.finish(step_count).violations if engine.is_decisive(v, criteria)
    }
    for violation in reduced.finish(step_count).violations:
        part = engine.rule_set.parts[violation.part]
        rule = engine.rules[part.rule]
        if not engine.is_decisive(violation, criteria) or (violation.part, violation.binding) in violated_in_full:
            continue
        text = f"keeps rule `{rule.name}`{binding_text(engine, part, violation.binding)}"
        yield Support("rule", violation.step, "", rule.name, text)


def binding_text(engine: Engine, part: RulePart, objects: tuple[int, ...]) -> str:
    """The objects of a rule instance, as in `` for stove-1``, without the objects of unnamed parameters."""
    names = shorten_variable_names([v.name for v in part.parameters])
    shown_objects = [o for name, o in zip(names, engine.task.names(objects), strict=True) if name != "_"]
    return f" for {', '.join(shown_objects)}" if shown_objects else ""
