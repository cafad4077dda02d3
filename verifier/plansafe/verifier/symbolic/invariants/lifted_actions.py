"""Lifted actions: knowledge about the state in which an action happens, and the facts that it adds and deletes.

A snap action is an instantaneous action, or the start or the end of a durative one. Formulas become literals,
alternatives and denials (:mod:`.refutation`). A formula that has no such form, or is too large, adds no knowledge;
where a proof would rely on an effect with such a condition, the effect is assumed not to happen.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import islice
from typing import NamedTuple, assert_never

from plansafe.verifier.compile.normal_forms import FormulaLiteral, convert_to_dnf
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.model.nodes import TRUE, Atom, Effect, Formula, Snap, Variable
from plansafe.verifier.model.operations import subformulas
from plansafe.verifier.symbolic.invariants.knowledge import EQUALITY, Denial, DomainRelations, Knowledge, LiftedLiteral
from plansafe.verifier.symbolic.invariants.refutation import PartialState

MAX_NODES = 400
"""Formulas with more parts are omitted."""
MAX_DISJUNCTS = 12
"""Maximum number of disjuncts of a condition; conditions with more are ignored."""
COPY_OFFSET = 1_000_000
"""The distance between the copies of an effect's variables: more than an action has variables."""
TWIN, PATTERN = 1, 2
"""The numbers of copies of an effect's variables: for a second instance of the effect, and for any instance."""


class LiftedChange(NamedTuple):
    """An atom that an effect of a snap action adds or deletes."""

    snap: LiftedSnap
    effect_number: int
    arguments: tuple[int, ...]


class FiringCondition(NamedTuple):
    """A sufficient condition of an effect: the literals, for some objects in place of ``variables``."""

    variables: dict[int, int | None]
    literals: tuple[LiftedLiteral, ...]


class PseudoPredicates:
    """Numbers for properties of terms that are not atoms: comparisons, and outcomes of nondeterministic choices."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.rivals: dict[int, tuple[int, ...]] = {}

    def make_outcome_literal(self, choice: model.Choice) -> LiftedLiteral:
        """The literal that a choice has its alternative."""
        numbers = [
            self._get_number(("choice", choice.number, alternative)) for alternative in range(choice.alternative_count)
        ]
        for number in numbers:
            self.rivals[number] = tuple([rival for rival in numbers if rival != number])
        arguments = tuple([model.variable(v.slot) for v in choice.variables])
        return LiftedLiteral(True, numbers[choice.alternative], arguments)

    def make_comparison_literal(self, formula: model.Compare) -> LiftedLiteral:
        """The literal of a comparison; comparisons that differ only in their arguments have the same predicate."""
        arguments: list[int] = []
        shape = formula.operator, *[_find_shape(side, arguments) for side in (formula.left, formula.right)]
        return LiftedLiteral(True, self._get_number(shape), tuple(arguments))

    def _get_number(self, key: Hashable) -> int:
        """The number of a property, which gets the next free one at first use."""
        return self._numbers.setdefault(key, EQUALITY - 1 - len(self._numbers))


def _find_shape(expression: model.Expression, arguments: list[int]) -> Hashable:
    """The expression without its arguments, which are appended to ``arguments``."""
    shape: list[Hashable] = []
    stack: list[model.Expression] = [expression]
    while stack:
        part = stack.pop()
        if isinstance(part, model.Fluent):
            arguments += part.arguments
            shape.append(("fluent", part.function))
        elif isinstance(part, model.Arithmetic):
            shape.append((part.operator, len(part.operands)))
            stack += part.operands
        else:
            shape.append((type(part).__name__, tuple(part)))
    return tuple(shape)


class LiftedSnap:
    """A snap action. Variables are numbered as in its formulas, and have domains unless types are ``lenient``."""

    def __init__(self, parameters: tuple[Variable, ...], snap: Snap, lenient: bool) -> None:
        self._pseudo_predicates = PseudoPredicates()
        self._condition = snap.condition
        self._parameters = [(model.variable(v.slot), None if lenient else v.domain) for v in parameters]
        self.effects = [effect for effect in snap.effects if effect.adds or effect.deletes]

    def iterate_changes(self, effect_number: int, adds: bool) -> Iterator[tuple[int, LiftedChange]]:
        """The changes by which an effect adds facts, or deletes facts, each with its predicate."""
        effect = self.effects[effect_number]
        for atom in effect.adds if adds else effect.deletes:
            yield atom.predicate, LiftedChange(self, effect_number, atom.arguments)

    def copy_state_before(self, domains: DomainRelations, effect_number: int) -> PartialState:
        """A fresh copy of the state before a step in which an effect happens."""
        return self._make_state_before(domains, effect_number).copy()

    @memoized
    def _make_state_before(self, domains: DomainRelations, effect_number: int) -> PartialState:
        """The state before a step in which an effect happens; callers copy it."""
        state = PartialState(domains, self._pseudo_predicates.rivals)
        for term, domain in self._parameters:
            state.add_variable(term, domain)
        for part in self._condition:
            if _is_small(part):
                state.add(self._make_knowledge(part, True))
        state.add(self.find_knowledge_if_fired(effect_number, 0))
        state.add(Knowledge(splits=tuple(self._split_outcomes())))
        return state

    def _split_outcomes(self) -> Iterator[tuple[Knowledge, ...]]:
        """For each choice that is made once, its alternatives."""
        numbers: set[int] = set()
        for effect in self.effects:
            for choice in effect.choices:
                if not choice.variables and choice.number not in numbers:
                    numbers.add(choice.number)
                    alternatives = [choice._replace(alternative=k) for k in range(choice.alternative_count)]
                    outcomes = [
                        self._pseudo_predicates.make_outcome_literal(alternative) for alternative in alternatives
                    ]
                    yield tuple([Knowledge(literals=(outcome,)) for outcome in outcomes])

    @memoized
    def find_knowledge_if_fired(self, effect_number: int, copy: int) -> Knowledge:
        """The knowledge that an effect happens, with a copy of its variables."""
        effect = self.effects[effect_number]
        variables = tuple([(model.variable(v.slot), v.domain) for v in effect.variables])
        condition = self._make_knowledge(effect.condition, True) if _is_small(effect.condition) else Knowledge()
        choices = Knowledge(variables, self._list_outcomes(effect))
        return _copy_variables(_join(choices, condition), frozenset(), copy)

    def _list_outcomes(self, effect: Effect) -> tuple[LiftedLiteral, ...]:
        return tuple([self._pseudo_predicates.make_outcome_literal(choice) for choice in effect.choices])

    def copy_arguments(self, change: LiftedChange, copy: int) -> tuple[int, ...]:
        """The arguments of a change, with a copy of its effect's variables."""
        variables = {model.variable(v.slot) for v in self.effects[change.effect_number].variables}
        return tuple([a - copy * COPY_OFFSET if a in variables else a for a in change.arguments])

    @memoized
    def find_firing_conditions(self, effect_number: int) -> tuple[FiringCondition, ...]:
        """Sufficient conditions of an effect; its variables are in the copy ``PATTERN``."""
        return tuple(self._find_firing_conditions(self.effects[effect_number]))

    def _find_firing_conditions(self, effect: Effect) -> Iterator[FiringCondition]:
        if effect.at_start is not TRUE or not _is_small(effect.condition):
            return
        outcomes = self._list_outcomes(effect)
        for disjunct in convert_to_dnf(effect.condition, cap=MAX_DISJUNCTS) or ():
            literals = self._make_literals(disjunct.literals)
            if literals is not None:
                variables = {model.variable(v.slot): v.domain for v in (*effect.variables, *disjunct.variables)}
                condition = Knowledge(tuple(variables.items()), (*outcomes, *literals))
                condition = _copy_variables(condition, frozenset(), PATTERN)
                yield FiringCondition(dict(condition.variables), condition.literals)

    # -- formulas -----------------------------------------------------------------------------------------------------

    def _make_literals(self, parts: tuple[FormulaLiteral, ...]) -> tuple[LiftedLiteral, ...] | None:
        """The literals of a normal form; ``None`` if a part of it has quantifiers."""
        literals = [self._make_literal(part.positive, part.formula) for part in parts]
        lifted_literals = tuple([literal for literal in literals if literal is not None])
        return lifted_literals if len(lifted_literals) == len(literals) else None

    def _make_literal(self, positive: bool, formula: Formula) -> LiftedLiteral | None:
        match formula:
            case Atom():
                return LiftedLiteral(positive, formula.predicate, formula.arguments)
            case model.Equal():
                return LiftedLiteral(positive, EQUALITY, (formula.left, formula.right))
            case model.Compare():
                return self._pseudo_predicates.make_comparison_literal(formula)._replace(positive=positive)
            case model.Truth() | model.Not() | model.And() | model.Or() | model.Quantified() | model.Temporal():
                return None
            case _:
                assert_never(formula)

    def _make_knowledge(self, formula: Formula, positive: bool) -> Knowledge:
        """The knowledge that a formula is true, or false unless ``positive``."""
        match formula:
            case model.Truth():
                return Knowledge() if formula.value == positive else Knowledge(splits=((),))
            case model.Not():
                return self._make_knowledge(formula.body, not positive)
            case model.And() | model.Or():
                parts = [self._make_knowledge(part, positive) for part in formula.parts]
                if isinstance(formula, model.And) == positive:
                    return _join(*parts)
                return Knowledge(splits=(tuple(parts),))
            case model.Quantified():
                if formula.universal != positive:
                    variables = tuple([(model.variable(v.slot), v.domain) for v in formula.variables])
                    return _join(Knowledge(variables), self._make_knowledge(formula.body, positive))
                return Knowledge(denials=tuple(self._iterate_denials(formula, not positive)))
            case Atom() | model.Equal() | model.Compare() | model.Temporal():
                literal = self._make_literal(positive, formula)
                return Knowledge() if literal is None else Knowledge(literals=(literal,))
            case _:
                assert_never(formula)

    def _iterate_denials(self, formula: model.Quantified, positive: bool) -> Iterator[Denial]:
        """Denials that together say: for no objects is the body true (or false)."""
        for disjunct in convert_to_dnf(formula.body, positive, MAX_DISJUNCTS) or ():
            literals = self._make_literals(disjunct.literals)
            if literals is not None:
                bound_variables = (*formula.variables, *disjunct.variables)
                variables: dict[int, int | None] = {model.variable(v.slot): v.domain for v in bound_variables}
                yield make_denial(variables, literals)


def make_denial(
    variables: dict[int, int | None], literals: tuple[LiftedLiteral, ...], binding: dict[int, int] | None = None
) -> Denial:
    """The denial of literals, with a binding of some of the variables. Literals that bind variables well come first."""
    binding = binding or {}
    bound_literals = [
        LiftedLiteral(positive, predicate, tuple([binding.get(argument, argument) for argument in arguments]))
        for positive, predicate, arguments in literals
    ]
    unbound_domains = {v: domain for v, domain in variables.items() if v not in binding}

    def rank(literal: LiftedLiteral) -> tuple[bool, bool, bool]:
        is_equality = literal.predicate == EQUALITY
        unbound_count = len([argument for argument in literal.arguments if argument in unbound_domains])
        return not literal.positive, is_equality and unbound_count > 1, not is_equality

    members = tuple([(term, variables[v]) for v, term in binding.items() if v in variables])
    return Denial(unbound_domains, tuple(sorted(bound_literals, key=rank)), members)


def _is_small(formula: Formula) -> bool:
    return next(islice(subformulas(formula), MAX_NODES, None), None) is None


def _join(*parts: Knowledge) -> Knowledge:
    return Knowledge(
        tuple([variable for part in parts for variable in part.variables]),
        tuple([literal for part in parts for literal in part.literals]),
        tuple([denial for part in parts for denial in part.denials]),
        tuple([split for part in parts for split in part.splits]),
    )


def _copy_variables(knowledge: Knowledge, bound: frozenset[int], copy: int) -> Knowledge:
    """The knowledge with the variables of a copy in place of its own and of ``bound``, the variables around it."""
    if not copy:
        return knowledge
    offset = copy * COPY_OFFSET
    bound |= {term for term, _ in knowledge.variables}

    def copy_literal(literal: LiftedLiteral, variables: frozenset[int]) -> LiftedLiteral:
        return literal._replace(arguments=tuple([a - offset if a in variables else a for a in literal.arguments]))

    denials = []
    for denial in knowledge.denials:
        all_bound_variables = bound | denial.variables.keys()
        variables = {v - offset: domain for v, domain in denial.variables.items()}
        denials.append(
            Denial(variables, tuple([copy_literal(literal, all_bound_variables) for literal in denial.literals]))
        )
    return Knowledge(
        tuple([(term - offset, domain) for term, domain in knowledge.variables]),
        tuple([copy_literal(literal, bound) for literal in knowledge.literals]),
        tuple(denials),
        tuple([tuple([_copy_variables(part, bound, copy) for part in split]) for split in knowledge.splits]),
    )
