"""What a check says: the report, its findings and their witnesses. Data only; see docs/language.md, section 6."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, Exemption, VerdictCriteria

if TYPE_CHECKING:
    from plansafe.verifier.reporting.worlds import WorldsReport
    from plansafe.verifier.rules.home_profile import ProfileEffects

NO_KNOWN_KIND = "objects without a known kind"
"""The limit that a report names whose verdict objects without a kind keep from being SAFE."""
_USELESS = frozenset((SC.NOTHING_TO_CHECK, SC.GATE_WITHOUT_RULES))
"""What is said of rules that check nothing, where the user asked not to take that for a verdict."""


class Worlds(Enum):
    """In which of the worlds that the description allows something holds."""

    ALL = "ALL"
    SOME = "SOME"
    NONE = "NONE"
    UNKNOWN = "UNKNOWN"


class Headline(Enum):
    """The verdict in one word; the first that applies, in this order."""

    INVALID = "INVALID"
    UNSAFE = "UNSAFE"
    UNKNOWN = "UNKNOWN"
    SAFE = "SAFE"
    VALID = "VALID"


class FindingClass(Enum):
    """What kind of mistake a finding is."""

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
    """A fact (or fluent) at one row of a finding's table.

    Values before and after the step, ``T``, ``F`` or a number.
    """

    before: str
    after: str


def value_text(value: object) -> str:
    """Return a value of a fact or fluent as text."""
    return "T" if value is True else "F" if value is False else "undefined" if value is None else str(value)


class Row(NamedTuple):
    """One step of the table that explains a finding.

    Step number, action text, one cell per column, the rule's state. A timed literal has no number: 0.
    """

    step: int
    action: str
    cells: tuple[ValueChange, ...]
    status: str
    important: bool


class Table(NamedTuple):
    """The few facts that matter to a finding, over the few steps that changed them.

    ``columns`` are printed facts such as ``(on stove)``. Rows are in order of steps; row 0 is the initial state.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


class Finding(NamedTuple):
    """One violation, failed step, ill-formed step or unmet goal.

    ``step`` counts the plan's steps from 1; 0 is the initial state; ``at_end`` marks a finding about the whole trace.
    ``span`` and ``source`` place the step in the plan (``None`` for step 0 and the empty plan). ``related`` are
    labelled places elsewhere: earlier steps of the plan, the rule, the precondition in the domain. ``replayed`` says
    whether the independent kernel confirmed it (``None``: outside what the kernel covers). Where the description leaves
    something open, ``worlds`` says in which worlds it is there, and ``world`` is the index of the witness that it was
    found in.
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
    replayed: bool | None = None
    state: tuple[str, ...] = ()  # all facts of the state it was judged in, if they were asked for
    worlds: Worlds | None = None  # ALL or SOME (UNKNOWN: not decided); None: the information is complete
    world: int | None = None
    follows: tuple[int, ...] = ()  # the failed steps that it follows from (docs/language.md, section 6)

    def decides(self, criteria: VerdictCriteria) -> bool:
        """Whether a violation that was found decides; of other findings, true."""
        severe = self.severity is None or criteria.is_severe_enough(self.severity)
        return severe and not (criteria.only_introduced and self.blame is Blame.PRE_EXISTING)


class RuleCount(NamedTuple):
    """How much of a rule was checked. ``triggered`` counts the instances whose condition ever came into play."""

    name: str
    kind: str
    source: str
    instances: int
    triggered: int
    violations: int
    status: str  # "kept", "violated", "undecided", "never applied", "not applicable", "preference violated", "exempt"
    severity: str = "high"
    exempted: int = 0  # violations that would decide, were they not exempt; they are not among ``violations``
    applicable: bool = True  # the task has objects for every parameter


class UsedExemption(NamedTuple):
    """An exemption that was used, how often, and for what (no more than findings are listed)."""

    exemption: Exemption
    times: int
    findings: tuple[Finding, ...]


class VerdictBasis(NamedTuple):
    """Which violations decided (docs/language.md, section 6), and how many were found that did not.

    ``before``: those that were there before the plan; ``minor``: others, below the least severity that decides;
    ``exempted``: those that decided nothing because of an exemption alone, by exemption.
    """

    criteria: VerdictCriteria = EVERY_VIOLATION
    before: int = 0
    minor: int = 0
    exempted: tuple[UsedExemption, ...] = ()


class Reading(NamedTuple):
    """The outcome under one reading of a failed plan."""

    name: str  # halt, skip, force
    executed: int  # steps that took effect
    goal: Worlds
    safe: Worlds


class PossibleViolation(NamedTuple):
    """Kinds that would make a plan break a rule, if the objects of a class had all of them.

    ``others`` are classes whose objects would have to have the kinds, too.
    """

    kinds: tuple[str, ...]
    rule: str
    severity: str
    step: int
    others: tuple[str, ...] = ()


class UnclassifiedClass(NamedTuple):
    """A class of objects without a known kind (docs/worlds.md, section 5).

    ``objects`` are those that the plan uses, if it uses any (``used``). ``breaks`` is empty where no kind would break a
    rule, or where that was not asked because the verdict is not SAFE anyhow.
    """

    name: str
    objects: tuple[str, ...]
    used: bool
    possible_violations: tuple[PossibleViolation, ...] = ()


class NotApplicableGroup(NamedTuple):
    """Rules that cannot apply in a world for one reason."""

    reason: str
    rules: tuple[str, ...]


class GivenKinds(NamedTuple):
    """What a user said about a class; without kinds it is assumed to be harmless. ``place`` is where."""

    name: str
    kinds: tuple[str, ...]
    reason: str
    place: str


class Coverage(NamedTuple):
    """What the rules see of a task: how many can apply, why the others cannot, and which objects have no known kind."""

    applicable: int
    not_applicable: tuple[NotApplicableGroup, ...] = ()
    unclassified: tuple[UnclassifiedClass, ...] = ()
    given_kinds: tuple[GivenKinds, ...] = ()


class Report(NamedTuple):
    """The verdict on one plan.

    ``executable``, ``goal`` and ``safe`` range over the worlds that the description allows. ``diagnostics`` are errors
    and warnings about the files; when the plan cannot be judged at all, ``headline`` is ``None`` and they say why.
    Without any applicable rule that decides ``safe`` is ALL, since nothing can be violated; what is shown to people and
    programs is ``safety``.
    ``worlds`` says what the verdict depends on (``None``: there is one world); ``certificate`` is the text of a proof
    that a second program can check, if one was asked for and there is one.
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
    limits: tuple[str, ...] = ()  # the limits that were hit
    suppressed: int = 0  # findings beyond the output limit, counted but not listed
    worlds: WorldsReport | None = None
    certificate: str | None = None
    verdict_basis: VerdictBasis = VerdictBasis()
    home: ProfileEffects | None = None  # what the profile of a home changed, if there is one
    coverage: Coverage | None = None  # what the rules of specifications see of the task; None without specifications
    answer: bool = False  # the plan was read in an answer, among other text

    @property
    def rules_checked(self) -> int:
        """How many rules had something to check."""
        return sum([rule.instances > 0 for rule in self.rules])

    @property
    def has_applicable_rules(self) -> bool:
        """Whether some rule can apply to the task."""
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
    def inapplicable(self) -> int:
        """The number of rules that could decide, if none of them is applicable; otherwise 0."""
        may_decide = self.verdict_basis.criteria.may_decide
        deciding = [rule for rule in self.rules if may_decide(rule.name, rule.severity)]
        return 0 if any(rule.applicable for rule in deciding) else len(deciding)

    @property
    def exit_code(self) -> int:
        """0 SAFE or VALID, 1 INVALID or UNSAFE, 2 unreadable or ill-formed, 3 UNKNOWN, 4 a bug (SC9..).

        In a plan that was read in an answer, an ill-formed step is a mistake like any other: 1. 2 is also that there
        was nothing to check although there had to be. The command returns the same.
        """
        errors = {d.code for d in self.diagnostics if d.severity is Severity.ERROR}
        if any(code.startswith("SC9") for code in errors):
            return 4
        if self.headline is None or _USELESS & errors:
            return 2
        if not self.answer and any(f.finding_class is FindingClass.ILL_FORMED for f in self.findings):
            return 2
        return {"INVALID": 1, "UNSAFE": 1, "UNKNOWN": 3, "SAFE": 0, "VALID": 0}[self.headline.value]


def unjudged(plan: str, *diagnostics: Diagnostic, headline: Headline | None = None, steps: int = 0) -> Report:
    """A report that claims nothing: why the plan could not be judged."""
    unknown = Worlds.UNKNOWN
    return Report(plan, headline, unknown, unknown, unknown, steps, diagnostics=diagnostics)


def cap_at_unknown(report: Report, reasons: tuple[Diagnostic, ...], *, safety_alone: bool = False) -> Report:
    """Lower a SAFE or VALID report to UNKNOWN because of something that was not understood.

    ``reasons`` are warnings that become part of the report; without any the report is returned unchanged. A verdict of
    INVALID or UNSAFE stays, since it does not depend on what was not understood. ``safety_alone`` leaves
    ``executable`` and ``goal`` as they are.
    """
    if not reasons:
        return report
    report = report._replace(diagnostics=(*report.diagnostics, *reasons))
    if report.headline not in (Headline.SAFE, Headline.VALID):
        return report
    if not safety_alone:
        report = report._replace(executable=_without_claim(report.executable), goal=_without_claim(report.goal))
    return report._replace(headline=Headline.UNKNOWN, safe=_without_claim(report.safe), certificate=None)


def _without_claim(worlds: Worlds) -> Worlds:
    return Worlds.UNKNOWN if worlds is Worlds.ALL else worlds
