"""Open facts and fluents, and the completions that their statements allow (docs/worlds.md, sections 1 and 2)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import compress, product
from typing import Any

from .effects import EffectContext, iterate_effect_changes
from .evaluation import holds
from .formulas import Compare, Connective, Fact, Fluent, Node, Number, iterate_ground_reads
from .open_range import depends_on_range
from .reader import KernelLimit, require
from .task import Task
from .trace import Change, State, Work

Completion = tuple[frozenset[Fact], dict[Fact, Fraction]]
"""The open facts that are true, and the values of the open fluents."""


class Worlds:
    """The open facts and fluents of a task, and its initial states."""

    def __init__(self, task: Task, declared_open_facts: Iterable[Fact], invariants: list[Node], literal: bool) -> None:
        self.task = task
        self.invariants = invariants
        self.literal = literal
        context = EffectContext(State((), {}, Work(), literal))
        self._untimed_changes, self._changes_at_zero = list[Change](), list[Change]()
        for time, effect in task.initial:
            if not time:
                changes = self._untimed_changes if time is None else self._changes_at_zero
                changes += iterate_effect_changes(effect, {}, context)
        initial_facts = {fact for _, fact, _ in self._untimed_changes}
        mentioned_facts = dict[str, set[Fact]]()  # by the operator of the statement
        for statement in task.open_statements:
            facts = {fact for fact, _ in iterate_ground_reads(statement, {})}
            mentioned_facts.setdefault(statement.operator, set()).update(facts)
        require(not initial_facts & mentioned_facts.get("unknown", set()), "unknown, but given")
        oneof_facts = mentioned_facts.pop("oneof", set())
        other_open_facts = {*declared_open_facts}.union(*mentioned_facts.values())
        open_facts = sorted((oneof_facts | other_open_facts) - initial_facts)
        self._oneof_only_facts = oneof_facts - other_open_facts
        """Facts that are only in ``oneof`` statements: they are false unless a true alternative has them."""
        self.facts = tuple([fact for fact in open_facts if fact[0] != "#"])
        intervals = [c for statement in task.open_statements if statement.operator == "and" for c in statement.parts()]
        self.fluents = {fact[1:]: _read_bounds(fact, intervals) for fact in open_facts if fact[0] == "#"}

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
        self._apply_changes(state, self._untimed_changes)
        if not self._satisfies_statements(state, {*facts}):
            return None
        self._apply_changes(state, self._changes_at_zero)
        self.task.axioms.derive_all(state)
        return state if all(holds(invariant, {}, state) for invariant in self.invariants) else None

    def find_initial_numbers(self) -> dict[Fact, Fraction]:
        """Return the initial values of the fluents that are not open."""
        changes = (*self._untimed_changes, *self._changes_at_zero)
        return {fact: value for kind, fact, value in changes if kind == "assign"}

    def _apply_changes(self, state: State, changes: list[Change]) -> None:
        """Change a state; a fact that is both deleted and added becomes true."""
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
                supported |= {fact for fact, negative in iterate_ground_reads(true[0], {}) if not negative}
            elif statement.operator in ("and", "or") and not holds(statement, {}, state):
                return False
        return not facts & self._oneof_only_facts - supported

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


def _read_bounds(fluent: Fact, intervals: list[Node]) -> frozenset[tuple[str, Fraction]]:
    """Return the bounds of an open fluent, as (comparison, number)."""
    bounds = set[tuple[str, Fraction]]()
    for limit in intervals:
        match limit:
            case Compare(operator, Fluent(terms), Number(value)) if terms == fluent:
                bounds.add((operator, value))
    return frozenset(bounds)


def _collect_oneof_values(fluent: Fact, alternatives: list[Node]) -> list[Fraction]:
    """Return the values that alternatives of ``oneof`` give to a fluent."""
    literals = [literal for part in alternatives if isinstance(part, Connective) for literal in part.members]
    return sorted({value for operator, value in _read_bounds(fluent, literals) if operator == "="})
