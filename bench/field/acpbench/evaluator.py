"""Whether an answer is right, by the definitions of ACPBench-Hard, and whether its published evaluator accepts it.

The definitions come from the evaluators in IBM/ACPBench at commit 5947a40 (``src/evaluators``), which
lm-evaluation-harness runs too (``lm_eval/tasks/acpbench/gen_2shot/acp_utils.py``), and of the list of tasks on the
benchmark's home page (``acpbench-hard.html``). The table names the file and the accepted answers.

| task | file | right answers |
|---|---|---|
| ``app`` | ``applicability.py`` | the set of steps is the stored set |
| ``prog`` | ``progression.py`` | both sets of facts are the stored sets |
| ``reach`` | ``reachability.py`` | a stored fact, or one for which the task is unsolvable; "None" if none is stored |
| ``areach`` | ``action_reachability.py`` | the same for a step, whose precondition is the goal of the task |
| ``val`` | ``validation.py`` | the stored number; "None" for -1 |
| ``just`` | ``justification.py`` | a plan that is a proper subsequence of the plan in the question |
| ``land`` | ``landmarks.py`` | a stored landmark; "None" if none is stored |
| ``nexta`` | ``next_action.py`` | a stored step, or a step that lowers the cost of an optimal plan by one |

By definition, an answer is also right where the published evaluator looks at the stored answer alone: a fact or step
that is proved unreachable although none is stored, and a landmark that is proved although it is not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bench.field.acpbench.answers import NONE, Answer
from bench.field.acpbench.reasons import KernelReplay, NeverClaim, NeverStepClaim, PlanClaim, ShortestClaim
from bench.field.acpbench.records import Record


class Evaluation(NamedTuple):
    """The result for one answer.

    ``is_right``: by the definition. ``is_stored``: it is, or contains, an answer that the benchmark stores, where a
    difference needs an explanation. ``replayed``: the kernel confirmed all claims (``None``: some it cannot decide).
    """

    is_right: bool
    is_stored: bool
    replayed: bool | None


def evaluate(record: Record, answer: Answer) -> Evaluation:
    """Evaluate an answer. An UNKNOWN answer is not right; neither is an answer with a claim that the kernel refutes."""
    replay = KernelReplay(record)
    results = [(claim, replay.check(claim)) for claim in answer.claims]
    checks = [result for claim, result in results if not isinstance(claim, ShortestClaim)]
    replayed = None if None in checks else all(checks)
    if answer.value is None:
        return Evaluation(False, False, replayed)
    is_stored = _IS_STORED[record.task](record, answer)
    is_right = is_stored or _is_proved(record, answer, replayed)
    return Evaluation(is_right and False not in checks, is_stored, replayed)


def _is_proved(record: Record, answer: Answer, replayed: bool | None) -> bool:
    """Whether an answer that is not stored is right because the kernel confirmed its proof."""
    match record.task, answer.claims:
        case ("reach" | "areach" | "land", (NeverClaim() | NeverStepClaim(),)):
            return replayed is True
        case ("nexta", (PlanClaim() as claim, ShortestClaim(length=length))):
            is_candidate = _lower(answer.value) in _lower(record.stored["maybe"])
            is_shortest = claim.is_goal and length == len(claim.plan) == int(record.stored["opt"])
            return replayed is True and is_candidate and is_shortest
    return False


def _lower(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_lower(part) for part in value]
    return " ".join(str(value).lower().split())


def _equal_sets(left: Sequence[str], right: Sequence[str]) -> bool:
    return set(_lower(left)) == set(_lower(right))


def _is_stored_progression(record: Record, answer: Answer) -> bool:
    return all([_equal_sets(answer.value[side], record.stored[side]) for side in ("pos", "neg")])


def _is_stored_fact(record: Record, answer: Answer) -> bool:
    stored = [f"({fact})" for fact in _lower(record.stored)]
    return answer.value == NONE if not stored else _lower(answer.value) in stored


def _is_stored_step(record: Record, answer: Answer) -> bool:
    return answer.value == NONE if not record.stored else _lower(answer.value) in _lower(record.stored)


def _is_simplified_plan(record: Record, answer: Answer) -> bool:
    """Whether the plan is a proper subsequence of the given one; the kernel checks that it reaches the goal."""
    original = iter(record.quoted_steps)
    is_subsequence = bool(answer.value) and all([step in original for step in answer.value])
    is_replayed = [claim.plan == tuple(answer.value) and claim.is_goal for claim in answer.claims]
    return is_subsequence and len(answer.value) < len(record.quoted_steps) and is_replayed == [True]


def _is_stored_landmark(record: Record, answer: Answer) -> bool:
    stored = record.stored["yes"]
    return answer.value == NONE if not stored else _lower(answer.value) in _lower(stored)


_IS_STORED: dict[str, Callable[[Record, Answer], bool]] = {
    "app": lambda record, answer: _equal_sets(answer.value, record.stored),
    "prog": _is_stored_progression,
    "reach": _is_stored_fact,
    "areach": _is_stored_step,
    "val": lambda record, answer: _lower(answer.value) == ("none" if int(record.stored) == -1 else str(record.stored)),
    "just": _is_simplified_plan,
    "land": _is_stored_landmark,
    "nexta": lambda record, answer: _lower(answer.value) in _lower(record.stored["yes"]),
}
