"""A loose text that is a plain plan already; and how a plain plan is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plansafe.grammar.codes import SC
from plansafe.grammar.plan_text import PlanText, read_plan
from plansafe.grammar.source import Source
from plansafe.llm.loose.candidates import LooseResult, LooseStep
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import IllFormed

if TYPE_CHECKING:
    from fractions import Fraction


def plain_name(text: Source) -> str:
    """The name of the plan that was read."""
    return f"{text.name} (as read)"


def strict_plan(text: Source, checker: Checker) -> LooseResult | None:
    """A text that already is a plain plan, and whose names the task has; ``None`` for any other."""
    if not text.text.lstrip().startswith(("(", ";")) and not text.text.lstrip()[:1].isdigit():
        return None
    if any(["(" in comment for comment in re.findall(r";[^\n]*", text.text)]):
        return None  # a step that is commented out, or follows a `;` meant to separate
    read = read_plan(text)
    if read.diagnostics or read.warnings or not read.steps or len({step.time is None for step in read.steps}) > 1:
        return None
    for step in read.steps:
        resolved = checker.engine.resolver.resolve_step(step.tokens)
        names_exist = all([token in checker.engine.task.object_index for token in step.tokens[1:]])
        if isinstance(resolved, IllFormed) and not (resolved.code == SC.STEP_TYPE and names_exist):
            return None
    steps = []
    steps_shown = []
    for step in read.steps:
        written = f"({' '.join(step.tokens)})"
        steps.append(LooseStep(written, step.span, text.position(step.span.start)[0]))
        steps_shown.append(timed(written, decimal(step.time), decimal(step.duration)))
    if leaves_open(read):
        return LooseResult(Source(plain_name(text), text.text), tuple(steps), (), ())
    return LooseResult(Source(plain_name(text), "\n".join(steps_shown) + "\n"), tuple(steps), (), ())


def leaves_open(read: PlanText) -> bool:
    """Whether a plan says more than a list of steps can: an order that is partial, or durations within tolerances."""
    return read.ordering is not None or any([step.tolerance for step in read.steps])


def decimal(value: int | Fraction | None) -> str | None:
    """A time as a decimal; plan texts hold nothing else, so every one ends."""
    if value is None or isinstance(value, int):
        return None if value is None else str(value)
    from decimal import Decimal, localcontext  # noqa: PLC0415 - for timed plans alone

    with localcontext() as context:
        context.prec = 40_000
        return format(Decimal(value.numerator) / Decimal(value.denominator), "f")


def timed(step: str, time: str | None, duration: str | None) -> str:
    """A step as a line of a plan."""
    return (f"{time}: " if time is not None else "") + step + (f" [{duration}]" if duration is not None else "")
