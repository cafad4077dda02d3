"""Read formulas, numeric expressions and effects (docs/language.md, sections 2 and 4).

A formula is read at a *level*, which restricts its operators: "state" (a condition), "past", "future" (also past),
"top" (all), "pddl3" (the operators of PDDL3 alone). The levels with preferences are "goal" (else as state),
"constraint" (else as pddl3) and "timed" (the condition or duration of a durative action; "moment" within ``at start``
and similar).
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import count

from .formulas import (
    ASSIGNMENTS,
    BOUND_COUNTS,
    COMPARISONS,
    EMPTY_AND,
    END,
    FUTURE_OPERATORS,
    OVER_ALL,
    PAST_OPERATORS,
    PDDL3_OPERATORS,
    PHASES,
    START,
    STEP_PREDICATES,
    WHOLE_TRACE_OPERATORS,
    Add,
    Arithmetic,
    Assign,
    Atom,
    Compare,
    Connective,
    Delete,
    Duration,
    DurationTolerance,
    EqualTerms,
    Flow,
    Fluent,
    Node,
    Number,
    OneOf,
    Preference,
    Quantified,
    StepAtom,
    Temporal,
    Unary,
    When,
    collect_operators,
)
from .reader import NUMBER, KernelRejects, Sexp, parse_number, require
from .temporal import SHIFTS
from .vocabulary import Params, Vocabulary

OPERAND_LEVELS = {"goal": "state", "moment": "state", "constraint": "pddl3"}
"""The level of operands where it differs, except for the operands of ``and`` and ``forall``."""
ALLOWED = {
    "past": PAST_OPERATORS,
    "future": PAST_OPERATORS | FUTURE_OPERATORS,
    "top": PAST_OPERATORS | FUTURE_OPERATORS | WHOLE_TRACE_OPERATORS,
    "pddl3": PDDL3_OPERATORS,
    "constraint": PDDL3_OPERATORS,
}
DURATIVE_LEVELS = ("timed", "moment")
"""The levels of the conditions of a durative action."""
CONNECTIVE_ARITIES = {"not": 1, "imply": 2}
DURATION: Params = {"?duration": ("",)}


def _mentions_time(expr: Sexp) -> bool:
    return expr == "#t" or (isinstance(expr, tuple) and any(map(_mentions_time, expr)))


class FormulaReader:
    """Reads formulas and effects over a vocabulary. ``actions`` has the parameters of the actions for STEPs."""

    def __init__(self, vocabulary: Vocabulary, derived: set[str]) -> None:
        self.vocabulary = vocabulary
        self.derived = derived
        self.actions: Mapping[str, Params] = {}
        self.is_continuous = False
        self._oneof_numbers = count()

    # Formulas

    def read_formula(self, expr: Sexp, scope: Params, level: str = "state") -> Node:
        """Read a formula whose variables are in ``scope``. Raises ``KernelRejects``."""
        if expr == ():
            return EMPTY_AND
        if isinstance(expr, tuple) and isinstance(expr[0], str):
            readers = (
                self._read_general_operator,
                self._read_phase,
                self._read_connective,
                self._read_comparison,
                self._read_temporal,
            )
            for read_operator in readers:
                formula = read_operator(expr, scope, level)
                if formula is not None:
                    return formula
        return Atom(self.vocabulary.read_atom(expr, self.vocabulary.predicates, scope))

    def _read_general_operator(self, expr: Sexp, scope: Params, level: str) -> Node | None:
        """Read an operator that is allowed at any level."""
        operand_level = OPERAND_LEVELS.get(level, level)
        match expr:
            case ("and", *parts):
                return Connective("and", tuple([self.read_formula(part, scope, level) for part in parts]))
            case (("forall" | "exists") as op, variables, part) if op == "forall" or level != "timed":
                part_level = level if op == "forall" else operand_level
                return self.quantify(
                    op, variables, scope, lambda inner_scope: self.read_formula(part, inner_scope, part_level)
                )
            case ("preference", *names, part) if level in ("goal", "constraint", "timed"):
                if all(isinstance(name, str) for name in names):
                    timed = isinstance(part, tuple) and " ".join(map(str, part[:2])) in PHASES
                    require(len(names) < 2 and (level != "timed" or timed), "not a preference")
                    return Preference("".join(names) or "preference", self.read_formula(part, scope, operand_level))
        return None

    def _read_phase(self, expr: Sexp, scope: Params, level: str) -> Node | None:
        """Read ``at start``, ``at end``, ``over all`` and constraints on the duration, which have a tolerance.

        Only these are allowed at the level "timed".
        """
        match expr:
            case (("at" | "over"), str(), tuple(part)) if level == "timed" and " ".join(expr[:2]) in PHASES:
                return Unary(" ".join(expr[:2]), self.read_formula(part, scope, "moment"))
            case (("=" | "<=" | ">=") as op, "?duration", bound) if "?duration" in scope and level in DURATIVE_LEVELS:
                value = self.read_expression(bound, scope)
                lower_bound = Compare(">=", Duration(), Arithmetic("-", (value, DurationTolerance())))
                upper_bound = Compare("<=", Duration(), Arithmetic("+", (value, DurationTolerance())))
                sides = {"=": (upper_bound, lower_bound), "<=": (upper_bound,), ">=": (lower_bound,)}[op]
                constraint = Connective("and", sides)
                return Unary(START, constraint) if level == "timed" else constraint
        require(level != "timed", "not at start, at end or over all")
        return None

    def _read_connective(self, expr: Sexp, scope: Params, level: str) -> Node | None:
        """Read ``or``, ``not`` or ``imply``; reject a constraint without a temporal operator."""
        op, *operands = expr
        operand_level = OPERAND_LEVELS.get(level, level)
        if op in ("or", "not", "imply") and len(operands) == CONNECTIVE_ARITIES.get(op, len(operands)):
            members = tuple([self.read_formula(operand, scope, operand_level) for operand in operands])
            return Unary("not", members[0]) if op == "not" else Connective(op, members)
        is_allowed = operand_level != "pddl3" or op in PDDL3_OPERATORS or expr[:2] == ("at", "end")
        require(is_allowed, "a constraint without temporal operator")
        return None

    def _read_comparison(self, expr: Sexp, scope: Params, _level: str) -> Node | None:
        """Read an equality of objects, or a comparison of numbers."""
        objects = self.vocabulary.objects
        match expr:
            case ("=", str(x), str(y)) if all(t in objects or (t in scope and t != "?duration") for t in (x, y)):
                return EqualTerms(x, y)
            case (op, left, right) if op in COMPARISONS:
                return Compare(op, self.read_expression(left, scope), self.read_expression(right, scope))
        return None

    def _read_temporal(self, expr: Sexp, scope: Params, level: str) -> Node | None:
        """Read a temporal operator, or ``action`` and similar for steps."""
        match expr:
            case (op, tuple(step)) if op in STEP_PREDICATES and level in ("past", "future", "top"):
                return StepAtom((STEP_PREDICATES[op], *self.vocabulary.read_step(step, self.actions, scope)))
            case ("at", "end", tuple(part)):
                expr = ("at end", part)
        op, *operands = expr
        # A predicate may also have the name of a past or future operator: its terms are not lists.
        has_formulas = operands and all(isinstance(operand, tuple) for operand in operands)
        if not (op in PDDL3_OPERATORS or (op in PAST_OPERATORS | FUTURE_OPERATORS and has_formulas)):
            return None
        require(not self.is_continuous or op not in SHIFTS, f"{op} in continuous time")
        bound_count = BOUND_COUNTS.get(op, 0)
        require(ALLOWED.get(level, {}).get(op) == len(operands) - bound_count, f"{op} cannot stand here")
        bounds = tuple(map(parse_number, operands[:bound_count]))
        require(all(time >= 0 for time in bounds), "a negative time")
        is_pddl3 = OPERAND_LEVELS.get(level, level) == "pddl3"
        part_level = "state" if is_pddl3 else "future" if op in FUTURE_OPERATORS else "past"
        parts = [self.read_formula(part, scope, part_level) for part in operands[bound_count:]]
        return Temporal(op, bounds, tuple(parts))

    def quantify(self, op: str, variables: Sexp, scope: Params, read_part: Callable[[Params], Node]) -> Node:
        """Return the quantified node; ``read_part`` reads it in the scope that has the variables."""
        params = self.vocabulary.read_parameters(variables)
        node = read_part(scope | params)
        for v, objects in reversed(self.vocabulary.find_domains(params)):
            node = Quantified(op, v, objects, node)
        return node

    def read_expression(self, expr: Sexp, scope: Params) -> Node:
        """Read a number, ``?duration``, a fluent, or arithmetic."""
        match expr:
            case str() if NUMBER.fullmatch(expr):
                return Number(parse_number(expr))
            case "?duration" if expr in scope:
                return Duration()
            case ("-", operand):
                return Arithmetic("-", (Number(Fraction(0)), self.read_expression(operand, scope)))
            case (("+" | "-" | "*" | "/") as op, _, _, *more) if not more or op in "+*":
                return Arithmetic(op, tuple([self.read_expression(operand, scope) for operand in expr[1:]]))
        return self.read_fluent(expr, scope)

    def read_fluent(self, expr: Sexp, scope: Params) -> Fluent:
        """Read a fluent; a bare name is a fluent without arguments."""
        head = (expr,) if isinstance(expr, str) else expr
        return Fluent(("#", *self.vocabulary.read_atom(head, self.vocabulary.functions, scope)))

    # Effects

    def read_action_effect(self, expr: Sexp, scope: Params, *, durative: bool) -> Node:
        """Read the effect of an action, and number its ``oneof`` effects from 0."""
        self._oneof_numbers = count()
        return self.read_effect(expr, scope, durative)

    def read_effect(self, expr: Sexp, scope: Params, timed: bool = False) -> Node:
        """Read an effect; ``timed``: of a durative action, not below ``at start`` or ``at end``."""
        match expr:
            case () | ("and", *_):
                return Connective("and", tuple([self.read_effect(part, scope, timed) for part in expr[1:]]))
            case ("forall", variables, part):
                return self.quantify(
                    "forall", variables, scope, lambda inner_scope: self.read_effect(part, inner_scope, timed)
                )
            case ("oneof", *parts) if parts and all(isinstance(part, tuple) for part in parts):
                number = next(self._oneof_numbers)
                return OneOf(number, tuple([self.read_effect(part, scope, timed) for part in parts]))
            case ("when", condition, part):
                return self._read_when(condition, part, scope, timed)
            case ("at", ("start" | "end"), tuple(part)) if timed:
                return Unary(" ".join(expr[:2]), self.read_effect(part, scope))
            case (("increase" | "decrease") as op, head, change) if timed:
                rate = self._read_rate(change, scope)
                return Unary(OVER_ALL, Flow(1 if op == "increase" else -1, self.read_fluent(head, scope), rate))
            case (op, head, value) if op in ASSIGNMENTS and not timed:
                return Assign(op, self.read_fluent(head, scope), self.read_expression(value, scope))
        require(not timed, "not at start or at end")
        return self.read_literal(expr, scope)

    def _read_rate(self, change: Sexp, scope: Params) -> Node:
        """Read the rate of a change: ``#t``, ``(* rate #t)``, ``(/ #t number)``, or a sum or difference of changes."""
        match change:
            case "#t":
                return Number(Fraction(1))
            case ("*", *factors) if len(factors) > 1 and sum(map(_mentions_time, factors)) == 1:
                readers = [self._read_rate if _mentions_time(factor) else self.read_expression for factor in factors]
            case ("/", dividend, divisor) if not _mentions_time(divisor):
                readers, factors = [self._read_rate, self.read_expression], [dividend, divisor]
            case ("-", part):
                return Arithmetic("-", (Number(Fraction(0)), self._read_rate(part, scope)))
            case ("+" | "-", *factors) if len(factors) == 2 or (len(factors) > 2 and change[0] == "+"):
                readers = [self._read_rate] * len(factors)
            case _:
                raise KernelRejects("not a continuous effect")
        parts = [read_part(factor, scope) for read_part, factor in zip(readers, factors, strict=True)]
        return Arithmetic(change[0], tuple(parts))

    def read_continuous_effect(self, expr: Sexp, scope: Params) -> Node:
        """Read the effect of a process."""
        effect = self.read_effect(expr, scope, timed=True)
        allowed = {"and", "forall", "flow", OVER_ALL, "empty"}
        require(collect_operators(effect) <= allowed, "a process with an effect at one moment")
        return effect

    def _read_when(self, condition: Sexp, part: Sexp, scope: Params, timed: bool) -> Node:
        """Read a conditional effect. Its condition must be known when the effect happens."""
        guard = self.read_formula(condition, scope, "timed" if timed else "state")
        effect = self.read_effect(part, scope, timed)
        later_phases = {OVER_ALL, END} if START in collect_operators(effect) else {OVER_ALL}
        require("flow" not in collect_operators(effect), "a conditional continuous effect")
        require(not collect_operators(guard) & later_phases, "a condition that is read after its effect")
        return When(guard, effect)

    def read_literal(self, expr: Sexp, scope: Params) -> Add | Delete:
        """Read a fact that becomes true, or with ``not`` false."""
        is_negated = isinstance(expr, tuple) and len(expr) == 2 and expr[0] == "not"
        terms = self.vocabulary.read_atom(expr[1] if is_negated else expr, self.vocabulary.predicates, scope)
        require(terms[0] not in self.derived, "a derived predicate in an effect or :init")
        return Delete(terms) if is_negated else Add(terms)
