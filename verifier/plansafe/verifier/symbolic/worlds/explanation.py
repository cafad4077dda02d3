"""Explain why a plan is not safe in every world: a minimal cause and a question, as text (docs/worlds.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.reporting.worlds import Completion, ShownValue
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
    PartialAssignment,
    build_decision_problem,
)
from plansafe.verifier.symbolic.worlds.encoding import Encoding
from plansafe.verifier.symbolic.worlds.question import find_question

MAX_ASKED_FACTS = 20
"""Maximum number of facts that a question may ask people for."""
MAX_WORK = 1_000_000
"""The work budget for a cause and a question: about a second."""


class Cause(NamedTuple):
    """``values`` is subset-minimal; it is empty if every completion is bad.

    It is ``None`` if no completion is bad, or if time ran out; ``note`` says which. Then ``sufficient`` is a sufficient
    cause that may not be minimal.
    """

    values: PartialAssignment | None
    note: str = ""
    sufficient: PartialAssignment | None = None


def find_minimal_cause(
    search: CompletionSearch, world: Completion | None = None, prefer: Sequence[OpenVariable] = ()
) -> Cause:
    """Find a minimal partial assignment that agrees with some completion and whose completions are all bad.

    It is part of ``world``, which should be bad, or else of a bad completion that the solver finds. If the variables in
    ``prefer`` suffice, best first, the cause has no others.

    It takes about k log(n/k) NP queries for k of n facts. With outcomes each query becomes several, in the worst case
    one for each outcome.
    """
    variables, preferred = search.candidates(prefer)
    try:
        bad = search.values_in_world(world, variables) if world is not None else None
        minimal = _minimise(search, bad, variables, preferred) if bad is not None else None
        if minimal is None:
            model = search.bad()
            if model is None:
                return Cause(None, "no completion is bad")
            bad = search.values_in_model(model, variables)
            minimal = _minimise(search, bad, variables, preferred)
        assert bad is not None and minimal is not None
    except GaveUp as reason:
        return Cause(None, f"not found: {reason}")
    values = PartialAssignment(
        tuple([(search.fact_input(v), bool(bad[v])) for v in minimal.elements if isinstance(v, int)]),
        tuple([(v, bad[v]) for v in minimal.elements if isinstance(v, tuple)]),
    )
    return Cause(None, f"not minimal: {minimal.reason}", values) if minimal.reason else Cause(values)


def _minimise(
    search: CompletionSearch, bad: OpenValues, variables: list[OpenVariable], preferred: list[OpenVariable]
) -> MinimalSubset[OpenVariable] | None:
    """A minimal part of a completion whose completions are all bad; ``None`` if the completion is good."""
    if not search.has_good():
        return MinimalSubset([])
    literals = {variable: search.literal(variable, bad[variable]) for variable in variables}

    def all_bad(subset: Sequence[OpenVariable]) -> PropertyHolds[OpenVariable] | PropertyFails[OpenVariable]:
        model = search.find_good([literals[variable] for variable in subset])
        if isinstance(model, Model):
            good = search.values_in_model(model, variables)
            return PropertyFails([variable for variable in variables if good[variable] != bad[variable]])
        return PropertyHolds([variable for variable in subset if literals[variable] in model])

    return find_minimal_subset(variables, all_bad, preferred)


class Explanation(NamedTuple):
    """The cause and the question; ``None`` if there is none or it was not found, as the notes say."""

    cause: tuple[ShownValue, ...] | None = None
    cause_note: str = ""
    question: tuple[str, ...] | None = None
    question_note: str = ""


def explain(encoding: Encoding, task: Task, engine: str, deadline: float | None, bad_world: Completion) -> Explanation:
    """A minimal cause that is part of a bad world, and a question. Raises ``Unsupported``."""
    search = CompletionSearch(build_decision_problem(encoding), engine, deadline, WorkBudget(MAX_WORK))
    try:
        cause = find_minimal_cause(search, bad_world)
        question = find_question(search, max_facts=MAX_ASKED_FACTS)
    finally:
        search.close()
    cause_values = question_texts = None
    if cause.values is not None:
        facts = [ShownValue(task.fact_text(*fact), "true" if value else "false") for fact, value in cause.values.facts]
        numbers = [ShownValue(task.fluent_text(*number), str(value)) for number, value in cause.values.numbers]
        cause_values = (*facts, *numbers)
    if question.asked is not None:
        texts = [task.fact_text(*fact) for fact in question.asked.facts]
        question_texts = (*texts, *[task.fluent_text(*number) for number in question.asked.numbers])
    return Explanation(cause_values, cause.note, question_texts, question.note)
