"""Which instances of a formula over the trace some trace of a problem may satisfy, or break.

Each letter is one that the delete relaxation allows, the first one that of the initial state (and any action that may
be taken at all); so an instance that is left out is satisfied, or broken, by no trace.
"""

from __future__ import annotations

from itertools import product

from plansafe.specs.lint.letter_sequences import LetterSequences, RequiredValue
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Task, bind
from plansafe.verifier.model.operations import mentions
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.symbolic.worlds.relaxation import Relaxation

MAX_BINDINGS = 2_000
Allowed = tuple[tuple[bool, bool], ...]
"""For each leaf of a program, whether it may be false, and whether it may be true."""


def instance_count(task: Task, part: RulePart) -> int:
    """How many instances a part has."""
    number = 1
    for variable in part.parameters:
        number *= len(task.domains[variable.domain])
    return number


def possible_instances(
    engine: Engine,
    relaxed: Relaxation,
    part: RulePart,
    positive: bool,
    first: bool = False,
    deadline: float | None = None,
) -> list[tuple[int, ...]]:
    """The instances that some trace may satisfy (``positive``), or break; only one of them if ``first``.

    Raises :class:`LimitReached` where there are too many instances, or their automata are too large.
    """
    task = engine.task
    if instance_count(task, part) > MAX_BINDINGS:
        raise LimitReached(LimitKind.QUESTION)
    sequences = LetterSequences(task, [RequiredValue(part, positive)])
    state = engine.initial()
    evaluator = Evaluator(task, state.facts, state.fluents)
    known: dict[tuple[Allowed, Allowed], bool] = {}
    out = []
    for objects in product(*[task.domains[v.domain] for v in part.parameters]):
        binding = bind(part.parameters, objects)
        later = tuple(
            [
                (relaxed.may_hold(leaf, binding, False), relaxed.may_hold(leaf, binding, True))
                for _, leaf in sequences.leaves
            ]
        )
        key = (_first(evaluator, sequences, binding, frozenset(engine.action_predicates.values()), later), later)
        if key not in known:
            known[key] = _exists(sequences, *key, deadline)
        if known[key]:
            out.append(objects)
            if first:
                break
    return out


def _exists(sequences: LetterSequences, begins: Allowed, later: Allowed, deadline: float | None) -> bool:
    def first(letter: int) -> bool:
        return _fits(letter, begins)

    def other(letter: int) -> bool:
        return _fits(letter, later)

    return sequences.exists(first, other, other, deadline=deadline)


def _first(
    evaluator: Evaluator,
    sequences: LetterSequences,
    binding: dict[int, int],
    action_predicates: frozenset[int],
    later: Allowed,
) -> Allowed:
    out = []
    for (_, leaf), may in zip(sequences.leaves, later, strict=True):
        value = None if mentions(leaf, action_predicates) else evaluator.holds(leaf, dict(binding))
        out.append(may if value is None else (not value, value))
    return tuple(out)


def _fits(letter: int, allowed: Allowed) -> bool:
    return all([pair[letter >> bit & 1] for bit, pair in enumerate(allowed)])
