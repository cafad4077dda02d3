"""The engine's report and the kernel's judgement on one plan, compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from case import Case, Plan, plan_text, write
from formulas import FUTURE_BINARY, FUTURE_UNARY, PAST_UNARY, PDDL3

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.kernel import Kernel, KernelLimit, KernelRejects, KernelVerdict
from plansafe.verifier.reporting.report import FindingClass, Report
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, Exemption, VerdictCriteria

RULE_CLASSES = (
    FindingClass.PROCESS,
    FindingClass.TRAJECTORY,
    FindingClass.TERMINATION,
    FindingClass.OBLIGATION,
    FindingClass.CONSTRAINT,
)
WORLDS = {"ALL": True, "NONE": False, "UNKNOWN": None}
TEMPORAL = {*PAST_UNARY, "since", *FUTURE_UNARY, *FUTURE_BINARY, *PDDL3, "at", "action", ":on", ":at-end", ":during"}
STEP_CONDITIONS = {"action", "action-start", "action-end", "action-during"}
EXEMPT = (
    Exemption(
        frozenset([f"rule-{i}" for i in range(0, 24, 2)]), frozenset(("c1", "c2", "p1")), "things", "tried", "here"
    ),
    Exemption(frozenset(("rule-1", "rule-5", "rule-6")), None, "rules", "tried", "here"),
)
"""Exemptions that fit many random cases: of rules that name certain objects, and of whole rules."""
BLAMES = ("introduced", "worsened", "pre-existing")
OPTIONS = Options(max_findings=1_000_000, replay="never", blame=BLAMES)
Bound = tuple[tuple[str, str], ...]


class ComparedFinding(NamedTuple):
    """A finding of the engine or of the kernel. ``blame`` is None if that side does not determine it.

    Unless ``exact``, the other side may report the finding earlier: at a smaller step, or at any step if the plan is
    ``timed``, where step numbers need not be in the order of the letters.
    """

    step: int
    exact: bool
    blame: str | None
    readings: frozenset[str]
    timed: bool = False

    def may_be_reported_as(self, candidate: ComparedFinding) -> bool:
        """Whether the other finding may be this one, reported earlier."""
        return not self.exact and (self.timed or candidate.step <= self.step)


class Verdict(NamedTuple):
    """The compared parts of a report of the engine or of a judgement of the kernel."""

    headline: str
    executable: bool | None
    goal: bool | None
    safe: bool | None
    ill_formed: frozenset[int]
    failed: frozenset[tuple[str, int]]
    findings: dict[tuple[str, Bound], list[ComparedFinding]]
    undecided: frozenset[str]
    instances: dict[str, int]
    preferences: dict[str, int]
    blame_known: bool = True  # else the headline depends on blame that this side does not determine


class Both:
    """Engine and kernel, each compiled once for a case, for one choice of criteria.

    ``problem`` says why they cannot be compared, if so.
    """

    def __init__(self, case: Case, criteria: VerdictCriteria = EVERY_VIOLATION) -> None:
        texts = case.domain_text(), case.problem_text(), case.safety_text()
        self.problem = ""
        self.cautious = cautious_rules(case)
        reason = ""
        try:
            self.kernel = kernel_of(case, criteria)
        except KernelRejects as rejection:
            reason = str(rejection)
        names = ("domain.pddl", "problem.pddl", "rules.safe")
        sources = [Source(name, text) for name, text in zip(names, texts, strict=True)]
        self.checker = Checker(
            sources[0], sources[1], sources[2:] if texts[2] else [], OPTIONS._replace(**criteria._asdict())
        )
        if reason or not self.checker.ok:
            messages = [f"{diagnostic.code} {diagnostic.message}" for diagnostic in self.checker.diagnostics]
            sides = f"kernel: {reason or 'accepts'}; engine: {messages[:3] if not self.checker.ok else 'accepts'}"
            self.problem = f"rejected; {sides}"

    @property
    def rules(self) -> int:
        """How many rules (constraints and preferences among them) each plan is held against."""
        return len(self.checker.rules)

    def differences(self, plan: Plan) -> list[str]:
        """Where the two disagree about a plan."""
        report = self.checker.check(Source("random.plan", plan_text(plan)))
        try:
            theirs = kernel_verdict(self.kernel, plan)
        except KernelLimit:  # numbers beyond 65,536 bits, in some reading: the kernel has no opinion
            return []
        return differences(from_report(report), theirs, self.cautious)


def kernel_verdicts(case: Case) -> list[Verdict]:
    """The kernel's verdicts on the plans of a case."""
    kernel = kernel_of(case)
    return [kernel_verdict(kernel, plan) for plan in case.plans]


def cautious_rules(case: Case) -> frozenset[str]:
    """Rules with temporal operators that read numbers: undefined as soon as they meet an undefined number."""
    out = set()
    for rule in case.rules:
        words = set(write(rule).replace("(", " ").replace(")", " ").split())
        if words & {"f", "g"} and (
            words & {*TEMPORAL, *STEP_CONDITIONS, ":on", ":at-end", ":during"} or rule[0] == ":obligation"
        ):
            out.add(str(rule[1]))
    for constraint in (*case.laws, *case.constraints):
        if "(f " in write(constraint) or "(g)" in write(constraint):
            out |= {f"constraint-{i}" for i in range(50)} | {f"wish-{i}" for i in range(4)}
    return frozenset(out)


def kernel_of(case: Case, criteria: VerdictCriteria = EVERY_VIOLATION) -> Kernel:
    """The kernel for a case."""
    safety = case.safety_text()
    texts = (case.domain_text(), case.problem_text(), [safety] if safety else [])
    exempt = [(exemption.rules, exemption.objects) for exemption in criteria.exemptions]
    return Kernel(*texts, judge=criteria.judge, min_severity=criteria.min_severity, exemptions=exempt)


def kernel_verdict(kernel: Kernel, plan: Plan) -> Verdict:
    """The kernel's verdict on a plan."""
    verdict = from_judgement(kernel.audit(plan_text(plan)), any(step.time is not None for step in plan))
    return verdict if verdict.failed or verdict.ill_formed else only_halt(verdict)


def only_halt(verdict: Verdict) -> Verdict:
    """Keep only the reading ``halt``: if no step fails, the three readings agree, and the report names the first."""
    halt = frozenset({"halt"})
    findings = {
        key: [finding._replace(readings=halt) for finding in compared] for key, compared in verdict.findings.items()
    }
    return verdict._replace(findings=findings)


def from_report(report: Report) -> Verdict:
    """The verdict in a report of the engine."""
    findings: dict[tuple[str, Bound], list[ComparedFinding]] = {}
    violated_preferences = {count.name for count in report.rules if count.status == "preference violated"}
    for finding in (
        *report.findings,
        *[finding for used in report.verdict_basis.exempted for finding in used.findings],
    ):
        if finding.finding_class in RULE_CLASSES and finding.rule is not None:
            compared = ComparedFinding(
                finding.step, True, finding.blame.value if finding.blame else None, frozenset(finding.readings)
            )
            findings.setdefault((finding.rule, tuple(sorted(finding.binding))), []).append(compared)
    inexecutable = [finding for finding in report.findings if finding.finding_class is FindingClass.INEXECUTABLE]
    return Verdict(
        report.headline.value if report.headline else "unreadable",
        WORLDS[report.executable.value],
        WORLDS[report.goal.value],
        WORLDS[report.safe.value],
        frozenset(finding.step for finding in report.findings if finding.finding_class is FindingClass.ILL_FORMED),
        frozenset((reading, finding.step) for finding in inexecutable for reading in finding.readings),
        findings,
        frozenset(finding.rule or "" for finding in report.findings if finding.finding_class is FindingClass.UNDECIDED)
        - violated_preferences,
        {count.name: count.instances for count in report.rules},
        {name: count for name, count in report.preferences_violated if count},
    )


def from_judgement(judgement: KernelVerdict, timed: bool) -> Verdict:
    """The verdict in a judgement of the kernel."""
    findings: dict[tuple[str, Bound], list[ComparedFinding]] = {}
    for finding in judgement.findings:
        compared = ComparedFinding(finding.step, finding.exact_step, finding.blame, finding.readings, timed)
        findings.setdefault((finding.rule, finding.binding), []).append(compared)
    return Verdict(
        judgement.headline,
        judgement.executable,
        judgement.goal,
        judgement.safe,
        frozenset(judgement.ill_formed),
        frozenset((reading, step) for reading, steps in judgement.failed_steps.items() for step in steps),
        findings,
        frozenset(rule for rule, _ in judgement.undecided),
        judgement.instances,
        {name: count for name, count in judgement.preferences.items() if count},
        judgement.blame_known,
    )


def differences(engine: Verdict, kernel: Verdict, cautious: frozenset[str] = frozenset()) -> list[str]:
    """One line for each disagreement. The engine may leave ``cautious`` rules undecided that the kernel decides."""
    out = []
    undecided_rules = (engine.undecided - kernel.undecided) & cautious
    silenced_rules = engine.undecided & cautious if not kernel.failed and not kernel.ill_formed else cautious
    if undecided_rules:
        engine = with_kernel_claims(engine, kernel)
    if kernel.ill_formed:
        # A happening that the plan stops before may hold an ill-formed step and others that also fail.
        failed = {(reading, step) for reading, step in engine.failed if reading != "halt"}
        failed |= {(reading, step) for reading, step in kernel.failed if reading == "halt"}
        engine = engine._replace(failed=frozenset(failed))
    for field in ("headline", "executable", "goal", "safe", "ill_formed", "failed", "preferences"):
        ours, theirs = getattr(engine, field), getattr(kernel, field)
        depends_on_blame = not kernel.blame_known and theirs in (None, "UNKNOWN") and ours != "INVALID"
        if ours != theirs and not depends_on_blame:
            out.append(f"{field}: engine {in_order(ours)}, kernel {in_order(theirs)}")
    counts = {name: (engine.instances.get(name), count) for name, count in kernel.instances.items()}
    wrong = {name: pair for name, pair in counts.items() if pair[0] != pair[1]}
    if wrong:
        out.append(f"instances (engine, kernel): {wrong}")
    rules_with_findings = {rule for rule, _ in {**engine.findings, **kernel.findings}} | undecided_rules
    if engine.undecided - rules_with_findings != kernel.undecided - rules_with_findings:
        out.append(f"undecided: engine {in_order(engine.undecided)}, kernel {in_order(kernel.undecided)}")
    for key in sorted({*engine.findings, *kernel.findings}):
        ours, theirs = engine.findings.get(key, []), kernel.findings.get(key, [])
        problem = extra_findings(ours, theirs) if key[0] in silenced_rules else compare_findings(ours, theirs)
        if problem:
            out.append(f"findings of {key[0]} {dict(key[1])}: {problem}")
    return out


def with_kernel_claims(engine: Verdict, kernel: Verdict) -> Verdict:
    """The engine's verdict with the kernel's claims wherever the engine is only undecided."""
    if engine.headline == "UNKNOWN" and kernel.headline in ("UNSAFE", "SAFE", "VALID"):
        engine = engine._replace(headline=kernel.headline)
    return engine._replace(safe=kernel.safe if engine.safe is None else engine.safe, preferences=kernel.preferences)


def extra_findings(ours: list[ComparedFinding], theirs: list[ComparedFinding]) -> str:
    """Describe a finding that only the engine has; empty if there is none. The engine may lack findings."""
    for finding in ours:
        if not any(finding.step == candidate.step or candidate.may_be_reported_as(finding) for candidate in theirs):
            return f"engine {lines(ours)}, kernel {lines(theirs)}"
    return ""


def in_order(value: object) -> object:
    """The value; a set as a sorted list."""
    return sorted(value, key=str) if isinstance(value, frozenset) else value


def compare_findings(ours: list[ComparedFinding], theirs: list[ComparedFinding]) -> str:
    """Describe how the findings of one rule under one binding differ; empty if they agree."""
    text = f"engine {lines(ours)}, kernel {lines(theirs)}"
    steps = [finding.step for finding in ours]
    if len(steps) != len(set(steps)):
        return f"one step twice: {text}"
    exact = {finding.step: finding for finding in theirs if finding.exact}
    inexact = [finding for finding in theirs if not finding.exact]
    unmatched = [finding for finding in ours if finding.step not in exact]
    if not inexact:
        if {*steps} != {*exact}:
            return text
    else:
        # The engine may report a violation before the kernel's step.
        if not {*exact} <= {*steps} or any(
            not any(same_step.may_be_reported_as(finding) for finding in ours) for same_step in inexact
        ):
            return text
        if any(not any(same_step.may_be_reported_as(finding) for same_step in inexact) for finding in unmatched):
            return text
        if union(ours) != union(theirs):
            return text
    for finding in ours:
        same_step = exact.get(finding.step)
        if same_step is not None and not any(unsure.may_be_reported_as(finding) for unsure in inexact):
            if not inexact and finding.readings != same_step.readings:
                return text
            if same_step.blame is not None and finding.blame != same_step.blame:
                return text
    return ""


def union(findings: Iterable[ComparedFinding]) -> frozenset[str]:
    """All readings of the findings."""
    return frozenset(reading for finding in findings for reading in finding.readings)


def lines(findings: list[ComparedFinding]) -> str:
    """Findings on one line."""
    parts = []
    for finding in sorted(findings, key=lambda finding: finding.step):
        mark = "" if finding.exact else "?"
        parts.append(f"step {finding.step}{mark} {finding.blame} {'/'.join(sorted(finding.readings))}")
    return "; ".join(parts) or "none"
