"""Repairs and diagnoses for every door: plans and wishes in, one :class:`Examined` for each plan out.

The search, the classes and the localisation are the verifier's; here are the checks of what the user asked for, and
the text of the repaired plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.patch import patched
from plansafe.app.service import Prepared, Result, Session, Settings, unjudged
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.diagnose.model import Witness
from plansafe.verifier.model import Number
from plansafe.verifier.repair.model import EditKind, Repair, RepairOptions, RepairResult, RepairStatus, Weights
from plansafe.verifier.report import Headline, Report

if TYPE_CHECKING:
    from plansafe.verifier.api import ReadSteps
    from plansafe.verifier.diagnose.cause import Cause
    from plansafe.verifier.diagnose.labels import PublishedLabel
    from plansafe.verifier.diagnose.model import Diagnosis

_EXIT_CODES = {
    RepairStatus.ALREADY_SAFE: 0,
    RepairStatus.FOUND: 0,
    RepairStatus.PROVED_NONE: 1,
    RepairStatus.NOT_FOUND: 3,
}
_NUMBER = re.compile(r"(?:\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})\Z")
_GRACE = 60.0
"""Seconds that loading, replaying and explaining may take beside the search, before all is given up."""
_CAUSES_S = 20.0
"""Seconds for the causes of all findings of a plan; what is not proved to be minimal by then is said not to be."""
_SAFE = (Headline.SAFE, Headline.VALID)


LABELS = ("safel", "eai-virtualhome", "eai-behavior")
"""The published schemes of one label for each plan (docs/labels.md)."""


class Wishes(NamedTuple):
    """What to find out about a plan.

    ``options``: how to search for repairs. ``classes``: tell the classes of error. ``causes``: find the minimal cause
    of each finding. ``graph``: draw the causal structure. ``labels``: one of :data:`LABELS`; then only that label is
    found out.
    """

    options: RepairOptions = RepairOptions()
    classes: bool = True
    causes: bool = False
    graph: bool = False
    labels: str | None = None


class Because(NamedTuple):
    """Why a finding (an index into those of the report): its minimal cause, or ``None`` and the reason in ``text``."""

    finding: int
    text: str
    cause: Cause | None = None


class Examined(NamedTuple):
    """What came of one plan.

    ``result`` is the audit of the original; ``original`` its steps as text. Where the plan could not be examined,
    ``repair`` is ``None`` and ``result`` says why. ``text`` is the repaired plan in the author's layout, itself
    replayed and found SAFE or VALID; of a plan that was safe already, the plan.
    ``outcome`` says why there is no repair. ``graph`` is DOT text.
    """

    result: Result
    original: tuple[str, ...] = ()
    repair: RepairResult | None = None
    witnesses: tuple[Witness, ...] = ()
    text: str | None = None
    outcome: Diagnostic | None = None
    label: PublishedLabel | None = None
    graph: str | None = None
    causes: tuple[Because, ...] = ()

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
    plans: Iterable[str | Source], settings: Settings | None = None, wishes: Wishes | None = None
) -> Iterator[Examined]:
    """Look for the nearest safe plan of each plan, and say what is wrong with it.

    Plans are given as to :func:`plansafe.app.service.audit`, whose settings say what to check with. The search is
    exponential in the cost of the repair; ``wishes.options`` bound it.
    """
    settings, wishes = settings or Settings(), wishes or Wishes()
    session = Session(settings)
    limit = wishes.options.time_limit_s
    seconds = 2 * limit + _GRACE if limit else 0.0

    def work(prepared: Prepared) -> Examined:
        return _examine(session, prepared, wishes)

    for done in session.each(plans, work, seconds):
        yield Examined(done) if isinstance(done, Result) else done


def _examine(session: Session, prepared: Prepared, wishes: Wishes) -> Examined:
    checker, plan = prepared.checker, prepared.plan
    read = checker.read(plan)
    if wishes.labels is not None:
        return _labelled(session, prepared, wishes.labels)
    if read.text.diagnostics:
        return Examined(session.result(prepared, unjudged(plan.name, *checker.diagnostics, *read.text.diagnostics)))
    problem = _protection_problem(plan, read, wishes.options.protected)
    if problem is not None:
        return Examined(session.result(prepared, unjudged(plan.name, problem)))
    original = tuple(["(" + " ".join(step.tokens) + ")" for step in read.text.steps])
    if read.timed is not None:
        result = session.audit(prepared)
        if result.report.headline in _SAFE:
            return Examined(result, original, RepairResult(RepairStatus.ALREADY_SAFE), text=plan.text)
        timed = Diagnostic("SC803", "plans whose steps have times are not repaired")
        unsupported = RepairResult(RepairStatus.NOT_FOUND, detail=timed.message)
        return Examined(result, original, unsupported, outcome=timed)
    graph = None
    causes: tuple[Because, ...] = ()
    if wishes.classes:
        from plansafe.verifier.diagnose.api import diagnose  # noqa: PLC0415 - loads the search

        diagnosis = diagnose(checker, plan, wishes.options)
        report, found, witnesses = diagnosis.report, diagnosis.repair, diagnosis.witnesses
        if wishes.graph:
            prepared, graph = _drawn(prepared, read, diagnosis)
        if wishes.causes:
            causes = _causes(prepared, report)
    else:
        from plansafe.verifier.repair.api import repair  # noqa: PLC0415 - loads the search

        report, found, witnesses = checker.check(plan), repair(checker, plan, wishes.options), ()
    result = session.result(prepared, report)
    if found.status is RepairStatus.ALREADY_SAFE:
        return Examined(result, original, found, witnesses, plan.text, graph=graph)
    text = None
    if found.repairs:
        text = patched(plan, found.repairs[0])
        verdict = checker.check(Source(plan.name, text))
        if verdict.headline not in _SAFE:
            raise RuntimeError(f"a repair of {plan.name} was {verdict.headline} when its text was read again")
    return Examined(result, original, found, witnesses, text, _outcome(found, wishes.options), None, graph, causes)


def _labelled(session: Session, prepared: Prepared, scheme: str) -> Examined:
    from plansafe.verifier.diagnose.labels import NoLabel, safel_label  # noqa: PLC0415 - for this wish alone
    from plansafe.verifier.diagnose.labels_eai import eai_label  # noqa: PLC0415

    checker, plan = prepared.checker, prepared.plan
    result = session.audit(prepared)
    try:
        match scheme:
            case "safel":
                label = safel_label(checker, plan)
            case "eai-behavior":
                label = eai_label(checker, plan, "behavior")
            case _:
                label = eai_label(checker, plan)
    except NoLabel as reason:
        none = Diagnostic("SC803", f"no published label: {reason}")
        unsupported = RepairResult(RepairStatus.NOT_FOUND, detail=none.message)
        return Examined(result, repair=unsupported, outcome=none)
    return Examined(result, label=label)


def _drawn(prepared: Prepared, read: ReadSteps, diagnosis: Diagnosis) -> tuple[Prepared, str | None]:
    """The causal structure as DOT text, or why there is none."""
    from plansafe.verifier.diagnose.causal import causal_structure  # noqa: PLC0415 - for this wish alone
    from plansafe.verifier.diagnose.graph import dot  # noqa: PLC0415
    from plansafe.verifier.diagnose.links import NotCovered  # noqa: PLC0415

    try:
        return prepared, dot(causal_structure(prepared.checker, read.steps), diagnosis, initial=False)
    except NotCovered as reason:
        warning = Diagnostic("SC803", f"no graph: {reason}", severity=Severity.WARNING)
        return prepared._replace(notes=(*prepared.notes, warning)), None


def _causes(prepared: Prepared, report: Report) -> tuple[Because, ...]:
    from plansafe.verifier.diagnose.cause import minimal_cause  # noqa: PLC0415 - for this wish alone
    from plansafe.verifier.diagnose.links import NotCovered  # noqa: PLC0415

    out = []
    late = monotonic() + _CAUSES_S
    for number, finding in enumerate(report.findings):
        seconds = max(0.0, late - monotonic()) / (len(report.findings) - number)
        try:
            cause = minimal_cause(prepared.checker, prepared.plan, finding, time_limit_s=min(seconds, 2.0))
            out.append(Because(number, cause.text, cause))
        except NotCovered as reason:
            out.append(Because(number, f"no cause is known: {reason}"))
    return tuple(out)


def _outcome(found: RepairResult, options: RepairOptions) -> Diagnostic | None:
    """Why there is no repair, as a diagnostic."""
    notes = (found.detail,) if found.detail else ()
    if found.status is RepairStatus.PROVED_NONE:
        kept = " and keeps the protected steps" if options.protected else ""
        text = f"PROVED: no plan reaches the goal, keeps the rules{kept}"
        advice = "change the goal, the rules or the problem" + (", or protect fewer steps" if kept else "")
        return Diagnostic("SC802", text if kept else text.replace(", keeps", " and keeps"), notes=notes, help=advice)
    if found.status is RepairStatus.NOT_FOUND:
        bound = f"none costs less than {float(found.bound):g}" if found.bound else "there may be one"
        text = f"no repair was found within the limits; {bound}"
        return Diagnostic("SC801", text, notes=notes, help="raise --time-limit or --max-cost")
    return None


def _protection_problem(plan: Source, read: ReadSteps, protected: frozenset[int]) -> Diagnostic | None:
    """Say which protected step cannot be kept, because there is none or because it is no step of the domain."""
    from plansafe.verifier.engine.steps import IllFormed  # noqa: PLC0415 - the engine is loaded by now

    size = len(read.spans)
    for number in sorted(protected):
        if not 1 <= number <= size:
            label = (Label(plan.name, read.spans[-1], f"the last step is step {size}"),) if size else ()
            steps = f"{size or 'no'} step{'' if size == 1 else 's'}"
            return Diagnostic("SC607", f"--protect {number}: the plan has {steps}", label)
        step = read.steps[number - 1]
        if isinstance(step, IllFormed):
            label = (Label(plan.name, read.spans[number - 1], step.message),)
            return Diagnostic("SC607", f"--protect {number}: an ill-formed step cannot be kept", label)
    return None


# -- what the user writes ---------------------------------------------------------------------------------------------


class BadOption(Exception):
    """An option has a value that makes no sense."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic("SC607", message, help=help)


def read_weights(text: str) -> Weights:
    """Read ``insert=1,delete=2``. Raises :class:`BadOption`."""
    known = [kind.value for kind in EditKind]
    advice = f"such as {','.join(f'{name}=1' for name in known)}; what is left out is 1"
    weights: dict[str, Number] = {}
    for part in text.split(","):
        name, separator, value = (piece.strip() for piece in part.partition("="))
        if not separator or name not in known or name in weights:
            raise BadOption(f"--weights takes each of {', '.join(known)} once, not {part.strip()!a}", advice)
        weights[name] = read_cost("--weights", value)
    return Weights(**weights)


def read_cost(flag: str, text: str) -> Number:
    """Read a positive number, exactly. Raises :class:`BadOption`."""
    value = Fraction(text) if _NUMBER.match(text) else Fraction(0)
    if value <= 0:
        raise BadOption(f"{flag} takes positive numbers such as 2 or 0.5, not {text!a}")
    return value.numerator if value.denominator == 1 else value


def read_steps(flag: str, texts: Iterable[str]) -> frozenset[int]:
    """Read numbers of steps: ``3``, ``3,5`` or ``3-5``. Raises :class:`BadOption`."""
    steps: set[int] = set()
    for part in [part.strip() for text in texts for part in text.split(",")]:
        match = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part, re.ASCII)
        first = int(match[1]) if match else 0
        last = int(match[2] or match[1]) if match else 0
        if not 1 <= first <= last:
            raise BadOption(f"{flag} takes steps such as 3,5-7, counted from 1, not {part!a}")
        steps.update(range(first, last + 1))
    return frozenset(steps)
