"""Repair and diagnose plans for every interface: one :class:`Examined` for each plan.

The verifier implements the search, the error classes and the localisation. This module checks the request and writes
the text of the repaired plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.session.audit import Session
from plansafe.app.session.diagnosis import Examined, causal_graph, causes, located, published_label
from plansafe.app.session.model import Prepared, Result, Settings
from plansafe.app.session.plan_patch import patched
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.model import RepairOptions, RepairResult, RepairStatus, SameUse, Weights
from plansafe.verifier.repair.plan_purpose import PurposeHints
from plansafe.verifier.reporting.report import Blame, Headline, Report, make_unchecked_report
from plansafe.verifier.rules.verdict_criteria import SEVERITIES, VerdictCriteria

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker
    from plansafe.verifier.execution.plan_steps import ResolvedPlan

_GRACE = 60.0
"""Seconds for loading, replay and explanation, in addition to the time of the search."""
_UNJUDGED = "the audit ended at one of its limits"
_SAFE = (Headline.SAFE, Headline.VALID)


class ExaminationOptions(NamedTuple):
    """Parts of an examination.

    ``options``: options of the search for repairs. ``classes``: determine the error classes. ``where``: locate the
    errors; with ``reference`` (a path), the first step that differs from that plan, and with ``regret`` the added cost
    of each step. ``causes``: find the minimal cause of each finding. ``graph``: draw the causal structure. ``labels``:
    one of :data:`~plansafe.app.session.diagnosis.LABELS`; determine only this label. ``after``: audit the repaired
    plan. ``progress``: called during the search with the lower bound of the cost and the number of expanded nodes.
    """

    options: RepairOptions = RepairOptions()
    classes: bool = True
    where: bool = False
    reference: str | None = None
    regret: bool = False
    causes: bool = False
    graph: bool = False
    labels: str | None = None
    after: bool = False
    progress: Callable[[Number, int], None] | None = None


def examine(
    plans: Iterable[str | Source],
    settings: Settings | None = None,
    wishes: ExaminationOptions | None = None,
    *,
    session: Session | None = None,
    seconds: float | None = None,
) -> Iterator[Examined]:
    """Diagnose each plan and search for its cheapest repair.

    Plans and settings are as in :func:`plansafe.app.session.audit.audit`. A task with several possible worlds is an
    error (SC507). The search is exponential in the cost of the repair; ``wishes.options`` limit it. ``session`` (with
    the same ``settings``) keeps compiled tasks for the next call. ``seconds`` limit the whole examination of a plan.
    """
    settings, wishes = settings or Settings(), wishes or ExaminationOptions()
    used_session = Session(settings) if session is None else session
    limit = wishes.options.time_limit_s
    if seconds is None:
        seconds = 4 * limit + _GRACE if limit else 0.0

    def work(prepared: Prepared) -> Examined:
        repair_options = with_purpose(wishes.options, prepared, settings.world)
        return examined(used_session, prepared, wishes._replace(options=repair_options))

    for outcome in used_session.process(plans, work, seconds):
        yield _ended(outcome, wishes.options) if isinstance(outcome, Result) else outcome


def _ended(result: Result, options: RepairOptions) -> Examined:
    """The examination of a plan that ended early; at a limit, the repair is NOT FOUND."""
    if result.report.headline is not Headline.UNKNOWN:
        return Examined(result)
    not_found = RepairResult(RepairStatus.NOT_FOUND, detail="; ".join([d.message for d in result.report.diagnostics]))
    return Examined(result, repair=not_found, outcome=_outcome(not_found, options, result.report))


def examined(session: Session, prepared: Prepared, wishes: ExaminationOptions) -> Examined:
    """Examine a prepared plan, like :func:`examine`."""
    checker, plan = prepared.checker, prepared.plan
    read = checker.read(plan)
    if checker.compiled.explain_refusal("the search for repairs", read) is not None and not read.text.diagnostics:
        return Examined(session.result(prepared, make_unchecked_report(plan.name, many_worlds(checker, read))))
    if (missing_rules := session.missing_rules(checker)) is not None:
        return Examined(session.result(prepared, make_unchecked_report(plan.name, missing_rules)))
    if prepared.remarks and (result := session.audit(prepared)).report.headline is Headline.UNKNOWN:
        text = "the text of the plan was not fully understood, so it is not repaired"
        advice = "read the remark; pass --accept-remarks if it is harmless, otherwise ask for the final plan"
        refused = Diagnostic(SC.NO_REPAIR_FOUND, text, help=advice)
        return Examined(result, repair=RepairResult(RepairStatus.NOT_FOUND, detail=text), outcome=refused)
    if wishes.labels is not None:
        return _labelled(session, prepared, wishes.labels)
    reference = session.reference(wishes.reference, prepared) if wishes.reference is not None else None
    problems = [*checker.diagnostics, *read.text.diagnostics] if read.text.diagnostics else []
    problems += _protection_problems(plan, read, wishes.options.protected) if not problems else []
    problems += reference if isinstance(reference, tuple) else ()
    if problems:
        return Examined(session.result(prepared, make_unchecked_report(plan.name, *problems)))
    original = tuple(["(" + " ".join(step.tokens) + ")" for step in read.text.steps])
    examination = _repaired(session, prepared, read, wishes)._replace(original=original)
    if wishes.where and not isinstance(reference, tuple) and not checker.options.criteria.has_partial_exemptions:
        examination = examination._replace(
            where=located(prepared, reference, wishes.regret, wishes.options.time_limit_s)
        )
    if wishes.after and examination.best is not None and examination.text is not None:
        prepared_repair = session.prepare(Source(prepared.inputs[0].source.name, examination.text))
        examination = examination._replace(
            after=prepared_repair if isinstance(prepared_repair, Result) else session.audit(prepared_repair)
        )
    return examination


def with_purpose(options: RepairOptions, prepared: Prepared, world_name: str | None) -> RepairOptions:
    """Make repairs of a plan without a goal keep what the plan is for (docs/repair.md).

    In a home world, objects of the same use may replace each other. If it names main actions and the task has no goal,
    replacing or moving a step costs 2 unless the user gives other weights: it changes the purpose.
    """
    checker = prepared.checker
    if not checker.ok:
        return options
    actions: frozenset[str] = frozenset()
    if world_name is not None:
        from plansafe.domains.objects.uses import group_by_use  # noqa: PLC0415 - most plans belong to no home world
        from plansafe.domains.worlds import world  # noqa: PLC0415 - as above

        benchmark = world(world_name)
        actions = benchmark.purposes
        task = checker.engine.task
        types = [" ".join([task.type_names[t] for t in types[:1]]) for types in task.object_types]
        groups = group_by_use(zip(task.objects, types, strict=True), benchmark.name)
        options = options._replace(same_use=tuple([SameUse(use, objects) for use, objects in groups]))
    if checker.engine.task.goal:
        return options
    weights = Weights(substitute=2, move=2) if actions and options.weights == Weights() else options.weights
    hints = PurposeHints(actions, prepared.title, prepared.description)
    return options._replace(weights=weights, purpose_hints=hints)


def many_worlds(checker: Checker, read: ResolvedPlan, operation: str = "the search for repairs") -> Diagnostic:
    """The error for several possible worlds or continuous time, which ``operation`` does not support."""
    refused = checker.compiled.explain_refusal(operation, read)
    assert refused is not None
    where = "" if checker.engine.task.is_continuous else " in all possible worlds"
    return refused._replace(severity=Severity.ERROR, help=f"`safecheck audit` checks the plan{where}")


def _labelled(session: Session, prepared: Prepared, scheme: str) -> Examined:
    result = session.audit(prepared)
    label = published_label(prepared, scheme)
    if isinstance(label, Diagnostic):
        return Examined(result, repair=RepairResult(RepairStatus.NOT_FOUND, detail=label.message), outcome=label)
    return Examined(result, label=label)


def _repaired(session: Session, prepared: Prepared, read: ResolvedPlan, wishes: ExaminationOptions) -> Examined:
    """Search for repairs, and diagnose the plan if requested."""
    checker, plan = prepared.checker, prepared.plan
    if read.timed is not None:
        result = session.audit(prepared)
        if result.report.headline in _SAFE:
            return Examined(result, repair=RepairResult(RepairStatus.ALREADY_SAFE), text=plan.text)
        timed = Diagnostic(SC.TIMED_REPAIR, "plans whose steps have times are not repaired")
        unsupported = RepairResult(RepairStatus.NOT_FOUND, detail=timed.message)
        return Examined(result, repair=unsupported, outcome=timed)
    if not wishes.classes:
        from plansafe.verifier.repair.api import repair  # noqa: PLC0415 - loads the search

        report = checker.check(plan)
        if report.headline is Headline.UNKNOWN and report.limits:
            # Do not audit again: a second audit could end within the limits, with another verdict.
            search_result = RepairResult(RepairStatus.NOT_FOUND, detail=_UNJUDGED)
            outcome = _outcome(search_result, wishes.options, report)
            return Examined(session.result(prepared, report), repair=search_result, outcome=outcome)
        search_result = repair(checker, plan, wishes.options, wishes.progress)
        return _with_text(Examined(session.result(prepared, report), repair=search_result), prepared, wishes.options)
    from plansafe.verifier.diagnose.api import diagnose  # noqa: PLC0415 - loads the search

    diagnosis = diagnose(checker, plan, wishes.options, wishes.progress)
    graph = causal_graph(prepared, read, diagnosis) if wishes.graph else None
    if isinstance(graph, Diagnostic):
        prepared, graph = prepared._replace(notes=(*prepared.notes, graph)), None
    finding_causes = causes(prepared, diagnosis.report) if wishes.causes else ()
    result = session.result(prepared, diagnosis.report)
    examination = Examined(result, (), diagnosis.repair, diagnosis.witnesses, causes=finding_causes, graph=graph)
    return _with_text(examination, prepared, wishes.options)


def _with_text(done: Examined, prepared: Prepared, options: RepairOptions) -> Examined:
    """Add the text of the repaired plan, or the reason for a missing repair."""
    assert done.repair is not None
    checker, plan = prepared.checker, prepared.plan
    if done.repair.status is RepairStatus.ALREADY_SAFE:
        return done._replace(text=plan.text if prepared.write is None else prepared.inputs[0].source.text)
    if done.best is None:
        return done._replace(outcome=_outcome(done.repair, options, done.result.report))
    if prepared.write is not None:  # the writer has checked its text
        return done._replace(text=prepared.write(prepared, done.best))
    text = patched(plan, done.best)
    verdict = checker.check(Source(plan.name, text))
    if verdict.headline is Headline.UNKNOWN and verdict.limits:
        unaudited = RepairResult(RepairStatus.NOT_FOUND, bound=done.repair.bound, detail=_UNJUDGED)
        return done._replace(repair=unaudited, outcome=_outcome(unaudited, options, done.result.report))
    if verdict.headline not in _SAFE:
        raise RuntimeError(f"a repair of {plan.name} was {verdict.headline} when its text was read again")
    return done._replace(text=text)


def _outcome(repair_result: RepairResult, options: RepairOptions, report: Report) -> Diagnostic | None:
    """The diagnostic for a missing repair."""
    notes = (repair_result.detail,) if repair_result.detail else ()
    pre_existing = [finding for finding in report.findings if finding.blame is Blame.PRE_EXISTING]
    criteria = report.verdict_basis.criteria
    if pre_existing and not criteria.ignores_preexisting:
        count_text = "1 finding was" if len(pre_existing) == 1 else f"{len(pre_existing)} findings were"
        notes = (
            *notes,
            f"{count_text} already in the initial state; with --judge all, a repair must also fix such findings",
        )
    if repair_result.status is RepairStatus.PROVED_NONE:
        protection = " and keeps the protected steps" if options.protected else ""
        text = f"PROVED: no plan reaches the goal{',' if protection else ' and'} {harmless(criteria)}{protection}"
        advice = "change the goal, the rules or the problem" + (", or protect fewer steps" if protection else "")
        return Diagnostic(SC.NO_REPAIR_EXISTS, text, notes=notes, help=advice)
    if repair_result.status is RepairStatus.NOT_FOUND and criteria.has_partial_exemptions:
        advice = "leave `kind` and `object` out of the exemptions of the profile, or name another with --home"
        return Diagnostic(SC.NO_REPAIR_FOUND, repair_result.detail, help=advice)
    if repair_result.status is RepairStatus.NOT_FOUND:
        bound = (
            f"no repair costs less than {float(repair_result.bound):g}" if repair_result.bound else "there may be one"
        )
        text = f"no repair was found within the limits; {bound}"
        return Diagnostic(SC.NO_REPAIR_FOUND, text, notes=notes, help=_advice(options))
    return None


def _advice(options: RepairOptions) -> str:
    """The help of a diagnostic about a search that ended at a limit."""
    if options.max_work is not None:
        return "`safecheck repair` searches until its time limit"
    cost = "" if options.max_cost is None else "raise --max-cost or leave it out, or "
    return f"{cost}raise --time-limit"


def harmless(criteria: VerdictCriteria) -> str:
    """Describe a safe plan for the rules and severities that affect the verdict."""
    severity_text = (
        "" if criteria.is_severe_enough(SEVERITIES[-1]) else f" of severity `{criteria.min_severity}` or above"
    )
    exception = " (apart from exemptions)" if criteria.exemptions else ""
    demand = (
        f"introduces or worsens no violation{severity_text}"
        if criteria.ignores_preexisting
        else f"keeps the rules{severity_text}"
    )
    return demand + exception


def _protection_problems(plan: Source, read: ResolvedPlan, protected: frozenset[int]) -> list[Diagnostic]:
    """Errors for protected steps that do not exist or are ill-formed."""
    from plansafe.verifier.execution.steps import IllFormed  # noqa: PLC0415 - the engine is loaded by now

    size = len(read.spans)
    problems: list[Diagnostic] = []
    for number in sorted(protected):
        if number > size:
            label = (Label(plan.name, read.spans[-1], f"the last step is step {size}"),) if size else ()
            steps = f"{size or 'no'} step{'' if size == 1 else 's'}"
            return [*problems, Diagnostic(SC.BAD_OPTION, f"--protect {number}: the plan has {steps}", label)]
        step = read.steps[number - 1]
        if isinstance(step, IllFormed):
            label = (Label(plan.name, read.spans[number - 1], step.message),)
            problems.append(Diagnostic(SC.BAD_OPTION, f"--protect {number}: an ill-formed step cannot be kept", label))
    return problems
