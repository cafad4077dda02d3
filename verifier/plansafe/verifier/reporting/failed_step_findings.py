"""Write the findings for failed steps and for an unmet goal."""

from __future__ import annotations

from bisect import bisect_right

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Label
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.execution.outcome import Failure
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model import nodes as model
from plansafe.verifier.reporting.consequences import MergedFailure
from plansafe.verifier.reporting.fact_history import FailureReasons
from plansafe.verifier.reporting.finding_context import FindingContext, PastFacts
from plansafe.verifier.reporting.report import Finding, FindingClass

MAX_SEARCHED_STEPS = 10_000
"""Later steps among which a step that makes a missing fact true is searched."""


def make_failed_step_finding(
    context: FindingContext, merged: MergedFailure, reasons: FailureReasons | None, past: PastFacts
) -> Finding:
    """Write the finding for a step that is ill-formed or cannot be executed."""
    failure, readings = merged
    step, ill_formed = failure.step, failure.ill_formed
    follows = context.consequences.find_causes_of_failure(failure)
    if ill_formed is not None:
        return Finding(
            ill_formed.code,
            FindingClass.ILL_FORMED,
            f"step {step} is not a step of this domain: {ill_formed.message}",
            step,
            readings=readings,
            source=context.plan.name,
            span=context.find_token_span(step, ill_formed.token),
            help=ill_formed.help,
            follows=follows,
        )
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
            table = context.histories[reading].make_table(reasons.facts, past, step, letter, "FAILS", letter)
            related += context.label_changes(reasons, past, letter)
    elif failure.interfering_step:
        related += context.label_step(failure.interfering_step, "happens at the same time")
    action_step = context.resolved.steps[step - 1]
    if isinstance(action_step, GroundAction) and isinstance(action_step.action.node, list):
        related.append(_make_condition_label(context, action_step.action, action_step.action.node, failure))
        unknown = _explain_unknown_objects(context, action_step)
        if failure.code == SC.PRECONDITION and unknown is not None:
            notes, help = [unknown], None
    cause = _failure_text(failure, context.compiled.engine.is_continuous)
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
        follows=follows,
    )


def _explain_unknown_objects(context: FindingContext, step: GroundAction) -> str | None:
    """Return the reason why no agent of a factored task can take a step; ``None`` if one can."""
    agents = context.compiled.symbols.agents
    name, objects = step.action.name, context.task.names(step.objects)
    if not agents or any([name in agent.actions and agent.objects.issuperset(objects) for agent in agents]):
        return None
    return f"no agent that has `{name}` knows all of these objects"


def _failure_text(failure: Failure, is_continuous: bool) -> str:
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
        fact = (literal.formula.predicate, task.code_of(literal.formula.arguments, literal.binding))
        setting_steps = context.find_setting_steps(fact[0], literal.required_value).get(fact[1], [])
        place = bisect_right(setting_steps, step)
        if place < len(setting_steps) and setting_steps[place] <= step + MAX_SEARCHED_STEPS:
            later = setting_steps[place]
            effect = f"{'makes' if literal.required_value else 'ends'} `{task.fact_text(*fact)}`"
            return f"step {later} `{context.step_text(later)}` {effect}: should it come before step {step}?"
    for literal in reasons.literals:
        if isinstance(literal.formula, model.Atom) and literal.required_value and len(reasons.literals) <= 3:
            actions = changing_actions.get((literal.formula.predicate, True), ())
            if actions:
                return f"actions that can make it true: {', '.join(['`' + action + '`' for action in actions[:5]])}"
    return None


def make_unmet_goal_finding(context: FindingContext, reasons: FailureReasons, past: PastFacts) -> Finding:
    """Write the finding for a goal that is not reached."""
    halt = context.outcomes["halt"]
    notes = context.explain_literals(reasons.literals)
    related = context.label_changes(reasons, past, halt.last_letter)
    node = context.task.goal_nodes[0] if context.task.goal_nodes else None
    if isinstance(node, list):
        related.append(context.compiled.context.label(Place(node), "the goal", False))
    where = f" where the plan stops, {context.describe_stop()}" if halt.failures else ""
    follows = context.consequences.find_causes_of_unmet_goal()
    if halt.failures and not follows and len(context.outcomes) > 1:
        notes.append("it is also not reached if the failed steps are skipped or forced")
    last, letter, table = len(context.resolved.steps), halt.last_letter, None
    if not halt.failures:
        table = context.histories["halt"].make_table(reasons.facts, past, last, letter, "unmet", letter)
    return Finding(
        SC.GOAL,
        FindingClass.UNMET_GOAL,
        f"the goal is not reached{where}",
        min(last, letter),
        at_end=True,
        source=context.plan.name,
        span=None if halt.failures else context.find_step_span(last),
        related=tuple(related),
        notes=tuple(notes),
        table=table,
        follows=follows,
    )
