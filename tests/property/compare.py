"""The engine's report and the kernel's judgement on one plan, held against each other."""

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


class Seen(NamedTuple):
    """A finding as one side sees it. ``blame`` is None where that side cannot tell.

    Unless ``exact``, the other side may rightly see it earlier: at a smaller step, unless the plan is ``timed``, where
    the numbers of steps need not follow the letters.
    """

    step: int
    exact: bool
    blame: str | None
    readings: frozenset[str]
    timed: bool = False

    def known_by(self, other: Seen) -> bool:
        """Whether the other finding may be this one, seen earlier."""
        return not self.exact and (self.timed or other.step <= self.step)


class Verdict(NamedTuple):
    """What is compared, from either side."""

    headline: str
    executable: bool | None
    goal: bool | None
    safe: bool | None
    ill_formed: frozenset[int]
    failed: frozenset[tuple[str, int]]
    findings: dict[tuple[str, Bound], list[Seen]]
    undecided: frozenset[str]
    instances: dict[str, int]
    preferences: dict[str, int]
    blame_known: bool = True  # else the headline hangs on blame that this side cannot tell


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
            messages = [f"{d.code} {d.message}" for d in self.checker.diagnostics]
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
            theirs = judged(self.kernel, plan)
        except KernelLimit:  # numbers beyond 65,536 bits, in some reading: the kernel has no opinion
            return []
        return differences(from_report(report), theirs, self.cautious)


def kernel_verdicts(case: Case) -> list[Verdict]:
    """The kernel's verdicts on the plans of a case."""
    kernel = kernel_of(case)
    return [judged(kernel, plan) for plan in case.plans]


def cautious_rules(case: Case) -> frozenset[str]:
    """Rules with temporal operators that read numbers: undefined as soon as they meet an undefined number."""
    out = set()
    for rule in case.rules:
        words = set(write(rule).replace("(", " ").replace(")", " ").split())
        if words & {"f", "g"} and (
            words & {*TEMPORAL, "action", ":on", ":at-end", ":during"} or rule[0] == ":obligation"
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
    exempt = [(e.rules, e.objects) for e in criteria.exemptions]
    return Kernel(*texts, judge=criteria.judge, min_severity=criteria.min_severity, exemptions=exempt)


def judged(kernel: Kernel, plan: Plan) -> Verdict:
    """The kernel's verdict on a plan."""
    verdict = from_judgement(kernel.audit(plan_text(plan)), any(step.time is not None for step in plan))
    return verdict if verdict.failed or verdict.ill_formed else only_halt(verdict)


def only_halt(verdict: Verdict) -> Verdict:
    """Where no step fails the three readings are one, and the report names the first alone."""
    halt = frozenset({"halt"})
    findings = {key: [seen._replace(readings=halt) for seen in found] for key, found in verdict.findings.items()}
    return verdict._replace(findings=findings)


def from_report(report: Report) -> Verdict:
    """The engine's side."""
    findings: dict[tuple[str, Bound], list[Seen]] = {}
    soft = {count.name for count in report.rules if count.status == "preference violated"}
    for f in (*report.findings, *[f for used in report.verdict_basis.exempted for f in used.findings]):
        if f.finding_class in RULE_CLASSES and f.rule is not None:
            seen = Seen(f.step, True, f.blame.value if f.blame else None, frozenset(f.readings))
            findings.setdefault((f.rule, tuple(sorted(f.binding))), []).append(seen)
    wrong = [f for f in report.findings if f.finding_class is FindingClass.INEXECUTABLE]
    return Verdict(
        report.headline.value if report.headline else "unreadable",
        WORLDS[report.executable.value],
        WORLDS[report.goal.value],
        WORLDS[report.safe.value],
        frozenset(f.step for f in report.findings if f.finding_class is FindingClass.ILL_FORMED),
        frozenset((reading, f.step) for f in wrong for reading in f.readings),
        findings,
        frozenset(f.rule or "" for f in report.findings if f.finding_class is FindingClass.UNDECIDED) - soft,
        {count.name: count.instances for count in report.rules},
        {name: count for name, count in report.preferences_violated if count},
    )


def from_judgement(judgement: KernelVerdict, timed: bool) -> Verdict:
    """The kernel's side."""
    findings: dict[tuple[str, Bound], list[Seen]] = {}
    for f in judgement.findings:
        findings.setdefault((f.rule, f.binding), []).append(Seen(f.step, f.exact_step, f.blame, f.readings, timed))
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
    """One line for each disagreement. ``cautious`` rules may be undecided where the kernel knows their value."""
    out = []
    given_up = (engine.undecided - kernel.undecided) & cautious
    silent = engine.undecided & cautious if not kernel.failed and not kernel.ill_formed else cautious
    if given_up:
        engine = excused(engine, kernel)
    if kernel.ill_formed:
        # A happening that the plan stops before may hold an ill-formed step and others that fail, too.
        failed = {(reading, step) for reading, step in engine.failed if reading != "halt"}
        failed |= {(reading, step) for reading, step in kernel.failed if reading == "halt"}
        engine = engine._replace(failed=frozenset(failed))
    for field in ("headline", "executable", "goal", "safe", "ill_formed", "failed", "preferences"):
        ours, theirs = getattr(engine, field), getattr(kernel, field)
        hangs = not kernel.blame_known and theirs in (None, "UNKNOWN") and ours != "INVALID"
        if ours != theirs and not hangs:
            out.append(f"{field}: engine {shown(ours)}, kernel {shown(theirs)}")
    counts = {name: (engine.instances.get(name), count) for name, count in kernel.instances.items()}
    wrong = {name: pair for name, pair in counts.items() if pair[0] != pair[1]}
    if wrong:
        out.append(f"instances (engine, kernel): {wrong}")
    apart = {rule for rule, _ in {**engine.findings, **kernel.findings}} | given_up
    if engine.undecided - apart != kernel.undecided - apart:
        out.append(f"undecided: engine {shown(engine.undecided)}, kernel {shown(kernel.undecided)}")
    for key in sorted({*engine.findings, *kernel.findings}):
        ours, theirs = engine.findings.get(key, []), kernel.findings.get(key, [])
        problem = extra_findings(ours, theirs) if key[0] in silent else compare_findings(ours, theirs)
        if problem:
            out.append(f"findings of {key[0]} {dict(key[1])}: {problem}")
    return out


def excused(engine: Verdict, kernel: Verdict) -> Verdict:
    """The engine's verdict, where it gave up on a rule that the kernel decides, and claims nothing better."""
    if engine.headline == "UNKNOWN" and kernel.headline in ("UNSAFE", "SAFE", "VALID"):
        engine = engine._replace(headline=kernel.headline)
    return engine._replace(safe=kernel.safe if engine.safe is None else engine.safe, preferences=kernel.preferences)


def extra_findings(ours: list[Seen], theirs: list[Seen]) -> str:
    """Findings that the engine alone has; where it gave up, it may lack some."""
    for seen in ours:
        if not any(seen.step == other.step or other.known_by(seen) for other in theirs):
            return f"engine {lines(ours)}, kernel {lines(theirs)}"
    return ""


def shown(value: object) -> object:
    """A value, sets in order."""
    return sorted(value, key=str) if isinstance(value, frozenset) else value


def compare_findings(ours: list[Seen], theirs: list[Seen]) -> str:
    """How the findings of one rule under one binding differ; empty if they do not."""
    text = f"engine {lines(ours)}, kernel {lines(theirs)}"
    steps = [seen.step for seen in ours]
    if len(steps) != len(set(steps)):
        return f"one step twice: {text}"
    exact = {seen.step: seen for seen in theirs if seen.exact}
    loose = [seen for seen in theirs if not seen.exact]
    rest = [seen for seen in ours if seen.step not in exact]
    if not loose:
        if {*steps} != {*exact}:
            return text
    else:
        # The engine may know earlier that a prefix is lost.
        if not {*exact} <= {*steps} or any(not any(other.known_by(seen) for seen in ours) for other in loose):
            return text
        if any(not any(other.known_by(seen) for other in loose) for seen in rest):
            return text
        if union(ours) != union(theirs):
            return text
    for seen in ours:
        other = exact.get(seen.step)
        if other is not None and not any(unsure.known_by(seen) for unsure in loose):
            if not loose and seen.readings != other.readings:
                return text
            if other.blame is not None and seen.blame != other.blame:
                return text
    return ""


def union(findings: Iterable[Seen]) -> frozenset[str]:
    """The readings of any of them."""
    return frozenset(reading for seen in findings for reading in seen.readings)


def lines(findings: list[Seen]) -> str:
    """Findings on one line."""
    parts = []
    for seen in sorted(findings, key=lambda seen: seen.step):
        sure = "" if seen.exact else "?"
        parts.append(f"step {seen.step}{sure} {seen.blame} {'/'.join(sorted(seen.readings))}")
    return "; ".join(parts) or "none"
