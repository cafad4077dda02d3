"""A loose text that is a plain plan already; and how a plain plan is written.

Answers that are nothing but a list of steps, read at once; what the careful reader would say of them.

Many answers of a trained model are such lists: the steps alone, numbered, as calls, or in a fence. Where each line is a
step in one manner, and each name is written as in the task, no reading between the lines is needed, and most of the
reader's time is saved. Any other text is left to the other readers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.plan_steps import PlanText
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.llm.loose.candidates import LooseResult, LooseStep
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import GroundAction, IllFormed

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


_FENCED = re.compile(r"\n*```(?:pddl|plan|text)?\n(.*)\n```\n*", re.DOTALL)
_LINE = re.compile(
    r"(?:(?P<number>[1-9][0-9]{0,3})\. )?"
    r"(?:\((?P<form>[a-z][a-z0-9_ -]*)\)|(?P<call>[a-z][a-z0-9_-]*)\((?P<rest>[a-z0-9_, -]*)\))"
)


class Quick(NamedTuple):
    """The steps of an answer; ``plain``: they stand as a plan is written, one in parentheses on each line."""

    steps: tuple[GroundAction | IllFormed, ...]
    plain: bool


def quick_steps(text: str, checker: Checker) -> Quick | None:
    """The steps of a text that is nothing but a list of them; ``None`` for any other. Linear in the text."""
    fenced = _FENCED.fullmatch(text) if "```" in text else None
    lines = (text if fenced is None else fenced[1]).split("\n")
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        return None
    resolve, steps = checker.engine.resolver.resolve_step, list[GroundAction | IllFormed]()
    manner: tuple[bool, bool] | None = None
    plain = False
    for place, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        number, form, call, following = match.groups()
        if manner != (number is not None, form is not None):
            if manner is not None:
                return None
            manner = number is not None, form is not None
            plain = manner == (False, True) and fenced is None
        if number is not None and int(number) != place:
            return None
        if form is not None:
            tokens = tuple(form.split(" "))
        else:
            tokens = (call, *(following.split(", ") if following else ()))
        step = resolve(tokens)
        if isinstance(step, IllFormed):
            index = checker.engine.task.object_index
            if not plain or step.code != SC.STEP_TYPE or not all([token in index for token in tokens[1:]]):
                return None
        steps.append(step)
    return Quick(tuple(steps), plain)
