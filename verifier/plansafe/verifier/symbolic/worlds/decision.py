"""What a cause or a question is asked about: which completions exist, and in which worlds the plan is safe."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.circuits.circuit import TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.substitution import OpenNumber, find_dependencies
from plansafe.verifier.symbolic.worlds.model import Encoding, FactInput

Open = int | OpenNumber
"""Something open: the input node of a fact, or a number (function, code)."""


class Decision(NamedTuple):
    """Completions and outcomes.

    ``allowed`` is over facts and numbers: the completion exists; some completion must. ``good`` is over these and
    outcomes: the plan is SAFE or VALID in the world. Whatever else ``good`` depends on, inputs and numbers, is an
    outcome; ``outcomes_allowed`` says which of them are possible. A completion is good if ``good`` holds for all
    possible outcomes.
    """

    circuit: Circuit
    allowed: Literal
    good: Literal
    facts: tuple[int, ...]
    numbers: tuple[OpenNumber, ...] = ()
    outcomes_allowed: Literal = TRUE


def decision_of(
    encoding: Encoding, outcomes_allowed: Literal = TRUE, outcome_numbers: Collection[OpenNumber] = ()
) -> Decision:
    """The decision about an encoding: a completion is good if the plan is SAFE, or VALID, whatever the outcomes.

    ``outcome_numbers`` are not open but chosen by the world, such as durations.
    """
    circuit = encoding.circuit
    good = circuit.conjunction([encoding.executable, encoding.goal, encoding.violated ^ 1, encoding.undecided ^ 1])
    nodes, numbers = find_dependencies(circuit, [encoding.allowed, good])
    facts = tuple([node for node in nodes if isinstance(circuit.keys.get(node), FactInput)])
    given = tuple(sorted(numbers.difference(outcome_numbers)))
    return Decision(circuit, encoding.allowed, good, facts, given, outcomes_allowed)


class Partial(NamedTuple):
    """Some open facts and numbers with values."""

    facts: tuple[tuple[FactInput, bool], ...] = ()
    numbers: tuple[tuple[OpenNumber, Number], ...] = ()


class Opens(NamedTuple):
    """Some open facts and numbers."""

    facts: tuple[FactInput, ...] = ()
    numbers: tuple[OpenNumber, ...] = ()
