"""safecheck as a plan validator of unified-planning.

    factory = get_environment().factory
    factory.add_engine("safecheck", "plansafe.verifier.planning.up_validator", "SafecheckValidator")
    with factory.PlanValidator(name="safecheck", params={"specification": Path("kitchen.safe")}) as validator:
        print(validator.validate(problem, plan))

Importing this module imports unified-planning; nothing else of this project imports it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from unified_planning.engines import Credits, Engine
from unified_planning.engines.mixins import PlanValidatorMixin
from unified_planning.engines.results import (
    FailedValidationReason,
    LogLevel,
    LogMessage,
    ValidationResult,
    ValidationResultStatus,
)
from unified_planning.io import PDDLWriter
from unified_planning.model import ProblemKind
from unified_planning.plans import PlanKind

from plansafe.grammar.codes import SC
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.elaborate.context import is_name
from plansafe.verifier.elaborate.symbols import RESERVED
from plansafe.verifier.planning.pddl_names import Unprintable, decimal_text
from plansafe.verifier.reporting.report import Finding, FindingClass, Headline, Report

NAME = "safecheck"
_FEATURES = (
    "ACTION_BASED SIMPLE_NUMERIC_PLANNING GENERAL_NUMERIC_PLANNING CONTINUOUS_TIME TIMED_EFFECTS"
    " DURATION_INEQUALITIES SELF_OVERLAPPING STATIC_FLUENTS_IN_DURATIONS FLUENTS_IN_DURATIONS INT_TYPE_DURATIONS"
    " REAL_TYPE_DURATIONS NEGATIVE_CONDITIONS DISJUNCTIVE_CONDITIONS EQUALITIES EXISTENTIAL_CONDITIONS"
    " UNIVERSAL_CONDITIONS CONDITIONAL_EFFECTS INCREASE_EFFECTS DECREASE_EFFECTS"
    " STATIC_FLUENTS_IN_BOOLEAN_ASSIGNMENTS STATIC_FLUENTS_IN_NUMERIC_ASSIGNMENTS FLUENTS_IN_BOOLEAN_ASSIGNMENTS"
    " FLUENTS_IN_NUMERIC_ASSIGNMENTS FORALL_EFFECTS FLAT_TYPING HIERARCHICAL_TYPING INT_FLUENTS REAL_FLUENTS"
    " ACTIONS_COST FINAL_VALUE MAKESPAN PLAN_LENGTH STATIC_FLUENTS_IN_ACTIONS_COST FLUENTS_IN_ACTIONS_COST"
    " INT_NUMBERS_IN_ACTIONS_COST REAL_NUMBERS_IN_ACTIONS_COST TRAJECTORY_CONSTRAINTS STATE_INVARIANTS"
)
SUPPORTED = tuple(_FEATURES.split())
"""Features that unified-planning's PDDL writer can express. Metrics do not affect validity. Bounded types are not
supported, because the writer omits the bounds."""
_PLAN_KINDS = (PlanKind.SEQUENTIAL_PLAN, PlanKind.TIME_TRIGGERED_PLAN)
_EXECUTION_FAILURES = (FindingClass.ILL_FORMED, FindingClass.INEXECUTABLE)
_ILLEGAL_CHARACTERS = frozenset(' \t\r\n\f\v();"?[]')
_RESERVED_TYPES = frozenset(("object", "number", "either"))


class SafecheckValidator(Engine, PlanValidatorMixin):  # type: ignore[misc] # unified-planning has no types
    """Validates plans by PDDL's semantics, the problem's trajectory constraints, and a safety specification.

    ``specification``: a file, its text, or several of them. ``resolve`` finds the specifications
    that they extend, by name and the source that names it. Rules use the problem's names (in lower case, as PDDL does)
    if these are legal in PDDL, else the names of unified-planning's ``PDDLWriter``.

    A plan that is UNSAFE is ``INVALID`` with no ``reason`` (unified-planning has none for it); every finding is a log
    message. An add and a delete of one fact by one action is an add, as in PDDL.
    """

    def __init__(
        self,
        specification: str | Path | Iterable[str | Path] = (),
        resolve: Callable[[str, Source], Source | None] | None = None,
        **_: Any,
    ) -> None:
        Engine.__init__(self)
        PlanValidatorMixin.__init__(self)
        specifications = [specification] if isinstance(specification, str | Path) else specification
        self._specifications = [_read_specification(entry, number) for number, entry in enumerate(specifications, 1)]
        self._resolve = resolve

    @property
    def name(self) -> str:
        """The engine's name."""
        return NAME

    @staticmethod
    def supported_kind() -> ProblemKind:
        """The features that problems may use."""
        return ProblemKind(SUPPORTED, version=2)

    @staticmethod
    def supports(problem_kind: ProblemKind) -> bool:
        """Whether problems of a kind can be validated."""
        return bool(problem_kind <= SafecheckValidator.supported_kind())

    @staticmethod
    def supports_plan(plan_kind: PlanKind) -> bool:
        """Sequential and time-triggered plans."""
        return plan_kind in _PLAN_KINDS

    @staticmethod
    def get_credits(**_: Any) -> Credits | None:
        """The credits that unified-planning prints when the engine is used."""
        about = "A formal verifier for PDDL plans: can it be executed, does it reach its goal, is it safe?"
        return Credits(NAME, "the authors of safecheck", "", "", "Apache-2.0", about, about)

    def _validate(self, problem: Any, plan: Any) -> ValidationResult:
        unsupported = sorted(problem.kind.features - self.supported_kind().features)
        if unsupported and not self.skip_checks:
            return self._make_result(ValidationResultStatus.UNKNOWN, [f"not supported: {', '.join(unsupported)}"])
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("error", message=".*cannot exactly represent.*")
                writer = PDDLWriter(_join_constraints(problem))
                texts = [writer.get_domain(), writer.get_problem()]
            instances, plan_text = _print_plan(writer, plan)
        except (Warning, Unprintable) as reason:
            return self._make_result(ValidationResultStatus.UNKNOWN, [str(reason)])
        names = _find_original_names(writer)
        domain, problem_text, plan_text = [_restore_names(text, names) for text in (*texts, plan_text)]
        checker = Checker(
            Source("domain", domain), Source("problem", problem_text), self._specifications, resolve=self._resolve
        )
        report = checker.check(Source("plan", plan_text))
        if report.headline is None or report.headline is Headline.UNKNOWN:
            return self._make_result(ValidationResultStatus.UNKNOWN, _list_messages(report))
        if report.headline in (Headline.SAFE, Headline.VALID):
            return self._make_result(ValidationResultStatus.VALID, [])
        return self._explain_invalid(report, instances)

    def _explain_invalid(self, report: Report, instances: list[Any]) -> ValidationResult:
        failed = next(
            (f for f in report.findings if f.finding_class in _EXECUTION_FAILURES and "halt" in f.readings), None
        )
        if failed is not None and failed.code == SC.INTERFERENCE:
            reason = FailedValidationReason.MUTEX_CONFLICT
        elif failed is not None:
            reason = FailedValidationReason.INAPPLICABLE_ACTION
            instance = instances[failed.step - 1] if 0 < failed.step <= len(instances) else None
            return self._make_result(ValidationResultStatus.INVALID, _list_messages(report), reason, instance)
        else:
            unmet = [f for f in report.findings if f.finding_class is FindingClass.UNMET_GOAL]
            reason = FailedValidationReason.UNSATISFIED_GOALS if unmet else None
        return self._make_result(ValidationResultStatus.INVALID, _list_messages(report), reason)

    def _make_result(
        self,
        status: ValidationResultStatus,
        messages: list[str],
        reason: FailedValidationReason | None = None,
        instance: Any = None,
    ) -> ValidationResult:
        level = LogLevel.INFO if status is ValidationResultStatus.INVALID else LogLevel.WARNING
        logs = [LogMessage(level, message) for message in messages]
        return ValidationResult(status, NAME, logs, None, reason, instance)


def _read_specification(specification: str | Path, number: int) -> Source:
    if isinstance(specification, Path):
        return Source(str(specification), specification.read_text(encoding="utf-8"))
    return Source(f"specification {number}", specification)


def _join_constraints(problem: Any) -> Any:
    """Join the trajectory constraints into one: the writer prints several next to each other, which is not PDDL."""
    constraints = problem.trajectory_constraints
    if len(constraints) < 2:
        return problem
    copy = problem.clone()
    copy.clear_trajectory_constraints()
    copy.add_trajectory_constraint(copy.environment.expression_manager.And(constraints))
    return copy


def _print_plan(writer: PDDLWriter, plan: Any) -> tuple[list[Any], str]:
    """The action instances of a plan in the order in which safecheck counts them, and the plan's text."""
    if plan.kind is PlanKind.SEQUENTIAL_PLAN:
        return list(plan.actions), "".join([_print_step(writer, instance) + "\n" for instance in plan.actions])
    timed = sorted(plan.timed_actions, key=lambda entry: entry[0])
    lines = []
    for start, instance, duration in timed:
        suffix = "" if duration is None else f" [{decimal_text(duration)}]"
        lines.append(f"{decimal_text(start)}: {_print_step(writer, instance)}{suffix}\n")
    return [instance for _, instance, _ in timed], "".join(lines)


def _print_step(writer: PDDLWriter, instance: Any) -> str:
    objects = [writer.get_pddl_name(parameter.object()) for parameter in instance.actual_parameters]
    return "(" + " ".join([writer.get_pddl_name(instance.action), *objects]) + ")"


def _find_original_names(writer: PDDLWriter) -> dict[str, str]:
    """The original names, by printed name, that are legal PDDL: the writer renames more than necessary.

    The writer's names are unique over all name spaces, so that they can be replaced everywhere. If two things of a kind
    would have the same name, both keep the writer's names.
    """
    printed_by_name: dict[tuple[str, str], list[str]] = {}
    for printed, renamed in writer.nto_renamings.items():
        name = renamed.name.lower()
        legal = is_name(name) and not set(name) & _ILLEGAL_CHARACTERS and name not in RESERVED | _RESERVED_TYPES
        if legal and not printed.startswith("?"):
            printed_by_name.setdefault((type(renamed).__name__, name), []).append(printed)
    return {names[0]: name for (_, name), names in printed_by_name.items() if len(names) == 1 and names[0] != name}


def _restore_names(text: str, names: dict[str, str]) -> str:
    return re.sub(r"[^\s()]+", lambda token: names.get(token[0], token[0]), text) if names else text


def _list_messages(report: Report) -> list[str]:
    return [*[d.message for d in report.diagnostics], *[_format_finding(f) for f in report.findings]]


def _format_finding(finding: Finding) -> str:
    notes = f" ({'; '.join(finding.notes)})" if finding.notes else ""
    return f"{finding.code}: {finding.message}{notes}"
