"""Repairs and diagnoses for every door: plans and wishes in, one :class:`Examined` for each plan out.

The search, the classes and the localisation are the verifier's; here are the checks of what the user asked for, and
the text of the repaired plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.session.audit import Session
from plansafe.app.session.diagnosis import Because, causes, drawn, located, published_label
from plansafe.app.session.model import Prepared, Result, Settings
from plansafe.app.session.plan_patch import patched
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.diagnose.model import Witness
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.model import Repair, RepairOptions, RepairResult, RepairStatus, Weights
from plansafe.verifier.reporting.report import Blame, Headline, Report, unjudged
from plansafe.verifier.rules.question import SEVERITIES, Question

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker
    from plansafe.verifier.diagnose.labels import PublishedLabel
    from plansafe.verifier.diagnose.localise import Localisation
    from plansafe.verifier.execution.reading import ReadSteps

_EXIT_CODES = {
    RepairStatus.ALREADY_SAFE: 0,
    RepairStatus.FOUND: 0,
    RepairStatus.PROVED_NONE: 1,
    RepairStatus.NOT_FOUND: 3,
}
_GRACE = 60.0
"""Seconds that loading, replaying and explaining may take beside the search, before all is given up."""
_UNJUDGED = "the audit ended at one of its limits"
_SAFE = (Headline.SAFE, Headline.VALID)


class ExaminationOptions(NamedTuple):
    """What to find out about a plan.

    ``options``: how to search for repairs. ``classes``: tell the classes of error. ``where``: locate where the plan
    went wrong; with ``reference`` (a path), where it leaves that plan, and with ``regret`` what each step cost.
    ``causes``: find the minimal cause of each finding. ``graph``: draw the causal structure. ``labels``: one of
    :data:`~plansafe.app.session.diagnosis.LABELS`; then only that label is found out. ``after``: audit the
    repaired plan. ``progress``: called during a search with the lower bound of the cost, and the expanded nodes.
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


class Examined(NamedTuple):
    """What came of one plan.

    ``result`` is the audit of the original; ``original`` its steps as text. Where the plan could not be examined,
    ``repair`` is ``None`` and ``result`` says why. ``text`` is the repaired plan in the author's layout, itself
    replayed and found SAFE or VALID; of a plan that was safe already, the plan. ``outcome`` says why there is no
    repair. ``graph`` is DOT text. ``after`` is the audit of ``text``.
    """

    result: Result
    original: tuple[str, ...] = ()
    repair: RepairResult | None = None
    witnesses: tuple[Witness, ...] = ()
    text: str | None = None
    outcome: Diagnostic | None = None
    label: PublishedLabel | None = None
    where: Localisation | None = None
    causes: tuple[Because, ...] = ()
    graph: str | None = None
    after: Result | None = None

    @property
    def exit_code(self) -> int:
        """0 a safe plan (or the label asked for), 1 PROVED that there is none, 3 NOT FOUND, 2 unreadable, 4 a bug."""
        if self.label is not None:
            return 0
        return self.result.exit_code if self.repair is None else _EXIT_CODES[self.repair.status]

    @property
    def best(self) -> Repair | None:
        """The first of the repairs."""
        return self.repair.repairs[0] if self.repair is not None and self.repair.repairs else None


def examine(
    plans: Iterable[str | Source],
    settings: Settings | None = None,
    wishes: ExaminationOptions | None = None,
    *,
    session: Session | None = None,
    seconds: float | None = None,
) -> Iterator[Examined]:
    """Look for the nearest safe plan of each plan, and say what is wrong with it.

    Plans are given as to :func:`plansafe.app.session.audit.audit`, whose settings say what to check with. Where
    something is left open, so that there are many worlds, a plan is refused (SC507). The search is exponential in the
    cost of the repair; ``wishes.options`` bound it. ``session`` keeps what is compiled from one call to the next (of
    these ``settings``); after ``seconds`` a plan is given up as a whole.
    """
    settings, wishes = settings or Settings(), wishes or ExaminationOptions()
    at_work = Session(settings) if session is None else session
    limit = wishes.options.time_limit_s
    if seconds is None:
        seconds = 4 * limit + _GRACE if limit else 0.0

    def work(prepared: Prepared) -> Examined:
        if wishes.classes:  # which are those of the least edits
            return examined(at_work, prepared, wishes)
        meant = in_world(wishes.options, prepared.checker, settings.world)
        return examined(at_work, prepared, wishes._replace(options=meant))

    for done in at_work.each(plans, work, seconds):
        yield _ended(done, wishes.options) if isinstance(done, Result) else done


def _ended(result: Result, options: RepairOptions) -> Examined:
    """What is known where the work itself was given up: of a limit, that nothing was found, and nothing ruled out."""
    if result.report.headline is not Headline.UNKNOWN:
        return Examined(result)
    found = RepairResult(RepairStatus.NOT_FOUND, detail="; ".join([d.message for d in result.report.diagnostics]))
    return Examined(result, repair=found, outcome=_outcome(found, options, result.report))


def examined(session: Session, prepared: Prepared, wishes: ExaminationOptions) -> Examined:
    """What :func:`examine` finds out about a plan that is prepared already."""
    checker, plan = prepared.checker, prepared.plan
    read = checker.read(plan)
    if (checker.open or read.open) and not read.text.diagnostics:
        return Examined(session.result(prepared, unjudged(plan.name, many_worlds(checker, read))))
    if (missing := session.missing_rules(checker)) is not None:
        return Examined(session.result(prepared, unjudged(plan.name, missing)))
    if prepared.remarks and (result := session.audit(prepared)).report.headline is Headline.UNKNOWN:
        text = "a plan whose text was not understood is not repaired"
        advice = "read the remark; pass --accept-remarks if it changes nothing, else ask for the final plan"
        refused = Diagnostic(SC.NO_REPAIR_FOUND, text, help=advice)
        return Examined(result, repair=RepairResult(RepairStatus.NOT_FOUND, detail=text), outcome=refused)
    if wishes.labels is not None:
        return _labelled(session, prepared, wishes.labels)
    reference = session.reference(wishes.reference, prepared) if wishes.reference is not None else None
    problems = [*checker.diagnostics, *read.text.diagnostics] if read.text.diagnostics else []
    problems += _protection_problems(plan, read, wishes.options.protected) if not problems else []
    problems += reference if isinstance(reference, tuple) else ()
    if problems:
        return Examined(session.result(prepared, unjudged(plan.name, *problems)))
    original = tuple(["(" + " ".join(step.tokens) + ")" for step in read.text.steps])
    done = _repaired(session, prepared, read, wishes)._replace(original=original)
    if wishes.where and not isinstance(reference, tuple) and not checker.options.question.in_part:
        done = done._replace(where=located(prepared, reference, wishes.regret, wishes.options.time_limit_s))
    if wishes.after and done.best is not None and done.text is not None:
        again = session.prepare(Source(prepared.inputs[0].source.name, done.text))
        done = done._replace(after=again if isinstance(again, Result) else session.audit(again))
    return done


def in_world(options: RepairOptions, checker: Checker, name: str | None) -> RepairOptions:
    """What is asked of a repair in a world: where a plan has no goal, its own steps are all that says what it is for.

    The steps that plans of that world are written for are kept, and, unless the user weighs otherwise, to replace or to
    move a step costs two: what the author meant is lost or comes at another time.
    """
    if name is None or not checker.ok or checker.engine.task.goal:
        return options
    from plansafe.domains.worlds import world  # noqa: PLC0415 - most plans are of no world

    purposes = world(name).purposes
    if not purposes:
        return options
    weights = Weights(substitute=2, move=2) if options.weights == Weights() else options.weights
    return options._replace(weights=weights, purposes=purposes)


def many_worlds(checker: Checker, read: ReadSteps, what: str = "the search for repairs") -> Diagnostic:
    """Why a plan is not repaired or diagnosed where the description leaves something open."""
    refused = checker.compiled.refusal(what, read)
    assert refused is not None
    return refused._replace(severity=Severity.ERROR, help="`safecheck audit` judges the plan over all worlds")


def _labelled(session: Session, prepared: Prepared, scheme: str) -> Examined:
    result = session.audit(prepared)
    label = published_label(prepared, scheme)
    if isinstance(label, Diagnostic):
        return Examined(result, repair=RepairResult(RepairStatus.NOT_FOUND, detail=label.message), outcome=label)
    return Examined(result, label=label)


def _repaired(session: Session, prepared: Prepared, read: ReadSteps, wishes: ExaminationOptions) -> Examined:
    """The search for repairs, and what is said of the plan from it."""
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
        if report.headline is Headline.UNKNOWN and report.limits:  # another look might end within them: which is true?
            found = RepairResult(RepairStatus.NOT_FOUND, detail=_UNJUDGED)
            outcome = _outcome(found, wishes.options, report)
            return Examined(session.result(prepared, report), repair=found, outcome=outcome)
        found = repair(checker, plan, wishes.options, wishes.progress)
        return _with_text(Examined(session.result(prepared, report), repair=found), prepared, wishes.options)
    from plansafe.verifier.diagnose.api import diagnose  # noqa: PLC0415 - loads the search

    diagnosis = diagnose(checker, plan, wishes.options, wishes.progress)
    graph = drawn(prepared, read, diagnosis) if wishes.graph else None
    if isinstance(graph, Diagnostic):
        prepared, graph = prepared._replace(notes=(*prepared.notes, graph)), None
    why = causes(prepared, diagnosis.report) if wishes.causes else ()
    result = session.result(prepared, diagnosis.report)
    done = Examined(result, (), diagnosis.repair, diagnosis.witnesses, causes=why, graph=graph)
    return _with_text(done, prepared, wishes.options)


def _with_text(done: Examined, prepared: Prepared, options: RepairOptions) -> Examined:
    """Add the repaired plan as text, or why there is none."""
    assert done.repair is not None
    checker, plan = prepared.checker, prepared.plan
    if done.repair.status is RepairStatus.ALREADY_SAFE:
        return done._replace(text=plan.text if prepared.write is None else prepared.inputs[0].source.text)
    if done.best is None:
        return done._replace(outcome=_outcome(done.repair, options, done.result.report))
    if prepared.write is not None:  # which has read its text again itself
        return done._replace(text=prepared.write(prepared, done.best))
    text = patched(plan, done.best)
    verdict = checker.check(Source(plan.name, text))
    if verdict.headline is Headline.UNKNOWN and verdict.limits:
        found = RepairResult(RepairStatus.NOT_FOUND, bound=done.repair.bound, detail=_UNJUDGED)
        return done._replace(repair=found, outcome=_outcome(found, options, done.result.report))
    if verdict.headline not in _SAFE:
        raise RuntimeError(f"a repair of {plan.name} was {verdict.headline} when its text was read again")
    return done._replace(text=text)


def _outcome(found: RepairResult, options: RepairOptions, report: Report) -> Diagnostic | None:
    """Why there is no repair, as a diagnostic."""
    notes = (found.detail,) if found.detail else ()
    before = [finding for finding in report.findings if finding.blame is Blame.PRE_EXISTING]
    question = report.decided.question
    if before and not question.introduced:
        was = "1 finding was" if len(before) == 1 else f"{len(before)} findings were"
        notes = (*notes, f"{was} there before the plan began, and a repair has to mend that, too: --judge all")
    if found.status is RepairStatus.PROVED_NONE:
        kept = " and keeps the protected steps" if options.protected else ""
        text = f"PROVED: no plan reaches the goal{',' if kept else ' and'} {harmless(question)}{kept}"
        advice = "change the goal, the rules or the problem" + (", or protect fewer steps" if kept else "")
        return Diagnostic(SC.NO_REPAIR_EXISTS, text, notes=notes, help=advice)
    if found.status is RepairStatus.NOT_FOUND and question.in_part:
        advice = "leave `kind` and `object` out of the exemptions of the profile, or name another with --home"
        return Diagnostic(SC.NO_REPAIR_FOUND, found.detail, help=advice)
    if found.status is RepairStatus.NOT_FOUND:
        bound = f"no repair costs less than {float(found.bound):g}" if found.bound else "there may be one"
        text = f"no repair was found within the limits; {bound}"
        return Diagnostic(SC.NO_REPAIR_FOUND, text, notes=notes, help=_advice(options))
    return None


def _advice(options: RepairOptions) -> str:
    """The help of a diagnostic about a search that ended at a limit."""
    if options.max_work is not None:
        return "`safecheck repair` searches until its time limit"
    cost = "" if options.max_cost is None else "raise --max-cost or leave it out, or "
    return f"{cost}raise --time-limit"


def harmless(question: Question) -> str:
    """What a safe plan does, by what decides."""
    severe = "" if question.reaches(SEVERITIES[-1]) else f" of severity `{question.min_severity}` or above"
    but = " (apart from exemptions)" if question.exemptions else ""
    kept = f"introduces or worsens no violation{severe}" if question.introduced else f"keeps the rules{severe}"
    return kept + but


def _protection_problems(plan: Source, read: ReadSteps, protected: frozenset[int]) -> list[Diagnostic]:
    """Say which protected steps cannot be kept, because there are none or because they are no steps of the domain."""
    from plansafe.verifier.execution.steps import IllFormed  # noqa: PLC0415 - the engine is loaded by now

    size = len(read.spans)
    out: list[Diagnostic] = []
    for number in sorted(protected):
        if number > size:
            label = (Label(plan.name, read.spans[-1], f"the last step is step {size}"),) if size else ()
            steps = f"{size or 'no'} step{'' if size == 1 else 's'}"
            return [*out, Diagnostic(SC.BAD_OPTION, f"--protect {number}: the plan has {steps}", label)]
        step = read.steps[number - 1]
        if isinstance(step, IllFormed):
            label = (Label(plan.name, read.spans[number - 1], step.message),)
            out.append(Diagnostic(SC.BAD_OPTION, f"--protect {number}: an ill-formed step cannot be kept", label))
    return out
