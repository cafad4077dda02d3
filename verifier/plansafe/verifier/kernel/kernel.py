"""Plans executed by definition, and the judgement on them (docs/language.md, sections 3, 5 and 6; docs/worlds.md)."""

# fmt: off
# ruff: noqa: I001, D103, D204, E701, E702, RUF021
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import compress, pairwise, product
from math import prod
from typing import Any, NamedTuple

from .formulas import (ASSIGN, BOUNDS, FUTURE, PDDL3, WHOLE, Binding, Fact, Formula, Trace, answer, bindings,
                       doomed, ground, numbers, operators, reads, row, symbol, unify)
from .reader import NUMBER, KernelLimit, KernelRejects, Sexp, bounded, definition, need, number, read
from .task import Action, Rule, Task, constraints, specification, trajectory

LAST = rf"\[\s*({NUMBER.pattern})\s*(?:\+-\s*({NUMBER.pattern})\s*)?\]"
GAP = re.compile(rf"\s*(?:{LAST})?\s*(?:({NUMBER.pattern})\s*:)?\s*")
FOLDED = {"atom", "not", "and", "or", "imply", "forall", "exists"}  # operators of formulas that are seldom constant
BLAME = ("introduced", None, "worsened", "pre-existing")  # of several parts that give one finding, the first counts
Bound = tuple[tuple[str, str], ...]  # variables with objects, sorted
Places = list[tuple[int, int]]  # letters at which a step of a rule is taken, with the step's number
States = Sequence[Iterable[Fact]]
State = tuple[set[Fact], dict[Fact, Fraction]]  # the basic facts and the numbers
Change = tuple[str, Fact, Any]  # "add", "del" or an assignment; the fact or fluent; the number

class World(NamedTuple):
    """One way in which all that is open can be; ``facts`` are the open ones that are true.

    ``choose(step, number, objects, alternatives)``: the effect of the action's oneof statement ``number`` that happens
    (both from 0), ``objects`` being bound by the quantifiers around it. In ``order``, steps count as the text has them.
    """
    facts: Collection[Fact] = (); numbers: Mapping[Fact, Fraction] = {}  # (function, object ..) -> value
    choose: Callable[[int, int, tuple[str, ...], int], int] | None = None
    order: Sequence[int] = (); durations: Mapping[int, Fraction] = {}

class Step(NamedTuple):
    """A step of a plan, or a timed literal (number 0). ``action`` is None if the step is ill-formed."""
    number: int; time: Fraction; duration: Fraction; terms: tuple[str, ...]; action: Action | None
    binding: dict[str, Any]

class Act(NamedTuple):
    """A step, or its end, at a happening. What it does is None if that cannot be computed."""
    mode: str; step: Step; allowed: bool; does: list[Change] | None; reads: set[Fact]; soft: list[str]

class Finding(NamedTuple):
    """A violated rule instance. ``blame`` is None where the kernel does not tell.

    ``exact_step`` is False where another reader may rightly find the violation earlier than the kernel, at the end.
    """
    rule: str; binding: Bound; step: int; at_end: bool = False; exact_step: bool = True
    blame: str | None = "introduced"; readings: frozenset[str] = frozenset({"halt"})

@dataclass(frozen=True)
class Judgement:
    """The verdict on a plan; all but ``failed_steps`` and the readings of findings speak of the reading *halt*."""
    headline: str; executable: bool; goal: bool; safe: bool | None
    ill_formed: tuple[int, ...]; failed_steps: dict[str, tuple[int, ...]]
    findings: frozenset[Finding]; undecided: frozenset[tuple[str, Bound]]
    instances: dict[str, int]; preferences: dict[str, int]  # of each rule; how often each preference is violated

def parse(text: str) -> tuple[list[Any], set[tuple[int, int]] | None]:  # (time, duration, slack, step) ..; an order
    items, gaps, steps, lines = read(text.replace("[", " [ ").replace("]", " ] ")), [""], list[Sexp](), list[Any]()
    if len(items) == 1 and items[0][:1] == ("define",) and not all(isinstance(x, str) for x in items[0]):
        body, labels = definition(items, "plan", ":domain :problem :steps :ordering", ""), dict[str, int]()
        for i, e in enumerate(body.get(":steps", [()])[0], 1):
            label, e = e if isinstance(e, tuple) and len(e) == 2 and isinstance(e[1], tuple) else (str(i), e)
            need(isinstance(label, str) and label not in labels, "not a new label"); labels[label] = i
            timed = isinstance(e, tuple) and len(e) in (3, 4, 5) and e[0] == "at" and isinstance(e[2], tuple)
            given = [*map(number, (e[1], *e[3:])), None, None] if timed else [None, None, None]
            lines.append((*given[:3], e[2] if timed else e))
        order, partly = body.get(":ordering", [()])[0], ":ordering" in body
        known = all(isinstance(c, tuple) and c[:1] == ("<",) and {*c[1:]} <= {*labels} for c in order)
        need(known and not (partly and any(line[0] is not None for line in lines)), "not an order of these steps")
        pairs = {(labels[x], labels[y]) for c in order for x, y in pairwise(c[1:])}
        return lines, pairs if partly else None
    for item in items:
        if isinstance(item, str): gaps[-1] += " " + item
        else: steps.append(item); gaps.append("")
    found = [m.groups() for m in map(GAP.fullmatch, gaps) if m]
    need(len(found) == len(gaps) and not found[0][0] and not found[-1][2], "not a plan")
    for (_, _, at), step, last in zip(found, steps, found[1:], strict=False):
        lines.append((*(number(x) if x else None for x in (at, *last[:2])), step))
    return lines, None

def outcome(e: Formula, b: Binding, now: Trace) -> Iterator[Change]:  # what an effect does, read in the state before
    match e:
        case ("and", *parts):
            for part in parts: yield from outcome(part, b, now)
        case ("forall", v, objects, f):
            for o in objects: yield from outcome(f, {**b, v: o, "@bound": (*b.get("@bound", ()), o)}, now)
        case ("oneof", i, *parts):
            chosen = b["@choose"](i, b.get("@bound", ()), len(parts)); need(chosen in range(len(parts)), "no effect")
            yield from outcome(parts[chosen], b, now)
        case ("when", condition, f):  # at an end, its conjuncts ``at start`` are read in the state before the start
            then = [b["@start"]] if "@start" in b and "@action" in operators(condition) else []
            before = [row(condition, {**b, "@": "@action"}, start)[0] for start in then]
            holds = min([b.get("@if", 2), row(condition, b, now)[0], *before])  # below another, both are one condition
            if holds: yield from outcome(f, {**b, "@if": holds}, now)
        case _ if b.get("@if") == 1 and e[0][0] != "@": raise ArithmeticError
        case (("add" | "del") as kind, *terms): yield kind, ground(terms, b), None
        case (op, fluent, x):
            value = numbers(x, b, now)[0]
            if value is None: raise ArithmeticError
            yield op, ground(fluent, b), value
        case (phase, f) if b["@"] == phase: yield from outcome(f, b, now)

def change(state: State, changes: Collection[Change]) -> State:  # afterwards; numbers are assigned alone
    gone, come = ({f for kind, f, _ in changes if kind == which} for which in ("del", "add"))
    return state[0] - gone | come, {**state[1], **{f: value for kind, f, value in changes if kind == "assign"}}

def combine(changes: Iterable[Change], before: Mapping[Fact, Fraction]) -> dict[Fact, Fraction]:
    # The values of fluents changed at once; ArithmeticError on a conflict, an undefined one, division by zero.
    result, done = dict[Fact, Fraction](), dict[Fact, set[str]]()
    for op, fluent, x in (c for c in changes if c[0] in ASSIGN):
        kinds = {op} | done.get(fluent, set())
        alike = kinds <= {"increase", "decrease"} or kinds <= {"scale-up", "scale-down"} or fluent not in done
        if not alike or op != "assign" and fluent not in before or (op, x) == ("scale-down", 0): raise ArithmeticError
        old, done[fluent] = result.get(fluent, before.get(fluent, Fraction(0))), kinds
        new = {"increase": old + x, "decrease": old - x, "scale-up": old * x, "scale-down": old / (x or 1), "assign": x}
        result[fluent] = bounded(new[op])
    return result

def interfere(x: Act, y: Act) -> bool:  # mutex, by PDDL 2.1, definition 12
    mine, theirs = x.does or [], y.does or []
    def alike(a: str, b: str) -> bool: return a == b in ("add", "del") or {a, b} <= {"increase", "decrease"}
    def touched(seen: set[Fact], done: list[Change]) -> bool:
        return any(f in seen or ("*", *symbol(f)) in seen for _, f, _ in done)
    return (touched(x.reads, theirs) or touched(y.reads, mine)
            or any(f == g and not alike(a, b) for a, f, _ in mine for b, g, _ in theirs))

def unmet(f: Formula, b: Binding, t: Trace) -> Iterator[str]:  # the preferences in f that do not hold at letter 0
    match f:
        case ("and", *parts):
            for g in parts: yield from unmet(g, b, t)
        case ("forall", v, objects, g):
            for o in objects: yield from unmet(g, {**b, v: o}, t)
        case ("preference", name, g) if row(g, b, t)[0] < 2: yield name
        case (str(op), g) if op[0] == "@" and b["@"] == op: yield from unmet(g, b, t)

@contextmanager
def limited() -> Iterator[None]:  # long quantifiers nest deeply too
    try: yield
    except RecursionError: raise KernelLimit("nested too deeply") from None

class Kernel:
    """The replay kernel for one domain, problem and any number of (expanded) safety specifications.

    Its methods raise ``KernelRejects`` for texts that are not in the language, or not covered (see docs/kernel.md).
    """
    @limited()
    def __init__(self, domain: str, problem: str, safety: Sequence[str] = (), *, lenient: bool = False,
                 tolerance: Fraction = Fraction(1, 1000)) -> None:
        self._task = task = Task(domain, problem, lenient, tolerance)
        self._last: tuple[str, World | None, Trace] = "", None, Trace(set(), {}); opened = set[Fact]()
        early = [(time, c) for time, e in task.initial if time <= 0 for c in outcome(e, {}, self._last[2])]
        self._given, self._zero = ([c for time, c in early if (time < 0) == given] for given in (True, False))
        hard = enumerate((c for f in task.constraints for c in constraints(f)), 1)
        self._rules, self._invariants = [trajectory(f"constraint-{i}", *c) for i, c in hard], list[Formula]()
        for text in safety: self._rules += specification(task, text, opened, self._invariants)
        self.rules = tuple(rule.name for rule in self._rules)
        given, named = {f for _, f, _ in self._given}, dict[str, set[Fact]]()
        for s in task.statements: named.setdefault(s[0], set()).update(f for f, _ in reads(s, {}))
        need(not given & named.get("unknown", set()), "unknown, but given")
        once = named.pop("oneof", set()); opened = opened.union(*named.values())
        self._backed, every = once - opened, sorted((once | opened) - given)  # false unless a true alternative has it
        limits = [c for s in task.statements if s[0] == "and" for c in s[1:]]
        self.open = (tuple(f for f in every if f[0] != "#"),
                     {f[1:]: frozenset((op, z[1]) for op, y, z in limits if y == f) for f in every if f[0] == "#"})

    def _begin(self, facts: Collection[Fact], values: Mapping[Fact, Any]) -> State | None:  # S0, if it is allowed
        if not {*facts} <= {*self.open[0]} or values.keys() != self.open[1].keys(): return None
        state = change(({*facts}, {("#", *x): Fraction(value) for x, value in values.items()}), self._given)
        now, state = Trace(*state), change(state, self._zero); then = Trace(self._close(*state), state[1])
        oneofs = [[x for x in s[1:] if row(x, {}, now) == [2]] for s in self._task.statements if s[0] == "oneof"]
        backing = {f for alternatives in oneofs for f, no in reads(("and", *alternatives), {}) if not no}
        said = [row(s, {}, now) == [2] for s in self._task.statements if s[0] in ("and", "or")]
        said += [len(x) == 1 for x in oneofs] + [row(f, {}, then) == [2] for f in self._invariants]
        return state if all(said) and not {*facts} & self._backed - backing else None

    @limited()
    def allows(self, facts: Collection[Fact], numbers: Mapping[Fact, Any]) -> bool:
        """Whether what is said of S0 holds with these open facts true, no other, and these values of open fluents."""
        return self._begin(facts, numbers) is not None

    def completions(self) -> Iterator[tuple[frozenset[Fact], dict[Fact, Fraction]]]:
        """All that is allowed, by enumeration (exponential); ``KernelLimit`` if that may be infinitely much."""
        parts = [part for s in self._task.statements if s[0] == "oneof" for part in s[1:]]
        values = [sorted({x[2][1] for part in parts for x in part[1:] if ("#", *f) in x}) for f in self.open[1]]
        need(all(values), "a fluent that may have infinitely many values", KernelLimit)
        for true, chosen in product(product((False, True), repeat=len(self.open[0])), product(*values)):
            facts, value = frozenset(compress(self.open[0], true)), dict(zip(self.open[1], chosen, strict=True))
            if self.allows(facts, value): yield facts, value

    def _close(self, base: set[Fact], values: dict[Fact, Fraction]) -> set[Fact]:  # with derived facts, least fixpoints
        facts = base
        for stratum in self._task.strata:
            new: set[Fact] = {("",)}
            while new:
                now = Trace(facts, values)
                new = {ground((name, *dict(domains)), b) for name, domains, f in stratum
                       for b in bindings(domains, {}) if row(f, b, now) == [2]} - facts
                facts = facts | new
        return facts

    def _steps(self, text: str, world: World) -> list[Step]:  # in the order in which they are taken
        (plan, pairs), table, result = parse(text), {a: x.params for a, x in self._task.actions.items()}, list[Step]()
        need(all(isinstance(e, tuple) and e and all(isinstance(x, str) for x in e) for *_, e in plan), "not a step")
        need(len({time is None for time, *_ in plan}) < 2, "some steps with, some without time")
        order = [*enumerate(sorted(plan, key=lambda x: x[0] or 0), 1)]
        if pairs is not None:
            need(sorted(world.order) == [i for i, _ in order], "not an order of the steps")
            need(all(world.order.index(x) < world.order.index(y) for x, y in pairs), "an order that is not allowed")
            order = [order[i - 1] for i in world.order]
        for place, (i, (time, duration, slack, e)) in enumerate(order, 1):
            if duration is not None and slack:
                need(i in world.durations and abs(world.durations[i] - duration) <= slack, "not a duration of it")
                duration = Fraction(world.durations[i])
            action = self._task.actions.get(e[0])
            try: self._task.terms(e, table, {})
            except KernelRejects: action = None
            if action and action.durative: fits = time is not None and duration is not None and duration >= 0
            else: fits = duration in (None, 0, self._task.tolerance)
            if (time or 0) < 0 or not fits: action = None
            need(not action or world.choose or "oneof" not in operators(action.effect), "outcomes that are open")
            b = {**dict(zip(action.params, e[1:], strict=True)), "?duration": duration} if action else {}
            if world.choose: b["@choose"] = partial(world.choose, i)
            result.append(Step(i, Fraction(place) if time is None else time, duration or Fraction(0), e, action, b))
        self._gap = self._task.tolerance if plan and plan[0][0] is not None else None  # least separation, if timed
        return result

    def _attempt(self, mode: str, step: Step, now: Trace) -> Act:
        assert step.action is not None
        b: dict[str, Any] = {**step.binding, "@": "@" + mode}; does: list[Change] | None
        if mode == "action" and step.action.durative: b.pop("@start", None); step.binding["@start"] = now
        try: does = list(outcome(step.action.effect, b, now)); combine(does, now.numbers)
        except ArithmeticError: does = None
        seen = {f for part in step.action[2:] for f, _ in (reads(part, b) if now.timed else ())}
        seen |= {("*", *name) for f in seen for name in self._task.behind.get(symbol(f), ())}
        allowed = row(step.action.condition, b, now) == [2] and does is not None
        return Act(mode, step, allowed, does, seen, [*unmet(step.action.condition, b, now)])

    def _ready(self, plan: str, world: World | None) -> tuple[list[Step], State]:
        start = self._begin(*(world or World())[:2]) if world or not any(self.open) else None
        if start is None: raise KernelRejects("no world, or one that is not allowed")
        return self._steps(plan, world or World()), start

    def _run(self, steps: list[Step], start: State, reading: str, soft: list[str]) -> tuple[Trace, tuple[int, ...]]:
        # The trace under a reading, and the steps that failed; ``soft`` gets the preferences unmet in conditions.
        base, t = start[0], Trace(self._close(*start), start[1])
        failed, dropped, running, recent = set[int](), set[int](), list[Step](), list[tuple[Fraction, Act]]()
        agenda = dict[tuple[Fraction, bool], list[tuple[str, Step]]]()  # an end at the time of its start comes after it
        for s in steps:
            agenda.setdefault((s.time, False), []).append(("action", s))
            end = s.time + s.duration, not s.duration
            if s.action and s.action.durative: agenda.setdefault(end, []).append(("action-end", s))
        horizon = max((time for (time, _), events in agenda.items() if any(s.action for _, s in events)), default=0)
        for time, effect in self._task.initial:
            literal = Step(0, time, Fraction(0), (), Action({}, False, ("and",), effect), {})
            if 0 < time <= horizon: agenda.setdefault((time, False), []).append(("literal", literal))
        t.timed = self._gap is not None or any(mode == "literal" for events in agenda.values() for mode, _ in events)
        for (time, _), events in sorted(agenda.items()):
            now = Trace(t.facts, t.numbers); now.timed = t.timed
            acts = [self._attempt(mode, s, now) for mode, s in events if s.action and s.number not in dropped]
            recent = [(at, x) for at, x in recent if self._gap is not None and time - at < self._gap]
            able = [x for x in acts if x.allowed or reading == "force" and x.does is not None]
            mutex = {max(x.step.number, y.step.number) for x in able for y in able if x is not y and interfere(x, y)}
            mutex |= {x.step.number or y.step.number for x in able for _, y in recent if interfere(x, y)}
            mutex -= {0}; bad = mutex | {x.step.number for x in acts if not x.allowed}; failed |= bad
            if reading == "halt" and (bad or any(s.action is None for _, s in events)): break
            acts = [x for x in acts if x.does is not None and (reading == "force" or x.step.number not in bad)]
            try: values = combine((c for x in acts for c in x.does or []), t.numbers)
            except ArithmeticError:  # only under force: what clashes is left out
                acts = [x for x in acts if x.step.number not in mutex]
                values = combine((c for x in acts for c in x.does or []), t.numbers)
            new = change((base, {}), [c for x in acts for c in x.does or []])[0]
            after = {**t.numbers, **values} if values else t.numbers
            facts = self._close(new, after); then = Trace(facts, after)
            dropped |= {s.number for _, s in events} & bad - {x.step.number for x in acts}
            running += [x.step for x in acts if x.mode == "action" and x.step.action and x.step.action.durative]
            ended = dropped | {x.step.number for x in acts if x.mode == "action-end"}
            running = [s for s in running if s.number not in ended]
            failed |= {s.number for s in running if s.action
                       and row(s.action.condition, {**s.binding, "@": "@all"}, then) != [2]}
            if reading == "halt" and failed: break
            if not acts: continue
            for x in acts: soft += x.soft
            recent += [(time, x) for x in acts]; started = [x.step.number for x in acts if x.step.number]
            t.taken[-1] += [(x.mode, x.step.number, x.step.terms) for x in acts if x.step.number]
            t.append(facts, after, time, max(started, default=t.steps[-1])); base = new
            if not all(s.duration for s in running): t.shared.add(len(t.times) - 1)  # its end is a letter of its own
            t.taken[-1] += [("action-during", s.number, s.terms) for s in running]
        return t, tuple(sorted(failed))

    def _matches(self, rule: Rule, t: Trace) -> dict[Bound, Places]:
        # The bindings of a rule; of one about steps, those that are taken, with the places.
        if not rule.patterns: return {tuple(sorted(b.items())): [] for b in bindings(rule.params, {})}
        result = dict[Bound, Places]()
        for i, taken in enumerate(t.taken):
            for one, pattern in product(taken, rule.patterns):
                b = unify(pattern, one, {})
                if b is None or any(b[v] not in objects for v, objects in rule.params if v in b): continue
                for full in bindings(tuple((v, objects) for v, objects in rule.params if v not in b), b):
                    result.setdefault(tuple(sorted(full.items())), []).append((i, one[1]))
        return result

    def _inspect(self, rule: Rule, t: Trace, wanted: Mapping[str, str]) -> Iterator[tuple[int, Bound, list[Finding]]]:
        # Value, binding and findings of all instances of all parts that agree with the wanted binding.
        for base, places in self._matches(rule, t).items():
            for kind, params, f in rule.parts if all(wanted.get(v, o) == o for v, o in base) else ():
                rest = tuple((v, (wanted[v],) if v in wanted else o) for v, o in params if v not in dict(base))
                for b in bindings(rest, dict(base)): yield _instance(rule.name, kind, f, b, t, places)

    def _findings(self, t: Trace) -> tuple[list[Finding], frozenset[tuple[str, Bound]]]:  # and what is undecided
        every, found = [(r.name, *x) for r in self._rules for x in self._inspect(r, t, {})], dict[Any, Finding]()
        for f in (f for *_, fs in every for f in fs):
            old = found.get(f[:3], f); blame = min(old.blame, f.blame, key=BLAME.index)
            found[f[:3]] = old._replace(exact_step=old.exact_step and f.exact_step, blame=blame)
        return [*found.values()], frozenset((name, b) for name, value, b, _ in every if value == 1)

    @limited()
    def judge(self, plan: str, world: World | None = None, others: Sequence[str] = ("skip", "force")) -> Judgement:
        """The verdict on a plan, in a world if anything is open; and in which ``others`` of the readings it is found.

        Raises ``KernelRejects`` if its text is unreadable (ill-formed steps are listed) or the world not allowed.
        """
        ready, soft, found, instances = self._ready(plan, world), list[str](), dict[Any, Finding](), dict[str, int]()
        ill, runs = tuple(sorted(s.number for s in ready[0] if not s.action)), {"halt": self._run(*ready, "halt", soft)}
        halt, failed = runs["halt"]; first, undecided = self._findings(halt)
        for other in others: runs[other] = self._run(*ready, other, []) if ill or failed else runs["halt"]
        for reading, (t, _) in runs.items():
            for f in first if t is halt else self._findings(t)[0]:
                old = found.setdefault(f[:3], f._replace(readings=frozenset()))
                found[f[:3]] = old._replace(readings=old.readings | {reading})
        for rule in self._rules:
            letters = [len({i for i, _ in places}) for places in self._matches(rule, halt).values()]
            count = sum(letters) if rule.patterns else prod(len(objects) for _, objects in rule.params)
            instances[rule.name] = instances.get(rule.name, 0) + count
        last = Trace(halt.facts, halt.numbers); goal = row(self._task.goal, {}, last) == [2]
        soft += [x for f in self._task.constraints for x in unmet(f, {}, halt)] + [*unmet(self._task.goal, {}, last)]
        safe = False if any("halt" in f.readings for f in found.values()) else None if undecided else True
        headline = "INVALID" if failed or ill or not goal else {False: "UNSAFE", None: "UNKNOWN"}.get(
            safe, "SAFE" if sum(instances.values()) else "VALID")
        return Judgement(headline, not failed and not ill, goal, safe, ill, {r: x for r, (_, x) in runs.items()},
                         frozenset(found.values()), undecided, instances, {name: soft.count(name) for name in {*soft}})

    def _halt(self, plan: str, world: World | None) -> Trace:
        if self._last[0] != plan or self._last[1] is not world or not plan:
            self._last = plan, world, self._run(*self._ready(plan, world), "halt", [])[0]
        return self._last[2]

    @limited()
    def states(self, plan: str, world: World | None = None) -> tuple[frozenset[Fact], ...]:
        """The states of the halt trace: facts, derived ones included, as (predicate, object ..)."""
        return self._halt(plan, world).states()

    @limited()
    def check_finding(self, plan: str, rule: str, binding: Mapping[str, str], step: int, world: World | None = None
                      ) -> bool:
        """Whether the rule has this finding on the halt trace; evaluates the instances that agree with the binding."""
        every = (x for r in self._rules if r.name == rule for x in self._inspect(r, self._halt(plan, world), binding))
        return any(dict(f.binding) == dict(binding) and f.step == step for *_, fs in every for f in fs)

    def _trace(self, states: States, times: Sequence[Fraction] | None, actions: States | None) -> Trace:
        values = change((set(), {}), [*self._given, *self._zero])[1]; need(not self.open[1], "numbers are open")
        closed = [self._close({*facts}, values) for facts in states]
        t = Trace(closed[0], values); t.timed = times is not None
        for i, facts in enumerate(closed[1:], 1):
            t.append(facts, values, Fraction(i if times is None else times[i]), i)
        for i, taken in enumerate(actions or ()): t.taken[i] += [("action", i + 1, one) for one in taken]
        return t

    @limited()
    def judge_trace(self, states: States, times: Sequence[Fraction] | None = None, actions: States | None = None
                    ) -> frozenset[Finding]:
        """The findings on a given trace; ``actions[i]`` are taken at letter i. Numbers keep their initial values."""
        return frozenset(self._findings(self._trace(states, times, actions))[0])

    @limited()
    def instance_value(self, rule: str, binding: Mapping[str, str], states: States,
                       times: Sequence[Fraction] | None = None, actions: States | None = None) -> bool | None:
        """The value of a rule on a given trace under a binding (of all its parameters, or some); None if undefined."""
        t = self._trace(states, times, actions)
        value = min((v for r in self._rules if r.name == rule for v, *_ in self._inspect(r, t, binding)), default=2)
        return None if value == 1 else value == 2

def _instance(name: str, kind: str, f: Formula, b: Binding, t: Trace, places: Places
              ) -> tuple[int, Bound, list[Finding]]:
    # The value of one instance of a part, its binding and its findings.
    r, n, bound, used = row(f, b, t), len(t.times) - 1, tuple(sorted(b.items())), operators(f)
    def finding(at: int, end: int, there: bool | None, exact: bool = True) -> Finding:  # there: since letter 0
        changed = any(0 < i <= end for fact, _ in reads(f, b) for i, _ in t.history.get(fact, ()))
        blame = None if there is None else "introduced" if not there else "worsened" if changed else "pre-existing"
        return Finding(name, bound, t.steps[min(at, n)], at > n, exact, "introduced" if "taken" in used else blame)
    if kind == "match":
        found = [Finding(name, bound, step) for i, step in places if r[i] == 0]
        return min((r[i] for i, _ in places), default=2), bound, found
    if kind == "occurrence":
        first = [i for i in range(n + 1) if r[i] == 0 and (i == 0 or r[i - 1] > 0)]
        last = [i for i in range(n + 1) if r[i] == 0 and (i == n or r[i + 1] > 0)]
        return min(r), bound, [finding(i, end, i == 0) for i, end in zip(first, last, strict=True)]
    if kind == "end": return r[n], bound, [finding(n + 1, n, max(r) == 0)] if r[n] == 0 else []
    if r[0] > 0: return r[0], bound, []
    if f[0] not in PDDL3:  # a state or past formula is false from letter 0; what is taken there, a prefix does not tell
        known = not used & {*FUTURE, *WHOLE, "taken"}
        return 0, bound, [finding(0 if known else n + 1, n, known or None, known)]
    args = f[1 + BOUNDS.get(f[0], 0):]
    rows, inner = [row(g, b, t) for g in args], set[str]().union(*map(operators, args))
    steady = f[0] in ("always", "at-most-once", "sometime-before")  # a prefix that is false is lost
    known = not inner & {*FUTURE, "taken"}  # else a prefix alone does not tell the rows
    exact = known and (steady or inner <= FOLDED)
    def lost(i: int) -> bool: return known and doomed(f, [x[:i + 1] for x in rows], t)
    at = bisect_left(range(n + 1), True, key=lost)
    there = at == 0 if exact else None
    if f[0] == "sometime-after": there = rows[0][0] == 2 and max(rows[1]) < 2
    if f[0] == "always-within": there = rows[0][0] == 2 and answer(rows[1], 0, f[1], t.times) < 2
    return 0, bound, [finding(at, n, there, exact)]
