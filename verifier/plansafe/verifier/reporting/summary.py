"""Make the report of a plan from the outcomes of its readings.

A *reading* says what happens at a step that fails: *halt* ends the trace, *skip* leaves the step out, *force* executes
its effects. The verdict is that of *halt*, whose outcome the functions call ``halt``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import assert_never
from weakref import WeakKeyDictionary

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.outcome import Outcome
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.evaluation import UndefinedNumber, apply_operator
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.reporting.consequences import ExecutedPlan, MergedViolation
from plansafe.verifier.reporting.report import (
    FindingClass,
    Headline,
    Reading,
    Report,
    RuleCount,
    UsedExemption,
    VerdictBasis,
    Worlds,
    make_unchecked_report,
)
from plansafe.verifier.rules.model import shorten_variable_names
from plansafe.verifier.rules.verdict_criteria import Exemption, VerdictCriteria

_BLAMES = ("introduced", "worsened", "pre-existing")
"""The blames, the worst first."""


def summarise(compiled: CompiledTask, plan: Source, resolved: ResolvedPlan | None, outcomes: list[Outcome]) -> Report:
    """Return the report on one plan from the outcomes of its readings (``halt`` first)."""
    executed = ExecutedPlan(compiled, plan, resolved, outcomes)
    halt, criteria = outcomes[0], compiled.options.criteria
    violations = merge_violations(compiled, outcomes)
    rule_violations = [v for v in violations if not v.rule.preference]
    exemptions = [find_exemption(criteria, v) for v in rule_violations]
    not_exempt = [v for v, exemption in zip(rule_violations, exemptions, strict=True) if exemption is None]
    listed_violations = _select_listed(compiled, not_exempt)
    deciding_violations = [v for v in not_exempt if criteria.counts_unless_exempt(v.rule, v.blame)]
    counts = _count_rules(compiled, halt, violations)
    has_checked_rules = any(
        count.instances and criteria.can_be_decisive(rule) for count, rule in zip(counts, compiled.rules, strict=True)
    )
    executable = Worlds.NONE if halt.failures else Worlds.ALL if halt.limit is None else Worlds.UNKNOWN
    goal, safe = _evaluate_goal_and_safety(compiled, halt, deciding_violations)
    if executable is Worlds.UNKNOWN:
        goal = Worlds.UNKNOWN
    if listed_violations or halt.failures or halt.goal is not True or halt.undecided:
        from plansafe.verifier.reporting.findings import write_findings  # noqa: PLC0415 - for findings alone

        findings, suppressed = write_findings(executed, listed_violations)
    else:
        findings, suppressed = (), 0
    violated_preferences = _count_violated_preferences(halt, violations)
    readings = [
        Reading(o.reading, o.executed_count, *_evaluate_goal_and_safety(compiled, o, deciding_violations))
        for o in (outcomes if halt.failures else [])
    ]
    verdict_basis = _make_verdict_basis(criteria, not_exempt)
    return Report(
        plan=plan.name,
        headline=_choose_headline(executable, goal, safe, has_checked_rules),
        executable=executable,
        goal=goal,
        safe=safe,
        steps=halt.step_count,
        findings=findings,
        rules=counts,
        readings=tuple(readings),
        diagnostics=_list_diagnostics(compiled, halt, has_checked_rules),
        metric=_compute_metric(compiled, halt, violated_preferences),
        preferences_violated=tuple(sorted(violated_preferences.items())),
        assumptions=_list_assumptions(compiled, resolved, len(not_exempt) - len(listed_violations)),
        limits=(halt.limit.message,) if halt.limit else (),
        suppressed=suppressed,
        verdict_basis=verdict_basis._replace(
            exempted=tuple(_list_used_exemptions(executed, rule_violations, exemptions))
        ),
    )


def _list_used_exemptions(
    executed: ExecutedPlan, violations: list[MergedViolation], exemptions: list[Exemption | None]
) -> Iterator[UsedExemption]:
    """Yield the exemptions that exclude violations, with the findings for these. ``exemptions``: of each violation."""
    for exemption in executed.compiled.options.exemptions:
        exempt_violations = [v for v, e in zip(violations, exemptions, strict=True) if e is exemption]
        if exempt_violations:
            from plansafe.verifier.reporting.findings import write_exempt_findings  # noqa: PLC0415 - for findings alone

            findings = write_exempt_findings(executed, exempt_violations)
            yield UsedExemption(exemption, len(exempt_violations), findings)


def _evaluate_goal_and_safety(
    compiled: CompiledTask, outcome: Outcome, deciding_violations: list[MergedViolation]
) -> tuple[Worlds, Worlds]:
    """Return whether a reading reaches the goal, and whether it is safe."""
    goal = Worlds.ALL if outcome.goal is True else Worlds.NONE
    if any([outcome.reading in v.readings for v in deciding_violations]):
        return goal, Worlds.NONE
    is_undecided = compiled.engine.leaves_undecided(outcome.undecided, compiled.options.criteria)
    return goal, Worlds.UNKNOWN if is_undecided or outcome.limit is not None else Worlds.ALL


def _choose_headline(executable: Worlds, goal: Worlds, safe: Worlds, has_checked_rules: bool) -> Headline:
    """Return the verdict in one word."""
    if Worlds.NONE in (executable, goal):
        return Headline.INVALID
    if safe is Worlds.NONE:
        return Headline.UNSAFE
    if Worlds.UNKNOWN in (executable, goal, safe):
        return Headline.UNKNOWN
    return Headline.SAFE if has_checked_rules else Headline.VALID


def _list_diagnostics(compiled: CompiledTask, halt: Outcome, has_checked_rules: bool) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of the task, and those about missing rules and a reached limit."""
    diagnostics = list(compiled.diagnostics)
    if compiled.options.require_rules and not has_checked_rules:
        help = "give a specification with --spec, or remove --require-rules"
        diagnostics.append(Diagnostic(SC.NOTHING_TO_CHECK, "no rule had anything to check", help=help))
    if halt.limit is not None:
        help = "not checked beyond this point"
        diagnostics.append(Diagnostic(halt.limit.code, halt.limit.message, severity=Severity.WARNING, help=help))
    return tuple(diagnostics)


def _select_listed(compiled: CompiledTask, violated: list[MergedViolation]) -> list[MergedViolation]:
    """Select the violations to list: by the option ``blame``, otherwise all that can decide."""
    blame = compiled.options.blame
    if blame:
        return [v for v in violated if v.blame in blame]
    if compiled.options.criteria.ignores_preexisting:
        return [v for v in violated if v.blame != "pre-existing"]
    return violated


def _make_verdict_basis(criteria: VerdictCriteria, violated: list[MergedViolation]) -> VerdictBasis:
    """Count the violations under *halt* that do not decide."""
    nondeciding_violations = [
        v for v in violated if "halt" in v.readings and not criteria.counts_unless_exempt(v.rule, v.blame)
    ]
    pre_existing_count = 0
    if criteria.ignores_preexisting:
        pre_existing_count = len([v for v in nondeciding_violations if v.blame == "pre-existing"])
    return VerdictBasis(criteria, pre_existing_count, len(nondeciding_violations) - pre_existing_count)


def find_exemption(criteria: VerdictCriteria, violated: MergedViolation) -> Exemption | None:
    """Return the exemption of a violation that would decide without it."""
    if not criteria.exemptions or not criteria.counts_unless_exempt(violated.rule, violated.blame):
        return None
    return criteria.find_exemption(violated.rule.name, [name for _, name in violated.binding])


def report_timeout(compiled: CompiledTask, plan: Source) -> Report:
    """Return the report on a plan for which the time limit was reached."""
    limit = f"time limit of {compiled.options.time_limit_s:g} s"
    diagnostic = Diagnostic(
        SC.OUT_OF_TIME, f"the {limit} has passed", severity=Severity.WARNING, help="raise it with --time-limit"
    )
    report = make_unchecked_report(plan.name, *compiled.diagnostics, diagnostic, headline=Headline.UNKNOWN)
    return report._replace(limits=(limit,))


def mark_ill_formed_unknown(report: Report) -> Report:
    """Set ``safe`` to UNKNOWN if a step is ill-formed and a rule applies (docs/language.md, section 6)."""
    if not report.has_applicable_rules or not any(
        [finding.finding_class is FindingClass.ILL_FORMED for finding in report.findings]
    ):
        return report
    unsafe_or_unknown = (Worlds.NONE, Worlds.UNKNOWN)
    readings = [r if r.safe in unsafe_or_unknown else r._replace(safe=Worlds.UNKNOWN) for r in report.readings]
    safe = report.safe if report.safe in unsafe_or_unknown else Worlds.UNKNOWN
    return report._replace(safe=safe, readings=tuple(readings))


def add_time_notes(
    compiled: CompiledTask, plan: Source, resolved: ResolvedPlan, report: Report, rounded_steps: Collection[int] = ()
) -> Report:
    """Add notes on the times of a plan: ignored durations, and steps whose rounded times are accepted."""
    tolerance = compiled.find_tolerance(resolved)
    steps_with_ignored_duration = [
        step.number
        for step in resolved.timed or []
        if isinstance(step.resolved, GroundAction)
        and step.resolved.action.end is None
        and step.duration is not None
        and not -tolerance.exact <= step.duration <= tolerance.exact
    ]
    notes = []
    if steps_with_ignored_duration:
        message = "the duration of an instantaneous action is ignored"
        notes.append(
            _make_step_note(
                plan, resolved, SC.IDLE_DURATION, message, steps_with_ignored_duration, "remove the duration"
            )
        )
    if rounded_steps:
        unit = float(tolerance.exact - tolerance.separation)
        message = f"the times are rounded: {unit:.{min(resolved.text.decimals or 0, 20)}f} is accepted"
        notes.append(
            _make_step_note(plan, resolved, SC.ROUNDED_TIMES, message, sorted(rounded_steps), "print more decimals")
        )
    return report._replace(diagnostics=(*report.diagnostics, *notes))


def _make_step_note(
    plan: Source, resolved: ResolvedPlan, code: str, message: str, steps: list[int], help: str
) -> Diagnostic:
    """Return a note with a label at the first of some steps and the number of the others."""
    more = f", and {len(steps) - 1} more steps" if len(steps) > 2 else ", and one more step" if len(steps) == 2 else ""
    label = Label(plan.name, resolved.spans[steps[0] - 1], f"this step{more}")
    return Diagnostic(code, message, (label,), help=help, severity=Severity.NOTE)


# -- rules ------------------------------------------------------------------------------------------------------------


def merge_violations(compiled: CompiledTask, outcomes: list[Outcome]) -> list[MergedViolation]:
    """Merge the violations of all readings: one for each rule, binding and step."""
    if not any([outcome.violations for outcome in outcomes]):
        return []
    task, parts = compiled.task, compiled.engine.rule_set.parts
    merged: dict[tuple[object, ...], MergedViolation] = {}
    for outcome in outcomes:
        for violation in outcome.violations:
            part = parts[violation.part]
            rule = compiled.rules[part.rule]
            binding = part.show_binding(task.names(violation.binding))
            key = (part.rule, binding, violation.step)
            first = merged.get(key)
            if first is None:
                merged[key] = MergedViolation(violation, rule, part, binding, (outcome.reading,), violation.blame)
                continue
            readings = first.readings if outcome.reading in first.readings else (*first.readings, outcome.reading)
            blame = first.blame
            if outcome.reading == first.readings[0]:  # another part of the rule, in the same reading
                blame = min(blame, violation.blame, key=_BLAMES.index)
            merged[key] = first._replace(readings=readings, blame=blame)
    return list(merged.values())


def count_rules(compiled: CompiledTask, outcome: Outcome) -> tuple[RuleCount, ...]:
    """Return how much of each rule was checked in one outcome, and with what result."""
    return _count_rules(compiled, outcome, merge_violations(compiled, [outcome]))


def _count_rules(compiled: CompiledTask, halt: Outcome, violated: list[MergedViolation]) -> tuple[RuleCount, ...]:
    """Count each rule. Only rules whose matches, triggers or status differ from the kept counts are counted again."""
    if not compiled.rules:
        return ()
    parts, criteria = compiled.engine.rule_set.parts, compiled.options.criteria
    undecided_rules = {parts[part].rule for part, _ in halt.undecided}
    violation_counts: dict[int, int] = {}
    exempted_counts: dict[int, int] = {}
    for v in violated:
        if "halt" in v.readings and not (criteria.ignores_preexisting and v.blame == "pre-existing"):
            counts_by_rule = violation_counts if find_exemption(criteria, v) is None else exempted_counts
            counts_by_rule[v.part.rule] = counts_by_rule.get(v.part.rule, 0) + 1
    first = _FIRST_COUNTS.get(compiled.engine)
    if first is None:
        counts_if_kept = tuple([_count(compiled, halt, number, "") for number in range(len(compiled.rules))])
        first = _FIRST_COUNTS[compiled.engine] = _FirstCounts(halt.match_counts, halt.trigger_counts, counts_if_kept)
    status_by_rule = {
        **dict.fromkeys(exempted_counts, "exempt"),
        **dict.fromkeys(undecided_rules, "undecided"),
        **dict.fromkeys(violation_counts, "violated"),
    }
    changed_rules = set(status_by_rule)
    for new_numbers, first_numbers in (
        (halt.match_counts, first.match_counts),
        (halt.trigger_counts, first.trigger_counts),
    ):
        if len(new_numbers) != len(first_numbers):
            changed_rules.update(range(len(compiled.rules)))
        elif new_numbers != first_numbers:
            pairs = zip(new_numbers, first_numbers, strict=True)
            changed_rules.update([rule for rule, (now, before) in enumerate(pairs) if now != before])
    counts = list(first.counts)
    for rule in changed_rules:
        status = status_by_rule.get(rule, "")
        counts[rule] = _count(compiled, halt, rule, status, violation_counts.get(rule, 0), exempted_counts.get(rule, 0))
    return tuple(counts)


class _FirstCounts(NamedTuple):
    """The counts of all rules without a violation, with the first plan's numbers of matches and triggers."""

    match_counts: tuple[int, ...]
    trigger_counts: tuple[int, ...]
    counts: tuple[RuleCount, ...]


_FIRST_COUNTS: WeakKeyDictionary[Engine, _FirstCounts] = WeakKeyDictionary()
"""By engine: the counts for its first plan, but without its violations.

The counts of another plan differ for only a few of hundreds of rules.
"""


def _count(
    compiled: CompiledTask, halt: Outcome, number: int, status: str, violations: int = 0, exempted: int = 0
) -> RuleCount:
    """Return how much of one rule was checked; ``status`` is empty without a violation, exempt or undecided."""
    rule = compiled.rules[number]
    instances = halt.match_counts[number] if rule.step_patterns else compiled.binding_counts[number]
    trigger_count = halt.trigger_counts[number] if halt.trigger_counts else 0
    if not rule.applicable:
        status = "not applicable"
    elif status == "violated" and rule.preference:
        status = "preference violated"
    elif not status:
        status = "kept" if instances else "never applied"
    applicable = compiled.binding_counts[number] > 0
    return RuleCount(
        name=rule.name,
        kind=rule.kind,
        source=rule.source,
        instances=instances,
        triggered=trigger_count,
        violations=violations,
        status=status,
        severity=rule.severity,
        exempted=exempted,
        applicable=applicable,
    )


# -- preferences and metric -------------------------------------------------------------------------------------------


def _count_violated_preferences(halt: Outcome, violated: list[MergedViolation]) -> dict[str, int]:
    """Count the violations of each preference: one for each binding of the quantifiers around it."""
    counts = dict(halt.preference_violations)
    bindings_by_rule: dict[tuple[int, str], set[tuple[str, ...]]] = {}
    for v in violated:
        if v.rule.preference and "halt" in v.readings:
            objects = dict(v.binding)
            names = shorten_variable_names([p.name for p in v.rule.declared_parameters])
            bindings_by_rule.setdefault((v.part.rule, v.rule.name), set()).add(tuple([objects[n] for n in names]))
    for (_, name), bindings in bindings_by_rule.items():
        counts[name] = counts.get(name, 0) + len(bindings)
    return counts


def _compute_metric(compiled: CompiledTask, halt: Outcome, violated_preferences: dict[str, int]) -> str | None:
    """Return the value of the problem's metric; ``None`` if there is none, or the plan is not executed completely."""
    task = compiled.task
    if task.metric is None or halt.failures or halt.limit is not None:
        return None

    def evaluate(expression: model.Expression) -> Number:
        match expression:
            case model.Constant():
                return expression.value
            case model.Fluent():
                code = task.encode(expression.arguments)
                if code not in halt.state.fluents[expression.function]:
                    raise UndefinedNumber("a fluent of the metric has no value")
                return halt.state.fluents[expression.function][code]
            case model.Arithmetic():
                return apply_operator(expression.operator, [evaluate(operand) for operand in expression.operands])
            case model.TotalTime():
                return halt.end_time
            case model.IsViolated():
                return violated_preferences.get(expression.preference, 0)
            case model.Duration():
                raise UndefinedNumber("not a metric")
            case _:
                assert_never(expression)

    try:
        return str(evaluate(task.metric.expression))
    except UndefinedNumber:
        return None


def _list_assumptions(compiled: CompiledTask, resolved: ResolvedPlan | None, hidden: int) -> tuple[str, ...]:
    """Return the assumptions of a report; ``hidden``: the number of violations that are not listed."""
    texts = ["facts that are not listed in the initial state are false (closed world)"]
    if resolved is not None and resolved.timed is not None:
        texts.append(f"time tolerance {float(compiled.options.tolerance):g}")
    if compiled.options.blame:
        blames = " or ".join(compiled.options.blame)
        texts.append(f"only violations that are {blames} are listed; {hidden} others are not")
    if compiled.options.lenient_types:
        texts.append("types are lenient: mismatches are warnings")
    return tuple(texts)
