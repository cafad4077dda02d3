"""What the symbolic engine works on and answers: inputs of the circuit, the encoding of a plan, verdicts."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.model.nodes import Number
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

    ``allowed``: the world exists. ``executable``, ``goal``; ``violated``: some hard rule is violated;
    ``undecided``: some hard rule reads an undefined number, and no rule is violated. ``checked``: some hard rule
    has an instance where all steps are taken. ``values``: the open numbers, as (function, code). ``open_facts``,
    ``open_numbers``, ``outcomes``: how much is left open, ``statements``: each ``oneof`` of each step. ``limits``
    say why the trace is not known: then nothing is; ``skipped``: why a rule is undecided in every world.
    ``finite``: open numbers that have one of some values, with these. Of single rules: ``violations`` are those of
    hard ones, ``soft`` those of preferences, ``undecided_at`` where either are undecided; ``given_up``: rules (by
    number) of which nothing is known.
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
    outcomes: dict[tuple[int, int, tuple[int, ...]], int]  # each choice that may matter -> its number of alternatives
    statements: tuple[tuple[int, int], ...] = ()
    limits: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    finite: tuple[tuple[tuple[int, int], tuple[Number, ...]], ...] = ()
    alive: tuple[Literal, ...] = ()  # alive[i]: steps 1..i are taken
    soft: tuple[InstanceLiteral, ...] = ()
    undecided_at: tuple[InstanceLiteral, ...] = ()
    given_up: frozenset[int] = frozenset()
