"""Possible worlds: a completion of the task, its text in a report, and the report on all possible worlds."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.model.nodes import Number


class MissingOutcome(RuntimeError):
    """A completion has no outcome for a ``oneof`` of a step: an internal error."""


class OneofOutcomes(NamedTuple):
    """The alternatives of a ``oneof``: ``usual`` for all bindings except those in ``exceptions``."""

    usual: int
    exceptions: dict[tuple[int, ...], int]


class Completion(NamedTuple):
    """A possible world: the open facts that are true, the values of open numbers, and the outcomes of all steps.

    ``facts``: (predicate, code). ``values``: (function, code) -> number. ``outcomes``: (step from 1, number of the
    ``oneof``) -> alternatives. ``order``: the order in which a partially ordered plan is executed. ``durations``:
    (step, duration) for each step whose duration has a tolerance.
    """

    facts: frozenset[tuple[int, int]]
    values: dict[tuple[int, int], Number]
    outcomes: dict[tuple[int, int], OneofOutcomes]
    order: tuple[int, ...] = ()
    durations: tuple[tuple[int, Number], ...] = ()

    def get_outcomes(self, step: int, number: int) -> OneofOutcomes:
        """Return the alternatives of a ``oneof``. Raises :class:`MissingOutcome`."""
        outcomes = self.outcomes.get((step, number))
        if outcomes is None:
            raise MissingOutcome(f"the world has no outcome of `oneof` {number} of step {step}")
        return outcomes

    def get_alternative(self, step: int, number: int, objects: tuple[int, ...]) -> int:
        """Return the alternative of one binding of a ``oneof``. Raises :class:`MissingOutcome`."""
        outcomes = self.get_outcomes(step, number)
        return outcomes.exceptions.get(objects, outcomes.usual)


class ShownValue(NamedTuple):
    """A fact or number of a possible world, as text: ``(metal cup)`` and ``true``, ``false`` or a number."""

    what: str
    value: str


class ShownOutcome(NamedTuple):
    """The alternative of a nondeterministic effect in a possible world, as text."""

    step: int
    action: str
    alternative: int
    alternatives: int
    effect: str


class ShownWorld(NamedTuple):
    """The part of a possible world on which the plan's verdict depends, as text."""

    facts: tuple[ShownValue, ...]
    outcomes: tuple[ShownOutcome, ...]
    order: tuple[str, ...] = ()
    durations: tuple[ShownValue, ...] = ()


class Witness(NamedTuple):
    """A possible world in which ``executable``, ``goal``, ``safe`` or a rule (``about``) fails."""

    about: str
    world: ShownWorld
    replayed: bool | None
    completion: Completion | None = None


class ShownRange(NamedTuple):
    """The values of an open number with one verdict, as text; ``None``: unbounded.

    ``replayed``: the kernel has the same verdict for all of them.
    """

    what: str
    low: str | None
    high: str | None
    low_open: bool
    high_open: bool
    headline: str
    replayed: bool


class WorldsReport(NamedTuple):
    """The part of a report about possible worlds.

    ``open_facts``, ``open_numbers``, ``choices`` (nondeterministic outcomes), ``durations`` (with a tolerance) and
    ``unordered`` (pairs of steps without an order) count the open elements; ``relevant`` counts those that can change
    the verdict. ``cause`` and ``question`` are ``None`` if they do not exist or were not found; the notes give the
    reason. ``solver``: the solver that decided. ``advice``: how to avoid an UNKNOWN verdict. ``ranges``: all values of
    the only open element, a number in continuous time.
    """

    open_facts: int
    open_numbers: int
    choices: int
    relevant: int
    witnesses: tuple[Witness, ...] = ()
    cause: tuple[ShownValue, ...] | None = None
    cause_note: str = ""
    question: tuple[str, ...] | None = None
    question_note: str = ""
    invariants: tuple[str, ...] = ()
    solver: str = ""
    durations: int = 0
    unordered: int = 0
    advice: str = ""
    ranges: tuple[ShownRange, ...] = ()
