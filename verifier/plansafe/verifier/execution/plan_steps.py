"""Read a plan with its places, and resolve its steps against a task."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.plan_steps import PlanText, Step
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.steps import GroundAction, IllFormed, TimedStep


class ResolvedPlan(NamedTuple):
    """A plan read with places and resolved. ``timed`` steps are sorted by time and numbered from 1.

    ``ordering``: in a partially ordered plan, the pairs of a step and a later step (numbered from 1); else ``None``.
    """

    text: PlanText
    steps: tuple[GroundAction | IllFormed, ...]
    timed: list[TimedStep] | None
    spans: tuple[Span, ...]
    ordering: tuple[tuple[int, int], ...] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the order or a duration of the plan is open."""
        return self.ordering is not None or any([step.tolerance is not None for step in self.timed or ()])


def resolve_plan(engine: Engine, plan: Source) -> ResolvedPlan:
    """Read a plan with places, and resolve its steps."""
    text = read_plan(plan)
    steps = [engine.resolver.resolve_step(step.tokens) for step in text.steps]
    if engine.has_late_literals and _can_number_times(text, steps):
        text = text._replace(steps=tuple([step._replace(time=number) for number, step in enumerate(text.steps, 1)]))
    missing_time = _find_missing_time(engine, plan, text)
    if missing_time is not None:
        text = text._replace(diagnostics=(*text.diagnostics, missing_time))
    has_times = any([step.time is not None for step in text.steps])
    if has_times or engine.has_durative_actions:
        steps = [_check_times(step, resolved) for step, resolved in zip(text.steps, steps, strict=True)]
    if (not has_times and not engine.is_continuous) or text.diagnostics or text.ordering is not None:
        return ResolvedPlan(text, tuple(steps), None, tuple([step.span for step in text.steps]), text.ordering)
    sorted_positions = sorted(range(len(steps)), key=lambda i: text.steps[i].time or 0)
    timed_steps = []
    for number, i in enumerate(sorted_positions, 1):
        step = text.steps[i]
        timed_steps.append(TimedStep(number, i, step.time or 0, step.duration, steps[i], step.tolerance or None))
    return ResolvedPlan(
        text,
        tuple([steps[i] for i in sorted_positions]),
        timed_steps,
        tuple([text.steps[i].span for i in sorted_positions]),
    )


def _can_number_times(text: PlanText, steps: list[GroundAction | IllFormed]) -> bool:
    """Whether step i can happen at time i: all steps are instantaneous, without times, and in one order."""
    if text.ordering is not None or any([step.time is not None for step in text.steps]):
        return False
    return not any([isinstance(step, GroundAction) and step.action.end for step in steps])


def _find_missing_time(engine: Engine, plan: Source, text: PlanText) -> Diagnostic | None:
    """Return the error of a step without a time if another step has one, or if time is continuous."""
    untimed_step = next((step for step in text.steps if step.time is None), None)
    timed_step = next((step for step in text.steps if step.time is not None), None)
    if untimed_step is None:
        return None
    label = Label(plan.name, untimed_step.span, "this step has no time")
    if timed_step is not None:
        timed_label = Label(plan.name, timed_step.span, "this one has", False)
        return Diagnostic(SC.STRUCTURE, "either all steps have a time or none", (label, timed_label))
    if engine.is_continuous and text.ordering is None:
        help = "write the time of each step: `0.5: (action object ..)`"
        return Diagnostic(SC.CONTINUOUS_TIME, "a plan in continuous time needs times", (label,), help=help)
    return None


def _check_times(step: Step, resolved: GroundAction | IllFormed) -> GroundAction | IllFormed:
    """Return a resolved step, or the error in its time or duration."""
    time, duration = step.time, step.duration
    if isinstance(resolved, IllFormed):
        return resolved
    if time is not None and time < 0:
        return IllFormed(SC.IMPOSSIBLE_TIME, f"the step begins at {time}, before time 0", 0)
    name = resolved.action.name
    if resolved.action.end is not None:
        if time is None or duration is None:
            return IllFormed(
                SC.UNTIMED_DURATIVE,
                f"durative action `{name}` needs a time and a duration",
                0,
                f"write `0.0: ({name} ..) [duration]`",
            )
        if duration < 0:
            return IllFormed(SC.IMPOSSIBLE_TIME, f"the duration {duration} is negative", 0)
        if duration < (step.tolerance or 0):
            return IllFormed(SC.IMPOSSIBLE_TIME, f"the duration {duration} +- {step.tolerance} may be negative", 0)
    elif step.tolerance:
        return IllFormed(SC.IMPOSSIBLE_TIME, f"`{name}` is instantaneous, but its duration varies", 0, "leave it out")
    return resolved
