"""Write the findings of a plan: messages, places, evidence, tables and help."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Label
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.execution.outcome import Outcome
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import bind
from plansafe.verifier.model.operations import find_atoms, find_atoms_and_fluents, is_temporal
from plansafe.verifier.reporting.consequences import Consequences, ExecutedPlan, MergedFailure, MergedViolation
from plansafe.verifier.reporting.fact_history import FailureReasons, ReasonQuery
from plansafe.verifier.reporting.failed_step_findings import make_failed_step_finding, make_unmet_goal_finding
from plansafe.verifier.reporting.finding_context import ChangesByFact, FindingContext
from plansafe.verifier.reporting.report import Blame, Finding, FindingClass
from plansafe.verifier.rules.model import Rule
from plansafe.verifier.rules.verdict_criteria import SEVERITIES

_CODE_AND_CLASS = {
    "process": (SC.PROCESS_VIOLATED, FindingClass.PROCESS),
    "trajectory": (SC.TRAJECTORY_VIOLATED, FindingClass.TRAJECTORY),
    "termination": (SC.TERMINATION_VIOLATED, FindingClass.TERMINATION),
    "obligation": (SC.OBLIGATION_PENDING, FindingClass.OBLIGATION),
    "constraint": (SC.CONSTRAINT_VIOLATED, FindingClass.CONSTRAINT),
}
"""By kind of a rule: the code and class of its findings."""
_CONDITION_FIELDS = (":forbid", ":require", ":forbid-after", ":require-after", ":then", ":formula", ":when")
"""The fields of a rule at which findings point, the most important first."""
MAX_SEARCHED_LETTERS = 10_000
"""Letters before a violation in which the steps of a formula's action atoms are searched."""


class _FindingRank(NamedTuple):
    """The rank of a finding among those to write, and its number among the failures or violations."""

    is_consequence: bool
    is_repeated: bool
    is_violation: bool
    number: int


class WrittenFindings(NamedTuple):
    """The findings of a plan, and the number of findings beyond the limit ``max_findings``, which were not written."""

    findings: tuple[Finding, ...]
    suppressed: int


def write_findings(executed: ExecutedPlan, violations: list[MergedViolation]) -> WrittenFindings:
    """Write the findings by reading and step, at most ``max_findings``.

    The limit leaves out consequences of a failed step first, then later violations of a rule: if possible, each
    violated rule has a finding.
    """
    max_findings = executed.compiled.options.max_findings
    failures = _merge_failures(executed.outcomes)
    consequences = Consequences(executed.outcomes, failures, violations)
    context = FindingContext(executed, consequences)
    violations = sorted(violations, key=_rank_violation)
    ranks = [_FindingRank(consequences.is_consequence(f.failure), False, False, n) for n, f in enumerate(failures)]
    ranked_rules: set[tuple[bool, str]] = set()
    for number, v in enumerate(violations):
        is_consequence = bool(consequences.find_causes_of_violation(v))
        is_repeated = (is_consequence, v.rule.name) in ranked_rules
        ranks.append(_FindingRank(is_consequence, is_repeated, True, number))
        ranked_rules.add((is_consequence, v.rule.name))
    chosen_ranks = sorted(ranks)[:max_findings]
    chosen_failures = [failures[number] for number in sorted([c.number for c in chosen_ranks if not c.is_violation])]
    chosen_violations = [violations[number] for number in sorted([c.number for c in chosen_ranks if c.is_violation])]
    findings = _write_findings(context, chosen_failures, chosen_violations)
    findings += _write_undecided_findings(context)
    findings.sort(key=lambda f: (bool(f.follows), "halt" not in f.readings, f.at_end, f.step))
    return WrittenFindings(tuple(findings), len(ranks) - len(chosen_ranks))


def _rank_violation(v: MergedViolation) -> tuple[object, ...]:
    """Return the key by which violations are sorted for the choice of findings."""
    return "halt" not in v.readings, v.violation.step, SEVERITIES.index(v.rule.severity), v.rule.name, v.binding


def write_exempt_findings(executed: ExecutedPlan, violations: list[MergedViolation]) -> tuple[Finding, ...]:
    """Return the findings for exempt violations by step, at most ``max_findings``."""
    consequences = Consequences(executed.outcomes, _merge_failures(executed.outcomes), violations)
    sorted_violations = sorted(violations, key=lambda merged: (merged.violation.step, merged.rule.name, merged.binding))
    listed_violations = sorted_violations[: executed.compiled.options.max_findings]
    findings = _write_findings(FindingContext(executed, consequences), [], listed_violations)
    return tuple([finding for finding in findings if finding.rule is not None])


def _merge_failures(outcomes: list[Outcome]) -> list[MergedFailure]:
    """Merge the failures of all readings: one for each step and code."""
    merged: dict[tuple[int, str], MergedFailure] = {}
    for outcome in outcomes:
        for failure in outcome.failures:
            first = merged.setdefault((failure.step, failure.code), MergedFailure(failure, ()))
            if outcome.reading not in first.readings:
                merged[failure.step, failure.code] = first._replace(readings=(*first.readings, outcome.reading))
    return sorted(merged.values(), key=lambda merged: merged.failure.step)


def _write_findings(
    context: FindingContext, failures: list[MergedFailure], violations: list[MergedViolation]
) -> list[Finding]:
    """Write the findings for failed steps, violated rules and an unmet goal.

    The plan runs again at most twice for each reading with violations, and once for the table of a failure or goal.
    """
    halt, history = context.outcomes["halt"], context.histories["halt"]
    failure_reasons = {
        number: history.add_facts(literals)
        for number, (failure, readings) in enumerate(failures)
        if (literals := context.outcomes[readings[0]].unmet_literals.get(failure.step)) is not None
    }
    goal_reasons: FailureReasons | None = None
    if halt.goal is not True and halt.limit is None:
        evaluator = Evaluator(context.task, halt.state.facts, halt.state.fluents)
        goal_reasons = history.add_facts(tuple(evaluator.find_unmet_literals(model.And(context.task.goal), {}, True)))
    explaining_readings = [_find_explaining_reading(merged) for merged in failures]
    violation_reasons: dict[int, FailureReasons] = {}
    changes_by_fact: dict[str, ChangesByFact] = {}
    for reading, reading_history in context.histories.items():
        numbers = [number for number, violation in enumerate(violations) if violation.readings[0] == reading]
        if numbers:
            queries = [_make_reason_query(violations[number]) for number in numbers]
            violation_reasons.update(zip(numbers, reading_history.answer_queries(queries), strict=True))
        explained_reasons = [violation_reasons[number] for number in numbers]
        explained_reasons += [
            reasons
            for number, reasons in failure_reasons.items()
            if explaining_readings[number] == reading and "halt" in failures[number].readings
        ]
        if reading == "halt" and goal_reasons is not None:
            explained_reasons.append(goal_reasons)
        facts = {fact for reasons in explained_reasons for fact in reasons.facts}
        changes_by_fact[reading] = reading_history.find_fact_changes(facts) if facts else {}
    findings = [
        make_failed_step_finding(
            context, merged, failure_reasons.get(number), changes_by_fact[explaining_readings[number]]
        )
        for number, merged in enumerate(failures)
    ]
    if format_state := history.format_state(halt.state):
        findings = [f._replace(state=format_state) if "halt" in f.readings else f for f in findings]
    for number, v in enumerate(violations):
        findings.append(_write_violation(context, v, violation_reasons[number], changes_by_fact[v.readings[0]]))
    if goal_reasons is not None:
        findings.append(make_unmet_goal_finding(context, goal_reasons, changes_by_fact["halt"]))
    return findings


def _find_explaining_reading(merged: MergedFailure) -> str:
    """Return the reading whose changes explain a failure: the first reading in which it occurs.

    It is *skip* for a violated condition over all, because *halt* undoes the happening that violates the condition.
    """
    is_in_both = {"halt", "skip"} <= {*merged.readings}
    return "skip" if merged.failure.code == SC.OVER_ALL and is_in_both else merged.readings[0]


# -- violated rules ---------------------------------------------------------------------------------------------------


def _make_reason_query(merged: MergedViolation) -> ReasonQuery:
    """Return the query for the reasons of a violation."""
    formula = merged.part.body
    if merged.part.mode == "each" and merged.part.guard is not None:
        formula = model.Or((model.Not(merged.part.guard), formula))
    binding = bind(merged.part.parameters, merged.violation.binding)
    return ReasonQuery(merged.violation.letter, formula, binding, is_temporal(formula) or merged.part.mode == "whole")


def _write_violation(
    context: FindingContext, merged: MergedViolation, reasons: FailureReasons, changes_by_fact: ChangesByFact
) -> Finding:
    """Write the finding for a violated rule."""
    code, finding_class = _CODE_AND_CLASS[merged.rule.kind]
    step, letter, history = merged.violation.step, merged.violation.letter, context.histories[merged.readings[0]]
    where, verb = _describe_place(context, merged), "violated"
    if code == SC.OBLIGATION_PENDING and merged.violation.at_end:
        verb = "not fulfilled"
    noun = merged.rule.kind if merged.rule.kind in ("obligation", "constraint") else "rule"
    message = f"{noun} `{merged.rule.name}` is {verb} {where}"
    if merged.rule.message:
        message += f": {_insert_objects(merged.rule.message, merged.binding)}"
    # Literals without facts, about types or equal objects, tell the reader nothing new.
    literals = tuple([r for r in reasons.literals if next(find_atoms_and_fluents(r.formula), None) is not None])
    # If a step is forbidden, the rule is evaluated in the state before it; the last row of the table is the step.
    fails_before_step = (
        merged.part.mode == "each" and not merged.part.after and step in [s for s, _ in history.find_steps(letter + 1)]
    )
    table = history.make_table(
        reasons.facts, changes_by_fact, step, letter, "FAILS", letter + 1 if fails_before_step else letter
    )
    binding = ", ".join([f"{name} = {value}" for name, value in merged.binding])
    return Finding(
        code=code,
        finding_class=finding_class,
        message=message,
        step=step,
        rule=merged.rule.name,
        binding=merged.binding,
        at_end=merged.violation.at_end,
        readings=merged.readings,
        blame=Blame(merged.blame),
        source=context.plan.name,
        span=context.find_step_span(step),
        related=(
            *context.label_changes(reasons, changes_by_fact, letter),
            *_label_earlier_steps(context, merged),
            _label_rule(context, merged.rule, f"the rule{', ' + binding if binding else ''}"),
        ),
        notes=tuple(context.explain_literals(literals)),
        help=_insert_objects(merged.rule.fix, merged.binding) if merged.rule.fix else None,
        table=table,
        hazard=merged.rule.hazard,
        targets=merged.rule.targets,
        severity=merged.rule.severity,
        rationale=merged.rule.rationale,
        rationale_source=merged.rule.rationale_source,
        state=reasons.state,
        follows=context.consequences.find_causes_of_violation(merged),
    )


def _describe_place(context: FindingContext, merged: MergedViolation) -> str:
    """Return where a rule is violated. A happening of timed literals alone has no step."""
    step, letter = merged.violation.step, merged.violation.letter
    if context.consequences.is_cut_off(merged):
        return f"where the plan stops, {context.describe_stop()}"
    if merged.violation.at_end:
        return "at the end of the plan"
    cause = context.histories[merged.readings[0]].outcome.causes.get(letter)
    if cause is not None and merged.part.mode != "each":
        return f"{cause.time}, {f'after step {step}' if step else 'before step 1'}"
    if not step:
        return "before step 1" if letter else "in the initial state"
    is_after = merged.part.mode != "each" and not context.histories[merged.readings[0]].find_steps(letter)
    return f"after step {step}" if is_after else f"at step {step}"


def _label_earlier_steps(context: FindingContext, merged: MergedViolation) -> list[Label]:
    """Return labels at the last steps before the violation that match the action atoms of the formula."""
    action_predicates = {predicate: key for key, predicate in context.compiled.engine.action_predicates.items()}
    objects_by_slot = bind(merged.part.parameters, merged.violation.binding)
    history = context.histories[merged.readings[0]]
    violating_step = merged.violation.step if merged.part.mode == "each" else 0
    labels: dict[int, Label] = {}
    for atom in find_atoms(merged.part.body):
        if atom.predicate not in action_predicates:
            continue
        kind, name = action_predicates[atom.predicate]
        objects = [argument if argument >= 0 else objects_by_slot.get(-1 - argument) for argument in atom.arguments]
        last_letter = merged.violation.letter + 1
        for letter in range(last_letter, max(last_letter - MAX_SEARCHED_LETTERS, 0), -1):
            matching_steps = [
                step
                for step, phase in history.find_steps(letter)
                if step != violating_step
                and (kind == "during" or phase == kind)
                and _matches_action(context.resolved.steps[step - 1], name, objects)
            ]
            if matching_steps:
                for label in context.label_step(max(matching_steps), "this step is relevant to the rule"):
                    labels[max(matching_steps)] = label
                break
    return [labels[step] for step in sorted(labels)]


def _matches_action(step: object, name: str, objects: list[int | None]) -> bool:
    """Whether a step is an action with the given objects; ``None`` matches any object."""
    if not isinstance(step, GroundAction) or step.action.name != name:
        return False
    return all([expected is None or expected == o for expected, o in zip(objects, step.objects, strict=True)])


def _label_rule(context: FindingContext, rule: Rule, text: str) -> Label:
    """Return a label at the condition of a rule."""
    node, label = rule.at.node, context.compiled.context.label
    if rule.kind != "constraint":
        fields = {str(node[child]): child + 1 for child in range(2, len(node) - 1) if isinstance(node[child], str)}
        for key in _CONDITION_FIELDS:
            if key in fields:
                return label(Place(node, fields[key]), text, False)
    return label(rule.at, text, False)


def _write_undecided_findings(context: FindingContext) -> list[Finding]:
    """Write the findings for rules with instances that could not be decided, one for each rule."""
    engine, halt = context.compiled.engine, context.outcomes["halt"]
    findings: dict[str, Finding] = {}
    for part_number, binding in halt.undecided:
        part = engine.rule_set.parts[part_number]
        rule = context.compiled.rules[part.rule]
        if rule.name in findings:
            continue
        is_too_large = part_number in (engine.prototype.too_large if engine.prototype else ())
        reason = "has too many instances" if is_too_large else "reads an undefined number"
        names = zip(part.parameters, binding, strict=False)
        findings[rule.name] = Finding(
            SC.TOO_MANY_INSTANCES if is_too_large else SC.RULE_UNDEFINED,
            FindingClass.UNDECIDED,
            f"rule `{rule.name}` could not be decided: it {reason}",
            halt.executed_count,
            rule.name,
            tuple([(v.name, context.task.objects[object_]) for v, object_ in names]),
            True,
            related=(_label_rule(context, rule, "the rule"),),
            source=context.plan.name,
        )
    return list(findings.values())


def _insert_objects(message: str, binding: Sequence[tuple[str, str]]) -> str:
    """Replace ``{?x}`` in a rule's message by objects."""
    for name, value in binding:
        message = message.replace("{" + name + "}", value)
    return message
