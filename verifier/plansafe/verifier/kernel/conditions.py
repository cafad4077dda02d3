"""Formulas, numeric expressions and effects from their text (docs/language.md, sections 2 and 4).

A formula is read at a *level*, which says what may stand in it: "state" (a condition), "past", "future" (past, too),
"top" (all), "pddl3" (the operators of PDDL3 alone); and with preferences "goal" (else as state), "constraint" (else as
pddl3) and "timed" (the condition or duration of a durative action; "moment" within ``at start`` and the like).
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import count

from .formulas import (
    ASSIGNMENTS,
    BOUNDS,
    COMPARISONS,
    END,
    FUTURE,
    NOTHING,
    OVER_ALL,
    PAST,
    PDDL3,
    PHASES,
    START,
    STEP_PREDICATES,
    WHOLE,
    Add,
    Arithmetic,
    Assign,
    Atom,
    Compare,
    Connective,
    Delete,
    Duration,
    Fluent,
    Node,
    Number,
    Off,
    OneOf,
    Preference,
    Quantified,
    Same,
    Taken,
    Temporal,
    Unary,
    When,
    operators,
)
from .reader import NUMBER, Sexp, need, number
from .vocabulary import Params, Vocabulary

# The level of operands, but for those of ``and`` and ``forall``.
BELOW = {"goal": "state", "moment": "state", "constraint": "pddl3"}
ALLOWED = {"past": PAST, "future": PAST | FUTURE, "top": PAST | FUTURE | WHOLE, "pddl3": PDDL3, "constraint": PDDL3}
SIZES = {"not": 1, "imply": 2}
DURATION: Params = {"?duration": ("",)}


class Conditions:
    """Reads formulas and effects over a vocabulary. ``actions`` are the parameters of what steps may name."""

    def __init__(self, vocabulary: Vocabulary, derived: set[str]) -> None:
        self.vocabulary = vocabulary
        self.derived = derived
        self.actions: Mapping[str, Params] = {}
        self._outcomes = count()

    # Formulas

    def formula(self, e: Sexp, env: Params, level: str = "state") -> Node:
        """A formula, whose variables are in ``env``. Raises ``KernelRejects``."""
        if e == ():
            return NOTHING
        if isinstance(e, tuple) and isinstance(e[0], str):
            kinds = (self._general, self._phase, self._connective, self._comparison, self._temporal)
            for kind in kinds:
                found = kind(e, env, level)
                if found is not None:
                    return found
        return Atom(self.vocabulary.terms(e, self.vocabulary.predicates, env))

    def _general(self, e: Sexp, env: Params, level: str) -> Node | None:
        """What may stand at any level."""
        below = BELOW.get(level, level)
        match e:
            case ("and", *fs):
                return Connective("and", tuple([self.formula(f, env, level) for f in fs]))
            case (("forall" | "exists") as op, variables, f) if op == "forall" or level != "timed":
                inside = level if op == "forall" else below
                return self.quantified(op, variables, env, lambda inner: self.formula(f, inner, inside))
            case ("preference", *names, f) if level in ("goal", "constraint", "timed"):
                if all(isinstance(x, str) for x in names):
                    timed = isinstance(f, tuple) and " ".join(map(str, f[:2])) in PHASES
                    need(len(names) < 2 and (level != "timed" or timed), "not a preference")
                    return Preference("".join(names) or "preference", self.formula(f, env, below))
        return None

    def _phase(self, e: Sexp, env: Params, level: str) -> Node | None:
        """``at start``, ``at end``, ``over all``, and constraints on the duration, within the tolerance (section 3)."""
        match e:
            case (("at" | "over"), str(), tuple(f)) if level == "timed" and " ".join(e[:2]) in PHASES:
                return Unary(" ".join(e[:2]), self.formula(f, env, "moment"))
            case (("=" | "<=" | ">=") as op, "?duration", x) if "?duration" in env and level in ("timed", "moment"):
                value = self.expression(x, env)
                least = Compare(">=", Duration(), Arithmetic("-", (value, Off())))
                most = Compare("<=", Duration(), Arithmetic("+", (value, Off())))
                sides = {"=": (most, least), "<=": (most,), ">=": (least,)}[op]
                both = Connective("and", sides)
                return Unary(START, both) if level == "timed" else both
        need(level != "timed", "not at start, at end or over all")
        return None

    def _connective(self, e: Sexp, env: Params, level: str) -> Node | None:
        op, *fs = e
        below = BELOW.get(level, level)
        if op in ("or", "not", "imply") and len(fs) == SIZES.get(op, len(fs)):
            members = tuple([self.formula(f, env, below) for f in fs])
            return Unary("not", members[0]) if op == "not" else Connective(op, members)
        known = below != "pddl3" or op in PDDL3 or e[:2] == ("at", "end")
        need(known, "a constraint without temporal operator")
        return None

    def _comparison(self, e: Sexp, env: Params, _level: str) -> Node | None:
        names = self.vocabulary.objects
        match e:
            case ("=", str(x), str(y)) if all(t in names or (t in env and t != "?duration") for t in (x, y)):
                return Same(x, y)
            case (op, x, y) if op in COMPARISONS:
                return Compare(op, self.expression(x, env), self.expression(y, env))
        return None

    def _temporal(self, e: Sexp, env: Params, level: str) -> Node | None:
        match e:
            case (op, tuple(step)) if op in STEP_PREDICATES and level in ("past", "future", "top"):
                return Taken((STEP_PREDICATES[op], *self.vocabulary.step(step, self.actions, env)))
            case ("at", "end", tuple(f)):
                e = ("at end", f)
        op, *fs = e
        if not (op in PDDL3 or (op in PAST | FUTURE and fs and all(isinstance(f, tuple) for f in fs))):
            return None
        n = BOUNDS.get(op, 0)
        need(ALLOWED.get(level, {}).get(op) == len(fs) - n, f"{op} cannot stand here")
        bounds = tuple(map(number, fs[:n]))
        need(all(x >= 0 for x in bounds), "a negative time")
        inside = "state" if BELOW.get(level, level) == "pddl3" else "future" if op in FUTURE else "past"
        return Temporal(op, bounds, tuple([self.formula(f, env, inside) for f in fs[n:]]))

    def quantified(self, op: str, variables: Sexp, env: Params, inside: Callable[[Params], Node]) -> Node:
        """What stands below a list of variables, quantified."""
        params = self.vocabulary.declared(variables)
        result = inside(env | params)
        for v, objects in reversed(self.vocabulary.domains(params)):
            result = Quantified(op, v, objects, result)
        return result

    def expression(self, e: Sexp, env: Params) -> Node:
        """A number, ``?duration``, a fluent, or arithmetic."""
        match e:
            case str() if NUMBER.fullmatch(e):
                return Number(number(e))
            case "?duration" if e in env:
                return Duration()
            case ("-", x):
                return Arithmetic("-", (Number(Fraction(0)), self.expression(x, env)))
            case (("+" | "-" | "*" | "/") as op, _, _, *more) if not more or op in "+*":
                return Arithmetic(op, tuple([self.expression(part, env) for part in e[1:]]))
        return self.fluent(e, env)

    def fluent(self, e: Sexp, env: Params) -> Fluent:
        """A fluent; a bare name is one without arguments."""
        head = (e,) if isinstance(e, str) else e
        return Fluent(("#", *self.vocabulary.terms(head, self.vocabulary.functions, env)))

    # Effects

    def action_effect(self, e: Sexp, env: Params, durative: bool) -> Node:
        """The effect of an action."""
        self._outcomes = count()
        return self.effect(e, env, durative)

    def effect(self, e: Sexp, env: Params, timed: bool = False) -> Node:
        """An effect; ``timed``: of a durative action, not below ``at start`` or ``at end``."""
        match e:
            case () | ("and", *_):
                return Connective("and", tuple([self.effect(part, env, timed) for part in e[1:]]))
            case ("forall", variables, f):
                return self.quantified("forall", variables, env, lambda inner: self.effect(f, inner, timed))
            case ("oneof", *parts) if parts and all(isinstance(part, tuple) for part in parts):
                return OneOf(next(self._outcomes), tuple([self.effect(part, env, timed) for part in parts]))
            case ("when", condition, f):
                return self._when(condition, f, env, timed)
            case ("at", ("start" | "end"), tuple(f)) if timed:
                return Unary(" ".join(e[:2]), self.effect(f, env))
            case (op, head, x) if op in ASSIGNMENTS and not timed:
                return Assign(op, self.fluent(head, env), self.expression(x, env))
        need(not timed, "not at start or at end")
        return self.literal(e, env)

    def _when(self, condition: Sexp, f: Sexp, env: Params, timed: bool) -> Node:
        asked = self.formula(condition, env, "timed" if timed else "state")
        done = self.effect(f, env, timed)
        late = {OVER_ALL, END} if START in operators(done) else {OVER_ALL}
        need(not operators(asked) & late, "a condition that is read after its effect")
        return When(asked, done)

    def literal(self, e: Sexp, env: Params) -> Add | Delete:
        """A fact that becomes true or false."""
        delete = isinstance(e, tuple) and len(e) == 2 and e[0] == "not"
        terms = self.vocabulary.terms(e[1] if delete else e, self.vocabulary.predicates, env)
        need(terms[0] not in self.derived, "a derived predicate in an effect or :init")
        return Delete(terms) if delete else Add(terms)
