"""Verdicts on a task and its rewriting, compared up to renaming, and costs of repairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from metamorphic_task import Task, field, words_of
from symbols import symbols_of, typed_pairs
from traversal import ACTION_MODES, FUTURE, OPERATORS, STEP_FIELDS, TRACE, steps_of

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions
from plansafe.verifier.reporting.report import FindingClass, Report

BLAMES = ("introduced", "worsened", "pre-existing", "")
READINGS = ("halt", "skip", "force")
OPTIONS = Options(max_findings=1_000_000, replay="never", blame=BLAMES[:3])
FAILURES = (FindingClass.ILL_FORMED, FindingClass.INEXECUTABLE, FindingClass.UNMET_GOAL)
Binding = tuple[tuple[str, str], ...]
NONE: Mapping[str, Any] = MappingProxyType({})


class Invariants(NamedTuple):
    """The parts of a report that a rewriting does not change, besides the verdict and the steps that fail.

    ``bindings``: the objects that findings name; if false, only objects of the rule's declared parameters. ``steps``:
    step and blame of occurrences. ``trace_steps``: step and blame of findings about the whole trace, which
    docs/language.md defines "as far as the engine can tell". ``kinds``: the finding's class. ``instances``: their
    number for each rule. ``undecided``: the rules that are undecided; section 4 allows a rule with temporal
    operators to be. ``failures``: if false, plans with failed steps are not compared.
    """

    bindings: bool = True
    steps: bool = True
    trace_steps: bool = True
    kinds: bool = True
    instances: bool = True
    undecided: bool = True
    failures: bool = True


EVERYTHING = Invariants()
EQUIVALENT_FORMULAS = Invariants(trace_steps=False, undecided=False)


class Names(NamedTuple):
    """How names of a rewritten task translate to the original's; a name that is missing is the same.

    ``rules`` may map several rules to one. ``bindings`` are variables that a rewritten rule has lost, with objects.
    """

    objects: Mapping[str, str] = NONE
    variables: Mapping[str, str] = NONE
    rules: Mapping[str, str] = NONE
    bindings: Mapping[str, Binding] = NONE


class Finding(NamedTuple):
    """A violation. Fields that a rewriting does not keep are None."""

    rule: str
    kind: str | None
    binding: Binding
    step: int | None
    blame: str | None
    readings: frozenset[str]


class Verdict(NamedTuple):
    """The compared parts of a report."""

    headline: str
    worlds: tuple[str, str, str]
    failures: frozenset[tuple[str, int, str]]
    findings: frozenset[Finding]
    undecided: frozenset[str]
    instances: dict[str, int]
    preferences: dict[str, int]


class RuleFacts(NamedTuple):
    """What the text of a task says about its rules: those with occurrences, declared parameters, cautious rules."""

    occurring: frozenset[str]
    declared: dict[str, frozenset[str]]
    cautious: frozenset[str]


def rule_facts(task: Task) -> RuleFacts:
    """The facts about the rules of a task. A constraint counts as about the whole trace, and declares nothing."""
    functions = set(symbols_of(task).functions)
    temporal = {*OPERATORS, *ACTION_MODES, *STEP_FIELDS, ":obligation"}
    occurring, declared, cautious = set(), {}, set()
    for rule in task.rules():
        words = set(words_of(rule))
        formula = field(rule, ":formula")
        if (rule[0] != ":trajectory" and ":within" not in rule) or (
            formula[:1] == ("always",) and not has_future(formula[1])
        ):
            occurring.add(rule[1])
        steps = {term for step in steps_of(rule) for term in step[1:] if term[0] == "?"}
        declared[rule[1]] = frozenset((*steps, *[name for name, _ in typed_pairs(field(rule, ":parameters"))]))
        if words & functions and words & temporal:
            cautious.add(rule[1])
    for tree in (task.domain, task.problem):
        if any(part[0] == ":constraints" and set(words_of(part)) & functions for part in tree[2:]):
            cautious |= {f"constraint-{number}" for number in range(50)} | {f"wish-{number}" for number in range(9)}
    return RuleFacts(frozenset(occurring), declared, frozenset(cautious))


def has_future(tree: object) -> bool:
    """True if a formula has an operator that is not a past one."""
    if not isinstance(tree, tuple) or not tree:
        return False
    future = tree[0] in (*FUTURE, *TRACE) and any(isinstance(part, tuple) for part in tree[1:])
    return future or any(has_future(part) for part in tree)


class Judge:
    """A task, compiled. ``problem`` says why it is rejected, if it is."""

    def __init__(self, task: Task) -> None:
        self.task = task
        specs = [Source(f"rules-{n}.safe", text) for n, text in enumerate(task.spec_texts())]
        domain, problem = Source("domain.pddl", task.domain_text()), Source("problem.pddl", task.problem_text())
        by_name = {f"rules-{n}": spec for n, spec in enumerate(specs)}
        self.checker = Checker(domain, problem, specs[:1], OPTIONS, lambda name, _: by_name.get(name))
        errors = [f"{diagnostic.code} {diagnostic.message}" for diagnostic in self.checker.diagnostics]
        self.problem = "" if self.checker.ok else "; ".join(errors[:3])

    @cached_property
    def facts(self) -> RuleFacts:
        """The facts about the rules."""
        return rule_facts(self.task)

    @cached_property
    def reports(self) -> list[Report]:
        """The report on each plan."""
        texts = enumerate(self.task.plan_texts())
        return [self.checker.check(Source(f"{number}.plan", text)) for number, text in texts]

    def repair_costs(self, most: int) -> list[str]:
        """The status and least cost of a repair of each plan; without time limit, up to a cost."""
        costs = []
        options = RepairOptions(max_cost=most, max_repairs=1, time_limit_s=None)
        for number, text in enumerate(self.task.plan_texts()):
            result = repair(self.checker, Source(f"{number}.plan", text), options)
            cost = f" {result.repairs[0].cost}" if result.repairs and result.optimal else ""
            has_none = "NONE" in result.status.name or "NOT" in result.status.name
            costs.append(f"{'none' if has_none else result.status.value}{cost}")
        return costs


def translated(report: Report, names: Names) -> Verdict:
    """The verdict of a report, in the names of the original task."""
    soft = {count.name for count in report.rules if count.status.startswith("preference")}
    findings: list[Finding] = []
    failures: set[tuple[str, int, str]] = set()
    for finding in report.findings:
        if finding.finding_class in FAILURES:
            failures |= {(finding.finding_class.value, finding.step, reading) for reading in finding.readings}
        elif finding.finding_class is not FindingClass.UNDECIDED and finding.rule is not None:
            pairs = [
                (names.variables.get(variable, variable), names.objects.get(name, name))
                for variable, name in finding.binding
            ]
            binding = tuple(sorted([*pairs, *names.bindings.get(finding.rule, ())]))
            blame = finding.blame.value if finding.blame else None
            readings = frozenset(finding.readings)
            rule = names.rules.get(finding.rule, finding.rule)
            worlds = finding.worlds.value if finding.worlds else ""
            findings.append(Finding(rule, finding.finding_class.value + worlds, binding, finding.step, blame, readings))
    undecided = {
        finding.rule or "" for finding in report.findings if finding.finding_class is FindingClass.UNDECIDED
    } - soft
    instances: Counter[str] = Counter()
    for count in report.rules:
        instances[names.rules.get(count.name, count.name)] += count.instances
    return Verdict(
        report.headline.value if report.headline else "unreadable",
        (report.executable.value, report.goal.value, report.safe.value if +instances else "not checked"),
        frozenset(failures),
        frozenset(united(findings)),
        frozenset(names.rules.get(name, name) for name in undecided),
        dict(instances),
        {name: count for name, count in report.preferences_violated if count},
    )


def united(findings: list[Finding]) -> Iterator[Finding]:
    """Findings that are the same but for blame and readings as one (docs/language.md, Blame)."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding[:4], []).append(finding)
    for group in groups.values():
        readings = frozenset(reading for finding in group for reading in finding.readings)
        first = next(reading for reading in READINGS if reading in readings)
        blames = [finding.blame or "" for finding in group if first in finding.readings]
        yield group[0]._replace(blame=min(blames, key=BLAMES.index), readings=readings)


def differences(
    ours: Report, theirs: Report, names: Names, invariants: Invariants, facts: RuleFacts, occurring: frozenset[str]
) -> list[str]:
    """Describe where the reports on a plan and on its rewriting disagree. ``occurring``: of the rewritten rules."""
    original, rewritten = translated(ours, Names()), translated(theirs, names)
    if original.failures and not invariants.failures:
        return []
    excused = (original.undecided | rewritten.undecided) & facts.cautious if not invariants.undecided else frozenset()
    both = facts.occurring & occurring
    messages = []
    if not excused or "UNKNOWN" not in (original.headline, rewritten.headline):
        messages += _unlike("headline", _headline(original, invariants), _headline(rewritten, invariants))
    messages += _unlike("executable, goal", original.worlds[:2], rewritten.worlds[:2])
    if not excused:
        if invariants.instances or "not checked" not in (original.worlds[2], rewritten.worlds[2]):
            messages += _unlike("safe", original.worlds[2], rewritten.worlds[2])
        messages += _unlike("preferences", original.preferences, rewritten.preferences)
    messages += _unlike("failures", sorted(original.failures), sorted(rewritten.failures))
    messages += _unlike("undecided", sorted(original.undecided - excused), sorted(rewritten.undecided - excused))
    if invariants.instances:
        messages += _unlike("instances", +Counter(original.instances), +Counter(rewritten.instances))
    many = bool(ours.worlds or theirs.worlds)
    view: Callable[[Iterable[Finding]], frozenset[tuple[object, ...]]] = lambda findings: frozenset(  # noqa: E731
        line
        for finding in findings
        if finding.rule not in excused
        for line in _compared_fields(finding, invariants, facts, both, many)
    )
    mine, yours = view(original.findings), view(rewritten.findings)
    for sign, lines in (("lost", mine - yours), ("new", yours - mine)):
        messages += [f"finding {sign}: {' '.join(map(str, line))}" for line in sorted(lines, key=str)]
    return messages


def _headline(verdict: Verdict, invariants: Invariants) -> str:
    """The headline; SAFE and VALID differ in the number of instances alone."""
    return "SAFE" if verdict.headline == "VALID" and not invariants.instances else verdict.headline


def _compared_fields(
    finding: Finding, invariants: Invariants, facts: RuleFacts, occurring: frozenset[str], many: bool
) -> list[tuple[object, ...]]:
    """Return the compared fields of a finding, a line for each reading."""
    exact = invariants.steps and not many and (invariants.trace_steps or finding.rule in occurring)
    kind = finding.kind if invariants.kinds else ""
    binding = finding.binding
    if not invariants.bindings or (not invariants.trace_steps and finding.rule not in occurring):
        binding = tuple(pair for pair in binding if pair[0] in facts.declared.get(finding.rule, ()))
    line = (finding.rule, kind, binding, finding.step if exact else None)
    if exact and invariants.bindings:
        return [(*line, finding.blame, ",".join(sorted(finding.readings)))]
    return [(*line, None, reading) for reading in finding.readings]


def _unlike(aspect: str, original: object, rewritten: object) -> list[str]:
    return [] if original == rewritten else [f"{aspect}: {original}, rewritten {rewritten}"]
