"""What is left open, and which completions agree with what is said of it (docs/worlds.md, sections 1 and 2)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import compress, product
from typing import Any

from .effects import Reading, outcome
from .evaluation import holds
from .formulas import Compare, Connective, Fact, Fluent, Node, Number, reads
from .reader import KernelLimit, need
from .task import Task
from .trace import Change, State, Work

Completion = tuple[frozenset[Fact], dict[Fact, Fraction]]


class Worlds:
    """The open facts and fluents of a task, and its initial states."""

    def __init__(self, task: Task, opened: Iterable[Fact], invariants: list[Node], literal: bool) -> None:
        self.task = task
        self.invariants = invariants
        self.literal = literal
        nowhere = Reading(State((), {}, Work(), literal))
        early = [(time, c) for time, e in task.initial if not time for c in outcome(e, {}, nowhere)]
        self._given = [c for time, c in early if time is None]
        self._at_zero = [c for time, c in early if time is not None]
        given = {fact for _, fact, _ in self._given}
        named = dict[str, set[Fact]]()  # what the statements of each kind mention
        for s in task.statements:
            named.setdefault(s.operator, set()).update(f for f, _ in reads(s, {}))
        need(not given & named.get("unknown", set()), "unknown, but given")
        once = named.pop("oneof", set())
        otherwise = {*opened}.union(*named.values())
        every = sorted((once | otherwise) - given)
        self._backed = once - otherwise  # false unless a true alternative has it
        self.facts = tuple([f for f in every if f[0] != "#"])
        limits = [c for s in task.statements if s.operator == "and" for c in s.parts()]
        self.fluents = {f[1:]: _limits(f, limits) for f in every if f[0] == "#"}

    def begin(self, facts: Collection[Fact], numbers: Mapping[Fact, Any], work: Work) -> State | None:
        """S0 if these open facts are true, and no others; ``None`` if it is not allowed.

        Statements speak of what ``:init`` says without timed literals; those of time 0 happen then; invariants speak
        of S0.
        """
        if not {*facts} <= {*self.facts} or numbers.keys() != self.fluents.keys():
            return None
        values = {("#", *f): Fraction(value) for f, value in numbers.items()}
        said = State([*facts], values, work, self.literal)
        self._apply(said, self._given)
        if not self._agrees(said, {*facts}):
            return None
        self._apply(said, self._at_zero)
        self.task.axioms.close(said)
        return said if all(holds(f, {}, said) for f in self.invariants) else None

    def given_numbers(self) -> dict[Fact, Fraction]:
        """The initial values of what is not open."""
        return {fact: value for kind, fact, value in (*self._given, *self._at_zero) if kind == "assign"}

    def _apply(self, state: State, changes: list[Change]) -> None:
        for kind, fact, value in sorted(changes, key=lambda change: change[0] != "delete"):
            if kind == "delete":
                state.facts.discard(fact)
            elif kind == "add":
                state.facts.add(fact)
            else:
                state.numbers[fact] = value

    def _agrees(self, state: State, facts: set[Fact]) -> bool:
        """Whether all statements of ``:init`` are true."""
        backing = set[Fact]()
        for s in self.task.statements:
            if s.operator == "oneof":
                true = [part for part in s.parts() if holds(part, {}, state)]
                if len(true) != 1:
                    return False
                backing |= {f for f, negative in reads(true[0], {}) if not negative}
            elif s.operator in ("and", "or") and not holds(s, {}, state):
                return False
        return not facts & self._backed - backing

    def completions(self) -> Iterator[Completion]:
        """All that is allowed, by enumeration (exponential); ``KernelLimit`` if that may be infinitely much."""
        parts = [part for s in self.task.statements if s.operator == "oneof" for part in s.parts()]
        values = [_values(("#", *f), parts) for f in self.fluents]
        need(all(values), "a fluent that may have infinitely many values", KernelLimit)
        for true, chosen in product(product((False, True), repeat=len(self.facts)), product(*values)):
            facts = frozenset(compress(self.facts, true))
            numbers = dict(zip(self.fluents, chosen, strict=True))
            if self.begin(facts, numbers, Work()) is not None:
                yield facts, numbers


def _limits(fluent: Fact, limits: list[Node]) -> frozenset[tuple[str, Fraction]]:
    """The bounds of an open fluent, as (comparison, number)."""
    result = set[tuple[str, Fraction]]()
    for limit in limits:
        match limit:
            case Compare(operator, Fluent(terms), Number(value)) if terms == fluent:
                result.add((operator, value))
    return frozenset(result)


def _values(fluent: Fact, parts: list[Node]) -> list[Fraction]:
    """The values that alternatives of ``oneof`` give to a fluent."""
    result = set[Fraction]()
    for part in parts:
        assert isinstance(part, Connective)
        for literal in part.members:
            match literal:
                case Compare("=", Fluent(terms), Number(value)) if terms == fluent:
                    result.add(value)
    return sorted(result)
