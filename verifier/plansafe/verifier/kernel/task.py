"""Domain and problem: names and types checked, formulas and effects made ready (docs/language.md, sections 1 and 2)."""
# fmt: off
# ruff: noqa: E701
from collections.abc import Callable, Mapping
from fractions import Fraction
from re import Pattern
from typing import NamedTuple

from .formulas import ARITHMETIC, BOUNDS, COMPARE, FUTURE, PAST, PDDL3, PHASES, WHOLE, Domains, Formula, operators, reads
from .reader import NAME, NUMBER, OBJECT, VARIABLE, Sexp, definition, keywords, need, number, read

Types = tuple[str, ...]  # the alternatives of (either ..)
Params = dict[str, Types]  # typed variables
Axiom = tuple[str, Domains, Formula]
ASSIGN = ("increase", "decrease", "assign", "scale-up", "scale-down")
RESERVED = {"and", "or", "not", "imply", "forall", "exists", "when", "preference", *ASSIGN, *COMPARE, *PDDL3}
DOMAIN = ":requirements :types :constants :predicates :functions :constraints"
PROBLEM = ":domain :requirements :objects :init :goal :constraints :metric :length"
INSIDE = {"goal": "goal", "timed": "timed", "constraint": "constraint"}  # levels at which preferences may stand
TEMPORAL = {"past": PAST, "future": PAST | FUTURE, "top": PAST | FUTURE | WHOLE, "constraint": PDDL3, "pddl3": PDDL3}

class Action(NamedTuple):
    """An action. Those parts of a durative one that concern a phase stand below an operator of ``PHASES``."""
    params: Params
    durative: bool
    duration: Formula
    condition: Formula
    effect: Formula

def typed(items: Sexp, pattern: Pattern[str]) -> list[tuple[str, Types]]:
    """A typed list ``a b - t c`` of names that match ``pattern``; types default to object."""
    result, pending = list[tuple[str, Types]](), list[str]()
    need(isinstance(items, tuple), "not a list")
    rest = iter(items)
    for item in rest:
        if item == "-" and pending:
            kind = next(rest, ())
            types = kind[1:] if isinstance(kind, tuple) and kind[:1] == ("either",) else (kind,)
            need(types and all(isinstance(t, str) for t in types), "not a type")
            result, pending = result + [(name, types) for name in pending], []
        else:
            need(isinstance(item, str) and pattern.fullmatch(item), "not a name in a typed list")
            pending.append(item)
    return result + [(name, ("object",)) for name in pending]

class Task:
    """A domain with a problem, checked. Nothing changes after the constructor."""
    def __init__(self, domain: str, problem: str, lenient: bool) -> None:
        d = definition(read(domain), "domain", DOMAIN, ":action :durative-action :derived")
        p = definition(read(problem), "problem", PROBLEM, "")
        self.lenient = lenient
        self.supers = self._supers(typed(d.get(":types", [()])[0], NAME))
        constants = self._declare({}, d.get(":constants", [()])[0])
        self.every = self._declare(constants, p.get(":objects", [()])[0])  # what quantifiers range over
        self.objects = constants  # what formulas may name: in the problem, all
        self.predicates = self._signatures(d.get(":predicates", [()])[0], RESERVED)
        functions = iter(d.get(":functions", [()])[0])
        self.functions = self._signatures([h for h in functions if h != "-" or next(functions, "") != "number"], set())
        self.derived, self.actions = set[str](), dict[str, Action]()
        self.strata = self._strata([self._axiom(body) for body in d.get(":derived", [])])
        for key in (":action", ":durative-action"):
            for name, *body in (body or ((),) for body in d.get(key, [])):
                need(isinstance(name, str) and NAME.fullmatch(name) and name not in self.actions, "an action's name")
                self.actions[name] = self._action(tuple(body), key == ":durative-action")
        self.constraints = [self.formula(f, {}, "constraint") for body in d.get(":constraints", []) for f in body]
        self.objects = self.every
        self.constraints += [self.formula(f, {}, "constraint") for body in p.get(":constraints", []) for f in body]
        need(all(len(x[key][0]) == 1 for x in (d, p) for key in (":goal", ":constraints") if key in x), "not one formula")
        need(":goal" in p, "a problem without goal")
        self.goal = self.formula(p[":goal"][0][0], {}, "goal")
        self.initial = self._initial(p.get(":init", [()])[0])

    def _supers(self, items: list[tuple[str, Types]]) -> dict[str, set[str]]:
        parents: dict[str, set[str]] = {"object": set()}
        for name, above in items:
            parents.setdefault(name, set()).update(above if (name, above) != ("object", ("object",)) else ())
        unknown = {t for above in parents.values() for t in above} - parents.keys()
        need(self.lenient or not unknown, "an undeclared type")
        supers = {t: {t, "object"} for t in (*parents, *unknown)}
        for _ in parents: supers |= {t: supers[t].union(*(supers[a] for a in above)) for t, above in parents.items()}
        need(not any(t in supers[a] for t, above in parents.items() for a in above), "cyclic types")
        return supers | {"#": {"#"}}  # the type of ?duration

    def _known(self, names: list[tuple[str, Types]]) -> dict[str, Types]:
        unknown = {t for _, types in names for t in types} - self.supers.keys()
        need(self.lenient or not unknown, "an undeclared type")
        self.supers |= {t: {t, "object"} for t in unknown}
        need(len(dict(names)) == len(names), "a name declared twice")
        return dict(names)

    def _declare(self, before: dict[str, Types], items: Sexp) -> dict[str, Types]:
        names = self._known(typed(items, OBJECT))
        need(all(before.get(o, types) == types for o, types in names.items()), "a constant again, with another type")
        return before | names

    def _signatures(self, heads: Sexp, reserved: set[str]) -> dict[str, Params]:
        table = dict[str, Params]()
        for head in heads:
            need(isinstance(head, tuple) and head and isinstance(head[0], str), "not a declaration")
            need(NAME.fullmatch(head[0]) and head[0] not in reserved | {*table}, "a name reserved or repeated")
            table[head[0]] = self.params(head[1:])
        return table

    def params(self, items: Sexp) -> Params:
        """Typed variables, all different."""
        return self._known(typed(items, VARIABLE))

    def ranges(self, params: Params) -> Domains:
        """The variables with the objects of their types, in the order of declaration."""
        return tuple((v, tuple(o for o in self.every if self._fits(o, types, {}))) for v, types in params.items())

    def _fits(self, term: str, types: Types, env: Params) -> bool:
        # One type of an object has to be below one of ``types``; all alternatives of a variable, below or above.
        if term in env: return all(any(t in self.supers[own] or own in self.supers[t] for t in types) for own in env[term])
        return any(t in self.supers[own] for own in self.every[term] for t in types)

    def terms(self, e: Sexp, table: Mapping[str, Params], env: Params, blank: str = "") -> tuple[str, ...]:
        """``(name term ..)``, its name, arity and types checked; ``blank`` fits anything."""
        need(isinstance(e, tuple) and e and all(isinstance(x, str) for x in e) and e[0] in table, "an unknown name")
        need(len(e) == 1 + len(table[e[0]]), "a wrong number of arguments")
        pairs = [(x, types) for x, types in zip(e[1:], table[e[0]].values(), strict=True) if x != blank]
        need(all(x in env or x in self.objects for x, _ in pairs), "an unknown variable or object")
        need(self.lenient or all(self._fits(x, types, env) for x, types in pairs), "an argument of a wrong type")
        return tuple(e)

    def _quantified(self, op: str, variables: Sexp, env: Params, inside: Callable[[Params], Formula]) -> Formula:
        params = self.params(variables)
        result = inside(env | params)
        for v, objects in reversed(self.ranges(params)): result = (op, v, objects, result)
        return result

    def _number(self, e: Sexp, env: Params) -> Formula:
        match e:
            case str() if NUMBER.fullmatch(e): return "given", number(e)
            case "?duration" if e in env: return "given", e
            case ("-", x): return "-", ("given", Fraction(0)), self._number(x, env)
            case (str(op), x, y, *more) if op in ARITHMETIC and (not more or op in "+*"):
                return op, *(self._number(part, env) for part in e[1:])
        return "#", *self.terms((e,) if isinstance(e, str) else e, self.functions, env)

    def formula(self, e: Sexp, env: Params, level: str = "state") -> Formula:
        """A formula of a level: "state", "past", "future" (with past), "top" (all), "pddl3" (its operators alone).

        With preferences, "constraint" is as "pddl3", "goal" as "state"; "timed" is a durative condition (or duration).
        """
        below = {"goal": "state", "constraint": "pddl3"}.get(level, level)
        match e:
            case (): return ("and",)
            case ("preference", *name, f) if level != below or level == "timed":
                need(len(name) < 2 and all(isinstance(x, str) for x in name), "a preference's name")
                return "preference", "".join(name) or "preference", self.formula(f, env, below)
            case (("at" | "over"), str(), tuple(f)) if level == "timed" and " ".join(e[:2]) in PHASES:
                return PHASES[" ".join(e[:2])], self.formula(f, env, "goal")
            case ("and", *fs): return "and", *(self.formula(f, env, level) for f in fs)
            case ("forall", variables, f):
                return self._quantified("forall", variables, env, lambda inner: self.formula(f, inner, level))
            case (("=" | "<=" | ">="), "?duration", x) if level == "timed":
                return "@action", (e[0], ("given", "?duration"), self._number(x, env))
        need(level != "timed", "not at start, at end or over all")
        match e:
            case ("at", "end", tuple(f)): return self.formula(("at end", f), env, level)
            case (("or" | "not" | "imply") as op, *fs) if len(fs) == {"not": 1, "imply": 2}.get(op, len(fs)):
                return op, *(self.formula(f, env, below) for f in fs)
            case ("exists", variables, f):
                return self._quantified("exists", variables, env, lambda inner: self.formula(f, inner, below))
            case ("=", str(x), str(y)) if all(t in self.objects or t in env and t != "?duration" for t in (x, y)):
                return "same", x, y
            case (str(op), x, y) if op in COMPARE: return op, self._number(x, env), self._number(y, env)
            case (("action" | "action-end" | "action-during") as mode, tuple(step)) if level in ("past", "future", "top"):
                return "taken", mode, *self.terms(step, {n: a.params for n, a in self.actions.items()}, env, "_")
            case (str(op), *fs) if op in PDDL3 or op in PAST | FUTURE and fs and all(isinstance(f, tuple) for f in fs):
                bounds = BOUNDS.get(op, 0)
                need(TEMPORAL.get(level, {}).get(op, -1) == len(fs) - bounds, f"{op} cannot stand here")
                need(all(number(x) >= 0 for x in fs[:bounds]), "a negative time")
                inner = "state" if below == "pddl3" else "future" if op in FUTURE else "past"
                return op, *map(number, fs[:bounds]), *(self.formula(f, env, inner) for f in fs[bounds:])
        return "atom", *self.terms(e, self.predicates, env)

    def _effect(self, e: Sexp, env: Params, timed: bool = False) -> Formula:
        match e:
            case () | ("and", *_): return "and", *(self._effect(part, env, timed) for part in e[1:])
            case ("forall", variables, f):
                return self._quantified("forall", variables, env, lambda inner: self._effect(f, inner, timed))
            case ("when", condition, f):
                result = "when", self.formula(condition, env, "timed" if timed else "state"), self._effect(f, env, timed)
                when, then = (operators(x) & {*PHASES.values()} for x in result[1:])
                need(when <= then and len(then) < 2, "unsupported: a condition and an effect at different times")
                return result
            case ("at", ("start" | "end"), tuple(f)) if timed: return PHASES[" ".join(e[:2])], self._effect(f, env)
        need(not timed, "not at start or at end")
        match e:
            case (str(op), head, x) if op in ASSIGN:
                fluent = self._number(head, env)
                need(fluent[0] == "#", "not a fluent")
                return "change", op, fluent, self._number(x, env)
            case ("not", atom): kind = "del"
            case atom: kind = "add"
        terms = self.terms(atom, self.predicates, env)
        need(terms[0] not in self.derived, "a derived predicate in an effect or :init")
        return kind, *terms

    def _action(self, body: tuple[Sexp, ...], durative: bool) -> Action:
        asks, level = (":condition", "timed") if durative else (":precondition", "goal")
        keys = keywords(body, f":parameters {asks} :effect" + durative * " :duration")
        params = self.params(keys.get(":parameters", ()))
        env = params | {"?duration": ("#",)} if durative else params
        duration, condition = (self.formula(keys.get(k, ()), env, level) for k in (":duration", asks))
        return Action(params, durative, duration, condition, self._effect(keys.get(":effect", ()), env, durative))

    def _axiom(self, body: tuple[Sexp, ...]) -> Axiom:
        need(len(body) == 2 and isinstance(body[0], tuple) and body[0], "not a derived predicate")
        params = self.params(body[0][1:])
        name, *_ = self.terms((body[0][0], *params), self.predicates, params)
        self.derived.add(name)
        return name, self.ranges(params), self.formula(body[1], params)

    def _strata(self, axioms: list[Axiom]) -> list[list[Axiom]]:
        level, before = dict.fromkeys(self.derived, 0), dict[str, int]()
        while level != before:
            before = dict(level)
            for name, _, body in axioms:
                level[name] = max(level[name], *(before[f[0]] + no for f, no in reads(body, {}) if f[0] in before), 0)
            need(max(level.values()) <= len(level), "derived predicates that are not stratified")
        return [[a for a in axioms if level[a[0]] == i] for i in sorted({*level.values()})]

    def _initial(self, items: Sexp) -> list[tuple[Fraction, Formula]]:
        result = []  # (time, effect); what holds from the start has the time -1
        for e in items:
            timed = isinstance(e, tuple) and len(e) == 3 and e[0] == "at" and isinstance(e[2], tuple)
            time, what = (number(e[1]), e[2]) if timed else (Fraction(-1), e)
            value = isinstance(what, tuple) and len(what) == 3 and what[0] == "="
            effect = self._effect(("assign", what[1], what[2]) if value else what, {})
            need(effect[0] in ("add", "del") or value and effect[3][0] == "given", "not a fact")
            need(time >= 0 or not timed, "a negative time")
            result.append((time, effect))
        start = {effect for time, effect in result if time < 0}
        need(not any(("del", *x[1:]) in start for x in start if x[0] == "add"), "a fact and its negation")
        fluents = [x[2] for x in start if x[0] == "change"]
        need(len({*fluents}) == len(fluents), "two values of one fluent")
        return result
