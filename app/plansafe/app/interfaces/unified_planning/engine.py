"""The engines: ``SafecheckValidator`` validates plans, ``SafecheckRepairer`` finds the nearest safe plans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

from unified_planning.engines import Credits, Engine, SequentialPlanValidator, TimeTriggeredPlanValidator
from unified_planning.engines.mixins import PlanRepairerMixin, PlanValidatorMixin
from unified_planning.engines.results import (
    FailedValidationReason,
    LogLevel,
    LogMessage,
    PlanGenerationResult,
    PlanGenerationResultStatus,
    ValidationResult,
    ValidationResultStatus,
)
from unified_planning.model import ProblemKind
from unified_planning.model.problem_kind_versioning import LATEST_PROBLEM_KIND_VERSION
from unified_planning.plans import PlanKind, SequentialPlan

from plansafe.app.interfaces.unified_planning.names import ForeignStep, PlanText, TaskNames, read_steps, write_plan
from plansafe.app.interfaces.unified_planning.task_text import TaskText, write_task
from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.project.shipped_files import is_path, shipped_spec
from plansafe.grammar.codes import SC
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.planning.pddl_names import Unprintable
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import Edit, EditKind, RepairOptions, RepairStatus
from plansafe.verifier.reporting.report import Finding, FindingClass, Headline, Report

_FEATURES_WITHOUT_TIME = (
    "ACTION_BASED SIMPLE_NUMERIC_PLANNING GENERAL_NUMERIC_PLANNING BOUNDED_TYPES NEGATIVE_CONDITIONS"
    " DISJUNCTIVE_CONDITIONS EQUALITIES EXISTENTIAL_CONDITIONS UNIVERSAL_CONDITIONS CONDITIONAL_EFFECTS"
    " INCREASE_EFFECTS DECREASE_EFFECTS STATIC_FLUENTS_IN_BOOLEAN_ASSIGNMENTS"
    " STATIC_FLUENTS_IN_NUMERIC_ASSIGNMENTS STATIC_FLUENTS_IN_OBJECT_ASSIGNMENTS FLUENTS_IN_BOOLEAN_ASSIGNMENTS"
    " FLUENTS_IN_NUMERIC_ASSIGNMENTS FLUENTS_IN_OBJECT_ASSIGNMENTS FORALL_EFFECTS FLAT_TYPING HIERARCHICAL_TYPING"
    " INT_FLUENTS REAL_FLUENTS OBJECT_FLUENTS UNDEFINED_INITIAL_NUMERIC TRAJECTORY_CONSTRAINTS STATE_INVARIANTS"
    " ACTIONS_COST FINAL_VALUE MAKESPAN PLAN_LENGTH OVERSUBSCRIPTION STATIC_FLUENTS_IN_ACTIONS_COST"
    " FLUENTS_IN_ACTIONS_COST INT_NUMBERS_IN_ACTIONS_COST REAL_NUMBERS_IN_ACTIONS_COST"
    " INT_NUMBERS_IN_OVERSUBSCRIPTION REAL_NUMBERS_IN_OVERSUBSCRIPTION"
)
_FEATURES_OF_TIME = (
    "CONTINUOUS_TIME TIMED_EFFECTS DURATION_INEQUALITIES SELF_OVERLAPPING STATIC_FLUENTS_IN_DURATIONS"
    " FLUENTS_IN_DURATIONS INT_TYPE_DURATIONS REAL_TYPE_DURATIONS TEMPORAL_OVERSUBSCRIPTION"
)
_POSITIVE = (Headline.SAFE, Headline.VALID)
_EXECUTION_FAILURES = (FindingClass.ILL_FORMED, FindingClass.INEXECUTABLE)
_EXACT = Options(tolerance=Fraction(0))
"""As in unified-planning, durations are exact, and only actions at the same time can interfere."""

Specification = str | Path
"""A file, a text (it contains a parenthesis), or the name of a shipped specification."""


@dataclass
class SafecheckValidationResult(ValidationResult):  # type: ignore[misc] # unified-planning has no types
    """A validation result with safecheck's report (``None`` if the problem or plan is not supported).

    The report has the problem's names. Its step numbers count the actions of the plan from 1, in the order of their
    start times if they have times.
    """

    report: Report | None = None


class _SafecheckEngine(Engine):  # type: ignore[misc] # unified-planning has no types
    """Compiles problems; keeps the last compiled problem for further plans."""

    def __init__(self, specification: Specification | Iterable[Specification]) -> None:
        Engine.__init__(self)
        entries = [specification] if isinstance(specification, str | Path) else specification
        self._discovery = Discovery(Choice())
        self._specifications = [_read_specification(entry, number) for number, entry in enumerate(entries, 1)]
        self._last: tuple[TaskText, Checker] | None = None

    @staticmethod
    def get_credits(**_: Any) -> Credits | None:
        """The credits that unified-planning prints when the engine is used."""
        about = "A formal verifier for PDDL plans: can it be executed, does it reach its goal, is it safe?"
        return Credits("safecheck", "the authors of safecheck", "", "", "Apache-2.0", about, about)

    def _compile(self, problem: Any) -> tuple[TaskText, Checker]:
        """Raises :class:`Unprintable` if the problem uses an unsupported feature."""
        unsupported = sorted(problem.kind.features - self.supported_kind().features)
        if unsupported:
            raise Unprintable(f"not supported: {', '.join(unsupported)}")
        task = write_task(problem)
        if self._last is None or self._last[0][:2] != task[:2]:
            domain, instance = Source("domain", task.domain), Source("problem", task.problem)
            checker = Checker(domain, instance, self._specifications, _EXACT, resolve=self._resolve)
            self._last = (task, checker)
        return self._last

    def _resolve(self, name: str, extending: Source) -> Source | None:
        extended = self._discovery.extended(name, extending)
        return None if extended is None else extended.source


class SafecheckValidator(_SafecheckEngine, PlanValidatorMixin):  # type: ignore[misc] # unified-planning has no types
    """Validates plans by PDDL's semantics, the problem's trajectory constraints, and safety specifications.

    ``specification``: a file, a text, the name of a shipped specification, or several of these. Rules use the
    problem's names, in lower case and with ``_`` for characters that PDDL does not allow.

    An unsafe plan is ``INVALID`` without a ``reason``. Each finding is a log message; ``metrics["verdict"]`` is
    ``UNSAFE`` if only rules or constraints are violated.
    """

    def __init__(self, specification: Specification | Iterable[Specification] = (), **_: Any) -> None:
        _SafecheckEngine.__init__(self, specification)
        PlanValidatorMixin.__init__(self)

    @property
    def name(self) -> str:
        """The engine's name."""
        return "safecheck"

    @staticmethod
    def supported_kind() -> ProblemKind:
        """The features that problems may use."""
        features = f"{_FEATURES_WITHOUT_TIME} {_FEATURES_OF_TIME}".split()
        return ProblemKind(features, version=LATEST_PROBLEM_KIND_VERSION)

    @staticmethod
    def supports(problem_kind: ProblemKind) -> bool:
        """Whether problems of a kind can be validated."""
        return bool(problem_kind <= SafecheckValidator.supported_kind())

    @staticmethod
    def supports_plan(plan_kind: PlanKind) -> bool:
        """Sequential plans, time-triggered plans, and partial-order plans (valid if every order is)."""
        return plan_kind in (PlanKind.SEQUENTIAL_PLAN, PlanKind.TIME_TRIGGERED_PLAN, PlanKind.PARTIAL_ORDER_PLAN)

    def _validate(self, problem: Any, plan: Any) -> SafecheckValidationResult:
        unknown, invalid = ValidationResultStatus.UNKNOWN, ValidationResultStatus.INVALID
        try:
            task, checker = self._compile(problem)
            plan_text = write_plan(problem, plan, task.names)
        except Unprintable as error:
            return self._make_result(unknown, [str(error)])
        except ForeignStep as error:
            return self._make_result(invalid, [str(error)], FailedValidationReason.INAPPLICABLE_ACTION, error.instance)
        report = _restore_names(checker.check(Source("plan", plan_text.text)), task.names)
        messages = [*[d.message for d in report.diagnostics], *[_format_finding(f) for f in report.findings]]
        if report.headline is None or report.headline is Headline.UNKNOWN:
            return self._make_result(unknown, messages, report=report)
        if report.headline not in _POSITIVE:
            reason, instance = _find_reason(report, task, plan_text, plan.kind)
            return self._make_result(invalid, messages, reason, instance, report)
        if plan.kind is PlanKind.TIME_TRIGGERED_PLAN:
            violation, instance = _find_timing_violation(problem, plan)
            if violation:
                inapplicable = None if instance is None else FailedValidationReason.INAPPLICABLE_ACTION
                return self._make_result(invalid, [violation], inapplicable, instance, report)
        result = self._make_result(ValidationResultStatus.VALID, [], report=report)
        result.metric_evaluations = _evaluate_metrics(problem, plan)
        return result

    def _make_result(
        self,
        status: ValidationResultStatus,
        messages: list[str],
        reason: FailedValidationReason | None = None,
        instance: Any = None,
        report: Report | None = None,
    ) -> SafecheckValidationResult:
        level = LogLevel.INFO if status is ValidationResultStatus.INVALID else LogLevel.WARNING
        logs = [LogMessage(level, message) for message in messages]
        metrics = None
        if report is not None and report.headline is not None:
            metrics = {"verdict": report.headline.value}
        return SafecheckValidationResult(status, self.name, logs, None, reason, instance, metrics, None, report)


class SafecheckRepairer(_SafecheckEngine, PlanRepairerMixin):  # type: ignore[misc] # unified-planning has no types
    """Finds the valid and safe plan with the fewest edits of a sequential plan.

    ``specification``: as for :class:`SafecheckValidator`. ``time_limit_s``: the limit of the search.

    The status is ``SOLVED_SATISFICING`` for every plan found: the number of edits is least, not the problem's quality
    metric. Each edit is a log message with its reason.
    """

    def __init__(
        self, specification: Specification | Iterable[Specification] = (), time_limit_s: float | None = 30.0, **_: Any
    ) -> None:
        _SafecheckEngine.__init__(self, specification)
        PlanRepairerMixin.__init__(self)
        self._options = RepairOptions(time_limit_s=time_limit_s, max_repairs=1)

    @property
    def name(self) -> str:
        """The engine's name."""
        return "safecheck-repair"

    @staticmethod
    def supported_kind() -> ProblemKind:
        """The features that problems may use."""
        return ProblemKind(_FEATURES_WITHOUT_TIME.split(), version=LATEST_PROBLEM_KIND_VERSION)

    @staticmethod
    def supports(problem_kind: ProblemKind) -> bool:
        """Whether plans of problems of a kind can be repaired."""
        return bool(problem_kind <= SafecheckRepairer.supported_kind())

    @staticmethod
    def supports_plan(plan_kind: PlanKind) -> bool:
        """Sequential plans."""
        return plan_kind is PlanKind.SEQUENTIAL_PLAN

    def _repair(self, problem: Any, plan: Any) -> PlanGenerationResult:
        try:
            task, checker = self._compile(problem)
            plan_text = write_plan(problem, plan, task.names)
        except (Unprintable, ForeignStep) as reason:
            return self._make_result(PlanGenerationResultStatus.UNSUPPORTED_PROBLEM, [str(reason)])
        if not checker.ok:
            messages = [diagnostic.message for diagnostic in checker.diagnostics]
            return self._make_result(PlanGenerationResultStatus.UNSUPPORTED_PROBLEM, messages)
        result = repair(checker, Source("plan", plan_text.text), self._options)
        details = [result.detail] if result.detail else []
        match result.status:
            case RepairStatus.ALREADY_SAFE:
                return self._make_result(PlanGenerationResultStatus.SOLVED_SATISFICING, ["no edit is needed"], plan)
            case RepairStatus.PROVED_NONE:
                return self._make_result(PlanGenerationResultStatus.UNSOLVABLE_PROVEN, details)
            case RepairStatus.NOT_FOUND:
                return self._make_result(PlanGenerationResultStatus.UNSOLVABLE_INCOMPLETELY, details)
        nearest = result.repairs[0]
        steps = read_steps(problem, nearest.steps, task.names)
        messages = [_describe_edit(edit, task.names) for edit in nearest.edits] + details
        repaired = self._make_result(
            PlanGenerationResultStatus.SOLVED_SATISFICING, messages, SequentialPlan(steps, problem.environment)
        )
        repaired.metrics = {"cost of edits": str(nearest.cost), "proved least": str(result.optimal)}
        return repaired

    def _make_result(
        self, status: PlanGenerationResultStatus, messages: list[str], plan: Any = None
    ) -> PlanGenerationResult:
        logs = [LogMessage(LogLevel.INFO, message) for message in messages]
        return PlanGenerationResult(status, plan, self.name, None, logs)


def _read_specification(specification: Specification, number: int) -> Source:
    if isinstance(specification, str):
        if "(" in specification:
            return Source(f"specification {number}", specification)
        shipped = None if is_path(specification) else shipped_spec(specification)
        specification = Path(specification if shipped is None else shipped)
    return Source(str(specification), specification.read_text(encoding="utf-8"))


def _find_reason(
    report: Report, task: TaskText, plan: PlanText, plan_kind: PlanKind
) -> tuple[FailedValidationReason | None, Any]:
    """Return unified-planning's reason, and the inapplicable action.

    As in its own validator, an action after which a state invariant or a bound is violated is inapplicable, if the
    actions are in sequence.
    """
    findings = [finding for finding in report.findings if "halt" in finding.readings]
    failures = [finding for finding in findings if finding.finding_class in _EXECUTION_FAILURES]
    if plan_kind is PlanKind.SEQUENTIAL_PLAN:
        invariants = {f"constraint-{n}" for n, constraint in enumerate(task.constraints, 1) if constraint.is_invariant}
        constraints = [finding for finding in findings if finding.finding_class is FindingClass.CONSTRAINT]
        failures += [finding for finding in constraints if finding.step and finding.rule in invariants]
    first = min(failures, key=lambda finding: finding.step, default=None)
    if first is None:
        unmet = any(finding.finding_class is FindingClass.UNMET_GOAL for finding in findings)
        return FailedValidationReason.UNSATISFIED_GOALS if unmet else None, None
    if first.code == SC.INTERFERENCE:
        return FailedValidationReason.MUTEX_CONFLICT, None
    is_step = 0 < first.step <= len(plan.instances)
    return FailedValidationReason.INAPPLICABLE_ACTION, plan.instances[first.step - 1] if is_step else None


def _find_timing_violation(problem: Any, plan: Any) -> tuple[str, Any]:
    """Return a violation of the problem's ``self_overlapping`` or ``epsilon``, with the action that causes it."""
    if not problem.self_overlapping:
        timed = sorted(plan.timed_actions, key=lambda entry: entry[0])
        for (start, instance, duration), (next_start, next_instance, _) in combinations(timed, 2):
            overlap = duration is not None and next_start < start + duration
            if overlap and instance.is_semantically_equivalent(next_instance):
                return f"`{next_instance}` starts at {next_start}, while the same action is running", next_instance
    epsilon = None if problem.epsilon is None else plan.extract_epsilon(problem)
    if epsilon is not None and epsilon < problem.epsilon:
        return f"two events are {epsilon} apart, less than the problem's epsilon {problem.epsilon}", None
    return "", None


def _evaluate_metrics(problem: Any, plan: Any) -> dict[Any, int | Fraction] | None:
    """Return the values of the quality metrics by unified-planning's own validator, if it supports the problem."""
    if not problem.quality_metrics:
        return None
    unconstrained = problem.clone()
    unconstrained.clear_trajectory_constraints()
    for validator in (SequentialPlanValidator(), TimeTriggeredPlanValidator()):
        if validator.supports(unconstrained.kind) and validator.supports_plan(plan.kind):
            values: dict[Any, int | Fraction] | None = validator.validate(unconstrained, plan).metric_evaluations
            return values
    return None


def _restore_names(report: Report, names: TaskNames) -> Report:
    findings = [_restore_finding(finding, names) for finding in report.findings]
    return report._replace(findings=tuple(findings))


def _restore_finding(finding: Finding, names: TaskNames) -> Finding:
    table = finding.table
    if table is not None:
        rows = tuple([row._replace(action=names.restore_code(row.action)) for row in table.rows])
        table = table._replace(columns=tuple(map(names.restore_code, table.columns)), rows=rows)
    return finding._replace(
        message=names.restore_message(finding.message),
        notes=tuple(map(names.restore_message, finding.notes)),
        help=None if finding.help is None else names.restore_message(finding.help),
        binding=tuple([(variable, names.restore_term(value)) for variable, value in finding.binding]),
        table=table,
    )


def _format_finding(finding: Finding) -> str:
    notes = f" ({'; '.join(finding.notes)})" if finding.notes else ""
    return f"{finding.code}: {finding.message}{notes}"


def _describe_edit(edit: Edit, names: TaskNames) -> str:
    before, after = [names.restore_code(step) for step in (edit.before, edit.after)]
    places = f"`{before or after}`" if before == after or not (before and after) else f"`{before}` by `{after}`"
    step = f" (step {edit.step})" if edit.step else ""
    position = f" {'to' if edit.kind is EditKind.MOVE else 'at'} position {edit.position}" if edit.position else ""
    reason = f": {names.restore_reason(edit.reason)}" if edit.reason else ""
    return f"{edit.kind.value} {places}{step}{position}{reason}"
