"""The diagnosis of a plan: classes of error with witnesses, from the repairs of least cost (docs/diagnose.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from plansafe.grammar.codes import SC
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.model import Diagnosis, ErrorClass, Witness
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import And, Number
from plansafe.verifier.model.operations import conjuncts
from plansafe.verifier.model.printing import format_formula
from plansafe.verifier.repair.alignments import Alignment
from plansafe.verifier.repair.api import Repairer, find_unsupported_reason
from plansafe.verifier.repair.limited_searches import ProgressCallback
from plansafe.verifier.repair.model import Edit, EditKind, RepairOptions, RepairResult, RepairStatus
from plansafe.verifier.reporting.report import FindingClass, Headline, Report, Worlds
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria
from plansafe.verifier.symbolic.worlds.relaxation import Relaxation

_EDIT_CLASSES = {
    EditKind.INSERT.value: ErrorClass.MISSING,
    EditKind.MOVE.value: ErrorClass.ORDER,
    EditKind.DELETE.value: ErrorClass.ADDITIONAL,
    EditKind.SUBSTITUTE.value: ErrorClass.SUBSTITUTE,
    EditKind.REPLACE.value: ErrorClass.SUBSTITUTE,
}
_TRACE_CLASSES = frozenset((FindingClass.PROCESS, FindingClass.TRAJECTORY, FindingClass.CONSTRAINT))
_FINAL_STATE_CLASSES = frozenset((FindingClass.TERMINATION, FindingClass.OBLIGATION))
MAX_MATCHES = 100_000
"""Maximum number of bindings of an action or effect; with more, no step is reported as impossible."""


def diagnose(
    checker: Checker,
    plan: Source,
    options: RepairOptions = RepairOptions(),  # noqa: B008
    progress: ProgressCallback | None = None,
) -> Diagnosis:
    """Return the error classes of a plan with witnesses and repairs. Takes as long as a repair.

    Raises ``ValueError`` if the checker has errors.
    """
    report = checker.check(plan)
    if report.headline in (Headline.SAFE, Headline.VALID):
        return Diagnosis(plan.name, report, (), RepairResult(RepairStatus.ALREADY_SAFE, optimal=True, complete=True))
    checker = checker.assuming_proposals
    resolved = checker.read(plan)
    reason = find_unsupported_reason(checker, resolved)
    if reason:
        result = RepairResult(RepairStatus.NOT_FOUND, detail=reason)
        witness = _make_not_found_witness(reason)
        if report.headline is None:
            witness = Witness(ErrorClass.GRAMMAR, (), "the plan cannot be read")
        flag_witnesses = _make_flag_witnesses(report, checker.options.criteria)
        return Diagnosis(plan.name, report, (witness, *flag_witnesses), result)
    repairer = Repairer(checker, plan, resolved.steps, options, progress)
    result = repairer.run()
    witnesses = _WitnessFinder(checker, report, repairer, result).find_witnesses()
    return Diagnosis(plan.name, report, tuple(witnesses), result)


class _WitnessFinder:
    """Finds the witnesses of all error classes of a plan."""

    def __init__(self, checker: Checker, report: Report, repairer: Repairer, result: RepairResult) -> None:
        self.checker = checker
        self.report = report
        self.attempt = repairer.last_attempt
        self.result = result
        self.steps = repairer.steps
        self.impossible_step_witnesses: dict[int, Witness] = {}

    def find_witnesses(self) -> list[Witness]:
        """Return all witnesses, in the order of the classes."""
        self._find_impossible_step_witnesses()
        flag_witnesses = _make_flag_witnesses(self.report, self.checker.options.criteria)
        witnesses = [
            *self.impossible_step_witnesses.values(),
            *self._make_edit_witnesses(),
            *flag_witnesses,
            *self._make_repair_failure_witnesses(),
        ]
        error_classes = list(ErrorClass)
        return sorted(witnesses, key=lambda witness: error_classes.index(witness.error))

    def _find_impossible_step_witnesses(self) -> None:
        """Find the witnesses of ill-formed steps, and of steps whose precondition can never hold on their objects."""
        possible = {step.key for repair in self.attempt.ranked_alignments for step in repair.steps}
        suspect_steps: list[tuple[int, GroundAction]] = []
        for number, step in enumerate(self.steps, 1):
            if isinstance(step, IllFormed):
                error = ErrorClass.AFFORDANCE if step.code == SC.STEP_TYPE else ErrorClass.GRAMMAR
                self.impossible_step_witnesses[number] = Witness(error, (number,), step.message)
            elif step.key not in possible:
                suspect_steps.append((number, step))
        if not suspect_steps or self.report.executable is not Worlds.NONE:
            return
        engine = self.checker.engine
        try:
            openings = self.checker.compiled.openings
            relaxation = Relaxation(engine, lambda: False, openings, fold_constants=True, max_matches=MAX_MATCHES)
        except LimitReached:
            return
        for number, step in suspect_steps:
            if relaxation.may_hold(And(step.action.start.condition), step.binding):
                continue
            parts = conjuncts(And(step.action.start.condition))
            obstacle = next((part for part in parts if not relaxation.may_hold(part, step.binding)), None)
            condition = "its precondition" if obstacle is None else format_formula(engine.task, obstacle, step.binding)
            text = f"{condition} can never hold in `{step_text(step, engine.task.objects)}`"
            self.impossible_step_witnesses[number] = Witness(ErrorClass.AFFORDANCE, (number,), text)

    def _make_edit_witnesses(self) -> Iterator[Witness]:
        """Make the witnesses of the four classes of edits, and of compound: each with its best repair."""
        yielded_keys: set[tuple[ErrorClass, tuple[tuple[str, int], ...]]] = set()
        for alignment in self.attempt.ranked_alignments:
            kinds = self._list_edit_kinds(alignment)
            if not kinds:
                continue
            has_one_kind = len(set(kinds)) == 1
            error = _EDIT_CLASSES[kinds[0]] if has_one_kind else ErrorClass.COMPOUND
            edit_counts = tuple(sorted(Counter(kinds).items()))
            witness_key = (error, () if has_one_kind else edit_counts)
            if witness_key in yielded_keys:
                continue
            yielded_keys.add(witness_key)
            edits = self.attempt.describer.describe(alignment)
            edited_steps = tuple(sorted({edit.step for edit in edits if edit.step}))
            yield Witness(error, edited_steps, "; ".join([describe_edit(edit) for edit in edits]), None, edit_counts)

    def _list_edit_kinds(self, alignment: Alignment) -> list[str]:
        """Return the kinds of a repair's edits, except those that only remove impossible steps."""
        kinds = list(alignment.kinds)
        for position in alignment.substituted:
            if alignment.origin[position] in self.impossible_step_witnesses:
                kinds.remove(EditKind.SUBSTITUTE.value)
        for step in alignment.deleted:
            if step in self.impossible_step_witnesses:
                kinds.remove(EditKind.DELETE.value)
        return kinds

    def _make_repair_failure_witnesses(self) -> list[Witness]:
        """Make the witnesses of a plan for which no repair was found, or proved not to exist."""
        if self.result.status is RepairStatus.NOT_FOUND:
            return [_make_not_found_witness(self.result.detail, self.result.bound)]
        if self.result.status is not RepairStatus.PROVED_NONE:
            return []
        witnesses = [Witness(ErrorClass.IRREPARABLE, (), f"PROVED: {self.result.detail}")]
        if self.attempt.is_goal_unsafe:
            exceptions = " (apart from exemptions)" if self.checker.options.exemptions else ""
            text = f"PROVED: a plan reaches the goal, but no plan that satisfies the rules does{exceptions}"
            witnesses.append(Witness(ErrorClass.UNSAFE_GOAL, (), text))
        return witnesses


def _make_not_found_witness(detail: str, bound: Number = 0) -> Witness:
    """Return the witness of a search that ended at a limit: whether a repair exists is unknown."""
    reason = f": {detail}" if detail else ""
    cheaper = f"only repairs that cost less than {float(bound):g} are ruled out"
    ruled_out = cheaper if bound else "no repair is ruled out"
    return Witness(ErrorClass.UNKNOWN, (), f"NOT FOUND: no repair within the limits, and {ruled_out}{reason}")


def describe_edit(edit: Edit) -> str:
    """Describe an edit."""
    reason = f" ({edit.reason})" if edit.reason else ""
    match edit.kind:
        case EditKind.INSERT:
            return f"insert `{edit.after}` as new step {edit.position}{reason}"
        case EditKind.DELETE:
            return f"delete step {edit.step} `{edit.before}`{reason}"
        case EditKind.SUBSTITUTE | EditKind.REPLACE:
            return f"replace step {edit.step} `{edit.before}` by `{edit.after}`{reason}"
        case EditKind.MOVE:
            return f"move step {edit.step} `{edit.before}` to new step {edit.position}{reason}"


def _make_flag_witnesses(report: Report, criteria: VerdictCriteria) -> Iterator[Witness]:
    """Make the witnesses of an unmet goal, and of the rules whose violations decide in the reading *halt*."""
    yielded_keys: set[tuple[ErrorClass, str | None]] = set()
    for finding in report.findings:
        if finding.finding_class is FindingClass.UNMET_GOAL and report.executable is Worlds.ALL:
            error = ErrorClass.UNMET_GOAL
        elif "halt" not in finding.readings or not finding.decides(criteria):
            continue
        elif finding.finding_class in _TRACE_CLASSES:
            error = ErrorClass.PROCESS_HAZARD
        elif finding.finding_class in _FINAL_STATE_CLASSES:
            error = ErrorClass.TERMINATION_HAZARD
        else:
            continue
        if (error, finding.rule) not in yielded_keys:
            yielded_keys.add((error, finding.rule))
            yield Witness(error, (finding.step,) if finding.step else (), finding.message, finding.rule)
