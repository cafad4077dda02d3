"""S0 in all worlds: an input for each open fact, and which completions there are (docs/worlds.md, section 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import (
    InitialLiteral,
    Number,
    OpenPredicate,
    Task,
    Unknowns,
    WorldInvariant,
)
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.worlds.encoding import FactInput
from plansafe.verifier.symbolic.worlds.formula_compiler import FormulaCompiler
from plansafe.verifier.symbolic.worlds.symbolic_state import Quantity, SymbolicState

MAX_OPEN_FACTS = 2_000_000
"""Open facts, beyond which nothing is judged."""


class FactGroup(NamedTuple):
    """Facts (predicate, code) of which at most one, or exactly one, is true in S0."""

    facts: tuple[tuple[int, int], ...]
    exactly_one: bool


class OpenInitialState(NamedTuple):
    """S0 without derived facts, what restricts completions, and how much is open."""

    state: SymbolicState
    statements: list[Literal]
    open_facts: int
    open_values: tuple[tuple[int, int], ...]


def make_initial_state(task: Task, circuit: Circuit, openings: Sequence[OpenPredicate]) -> OpenInitialState:
    """S0 with an input for each open fact, and a literal for each statement that restricts them.

    Invariants come later (:func:`encode_invariants`): they may read derived facts.
    Raises :class:`LimitReached`.
    """
    state = SymbolicState.empty(task)
    size = len(task.predicates)
    for predicate, codes in enumerate(task.initial_facts):
        state.facts[predicate] |= codes
        state.facts[size + predicate] |= codes
    for function, values in enumerate(task.initial_fluents):
        state.quantities[function] = {code: Quantity(TRUE, terms.constant(v)) for code, v in values.items()}
    for literal in task.timed_literals:
        if literal.time == 0 and not literal.fluent:
            state.put(literal.predicate, task.encode(literal.arguments), TRUE if literal.value else FALSE)
    unknowns = task.unknowns
    count = 0
    for predicate, code in iterate_open_facts(task, openings):
        state.put(predicate, code, circuit.input(FactInput(predicate, code)))
        count += 1
    statements: list[Literal] = []
    numbers: list[tuple[int, int]] = []
    if unknowns is not None:
        for function, intervals in enumerate(unknowns.intervals):
            for code in intervals:
                state.quantities[function][code] = Quantity(TRUE, terms.variable(function, code))
                numbers.append((function, code))
        statements += _statements(circuit, state, unknowns)
        statements += _supported(task, circuit, state, unknowns, openings)
    return OpenInitialState(state, [s for s in statements if s != TRUE], count, tuple(numbers))


def iterate_open_facts(task: Task, openings: Sequence[OpenPredicate]) -> Iterator[tuple[int, int]]:
    """Every open fact once: those that ``:init`` leaves open, and those of open predicates that it does not give."""
    if task.unknowns is not None:
        for predicate, named in enumerate(task.unknowns.facts):
            yield from [(predicate, code) for code in sorted(named)]
    for predicate, codes in find_opened_codes(task, openings).items():
        yield from [(predicate, code) for code in codes]


def find_opened_codes(task: Task, openings: Sequence[OpenPredicate]) -> dict[int, list[int]]:
    """For each open predicate the facts that are open because of it: ``:init`` neither gives nor names them.

    Raises :class:`LimitReached`.
    """
    named = task.unknowns.facts if task.unknowns is not None else []
    total = sum([len(codes) for codes in named])
    known: dict[int, set[int]] = {}
    out: dict[int, list[int]] = {}
    size = max(len(task.objects), 1)
    for opening in openings:
        predicate, arity = opening.predicate, len(opening.arguments)
        if predicate not in known:
            denied = [code for p, code in task.denied if p == predicate]
            known[predicate] = task.initial_facts[predicate].union(denied, *named[predicate : predicate + 1])
        codes = [0]
        for number in sorted(set(opening.arguments)):
            places = [place for place, other in enumerate(opening.arguments) if other == number]
            weight = sum([size ** (arity - 1 - place) for place in places])
            members = set.intersection(*[set(task.domains[opening.domains[place]]) for place in places])
            if total + len(codes) * len(members) > MAX_OPEN_FACTS:
                raise LimitReached(LimitKind.OPEN_FACTS)
            steps = [weight * o for o in task.domains[opening.domains[places[0]]] if o in members]
            codes = [code + step for code in codes for step in steps]
        known_here = known[predicate]
        fresh = [code for code in codes if code not in known_here]
        known_here.update(fresh)
        total += len(fresh)
        out.setdefault(predicate, []).extend(fresh)
    return out


def _supported(
    task: Task, circuit: Circuit, state: SymbolicState, unknowns: Unknowns, openings: Sequence[OpenPredicate]
) -> Iterator[Literal]:
    """Facts that ``oneof`` alone mentions are false unless an alternative that is true has them."""
    supports: dict[tuple[int, int], list[Literal]] = {}
    for choice in unknowns.choices:
        for literals in choice.alternatives if choice.exactly_one else ():
            alternative = circuit.conjunction([_literal(circuit, state, literal) for literal in literals])
            for literal in literals:
                if not literal.fluent and literal.value:
                    supports.setdefault((literal.predicate, literal.code), []).append(alternative)
    for predicate, codes in enumerate(unknowns.oneof_only):
        for code in sorted(codes):
            if not any([_opens(task, opening, predicate, code) for opening in openings]):
                support = circuit.disjunction(supports.get((predicate, code), ()))
                yield circuit.either(state.get(predicate, code) ^ 1, support)


def _opens(task: Task, opening: OpenPredicate, predicate: int, code: int) -> bool:
    """Whether a fact is one that a specification opens."""
    if opening.predicate != predicate:
        return False
    objects = task.decode(code, len(opening.arguments))
    known: dict[int, int] = {}
    return all(
        [
            value in task.domain_sets[domain] and known.setdefault(number, value) == value
            for value, domain, number in zip(objects, opening.domains, opening.arguments, strict=True)
        ]
    )


def _statements(circuit: Circuit, state: SymbolicState, unknowns: Unknowns) -> Iterator[Literal]:
    """What ``:init`` says of its open facts and numbers."""
    for choice in unknowns.choices:
        alternatives = [
            circuit.conjunction([_literal(circuit, state, literal) for literal in literals])
            for literals in choice.alternatives
        ]
        yield circuit.exactly_one(alternatives) if choice.exactly_one else circuit.disjunction(alternatives)
    for function, intervals in enumerate(unknowns.intervals):
        for code, interval in sorted(intervals.items()):
            value = terms.variable(function, code)
            if interval.low is not None:
                yield _bound(circuit, interval.low, "<" if interval.low_open else "<=", value, True)
            if interval.high is not None:
                yield _bound(circuit, interval.high, "<" if interval.high_open else "<=", value, False)


def find_finite_numbers(task: Task) -> tuple[tuple[tuple[int, int], tuple[Number, ...]], ...]:
    """The open numbers that a ``oneof`` gives one of some values, with these."""
    found: dict[tuple[int, int], dict[Number, None]] = {}
    for choice in task.unknowns.choices if task.unknowns is not None else ():
        for literals in choice.alternatives:
            for literal in literals:
                if literal.fluent and choice.exactly_one:
                    found.setdefault((literal.predicate, literal.code), {})[literal.value] = None
    return tuple([(key, tuple(values)) for key, values in sorted(found.items())])


def _bound(circuit: Circuit, bound: Number, operator: str, value: terms.Sum, low: bool) -> Literal:
    limit = terms.constant(bound)
    return terms.compare(circuit, operator, limit, value) if low else terms.compare(circuit, operator, value, limit)


def _literal(circuit: Circuit, state: SymbolicState, literal: InitialLiteral) -> Literal:
    if literal.fluent:
        value = terms.variable(literal.predicate, literal.code)
        return terms.compare(circuit, "=", value, terms.constant(literal.value))
    return state.get(literal.predicate, literal.code) ^ (not literal.value)


def encode_invariants(
    task: Task,
    evaluation: FormulaCompiler,
    state: SymbolicState,
    declared: Sequence[WorldInvariant],
    groups: Sequence[FactGroup] = (),
) -> list[Literal]:
    """What groups, and the formulas of declared invariants, require of S0, derived facts included."""
    circuit = evaluation.circuit
    out = []
    for group in groups:
        literals = [state.get(predicate, code) for predicate, code in group.facts]
        out.append(circuit.exactly_one(literals) if group.exactly_one else circuit.at_most_one(literals))
    for invariant in declared:
        if invariant.kind != "holds":
            continue
        holds = evaluation.compile_true(invariant.formula)
        out += [holds(state, binding) for binding in task.bindings(invariant.parameters, {})]
    return [literal for literal in dict.fromkeys(out) if literal != TRUE]
