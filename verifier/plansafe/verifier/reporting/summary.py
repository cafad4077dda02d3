"""From the outcomes of a plan's readings to its report."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, assert_never
from weakref import WeakKeyDictionary

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.replay import Outcome
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.reporting.consequences import MergedViolation
from plansafe.verifier.reporting.findings import write_exempt, write_findings
from plansafe.verifier.reporting.report import (
    FindingClass,
    Headline,
    Reading,
    Report,
    RuleCount,
    UsedExemption,
    VerdictBasis,
    Worlds,
    unjudged,
)
from plansafe.verifier.rules.model import shown_names
from plansafe.verifier.rules.verdict_criteria import Exemption, VerdictCriteria

_BLAMES = ("introduced", "worsened", "pre-existing")


def summarise(compiled: CompiledTask, plan: Source, read: ResolvedPlan | None, outcomes: list[Outcome]) -> Report:
    """The report on one plan, from its readings (``halt`` first)."""
    halt = outcomes[0]
    rules = compiled.rules
    violated = violated_rules(compiled, outcomes)
    hard = [v for v in violated if not v.rule.preference]
    criteria = compiled.options.criteria
    exempt = {id(v): e for v in hard if (e := find_exemption(criteria, v)) is not None}
    held = [v for v in hard if id(v) not in exempt]
    listed = _listed(compiled, held)
    counted = [v for v in held if criteria.counts_unless_exempt(v.rule, v.blame)]
    executable = Worlds.NONE if halt.failures else Worlds.ALL
    goal = Worlds.ALL if halt.goal is True else Worlds.NONE
    safe = Worlds.ALL
    if any(["halt" in v.readings for v in counted]):
        safe = Worlds.NONE
    elif compiled.engine.leaves_undecided(halt.undecided, criteria) or halt.limit is not None:
        safe = Worlds.UNKNOWN
    if halt.limit is not None and not halt.failures:
        executable = goal = Worlds.UNKNOWN
    rule_counts = _counts(compiled, halt, violated)
    checked = any(count.instances and criteria.can_decide(rule) for count, rule in zip(rule_counts, rules, strict=True))
    headline = _headline(executable, goal, safe, checked)
    if listed or halt.failures or halt.goal is not True or halt.undecided:
        findings, suppressed = write_findings(compiled, plan, read, outcomes, listed)
    else:
        findings, suppressed = (), 0
    diagnostics = list(compiled.diagnostics)
    if compiled.options.require_rules and not checked:
        diagnostics.append(
            Diagnostic(
                SC.NOTHING_TO_CHECK,
                "no rule had anything to check",
                help="give a specification with --spec, or remove --require-rules",
            )
        )
    if halt.limit is not None:
        diagnostics.append(
            Diagnostic(
                halt.limit.code,
                halt.limit.message,
                severity=Severity.WARNING,
                help="not checked beyond this point",
            )
        )
    soft = _preferences(halt, violated)
    return Report(
        plan.name,
        headline,
        executable,
        goal,
        safe,
        halt.steps,
        findings,
        rule_counts,
        tuple([_reading(compiled, o, counted) for o in outcomes]) if halt.failures else (),
        tuple(diagnostics),
        _metric(compiled, halt, soft),
        tuple(sorted(soft.items())),
        _assumptions(compiled, read, len(held) - len(listed)),
        limits=(halt.limit.message,) if halt.limit else (),
        suppressed=suppressed,
        verdict_basis=_decided(criteria, held)._replace(
            exempted=_exempted(compiled, plan, read, outcomes, hard, exempt)
        ),
    )


def _listed(compiled: CompiledTask, hard: list[MergedViolation]) -> list[MergedViolation]:
    """What is listed: what ``blame`` says, else all but what was there before where that decides nothing."""
    blame = compiled.options.blame
    if blame:
        return [v for v in hard if v.blame in blame]
    return [v for v in hard if v.blame != "pre-existing"] if compiled.options.criteria.only_introduced else hard


def _decided(criteria: VerdictCriteria, hard: list[MergedViolation]) -> VerdictBasis:
    """What decided, and how much was found under *halt* that did not."""
    idle = [v for v in hard if "halt" in v.readings and not criteria.counts_unless_exempt(v.rule, v.blame)]
    before = len([v for v in idle if criteria.only_introduced and v.blame == "pre-existing"])
    return VerdictBasis(criteria, before, len(idle) - before)


def find_exemption(criteria: VerdictCriteria, violated: MergedViolation) -> Exemption | None:
    """The exemption that keeps a violation from deciding, if nothing else does."""
    if not criteria.exemptions or not criteria.counts_unless_exempt(violated.rule, violated.blame):
        return None
    return criteria.find_exemption(violated.rule.name, [name for _, name in violated.binding])


def _exempted(
    compiled: CompiledTask,
    plan: Source,
    read: ResolvedPlan | None,
    outcomes: list[Outcome],
    hard: list[MergedViolation],
    exempt: dict[int, Exemption],
) -> tuple[UsedExemption, ...]:
    """The exemptions that were used, in their order, with what was found in any reading."""
    out = []
    for exemption in compiled.options.exemptions:
        own = [v for v in hard if exempt.get(id(v)) is exemption]
        if own:
            out.append(UsedExemption(exemption, len(own), write_exempt(compiled, plan, read, outcomes, own)))
    return tuple(out)


def out_of_time(compiled: CompiledTask, plan: Source) -> Report:
    """The report when the time limit has passed: nothing is claimed."""
    limit = f"time limit of {compiled.options.time_limit_s:g} s"
    diagnostic = Diagnostic(
        SC.OUT_OF_TIME, f"the {limit} has passed", severity=Severity.WARNING, help="raise it with --time-limit"
    )
    report = unjudged(plan.name, *compiled.diagnostics, diagnostic, headline=Headline.UNKNOWN)
    return report._replace(limits=(limit,))


def ill_formed_is_unknown(report: Report) -> Report:
    """The same. Whether a plan with an ill-formed step is safe is unknown (docs/language.md, section 6)."""
    if not report.has_applicable_rules or not any(
        [f.finding_class is FindingClass.ILL_FORMED for f in report.findings]
    ):
        return report
    known = (Worlds.NONE, Worlds.UNKNOWN)
    readings = [r if r.safe in known else r._replace(safe=Worlds.UNKNOWN) for r in report.readings]
    safe = report.safe if report.safe in known else Worlds.UNKNOWN
    return report._replace(safe=safe, readings=tuple(readings))


def with_time_notes(
    compiled: CompiledTask, plan: Source, read: ResolvedPlan, report: Report, forgiven: Collection[int] = ()
) -> Report:
    """A report with notes on the times of a plan: what means nothing, and what was forgiven."""
    from plansafe.verifier.reporting.plan_notes import notes  # noqa: PLC0415 - for timed plans alone

    found = notes(plan, read, compiled.tolerance(read), forgiven)
    return report._replace(diagnostics=(*report.diagnostics, *found))


def _headline(executable: Worlds, goal: Worlds, safe: Worlds, checked: bool) -> Headline:
    if Worlds.NONE in (executable, goal):
        return Headline.INVALID
    if safe is Worlds.NONE:
        return Headline.UNSAFE
    if Worlds.UNKNOWN in (executable, goal, safe):
        return Headline.UNKNOWN
    return Headline.SAFE if checked else Headline.VALID


def violated_rules(compiled: CompiledTask, outcomes: list[Outcome]) -> list[MergedViolation]:
    """Violations of all readings: one for each rule, binding and step."""
    if not any([outcome.violations for outcome in outcomes]):
        return []
    task, parts = compiled.task, compiled.engine.rule_set.parts
    found: dict[tuple[object, ...], MergedViolation] = {}
    for outcome in outcomes:
        for violation in outcome.violations:
            part = parts[violation.part]
            rule = compiled.rules[part.rule]
            names = shown_names([v.name for v in part.parameters])
            binding = tuple(sorted(zip(names, task.names(violation.binding), strict=True)))
            key = (part.rule, binding, violation.step)
            known = found.get(key)
            if known is None:
                found[key] = MergedViolation(violation, rule, part, binding, (outcome.reading,), violation.blame)
                continue
            readings = known.readings if outcome.reading in known.readings else (*known.readings, outcome.reading)
            blame = known.blame
            if outcome.reading == known.readings[0]:  # another part of the rule, in the same reading
                blame = min(blame, violation.blame, key=_BLAMES.index)
            found[key] = known._replace(readings=readings, blame=blame)
    return list(found.values())


def rule_counts(compiled: CompiledTask, outcome: Outcome) -> tuple[RuleCount, ...]:
    """How much of each rule was checked, and with what result, by one outcome alone."""
    return _counts(compiled, outcome, violated_rules(compiled, [outcome]))


def _counts(compiled: CompiledTask, halt: Outcome, violated: list[MergedViolation]) -> tuple[RuleCount, ...]:
    parts = compiled.engine.rule_set.parts
    unsure = {parts[part].rule for part, _ in halt.undecided}
    broken: dict[int, int] = {}
    lived_with: dict[int, int] = {}
    criteria = compiled.options.criteria
    for v in violated:
        if "halt" in v.readings and not (criteria.only_introduced and v.blame == "pre-existing"):
            where = broken if find_exemption(criteria, v) is None else lived_with
            where[v.part.rule] = where.get(v.part.rule, 0) + 1
    quiet = _QUIET.get(compiled.engine)
    if quiet is None:
        numbers = range(len(compiled.rules))
        quiet = _Quiet(halt.matches, halt.touches, tuple([_count(compiled, halt, number, "") for number in numbers]))
        _QUIET[compiled.engine] = quiet
    status = {
        **dict.fromkeys(lived_with, "exempt"),
        **dict.fromkeys(unsure, "undecided"),
        **dict.fromkeys(broken, "violated"),
    }
    others = set(status)
    for seen, before in ((halt.matches, quiet.matches), (halt.touches, quiet.touches)):
        if len(seen) != len(before):
            others.update(range(len(compiled.rules)))
        elif seen != before:
            others.update([n for n, (now, then) in enumerate(zip(seen, before, strict=True)) if now != then])
    out = list(quiet.rule_counts)
    for number in others:
        out[number] = _count(
            compiled, halt, number, status.get(number, ""), broken.get(number, 0), lived_with.get(number, 0)
        )
    return tuple(out)


class _Quiet(NamedTuple):
    """What is said of each rule where none is violated, and the matches and touches for which that was counted."""

    matches: tuple[int, ...]
    touches: tuple[int, ...]
    rule_counts: tuple[RuleCount, ...]


_QUIET: WeakKeyDictionary[Engine, _Quiet] = WeakKeyDictionary()
"""Of each task, what is said of its rules: a plan concerns a few of the hundreds that there may be."""


def _count(
    compiled: CompiledTask, halt: Outcome, number: int, status: str, violations: int = 0, exempted: int = 0
) -> RuleCount:
    """How much of one rule was checked; the ``status`` is empty where nothing was found."""
    rule = compiled.rules[number]
    instances = halt.matches[number] if rule.step_patterns else compiled.bindings[number]
    touches = halt.touches[number] if halt.touches else 0
    if not rule.applicable:
        status = "not applicable"
    elif status == "violated" and rule.preference:
        status = "preference violated"
    elif not status:
        status = "kept" if instances else "never applied"
    applicable = compiled.bindings[number] > 0
    return RuleCount(
        rule.name, rule.kind, rule.source, instances, touches, violations, status, rule.severity, exempted, applicable
    )


def _reading(compiled: CompiledTask, outcome: Outcome, counted: list[MergedViolation]) -> Reading:
    bad = any([outcome.reading in v.readings for v in counted])
    unknown = compiled.engine.leaves_undecided(outcome.undecided, compiled.options.criteria) or outcome.limit
    safe = Worlds.NONE if bad else Worlds.UNKNOWN if unknown else Worlds.ALL
    return Reading(outcome.reading, outcome.executed, Worlds.ALL if outcome.goal is True else Worlds.NONE, safe)


def _preferences(halt: Outcome, violated: list[MergedViolation]) -> dict[str, int]:
    """How often each preference is violated: once for each binding of the quantifiers around it."""
    soft = dict(halt.preference_violations)
    bindings: dict[tuple[int, str], set[tuple[str, ...]]] = {}
    for v in violated:
        if v.rule.preference and "halt" in v.readings:
            values = dict(v.binding)
            around = tuple([values[name] for name in shown_names([p.name for p in v.rule.declared])])
            bindings.setdefault((v.part.rule, v.rule.name), set()).add(around)
    for (_, name), found in bindings.items():
        soft[name] = soft.get(name, 0) + len(found)
    return soft


def _metric(compiled: CompiledTask, halt: Outcome, soft: dict[str, int]) -> str | None:
    from plansafe.verifier.model.evaluation import UndefinedNumber, apply_operator  # noqa: PLC0415 - where a metric is evaluated

    task = compiled.task
    if task.metric is None or halt.failures or halt.limit is not None:
        return None

    def value(expression: model.Expression) -> Number:
        match expression:
            case model.Constant():
                return expression.value
            case model.Fluent():
                code = task.encode(expression.arguments)
                if code not in halt.state.fluents[expression.function]:
                    raise UndefinedNumber("a fluent of the metric has no value")
                return halt.state.fluents[expression.function][code]
            case model.Arithmetic():
                return apply_operator(expression.operator, [value(o) for o in expression.operands])
            case model.TotalTime():
                return halt.end
            case model.IsViolated():
                return soft.get(expression.preference, 0)
            case model.Duration():
                raise UndefinedNumber("not a metric")
            case _:
                assert_never(expression)

    try:
        return str(value(task.metric.expression))
    except UndefinedNumber:
        return None


def _assumptions(compiled: CompiledTask, read: ResolvedPlan | None, hidden: int) -> tuple[str, ...]:
    out = ["facts that are not listed in the initial state are false (closed world)"]
    if read is not None and read.timed is not None:
        out.append(f"time tolerance {float(compiled.options.tolerance):g}")
    if compiled.options.blame:
        blamed = " or ".join(compiled.options.blame)
        out.append(f"only violations that are {blamed} are listed; {hidden} others are not")
    if compiled.options.lenient_types:
        out.append("types are lenient: mismatches are warnings")
    return tuple(out)
