"""Why a plan is not safe in every world: open facts and numbers with values under which it is bad (docs/worlds.md)."""

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
    DecisionProblem,
    OpenValues,
    OpenVariable,
    OpenVariables,
    PartialAssignment,
    build_decision_problem,
)
from plansafe.verifier.symbolic.worlds.encoding import Encoding, FactInput
from plansafe.verifier.symbolic.worlds.question import find_question


class Cause(NamedTuple):
    """``values`` is subset-minimal; empty if every completion is bad.

    ``None`` if no completion is bad, or if time ran out; ``note`` says which. ``sufficient`` is then what was known to
    suffice for badness, perhaps not minimal.
    """

    values: PartialAssignment | None
    note: str = ""
    sufficient: PartialAssignment | None = None


def find_minimal_cause(
    decision: DecisionProblem,
    engine: str = "auto",
    deadline: float | None = None,
    prefer: Sequence[OpenVariable] = (),
    world: Completion | None = None,
    completions: CompletionSearch | None = None,
) -> Cause:
    """A cause: a partial assignment all of whose completions are bad, minimal and agreeing with some completion.

    It is taken from ``world``, which should be bad, or else from a bad completion that the solver finds. ``prefer``
    names what the cause should be made of if that suffices, best first. ``completions`` shares the solvers with a
    question.

    NP checks, about k log(n/k) for k of n facts; with outcomes each is a sequence of such, in the worst case as many as
    there are outcomes.

    :raises Unsupported: from the solver, where ``engine`` cannot take the comparisons
    """
    search = completions or CompletionSearch(decision, engine, deadline)
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
    search: CompletionSearch, bad: OpenValues, items: list[OpenVariable], preferred: list[OpenVariable]
) -> MinimalSubset[OpenVariable] | None:
    if not search.some_good():
        return MinimalSubset([])
    literals = {item: search.literal(item, bad[item]) for item in items}

    def all_bad(chosen: Sequence[OpenVariable]) -> PropertyHolds[OpenVariable] | PropertyFails[OpenVariable]:
        found = search.good_model([literals[item] for item in chosen])
        if isinstance(found, Model):
            good = search.completion(found, items)
            return PropertyFails([item for item in items if good[item] != bad[item]])
        return PropertyHolds([item for item in chosen if literals[item] in found])

    return find_minimal_subset(items, all_bad, preferred)


def _partial(search: CompletionSearch, values: OpenValues, items: Sequence[OpenVariable]) -> PartialAssignment:
    facts, numbers = [], []
    for item in items:
        if isinstance(item, int):
            key = search.circuit.keys[item]
            assert isinstance(key, FactInput)
            facts.append((key, bool(values[item])))
        else:
            numbers.append((item, values[item]))
    return PartialAssignment(tuple(facts), tuple(numbers))


MAX_ASKED_FACTS = 20
"""Facts that people can be asked for: where more are seen to be needed, no question is looked for."""
MAX_WORK = 1_000_000
"""The work budget for a cause and a question: about a second."""


class Explanation(NamedTuple):
    """The cause and the question; ``None`` where there is none or it was not found, as the notes say."""

    cause: tuple[ShownValue, ...] | None = None
    cause_note: str = ""
    question: tuple[str, ...] | None = None
    question_note: str = ""


def explain(
    encoding: Encoding, task: Task, engine: str, deadline: float | None, world: Completion | None, wanted: bool = True
) -> Explanation:
    """A minimal cause, taken from a bad world, and (where ``wanted``) a question."""
    decision = build_decision_problem(encoding)
    completions = CompletionSearch(decision, engine, deadline, WorkBudget(MAX_WORK))
    try:
        cause = find_minimal_cause(decision, world=world, completions=completions)
        asked = find_question(decision, completions=completions, most=MAX_ASKED_FACTS) if wanted else None
    finally:
        completions.close()
    said = None if cause.values is None else _assignment_text(task, cause.values)
    out = Explanation(said, cause.note)
    if asked is not None:
        out = out._replace(
            question=None if asked.asked is None else _variable_texts(task, asked.asked), question_note=asked.note
        )
    return out


def _assignment_text(task: Task, values: PartialAssignment) -> tuple[ShownValue, ...]:
    facts = [
        ShownValue(task.fact_text(key.predicate, key.code), "true" if value else "false") for key, value in values.facts
    ]
    return (*facts, *[ShownValue(task.fluent_text(*key), str(value)) for key, value in values.numbers])


def _variable_texts(task: Task, opens: OpenVariables) -> tuple[str, ...]:
    facts = [task.fact_text(key.predicate, key.code) for key in opens.facts]
    return (*facts, *[task.fluent_text(*key) for key in opens.numbers])
