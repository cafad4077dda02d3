"""Worlds: one as what it adds to the task, and as a report shows it; what a report says of all of them."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.model.nodes import Number


class MissingOutcome(RuntimeError):
    """A world has no outcome for a ``oneof`` of a step: an internal error."""


class OneofOutcomes(NamedTuple):
    """The alternative of each binding of one ``oneof``: ``usual``, except for the bindings in ``exceptions``."""

    usual: int
    exceptions: dict[tuple[int, ...], int]


class Completion(NamedTuple):
    """One world: the open facts that are true, the values of open numbers, and the outcomes of all steps.

    ``facts`` are (predicate, code), ``values`` (function, code) -> number. ``outcomes`` has every ``oneof`` of every
    step, by step (from 1) and number. ``order`` lists the steps of a partially ordered plan as they are taken;
    ``durations``: (step, duration), where the plan gives a tolerance.
    """

    facts: frozenset[tuple[int, int]]
    values: dict[tuple[int, int], Number]
    outcomes: dict[tuple[int, int], OneofOutcomes]
    order: tuple[int, ...] = ()
    durations: tuple[tuple[int, Number], ...] = ()

    def outcomes_of(self, step: int, number: int) -> OneofOutcomes:
        """The outcomes of one ``oneof``. Raises :class:`MissingOutcome`."""
        outcomes = self.outcomes.get((step, number))
        if outcomes is None:
            raise MissingOutcome(f"the world has no outcome of `oneof` {number} of step {step}")
        return outcomes

    def alternative(self, step: int, number: int, objects: tuple[int, ...]) -> int:
        """The alternative that one binding of a ``oneof`` takes. Raises :class:`MissingOutcome`."""
        outcomes = self.outcomes_of(step, number)
        return outcomes.exceptions.get(objects, outcomes.usual)


class ShownValue(NamedTuple):
    """A fact or number of a world, as text: ``(metal cup)`` and ``true``, ``false`` or a number."""

    what: str
    value: str


class ShownOutcome(NamedTuple):
    """A choice of a world, as text; ``binding`` names the objects of quantifiers around it."""

    step: int
    action: str
    alternative: int
    alternatives: int
    effect: str


class ShownWorld(NamedTuple):
    """A world as the report shows it: what the plan's verdict depends on."""

    facts: tuple[ShownValue, ...]
    outcomes: tuple[ShownOutcome, ...]
    order: tuple[str, ...] = ()
    durations: tuple[ShownValue, ...] = ()


class Witness(NamedTuple):
    """A world in which something fails: ``about`` is ``executable``, ``goal``, ``safe`` or the name of a rule.

    ``completion`` is the world itself, for who replays the plan in it.
    """

    about: str
    world: ShownWorld
    replayed: bool | None
    completion: Completion | None = None


class WorldsReport(NamedTuple):
    """What a report says about worlds, beside its three values.

    ``open_facts``, ``open_numbers``, ``choices`` (of outcomes), ``durations`` (with a tolerance) and ``unordered``
    (pairs of steps that the plan leaves in either order): how much is left open. ``relevant``: how much of it the
    verdict can depend on. ``cause`` and ``question`` are ``None`` where there is none, or where it was not found: the
    notes say which. ``solver`` says what decided; ``advice``, where something is UNKNOWN, what would help.
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
