"""The judgement on a plan or a trace: rule instances, findings, blame (docs/language.md, sections 5 and 6)."""
# fmt: off
# ruff: noqa: E701
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from itertools import product
from math import prod
from typing import Any, NamedTuple, ParamSpec, TypeVar

from .formulas import BOUNDS, FUTURE, PDDL3, WHOLE, Binding, Fact, Formula, Trace, answer, bindings, doomed, operators, reads, row, unify
from .reader import KernelLimit, KernelRejects, need
from .replay import Replay, unmet
from .rules import Rule, constraints, specification, trajectory
from .task import Task

Bound = tuple[tuple[str, str], ...]  # variables with objects, sorted
Place = tuple[int, int]  # a letter at which a step of the rule is taken, and the step's number
P = ParamSpec("P")
R = TypeVar("R")
FOLDED = {"atom", "not", "and", "or", "imply", "forall", "exists"}  # state formulas that are seldom constant

class Finding(NamedTuple):
    """A violated rule instance. ``end``: the last letter of an occurrence; ``blame`` is None where it is not known here.

    ``exact_step`` is False where another reader may rightly find the violation earlier than this kernel does.
    """
    rule: str
    binding: Bound
    step: int
    at_end: bool = False
    exact_step: bool = True
    blame: str | None = "introduced"
    readings: frozenset[str] = frozenset({"halt"})

@dataclass(frozen=True)
class Judgement:
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

def limited(function: Callable[P, R]) -> Callable[P, R]:
    """``function``, with nesting beyond Python's recursion limit turned into ``KernelLimit``."""
    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try: return function(*args, **kwargs)
        except RecursionError: raise KernelLimit("nested too deeply") from None
    return guarded

def inspect(name: str, kind: str, f: Formula, b: Binding, t: Trace, places: Iterable[Place]) -> tuple[int, list[Finding]]:
    """The value of one instance of a part, and its findings."""
    r, n, bound = row(f, b, t), len(t.times) - 1, tuple(sorted(b.items()))
    def finding(letter: int, end: int, there: bool | None, at_end: bool = False, exact: bool = True) -> Finding:
        changed = any(0 < i <= end for fact, _ in reads(f, b) for i, _ in t.history.get(fact, ()))
        blame = "introduced" if not there else "worsened" if changed else "pre-existing"
        return Finding(name, bound, t.steps[letter], at_end, exact, None if there is None else blame)
    if kind == "match":
        return min((r[i] for i, _ in places), default=2), [Finding(name, bound, step) for i, step in places if r[i] == 0]
    if kind == "occurrence":
        first = [i for i in range(n + 1) if r[i] == 0 and (i == 0 or r[i - 1] > 0)]
        ends = [i for i in range(n + 1) if r[i] == 0 and (i == n or r[i + 1] > 0)]
        return min(r), [finding(i, end, i == 0) for i, end in zip(first, ends, strict=True)]
    if kind == "end": return r[n], [finding(n, n, max(r) == 0, True)] if r[n] == 0 else []
    if r[0] > 0: return r[0], []
    used = operators(f)
    if not used & {*FUTURE, *WHOLE}:  # false at letter 0, once for all; but what is taken there, a prefix does not tell
        return 0, [finding(n, n, None, True, False) if "taken" in used else finding(0, n, True)]
    if f[0] not in PDDL3: return 0, [finding(n, n, None, True, False)]
    inner = set().union(*(operators(g) for g in f[1 + BOUNDS.get(f[0], 0):]))
    exact = "taken" not in inner and (f[0] in ("always", "at-most-once", "sometime-before") or inner <= FOLDED)
    exact = exact and not inner & {*FUTURE}
    rows = [row(g, b, t) for g in f[1 + BOUNDS.get(f[0], 0):]]
    at = bisect_left(range(n + 1), True, key=lambda i: doomed(f, [x[: i + 1] for x in rows], t.times[: i + 1]))
    there: bool | None = at == 0 if exact else None
    if f[0] == "sometime-after": there = rows[0][0] == 2 and max(rows[1]) < 2
    if f[0] == "always-within": there = rows[0][0] == 2 and answer(rows[1], 0, f[1], t.times) < 2
    return 0, [finding(min(at, n), n, there, at > n, exact)]

class Kernel:
    """The replay kernel for one domain, problem and any number of (expanded) safety specifications.

    Raises ``KernelRejects`` for texts that are not in the language or not covered; see docs/kernel.md.
    """
    @limited
    def __init__(self, domain: str, problem: str, safety: Sequence[str] = (), *, lenient: bool = False,
                 tolerance: Fraction = Fraction(1, 1000)) -> None:
        self._task = Task(domain, problem, lenient)
        self._replay, self._rules, self._soft = Replay(self._task, tolerance), list[Rule](), list[Rule]()
        for name, params, f in (c for g in self._task.constraints for c in constraints(g)):
            if name: self._soft.append(Rule(name, params, [], [("whole", params, f)]))
            else: self._rules.append(trajectory(f"constraint-{len(self._rules) + 1}", params, f))
        for text in safety: self._rules += specification(self._task, text)
        self.rules = tuple(rule.name for rule in self._rules)
        self._last: tuple[str | None, Any] = (None, None)  # a plan and its halt trace

    def _matches(self, rule: Rule, t: Trace) -> dict[Bound, list[Place]]:
        # For a rule about steps, its bindings with the places where they are taken; for another, all bindings.
        if not rule.patterns: return {tuple(sorted(b.items())): [] for b in bindings(rule.params, {})}
        result: dict[Bound, list[Place]] = {}
        for i, taken in enumerate(t.taken):
            for one, pattern in product(taken, rule.patterns):
                b = unify(pattern, one, {})
                if b is None or any(b[v] not in objects for v, objects in rule.params if v in b): continue
                for full in bindings(tuple((v, objects) for v, objects in rule.params if v not in b), b):
                    result.setdefault(tuple(sorted(full.items())), []).append((i, one[1]))
        return {b: sorted({*places}) for b, places in result.items()}

    def _inspect(self, rule: Rule, t: Trace, wanted: Mapping[str, str] | None = None) -> Iterator[tuple[int, Bound, list[Finding]]]:
        # The value, binding and findings of every instance of every part (that agrees with the wanted binding).
        wanted = wanted or {}
        for base, places in self._matches(rule, t).items():
            if any(wanted.get(v, o) != o for v, o in base): continue
            for kind, params, f in rule.parts:
                rest = tuple((v, [wanted[v]] if v in wanted else objects) for v, objects in params if v not in dict(base))
                for b in bindings(rest, dict(base)):
                    value, findings = inspect(rule.name, kind, f, b, t, places)
                    yield value, tuple(sorted(b.items())), findings

    @limited
    def judge(self, plan: str) -> Judgement:
        """The verdict on a plan. Raises ``KernelRejects`` if its text is unreadable; ill-formed steps are listed."""
        steps, counted = self._replay.steps(plan), list[str]()
        ill = tuple(s.number for s in steps if s.action is None)
        runs = {"halt": self._replay.run(steps, "halt", counted)}
        for reading in ("skip", "force"):
            runs[reading] = self._replay.run(steps, reading, []) if ill or runs["halt"][1] else runs["halt"]
        found = dict[tuple[str, Bound, int], Finding]()
        for reading, (t, _) in runs.items():
            for f in self._findings(t)[0]:
                before = found.setdefault(f[:3], f._replace(readings=frozenset()))
                found[f[:3]] = before._replace(readings=before.readings | {reading})
        t, failed = runs["halt"]
        open_, executable = self._findings(t)[1], not failed and not ill
        goal = row(self._task.goal, {}, t)[-1] == 2
        unsafe = any("halt" in f.readings for f in found.values())
        instances = self._instances(t)
        for rule in self._soft: counted += [rule.name for b in bindings(rule.params, {}) if row(rule.parts[0][2], b, t)[0] < 2]
        counted += unmet(self._task.goal, {}, t)
        headline = ("INVALID" if not (executable and goal) else "UNSAFE" if unsafe else "UNKNOWN" if open_
                    else "SAFE" if sum(instances.values()) else "VALID")
        return Judgement(headline, executable, goal, False if unsafe else None if open_ else True, ill,
                         {reading: failed for reading, (_, failed) in runs.items()}, frozenset(found.values()), open_,
                         instances, {name: counted.count(name) for name in sorted({*counted})})

    def _findings(self, t: Trace) -> tuple[list[Finding], frozenset[tuple[str, Bound]]]:
        # All findings on one trace, each once, and what is undecided there.
        every = [(rule.name, *x) for rule in self._rules for x in self._inspect(rule, t)]
        findings = {f[:3]: f for *_, fs in reversed(every) for f in reversed(fs)}
        return [*findings.values()], frozenset((name, b) for name, value, b, _ in every if value == 1)

    def _instances(self, t: Trace) -> dict[str, int]:
        result = dict.fromkeys(self.rules, 0)
        for rule in self._rules:
            counts = [len({i for i, _ in places}) for places in self._matches(rule, t).values()] if rule.patterns else []
            result[rule.name] += sum(counts) if rule.patterns else prod(len(objects) for _, objects in rule.params)
        return result

    @limited
    def states(self, plan: str) -> tuple[frozenset[Fact], ...]:
        """The states of the halt trace: facts, derived ones included, as (predicate, object ..)."""
        return self._halt(plan).states()

    def _halt(self, plan: str) -> Trace:
        if self._last[0] != plan: self._last = plan, self._replay.run(self._replay.steps(plan), "halt", [])[0]
        return self._last[1]

    @limited
    def check_finding(self, plan: str, rule: str, binding: Mapping[str, str], step: int) -> bool:
        """Whether the rule has this finding on the halt trace; evaluates the instances that agree with the binding."""
        t, wanted = self._halt(plan), tuple(sorted(binding.items()))
        every = (f for r in self._rules if r.name == rule for _, _, fs in self._inspect(r, t, binding) for f in fs)
        return any(f.binding == wanted and f.step == step for f in every)

    def _trace(self, states: Sequence[Iterable[Fact]], times: Sequence[Fraction] | None,
               actions: Sequence[Iterable[Fact]] | None) -> Trace:
        need(len(states) > 0, "a trace without states")
        t: Trace | None = None
        for i, facts in enumerate(states):
            closed = self._replay.close({*facts}, self._replay.numbers)
            if t is None: t = Trace(closed, self._replay.numbers)
            else: t.append(closed, self._replay.numbers, Fraction(i if times is None else times[i]), i)
            t.taken[-1] += [("action", i + 1, one) for one in (actions[i] if actions and i < len(actions) else ())]
        assert t is not None
        return t

    @limited
    def judge_trace(self, states: Sequence[Iterable[Fact]], times: Sequence[Fraction] | None = None,
                    actions: Sequence[Iterable[Fact]] | None = None) -> frozenset[Finding]:
        """The findings on a given trace; ``actions[i]`` are taken at letter i. Numbers keep their initial values."""
        return frozenset(self._findings(self._trace(states, times, actions))[0])

    @limited
    def instance_value(self, rule: str, binding: Mapping[str, str], states: Sequence[Iterable[Fact]],
                       times: Sequence[Fraction] | None = None, actions: Sequence[Iterable[Fact]] | None = None) -> bool | None:
        """The value of a rule on a given trace under a binding (of all its parameters, or some): None if undefined."""
        t = self._trace(states, times, actions)
        value = min((v for r in self._rules if r.name == rule for v, _, _ in self._inspect(r, t, binding)), default=2)
        return None if value == 1 else value == 2
