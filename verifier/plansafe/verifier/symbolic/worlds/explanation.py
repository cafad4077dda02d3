"""Explain why a plan is not safe in every world: a minimal cause and a question, as text (docs/worlds.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.reporting.worlds import Completion, ShownValue
from plansafe.verifier.symbolic.circuits.circuit import Circuit
from plansafe.verifier.symbolic.circuits.minimal_subset import (
    GaveUp,
    MinimalSubset,
    PropertyFails,
    PropertyHolds,
    find_minimal_subset,
)
from plansafe.verifier.symbolic.circuits.solvers import Model
from plansafe.verifier.symbolic.worlds.completions import (
    CompletionSearch,
    OpenValues,
    OpenVariable,
)
from plansafe.verifier.symbolic.worlds.encoding import Encoding, FactInput
from plansafe.verifier.symbolic.worlds.question import find_question

MAX_ASKED_FACTS = 20
"""Maximum number of facts that a question may ask people for."""
MAX_WORK = 1_000_000
"""The work budget for a cause and a question: about a second."""


class Cause(NamedTuple):
    """``values`` is subset-minimal; it is empty if every completion is bad.

    It is ``None`` if no completion is bad, or if time ran out; ``note`` says which.
    """

    values: OpenValues | None
    note: str = ""


def find_minimal_cause(search: CompletionSearch, world: Completion | None = None) -> Cause:
    """Find minimal values of some variables that agree with some completion and whose completions are all bad.

    It is part of ``world``, which should be bad, or else of a bad completion that the solver finds.
    It takes about k log(n/k) NP queries for k of n facts. With outcomes each query becomes several, in the worst case
    one for each outcome.
    """
    try:
        bad = search.values_in_world(world, search.near) if world is not None else None
        minimal = _minimise(search, bad) if bad is not None else None
        if minimal is None:
            model = search.bad()
            if model is None:
                return Cause(None, "no completion is bad")
            bad = search.values_in_model(model, search.near)
            minimal = _minimise(search, bad)
        assert bad is not None and minimal is not None
    except GaveUp as reason:
        return Cause(None, f"not found: {reason}")
    if minimal.reason:
        return Cause(None, f"not minimal: {minimal.reason}")
    return Cause({variable: bad[variable] for variable in minimal.elements})


def _minimise(search: CompletionSearch, bad: OpenValues) -> MinimalSubset[OpenVariable] | None:
    """A minimal part of a completion whose completions are all bad; ``None`` if the completion is good."""
    if not search.has_good():
        return MinimalSubset([])
    literals = {variable: search.literal(variable, bad[variable]) for variable in search.near}

    def all_bad(subset: Sequence[OpenVariable]) -> PropertyHolds[OpenVariable] | PropertyFails[OpenVariable]:
        model = search.find_good([literals[variable] for variable in subset])
        if isinstance(model, Model):
            good = search.values_in_model(model, search.near)
            return PropertyFails([variable for variable in search.near if good[variable] != bad[variable]])
        return PropertyHolds([variable for variable in subset if literals[variable] in model])

    return find_minimal_subset(search.near, all_bad)


class Explanation(NamedTuple):
    """The cause and the question; ``None`` if there is none or it was not found, as the notes say."""

    cause: tuple[ShownValue, ...] | None = None
    cause_note: str = ""
    question: tuple[str, ...] | None = None
    question_note: str = ""


def explain(encoding: Encoding, task: Task, engine: str, deadline: float | None, bad_world: Completion) -> Explanation:
    """A minimal cause that is part of a bad world, and a question. Raises ``Unsupported``."""
    circuit, allowed, good = encoding.circuit, encoding.allowed, encoding.good()
    search = CompletionSearch(circuit, allowed, good, engine, deadline, WorkBudget(MAX_WORK))
    try:
        cause = find_minimal_cause(search, bad_world)
        question = find_question(search, max_facts=MAX_ASKED_FACTS)
    finally:
        search.close()
    cause_values = question_texts = None
    if cause.values is not None:
        values = cause.values
        variables = _sort(values)
        cause_values = tuple(
            [
                ShownValue(_variable_text(task, circuit, variable), str(values[variable]).lower())
                for variable in variables
            ]
        )
    if question.variables is not None:
        question_texts = tuple([_variable_text(task, circuit, variable) for variable in _sort(question.variables)])
    return Explanation(cause_values, cause.note, question_texts, question.note)


def _sort(variables: Iterable[OpenVariable]) -> list[OpenVariable]:
    """Facts before numbers."""
    return sorted(variables, key=lambda variable: isinstance(variable, tuple))


def _variable_text(task: Task, circuit: Circuit, variable: OpenVariable) -> str:
    if isinstance(variable, tuple):
        return task.fluent_text(*variable)
    key = circuit.keys[variable]
    assert isinstance(key, FactInput)
    return task.fact_text(*key)
