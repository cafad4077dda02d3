"""Open facts and fluents, and the completions that their statements allow (docs/worlds.md, sections 1 and 2)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import compress, product
from typing import Any

from .effects import EffectContext, iterate_effect_changes
from .evaluation import holds
from .formulas import Compare, Connective, Fact, Fluent, Node, Number, ground_reads
from .open_range import depends_on_range
from .reader import KernelLimit, require
from .task import Task
from .trace import Change, State, Work

Completion = tuple[frozenset[Fact], dict[Fact, Fraction]]
"""The open facts that are true, and the values of the open fluents."""


class Worlds:
    """The open facts and fluents of a task, and its initial states."""

    def __init__(self, task: Task, declared_open: Iterable[Fact], invariants: list[Node], literal: bool) -> None:
        self.task = task
        self.invariants = invariants
        self.literal = literal
        context = EffectContext(State((), {}, Work(), literal))
        initial_changes = [
            (time, c) for time, effect in task.initial if not time for c in iterate_effect_changes(effect, {}, context)
        ]
        self._untimed_changes = [change for time, change in initial_changes if time is None]
        self._changes_at_zero = [change for time, change in initial_changes if time is not None]
        initial = {fact for _, fact, _ in self._untimed_changes}
        mentioned = dict[str, set[Fact]]()  # by the operator of the statement
        for statement in task.open_statements:
            mentioned.setdefault(statement.operator, set()).update(fact for fact, _ in ground_reads(statement, {}))
        require(not initial & mentioned.get("unknown", set()), "unknown, but given")
        in_oneof = mentioned.pop("oneof", set())
        elsewhere = {*declared_open}.union(*mentioned.values())
        all_open = sorted((in_oneof | elsewhere) - initial)
        self._oneof_only = in_oneof - elsewhere
        """Facts that are false unless a true alternative has them."""
        self.facts = tuple([fact for fact in all_open if fact[0] != "#"])
        limits = [c for statement in task.open_statements if statement.operator == "and" for c in statement.parts()]
        self.fluents = {fact[1:]: _read_bounds(fact, limits) for fact in all_open if fact[0] == "#"}

    def make_initial_state(self, facts: Collection[Fact], numbers: Mapping[Fact, Any], work: Work) -> State | None:
        """Return S0 if exactly these open facts are true; ``None`` if the completion is not allowed.

        Statements are about ``:init`` without timed literals, invariants about S0, after the literals of time 0.
        """
        if not {*facts} <= {*self.facts} or numbers.keys() != self.fluents.keys():
            return None
        values = {
            ("#", *fluent): value if depends_on_range(value) else Fraction(value) for fluent, value in numbers.items()
        }
        state = State([*facts], values, work, self.literal)
        self._apply(state, self._untimed_changes)
        if not self._satisfies_statements(state, {*facts}):
            return None
        self._apply(state, self._changes_at_zero)
        self.task.axioms.derive_all(state)
        return state if all(holds(invariant, {}, state) for invariant in self.invariants) else None

    def find_initial_numbers(self) -> dict[Fact, Fraction]:
        """Return the initial values of the fluents that are not open."""
        changes = (*self._untimed_changes, *self._changes_at_zero)
        return {fact: value for kind, fact, value in changes if kind == "assign"}

    def _apply(self, state: State, changes: list[Change]) -> None:
        for kind, fact, value in sorted(changes, key=lambda change: change[0] != "delete"):
            if kind == "delete":
                state.facts.discard(fact)
            elif kind == "add":
                state.facts.add(fact)
            else:
                state.numbers[fact] = value

    def _satisfies_statements(self, state: State, facts: set[Fact]) -> bool:
        """Whether all statements of ``:init`` are true."""
        supported = set[Fact]()
        for statement in self.task.open_statements:
            if statement.operator == "oneof":
                true = [part for part in statement.parts() if holds(part, {}, state)]
                if len(true) != 1:
                    return False
                supported |= {fact for fact, negative in ground_reads(true[0], {}) if not negative}
            elif statement.operator in ("and", "or") and not holds(statement, {}, state):
                return False
        return not facts & self._oneof_only - supported

    def completions(self) -> Iterator[Completion]:
        """Enumerate the allowed completions (exponential). Raises ``KernelLimit`` if there may be infinitely many."""
        alternatives = [part for s in self.task.open_statements if s.operator == "oneof" for part in s.parts()]
        values = [_collect_oneof_values(("#", *fluent), alternatives) for fluent in self.fluents]
        require(all(values), "a fluent that may have infinitely many values", KernelLimit)
        for true, chosen in product(product((False, True), repeat=len(self.facts)), product(*values)):
            facts = frozenset(compress(self.facts, true))
            numbers = dict(zip(self.fluents, chosen, strict=True))
            if self.make_initial_state(facts, numbers, Work()) is not None:
                yield facts, numbers


def _read_bounds(fluent: Fact, limits: list[Node]) -> frozenset[tuple[str, Fraction]]:
    """Return the bounds of an open fluent, as (comparison, number)."""
    bounds = set[tuple[str, Fraction]]()
    for limit in limits:
        match limit:
            case Compare(operator, Fluent(terms), Number(value)) if terms == fluent:
                bounds.add((operator, value))
    return frozenset(bounds)


def _collect_oneof_values(fluent: Fact, alternatives: list[Node]) -> list[Fraction]:
    """Return the values that alternatives of ``oneof`` give to a fluent."""
    literals = [literal for part in alternatives if isinstance(part, Connective) for literal in part.members]
    return sorted({value for operator, value in _read_bounds(fluent, literals) if operator == "="})
