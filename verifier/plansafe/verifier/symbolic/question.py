"""What to find out: open facts and numbers whose values tell whether a plan is safe (docs/worlds.md)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from plansafe.verifier.symbolic import terms
from plansafe.verifier.symbolic.circuit import Literal
from plansafe.verifier.symbolic.completions import Completion, Completions
from plansafe.verifier.symbolic.decision import Decision, Open, Opens
from plansafe.verifier.symbolic.minimal import Fails, GaveUp, Holds, minimal
from plansafe.verifier.symbolic.model import AuxiliaryInput, FactInput
from plansafe.verifier.symbolic.renaming import Template
from plansafe.verifier.symbolic.solvers import Model


class Question(NamedTuple):
    """``asked`` is subset-minimal, and not empty.

    ``None`` if the completions are all good or all bad, or if time ran out; ``note`` says which. ``sufficient`` is then
    what was known to suffice, perhaps not minimal. ``safe_in_bad``: some world of some bad completion is SAFE, so
    that outcomes, durations and order decide there; ``None`` if no completion is bad or time ran out.
    """

    asked: Opens | None
    note: str = ""
    sufficient: Opens | None = None
    safe_in_bad: bool | None = None


def question(
    decision: Decision,
    engine: str = "auto",
    deadline: float | None = None,
    prefer: Collection[Open] = (),
    completions: Completions | None = None,
) -> Question:
    """A question: any two completions that agree on it are both good or both bad, and no proper subset is such.

    ``prefer`` names what people can answer: nothing else is asked if that suffices. ``completions`` shares the solvers
    with a cause. NP checks as for a cause, of twice the size.

    :raises Unsupported: from the solver, where ``engine`` cannot take the comparisons
    """
    search = completions or Completions(decision, engine, deadline)
    try:
        if search.bad() is None:
            return Question(None, "no completion is bad")
        if search.some_good() is None:
            by_outcomes = search.safe_in_bad()
            decides = "outcomes alone decide" if by_outcomes else "no world is safe"
            return Question(None, f"every completion is bad: {decides}", safe_in_bad=by_outcomes)
        pair = _Pair(search)
        found = minimal(search.open, pair.both_alike, prefer)
        assert found is not None
        asked = _opens(search, found.elements)
        if found.reason:
            return Question(None, f"not minimal: {found.reason}", asked)
        try:
            return Question(asked, safe_in_bad=search.safe_in_bad())
        except GaveUp:
            return Question(asked)
    except GaveUp as why:
        return Question(None, f"not found: {why}")
    finally:
        if completions is None:
            search.close()


class _Pair:
    """Two completions: the first good, the second, in a copy of the inputs, bad."""

    def __init__(self, search: Completions) -> None:
        self._search = search
        circuit = search.circuit
        beyond = 1 + max([function for function, _ in search.all_numbers], default=0)
        inputs: dict[int, Literal] = {}
        self._numbers: dict[tuple[int, int], tuple[int, int]] = {}
        self._same: dict[Open, Literal] = {}
        for item in search.open:
            if isinstance(item, int):
                inputs[item] = circuit.input(AuxiliaryInput("other completion", item))
                self._same[item] = circuit.equal(2 * item, inputs[item])
            else:
                self._numbers[item] = other = item[0] + beyond, item[1]
                self._same[item] = terms.compared(circuit, "=", terms.variable(*item), terms.variable(*other))
        self._inputs = inputs
        numbers = {item: terms.variable(*other) for item, other in self._numbers.items()}
        allowed, good = Template(circuit, [search.allowed, search.good], inputs, numbers).copy(inputs, numbers)
        self._bad = circuit.both(allowed, good ^ 1)

    def both_alike(self, items: Sequence[Open]) -> Holds[Open] | Fails[Open]:
        """Whether completions that agree on the items are both good or both bad."""
        same = self._same
        found = self._search.good_model([self._bad, *[same[item] for item in items]])
        if not isinstance(found, Model):
            return Holds([item for item in items if same[item] in found])
        first, second = self._search.completion(found), self._other(found)
        return Fails([item for item in self._search.open if first[item] != second[item]])

    def _other(self, model: Model) -> Completion:
        return {
            item: model.inputs.get(self._inputs[item] >> 1, False)
            if isinstance(item, int)
            else model.values.get(self._numbers[item], 0)
            for item in self._search.open
        }


def _opens(search: Completions, items: Sequence[Open]) -> Opens:
    facts, numbers = [], []
    for item in items:
        if isinstance(item, int):
            key = search.circuit.keys[item]
            assert isinstance(key, FactInput)
            facts.append(key)
        else:
            numbers.append(item)
    return Opens(tuple(facts), tuple(numbers))
