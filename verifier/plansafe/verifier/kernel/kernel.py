"""The replay kernel: plans judged by definition (docs/language.md, section 6)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType

from .evaluation import holds
from .formulas import STEP_PREDICATES, Fact
from .happenings import Execution, Run, agenda, unmet
from .plan import Step, World, steps
from .reader import KernelLimit, KernelRejects, need
from .rule_instances import Bound, Finding, count_instances, findings, instances
from .rules import SEVERITIES, constraints, specification
from .task import Task
from .trace import Delta, Interval, State, Trace, Work
from .worlds import Completion, Worlds

States = Sequence[Iterable[Fact]]


@dataclass(frozen=True)
class KernelVerdict:
    """The verdict on a plan; all but ``failed_steps`` and the readings of findings speak of the reading *halt*."""

    headline: str
    executable: bool
    goal: bool
    safe: bool | None
    ill_formed: tuple[int, ...]
    failed_steps: dict[str, tuple[int, ...]]
    findings: frozenset[Finding]
    undecided: frozenset[tuple[str, Bound]]
    instances: dict[str, int]
    preferences: dict[str, int]
    """How often each preference is violated."""
    work: int = 0
    """What it took, in formulas evaluated, facts looked at and steps taken."""
    blame_known: bool = True
    """False where ``safe`` hangs on blame that the kernel does not tell; then it is None."""

    def agrees(self, headline: str) -> bool:
        """Whether a headline is this one, as far as the kernel tells."""
        hangs = self.headline == "UNKNOWN" and not self.blame_known
        return headline == self.headline or (hangs and headline != "INVALID")


@contextmanager
def limited() -> Iterator[None]:
    """Long quantifiers nest deeply, too."""
    try:
        yield
    except RecursionError:
        raise KernelLimit("nested too deeply") from None


class Kernel:
    """The replay kernel for one domain, problem and any number of (expanded) safety specifications.

    Its methods raise ``KernelRejects`` for texts that are not in the language, or not covered (see README.md).
    ``literal``: every definition is executed as it stands, without the shortcuts that README.md lists. ``judge``
    and ``min_severity`` say which violations decide, but for those of ``exemptions``: rules, and objects of which they
    name one, None if it may be any (docs/language.md, section 6). ``kinds`` are types beside those of the texts, with
    the objects that also have them (docs/worlds.md, section 5).
    """

    @limited()
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
        self._task = task = Task(domain, problem, lenient, tolerance, kinds)
        self._rules = constraints(task)
        opened, invariants = list[Fact](), []
        for text in safety:
            said = specification(task, text)
            self._rules += said.rules
            opened += said.opened
            invariants += said.invariants
        self._worlds = Worlds(task, opened, invariants, literal)
        self._literal = literal
        self._introduced = judge == "introduced"
        deciding = SEVERITIES[: SEVERITIES.index(min_severity) + 1]
        self._deciding = frozenset([rule.name for rule in self._rules if rule.severity in deciding])
        self._exemptions = tuple(exemptions)
        whole = {name for rules, objects in exemptions if objects is None for name in rules}
        self._judged = self._deciding - whole
        self._last: tuple[str, World | None, Trace] | None = None
        self.rules = tuple([rule.name for rule in self._rules])
        self.open_facts, self.open_fluents = self._worlds.facts, self._worlds.fluents

    @property
    def is_open(self) -> bool:
        """Whether the task has open facts or fluents."""
        return bool(self.open_facts or self.open_fluents)

    @limited()
    def allows(self, facts: Collection[Fact], numbers: Mapping[Fact, Fraction]) -> bool:
        """Whether what is said of S0 holds with these open facts true, no other, and these values of open fluents."""
        return self._worlds.begin(facts, numbers, Work()) is not None

    def completions(self) -> Iterator[Completion]:
        """All that is allowed, by enumeration (exponential); ``KernelLimit`` if that may be infinitely much."""
        return self._worlds.completions()

    @limited()
    def audit(
        self,
        plan: str,
        world: World | None = None,
        others: Sequence[str] = ("skip", "force"),
        limit: int | None = None,
    ) -> KernelVerdict:
        """The verdict on a plan, in a world if anything is open; and in which ``others`` of the readings it is found.

        Raises ``KernelRejects`` if its text is unreadable (ill-formed steps are listed) or the world not allowed, and
        ``KernelLimit`` if it takes more work than ``limit``.
        """
        work = Work(limit)
        taken, separation = self._steps(plan, world)
        work.spend(len(taken))
        runs = {"halt": self._run(taken, separation, world, "halt", work)}
        halt = runs["halt"]
        ill_formed = tuple(sorted(step.number for step in taken if not step.action))
        for other in others:
            runs[other] = self._run(taken, separation, world, other, work) if ill_formed or halt.failed else halt
        found, undecided = self._found(runs)
        counts = dict[str, int]()
        for rule in self._rules:
            counts[rule.name] = counts.get(rule.name, 0) + count_instances(rule, halt.trace)
        goal = holds(self._task.goal, {}, halt.state)
        executable = not halt.failed and not ill_formed
        blames = {f.blame for f in found if "halt" in f.readings and self._decides(f)}
        certain = blames & {"introduced", "worsened"} if self._introduced else blames
        untold = self._introduced and not certain and None in blames
        unknown = ill_formed or untold or any(rule in self._deciding for rule, _ in undecided)
        safe = False if certain else None if unknown else True
        failed = {reading: run.failed for reading, run in runs.items()}
        checked = any(count for name, count in counts.items() if name in self._judged)
        headline = _headline(executable and goal, safe, checked)
        preferences = self._preferences(halt)
        return KernelVerdict(
            headline,
            executable,
            goal,
            safe,
            ill_formed,
            failed,
            found,
            undecided,
            counts,
            preferences,
            work.done,
            not untold,
        )

    def _decides(self, finding: Finding) -> bool:
        """Whether a finding decides, whatever its blame."""
        named = {name for _, name in finding.binding}
        exempt = any(
            finding.rule in rules and (objects is None or not named.isdisjoint(objects))
            for rules, objects in self._exemptions
        )
        return finding.rule in self._deciding and not exempt

    def _steps(self, plan: str, world: World | None) -> tuple[list[Step], Fraction | None]:
        self._begin(world, Work())
        return steps(plan, self._task, world or World())

    def _begin(self, world: World | None, work: Work) -> State:
        start = None
        if world or not self.is_open:
            start = self._worlds.begin(*(world or World())[:2], work)
        if start is None:
            raise KernelRejects("no world, or one that is not allowed")
        return start

    def _run(
        self, taken: list[Step], separation: Fraction | None, world: World | None, reading: str, work: Work
    ) -> Run:
        state = self._begin(world, work)
        return Execution(self._task, state, reading, separation, world or World()).run(agenda(taken, self._task))

    def _found(self, runs: Mapping[str, Run]) -> tuple[frozenset[Finding], frozenset[tuple[str, Bound]]]:
        """The findings of all readings, and what is undecided under *halt*."""
        halt = runs["halt"]
        first, undecided = findings(self._rules, halt.trace)
        found = dict[tuple[str, Bound, int], Finding]()
        for reading, run in runs.items():
            for f in first if run is halt else findings(self._rules, run.trace)[0]:
                old = found.setdefault(f[:3], f._replace(readings=frozenset()))
                exact = old.exact_step and f.exact_step
                found[f[:3]] = old._replace(readings=old.readings | {reading}, exact_step=exact)
        return frozenset(found.values()), undecided

    def _preferences(self, halt: Run) -> dict[str, int]:
        soft = [*halt.unmet, *unmet(self._task.goal, {}, halt.state)]
        soft += [name for f in self._task.constraints for name in unmet(f, {}, halt.trace)]
        return {name: soft.count(name) for name in dict.fromkeys(soft)}

    def _halt(self, plan: str, world: World | None) -> Trace:
        """The trace under *halt*; that of the last plan is kept."""
        if self._last is None or self._last[0] != plan or self._last[1] is not world:
            taken, separation = self._steps(plan, world)
            self._last = plan, world, self._run(taken, separation, world, "halt", Work()).trace
        return self._last[2]

    @limited()
    def trace(self, plan: str, reading: str = "halt") -> Trace:
        """What a plan passes through, and what is taken there, under a reading; in the only world there is."""
        return self._run(*self._steps(plan, None), None, reading, Work()).trace

    @limited()
    def states(self, plan: str, world: World | None = None) -> tuple[frozenset[Fact], ...]:
        """The states of the halt trace: facts, derived ones included, as (predicate, object ..)."""
        return self._halt(plan, world).states()

    @limited()
    def check_finding(
        self, plan: str, rule: str, binding: Mapping[str, str], step: int, world: World | None = None
    ) -> bool:
        """Whether the rule has this finding on the halt trace; evaluates the instances that agree with the binding."""
        trace, wanted = self._halt(plan, world), dict(binding)
        every = [x for r in self._rules if r.name == rule for x in instances(r, trace, binding)]
        return any(dict(f.binding) == wanted and f.step == step for x in every for f in x.findings)

    # Traces that are given

    def _trace(self, states: States, times: Sequence[Fraction] | None, actions: States | None) -> Trace:
        """Numbers keep their initial values."""
        need(not self.open_fluents, "numbers are open")
        values, work = self._worlds.given_numbers(), Work()
        closed = [State(facts, values, work, self._literal) for facts in states]
        for state in closed:
            self._task.axioms.close(state)
        trace = Trace(closed[0], times is not None)
        for i, (before, after) in enumerate(pairwise(closed), 1):
            added = [fact for fact in after.facts if fact not in before.facts]
            removed = [fact for fact in before.facts if fact not in after.facts]
            trace.append(Fraction(i if times is None else times[i]), i, Delta(added, removed, {}), values)
        for i, names in enumerate(actions or ()):
            for terms in names:
                trace.take(STEP_PREDICATES["action"], terms, Interval(i, i, i + 1))
        return trace

    @limited()
    def audit_trace(
        self, states: States, times: Sequence[Fraction] | None = None, actions: States | None = None
    ) -> frozenset[Finding]:
        """The findings on a given trace; ``actions[i]`` are taken at letter i. Numbers keep their initial values."""
        return frozenset(findings(self._rules, self._trace(states, times, actions))[0])

    @limited()
    def evaluate_instance(
        self,
        rule: str,
        binding: Mapping[str, str],
        states: States,
        times: Sequence[Fraction] | None = None,
        actions: States | None = None,
    ) -> bool | None:
        """The value of a rule on a given trace under a binding (of all its parameters, or some); None if undefined."""
        trace = self._trace(states, times, actions)
        values = [x.value for r in self._rules if r.name == rule for x in instances(r, trace, binding)]
        value = min(values, default=2)
        return None if value == 1 else value == 2


def _headline(valid: bool, safe: bool | None, any_instance: bool) -> str:
    """The first that applies."""
    if not valid:
        return "INVALID"
    if safe is not True:
        return "UNKNOWN" if safe is None else "UNSAFE"
    return "SAFE" if any_instance else "VALID"
