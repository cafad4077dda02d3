"""The reasons of answers: claims about plans and proofs, which the replay kernel checks.

A proof that facts are never true together is checked by the pairs of facts that may be true together (h², Haslum and
Geffner 2000), computed from the kernel's reading of the actions, or else by visiting all states with the kernel.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from math import prod
from typing import NamedTuple

from bench.field.acpbench.records import Record

from plansafe.verifier.kernel import Kernel
from plansafe.verifier.kernel.effects import EffectContext, iterate_effect_changes
from plansafe.verifier.kernel.evaluation import holds
from plansafe.verifier.kernel.formulas import (
    Add,
    Assign,
    Atom,
    Connective,
    Delete,
    EqualTerms,
    Fact,
    Node,
    Unary,
    ground,
    iterate_bindings,
)
from plansafe.verifier.kernel.reader import read_expressions
from plansafe.verifier.kernel.task import Action, Task
from plansafe.verifier.kernel.trace import State, Work

MAX_GROUND_STEPS = 300_000
"""Well-typed steps, beyond which the kernel does not try them all."""
MAX_STATES = 2_000
"""States that the kernel visits for a proof."""


class PlanClaim(NamedTuple):
    """The steps of ``plan`` can be taken from S0, and this holds for the states that they pass.

    ``reached`` are facts of the last state, ``avoided`` are facts of no state, ``next_step`` can be taken in the last
    state, ``failing_step`` cannot, and ``is_goal``: the last state satisfies the goal.
    """

    plan: tuple[str, ...]
    reached: tuple[str, ...] = ()
    avoided: tuple[str, ...] = ()
    next_step: str = ""
    failing_step: str = ""
    is_goal: bool = False


class NeverClaim(NamedTuple):
    """No reachable state has all these facts. With ``without``: unless an earlier or the same state has this fact."""

    facts: tuple[str, ...]
    without: str = ""


class NeverStepClaim(NamedTuple):
    """A step can be taken in no reachable state."""

    step: str


class LegalClaim(NamedTuple):
    """Exactly these steps can be taken in S0."""

    steps: tuple[str, ...]


class ChangeClaim(NamedTuple):
    """A step that can be taken in S0 makes exactly these facts true and false."""

    step: str
    added: tuple[str, ...]
    deleted: tuple[str, ...]


class ShortestClaim(NamedTuple):
    """No plan is shorter. The kernel does not check this: the bound comes from the search."""

    length: int


Claim = PlanClaim | NeverClaim | NeverStepClaim | LegalClaim | ChangeClaim | ShortestClaim


class _Operator(NamedTuple):
    """A ground step without negative and conditional conditions, as sets of facts (bits): an over-approximation."""

    conditions: tuple[int, ...]
    adds: tuple[int, ...]
    deletes: int


class KernelReplay:
    """Checks claims about one record with the replay kernel."""

    def __init__(self, record: Record) -> None:
        self.kernel = Kernel(record.domain.text, record.problem.text)
        self.task = Task(
            read_expressions(record.domain.text), read_expressions(record.problem.text), False, Fraction(1, 1000), {}
        )
        self.initial = self.kernel.states("")[0]
        self._numbers: dict[Fact, int] = {}
        self._operators: list[_Operator] | None = None

    def check(self, claim: Claim) -> bool | None:
        """Whether a claim is true; ``None`` if the kernel cannot decide it."""
        match claim:
            case PlanClaim():
                return self._check_plan(claim)
            case NeverClaim():
                return self._check_never([_read_fact(fact) for fact in claim.facts], _read_fact(claim.without))
            case NeverStepClaim():
                return self._check_never_step(_read_fact(claim.step))
            case LegalClaim():
                return self._check_legal(claim)
            case ChangeClaim():
                return self._check_change(claim)
            case ShortestClaim():
                return None

    def _check_plan(self, claim: PlanClaim) -> bool:
        states = self.kernel.states("\n".join(claim.plan))
        last, objects = states[-1], [_read_fact(fact) for fact in claim.reached]
        return (
            len(states) == len(claim.plan) + 1
            and all([fact in last for fact in objects])
            and not any([_read_fact(fact) in state for fact in claim.avoided for state in states])
            and (not claim.next_step or self._can_continue(claim, claim.next_step))
            and (not claim.failing_step or not self._can_continue(claim, claim.failing_step))
            and (not claim.is_goal or self.kernel.audit("\n".join(claim.plan)).goal)
        )

    def _can_continue(self, claim: PlanClaim, step: str) -> bool:
        return self.kernel.audit("\n".join([*claim.plan, step])).executable

    def _check_legal(self, claim: LegalClaim) -> bool | None:
        bound_steps = self._list_steps()
        if bound_steps is None:
            return None
        state = self._make_state(self.initial)
        legal = {
            ground((action.name, *action.params), binding)
            for action, binding in bound_steps
            if holds(action.start.condition, binding, state)
        }
        return legal == {_read_fact(step) for step in claim.steps}

    def _check_change(self, claim: ChangeClaim) -> bool:
        states = self.kernel.states(claim.step)
        return (
            len(states) == 2
            and states[1] - states[0] == {_read_fact(fact) for fact in claim.added}
            and states[0] - states[1] == {_read_fact(fact) for fact in claim.deleted}
        )

    # -- proofs that facts are never true together --------------------------------------------------------------------

    def _check_never(self, facts: list[Fact], without: Fact = ()) -> bool | None:
        """Whether no reachable state has all facts, unless it or an earlier state has the fact ``without``."""
        if without in self.initial or self.is_excluded_by_pairs(facts, without):
            return True
        return self.visit_all_states(lambda state: all([fact in state.facts for fact in facts]), without)

    def _check_never_step(self, terms: Fact) -> bool | None:
        action = self.task.actions[terms[0]]
        binding = dict(zip(action.params, terms[1:], strict=True))
        facts = _read_conditions(action.start.condition, binding)
        if facts is None or self.is_excluded_by_pairs(facts, ()):
            return True
        return self.visit_all_states(lambda state: holds(action.start.condition, binding, state), ())

    def _list_steps(self) -> list[tuple[Action, dict[str, str]]] | None:
        """All well-typed steps; ``None`` if they are too many."""
        vocabulary = self.task.vocabulary
        domains = {name: vocabulary.find_domains(action.params) for name, action in self.task.actions.items()}
        counts = [prod([len(objects) for _, objects in domain]) for domain in domains.values()]
        if sum(counts) > MAX_GROUND_STEPS:
            return None
        return [
            (self.task.actions[name], binding) for name in domains for binding in iterate_bindings(domains[name], {})
        ]

    def _make_state(self, facts: Iterable[Fact]) -> State:
        return State(facts, {}, Work(), False)

    def _number(self, fact: Fact) -> int:
        return self._numbers.setdefault(fact, len(self._numbers))

    def _ground(self) -> list[_Operator] | None:
        """The operators whose static conditions hold; ``None`` if they are too many, or an effect is not covered."""
        if self._operators is None:
            steps = self._list_steps()
            if steps is None:
                return None
            changed = {name for action in self.task.actions.values() for name in _changed_names(action.start.effect)}
            operators = []
            for action, binding in steps:
                conditions = _read_conditions(action.start.condition, binding)
                if conditions is None or any([f[0] not in changed and f not in self.initial for f in conditions]):
                    continue
                changes = [c for c in _read_changes(action.start.effect, binding) if not isinstance(c[0], Assign)]
                if not all([isinstance(change, Add | Delete) for change, _ in changes]):
                    return None
                adds = {fact for change, fact in changes if isinstance(change, Add)}
                deletes = sum([1 << self._number(f) for c, f in changes if isinstance(c, Delete) and f not in adds])
                fluents = [self._number(fact) for fact in conditions if fact[0] in changed]
                operators.append(_Operator(tuple(fluents), tuple([self._number(f) for f in adds]), deletes))
            self._operators = operators
        return self._operators

    def is_excluded_by_pairs(self, facts: list[Fact], without: Fact = ()) -> bool:
        """Whether two of the facts (or one) are in no pair that may be true together."""
        operators = self._ground()
        if operators is None or self.task.axioms.derived:
            return False
        barred = self._number(without) if without else -1
        numbers = [self._number(fact) for fact in [*self.initial, *facts]]
        pairs = [0] * len(self._numbers)
        """For each fact, the facts (bits) that may be true together with it; itself if it may be true."""
        initial = sum([1 << number for number in numbers[: len(self.initial)]])
        for number in numbers[: len(self.initial)]:
            pairs[number] = initial
        operators = [operator for operator in operators if barred not in operator.adds]
        is_changed = True
        while is_changed:
            is_changed = False
            for conditions, adds, deletes in operators:
                before = self._common(pairs, conditions)
                if before is None:
                    continue
                added = sum([1 << number for number in adds])
                after = (before & ~deletes) | added
                for number in adds:
                    for partner in _iterate_bits(after & ~pairs[number]):
                        pairs[number] |= 1 << partner
                        pairs[partner] |= 1 << number
                        is_changed = True
        return self._common(pairs, tuple(numbers[len(self.initial) :])) is None

    @staticmethod
    def _common(pairs: list[int], facts: tuple[int, ...]) -> int | None:
        """The facts that may be true together with all of these; ``None`` if these exclude each other."""
        if not facts:
            return sum([1 << number for number, partners in enumerate(pairs) if partners >> number & 1])
        common = pairs[facts[0]]
        for number in facts[1:]:
            common &= pairs[number]
        return common if all([common >> number & 1 for number in facts]) else None

    def visit_all_states(self, is_excluded: Callable[[State], bool], without: Fact = ()) -> bool | None:
        """Whether no state is of the excluded kind, after a visit of all states.

        ``None``: they are too many, or have numbers or derived facts.
        """
        steps = self._list_steps()
        if steps is None or self.task.vocabulary.functions or self.task.axioms.derived:
            return None
        first = frozenset(self.initial)
        visited, queue = {first}, deque([first])
        while queue:
            now = queue.popleft()
            if is_excluded(self._make_state(now)):
                return False
            for after in self._iterate_successors(now, steps):
                if after not in visited and without not in after:
                    visited.add(after)
                    queue.append(after)
            if len(visited) > MAX_STATES:
                return None
        return True

    def _iterate_successors(
        self, facts: frozenset[Fact], steps: list[tuple[Action, dict[str, str]]]
    ) -> Iterator[frozenset[Fact]]:
        state = self._make_state(facts)
        for action, binding in steps:
            if holds(action.start.condition, binding, state):
                changes = list(iterate_effect_changes(action.start.effect, binding, EffectContext(state)))
                added = {fact for kind, fact, _ in changes if kind == "add"}
                deleted = {fact for kind, fact, _ in changes if kind == "delete"}
                yield (facts - deleted) | added


def _read_fact(text: str) -> Fact:
    return tuple(text.lower().strip("()").split())


def _changed_names(effect: Node) -> Iterator[str]:
    match effect:
        case Add(terms) | Delete(terms):
            yield terms[0]
        case _:
            for part in effect.parts():
                yield from _changed_names(part)


def _read_conditions(condition: Node, binding: dict[str, str]) -> list[Fact] | None:
    """The positive conjuncts of a condition; ``None`` if an equality is false. Other conjuncts count as true."""
    match condition:
        case Connective("and", members):
            parts = [_read_conditions(part, binding) for part in members]
            return None if None in parts else [fact for part in parts for fact in part or ()]
        case Atom(terms=terms):
            return [ground(terms, binding)]
        case EqualTerms(left=left, right=right):
            return [] if binding.get(left, left) == binding.get(right, right) else None
        case Unary("not", EqualTerms(left=left, right=right)):
            return [] if binding.get(left, left) != binding.get(right, right) else None
    return []


def _read_changes(effect: Node, binding: dict[str, str]) -> Iterator[tuple[Node, Fact]]:
    """The changes of an effect; an effect of another kind is returned itself."""
    match effect:
        case Connective("and", members):
            for part in members:
                yield from _read_changes(part, binding)
        case Add(terms) | Delete(terms):
            yield effect, ground(terms, binding)
        case _:
            yield effect, ()


def _iterate_bits(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
