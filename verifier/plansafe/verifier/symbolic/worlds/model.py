"""What the symbolic engine works on and answers: inputs of the circuit, the encoding of a plan, worlds, verdicts."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.reporting.report import RuleCount, Worlds
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal

# ---- inputs: the keys of a circuit's inputs are these, and :class:`~.terms.Comparison` ------------------------------


class FactInput(NamedTuple):
    """An open fact of S0."""

    predicate: int
    code: int


class OutcomeInput(NamedTuple):
    """Whether a ``oneof`` of a step has the alternative ``alternative``, given that it has no smaller one.

    ``step`` counts from 1, ``number`` the ``oneof`` statements of the action; ``objects`` are bound by quantifiers
    around it. The last alternative has no input.
    """

    step: int
    number: int
    objects: tuple[int, ...]
    alternative: int


class OrderInput(NamedTuple):
    """Whether step ``first`` is taken before step ``second`` (``first < second``), in a partially ordered plan."""

    first: int
    second: int


class AuxiliaryInput(NamedTuple):
    """A variable of an encoding that stands for nothing in the world."""

    name: str
    number: int


# ---- encodings ------------------------------------------------------------------------------------------------------


class InstanceLiteral(NamedTuple):
    """Under which worlds an instance of a rule's part is violated, or undecided, at a letter."""

    part: int
    binding: tuple[int, ...]
    letter: int
    literal: Literal


class Encoding(NamedTuple):
    """A plan as circuits: each literal says in which worlds something is so.

    ``allowed``: the world exists. ``executable``, ``goal``; ``violated``: some hard rule is violated; ``undecided``:
    some hard rule reads an undefined number, and no rule is violated. ``checked``: some hard rule has an instance where
    all steps are taken. ``values``: the open numbers, as (function, code). ``open_facts``, ``open_numbers``,
    ``outcomes``: how much is left open. ``limits`` say why the trace is not known: then nothing is; ``skipped``: why a
    rule is undecided in every world. ``finite``: open numbers that have one of some values, with these. Of single
    rules: ``violations`` are those of hard ones, ``soft`` those of preferences, ``undecided_at`` where either are
    undecided; ``given_up``: rules (by number) of which nothing is known.
    """

    circuit: Circuit
    allowed: Literal
    executable: Literal
    goal: Literal
    violated: Literal
    undecided: Literal
    violations: tuple[InstanceLiteral, ...]
    checked: bool
    values: tuple[tuple[int, int], ...]
    open_facts: int
    open_numbers: int
    outcomes: dict[tuple[int, int, tuple[int, ...]], int]  # each choice, with the number of its alternatives
    limits: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    finite: tuple[tuple[tuple[int, int], tuple[Number, ...]], ...] = ()
    alive: tuple[Literal, ...] = ()  # alive[i]: steps 1..i are taken
    soft: tuple[InstanceLiteral, ...] = ()
    undecided_at: tuple[InstanceLiteral, ...] = ()
    given_up: frozenset[int] = frozenset()


# ---- worlds ---------------------------------------------------------------------------------------------------------


class Completion(NamedTuple):
    """One world: the open facts that are true, the values of open numbers, and the alternatives that are chosen.

    ``facts`` are (predicate, code), ``values`` (function, code) -> number, ``outcomes`` (step, number, objects) ->
    alternative; choices that are not listed take their first. ``order`` lists the steps of a partially ordered plan as
    they are taken; ``durations``: (step, duration), where the plan gives a
    tolerance.
    """

    facts: frozenset[tuple[int, int]]
    values: dict[tuple[int, int], Number]
    outcomes: dict[tuple[int, int, tuple[int, ...]], int]
    order: tuple[int, ...] = ()
    durations: tuple[tuple[int, Number], ...] = ()


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
    """A world in which something fails: ``about`` is ``executable``, ``goal``, ``safe`` or the name of a rule."""

    about: str
    world: ShownWorld
    replayed: bool | None


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


class Verdict(NamedTuple):
    """The three values over all worlds, and a world in which each fails.

    ``rules``: what is so of each rule, where that was looked at; ``breaking``: names of rules, and worlds that break
    them.
    """

    executable: Worlds
    goal: Worlds
    safe: Worlds
    not_executable: Completion | None
    not_goal: Completion | None
    not_safe: Completion | None
    limits: tuple[str, ...] = ()
    rules: tuple[RuleCount, ...] = ()
    breaking: tuple[tuple[str, Completion], ...] = ()
