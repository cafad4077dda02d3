"""The one label per plan of the Embodied Agent Interface (Li et al., NeurIPS 2024), for either of its simulators.

Follows its evaluators of action sequencing, applied to the preconditions of any domain; docs/metrics.md describes how,
and which of its known errors are kept.

Omitted: hallucination of ``PLUGIN`` and ``PLUGOUT``, which are absent from that evaluator's list of actions; goals with
several edges (it reads the first match); plans equal to the gold plan, which it does not count as correct; two
executors that call an unplugged or a running appliance "satisfied"; the search of a closed container's ``OPEN`` on the
object in it; size and occupancy, nearness of hands and doors, and "already so", unless the domain has them as
preconditions.
"""

from __future__ import annotations

import re
from enum import Enum
from itertools import chain
from typing import Literal, NamedTuple, assert_never

from plansafe.grammar.codes import SC
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.labels import (
    ADDITIONAL,
    AFFORDANCE,
    MISSING,
    SUCCESS,
    WRONG_ORDER,
    ExplainedExecution,
    FailureLabel,
    PublishedLabel,
    TokenizedStep,
    describe_reasons,
    describe_state,
    describe_unknown_name,
    evaluate_static_part,
    read_tokenized_steps,
    require_engine,
)
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import Evaluator, UnmetLiteral
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Binding,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
    ground,
)

PARSING = "parsing error"
HALLUCINATION = "hallucination"
ARGUMENTS = "argument length"
UNSATISFIED_GOAL = "unsatisfied goal"

EAI_LABELS = (
    PARSING,
    HALLUCINATION,
    ARGUMENTS,
    WRONG_ORDER,
    MISSING,
    AFFORDANCE,
    ADDITIONAL,
    UNSATISFIED_GOAL,
    SUCCESS,
)
"""All labels, in the order of the published tables."""

Simulator = Literal["virtualhome", "behavior"]

_RAW_LABELS = {
    "virtualhome": {
        PARSING: "parsing error",
        HALLUCINATION: "hallucination error",
        ARGUMENTS: "parameter error",
        WRONG_ORDER: "WRONG_TEMPORAL_ORDER",
        MISSING: "MISSING_STEP",
        AFFORDANCE: "AFFORDANCE_ERROR",
        ADDITIONAL: "ADDITIONAL_STEP",
    },
    "behavior": {
        PARSING: "parsing",
        HALLUCINATION: "hullucination",
        ARGUMENTS: "arguments",
        WRONG_ORDER: "ErrorType.WRONG_TEMPORAL_ORDER",
        MISSING: "ErrorType.MISSING_STEP",
        AFFORDANCE: "ErrorType.AFFORDANCE_ERROR",
        ADDITIONAL: "ErrorType.ADDITIONAL_STEP",
    },
}
_PLACING_ACTION_NAME = re.compile(r"(?:left_|right_)?(?:place|put|pour|transfer)(?:_|\Z)")
"""The actions for which BEHAVIOR does not search its history."""
_TIME_ERROR_CODES = frozenset((SC.UNTIMED_DURATIVE, SC.IMPOSSIBLE_TIME))
_OPENED_PREDICATE_NAMES = frozenset(("open", "opened", "is_open"))
_CLOSED_PREDICATE_NAMES = frozenset(("closed", "is_closed"))


class _FormatProblem(NamedTuple):
    """A failed check before the execution. ``step``: from 1; 0 is the whole plan."""

    name: str
    step: int
    text: str


def find_eai_label(checker: Checker, plan: Source, simulator: Simulator = "virtualhome") -> PublishedLabel:
    """Return the outcome that the Embodied Agent Interface's evaluator for a simulator gives a plan.

    Rules are ignored. Raises :class:`~plansafe.verifier.diagnose.labels.NoLabel`. Runs the plan once, and up to the
    step that stops it once more, evaluating that step's precondition in each state.
    """
    raw_labels = _RAW_LABELS[simulator]
    scheme = f"eai-{simulator}"
    steps = read_tokenized_steps(checker, plan)
    problem = _find_format_problem(require_engine(checker).task, steps)
    if problem is not None:
        name, number, text = problem
        return PublishedLabel(scheme, name, number, text, raw_labels[name])
    assert steps is not None
    find_failure_label = _find_behavior_failure_label if simulator == "behavior" else _find_virtualhome_failure_label
    execution = ExplainedExecution(checker)
    additional: dict[int, str] = {}
    for number, (_, step) in enumerate(steps, 1):
        if isinstance(step, IllFormed):
            name, text = AFFORDANCE, step.message
        elif execution.take(step, number):
            continue
        else:
            name, text = find_failure_label(execution, step)
        if name != ADDITIONAL:
            goal = execution.is_goal_reached
            return PublishedLabel(scheme, name, number, text, raw_labels[name], goal=goal, additional=tuple(additional))
        additional[number] = text
    if additional:
        number, text = next(iter(additional.items()))
        goal = execution.is_goal_reached
        return PublishedLabel(scheme, ADDITIONAL, number, text, raw_labels[ADDITIONAL], True, goal, tuple(additional))
    if not execution.is_goal_reached:
        return PublishedLabel(scheme, UNSATISFIED_GOAL, 0, execution.describe_unmet_goal(), executable=True)
    return PublishedLabel(scheme, SUCCESS, executable=True, goal=True)


def _find_format_problem(task: Task, steps: list[TokenizedStep] | None) -> _FormatProblem | None:
    """Find the first failure of the three checks of the whole plan before the execution."""
    if not steps:
        return _FormatProblem(PARSING, 0, "the plan is empty" if steps is not None else "the plan cannot be read")
    for number, (_, step) in enumerate(steps, 1):
        if isinstance(step, IllFormed) and step.code in _TIME_ERROR_CODES:
            return _FormatProblem(PARSING, number, step.message)
    for number, (tokens, _) in enumerate(steps, 1):
        problem = describe_unknown_name(task, tokens)
        if problem is not None:
            return _FormatProblem(HALLUCINATION, number, problem)
    for number, (_, step) in enumerate(steps, 1):
        if isinstance(step, IllFormed) and step.code == SC.STEP_ARITY:
            return _FormatProblem(ARGUMENTS, number, step.message)
    return None


# -- BEHAVIOR: all errors of a step, by priority ----------------------------------------------------------------------


def _find_behavior_failure_label(execution: ExplainedExecution, step: GroundAction) -> FailureLabel:
    """Return BEHAVIOR's label of a step that cannot be taken in the current state."""
    is_placing_action = _PLACING_ACTION_NAME.match(step.action.name.replace("-", "_")) is not None
    if not is_placing_action and execution.changes_nothing(step):
        return FailureLabel(ADDITIONAL, "all effects of the step are already true")
    if execution.is_impossible(step):
        return FailureLabel(AFFORDANCE, execution.describe_unmet_precondition(step) + ", and no action changes that")
    earlier = None if is_placing_action else execution.find_first_earlier_state(execution.compile_precondition(step))
    if earlier is not None:
        return FailureLabel(WRONG_ORDER, f"the precondition holds {describe_state(earlier)}, not here")
    return FailureLabel(MISSING, execution.describe_unmet_precondition(step))


# -- VirtualHome: the first check that fails --------------------------------------------------------------------------


class _Check(Enum):
    """The checks of an unmet part of a precondition, in VirtualHome's order.

    ``CLOSED_CONTAINER``: the step relates an object to one that is not open. ``OWN_FLAG``: the step itself would make
    the part false.
    """

    OTHER = 0
    CLOSED_CONTAINER = 1
    OWN_FLAG = 2


def _find_virtualhome_failure_label(execution: ExplainedExecution, step: GroundAction) -> FailureLabel:
    """Return VirtualHome's label of a step that cannot be taken in the current state."""
    if execution.is_impossible(step):
        return FailureLabel(AFFORDANCE, execution.describe_unmet_precondition(step) + ", and no action changes that")
    unmet_parts = find_unmet_parts(execution.evaluator, And(step.action.start.condition), step.binding)
    if not unmet_parts:
        return FailureLabel(MISSING, execution.describe_unmet_precondition(step))
    checks = [_find_failed_check(execution, step, choices[0]) for choices in unmet_parts]
    check = min(checks, key=lambda candidate: candidate.value)
    choices = unmet_parts[checks.index(check)]
    text = describe_reasons(execution.task, choices)
    if check is _Check.CLOSED_CONTAINER:
        return FailureLabel(AFFORDANCE, text)
    if check is _Check.OWN_FLAG and execution.changes_nothing(step):
        return FailureLabel(ADDITIONAL, text)

    def is_any_choice_met(state: State) -> bool:
        evaluator = execution.make_evaluator(state)
        return any([evaluator.holds(choice.formula, choice.binding) is choice.required_value for choice in choices])

    earlier = execution.find_first_earlier_state(is_any_choice_met)
    if earlier is not None:
        return FailureLabel(WRONG_ORDER, f"{text}, which was otherwise {describe_state(earlier)}")
    return FailureLabel(MISSING, text)


Choices = tuple[UnmetLiteral, ...]
"""An unmet part of a condition: one of these literals would suffice."""


def find_unmet_parts(evaluator: Evaluator, formula: Formula, binding: Binding, required: bool = True) -> list[Choices]:
    """Return the parts of a condition that do not have the required value.

    Only the alternatives with the fewest unmet parts count: the first parts of all of them are one ``Choices``, the
    second parts are the next, and so on. Alternatives that static facts exclude do not count. The result is empty only
    if the condition has its value, or has no part.
    """
    if evaluator.holds(formula, binding) is required:
        return []
    match formula:
        case Not():
            return find_unmet_parts(evaluator, formula.body, binding, not required)
        case And() | Or() if isinstance(formula, And) is required:
            return [
                choices for part in formula.parts for choices in find_unmet_parts(evaluator, part, binding, required)
            ]
        case And() | Or():
            static_values = [evaluate_static_part(evaluator, part, binding) for part in formula.parts]
            alternatives = [
                find_unmet_parts(evaluator, part, binding, required)
                for part, static_value in zip(formula.parts, static_values, strict=True)
                if static_value in (None, required)
            ]
            fewest = min([len(parts) for parts in alternatives], default=0)
            nearest = [parts for parts in alternatives if len(parts) == fewest]
            return [tuple(chain.from_iterable(choices)) for choices in zip(*nearest, strict=True)]
        case Truth() | Atom() | Equal() | Compare() | Quantified() | Temporal():
            return [(UnmetLiteral(formula, binding, required),)]
        case _:
            assert_never(formula)


def _find_failed_check(execution: ExplainedExecution, step: GroundAction, unmet_literal: UnmetLiteral) -> _Check:
    """Return the check of VirtualHome that fails because of an unmet literal of a step's precondition."""
    atom = unmet_literal.formula
    delta = execution.compute_delta(step)
    if not isinstance(atom, Atom) or len(atom.arguments) > 1 or delta is None:
        return _Check.OTHER
    task = execution.task
    objects = ground(atom.arguments, unmet_literal.binding)
    fact = (atom.predicate, task.encode(objects))
    added_arguments = [task.decode(code, len(task.predicates[predicate].types)) for predicate, code in delta.adds]
    added_relations = [arguments for arguments in added_arguments if len(arguments) > 1]
    if unmet_literal.required_value:
        is_own_flag = fact in delta.deletes and not added_relations
    else:
        is_own_flag = fact in delta.adds
    if is_own_flag:
        return _Check.OWN_FLAG
    name = task.predicates[atom.predicate].name.replace("-", "_")
    names = _OPENED_PREDICATE_NAMES if unmet_literal.required_value else _CLOSED_PREDICATE_NAMES
    if name in names and any([arguments[-1:] == objects for arguments in added_relations]):
        return _Check.CLOSED_CONTAINER
    return _Check.OTHER
