"""The encoding of a plan as circuits, and the inputs of these circuits."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.worlds.world_replay import ChoiceKey, OneofStatement

# -- inputs: keys of the inputs of a circuit, next to :class:`~.terms.Comparison` --------------------------------------


class FactInput(NamedTuple):
    """An open fact of S0."""

    predicate: int
    code: int


class OutcomeInput(NamedTuple):
    """Whether a ``oneof`` of a step takes ``alternative``, given that it takes no smaller one.

    ``step`` counts from 1, ``number`` counts the ``oneof`` statements of the action from 0; ``objects`` are bound by
    quantifiers around the statement. The last alternative has no input.
    """

    step: int
    number: int
    objects: tuple[int, ...]
    alternative: int


class OrderInput(NamedTuple):
    """Whether step ``first`` is executed before step ``second`` (``first < second``), in a partially ordered plan."""

    first: int
    second: int


class AuxiliaryInput(NamedTuple):
    """A variable of an encoding that no part of the world corresponds to."""

    name: str
    number: int


# -- encodings --------------------------------------------------------------------------------------------------------


class InstanceLiteral(NamedTuple):
    """The worlds in which an instance of a rule's part is violated, or undecided, at a letter of the trace."""

    part: int
    binding: tuple[int, ...]
    letter: int
    literal: Literal


class Encoding(NamedTuple):
    """A plan as circuits: each literal is true in the worlds that have a property.

    A rule is *deciding* if its violations decide the verdict (:meth:`~.verdict_criteria.VerdictCriteria.includes`).

    - ``allowed``: the world exists.
    - ``violated``: a deciding rule is violated without an exemption. ``undecided``: none is, but a deciding rule reads
      an undefined number or was not encoded.
    - ``violations``: violated instances of deciding rules, except exempt ones. ``nondeciding_violations``: violated
      instances of preferences and of rules below the minimum severity. ``undecided_instances``: of all rules.
    - ``has_instances``: a deciding rule has an instance if all steps are executed.
    - ``open_numbers`` are (function, code); ``finite_numbers`` are those with finitely many values, with these values.
    - ``alternative_counts``: the number of alternatives of each choice.
    - ``limits``: reasons why the trace, and so every literal, is not known.
    - ``skipped_rules``: the numbers of the rules that were not encoded. ``skipped_messages``: a message about each
      deciding rule among them.
    - ``alive[i]``: the trace has letter i. ``failing``: by step, the worlds in which the trace ends because it fails.
    """

    circuit: Circuit
    allowed: Literal
    executable: Literal
    goal: Literal
    violated: Literal
    undecided: Literal
    violations: tuple[InstanceLiteral, ...]
    has_instances: bool
    open_numbers: tuple[tuple[int, int], ...]
    open_fact_count: int
    alternative_counts: dict[ChoiceKey, int]
    oneof_statements: tuple[OneofStatement, ...] = ()
    limits: tuple[str, ...] = ()
    skipped_messages: tuple[str, ...] = ()
    finite_numbers: tuple[tuple[tuple[int, int], tuple[Number, ...]], ...] = ()
    alive: tuple[Literal, ...] = ()
    failing: Mapping[int, Literal] = MappingProxyType({})
    nondeciding_violations: tuple[InstanceLiteral, ...] = ()
    undecided_instances: tuple[InstanceLiteral, ...] = ()
    skipped_rules: frozenset[int] = frozenset()

    def encode_good_worlds(self) -> Literal:
        """The worlds in which the plan is SAFE or VALID."""
        return self.circuit.conjunction([self.executable, self.goal, self.violated ^ 1, self.undecided ^ 1])
