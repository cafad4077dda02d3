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
from plansafe.verifier.symbolic.worlds.encoding import FactInput
from plansafe.verifier.symbolic.worlds.encoding_queries import EncodingQueries
from plansafe.verifier.symbolic.worlds.question import find_question

MAX_ASKED_FACTS = 20
"""Maximum number of facts that a question may ask people for."""
MAX_WORK = 1_000_000
"""The work budget for a cause and a question: about a second."""


class Cause(NamedTuple):
    """Values of variables such that every completion with them is bad.

    ``values`` is subset-minimal, and empty if every completion is bad. It is ``None`` if no completion is bad, or if
    the search gave up; ``note`` says which.
    """

    values: OpenValues | None
    note: str = ""


def find_minimal_cause(search: CompletionSearch, world: Completion | None = None) -> Cause:
    """Find a minimal part of a bad completion such that every completion with these values is bad.

    The completion is that of ``world``. If ``world`` is ``None`` or not bad, the solver finds another one. The search
    takes about k log(n/k) NP queries for k of n facts. If outcomes matter, each query becomes several, in the worst
    case one for each outcome.
    """
    try:
        bad_values = search.read_world_values(world, search.near_variables) if world is not None else None
        minimal_part = _find_minimal_part(search, bad_values, world) if bad_values is not None else None
        if minimal_part is None:
            model = search.find_bad_model()
            if model is None:
                return Cause(None, "no completion is bad")
            bad_values = search.read_model_values(model, search.near_variables)
            minimal_part = _find_minimal_part(search, bad_values)
        assert bad_values is not None and minimal_part is not None
    except GaveUp as reason:
        return Cause(None, f"not found: {reason}")
    if minimal_part.reason:
        return Cause(None, f"not minimal: {minimal_part.reason}")
    return Cause({variable: bad_values[variable] for variable in minimal_part.elements})


def _find_minimal_part(
    search: CompletionSearch, bad_values: OpenValues, world: Completion | None = None
) -> MinimalSubset[OpenVariable] | None:
    """A minimal part of a completion whose completions are all bad; ``None`` if the completion is good.

    A circuit evaluated in ``world`` gives a first part, and the values of a known good completion show that others are
    too small; the solver decides the rest.
    """
    if search.find_some_good_model() is None:
        return MinimalSubset([])
    reason = None if world is None else search.find_reason(world)

    def check_all_bad(subset: Sequence[OpenVariable]) -> PropertyHolds[OpenVariable] | PropertyFails[OpenVariable]:
        if reason is not None and reason.issubset(subset):
            return PropertyHolds(reason)
        good_values = search.find_good_values({variable: bad_values[variable] for variable in subset})
        if good_values is None:
            literals = {search.encode_value(variable, bad_values[variable]): variable for variable in subset}
            model = search.find_good_model([*literals])
            if not isinstance(model, Model):
                return PropertyHolds([variable for literal, variable in literals.items() if literal in model])
            good_values = search.read_model_values(model, search.near_variables)
        differing_variables = [
            variable for variable in search.near_variables if good_values[variable] != bad_values[variable]
        ]
        return PropertyFails(differing_variables)

    return find_minimal_subset(search.near_variables, check_all_bad)


class Explanation(NamedTuple):
    """The cause and the question as text. ``None``: there is none, or it was not found; the notes say which."""

    cause: tuple[ShownValue, ...] | None = None
    cause_note: str = ""
    question: tuple[str, ...] | None = None
    question_note: str = ""


def explain_bad_world(queries: EncodingQueries, task: Task, bad_world: Completion) -> Explanation:
    """A minimal cause that is part of a bad world, and a question. Raises ``Unsupported``."""
    circuit, allowed, good = queries.circuit, queries.encoding.allowed, queries.encoding.encode_good_worlds()
    search = CompletionSearch(
        circuit,
        allowed,
        good,
        queries.engine,
        queries.deadline,
        WorkBudget(MAX_WORK),
        queries.recall_model(good),
    )
    try:
        cause = find_minimal_cause(search, bad_world)
        question = find_question(search, max_facts=MAX_ASKED_FACTS)
    finally:
        search.close()
    cause_values = question_texts = None
    if cause.values is not None:
        values = cause.values
        cause_values = tuple(
            [
                ShownValue(_format_variable(task, circuit, variable), str(values[variable]).lower())
                for variable in _sort_variables(values)
            ]
        )
    if question.variables is not None:
        question_texts = tuple(
            [_format_variable(task, circuit, variable) for variable in _sort_variables(question.variables)]
        )
    return Explanation(cause_values, cause.note, question_texts, question.note)


def _sort_variables(variables: Iterable[OpenVariable]) -> list[OpenVariable]:
    """List facts before numbers, each in the given order."""
    return sorted(variables, key=lambda variable: isinstance(variable, tuple))


def _format_variable(task: Task, circuit: Circuit, variable: OpenVariable) -> str:
    """An open fact or number as PDDL."""
    if isinstance(variable, tuple):
        return task.fluent_text(*variable)
    key = circuit.keys[variable]
    assert isinstance(key, FactInput)
    return task.fact_text(*key)
