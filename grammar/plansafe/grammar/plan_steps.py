"""The steps of a plan as written, and their partial order: labels, ``(:ordering (< a b) ..)`` and cycles."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span, suggest_name
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

_SHOWN = 12


def read_ordering(
    source: str, places: Places, steps: list[Step], section: list[Node] | None, found: list[Diagnostic]
) -> tuple[Pair, ...] | None:
    """The pairs of a section; without a section only labels are looked at. Mistakes are added to ``found``.

    Linear in the text.
    """

    def problem(
        code: str, message: str, span: Span, text: str, other: Label | None = None, help: str | None = None
    ) -> None:
        labels = (Label(source, span, text),) if other is None else (Label(source, span, text), other)
        found.append(Diagnostic(code, message, labels, help=help))

    names: dict[str, int] = {}
    for position, step in enumerate(steps, 1):
        name = str(position) if step.label is None else step.label
        if name in names:
            other = Label(source, steps[names[name] - 1].span, "this step also has it", False)
            problem(SC.STEP_ORDER, f"label `{name}` names two steps", step.span, "its second step", other)
        names.setdefault(name, position)
    if section is None:
        return None
    timed = next((step for step in steps if step.time is not None), None)
    if timed is not None:
        problem(SC.STRUCTURE, "a plan with an ordering cannot have times", timed.span, "this step has one")
    pairs: dict[Pair, Span] = {}
    for child in range(1, len(section)):
        chain = section[child]
        if not isinstance(chain, list) or len(chain) < 3 or chain[0] != "<":
            problem(
                SC.STRUCTURE, "expected an order of steps", places.span(section, child), "expected `(< label label ..)`"
            )
            continue
        before = 0
        for position in range(1, len(chain)):
            label = chain[position]
            step_number = names.get(label, 0) if isinstance(label, str) else 0
            if not isinstance(label, str):
                problem(SC.STRUCTURE, "expected the label of a step", places.span(chain, position), "expected a label")
            elif not step_number:
                help = _help(label, steps, names)
                problem(
                    SC.STEP_ORDER, f"no step is named `{label}`", places.span(chain, position), "unknown", help=help
                )
            elif before:
                pairs.setdefault((before, step_number), places.span(chain, position))
            before = step_number
    cycle = _cycle(len(steps), list(pairs))
    if cycle:
        shown = [steps[number - 1].label or str(number) for number in cycle]
        if len(shown) > _SHOWN:
            shown = [*shown[: _SHOWN - 2], "..", shown[-1]]
        message = f"the ordering has a cycle: {' < '.join(shown)}"
        problem(SC.STEP_ORDER, message, pairs[cycle[0], cycle[1]], "on the cycle", help="remove one of these orders")
    return tuple(pairs)


def _help(label: str, steps: list[Step], names: dict[str, int]) -> str | None:
    if label.isdecimal() and label.isascii() and len(label) < 10 and 0 < int(label) <= len(steps):
        own = steps[int(label) - 1].label
        if own is not None:
            return f"step {int(label)} is named `{own}`"
    return suggest_name(label, list(names))


def _cycle(count: int, pairs: list[Pair]) -> list[int]:
    """Steps that come before each other, the first again at the end; empty if there is no cycle."""
    after: list[list[int]] = [[] for _ in range(count + 1)]
    for first, second in pairs:
        after[first].append(second)
    state = [0] * (count + 1)  # 1: on the path, 2: done
    for root in range(1, count + 1):
        if state[root]:
            continue
        state[root] = 1
        path = [root]
        rest = [iter(after[root])]
        while path:
            step = next(rest[-1], None)
            if step is None:
                state[path.pop()] = 2
                rest.pop()
            elif state[step] == 1:
                return [*path[path.index(step) :], step]
            elif state[step] == 0:
                state[step] = 1
                path.append(step)
                rest.append(iter(after[step]))
    return []
