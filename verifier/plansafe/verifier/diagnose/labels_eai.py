"""The one label per plan of the Embodied Agent Interface (Li et al., NeurIPS 2024), in the manner of either simulator.

Read from its evaluators of action sequencing and carried over to the preconditions of any domain; docs/metrics.md says
how, and which of its known errors are kept.

Not carried over: hallucination of ``PLUGIN`` and ``PLUGOUT``, which are absent from that evaluator's list of actions;
goals with several edges, of which it reads the first match; plans equal to the gold plan, which it does not count as
correct; two executors that call an unplugged or a running appliance "satisfied"; the search of a closed container's
``OPEN`` on the thing inside it; size and occupancy, nearness of hands and doors, unless the domain has them as
preconditions. "Already so" is a precondition in its executors; here only if the domain has it.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Literal, assert_never

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
    PublishedLabel,
    ResolvedStep,
    read_resolved_steps,
    reasons_text,
    require_engine,
    state_text,
    static_value,
    unknown_name_text,
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

Manner = Literal["virtualhome", "behavior"]

_RAW = {
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
# BEHAVIOR checks these without asking its history.
_PLACING = re.compile(r"(?:left_|right_)?(?:place|put|pour|transfer)(?:_|\Z)")
_TIMES = frozenset((SC.UNTIMED_DURATIVE, SC.IMPOSSIBLE_TIME))
_OPEN = frozenset(("open", "opened", "is_open"))
_CLOSED = frozenset(("closed", "is_closed"))


def eai_label(checker: Checker, plan: Source, manner: Manner = "virtualhome") -> PublishedLabel:
    """The outcome that the Embodied Agent Interface's evaluator gives a plan; ``manner`` says of which simulator.

    Rules are not looked at. Raises :class:`~plansafe.verifier.diagnose.labels.NoLabel`. Runs the plan once, and at the
    step that stops it once more, evaluating its precondition in each state.
    """
    raw = _RAW[manner]
    scheme = f"eai-{manner}"
    written = read_resolved_steps(checker, plan)
    wrong = _grammar(require_engine(checker).task, written)
    if wrong is not None:
        name, number, text = wrong
        return PublishedLabel(scheme, name, number, text, raw[name])
    assert written is not None
    execution = ExplainedExecution(checker)
    additional: dict[int, str] = {}
    for number, (_, step) in enumerate(written, 1):
        if isinstance(step, IllFormed):
            name, text = AFFORDANCE, step.message
        elif execution.take(step, number):
            continue
        elif manner == "behavior":
            name, text = _behavior(execution, step)
        else:
            name, text = _virtualhome(execution, step)
        if name != ADDITIONAL:
            return PublishedLabel(
                scheme, name, number, text, raw[name], goal=execution.goal, additional=tuple(additional)
            )
        additional[number] = text
    if additional:
        number, text = next(iter(additional.items()))
        return PublishedLabel(
            scheme, ADDITIONAL, number, text, raw[ADDITIONAL], True, execution.goal, tuple(additional)
        )
    if not execution.goal:
        return PublishedLabel(scheme, UNSATISFIED_GOAL, 0, execution.unmet_goal(), executable=True)
    return PublishedLabel(scheme, SUCCESS, executable=True, goal=True)


def _grammar(task: Task, written: list[ResolvedStep] | None) -> tuple[str, int, str] | None:
    """The first of the three checks that come before the execution and look at the whole plan."""
    if not written:
        return PARSING, 0, "the plan is empty" if written is not None else "the plan cannot be read"
    for number, (_, step) in enumerate(written, 1):
        if isinstance(step, IllFormed) and step.code in _TIMES:
            return PARSING, number, step.message
    for number, (tokens, _) in enumerate(written, 1):
        problem = unknown_name_text(task, tokens)
        if problem is not None:
            return HALLUCINATION, number, problem
    for number, (_, step) in enumerate(written, 1):
        if isinstance(step, IllFormed) and step.code == SC.STEP_ARITY:
            return ARGUMENTS, number, step.message
    return None


# -- BEHAVIOR: all that is wrong with a step, by priority -------------------------------------------------------------


def _behavior(execution: ExplainedExecution, step: GroundAction) -> tuple[str, str]:
    placing = _PLACING.match(step.action.name.replace("-", "_")) is not None
    if not placing and execution.changes_nothing(step):
        return ADDITIONAL, "all effects of the step are already true"
    if execution.impossible(step):
        return AFFORDANCE, execution.unmet_text(step) + ", and no action changes that"
    before = None if placing else execution.earlier(execution.precondition(step))
    if before is not None:
        return WRONG_ORDER, f"the precondition holds {state_text(before)}, not here"
    return MISSING, execution.unmet_text(step)


# -- VirtualHome: the first check that fails --------------------------------------------------------------------------


class _Kind(Enum):
    """What VirtualHome makes of an unmet part of a precondition, in the order in which it looks."""

    OTHER = 0
    CLOSED_CONTAINER = 1
    OWN_FLAG = 2


def _virtualhome(execution: ExplainedExecution, step: GroundAction) -> tuple[str, str]:
    if execution.impossible(step):
        return AFFORDANCE, execution.unmet_text(step) + ", and no action changes that"
    unmet = unmet_parts(execution.evaluator, And(step.action.start.condition), step.binding)
    if not unmet:
        return MISSING, execution.unmet_text(step)
    kinds = [_kind(execution, step, choices[0]) for choices in unmet]
    kind = min(kinds, key=lambda k: k.value)
    choices = unmet[kinds.index(kind)]
    text = reasons_text(execution.task, choices)
    if kind is _Kind.CLOSED_CONTAINER:
        return AFFORDANCE, text
    if kind is _Kind.OWN_FLAG and execution.changes_nothing(step):
        return ADDITIONAL, text

    def any_met(state: State) -> bool:
        evaluator = execution.reader(state)
        return any([evaluator.holds(r.formula, r.binding) is r.wanted for r in choices])

    before = execution.earlier(any_met)
    if before is not None:
        return WRONG_ORDER, f"{text}, which was otherwise {state_text(before)}"
    return MISSING, text


Choices = tuple[UnmetLiteral, ...]
"""An unmet part of a condition: any of these would do."""


def unmet_parts(evaluator: Evaluator, formula: Formula, binding: Binding, wanted: bool = True) -> list[Choices]:
    """The parts of a condition that have not the wanted value; of alternatives, those of the nearest.

    These are the ones with the fewest unmet parts; if there are several, their first parts are choices, their second
    ones, and so on. Alternatives that static facts exclude do not count. Empty only if the condition has its value, or
    has no part.
    """
    if evaluator.holds(formula, binding) is wanted:
        return []
    match formula:
        case Not():
            return unmet_parts(evaluator, formula.body, binding, not wanted)
        case And() | Or() if isinstance(formula, And) is wanted:
            return [choices for part in formula.parts for choices in unmet_parts(evaluator, part, binding, wanted)]
        case And() | Or():
            possible = [p for p in formula.parts if static_value(evaluator, p, binding) is not (not wanted)]
            alternatives = [unmet_parts(evaluator, part, binding, wanted) for part in possible]
            fewest = min([len(parts) for parts in alternatives], default=0)
            nearest = [parts for parts in alternatives if len(parts) == fewest]
            return [tuple([r for choices in place for r in choices]) for place in zip(*nearest, strict=True)]
        case Truth() | Atom() | Equal() | Compare() | Quantified() | Temporal():
            return [(UnmetLiteral(formula, binding, wanted),)]
        case _:
            assert_never(formula)


def _kind(execution: ExplainedExecution, step: GroundAction, unmet: UnmetLiteral) -> _Kind:
    """Which check of VirtualHome an unmet part stands for."""
    atom = unmet.formula
    delta = execution.delta(step)
    if not isinstance(atom, Atom) or len(atom.arguments) > 1 or delta is None:
        return _Kind.OTHER
    task = execution.task
    objects = ground(atom.arguments, unmet.binding)
    fact = (atom.predicate, task.encode(objects))
    added = [task.decode(code, len(task.predicates[p].types)) for p, code in delta.adds]
    relates = [arguments for arguments in added if len(arguments) > 1]
    if fact in delta.adds if not unmet.wanted else fact in delta.deletes and not relates:
        return _Kind.OWN_FLAG
    name = task.predicates[atom.predicate].name.replace("-", "_")
    names = _OPEN if unmet.wanted else _CLOSED
    if name in names and any([arguments[-1:] == objects for arguments in relates]):
        return _Kind.CLOSED_CONTAINER
    return _Kind.OTHER
