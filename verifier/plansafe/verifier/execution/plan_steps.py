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
    timed = [step for step in text.steps if step.time is not None]
    if timed and len(timed) != len(text.steps):
        untimed_step = next(step for step in text.steps if step.time is None)
        label = Label(plan.name, untimed_step.span, "this step has no time")
        timed_label = Label(plan.name, timed[0].span, "this one has", False)
        text = text._replace(
            diagnostics=(
                *text.diagnostics,
                Diagnostic(SC.STRUCTURE, "either all steps have a time or none", (label, timed_label)),
            )
        )
    resolver = engine.resolver
    steps = [resolver.resolve_step(step.tokens) for step in text.steps]
    if (
        not timed
        and text.ordering is None
        and (engine.has_late_literals and not any([isinstance(s, GroundAction) and s.action.end for s in steps]))
    ):
        # Timed literals need times: step i of an untimed plan happens at time i.
        text = text._replace(steps=tuple([step._replace(time=index) for index, step in enumerate(text.steps, 1)]))
        timed = list(text.steps)
    is_continuous = engine.is_continuous
    if is_continuous and text.steps and not timed and text.ordering is None:
        help = "write the time of each step: `0.5: (action object ..)`"
        label = Label(plan.name, text.steps[0].span, "this step has no time")
        untimed = Diagnostic(SC.CONTINUOUS_TIME, "a plan in continuous time needs times", (label,), help=help)
        text = text._replace(diagnostics=(*text.diagnostics, untimed))
    if timed or engine.has_durative_actions:
        steps = [_check_times(step, resolved) for step, resolved in zip(text.steps, steps, strict=True)]
    if (not timed and not is_continuous) or text.diagnostics or text.ordering is not None:
        return ResolvedPlan(text, tuple(steps), None, tuple([step.span for step in text.steps]), text.ordering)
    indexes_by_time = sorted(range(len(steps)), key=lambda i: text.steps[i].time or 0)
    timed_steps = []
    for number, i in enumerate(indexes_by_time, 1):
        step = text.steps[i]
        timed_steps.append(TimedStep(number, i, step.time or 0, step.duration, steps[i], step.tolerance or None))
    return ResolvedPlan(
        text,
        tuple([steps[i] for i in indexes_by_time]),
        timed_steps,
        tuple([text.steps[i].span for i in indexes_by_time]),
    )


def _check_times(step: Step, resolved: GroundAction | IllFormed) -> GroundAction | IllFormed:
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
