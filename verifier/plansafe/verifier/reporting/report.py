"""The report on a plan, its findings, counts and coverage (docs/language.md, section 6)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, Exemption, VerdictCriteria

if TYPE_CHECKING:
    from plansafe.verifier.reporting.worlds import WorldsReport
    from plansafe.verifier.rules.home_profile import ProfileEffects

NO_KNOWN_KIND = "objects without a known kind"
"""The limit in a report whose verdict is UNKNOWN because objects have no known kind."""
_NOTHING_CHECKED = frozenset((SC.NOTHING_TO_CHECK, SC.GATE_WITHOUT_RULES))
"""Errors that no rule was checked although the user requires rules."""


class Worlds(Enum):
    """The share of the possible worlds in which a property holds."""

    ALL = "ALL"
    SOME = "SOME"
    NONE = "NONE"
    UNKNOWN = "UNKNOWN"


class Headline(Enum):
    """The verdict in one word: the first value that applies."""

    INVALID = "INVALID"
    UNSAFE = "UNSAFE"
    UNKNOWN = "UNKNOWN"
    SAFE = "SAFE"
    VALID = "VALID"


class FindingClass(Enum):
    """The kind of mistake that a finding reports."""

    ILL_FORMED = "ill-formed"
    INEXECUTABLE = "inexecutable"
    UNMET_GOAL = "unmet-goal"
    PROCESS = "process"
    TRAJECTORY = "trajectory"
    TERMINATION = "termination"
    OBLIGATION = "obligation"
    CONSTRAINT = "constraint"
    UNDECIDED = "undecided"


class Blame(Enum):
    """Whether the plan caused a violation (docs/language.md, section 5)."""

    INTRODUCED = "introduced"
    WORSENED = "worsened"
    PRE_EXISTING = "pre-existing"


class ValueChange(NamedTuple):
    """The values of a fact or fluent before and after a step: ``T``, ``F``, a number or ``undefined``."""

    before: str
    after: str


def format_value(value: object) -> str:
    """Return a value of a fact or fluent as text."""
    return "T" if value is True else "F" if value is False else "undefined" if value is None else str(value)


class Row(NamedTuple):
    """A step of a finding's table, with one cell per column and the status of the rule; timed literals are step 0."""

    step: int
    action: str
    cells: tuple[ValueChange, ...]
    status: str
    important: bool


class Table(NamedTuple):
    """The facts that matter to a finding, at the steps that changed them.

    ``columns`` are printed facts such as ``(on stove)``. Rows are in order of steps; row 0 is the initial state.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


class ProposedKindOfObject(NamedTuple):
    """A proposed kind of an object, which is not confirmed, with the evidence for it."""

    object: str
    kind: str
    evidence: str


class Finding(NamedTuple):
    """One violation, failed step, ill-formed step or unmet goal.

    ``step`` is numbered from 1; 0 is the initial state. ``at_end``: about the whole trace. ``span`` and ``source`` are
    the place of the step in the plan (``None`` for step 0 and the empty plan). ``related`` are labels at earlier steps
    of the plan, the rule, or the precondition in the domain. ``replayed``: whether the kernel confirmed the finding
    (``None``: the kernel does not cover it). ``state``: all facts of the state, with ``full_state``. ``worlds``: in
    which possible worlds the finding occurs (``None``: there is one world); ``world``: the index of its witness.
    ``follows``: the failed steps that it is a consequence of (docs/language.md, section 6). ``proposals``: the
    unconfirmed kinds without which there may be no violation (docs/worlds.md, section 5).
    """

    code: str
    finding_class: FindingClass
    message: str
    step: int
    rule: str | None = None
    binding: tuple[tuple[str, str], ...] = ()
    at_end: bool = False
    readings: tuple[str, ...] = ("halt",)
    blame: Blame | None = None
    source: str | None = None
    span: Span | None = None
    related: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    table: Table | None = None
    hazard: str | None = None
    targets: tuple[str, ...] = ()
    severity: str | None = None
    rationale: str | None = None
    rationale_source: str | None = None
    replayed: bool | None = None
    state: tuple[str, ...] = ()
    worlds: Worlds | None = None
    world: int | None = None
    follows: tuple[int, ...] = ()
    proposals: tuple[ProposedKindOfObject, ...] = ()

    def decides(self, criteria: VerdictCriteria) -> bool:
        """Whether a finding can decide: violations by severity and blame, other findings always."""
        severe = self.severity is None or criteria.is_severe_enough(self.severity)
        return severe and not (criteria.ignores_preexisting and self.blame is Blame.PRE_EXISTING)


class RuleCount(NamedTuple):
    """How much of a rule was checked.

    ``triggered`` counts the instances whose condition was true at some time. ``status`` is ``kept``, ``violated``,
    ``undecided``, ``never applied``, ``not applicable``, ``preference violated`` or ``exempt``. ``exempted`` counts the
    violations that would decide without an exemption; ``violations`` does not include them. ``applicable``: the task
    has objects for every parameter.
    """

    name: str
    kind: str
    source: str
    instances: int
    triggered: int
    violations: int
    status: str
    severity: str = "high"
    exempted: int = 0
    applicable: bool = True


class UsedExemption(NamedTuple):
    """An exemption with the number of exempt violations, and their findings up to the output limit."""

    exemption: Exemption
    times: int
    findings: tuple[Finding, ...]


class VerdictBasis(NamedTuple):
    """The criteria of the verdict (docs/language.md, section 6), and the violations that did not decide.

    ``before``: pre-existing violations; ``minor``: violations below the minimal severity; ``exempted``: violations that
    do not decide only because of an exemption, by exemption.
    """

    criteria: VerdictCriteria = EVERY_VIOLATION
    before: int = 0
    minor: int = 0
    exempted: tuple[UsedExemption, ...] = ()


class Reading(NamedTuple):
    """The outcome of one reading (halt, skip or force) of a failed plan; ``executed`` steps had effects."""

    name: str
    executed: int
    goal: Worlds
    safe: Worlds


class PossibleViolation(NamedTuple):
    """The kinds that the objects of a class, and of the classes ``others``, need for a violation of a rule."""

    kinds: tuple[str, ...]
    rule: str
    severity: str
    step: int
    others: tuple[str, ...] = ()


class UnclassifiedClass(NamedTuple):
    """A class of objects without a known kind (docs/worlds.md, section 5).

    If the plan uses some of its objects (``used``), ``objects`` are only these. ``possible_violations`` is empty if no
    kind would violate a rule, or if the verdict is not SAFE for other reasons.
    """

    name: str
    objects: tuple[str, ...]
    used: bool
    possible_violations: tuple[PossibleViolation, ...] = ()


class NotApplicableGroup(NamedTuple):
    """Rules that are not applicable for the same reason."""

    reason: str
    rules: tuple[str, ...]


class GivenKinds(NamedTuple):
    """The kinds that a user gave a class; a class without kinds is assumed to be harmless."""

    name: str
    kinds: tuple[str, ...]
    reason: str
    place: str


class Coverage(NamedTuple):
    """The number of applicable rules, the other rules with reasons, and the objects without a known kind."""

    applicable: int
    not_applicable: tuple[NotApplicableGroup, ...] = ()
    unclassified: tuple[UnclassifiedClass, ...] = ()
    given_kinds: tuple[GivenKinds, ...] = ()


class Report(NamedTuple):
    """The verdict on one plan.

    ``executable``, ``goal`` and ``safe`` are about all possible worlds. Without an applicable rule that can decide,
    ``safe`` is ALL; interfaces show ``safety``. ``diagnostics`` are errors and warnings about the files; if the plan
    cannot be checked, ``headline`` is ``None`` and they give the reason. ``limits`` are the limits that were reached,
    ``suppressed`` counts findings beyond the output limit. ``worlds`` describes the possible worlds (``None``: one
    world). ``certificate`` is the text of a proof, if requested and found. ``coverage`` is ``None`` without
    specifications. ``answer``: the plan was read in an answer with other text.
    """

    plan: str
    headline: Headline | None
    executable: Worlds
    goal: Worlds
    safe: Worlds
    steps: int
    findings: tuple[Finding, ...] = ()
    rules: tuple[RuleCount, ...] = ()
    readings: tuple[Reading, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    metric: str | None = None
    preferences_violated: tuple[tuple[str, int], ...] = ()
    assumptions: tuple[str, ...] = ()
    engine: str = "explicit"
    limits: tuple[str, ...] = ()
    suppressed: int = 0
    worlds: WorldsReport | None = None
    certificate: str | None = None
    verdict_basis: VerdictBasis = VerdictBasis()
    home: ProfileEffects | None = None
    coverage: Coverage | None = None
    answer: bool = False

    @property
    def rests_on_proposals(self) -> bool:
        """Whether the plan is UNSAFE only if objects have proposed kinds, which are not confirmed."""
        criteria = self.verdict_basis.criteria
        deciding_findings = [
            finding for finding in self.findings if "halt" in finding.readings and finding.decides(criteria)
        ]
        return (
            self.headline is Headline.UNSAFE
            and bool(deciding_findings)
            and all([finding.proposals for finding in deciding_findings])
        )

    @property
    def rules_checked(self) -> int:
        """The number of rules with instances."""
        return sum([rule.instances > 0 for rule in self.rules])

    @property
    def has_applicable_rules(self) -> bool:
        """Whether a rule is applicable to the task."""
        return any(rule.applicable for rule in self.rules)

    @property
    def safety(self) -> Worlds | None:
        """``safe``, or ``None`` if it is ALL only because no applicable rule can decide."""
        if self.safe is not Worlds.ALL:
            return self.safe
        may_decide = self.verdict_basis.criteria.may_decide
        checked = any(rule.applicable and may_decide(rule.name, rule.severity) for rule in self.rules)
        return self.safe if checked else None

    @property
    def rule_count_if_none_applicable(self) -> int:
        """The number of rules that could decide, if none of them is applicable; otherwise 0."""
        may_decide = self.verdict_basis.criteria.may_decide
        deciding = [rule for rule in self.rules if may_decide(rule.name, rule.severity)]
        return 0 if any(rule.applicable for rule in deciding) else len(deciding)

    @property
    def exit_code(self) -> int:
        """The exit code: 0 SAFE or VALID, 1 INVALID or UNSAFE, 2 unreadable or ill-formed, 3 UNKNOWN, 4 a bug (SC9..).

        An ill-formed step gives 1 if the plan was read in an answer. 2 also means that required rules were not checked.
        """
        errors = {diagnostic.code for diagnostic in self.diagnostics if diagnostic.severity is Severity.ERROR}
        if any(code.startswith("SC9") for code in errors):
            return 4
        if self.headline is None or _NOTHING_CHECKED & errors:
            return 2
        if not self.answer and any(finding.finding_class is FindingClass.ILL_FORMED for finding in self.findings):
            return 2
        return {"INVALID": 1, "UNSAFE": 1, "UNKNOWN": 3, "SAFE": 0, "VALID": 0}[self.headline.value]


def make_unchecked_report(
    plan: str, *diagnostics: Diagnostic, headline: Headline | None = None, steps: int = 0
) -> Report:
    """Return a report with diagnostics instead of a verdict."""
    unknown = Worlds.UNKNOWN
    return Report(plan, headline, unknown, unknown, unknown, steps, diagnostics=diagnostics)


def cap_at_unknown(report: Report, reasons: tuple[Diagnostic, ...], *, safety_alone: bool = False) -> Report:
    """Change SAFE or VALID to UNKNOWN because part of the input was not understood.

    ``reasons`` are warnings that are added to the report; without reasons the report is unchanged. INVALID and UNSAFE
    do not depend on the rest of the input and stay. ``safety_alone`` keeps ``executable`` and ``goal``.
    """
    if not reasons:
        return report
    report = report._replace(diagnostics=(*report.diagnostics, *reasons))
    if report.headline not in (Headline.SAFE, Headline.VALID):
        return report
    if not safety_alone:
        report = report._replace(executable=_withdraw_claim(report.executable), goal=_withdraw_claim(report.goal))
    return report._replace(headline=Headline.UNKNOWN, safe=_withdraw_claim(report.safe), certificate=None)


def _withdraw_claim(worlds: Worlds) -> Worlds:
    """Return UNKNOWN instead of ALL; the other values do not depend on the input that was not understood."""
    return Worlds.UNKNOWN if worlds is Worlds.ALL else worlds
