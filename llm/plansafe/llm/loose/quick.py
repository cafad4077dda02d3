"""Answers that are nothing but a list of steps, read at once; what the careful reader would say of them.

Many answers of a trained model are such lists: the steps alone, numbered, as calls, or in a fence. Where each line is a
step in one manner, and each name is written as in the task, no reading between the lines is needed, and most of the
reader's time is saved. Any other text is left to the other readers.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import GroundAction, IllFormed

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
