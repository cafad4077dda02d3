"""The replay kernel: audits plans by executing the definitions (docs/language.md, section 6)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from .continuous_execution import ContinuousExecution
from .evaluation import holds
from .formulas import STEP_PREDICATES, Fact
from .happenings import Execution, Run, bind_preferences, find_unmet_preferences, schedule_events
from .open_range import AmbiguousComparison, Bounds, OpenRange
from .plan import TimedSteps, World, read_steps
from .reader import KernelLimit, KernelRejects, read_expressions, require
from .real_numbers import SymbolicReal
from .rule_instances import (
    Finding,
    FindingKey,
    Instance,
    InstanceKey,
    count_instances,
    evaluate_instances,
    find_violations,
)
from .rules import SEVERITIES, make_constraint_rules, read_specification
from .task import Task
from .trace import TRUE, UNDEFINED, State, StateChange, StepInterval, Trace, Work
from .worlds import Completion, Worlds

States = Sequence[Iterable[Fact]]
MAX_RANGES = 50
"""Maximum number of parts into which a range of values is split."""


@dataclass(frozen=True)
class KernelVerdict:
    """The verdict on a plan. All fields except ``failed_steps`` and the findings' readings are of the reading *halt*.

    ``safe`` is ``None`` if the kernel cannot decide it. ``ill_formed`` and ``failed_steps`` (by reading) are numbers of
    steps. ``preferences`` counts the violations of each preference. ``work`` counts evaluated formulas, visited facts
    and steps. ``blame_known`` is ``False`` if ``safe`` depends on blame that the kernel does not know; then ``safe`` is
    ``None``.
    """

    headline: str
    executable: bool
    goal: bool
    safe: bool | None
    ill_formed: tuple[int, ...]
    failed_steps: dict[str, tuple[int, ...]]
    findings: frozenset[Finding]
    undecided: frozenset[InstanceKey]
    instances: dict[str, int]
    preferences: dict[str, int]
    work: int = 0
    blame_known: bool = True

    def agrees(self, headline: str) -> bool:
        """Whether the headline is this verdict's, or is possible with the unknown blame."""
        is_undecided = self.headline == "UNKNOWN" and not self.blame_known
        return headline == self.headline or (is_undecided and headline != "INVALID")


class _HaltTrace(NamedTuple):
    """The trace of a plan in a world under the reading *halt*."""

    plan: str
    world: World | None
    trace: Trace


class _Safety(NamedTuple):
    """Whether a plan is safe (``None``: undecided), and whether the blame on which this depends is known."""

    safe: bool | None
    blame_known: bool


@contextmanager
def _limit_recursion() -> Iterator[None]:
    """Raise ``KernelLimit`` for too deep recursion, which long quantifiers also cause."""
    try:
        yield
    except RecursionError:
        raise KernelLimit("nested too deeply") from None


class Kernel:
    """The replay kernel for one domain, problem and any number of (expanded) safety specifications.

    Its methods raise ``KernelRejects`` for texts that are not in the language, or not covered (see README.md).
    ``literal``: execute every definition without the shortcuts that README.md lists. ``judge`` and ``min_severity``
    determine which violations decide. ``exemptions`` are rules with objects: a finding is exempt if it names one of the
    objects (None: always; docs/language.md, section 6). ``kinds`` are additional types, with the objects that also
    have them (docs/worlds.md, section 5).
    """

    @_limit_recursion()
    def __init__(
        self,
        domain: str,
        problem: str,
        safety: Sequence[str] = (),
        *,
        lenient: bool = False,
        tolerance: Fraction = Fraction(1, 1000),
        literal: bool = False,
        judge: str = "all",
        min_severity: str = SEVERITIES[-1],
        exemptions: Sequence[tuple[Collection[str], Collection[str] | None]] = (),
        kinds: Mapping[str, Collection[str]] = MappingProxyType({}),
    ) -> None:
        self._task = task = Task(read_expressions(domain), read_expressions(problem), lenient, tolerance, kinds)
        self._rules = make_constraint_rules(task)
        declared_open_facts, invariants = list[Fact](), []
        for text in safety:
            specification = read_specification(task, text)
            self._rules += specification.rules
            declared_open_facts += specification.open_facts
            invariants += specification.invariants
        self._worlds = Worlds(task, declared_open_facts, invariants, literal)
        self._literal = literal
        self._ignores_preexisting = judge in ("introduced", "mitigate")
        severities = SEVERITIES[: SEVERITIES.index(min_severity) + 1]
        self._deciding_rules = frozenset([rule.name for rule in self._rules if rule.severity in severities])
        self._exemptions = tuple(exemptions)
        self._last_halt_trace: _HaltTrace | None = None
        self.rules = tuple([rule.name for rule in self._rules])
        self.open_facts, self.open_fluents = self._worlds.facts, self._worlds.fluents

    @property
    def is_open(self) -> bool:
        """Whether the task has open facts or fluents."""
        return bool(self.open_facts or self.open_fluents)

    @_limit_recursion()
    def allows(self, facts: Collection[Fact], numbers: Mapping[Fact, Fraction]) -> bool:
        """Whether a completion is allowed: exactly these open facts are true, and open fluents have these values."""
        return self._worlds.make_initial_state(facts, numbers, Work()) is not None

    def completions(self) -> Iterator[Completion]:
        """Enumerate the allowed completions (exponential). Raises ``KernelLimit`` if there may be infinitely many."""
        return self._worlds.completions()

    @_limit_recursion()
    def audit(
        self,
        plan: str,
        world: World | None = None,
        other_readings: Sequence[str] = ("skip", "force"),
        limit: int | None = None,
    ) -> KernelVerdict:
        """Return the verdict on a plan. ``world`` is required if the task or the plan leaves anything open.

        Findings name the readings that have them, of *halt* and ``other_readings``. Raises ``KernelRejects`` if the
        text of the plan is unreadable or the world is not allowed; an ill-formed step is part of the verdict. Raises
        ``KernelLimit`` if the audit takes more work than ``limit``.
        """
        work = Work(limit)
        timed_steps = self._read_steps(plan, world)
        steps = timed_steps.steps
        work.spend(len(steps))
        halt = self._run(timed_steps, world, "halt", work)
        runs = {"halt": halt}
        ill_formed = tuple(sorted(step.number for step in steps if not step.action))
        for reading in other_readings:
            stops = ill_formed or halt.failed
            runs[reading] = self._run(timed_steps, world, reading, work) if stops else halt
        findings, undecided = self._find_violations(runs)
        instances = dict[str, int]()
        for rule in self._rules:
            instances[rule.name] = instances.get(rule.name, 0) + count_instances(rule, halt.trace)
        goal = holds(self._task.goal, {}, halt.state)
        executable = not halt.failed and not ill_formed
        safe, blame_known = self._decide_safety(findings, undecided, bool(ill_formed))
        return KernelVerdict(
            headline=self._find_headline(executable and goal, safe, instances),
            executable=executable,
            goal=goal,
            safe=safe,
            ill_formed=ill_formed,
            failed_steps={reading: run.failed for reading, run in runs.items()},
            findings=findings,
            undecided=undecided,
            instances=instances,
            preferences=self._count_unmet_preferences(halt),
            work=work.done,
            blame_known=blame_known,
        )

    def find_headlines(
        self, plan: str, world: World, fluent_or_step: Fact | int, bounds: Bounds, limit: int | None = None
    ) -> frozenset[str]:
        """Return the headlines for all values within bounds of a fluent, or of the duration of a step.

        ``world`` has the values of everything else that is open.

        Raises ``KernelRejects`` and ``KernelLimit``, as ``audit`` does.
        """
        headlines, ranges, range_count = set[str](), [bounds], 0
        while ranges:
            low, high = ranges.pop()
            range_count += 1
            require(range_count <= MAX_RANGES, "a range of values with many traces", KernelLimit)
            is_single_value = low is not None and low == high
            value = low if is_single_value else OpenRange(low, high).number()
            try:
                if isinstance(fluent_or_step, int):
                    completed_world = world._replace(durations={**world.durations, fluent_or_step: value})
                else:
                    completed_world = world._replace(numbers={**world.numbers, fluent_or_step: value})
                verdict = self.audit(plan, completed_world, (), limit)
            except AmbiguousComparison as change:
                if isinstance(change.value, SymbolicReal):
                    raise
                ranges += [(low, change.value), (change.value, change.value), (change.value, high)]
                continue
            headlines.add(verdict.headline)
            limit = None if limit is None else limit - verdict.work
        return frozenset(headlines)

    def _decide_safety(
        self, findings: frozenset[Finding], undecided: frozenset[InstanceKey], has_ill_formed: bool
    ) -> _Safety:
        """Decide whether the plan is safe from the findings of the reading *halt*."""
        blames = {finding.blame for finding in findings if "halt" in finding.readings and self._is_deciding(finding)}
        deciding_blames = blames & {"introduced", "worsened"} if self._ignores_preexisting else blames
        blame_known = not (self._ignores_preexisting and not deciding_blames and None in blames)
        is_unknown = has_ill_formed or not blame_known or any(rule in self._deciding_rules for rule, _ in undecided)
        if deciding_blames:
            return _Safety(False, blame_known)
        return _Safety(None if is_unknown else True, blame_known)

    def _find_headline(self, is_valid: bool, safe: bool | None, instances: dict[str, int]) -> str:
        """Return the headline of a plan; ``safe`` is ``None`` if it is undecided."""
        if not is_valid:
            return "INVALID"
        if safe is not True:
            return "UNKNOWN" if safe is None else "UNSAFE"
        exempt_rules = {name for rules, objects in self._exemptions if objects is None for name in rules}
        is_checked = any(count for name, count in instances.items() if name in self._deciding_rules - exempt_rules)
        return "SAFE" if is_checked else "VALID"

    def _is_deciding(self, finding: Finding) -> bool:
        """Whether a finding counts, apart from its blame: its rule is severe enough, and it is not exempt."""
        bound_objects = {name for _, name in finding.binding}
        is_exempt = any(
            finding.rule in rules and (objects is None or not bound_objects.isdisjoint(objects))
            for rules, objects in self._exemptions
        )
        return finding.rule in self._deciding_rules and not is_exempt

    def _read_steps(self, plan: str, world: World | None) -> TimedSteps:
        """Read the steps of a plan. Raises ``KernelRejects``, first for a world that is not allowed."""
        self._make_initial_state(world, Work())
        timed_steps = read_steps(plan, self._task, world or World())
        has_times = timed_steps.separation is not None
        require(has_times or not timed_steps.steps or not self._task.is_continuous, "steps without times")
        return timed_steps

    def _make_initial_state(self, world: World | None, work: Work) -> State:
        """Return S0 of a world. Raises ``KernelRejects`` if the world is missing or not allowed."""
        state = None
        if world or not self.is_open:
            chosen_world = world or World()
            state = self._worlds.make_initial_state(chosen_world.facts, chosen_world.numbers, work)
        if state is None:
            raise KernelRejects("no world, or one that is not allowed")
        return state

    def _run(self, plan: TimedSteps, world: World | None, reading: str, work: Work) -> Run:
        """Execute a plan under one reading."""
        steps, separation = plan
        state = self._make_initial_state(world, work)
        if self._task.is_continuous:
            execution: Execution = ContinuousExecution(
                self._task, state, reading, separation, world or World(), self._rules
            )
        else:
            execution = Execution(self._task, state, reading, separation, world or World())
        return execution.run(schedule_events(steps, self._task))

    def _find_violations(self, runs: Mapping[str, Run]) -> tuple[frozenset[Finding], frozenset[InstanceKey]]:
        """Return the findings of all readings, and the undecided instances under *halt*."""
        halt = runs["halt"]
        halt_findings, undecided = find_violations(self._rules, halt.trace)
        merged = dict[FindingKey, Finding]()
        for reading, run in runs.items():
            for finding in halt_findings if run is halt else find_violations(self._rules, run.trace)[0]:
                old = merged.setdefault(finding.key, finding._replace(readings=frozenset()))
                exact = old.exact_step and finding.exact_step
                merged[finding.key] = old._replace(readings=old.readings | {reading}, exact_step=exact)
        return frozenset(merged.values()), undecided

    def _count_unmet_preferences(self, halt: Run) -> dict[str, int]:
        unmet = [*halt.unmet, *find_unmet_preferences(self._task.goal, {}, halt.state)]
        constraints = [bound for f in self._task.constraints for bound in bind_preferences(f, {})]
        unmet += [bound.preference.name for bound in constraints if bound.is_violated(halt.trace)]
        return {name: unmet.count(name) for name in dict.fromkeys(unmet)}

    def _load_halt_trace(self, plan: str, world: World | None) -> Trace:
        """Return the trace under *halt*; the trace of the last plan is cached."""
        last = self._last_halt_trace
        if last is None or last.plan != plan or last.world is not world:
            run = self._run(self._read_steps(plan, world), world, "halt", Work())
            last = self._last_halt_trace = _HaltTrace(plan, world, run.trace)
        return last.trace

    @_limit_recursion()
    def trace(self, plan: str, reading: str = "halt") -> Trace:
        """Return the trace of a plan under a reading; the task must have a single world."""
        return self._run(self._read_steps(plan, None), None, reading, Work()).trace

    @_limit_recursion()
    def states(self, plan: str, world: World | None = None) -> tuple[frozenset[Fact], ...]:
        """Return the states of the halt trace: facts, derived facts included, as (predicate, object ..)."""
        return self._load_halt_trace(plan, world).states()

    @_limit_recursion()
    def check_finding(
        self, plan: str, rule: str, binding: Mapping[str, str], step: int, world: World | None = None
    ) -> bool:
        """Whether the rule has this finding on the halt trace. Evaluates the instances that agree with the binding."""
        trace, expected = self._load_halt_trace(plan, world), dict(binding)
        instances = self._evaluate_rule(rule, trace, binding)
        findings = [finding for instance in instances for finding in instance.findings]
        return any(dict(finding.binding) == expected and finding.step == step for finding in findings)

    def _evaluate_rule(self, name: str, trace: Trace, binding: Mapping[str, str]) -> list[Instance]:
        rules = [rule for rule in self._rules if rule.name == name]
        return [instance for rule in rules for instance in evaluate_instances(rule, trace, binding)]

    # Traces given as states

    def _make_trace(self, states: States, times: Sequence[Fraction] | None, actions: States | None) -> Trace:
        """Return a trace of the states. Numbers keep their initial values."""
        require(not self.open_fluents, "numbers are open")
        numbers, work = self._worlds.find_initial_numbers(), Work()
        complete_states = [State(facts, numbers, work, self._literal) for facts in states]
        for state in complete_states:
            self._task.axioms.derive_all(state)
        trace = Trace(complete_states[0], times is not None)
        for i, (before, after) in enumerate(pairwise(complete_states), 1):
            added = [fact for fact in after.facts if fact not in before.facts]
            removed = [fact for fact in before.facts if fact not in after.facts]
            trace.append(Fraction(i if times is None else times[i]), i, StateChange(added, removed, {}), numbers)
        for i, steps in enumerate(actions or ()):
            for terms in steps:
                trace.add_step(STEP_PREDICATES["action"], terms, StepInterval(i, i, i + 1))
        return trace

    @_limit_recursion()
    def audit_trace(
        self, states: States, times: Sequence[Fraction] | None = None, actions: States | None = None
    ) -> frozenset[Finding]:
        """Return the findings on a trace of states; the steps ``actions[i]`` are at letter i."""
        return frozenset(find_violations(self._rules, self._make_trace(states, times, actions))[0])

    @_limit_recursion()
    def evaluate_instance(
        self,
        rule: str,
        binding: Mapping[str, str],
        states: States,
        times: Sequence[Fraction] | None = None,
        actions: States | None = None,
    ) -> bool | None:
        """Return the value of a rule on a trace of states for a (partial) binding of its parameters."""
        trace = self._make_trace(states, times, actions)
        value = min([instance.value for instance in self._evaluate_rule(rule, trace, binding)], default=TRUE)
        return None if value == UNDEFINED else value == TRUE
