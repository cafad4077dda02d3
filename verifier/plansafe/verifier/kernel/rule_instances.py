"""Instances of rules on a trace, their findings, and the blame (docs/language.md, section 5)."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import NamedTuple

from .candidates import candidates
from .evaluation import row
from .formulas import FUTURE, PDDL3, WHOLE, Binding, Domains, Node, Temporal, bindings, operators, reads, unify
from .rules import AT_END, MATCH, OCCURRENCE, Part, Rule
from .temporal import answer, violated_for_good
from .trace import Signal, Trace, stretches, value_at

FOLDED = {"atom", "not", "and", "or", "imply", "forall", "exists"}  # operators of formulas that are seldom constant
BLAME = ("introduced", None, "worsened", "pre-existing")  # of several parts that give one finding, the first counts
Bound = tuple[tuple[str, str], ...]
"""Variables with objects, sorted."""
Places = list[tuple[int, int]]
"""Letters at which a step of a rule is taken, with the step's number."""


class Finding(NamedTuple):
    """A violated rule instance. ``blame`` is None where the kernel does not tell.

    ``exact_step`` is False where another reader may rightly find the violation earlier than the kernel, at the end.
    """

    rule: str
    binding: Bound
    step: int
    at_end: bool = False
    exact_step: bool = True
    blame: str | None = "introduced"
    readings: frozenset[str] = frozenset({"halt"})


class Instance(NamedTuple):
    """A part of a rule under a binding of all its parameters: its value (0, 1 or 2), and the findings it gives."""

    rule: str
    binding: Bound
    value: int
    findings: list[Finding]


def matches(rule: Rule, trace: Trace) -> list[tuple[dict[str, str], Places]]:
    """The bindings under which a step of the rule is taken, with the places, by pattern."""
    domains, result = dict(rule.params), list[tuple[dict[str, str], Places]]()
    for pattern in rule.patterns:
        found = dict[Bound, tuple[dict[str, str], Places]]()
        for fact in trace.known.matching(pattern, {}):
            b = unify(pattern, fact, {})
            trace.work.spend()
            if b is not None and all(o in domains[v] for v, o in b.items()):
                _, places = found.setdefault(tuple(sorted(b.items())), (b, []))
                for interval in trace.taken[fact]:
                    places += [(letter, interval.step) for letter in range(interval.first, interval.last + 1)]
        result += found.values()
    return result


def count_instances(rule: Rule, trace: Trace) -> int:
    """*Instances*: matches (bindings times letters) of a rule with STEP, else tuples of its parameters."""
    if not rule.patterns:
        return prod(len(objects) for _, objects in rule.params)
    found = matches(rule, trace)
    if len({frozenset(b) for b, _ in found}) < 2:  # all bind the same parameters, and the others take every object
        letters = dict[Bound, set[int]]()
        for b, places in found:
            letters.setdefault(tuple(sorted(b.items())), set()).update(letter for letter, _ in places)
        bound = {v for b, _ in found for v in b}
        others = prod(len(objects) for v, objects in rule.params if v not in bound)
        return others * sum(map(len, letters.values()))
    every = set[tuple[Bound, int]]()
    for b, places in found:
        for full in bindings(_free(rule.params, b), b):
            every.update((tuple(sorted(full.items())), letter) for letter, _ in places)
    return len(every)


def instances(rule: Rule, trace: Trace, wanted: Mapping[str, str]) -> Iterator[Instance]:
    """The instances of all parts that agree with the wanted binding; some that are true may be left out."""
    for base, places in matches(rule, trace) if rule.patterns else [({}, [])]:
        if any(wanted.get(v, o) != o for v, o in base.items()):
            continue
        for part in rule.parts:
            free = tuple([(v, _only(wanted[v], objects) if v in wanted else objects) for v, objects in part.params])
            for b in candidates(part.violation, _free(free, base), base, trace):
                yield _instance(rule.name, part, b, trace, places)


def _free(params: Domains, b: Mapping[str, str]) -> Domains:
    return tuple([(v, objects) for v, objects in params if v not in b])


def _only(o: str, _objects: Iterable[str]) -> dict[str, None]:
    return {o: None}


def findings(rules: list[Rule], trace: Trace) -> tuple[list[Finding], frozenset[tuple[str, Bound]]]:
    """All findings, and the instances that are undecided. Several parts may give one finding."""
    found, undecided = dict[tuple[str, Bound, int], Finding](), set[tuple[str, Bound]]()
    for rule in rules:
        for instance in instances(rule, trace, {}):
            if instance.value == 1:
                undecided.add((rule.name, instance.binding))
            for new in instance.findings:
                old = found.get(new[:3], new)
                blame = min(old.blame, new.blame, key=BLAME.index)
                found[new[:3]] = old._replace(exact_step=old.exact_step and new.exact_step, blame=blame)
    return [*found.values()], frozenset(undecided)


def _instance(name: str, part: Part, b: Binding, trace: Trace, places: Places) -> Instance:
    bound = tuple(sorted(b.items()))
    values = row(part.formula, b, trace)
    here = _Here(name, bound, part.formula, b, trace)
    if part.kind == MATCH:
        failing = [(value_at(values, i), step) for i, step in places]
        found = [Finding(name, bound, step) for value, step in failing if value == 0]
        return Instance(name, bound, min([value for value, _ in failing], default=2), found)
    if part.kind == OCCURRENCE:
        false = [(first, end) for first, end, value in stretches(values, 0, trace.last) if value == 0]
        found = [here.finding(first, end, first == 0) for first, end in false]
        return Instance(name, bound, min([value for _, value in values]), found)
    if part.kind == AT_END:
        value = value_at(values, trace.last)
        ever = max([v for _, v in values]) > 0
        return Instance(name, bound, value, [] if value else [here.at_end(not ever)])
    value = values[0][1]
    return Instance(name, bound, value, [] if value else [here.of_trace()])


class _Here(NamedTuple):
    """An instance of a part that is violated."""

    rule: str
    bound: Bound
    formula: Node
    binding: Binding
    trace: Trace

    def finding(self, letter: int, end: int, there: bool | None, exact: bool = True) -> Finding:
        """A violation that shows at a letter (after the last: at the end). ``there``: since letter 0."""
        last = self.trace.last
        step = self.trace.steps[min(letter, last)]
        return Finding(self.rule, self.bound, step, letter > last, exact, self._blame(end, there))

    def at_end(self, there: bool | None, exact: bool = True) -> Finding:
        """A violation that shows at the end."""
        return self.finding(self.trace.last + 1, self.trace.last, there, exact)

    def _blame(self, end: int, there: bool | None) -> str | None:
        """*Blame*; ``end`` is the letter up to which changes of what is read count."""
        if "taken" in operators(self.formula):
            return "introduced"
        if not there:
            return None if there is None else "introduced"
        return "worsened" if self._changed(end) else "pre-existing"

    def _changed(self, end: int) -> bool:
        for fact, _ in reads(self.formula, self.binding):
            signal = self.trace.number(fact) if fact[0] == "#" else self.trace.signal(fact)
            if any(0 < letter <= end for letter, _ in signal[:2]):
                return True
        return False

    def of_trace(self) -> Finding:
        """A formula about the whole trace that is false at letter 0."""
        f, last = self.formula, self.trace.last
        if not isinstance(f, Temporal) or f.operator not in PDDL3:
            # A state or past formula is false from letter 0; what is taken there, a prefix does not tell.
            known = not operators(f) & {*FUTURE, *WHOLE, "taken"}
            return self.finding(0 if known else last + 1, last, known or None, known)
        rows = [row(part, self.binding, self.trace) for part in f.members]
        inner = set[str]().union(*map(operators, f.members))
        known = not inner & {*FUTURE, "taken"}  # else a prefix alone does not tell the rows
        steady = f.operator in ("always", "at-most-once", "sometime-before")  # a prefix that is false is lost
        exact = known and (steady or inner <= FOLDED)
        lost = bisect_left(range(last + 1), True, key=lambda i: known and self._lost(f, rows, i))
        there = self._triggered(f, rows, lost == 0 if exact else None)
        return self.finding(lost, last, there, exact)

    def _lost(self, f: Temporal, rows: list[Signal], letter: int) -> bool:
        trace = self.trace
        times = trace.times[: letter + 1]
        more = letter > 0 and letter not in trace.shared
        return violated_for_good(f.operator, f.bounds, rows, times, trace.timed, not more)

    def _triggered(self, f: Temporal, rows: list[Signal], otherwise: bool | None) -> bool | None:
        """Whether it was there at letter 0: an obligation, if it was triggered there and never answered."""
        if operators(f.members[0]) & {*FUTURE, *WHOLE}:
            return otherwise  # what triggers it is not known at letter 0
        triggered = bool(rows[0][0][1] == 2)
        if f.operator == "sometime-after":
            return triggered and max([int(value) for _, value in rows[1]]) < 2
        if f.operator == "always-within":
            return triggered and answer(rows[1], 0, f.bounds[0], self.trace.times) < 2
        return otherwise
