"""The steps of a plan as written, and their partial order: labels, ``(:ordering (< a b) ..)`` and cycles."""

from __future__ import annotations

from fractions import Fraction

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span, suggest_name
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import Node


class Step(NamedTuple):
    """One step as written: its tokens in lower case, its time and duration, and its place.

    ``tolerance``: how much shorter or longer than ``duration`` it may be. ``label``: its name in an ordering.
    """

    tokens: tuple[str, ...]
    time: int | Fraction | None
    duration: int | Fraction | None
    span: Span
    label: str | None = None
    tolerance: int | Fraction | None = None


Pair = tuple[int, int]
"""The numbers of two steps, counted from 1: the first must come before the second."""

_MAX_LISTED = 12


def read_ordering(
    source: str, places: Places, steps: list[Step], section: list[Node] | None, diagnostics: list[Diagnostic]
) -> tuple[Pair, ...] | None:
    """Read an ``(:ordering ..)`` section into pairs of step numbers (earlier, later). Linear in the text.

    Without a section, only the labels of the steps are checked and the result is ``None``. Mistakes are added to
    ``diagnostics``.
    """

    def report(
        code: str, message: str, span: Span, text: str, second: Label | None = None, help: str | None = None
    ) -> None:
        labels = (Label(source, span, text),) if second is None else (Label(source, span, text), second)
        diagnostics.append(Diagnostic(code, message, labels, help=help))

    names: dict[str, int] = {}
    for position, step in enumerate(steps, 1):
        name = str(position) if step.label is None else step.label
        if name in names:
            second = Label(source, steps[names[name] - 1].span, "this step also has it", False)
            report(SC.STEP_ORDER, f"label `{name}` names two steps", step.span, "its second step", second)
        names.setdefault(name, position)
    if section is None:
        return None
    timed = next((step for step in steps if step.time is not None), None)
    if timed is not None:
        report(SC.STRUCTURE, "a plan with an ordering cannot have times", timed.span, "this step has one")
    pairs: dict[Pair, Span] = {}
    for child in range(1, len(section)):
        chain = section[child]
        if not isinstance(chain, list) or len(chain) < 3 or chain[0] != "<":
            report(
                SC.STRUCTURE, "expected an order of steps", places.span(section, child), "expected `(< label label ..)`"
            )
            continue
        previous_number = 0  # 0: the first label of the chain, or after an unknown label
        for position in range(1, len(chain)):
            label = chain[position]
            step_number = names.get(label, 0) if isinstance(label, str) else 0
            if not isinstance(label, str):
                report(SC.STRUCTURE, "expected the label of a step", places.span(chain, position), "expected a label")
            elif not step_number:
                help = _suggest_label(label, steps, names)
                report(SC.STEP_ORDER, f"no step is named `{label}`", places.span(chain, position), "unknown", help=help)
            elif previous_number:
                pairs.setdefault((previous_number, step_number), places.span(chain, position))
            previous_number = step_number
    cycle = _find_cycle(len(steps), list(pairs))
    if cycle:
        labels = [steps[number - 1].label or str(number) for number in cycle]
        if len(labels) > _MAX_LISTED:
            labels = [*labels[: _MAX_LISTED - 2], "..", labels[-1]]
        message = f"the ordering has a cycle: {' < '.join(labels)}"
        report(SC.STEP_ORDER, message, pairs[cycle[0], cycle[1]], "on the cycle", help="remove one of these orders")
    return tuple(pairs)


def _suggest_label(label: str, steps: list[Step], names: dict[str, int]) -> str | None:
    if label.isdecimal() and label.isascii() and len(label) < 10 and 0 < int(label) <= len(steps):
        step_label = steps[int(label) - 1].label
        if step_label is not None:
            return f"step {int(label)} is named `{step_label}`"
    return suggest_name(label, list(names))


def _find_cycle(count: int, pairs: list[Pair]) -> list[int]:
    """Return the steps of a cycle, with the first step repeated at the end; an empty list without a cycle."""
    successors_of: list[list[int]] = [[] for _ in range(count + 1)]
    for first, second in pairs:
        successors_of[first].append(second)
    state = [0] * (count + 1)  # of each step: 0 not visited, 1 on the path, 2 finished
    for root in range(1, count + 1):
        if state[root]:
            continue
        state[root] = 1
        path = [root]
        successors = [iter(successors_of[root])]
        while path:
            step = next(successors[-1], None)
            if step is None:
                state[path.pop()] = 2
                successors.pop()
            elif state[step] == 1:
                return [*path[path.index(step) :], step]
            elif state[step] == 0:
                state[step] = 1
                path.append(step)
                successors.append(iter(successors_of[step]))
    return []
