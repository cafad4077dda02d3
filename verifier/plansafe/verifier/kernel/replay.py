"""Plans executed by definition, and the judgement on them (docs/language.md, sections 3, 5 and 6)."""
# fmt: off
# ruff: noqa: E701
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, NamedTuple

from .formulas import (BOUNDS, COMPARE, FUTURE, PDDL3, WHOLE, Binding, Domains, Fact, Formula, Trace, answer, bindings,
                       doomed, ground, numbers, operators, reads, row, unify)
from .reader import NUMBER, KernelLimit, KernelRejects, Sexp, bounded, definition, need, number, read
from .rules import Rule, constraints, specification, trajectory
from .task import ASSIGN, Action, Task

GAP = re.compile(rf"\s*(?:\[\s*({NUMBER.pattern})\s*\])?\s*(?:({NUMBER.pattern})\s*:)?\s*")
Change = tuple[str, Fact, Any]  # "add", "del" or an assignment; the fact or fluent; the number

class Inexecutable(Exception):
    """What a step does cannot be computed."""

class Step(NamedTuple):
    """A step of a plan, or a timed literal (number 0). ``action`` is None if the step is ill-formed."""
    number: int
    time: Fraction
    duration: Fraction
    terms: tuple[str, ...]
    action: Action | None
    binding: dict[str, Any]

class Act(NamedTuple):
    """The start (or whole) or end of a step at one happening. ``does`` is None if it cannot be computed."""
    mode: str
    step: Step
    allowed: bool
    does: list[Change] | None
    reads: set[Fact]

def parse(text: str) -> Iterator[tuple[Fraction | None, Fraction | None, Sexp]]:
    """(time, duration, step) for each step of a plan."""
    items = read(text)
    if len(items) == 1 and items[0][:1] == ("define",) and not all(isinstance(x, str) for x in items[0]):
        for e in definition(items, "plan", ":domain :problem :steps", "").get(":steps", [()])[0]:
            timed = isinstance(e, tuple) and len(e) in (3, 4) and e[0] == "at" and isinstance(e[2], tuple)
            yield (number(e[1]), number(e[3]) if len(e) == 4 else None, e[2]) if timed else (None, None, e)
        return
    gaps, steps = [""], list[Sexp]()
    for item in items:
        if isinstance(item, str): gaps[-1] += " " + item
        else: steps, gaps = [*steps, item], [*gaps, ""]
    found = [GAP.fullmatch(gap) for gap in gaps]
    need(all(found) and not (found[0] and found[0][1]) and not (found[-1] and found[-1][2]), "not a plan")
    for before, step, after in zip(found, steps, found[1:], strict=False):
        yield *(number(x) if x else None for x in (before and before[2], after and after[1])), step  # type: ignore[misc]

def outcome(e: Formula, b: Binding, now: Trace) -> Iterator[Change]:
    """What an effect adds, deletes and changes, all read in the state before."""
    match e:
        case ("and", *parts):
            for part in parts: yield from outcome(part, b, now)
        case ("forall", v, objects, f):
            for o in objects: yield from outcome(f, {**b, v: o}, now)
        case ("when", condition, f):
            holds = row(condition, b, now)[0]
            if holds == 1: raise Inexecutable
            if holds: yield from outcome(f, b, now)
        case (str(op), f) if op[0] == "@":
            if b["@"] == op: yield from outcome(f, b, now)
        case ("change", op, fluent, x):
            value = numbers(x, b, now)[0]
            if value is None: raise Inexecutable
            yield op, ground(fluent, b), value
        case (kind, *terms): yield kind, ground(terms, b), None

def combine(changes: Iterable[Change], before: Mapping[Fact, Fraction]) -> dict[Fact, Fraction]:
    """The new values of fluents changed at once; ``Inexecutable`` on a conflict, an undefined one, division by zero."""
    result = dict[Fact, Fraction]()
    done = dict[Fact, list[str]]()
    for op, fluent, x in (c for c in changes if c[0] in ASSIGN):
        kinds = {op, *done.setdefault(fluent, [])}
        alike = kinds <= {"increase", "decrease"} or kinds <= {"scale-up", "scale-down"} or not done[fluent]
        if not alike or op != "assign" and fluent not in before or (op, x) == ("scale-down", 0): raise Inexecutable
        old = result.get(fluent, before.get(fluent, Fraction(0)))
        new = {"increase": old + x, "decrease": old - x, "scale-up": old * x, "scale-down": old / (x or 1)}.get(op, x)
        result[fluent] = bounded(new)
        done[fluent].append(op)
    return result

def interfere(x: Act, y: Act) -> bool:
    """Whether two actions of one happening are mutex (PDDL 2.1, definition 12)."""
    mine, theirs = x.does or [], y.does or []
    def alike(a: str, b: str) -> bool: return a == b in ("add", "del") or {a, b} <= {"increase", "decrease"}
    return (any(f in x.reads for _, f, _ in theirs) or any(f in y.reads for _, f, _ in mine)
            or any(f == g and not alike(a, b) for a, f, _ in mine for b, g, _ in theirs))

def lasts(f: Formula, b: Binding, now: Trace, slack: Fraction) -> bool:
    """Whether a duration satisfies its constraint within the tolerance."""
    if f[0] == "and": return all(lasts(g, b, now, slack) for g in f[1:])
    if f[0][0] == "@": return b["@"] != f[0] or lasts(f[1], b, now, slack)
    if f[0] not in COMPARE: return row(f, b, now) == [2]
    x, y = (numbers(e, b, now)[0] for e in f[1:])
    return x is not None and y is not None and (COMPARE[f[0]](x, y) or abs(x - y) <= slack and "=" in f[0])

def unmet(f: Formula, b: Binding, t: Trace) -> Iterator[str]:
    """The names of the preferences in a goal or condition that do not hold at the last letter, once for each binding."""
    match f:
        case ("and", *parts):
            for g in parts: yield from unmet(g, b, t)
        case ("forall", v, objects, g):
            for o in objects: yield from unmet(g, {**b, v: o}, t)
        case ("preference", name, g) if row(g, b, t)[-1] < 2: yield name
        case (str(op), g) if op[0] == "@" and b["@"] == op: yield from unmet(g, b, t)

class Replay:
    """The execution of plans for one task."""
    def __init__(self, task: Task, tolerance: Fraction) -> None:
        self.task, self.tolerance = task, tolerance
        self.base, self.numbers = set[Fact](), dict[Fact, Fraction]()
        for kind, fact, value in (c for time, e in task.initial if time <= 0 for c in outcome(e, {}, Trace(set(), {}))):
            if kind == "assign": self.numbers[fact] = value
            elif kind == "add": self.base.add(fact)
            else: self.base.discard(fact)

    def close(self, base: set[Fact], values: Mapping[Fact, Fraction]) -> set[Fact]:
        """The facts with the derived ones: the least fixpoint, stratum by stratum."""
        facts, found = set(base), True
        for stratum in self.task.strata:
            while found:
                now = Trace(facts, values)
                new = {ground((name, *dict(domains)), b) for name, domains, f in stratum for b in bindings(domains, {})
                       if row(f, b, now) == [2]}
                facts, found = facts | new, not new <= facts
            found = True
        return facts

    def steps(self, text: str) -> list[Step]:
        """The steps of a plan, in the order of their times."""
        plan, table = list(parse(text)), {name: a.params for name, a in self.task.actions.items()}
        for _, _, e in plan: need(isinstance(e, tuple) and e and all(isinstance(x, str) for x in e), "not a step")
        self.timed = any(time is not None for time, _, _ in plan)
        need(not self.timed or all(time is not None for time, _, _ in plan), "some steps with, some without time")
        result = list[Step]()
        for i, (time, duration, e) in enumerate(sorted(plan, key=lambda x: x[0] or 0), 1):
            action = self.task.actions.get(e[0])
            try: self.task.terms(e, table, {})
            except KernelRejects: action = None
            if action and action.durative: fits = time is not None and duration is not None and duration >= 0
            else: fits = duration is None or duration in (0, self.tolerance)
            if time is not None and time < 0 or not fits: action = None
            duration, time = duration or Fraction(0), Fraction(i) if time is None else time
            b = {**dict(zip(action.params, e[1:], strict=True)), "?duration": duration} if action else {}
            result.append(Step(i, time, duration, e, action, b))
        return result

    def attempt(self, mode: str, step: Step, now: Trace) -> Act:
        """What a step does at a happening, and whether it may."""
        action, b = step.action, {**step.binding, "@": "@" + mode}
        assert action is not None
        allowed = row(action.condition, b, now) == [2] and lasts(action.duration, b, now, self.tolerance)
        try:
            does: list[Change] | None = list(outcome(action.effect, b, now))
            combine(does or [], now.numbers)
        except Inexecutable: does = None
        every = [f for part in (action.condition, action.duration, action.effect) for f, _ in reads(part, b)]
        return Act(mode, step, allowed and does is not None, does, set(every))

    def run(self, steps: Sequence[Step], reading: str, counted: list[str]) -> tuple[Trace, tuple[int, ...]]:
        """The trace under one reading, and the steps that failed; ``counted`` gets the preconditions' preferences."""
        base, t = self.base, Trace(self.close(self.base, self.numbers), self.numbers)
        failed, dropped, running, recent = set[int](), set[int](), list[Step](), list[tuple[Fraction, Act]]()
        agenda = dict[Fraction, list[tuple[str, Step]]]()
        for s in steps:
            agenda.setdefault(s.time, []).append(("action", s))
            if s.action and s.action.durative: agenda.setdefault(s.time + s.duration, []).append(("action-end", s))
        horizon = max((time for time, events in agenda.items() if any(s.action for _, s in events)), default=0)
        for time, effect in self.task.initial:
            literal = Step(0, time, Fraction(0), (), Action({}, False, ("and",), ("and",), effect), {})
            if 0 < time <= horizon: agenda.setdefault(time, []).append(("literal", literal))
        for time, events in sorted(agenda.items()):
            if reading == "halt" and any(s.action is None for _, s in events): break
            now = Trace(t.facts, t.numbers)
            acts = [self.attempt(mode, s, now) for mode, s in events if s.action and s.number not in dropped]
            recent = [(at, x) for at, x in recent if time - at < self.tolerance and self.timed]
            able = [x for x in acts if x.allowed]
            bad = {x.step.number for x in acts if not x.allowed}
            bad |= {x.step.number for x in able for y in (*able, *(y for _, y in recent)) if x is not y and interfere(x, y)}
            bad -= {0}
            failed |= bad
            if reading == "halt" and bad: break
            acts = [x for x in acts if x.does is not None and (reading == "force" or x.step.number not in bad)]
            dropped |= bad - {x.step.number for x in acts}
            try: values = combine([c for x in acts for c in x.does or []], t.numbers)
            except Inexecutable:
                acts = [x for x in acts if x.step.number not in bad]
                values = combine([c for x in acts for c in x.does or []], t.numbers)
            out = [c for x in acts for c in x.does or []]
            new = base - {f for kind, f, _ in out if kind == "del"} | {f for kind, f, _ in out if kind == "add"}
            after = {**t.numbers, **values} if values else t.numbers
            facts = self.close(new, after) if self.task.strata else new
            then, ends = Trace(facts, after), {x.step.number for x in acts if x.mode == "action-end"}
            starts = [x.step for x in acts if x.mode == "action" and x.step.duration > 0 and x.step.action.durative]
            going = [s for s in (*running, *starts) if s.number not in ends | dropped]
            broken = {s.number for s in going if row(s.action.condition, {**s.binding, "@": "@all"}, then) != [2]}
            failed |= broken
            if reading == "halt" and broken: break
            if reading == "skip": dropped |= broken
            running = [s for s in going if s.number not in dropped]
            if not acts: continue
            for x in acts:
                counted += unmet(x.step.action.condition, {**x.step.binding, "@": "@" + x.mode}, now)
            recent += [(time, x) for x in acts]
            t.taken[-1] += [(x.mode, x.step.number, x.step.terms) for x in acts if x.step.number]
            t.append(facts, after, time, max([t.steps[-1], *(x.step.number for x in acts if x.mode == "action")]))
            t.taken[-1] += [("action-during", s.number, s.terms) for s in running]
            base = new
        return t, tuple(sorted(failed))
