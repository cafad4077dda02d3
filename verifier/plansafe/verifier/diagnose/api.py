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
from plansafe.verifier.model.printing import formula_text
from plansafe.verifier.repair.alignments import Alignment
from plansafe.verifier.repair.api import ProgressCallback, Repairer, unsupported_plan_reason
from plansafe.verifier.repair.effects import step_key
from plansafe.verifier.repair.model import Edit, EditKind, RepairOptions, RepairResult, RepairStatus
from plansafe.verifier.reporting.report import FindingClass, Headline, Report, Worlds
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria
from plansafe.verifier.symbolic.worlds.relaxation import Relaxation

_EDIT_CLASSES = {
    EditKind.INSERT.value: ErrorClass.MISSING,
    EditKind.MOVE.value: ErrorClass.ORDER,
    EditKind.DELETE.value: ErrorClass.ADDITIONAL,
    EditKind.SUBSTITUTE.value: ErrorClass.SUBSTITUTE,
}
_PASSING = frozenset((FindingClass.PROCESS, FindingClass.TRAJECTORY, FindingClass.CONSTRAINT))
_FINAL = frozenset((FindingClass.TERMINATION, FindingClass.OBLIGATION))
MAX_MATCHES = 100_000
"""Bindings of one action, or one effect, beyond which no step is called impossible."""


def diagnose(
    checker: Checker,
    plan: Source,
    options: RepairOptions = RepairOptions(),  # noqa: B008
    progress: ProgressCallback | None = None,
) -> Diagnosis:
    """What is wrong with ``plan``. ``checker`` must be ``ok``; raises ``ValueError`` otherwise.

    The cost is that of :func:`plansafe.verifier.repair.api.repair`.
    """
    if not checker.ok:
        raise ValueError("the domain, problem or specification has errors")
    report = checker.check(plan)
    if report.headline in (Headline.SAFE, Headline.VALID):
        return Diagnosis(plan.name, report, (), RepairResult(RepairStatus.ALREADY_SAFE, (), 0, True, True))
    read = checker.read(plan)
    problem = unsupported_plan_reason(checker, read)
    if problem:
        result = RepairResult(RepairStatus.NOT_FOUND, detail=problem)
        witnesses = (_unknown(problem),)
        if report.headline is None:
            witnesses = (Witness(ErrorClass.GRAMMAR, (), "the plan cannot be read"),)
        return Diagnosis(plan.name, report, (*witnesses, *_flags(report, checker.options.criteria)), result)
    repairer = Repairer(checker, plan, read.steps, options, progress)
    result = repairer.run()
    return Diagnosis(plan.name, report, tuple(_Classes(checker, report, repairer, result).witnesses()), result)


class _Classes:
    def __init__(self, checker: Checker, report: Report, repairer: Repairer, result: RepairResult) -> None:
        self.checker = checker
        self.report = report
        self.repairer = repairer
        self.result = result
        self.steps = repairer.steps
        self.impossible: dict[int, Witness] = {}

    def witnesses(self) -> Iterator[Witness]:
        """All classes with their witnesses, in order."""
        self._find_impossible()
        found = (
            list(self.impossible.values())
            + list(self._edits())
            + list(_flags(self.report, self.checker.options.criteria))
        )
        found += self._no_repair()
        order = list(ErrorClass)
        yield from sorted(found, key=lambda witness: order.index(witness.error))

    def _find_impossible(self) -> None:
        """Steps that are no steps, and steps that no object affords."""
        afforded = {step_key(step) for ties in self.repairer.ties for step in ties.steps}
        doubtful: list[tuple[int, GroundAction]] = []
        for number, step in enumerate(self.steps, 1):
            if isinstance(step, IllFormed):
                error = ErrorClass.AFFORDANCE if step.code == SC.STEP_TYPE else ErrorClass.GRAMMAR
                self.impossible[number] = Witness(error, (number,), step.message)
            elif step_key(step) not in afforded:
                doubtful.append((number, step))
        if not doubtful or self.report.executable is not Worlds.NONE:
            return
        engine = self.checker.engine
        try:
            openings = self.checker.compiled.openings
            relaxed = Relaxation(engine, lambda: False, openings, fold_constants=True, max_matches=MAX_MATCHES)
        except LimitReached:
            return
        for number, step in doubtful:
            if relaxed.may_hold(And(step.action.start.condition), step.binding):
                continue
            parts = conjuncts(And(step.action.start.condition))
            obstacle = next((part for part in parts if not relaxed.may_hold(part, step.binding)), None)
            what = "its precondition" if obstacle is None else formula_text(engine.task, obstacle, step.binding)
            text = f"{what} can never hold in `{step_text(step, engine.task.objects)}`"
            self.impossible[number] = Witness(ErrorClass.AFFORDANCE, (number,), text)

    def _edits(self) -> Iterator[Witness]:
        """The four classes of edits, and compound: each with its best repair."""
        seen: set[tuple[ErrorClass, tuple[tuple[str, int], ...]]] = set()
        for aligned in self.repairer.ties:
            kinds = self._kinds(aligned)
            if not kinds:
                continue
            single = len(set(kinds)) == 1
            error = _EDIT_CLASSES[kinds[0]] if single else ErrorClass.COMPOUND
            vector = tuple(sorted(Counter(kinds).items()))
            key = (error, () if single else vector)
            if key in seen:
                continue
            seen.add(key)
            edits = self.repairer.edits(aligned)
            concerned = tuple(sorted({edit.step for edit in edits if edit.step}))
            yield Witness(error, concerned, "; ".join([edit_text(edit) for edit in edits]), None, vector)

    def _kinds(self, aligned: Alignment) -> list[str]:
        """The kinds of the edits of a repair, without those that only take out what is impossible."""
        kinds = list(aligned.kinds)
        for position in aligned.substituted:
            if aligned.origin[position] in self.impossible:
                kinds.remove(EditKind.SUBSTITUTE.value)
        for step in aligned.deleted:
            if step in self.impossible:
                kinds.remove(EditKind.DELETE.value)
        return kinds

    def _no_repair(self) -> list[Witness]:
        if self.result.status is RepairStatus.NOT_FOUND:
            return [_unknown(self.result.detail, self.result.bound)]
        if self.result.status is not RepairStatus.PROVED_NONE:
            return []
        out = [Witness(ErrorClass.IRREPARABLE, (), f"PROVED: {self.result.detail}")]
        if self.repairer.unsafe_goal:
            but = " (apart from exemptions)" if self.checker.options.exemptions else ""
            text = f"PROVED: a plan reaches the goal, but no plan that satisfies the rules does{but}"
            out.append(Witness(ErrorClass.UNSAFE_GOAL, (), text))
        return out


def _unknown(detail: str, bound: Number = 0) -> Witness:
    """A search that ended at a limit says nothing about whether the plan can be repaired."""
    reason = f": {detail}" if detail else ""
    ruled_out = (
        f"only repairs that cost less than {float(bound):g} are ruled out" if bound else "no repair is ruled out"
    )
    return Witness(ErrorClass.UNKNOWN, (), f"NOT FOUND: no repair within the limits, and {ruled_out}{reason}")


def edit_text(edit: Edit) -> str:
    """An edit in words."""
    reason = f" ({edit.reason})" if edit.reason else ""
    match edit.kind:
        case EditKind.INSERT:
            return f"insert `{edit.after}` as new step {edit.position}{reason}"
        case EditKind.DELETE:
            return f"delete step {edit.step} `{edit.before}`{reason}"
        case EditKind.SUBSTITUTE:
            return f"replace step {edit.step} `{edit.before}` by `{edit.after}`{reason}"
        case EditKind.MOVE:
            return f"move step {edit.step} `{edit.before}` to new step {edit.position}{reason}"


def _flags(report: Report, criteria: VerdictCriteria) -> Iterator[Witness]:
    """What stands beside the classes of edits: the goal, and broken rules that decide, in the reading *halt*."""
    seen: set[tuple[ErrorClass, str | None]] = set()
    for finding in report.findings:
        if finding.finding_class is FindingClass.UNMET_GOAL and report.executable is Worlds.ALL:
            error = ErrorClass.UNMET_GOAL
        elif "halt" not in finding.readings or not finding.decides(criteria):
            continue
        elif finding.finding_class in _PASSING:
            error = ErrorClass.PROCESS_HAZARD
        elif finding.finding_class in _FINAL:
            error = ErrorClass.TERMINATION_HAZARD
        else:
            continue
        if (error, finding.rule) not in seen:
            seen.add((error, finding.rule))
            yield Witness(error, (finding.step,) if finding.step else (), finding.message, finding.rule)
