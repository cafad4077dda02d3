"""Generic operations on formulas: traversal, folds, substitution, negation.

Other modules use these instead of a ``match`` of their own, so that a new kind of node changes few places. Each
``match`` over nodes in the project names all kinds and ends in ``assert_never``: the type checker finds the places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar, assert_never, cast, get_args

from plansafe.verifier.model.nodes import (
    FALSE,
    TRUE,
    And,
    Arithmetic,
    Atom,
    Binding,
    Compare,
    Constant,
    Duration,
    Equal,
    Expression,
    Fluent,
    Formula,
    FutureOperator,
    IsViolated,
    Not,
    Operator,
    Or,
    PastOperator,
    Quantified,
    Task,
    Temporal,
    TotalTime,
    TraceOperator,
    Truth,
    Variable,
)

NEIGHBOUR_OPERATORS = frozenset(("next", "weak-next", "yesterday", "weak-yesterday"))
"""The temporal operators that refer to the previous or next letter."""
PAST_OPERATORS: frozenset[Operator] = frozenset(get_args(PastOperator))
FUTURE_OPERATORS: frozenset[Operator] = frozenset(get_args(FutureOperator))
TRACE_OPERATORS: frozenset[Operator] = frozenset(get_args(TraceOperator))

Leaf: TypeAlias = Truth | Atom | Equal | Compare | Temporal
"""A formula that :func:`fold_formula` does not take apart."""
Value = TypeVar("Value")

# ---- temporal operators ---------------------------------------------------------------------------------------------


def past_operator(formula: Temporal) -> PastOperator:
    """Return the operator of a past formula, for a ``match`` over past operators."""
    if formula.operator not in PAST_OPERATORS:
        raise AssertionError(f"`{formula.operator}` does not look back")
    return cast(PastOperator, formula.operator)


def future_operator(formula: Temporal) -> FutureOperator:
    """Return the operator of a formula of LTLf, for a ``match`` over future operators."""
    if formula.operator not in FUTURE_OPERATORS:
        raise AssertionError(f"`{formula.operator}` does not look ahead")
    return cast(FutureOperator, formula.operator)


def trace_operator(formula: Temporal) -> TraceOperator:
    """Return the operator of a formula about the whole trace, for a ``match`` over these operators."""
    if formula.operator not in TRACE_OPERATORS:
        raise AssertionError(f"`{formula.operator}` is not about the whole trace")
    return cast(TraceOperator, formula.operator)


def is_stutter_sensitive(operator: Operator) -> bool:
    """Whether repeating a state may change the value: the operator refers to a neighbouring letter, or has bounds."""
    match operator:
        case "next" | "weak-next" | "yesterday" | "weak-yesterday":
            return True
        case "within" | "always-within" | "hold-during" | "hold-after":
            return True
        case "once" | "historically" | "since" | "until" | "release" | "always" | "sometime":
            return False
        case "sometime-after" | "sometime-before" | "at-most-once" | "at-end":
            return False
        case _:
            assert_never(operator)


# ---- traversal ------------------------------------------------------------------------------------------------------


def children(formula: Formula) -> tuple[Formula, ...]:
    """The direct subformulas of a formula."""
    match formula:
        case Atom() | Equal() | Compare() | Truth():
            return ()
        case And() | Or():
            return formula.parts
        case Not() | Quantified():
            return (formula.body,)
        case Temporal():
            return formula.operands
        case _:
            assert_never(formula)


def map_children(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """Apply ``change`` to each direct subformula of a formula."""
    match formula:
        case Atom() | Equal() | Compare() | Truth():
            return formula
        case And():
            return And(tuple([change(part) for part in formula.parts]))
        case Or():
            return Or(tuple([change(part) for part in formula.parts]))
        case Not():
            return Not(change(formula.body))
        case Quantified():
            return Quantified(formula.universal, formula.variables, change(formula.body))
        case Temporal():
            return Temporal(formula.operator, tuple([change(part) for part in formula.operands]), formula.bounds)
        case _:
            assert_never(formula)


def subformulas(formula: Formula, empty: frozenset[int] = frozenset()) -> Iterator[Formula]:
    """Yield the formula and all subformulas, except those below quantifiers over the domains in ``empty``.

    Iterative: formulas may nest without limit.
    """
    stack: list[Formula] = [formula]
    while stack:
        part = stack.pop()
        yield part
        if not (empty and isinstance(part, Quantified) and any([v.domain in empty for v in part.variables])):
            stack.extend(children(part))


def conjuncts(formula: Formula) -> Iterator[Formula]:
    """Yield the conjuncts of a formula in the order of the text; nested conjunctions are flattened."""
    stack = [formula]
    while stack:
        part = stack.pop()
        if isinstance(part, And):
            stack.extend(reversed(part.parts))
        else:
            yield part


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The direct subexpressions of an expression."""
    match expression:
        case Fluent() | Constant() | Duration() | TotalTime() | IsViolated():
            return ()
        case Arithmetic():
            return expression.operands
        case _:
            assert_never(expression)


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and all subexpressions."""
    stack = [expression]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(operands(part))


# ---- atoms and fluents ----------------------------------------------------------------------------------------------


def expression_fluents(expression: Expression) -> Iterator[Fluent]:
    """Yield the fluents that an expression reads."""
    return (part for part in subexpressions(expression) if isinstance(part, Fluent))


def find_atoms_and_fluents(formula: Formula, empty: frozenset[int] = frozenset()) -> Iterator[Atom | Fluent]:
    """Yield every atom and fluent that occurs in a formula; ``empty`` as for :func:`subformulas`."""
    for part in subformulas(formula, empty):
        match part:
            case Atom():
                yield part
            case Compare():
                yield from expression_fluents(part.left)
                yield from expression_fluents(part.right)
            case Not() | And() | Or() | Quantified() | Temporal() | Equal() | Truth():
                pass  # `subformulas` yields their parts
            case _:
                assert_never(part)


def find_atoms(formula: Formula) -> Iterator[Atom]:
    """Yield every atom that occurs in a formula."""
    return (part for part in subformulas(formula) if isinstance(part, Atom))


def get_signed_symbol(read: Atom | Fluent) -> int:
    """Return the predicate of an atom; ``-1 - f`` for a fluent of function ``f``."""
    return read.predicate if isinstance(read, Atom) else -1 - read.function


def find_signed_symbols(*formulas: Formula) -> set[int]:
    """Return the predicates and (as in :func:`get_signed_symbol`) functions that occur in formulas."""
    return {get_signed_symbol(read) for formula in formulas for read in find_atoms_and_fluents(formula)}


def has_comparison(formula: Formula) -> bool:
    """Whether a formula compares numbers, and can therefore be undefined."""
    return any([isinstance(part, Compare) for part in subformulas(formula)])


def has_division(expression: Expression) -> bool:
    """Whether an expression has a division, which can fail."""
    return any([isinstance(part, Arithmetic) and part.operator == "/" for part in subexpressions(expression)])


def is_temporal(formula: Formula) -> bool:
    """Whether a temporal operator occurs in a formula."""
    return any(isinstance(part, Temporal) for part in subformulas(formula))


def find_leaves(*formulas: Formula) -> tuple[Formula, ...]:
    """Return the maximal subformulas without temporal operators; a shared one is listed once."""
    leaves: dict[int, Formula] = {}
    for formula in formulas:
        stack = [formula]
        while stack:
            part = stack.pop()
            if is_temporal(part):
                stack.extend(children(part))
            else:
                leaves.setdefault(id(part), part)
    return tuple(leaves.values())


def mentions(formula: Formula, predicates: frozenset[int]) -> bool:
    """Whether an atom of one of the predicates occurs in a formula."""
    return any([atom.predicate in predicates for atom in find_atoms(formula)])


def list_task_formulas(task: Task) -> list[Formula]:
    """Return the goal, the bodies of the axioms, and the conditions of the actions and their effects."""
    formulas: list[Formula] = [*task.goal, *[axiom.body for stratum in task.axioms for axiom in stratum]]
    for action in task.actions.values():
        formulas += action.over_all
        for snap in (action.start, action.end):
            if snap is not None:
                formulas += snap.condition
                formulas += [formula for effect in snap.effects for formula in (effect.condition, effect.at_start)]
    return formulas


# ---- folds ----------------------------------------------------------------------------------------------------------


def list_ground_parts(
    task: Task, formula: And | Or | Quantified, binding: Binding
) -> tuple[bool, Iterator[tuple[Formula, Binding]]]:
    """Return whether a junction or quantifier is a conjunction of its parts, and the parts with their bindings.

    The parts of a quantifier are the instances of its body. They are computed on demand.
    """
    match formula:
        case And() | Or():
            return isinstance(formula, And), ((part, binding) for part in formula.parts)
        case Quantified():
            bindings = task.bindings(formula.variables, binding)
            return formula.universal, ((formula.body, full_binding) for full_binding in bindings)
        case _:
            assert_never(formula)


def fold_formula(
    task: Task,
    formula: Formula,
    binding: Binding,
    positive: bool,
    leaf: Callable[[Leaf, Binding, bool], Value],
    join: Callable[[Iterator[Value], bool], Value],
) -> Value:
    """Compute a value of a formula (``positive``) or of its negation from the values of its leaves.

    ``leaf(part, binding, positive)`` is the value of a leaf or of its negation. ``join(values, is_conjunction)``
    combines the values of the parts of a junction or quantifier; they are computed on demand, so it may stop early.
    """
    match formula:
        case Not():
            return fold_formula(task, formula.body, binding, not positive, leaf, join)
        case And() | Or() | Quantified():
            is_conjunction, parts = list_ground_parts(task, formula, binding)
            values = (fold_formula(task, part, part_binding, positive, leaf, join) for part, part_binding in parts)
            return join(values, is_conjunction == positive)
        case Truth() | Atom() | Equal() | Compare() | Temporal():
            return leaf(formula, binding, positive)
        case _:
            assert_never(formula)


# ---- variables ------------------------------------------------------------------------------------------------------


def find_variable_slots(formula: Formula) -> frozenset[int]:
    """Return the slots of all variables that occur in atoms, fluents and equalities."""
    arguments = [argument for read in find_atoms_and_fluents(formula) for argument in read.arguments]
    arguments += [argument for part in subformulas(formula) if isinstance(part, Equal) for argument in part]
    return frozenset([-1 - argument for argument in arguments if argument < 0])


def find_bound_variables(formula: Formula) -> list[Variable]:
    """Return the variables that quantifiers in a formula bind, each once."""
    return list({v.slot: v for p in subformulas(formula) if isinstance(p, Quantified) for v in p.variables}.values())


def find_bound_domains(formula: Formula) -> dict[int, int]:
    """Return the slots that quantifiers in a formula bind, with their domains."""
    return {v.slot: v.domain for v in find_bound_variables(formula)}


def free_slots(formula: Formula) -> frozenset[int]:
    """The slots of free variables. Slots are never reused in a scope, so this is a difference of sets."""
    slots: set[int] = set()
    bound: set[int] = set()
    stack = [formula]
    while stack:
        part = stack.pop()
        match part:
            case Atom():
                slots.update([-1 - argument for argument in part.arguments if argument < 0])
            case Equal():
                slots.update([-1 - argument for argument in part if argument < 0])
            case Compare():
                slots |= find_variable_slots(part)
            case _:
                if isinstance(part, Quantified):
                    bound.update([v.slot for v in part.variables])
                stack.extend(children(part))
    return frozenset(slots - bound)


def substitute(formula: Formula, values: Mapping[int, int], functions: Mapping[int, int] | None = None) -> Formula:
    """Replace the variables in some slots by other arguments, also quantified variables; renumber ``functions``."""

    def substitute_in_part(part: Formula) -> Formula:
        return substitute(part, values, functions)

    match formula:
        case Atom():
            return substitute_in_atom(formula, values)
        case Equal():
            return Equal(*_substitute_in_arguments((formula.left, formula.right), values))
        case Compare():
            left, right = [substitute_in_expression(side, values, functions) for side in (formula.left, formula.right)]
            return Compare(formula.operator, left, right)
        case Quantified():
            variables = tuple([v._replace(slot=-1 - values.get(v.slot, -1 - v.slot)) for v in formula.variables])
            return Quantified(formula.universal, variables, substitute_in_part(formula.body))
        case Truth() | Not() | And() | Or() | Temporal():
            return map_children(formula, substitute_in_part)
        case _:
            assert_never(formula)


def substitute_in_atom(atom: Atom, values: Mapping[int, int]) -> Atom:
    """Replace the variables in some slots of an atom by other arguments."""
    return Atom(atom.predicate, _substitute_in_arguments(atom.arguments, values))


def substitute_in_expression(
    expression: Expression, values: Mapping[int, int], functions: Mapping[int, int] | None = None
) -> Expression:
    """Replace the variables in some slots of a numeric expression by other arguments; renumber ``functions``."""
    match expression:
        case Fluent():
            number = expression.function if functions is None else functions[expression.function]
            return Fluent(number, _substitute_in_arguments(expression.arguments, values))
        case Arithmetic():
            parts = [substitute_in_expression(part, values, functions) for part in expression.operands]
            return Arithmetic(expression.operator, tuple(parts))
        case Constant() | Duration() | TotalTime() | IsViolated():
            return expression
        case _:
            assert_never(expression)


def _substitute_in_arguments(arguments: Sequence[int], values: Mapping[int, int]) -> tuple[int, ...]:
    return tuple([values.get(-1 - argument, argument) if argument < 0 else argument for argument in arguments])


def replace_domains(formula: Formula, domains: Mapping[int, int]) -> Formula:
    """Replace the domains of quantifiers in a formula."""

    def replace_in_part(part: Formula) -> Formula:
        return replace_domains(part, domains)

    match formula:
        case Quantified():
            variables = tuple([v._replace(domain=domains.get(v.domain, v.domain)) for v in formula.variables])
            return Quantified(formula.universal, variables, replace_in_part(formula.body))
        case Truth() | Atom() | Equal() | Compare() | Not() | And() | Or() | Temporal():
            return map_children(formula, replace_in_part)
        case _:
            assert_never(formula)


# ---- negation -------------------------------------------------------------------------------------------------------


def negate(formula: Formula) -> Formula:
    """Return the negation of a formula, without a double negation."""
    if isinstance(formula, Not):
        return formula.body
    if isinstance(formula, Truth):
        return FALSE if formula.value else TRUE
    return Not(formula)


def find_signed_subformulas(formula: Formula, positive: bool = True) -> Iterator[tuple[Formula, bool]]:
    """Yield the formula and all subformulas, each with its sign: false below an odd number of negations.

    Operands of temporal operators are left out: their sign depends on the operator.
    """
    stack = [(formula, positive)]
    while stack:
        part, sign = stack.pop()
        yield part, sign
        if not isinstance(part, Temporal):
            below = sign != isinstance(part, Not)
            stack.extend([(child, below) for child in children(part)])


def push_negation(formula: Formula, positive: bool, change: Callable[[Formula, bool], Formula]) -> Formula:
    """Move a negation one level down: apply ``change`` to each part and its sign.

    Without ``positive``, junctions and quantifiers become their duals. A ``Not`` is removed.
    """
    match formula:
        case Not():
            return change(formula.body, not positive)
        case And() | Or():
            parts = tuple([change(part, positive) for part in formula.parts])
            return And(parts) if isinstance(formula, And) == positive else Or(parts)
        case Quantified():
            return Quantified(formula.universal == positive, formula.variables, change(formula.body, positive))
        case Truth():
            return formula if positive else negate(formula)
        case Atom() | Equal() | Compare() | Temporal():
            return formula if positive else Not(formula)
        case _:
            assert_never(formula)
