"""The instances of a formula over the trace that some trace of a problem may satisfy, or violate.

Each letter must be possible in the delete relaxation, and the first one in the initial state (with any action that is
ever possible). So no trace satisfies, or violates, an instance that is left out.
"""

from __future__ import annotations

from itertools import product
from math import prod

from plansafe.specs.lint.letter_sequences import Letter, LetterSequences, RequiredValue
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Task, bind
from plansafe.verifier.model.operations import mentions
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.symbolic.worlds.relaxation import Relaxation

MAX_BINDINGS = 2_000
"""Maximum number of instances of a part that are enumerated."""
PossibleValues = tuple[tuple[bool, bool], ...]
"""For each leaf of a program, whether it may be false, and whether it may be true."""


def count_instances(task: Task, part: RulePart) -> int:
    """Count the instances of a part."""
    return prod([len(task.domains[v.domain]) for v in part.parameters])


def find_possible_instances(
    engine: Engine,
    relaxation: Relaxation,
    part: RulePart,
    positive: bool,
    stop_at_first: bool = False,
    deadline: float | None = None,
) -> list[tuple[int, ...]]:
    """Find the instances that some trace may satisfy (``positive``), or violate; only the first if ``stop_at_first``.

    Raises :class:`LimitReached` if there are too many instances, or their automata are too large.
    """
    task = engine.task
    if count_instances(task, part) > MAX_BINDINGS:
        raise LimitReached(LimitKind.QUESTION)
    sequences = LetterSequences(task, [RequiredValue(part, positive)])
    state = engine.make_initial_state()
    evaluator = Evaluator(task, state.facts, state.fluents)
    action_predicates = frozenset(engine.action_predicates.values())
    has_sequence_by_values: dict[tuple[PossibleValues, PossibleValues], bool] = {}
    instances = []
    for objects in product(*[task.domains[v.domain] for v in part.parameters]):
        binding = bind(part.parameters, objects)
        later_values = tuple(
            [
                (relaxation.may_hold(leaf, binding, False), relaxation.may_hold(leaf, binding, True))
                for _, leaf in sequences.leaves
            ]
        )
        initial_values = _find_initial_values(evaluator, sequences, binding, action_predicates, later_values)
        values = initial_values, later_values
        if values not in has_sequence_by_values:
            has_sequence_by_values[values] = _has_sequence(sequences, initial_values, later_values, deadline)
        if has_sequence_by_values[values]:
            instances.append(objects)
            if stop_at_first:
                break
    return instances


def _has_sequence(
    sequences: LetterSequences, initial_values: PossibleValues, later_values: PossibleValues, deadline: float | None
) -> bool:
    def may_be_first(letter: Letter) -> bool:
        return _has_possible_values(letter, initial_values)

    def may_follow(letter: Letter) -> bool:
        return _has_possible_values(letter, later_values)

    return sequences.exists(may_be_first, may_follow, may_follow, deadline=deadline)


def _find_initial_values(
    evaluator: Evaluator,
    sequences: LetterSequences,
    binding: dict[int, int],
    action_predicates: frozenset[int],
    later_values: PossibleValues,
) -> PossibleValues:
    """Find the values in the initial state; ``later_values`` for leaves that are undefined or about actions."""
    initial_values = []
    for (_, leaf), leaf_values in zip(sequences.leaves, later_values, strict=True):
        truth = None if mentions(leaf, action_predicates) else evaluator.holds(leaf, dict(binding))
        initial_values.append(leaf_values if truth is None else (not truth, truth))
    return tuple(initial_values)


def _has_possible_values(letter: Letter, possible: PossibleValues) -> bool:
    return all([values[letter >> bit & 1] for bit, values in enumerate(possible)])
