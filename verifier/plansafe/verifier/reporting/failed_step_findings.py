"""Write the findings for failed steps and for an unmet goal."""

from __future__ import annotations

from bisect import bisect_right

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Label
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.execution.outcome import Failure
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model import nodes as model
from plansafe.verifier.reporting.consequences import MergedFailure
from plansafe.verifier.reporting.fact_history import FailureReasons
from plansafe.verifier.reporting.finding_context import ChangesByFact, FindingContext
from plansafe.verifier.reporting.report import Finding, FindingClass

MAX_SEARCHED_STEPS = 10_000
"""Later steps among which a step that makes a missing fact true is searched."""
_MAX_LITERALS = 3
"""Actions that make a fact true are named only if at most this many literals are unmet."""
_MAX_ACTIONS = 5
"""Maximum number of such actions that are named."""


def make_failed_step_finding(
    context: FindingContext, merged: MergedFailure, reasons: FailureReasons | None, changes_by_fact: ChangesByFact
) -> Finding:
    """Write the finding for a step that is ill-formed or cannot be executed."""
    failure, readings = merged
    if failure.ill_formed is not None:
        return _make_ill_formed_finding(context, merged, failure.ill_formed)
    step = failure.step
    notes: list[str] = []
    related: list[Label] = []
    help: str | None = None
    table = None
    if reasons is not None and failure.code in (SC.PRECONDITION, SC.OVER_ALL):
        notes = context.explain_literals(reasons.literals)
        help = _explain_missing_fact(context, reasons, step)
        if readings[0] == "halt":
            # A condition over all fails after the happening before which the plan stops, and which *skip* executes.
            letter = context.outcomes["halt"].last_letter + 1
            reading = "skip" if failure.code == SC.OVER_ALL and "skip" in readings else "halt"
            table = context.histories[reading].make_table(reasons.facts, changes_by_fact, step, letter, "FAILS", letter)
            related += context.label_changes(reasons, changes_by_fact, letter)
    elif failure.interfering_step:
        related += context.label_step(failure.interfering_step, "happens at the same time")
    action_step = context.resolved.steps[step - 1]
    if isinstance(action_step, GroundAction) and isinstance(action_step.action.node, list):
        related.append(_make_condition_label(context, action_step.action, action_step.action.node, failure))
        unknown = _explain_unknown_objects(context, action_step)
        if failure.code == SC.PRECONDITION and unknown is not None:
            notes, help = [unknown], None
    cause = _describe_failure(failure, context.compiled.engine.is_continuous)
    return Finding(
        failure.code,
        FindingClass.INEXECUTABLE,
        f"step {step} `{context.step_text(step)}` cannot be taken: {cause}",
        step,
        readings=readings,
        source=context.plan.name,
        span=context.find_step_span(step),
        related=tuple(related),
        notes=tuple(notes),
        help=help,
        table=table,
        follows=context.consequences.find_causes_of_failure(failure),
    )


def _make_ill_formed_finding(context: FindingContext, merged: MergedFailure, ill_formed: IllFormed) -> Finding:
    """Write the finding for a step that is ill-formed."""
    step = merged.failure.step
    return Finding(
        ill_formed.code,
        FindingClass.ILL_FORMED,
        f"step {step} is not a step of this domain: {ill_formed.message}",
        step,
        readings=merged.readings,
        source=context.plan.name,
        span=context.find_token_span(step, ill_formed.token),
        help=ill_formed.help,
        follows=context.consequences.find_causes_of_failure(merged.failure),
    )


def _explain_unknown_objects(context: FindingContext, step: GroundAction) -> str | None:
    """Return the reason why no agent of a factored task can take a step; ``None`` if one can."""
    agents = context.compiled.symbols.agents
    name, objects = step.action.name, context.task.names(step.objects)
    if not agents or any([name in agent.actions and agent.objects.issuperset(objects) for agent in agents]):
        return None
    return f"no agent that has `{name}` knows all of these objects"


def _describe_failure(failure: Failure, is_continuous: bool) -> str:
    """Return why a step cannot be taken, as the end of a sentence."""
    match failure.code:
        case SC.PRECONDITION | SC.OVER_ALL if failure.detail == "end":
            return "its condition at the end is not satisfied"
        case SC.PRECONDITION:
            return "its precondition is not satisfied"
        case SC.OVER_ALL:
            return "its condition over all does not hold" + (f" {failure.detail}" if is_continuous else "")
        case SC.CONFLICTING_EFFECTS:
            return f"two effects on `{failure.detail}` conflict"
        case SC.INTERFERENCE:
            return f"it interferes with another step at the same time on `{failure.detail}`"
        case SC.DURATION:
            return f"its duration {failure.detail}"
        case _:
            return failure.detail


def _make_condition_label(context: FindingContext, action: model.Action, node: list[Node], failure: Failure) -> Label:
    """Return a label at the field of an action's definition that a failure is about, or at the action's name."""
    fields = {
        SC.PRECONDITION: (":precondition", ":condition"),
        SC.DURATION: (":duration",),
        SC.CONFLICTING_EFFECTS: (":effect",),
    }.get(failure.code, (":condition", ":precondition"))
    for child in range(2, len(node) - 1):
        if node[child] in fields:
            text = f"the {str(node[child])[1:]} of `{action.name}`"
            return context.compiled.context.label(Place(node, child + 1), text, False)
    return context.compiled.context.label(Place(node, 1), f"`{action.name}` is declared here", False)


def _explain_missing_fact(context: FindingContext, reasons: FailureReasons, step: int) -> str | None:
    """Return a later step that makes a missing fact true, otherwise the actions that can do so."""
    task, changing_actions = context.task, context.compiled.engine.changing_actions
    for literal in reasons.literals:
        if not isinstance(literal.formula, model.Atom):
            continue
        predicate, code = literal.formula.predicate, task.code_of(literal.formula.arguments, literal.binding)
        setting_steps = context.find_setting_steps(predicate, literal.required_value).get(code, [])
        position = bisect_right(setting_steps, step)
        if position < len(setting_steps) and setting_steps[position] <= step + MAX_SEARCHED_STEPS:
            later_step = setting_steps[position]
            effect = f"{'makes' if literal.required_value else 'ends'} `{task.fact_text(predicate, code)}`"
            return f"step {later_step} `{context.step_text(later_step)}` {effect}: should it come before step {step}?"
    for literal in reasons.literals:
        if (
            isinstance(literal.formula, model.Atom)
            and literal.required_value
            and len(reasons.literals) <= _MAX_LITERALS
        ):
            actions = changing_actions.get((literal.formula.predicate, True), ())
            if actions:
                names = ", ".join([f"`{action}`" for action in actions[:_MAX_ACTIONS]])
                return f"actions that can make it true: {names}"
    return None


def make_unmet_goal_finding(
    context: FindingContext, reasons: FailureReasons, changes_by_fact: ChangesByFact
) -> Finding:
    """Write the finding for a goal that is not reached."""
    halt = context.outcomes["halt"]
    notes = context.explain_literals(reasons.literals)
    related = context.label_changes(reasons, changes_by_fact, halt.last_letter)
    node = context.task.goal_nodes[0] if context.task.goal_nodes else None
    if isinstance(node, list):
        related.append(context.compiled.context.label(Place(node), "the goal", False))
    where = f" where the plan stops, {context.describe_stop()}" if halt.failures else ""
    follows = context.consequences.find_causes_of_unmet_goal()
    if halt.failures and not follows and len(context.outcomes) > 1:
        notes.append("it is also not reached if the failed steps are skipped or forced")
    last_step, letter, table = len(context.resolved.steps), halt.last_letter, None
    if not halt.failures:
        table = context.histories["halt"].make_table(reasons.facts, changes_by_fact, last_step, letter, "unmet", letter)
    return Finding(
        SC.GOAL,
        FindingClass.UNMET_GOAL,
        f"the goal is not reached{where}",
        min(last_step, letter),
        at_end=True,
        source=context.plan.name,
        span=None if halt.failures else context.find_step_span(last_step),
        related=tuple(related),
        notes=tuple(notes),
        table=table,
        follows=follows,
    )
