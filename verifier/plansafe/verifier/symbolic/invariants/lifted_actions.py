"""Actions as proofs over all their instances see them: what is known when they happen, what they add and delete.

A moment is an instantaneous action, or the start or the end of a durative one. Formulas become literals, alternatives
and what may never be so (``refutation``); what has no such form, or is too large, is left out where it is known, and
taken not to happen where a proof would lean on it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import islice
from typing import NamedTuple, assert_never

from plansafe.verifier.compile.normal_forms import FormulaLiteral, dnf
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import TRUE, Atom, Effect, Formula, Snap, Variable
from plansafe.verifier.model.operations import subformulas
from plansafe.verifier.symbolic.invariants.refutation import (
    EQUALITY,
    Denial,
    DomainRelations,
    Knowledge,
    LiftedLiteral,
    PartialState,
)

MAX_NODES = 400
"""Formulas with more parts are left out."""
MAX_DISJUNCTS = 12
COPY_OFFSET = 1_000_000
"""How far the copies of an effect's variables are from each other: more than an action has variables."""
TWIN, PATTERN = 1, 2
"""Copies of an effect's variables: a second instance of it, and any instance."""


class LiftedChange(NamedTuple):
    """An atom that an effect adds or deletes: its moment, the effect's number, the atom's arguments."""

    snap: LiftedSnap
    effect_number: int
    arguments: tuple[int, ...]


class FiringCondition(NamedTuple):
    """A way for an effect to happen: literals that suffice, for some objects in place of ``variables``."""

    variables: dict[int, int | None]
    literals: tuple[LiftedLiteral, ...]


class PseudoPredicates:
    """Numbers for what is true or false of terms without being an atom: comparisons, and the outcomes of choices."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.rivals: dict[int, tuple[int, ...]] = {}

    def number(self, key: Hashable) -> int:
        """The predicate that stands for ``key``."""
        return self._numbers.setdefault(key, EQUALITY - 1 - len(self._numbers))

    def outcome(self, choice: model.Choice) -> LiftedLiteral:
        """That a choice has its alternative."""
        numbers = [self.number(("choice", choice.number, k)) for k in range(choice.alternatives)]
        for number in numbers:
            self.rivals[number] = tuple([other for other in numbers if other != number])
        arguments = tuple([model.variable(v.slot) for v in choice.variables])
        return LiftedLiteral(True, numbers[choice.alternative], arguments)

    def comparison(self, formula: model.Compare) -> LiftedLiteral:
        """A comparison of numbers: one predicate for all that differ in their arguments alone."""
        arguments: list[int] = []
        shape = formula.operator, *[_shape(side, arguments) for side in (formula.left, formula.right)]
        return LiftedLiteral(True, self.number(shape), tuple(arguments))


def _shape(expression: model.Expression, arguments: list[int]) -> Hashable:
    out: list[Hashable] = []
    stack: list[model.Expression] = [expression]
    while stack:
        part = stack.pop()
        if isinstance(part, model.Fluent):
            arguments += part.arguments
            out.append(("fluent", part.function))
        elif isinstance(part, model.Arithmetic):
            out.append((part.operator, len(part.operands)))
            stack += part.operands
        else:
            out.append((type(part).__name__, tuple(part)))
    return tuple(out)


class LiftedSnap:
    """One moment of an action. Variables are numbered as in its formulas; typed unless ``lenient``."""

    def __init__(self, parameters: tuple[Variable, ...], snap: Snap, lenient: bool) -> None:
        self._vocabulary = PseudoPredicates()
        self._condition = snap.condition
        self._parameters = [(model.variable(v.slot), None if lenient else v.domain) for v in parameters]
        self.effects = [effect for effect in snap.effects if effect.adds or effect.deletes]
        self._knowns: dict[tuple[int, int], Knowledge] = {}
        self._fires: dict[int, tuple[FiringCondition, ...]] = {}
        self._bases: dict[int, PartialState] = {}

    def changes(self, number: int, adds: bool) -> Iterator[tuple[int, LiftedChange]]:
        """What an effect adds, or deletes: the predicate, and the change."""
        effect = self.effects[number]
        for atom in effect.adds if adds else effect.deletes:
            yield atom.predicate, LiftedChange(self, number, atom.arguments)

    def situation(self, domains: DomainRelations, number: int) -> PartialState:
        """The state before a step of which an effect happens. A copy, to be used up."""
        base = self._bases.get(number)
        if base is None:
            base = PartialState(domains, self._vocabulary.rivals)
            for term, domain in self._parameters:
                base.variable(term, domain)
            for part in self._condition:
                if _small(part):
                    base.know(self._known(part, True))
            base.know(self.happens(number, 0))
            for alternatives in self._outcomes():
                base.split(alternatives)
            self._bases[number] = base
        return base.copy()

    def _outcomes(self) -> Iterator[tuple[Knowledge, ...]]:
        """Of each choice that is made once, one alternative happens."""
        seen: set[int] = set()
        for effect in self.effects:
            for choice in effect.choices:
                if not choice.variables and choice.number not in seen:
                    seen.add(choice.number)
                    every = [choice._replace(alternative=k) for k in range(choice.alternatives)]
                    yield tuple([Knowledge(literals=(self._vocabulary.outcome(each),)) for each in every])

    def happens(self, number: int, copy: int) -> Knowledge:
        """What is known if an effect happens, with a copy of its variables."""
        found = self._knowns.get((number, copy))
        if found is None:
            effect = self.effects[number]
            variables = tuple([(model.variable(v.slot), v.domain) for v in effect.variables])
            condition = self._known(effect.condition, True) if _small(effect.condition) else Knowledge()
            chosen = Knowledge(variables, tuple([self._vocabulary.outcome(choice) for choice in effect.choices]))
            found = _shifted(_joined(chosen, condition), frozenset(), copy)
            self._knowns[number, copy] = found
        return found

    def copied(self, change: LiftedChange, copy: int) -> tuple[int, ...]:
        """The arguments of a change, with a copy of its effect's variables."""
        own = {model.variable(v.slot) for v in self.effects[change.effect_number].variables}
        return tuple([a - copy * COPY_OFFSET if a in own else a for a in change.arguments])

    def fires(self, number: int) -> tuple[FiringCondition, ...]:
        """Ways for an effect to happen, each of which suffices; its variables are those of the copy ``PATTERN``."""
        found = self._fires.get(number)
        if found is None:
            found = self._fires[number] = tuple(self._ways(self.effects[number]))
        return found

    def _ways(self, effect: Effect) -> Iterator[FiringCondition]:
        if effect.at_start is not TRUE or not _small(effect.condition):
            return
        outcomes = tuple([self._vocabulary.outcome(choice) for choice in effect.choices])
        for disjunct in dnf(effect.condition, cap=MAX_DISJUNCTS) or ():
            literals = self._literals(disjunct.literals)
            if literals is not None:
                variables = {model.variable(v.slot): v.domain for v in (*effect.variables, *disjunct.variables)}
                moved = Knowledge(tuple(variables.items()), (*outcomes, *literals))
                moved = _shifted(moved, frozenset(), PATTERN)
                yield FiringCondition(dict(moved.variables), moved.literals)

    # -- formulas -----------------------------------------------------------------------------------------------------

    def _literals(self, parts: tuple[FormulaLiteral, ...]) -> tuple[LiftedLiteral, ...] | None:
        """The literals of a normal form; ``None`` if one has quantifiers."""
        out = []
        for part in parts:
            literal = self._literal(part.positive, part.formula)
            if literal is None:
                return None
            out.append(literal)
        return tuple(out)

    def _literal(self, positive: bool, formula: Formula) -> LiftedLiteral | None:
        match formula:
            case Atom():
                return LiftedLiteral(positive, formula.predicate, formula.arguments)
            case model.Equal():
                return LiftedLiteral(positive, EQUALITY, (formula.left, formula.right))
            case model.Compare():
                return self._vocabulary.comparison(formula)._replace(positive=positive)
            case model.Truth() | model.Not() | model.And() | model.Or() | model.Quantified() | model.Temporal():
                return None
            case _:
                assert_never(formula)

    def _known(self, formula: Formula, positive: bool) -> Knowledge:
        """What is known where a formula is true, or false."""
        match formula:
            case model.Truth():
                return Knowledge() if formula.value == positive else Knowledge(splits=((),))
            case model.Not():
                return self._known(formula.body, not positive)
            case model.And() | model.Or():
                parts = [self._known(part, positive) for part in formula.parts]
                if isinstance(formula, model.And) == positive:
                    return _joined(*parts)
                return Knowledge(splits=(tuple(parts),))
            case model.Quantified():
                if formula.universal != positive:
                    variables = tuple([(model.variable(v.slot), v.domain) for v in formula.variables])
                    return _joined(Knowledge(variables), self._known(formula.body, positive))
                return Knowledge(nevers=tuple(self._nevers(formula, not positive)))
            case Atom() | model.Equal() | model.Compare() | model.Temporal():
                literal = self._literal(positive, formula)
                return Knowledge() if literal is None else Knowledge(literals=(literal,))
            case _:
                assert_never(formula)

    def _nevers(self, formula: model.Quantified, positive: bool) -> Iterator[Denial]:
        """For no objects is the body true (or false)."""
        for disjunct in dnf(formula.body, positive, MAX_DISJUNCTS) or ():
            literals = self._literals(disjunct.literals)
            if literals is not None:
                bound = (*formula.variables, *disjunct.variables)
                variables: dict[int, int | None] = {model.variable(v.slot): v.domain for v in bound}
                yield make_denial(variables, literals)


def make_denial(
    variables: dict[int, int | None], literals: tuple[LiftedLiteral, ...], given: dict[int, int] | None = None
) -> Denial:
    """For no objects are all literals true, with the terms ``given`` in place of some of the variables.

    The literals are put in the order in which they bind variables best.
    """
    given = given or {}
    placed = [
        LiftedLiteral(positive, predicate, tuple([given.get(a, a) for a in arguments]))
        for positive, predicate, arguments in literals
    ]
    free = {v: domain for v, domain in variables.items() if v not in given}

    def rank(literal: LiftedLiteral) -> tuple[bool, bool, bool]:
        unbound = len([a for a in literal.arguments if a in free])
        equality = literal.predicate == EQUALITY
        return not literal.positive, equality and unbound > 1, not equality

    members = tuple([(term, variables[v]) for v, term in given.items() if v in variables])
    return Denial(free, tuple(sorted(placed, key=rank)), members)


def _small(formula: Formula) -> bool:
    return next(islice(subformulas(formula), MAX_NODES, None), None) is None


def _joined(*parts: Knowledge) -> Knowledge:
    return Knowledge(*[tuple([item for part in parts for item in part[field]]) for field in range(4)])  # type: ignore[arg-type] # each field is joined with its like


def _shifted(known: Knowledge, bound: frozenset[int], copy: int) -> Knowledge:
    """With a copy of all variables that are bound in it."""
    if not copy:
        return known
    bound |= {term for term, _ in known.variables}

    def literal(part: LiftedLiteral, own: frozenset[int]) -> LiftedLiteral:
        return part._replace(arguments=tuple([a - copy * COPY_OFFSET if a in own else a for a in part.arguments]))

    nevers = []
    for part in known.nevers:
        own = bound | part.variables.keys()
        variables = {v - copy * COPY_OFFSET: domain for v, domain in part.variables.items()}
        nevers.append(Denial(variables, tuple([literal(each, own) for each in part.literals])))
    return Knowledge(
        tuple([(term - copy * COPY_OFFSET, domain) for term, domain in known.variables]),
        tuple([literal(part, bound) for part in known.literals]),
        tuple(nevers),
        tuple([tuple([_shifted(part, bound, copy) for part in parts]) for parts in known.splits]),
    )
