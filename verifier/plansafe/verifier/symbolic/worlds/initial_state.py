"""S0 in all worlds: an input for each open fact, and the completions that are allowed (docs/worlds.md, section 1)."""

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
"""Maximum number of open facts of a task that is audited."""
Fact = tuple[int, int]


class FactGroup(NamedTuple):
    """Facts (predicate, code) of which at most one, or exactly one, is true in S0."""

    facts: tuple[Fact, ...]
    exactly_one: bool


class OpenInitialState(NamedTuple):
    """S0 without derived facts, as circuits.

    ``constraints`` must all be true in a completion. ``open_numbers`` are (function, code).
    """

    state: SymbolicState
    constraints: list[Literal]
    open_fact_count: int
    open_numbers: tuple[tuple[int, int], ...]


def make_initial_state(task: Task, circuit: Circuit, openings: Sequence[OpenPredicate]) -> OpenInitialState:
    """Build S0 with an input for each open fact, and a literal for each statement of ``:init`` that restricts them.

    Invariants follow later (:func:`encode_invariants`), because they may read derived facts.
    Raises :class:`LimitReached`.
    """
    state = SymbolicState.make_empty(task)
    size = len(task.predicates)
    for predicate, codes in enumerate(task.initial_facts):
        state.facts[predicate] |= codes
        state.facts[size + predicate] |= codes
    for function, values in enumerate(task.initial_fluents):
        state.quantities[function] = {code: Quantity(TRUE, terms.constant(v)) for code, v in values.items()}
    open_fact_count = 0
    for predicate, code in iterate_open_facts(task, openings):
        state.put(predicate, code, circuit.input(FactInput(predicate, code)))
        open_fact_count += 1
    constraints: list[Literal] = []
    open_numbers: list[tuple[int, int]] = []
    if task.unknowns is not None:
        for function, intervals in enumerate(task.unknowns.intervals):
            for code in intervals:
                state.quantities[function][code] = Quantity(TRUE, terms.variable(function, code))
                open_numbers.append((function, code))
        constraints += _encode_statements(circuit, state, task.unknowns)
        constraints += _encode_supports(task, circuit, state, task.unknowns, openings)
    for literal in task.timed_literals:
        code = task.encode(literal.arguments)
        if literal.time == 0 and literal.fluent:
            state.quantities[literal.predicate][code] = Quantity(TRUE, terms.constant(literal.value))
        elif literal.time == 0:
            state.put(literal.predicate, code, TRUE if literal.value else FALSE)
    constraints = [constraint for constraint in constraints if constraint != TRUE]
    return OpenInitialState(state, constraints, open_fact_count, tuple(open_numbers))


def iterate_open_facts(task: Task, openings: Sequence[OpenPredicate]) -> Iterator[Fact]:
    """Yield every open fact once: those that ``:init`` declares unknown, then those of open predicates only."""
    if task.unknowns is not None:
        for predicate, codes in enumerate(task.unknowns.facts):
            yield from [(predicate, code) for code in sorted(codes)]
    for predicate, opened_codes in find_opened_codes(task, openings).items():
        yield from [(predicate, code) for code in opened_codes]


def find_opened_codes(task: Task, openings: Sequence[OpenPredicate]) -> dict[int, list[int]]:
    """For each open predicate, the facts that only its opening leaves open: ``:init`` does not mention them.

    Raises :class:`LimitReached`.
    """
    unknown_facts = task.unknowns.facts if task.unknowns is not None else []
    total = sum([len(codes) for codes in unknown_facts])
    mentioned_by_predicate: dict[int, set[int]] = {}
    opened_codes: dict[int, list[int]] = {}
    size = max(len(task.objects), 1)
    for opening in openings:
        predicate, arity = opening.predicate, len(opening.arguments)
        if predicate not in mentioned_by_predicate:
            denied_codes = [code for denied_predicate, code in task.denied if denied_predicate == predicate]
            unknown_codes = unknown_facts[predicate] if predicate < len(unknown_facts) else set[int]()
            mentioned_by_predicate[predicate] = task.initial_facts[predicate].union(denied_codes, unknown_codes)
        # The code of a fact is the sum of ``weight * object`` over its distinct arguments.
        codes = [0]
        for argument in sorted(set(opening.arguments)):
            places = [place for place, number in enumerate(opening.arguments) if number == argument]
            weight = sum([size ** (arity - 1 - place) for place in places])
            members = set.intersection(*[set(task.domains[opening.domains[place]]) for place in places])
            if total + len(codes) * len(members) > MAX_OPEN_FACTS:
                raise LimitReached(LimitKind.OPEN_FACTS)
            summands = [weight * object_ for object_ in task.domains[opening.domains[places[0]]] if object_ in members]
            codes = [code + term for code in codes for term in summands]
        mentioned_codes = mentioned_by_predicate[predicate]
        new_codes = [code for code in codes if code not in mentioned_codes]
        mentioned_codes.update(new_codes)
        total += len(new_codes)
        opened_codes.setdefault(predicate, []).extend(new_codes)
    return opened_codes


def _encode_supports(
    task: Task, circuit: Circuit, state: SymbolicState, unknowns: Unknowns, openings: Sequence[OpenPredicate]
) -> Iterator[Literal]:
    """For each fact that only a ``oneof`` mentions: it is false unless an alternative with this fact is true."""
    supports: dict[Fact, list[Literal]] = {}
    for choice in unknowns.choices:
        for literals in choice.alternatives if choice.exactly_one else ():
            alternative = circuit.conjunction([_encode_literal(circuit, state, literal) for literal in literals])
            for literal in literals:
                if not literal.fluent and literal.value:
                    supports.setdefault((literal.predicate, literal.code), []).append(alternative)
    for predicate, codes in enumerate(unknowns.oneof_only):
        for code in sorted(codes):
            if not any([_opens_fact(task, opening, predicate, code) for opening in openings]):
                support = circuit.disjunction(supports.get((predicate, code), ()))
                yield circuit.either(state.get(predicate, code) ^ 1, support)


def _opens_fact(task: Task, opening: OpenPredicate, predicate: int, code: int) -> bool:
    """Whether an open predicate of the specification has this fact."""
    if opening.predicate != predicate:
        return False
    objects = task.decode(code, len(opening.arguments))
    binding: dict[int, int] = {}
    return all(
        [
            value in task.domain_sets[domain] and binding.setdefault(argument, value) == value
            for value, domain, argument in zip(objects, opening.domains, opening.arguments, strict=True)
        ]
    )


def _encode_statements(circuit: Circuit, state: SymbolicState, unknowns: Unknowns) -> Iterator[Literal]:
    """For each choice and each interval of ``:init``, the worlds that satisfy it."""
    for choice in unknowns.choices:
        alternatives = [
            circuit.conjunction([_encode_literal(circuit, state, literal) for literal in literals])
            for literals in choice.alternatives
        ]
        yield circuit.exactly_one(alternatives) if choice.exactly_one else circuit.disjunction(alternatives)
    for function, intervals in enumerate(unknowns.intervals):
        for code, interval in sorted(intervals.items()):
            value = terms.variable(function, code)
            if interval.low is not None:
                low = terms.constant(interval.low)
                yield terms.compare(circuit, "<" if interval.low_open else "<=", low, value)
            if interval.high is not None:
                high = terms.constant(interval.high)
                yield terms.compare(circuit, "<" if interval.high_open else "<=", value, high)


def find_numbers_with_finite_values(task: Task) -> tuple[tuple[tuple[int, int], tuple[Number, ...]], ...]:
    """The open numbers that a ``oneof`` restricts to finitely many values, with these values."""
    values: dict[tuple[int, int], dict[Number, None]] = {}
    for choice in task.unknowns.choices if task.unknowns is not None else ():
        for literals in choice.alternatives:
            for literal in literals:
                if literal.fluent and choice.exactly_one:
                    values.setdefault((literal.predicate, literal.code), {})[literal.value] = None
    return tuple([(number, tuple(number_values)) for number, number_values in sorted(values.items())])


def _encode_literal(circuit: Circuit, state: SymbolicState, literal: InitialLiteral) -> Literal:
    """The worlds in which a fact or number of S0 has the value that an alternative gives it."""
    if literal.fluent:
        value = terms.variable(literal.predicate, literal.code)
        return terms.compare(circuit, "=", value, terms.constant(literal.value))
    fact = state.get(literal.predicate, literal.code)
    return fact if literal.value else fact ^ 1


def encode_invariants(
    compiler: FormulaCompiler,
    state: SymbolicState,
    declared_invariants: Sequence[WorldInvariant],
    groups: Sequence[FactGroup] = (),
) -> list[Literal]:
    """The literals that groups and declared invariants require of S0.

    ``state`` must include the derived facts. Declared invariants that count facts are among ``groups``.
    """
    circuit = compiler.circuit
    requirements = []
    for group in groups:
        literals = [state.get(predicate, code) for predicate, code in group.facts]
        requirements.append(circuit.exactly_one(literals) if group.exactly_one else circuit.at_most_one(literals))
    for invariant in declared_invariants:
        if invariant.kind == "holds":
            holds = compiler.compile_truth(invariant.formula)
            bindings = compiler.task.bindings(invariant.parameters, {})
            requirements += [holds(state, binding) for binding in bindings]
    return [literal for literal in dict.fromkeys(requirements) if literal != TRUE]
