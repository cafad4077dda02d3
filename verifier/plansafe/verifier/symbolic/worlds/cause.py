"""Why a plan is not safe in every world: open facts and numbers with values under which it is bad (docs/worlds.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits.minimal_subset import (
    GaveUp,
    MinimalSubset,
    PropertyFails,
    PropertyHolds,
    find_minimal_subset,
)
from plansafe.verifier.symbolic.circuits.solvers import Model
from plansafe.verifier.symbolic.worlds.completions import Completions, OpenValues
from plansafe.verifier.symbolic.worlds.decision import Decision, Open, Partial
from plansafe.verifier.symbolic.worlds.model import FactInput


class Cause(NamedTuple):
    """``values`` is subset-minimal; empty if every completion is bad.

    ``None`` if no completion is bad, or if time ran out; ``note`` says which. ``sufficient`` is then what was known to
    suffice for badness, perhaps not minimal.
    """

    values: Partial | None
    note: str = ""
    sufficient: Partial | None = None


def minimal_cause(
    decision: Decision,
    engine: str = "auto",
    deadline: float | None = None,
    prefer: Sequence[Open] = (),
    world: Completion | None = None,
    completions: Completions | None = None,
) -> Cause:
    """A cause: a partial assignment all of whose completions are bad, minimal and agreeing with some completion.

    It is taken from ``world``, which should be bad, or else from a bad completion that the solver finds. ``prefer``
    names what the cause should be made of if that suffices, best first. ``completions`` shares the solvers with a
    question.

    NP checks, about k log(n/k) for k of n facts; with outcomes each is a sequence of such, in the worst case as many as
    there are outcomes.

    :raises Unsupported: from the solver, where ``engine`` cannot take the comparisons
    """
    search = completions or Completions(decision, engine, deadline)
    items, preferred = search.candidates(prefer)
    try:
        bad = search.of_world(world, items) if world is not None else None
        found = _cause(search, bad, items, preferred) if bad is not None else None
        if found is None:
            model = search.bad()
            if model is None:
                return Cause(None, "no completion is bad")
            bad = search.completion(model, items)
            found = _cause(search, bad, items, preferred)
        assert bad is not None and found is not None
    except GaveUp as why:
        return Cause(None, f"not found: {why}")
    finally:
        if completions is None:
            search.close()
    values = _partial(search, bad, found.elements)
    return Cause(None, f"not minimal: {found.reason}", values) if found.reason else Cause(values)


def _cause(
    search: Completions, bad: OpenValues, items: list[Open], preferred: list[Open]
) -> MinimalSubset[Open] | None:
    if not search.some_good():
        return MinimalSubset([])
    literals = {item: search.literal(item, bad[item]) for item in items}

    def all_bad(chosen: Sequence[Open]) -> PropertyHolds[Open] | PropertyFails[Open]:
        found = search.good_model([literals[item] for item in chosen])
        if isinstance(found, Model):
            good = search.completion(found, items)
            return PropertyFails([item for item in items if good[item] != bad[item]])
        return PropertyHolds([item for item in chosen if literals[item] in found])

    return find_minimal_subset(items, all_bad, preferred)


def _partial(search: Completions, values: OpenValues, items: Sequence[Open]) -> Partial:
    facts, numbers = [], []
    for item in items:
        if isinstance(item, int):
            key = search.circuit.keys[item]
            assert isinstance(key, FactInput)
            facts.append((key, bool(values[item])))
        else:
            numbers.append((item, values[item]))
    return Partial(tuple(facts), tuple(numbers))
