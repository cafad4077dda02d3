"""The states that a plan goes through, as facts by name, for the metrics that compare states."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.metrics.success import Facts
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.labels import ExplainedExecution, read_tokenized_steps
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Task


class Trace(NamedTuple):
    """The initial state and that after each step that was taken; ``executable`` if all were."""

    states: tuple[Facts, ...]
    executable: bool


def trace_of(checker: Checker, plan: Source) -> Trace | None:
    """Run a plan up to its first step that cannot be taken; ``None`` if it cannot be read.

    Numbers are not compared: the simulator of the paper has none. Raises
    :class:`~plansafe.verifier.diagnose.labels.NoLabel` where the task has errors or needs a clock. Memory follows the
    facts times the steps.
    """
    written = read_tokenized_steps(checker, plan)
    if written is None:
        return None
    run = ExplainedExecution(checker)
    states = [_facts(run.task, run.simulation.state)]
    for number, (_, step) in enumerate(written, 1):
        if not isinstance(step, GroundAction) or not run.take(step, number):
            return Trace(tuple(states), False)
        states.append(_facts(run.task, run.simulation.state))
    return Trace(tuple(states), True)


def _facts(task: Task, state: State) -> Facts:
    return frozenset(
        [
            (declared.name, *task.names(task.decode(code, len(declared.types))))
            for declared, codes in zip(task.predicates, state.facts, strict=True)
            for code in codes
        ]
    )
