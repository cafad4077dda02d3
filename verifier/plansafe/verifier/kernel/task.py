"""Domain, problem and rules: names and types checked, formulas made ready (docs/language.md, sections 1, 2 and 5)."""

# fmt: off
# ruff: noqa: I001, D102, D103, D204, E701, E702, RUF021
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import count, pairwise
from re import Pattern
from typing import Any, NamedTuple

from .formulas import (ARITHMETIC, ASSIGN, BOUNDS, COMPARE, FUTURE, PAST, PDDL3, WHOLE, Domains, Fact, Formula,
                       bindings, ground, operators, reads, symbol)
from .reader import NAME, NUMBER, OBJECT, VARIABLE, Sexp, definition, keywords, need, number, read

Params = dict[str, tuple[str, ...]]  # variables (or objects) with the alternatives of their type
Part = tuple[str, Domains, Formula]  # of a rule, its kind first; or an axiom, its predicate first
PHASES = {"at start": "@action", "at end": "@action-end", "over all": "@all"}
RESERVED = {"and", "or", "not", "imply", "forall", "exists", "when", "preference", *ASSIGN, *COMPARE, *PDDL3}
DOMAIN = ":requirements :types :constants :predicates :functions :constraints"
PROBLEM = ":domain :requirements :objects :init :goal :constraints :metric :length"
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
COUNTS = {":exactly-one": (1,), ":at-most-one": (0, 1)}  # how many atoms of an invariant are true
KEYS = {":process": ":on :at-end :during :when :forbid :require :forbid-after :require-after",
        ":trajectory": ":formula", ":termination": ":when :forbid :require", ":obligation": ":when :then :within",
        ":invariant": ":holds :exactly-one :at-most-one"}
META = " :hazard :target :severity :message :rationale :fix :parameters"
STEPS = {":on": "action", ":at-end": "action-end", ":during": "action-during"}
DUAL = {"and": "or", "or": "and", "forall": "exists", "exists": "forall"}
# Levels of formulas: "state", "past", "future" (with past), "top" (all), "pddl3" (its operators alone); and with
# preferences "goal" (else as state), "constraint" (else as pddl3), "timed" (condition, duration of a durative action).
BELOW = {"goal": "state", "constraint": "pddl3"}  # what stands below an operator other than ``and`` and ``forall``
ALLOWED = {"past": PAST, "future": PAST | FUTURE, "top": PAST | FUTURE | WHOLE, "pddl3": PDDL3, "constraint": PDDL3}

class Action(NamedTuple):
    """An action. What concerns one phase of a durative one stands below an operator of ``PHASES``."""
    params: Params; durative: bool; condition: Formula; effect: Formula

class Rule(NamedTuple):
    """A rule. Its parts have a kind ("occurrence", "match", "end" or "whole"), all their parameters and a formula."""
    name: str; params: Domains; patterns: list[tuple[str, ...]]; parts: list[Part]  # pattern: (mode, action, term ..)

def typed(items: Sexp, pattern: Pattern[str]) -> list[tuple[str, tuple[str, ...]]]:  # types default to object
    need(isinstance(items, tuple), "not a list"); rest = iter(items)
    result, pending = list[tuple[str, tuple[str, ...]]](), list[str]()
    for item in rest:
        if item == "-" and pending:
            kind = next(rest, ()); types = kind[1:] if isinstance(kind, tuple) and kind[:1] == ("either",) else (kind,)
            need(types and all(isinstance(t, str) for t in types), "not a type")
            result, pending = result + [(name, types) for name in pending], []
        else: need(isinstance(item, str) and pattern.fullmatch(item), "not a typed list"); pending.append(item)
    return result + [(name, ("object",)) for name in pending]

class Task:
    """A domain with a problem, checked. Nothing changes after the constructor."""
    def __init__(self, domain: str, problem: str, lenient: bool, tolerance: Fraction) -> None:
        d = definition(read(domain), "domain", DOMAIN, ":action :durative-action :derived")
        p = definition(read(problem), "problem", PROBLEM, "")
        self.lenient, self.tolerance, self.parents = lenient, tolerance, dict[str, set[str]]({"object": set()})
        for name, types in typed(d.get(":types", [()])[0], NAME):
            self.parents.setdefault(name, set()).update(types if (name, types) != ("object", ("object",)) else ())
        self.supers = {t: self._above(t, ()) for t in self.parents} | {"": {""}}  # the type of ?duration
        constants = self.known(d.get(":constants", [()])[0], OBJECT)
        objects = self.known(p.get(":objects", [()])[0], OBJECT)
        need(all(constants.get(o, types) == types for o, types in objects.items()), "a constant again, of another type")
        self.objects, self.every = constants, constants | objects  # what formulas may name (in the problem: all); all
        self.predicates = self._signatures(d.get(":predicates", [()])[0], RESERVED)
        functions = iter(d.get(":functions", [()])[0])
        self.functions = self._signatures([h for h in functions if h != "-" or next(functions, "") != "number"], set())
        self.derived, self.actions, self.statements = set[str](), dict[str, Action](), list[Formula]()
        self.strata, self.oneofs = self._strata([self._axiom(body) for body in d.get(":derived", [])]), count()
        for body, key in ((body, k) for k in (":action", ":durative-action") for body in d.get(k, [])):
            need(body and isinstance(body[0], str) and NAME.fullmatch(body[0]), "an action without name")
            need(body[0] not in self.actions, "an action declared twice")
            self.actions[body[0]] = self._action(body[1:], key == ":durative-action")
        self.constraints = [self.formula(e, {}, "constraint") for body in d.get(":constraints", []) for e in body]
        self.objects, self.own = self.every, [{s for t in ts for s in self.supers[t]} for ts in self.every.values()]
        self.constraints += [self.formula(e, {}, "constraint") for body in p.get(":constraints", []) for e in body]
        goals = [s[key][0] for s in (d, p) for key in (":constraints", ":goal") if key in s]
        need(":goal" in p and all(len(body) == 1 for body in goals), "not one goal, or not one formula in :constraints")
        self.goal, self.initial = self.formula(p[":goal"][0][0], {}, "goal"), self._initial(p.get(":init", [()])[0])

    def _above(self, t: str, below: tuple[str, ...]) -> set[str]:  # the type and all those above it
        need(t in self.parents or self.lenient, "an undeclared type"); need(t not in below, "cyclic types")
        return {t, "object"}.union(*(self._above(parent, (*below, t)) for parent in self.parents.get(t, ())))

    def known(self, items: Sexp, pattern: Pattern[str] = VARIABLE) -> Params:  # a typed list, its types known
        names = typed(items, pattern); need(len(dict(names)) == len(names), "a name declared twice")
        self.supers |= {t: self._above(t, ()) for _, types in names for t in types if t not in self.supers}
        return dict(names)

    def _signatures(self, heads: Sexp, reserved: set[str]) -> dict[str, Params]:
        table = dict[str, Params]()
        for head in heads:
            need(isinstance(head, tuple) and head and isinstance(head[0], str), "not a declaration")
            need(NAME.fullmatch(head[0]) and head[0] not in reserved | {*table}, "a name reserved or repeated")
            table[head[0]] = self.known(head[1:])
        return table

    def ranges(self, params: Params, more: Iterable[tuple[str, tuple[str, ...]]] = ()) -> Domains:
        pairs = [*params.items(), *more]  # each with the objects that fit all its types, in the order of declaration
        return tuple((v, tuple(o for o in self.every if all(self._fits(o, types, {}) for x, types in pairs if x == v)))
                     for v in dict(pairs))

    def _fits(self, term: str, types: tuple[str, ...], env: Params, some: str = "") -> bool:
        # One type of an object has to be below one of the types; all of a variable, below or above (some: or met).
        if term not in env: return any(t in self.supers[own] for own in self.every[term] for t in types)
        if some and env[term]: return any(s & {*types} and s & {*env[term]} for s in [*self.supers.values(), *self.own])
        return all(any(t in self.supers[x] or x in self.supers[t] for t in types) for x in env[term])

    def terms(self, e: Sexp, table: Mapping[str, Params], env: Params, blank: str = "") -> tuple[str, ...]:
        # (name term ..), its name, arity and types checked; ``blank`` fits anything, and a step what may match it.
        need(isinstance(e, tuple) and e and all(isinstance(x, str) for x in e) and e[0] in table, "an unknown name")
        need(len(e) == 1 + len(table[e[0]]), "a wrong number of arguments")
        pairs = [(x, types) for x, types in zip(e[1:], table[e[0]].values(), strict=True) if x != blank]
        need(all(x in env or x in self.objects for x, _ in pairs), "an unknown variable or object")
        need(self.lenient or all(self._fits(x, t, env, blank) for x, t in pairs), "an argument of a wrong type")
        return tuple(e)

    def instances(self, e: Sexp, env: Params, more: list[tuple[str, tuple[str, ...]]]) -> tuple[Domains, Fact]:
        free = {x: () for x in e[1:] if x[:1] == "?" and x not in env}
        atom = self.terms(e, self.predicates, env | free)
        own = zip(atom[1:], self.predicates[atom[0]].values(), strict=True)
        return self.ranges({}, [*more, *(x for x in own if x[0] in free)]), atom

    def opened(self, e: Sexp) -> Iterator[Fact]:  # the facts of (predicate ?x - type ..)
        need(isinstance(e, tuple) and e and e[0] not in self.derived, "not open"); pairs = typed(e[1:], VARIABLE)
        for v, types in pairs: self.known((v, "-", ("either", *types)))
        domains, atom = self.instances((e[0], *(v for v, _ in pairs)), {}, pairs)
        return (ground(atom, b) for b in bindings(domains, {}))

    def invariant(self, keys: dict[str, Sexp]) -> Formula:
        params = keys.pop(":parameters", ()); need(len(keys) == 1, "not one thing is said"); [(kind, e)] = keys.items()
        return self._quantified("forall", params, {}, lambda env: self.formula(e, env) if kind == ":holds" else
                                ("count", COUNTS[kind], *(self.instances(atom, env, []) for atom in e)))

    def _quantified(self, op: str, variables: Sexp, env: Params, inside: Callable[[Params], Formula]) -> Formula:
        params = self.known(variables); result = inside(env | params)
        for v, objects in reversed(self.ranges(params)): result = (op, v, objects, result)
        return result

    def _number(self, e: Sexp, env: Params) -> Formula:
        match e:
            case str() if NUMBER.fullmatch(e): return "given", number(e)
            case "?duration" if e in env: return "given", e
            case ("-", x): return "-", ("given", Fraction(0)), self._number(x, env)
            case (str(op), _, _, *more) if op in ARITHMETIC and (not more or op in "+*"):
                return op, *(self._number(part, env) for part in e[1:])
        return "#", *self.terms((e,) if isinstance(e, str) else e, self.functions, env)

    def formula(self, e: Sexp, env: Params, level: str = "state") -> Formula:
        below = BELOW.get(level, level)
        match e:
            case (): return ("and",)
            case ("and", *fs): return "and", *(self.formula(f, env, level) for f in fs)
            case (("forall" | "exists") as op, variables, f) if op == "forall" or level != "timed":
                inside = level if op == "forall" else below
                return self._quantified(op, variables, env, lambda inner: self.formula(f, inner, inside))
            case ("preference", *name, f) if level in (*BELOW, "timed") and all(isinstance(x, str) for x in name):
                need(len(name) < 2, "not a preference")
                return "preference", "".join(name) or "preference", self.formula(f, env, below)
            case (("at" | "over"), str(), tuple(f)) if level == "timed" and " ".join(e[:2]) in PHASES:
                return PHASES[" ".join(e[:2])], self.formula(f, env, "goal")
            case (("=" | "<=" | ">=") as op, "?duration", x) if "?duration" in env and level in ("timed", "goal"):
                y, slack = self._number(x, env), ("given", self.tolerance)
                sides = [(c, ("given", e[1]), (s, y, slack)) for c, s in (("<=", "+"), (">=", "-")) if op in ("=", c)]
                return ("@action", ("and", *sides)) if level == "timed" else ("and", *sides)
            case _ if level == "timed": need(False, "not at start, at end or over all")
            case (("or" | "not" | "imply") as op, *fs) if len(fs) == {"not": 1, "imply": 2}.get(op, len(fs)):
                return op, *(self.formula(f, env, below) for f in fs)
            case (str(op), *_) if below == "pddl3" and op not in PDDL3 and e[:2] != ("at", "end"):
                need(False, "a constraint without temporal operator")
            case ("=", str(x), str(y)) if all(t in self.objects or t in env and t != "?duration" for t in (x, y)):
                return "same", x, y
            case (str(op), x, y) if op in COMPARE: return op, self._number(x, env), self._number(y, env)
            case (("action" | "action-end" | "action-during"), tuple(step)) if level in ("past", "future", "top"):
                return "taken", e[0], *self.terms(step, {a: x.params for a, x in self.actions.items()}, env, "_")
            case ("at", "end", tuple(f)): return self.formula(("at end", f), env, level)
            case (str(op), *fs) if op in PDDL3 or op in PAST | FUTURE and fs and all(isinstance(f, tuple) for f in fs):
                n, inner = BOUNDS.get(op, 0), "state" if below == "pddl3" else "future" if op in FUTURE else "past"
                need(ALLOWED.get(level, {}).get(op) == len(fs) - n, f"{op} cannot stand here")
                need(all(number(x) >= 0 for x in fs[:n]), "a negative time")
                return op, *map(number, fs[:n]), *(self.formula(f, env, inner) for f in fs[n:])
        return "atom", *self.terms(e, self.predicates, env)

    def _effect(self, e: Sexp, env: Params, timed: bool = False) -> Formula:
        match e:
            case () | ("and", *_): return "and", *(self._effect(part, env, timed) for part in e[1:])
            case ("forall", variables, f):
                return self._quantified("forall", variables, env, lambda inner: self._effect(f, inner, timed))
            case ("oneof", *parts) if parts and all(isinstance(part, tuple) for part in parts):
                return "oneof", next(self.oneofs), *(self._effect(part, env, timed) for part in parts)
            case ("when", condition, f):
                asked, done = self.formula(condition, env, "timed" if timed else "state"), self._effect(f, env, timed)
                late = {"@all"} | ({"@action-end"} if "@action" in operators(done) else set())
                need(not operators(asked) & late, "a condition that is read after its effect")
                return "when", asked, done
            case ("at", ("start" | "end"), tuple(f)) if timed: return PHASES[" ".join(e[:2])], self._effect(f, env)
            case _ if timed: need(False, "not at start or at end")
            case (str(op), head, x) if op in ASSIGN:
                fluent = self._number(head, env); need(fluent[0] == "#", "not a fluent")
                return op, fluent, self._number(x, env)
        kind, atom = ("del", e[1]) if isinstance(e, tuple) and len(e) == 2 and e[0] == "not" else ("add", e)
        terms = self.terms(atom, self.predicates, env)
        need(terms[0] not in self.derived, "a derived predicate in an effect or :init")
        return kind, *terms

    def _action(self, body: tuple[Sexp, ...], durative: bool) -> Action:
        asks, level = (":condition", "timed") if durative else (":precondition", "goal")
        keys = keywords(body, f":parameters {asks} :effect" + durative * " :duration"); self.oneofs = count()
        params = self.known(keys.get(":parameters", ())); env = params | {"?duration": ("",)} if durative else params
        asked = "and", *(self.formula(keys.get(k, ()), env, level) for k in (asks, ":duration"))
        return Action(params, durative, asked, self._effect(keys.get(":effect", ()), env, durative))

    def _axiom(self, body: tuple[Sexp, ...]) -> Part:
        need(len(body) == 2 and isinstance(body[0], tuple) and body[0], "not a derived predicate")
        params = self.known(body[0][1:]); name, *_ = self.terms((body[0][0], *params), self.predicates, params)
        self.derived.add(name); return name, self.ranges(params), self.formula(body[1], params)

    def _strata(self, axioms: list[Part]) -> list[list[Part]]:
        level, before = dict.fromkeys(self.derived, 0), dict[str, int]()
        used = {symbol((x,)): {symbol(f) for y, _, g in axioms if x == y for f, _ in reads(g, {})} for x in level}
        for _ in axioms: used = {name: seen.union(*(used.get(x, ()) for x in seen)) for name, seen in used.items()}
        self.behind = used  # the predicates and functions that a derived predicate depends on
        while level != before:
            before = dict(level)
            for name, _, body in axioms:
                level[name] = max(level[name], *(before[f[0]] + no for f, no in reads(body, {}) if f[0] in before), 0)
            need(max(level.values()) <= len(level), "derived predicates that are not stratified")
        return [[a for a in axioms if level[a[0]] == i] for i in sorted({*level.values()})]

    def _literal(self, e: Sexp) -> Formula:  # a fact, its negation, or the value of a fluent, as an effect
        value = isinstance(e, tuple) and len(e) == 3 and e[0] == "="
        effect = self._effect(("assign", *e[1:]) if value else e, {})
        need(effect[0] in ("add", "del") or value and effect[2][0] == "given", "not a fact"); return effect

    def _statement(self, e: Sexp) -> Formula | None:  # what :init leaves open; None if it gives a fact or a value
        def said(x: Sexp) -> Formula:
            kind, *f = self._literal(x)
            return ("=", *f) if kind == "assign" else ("atom", *f) if kind == "add" else ("not", ("atom", *f))
        match e:
            case ("unknown", (str(name), *_) as x) if name in self.predicates: return "unknown", said(x)
            case ("unknown", tuple(x)): return "unknown", said(("=", x, "0"))[1]
            case (("or" | "oneof") as op, *xs) if xs and all(isinstance(x, tuple) for x in xs):
                parts = [("and", *map(said, x[1:] if x[:1] == ("and",) else (x,))) for x in xs]
                fluents = [{f for f, _ in reads(part, {}) if f[0] == "#"} for part in parts]
                need(all(x == fluents[0] for x in fluents) and (op == "oneof" or not fluents[0]), "values of others")
                return op, *parts
            case (("<" | "<=" | ">" | ">=") as op, _, _, *more) if len(more) < 2:
                terms = [self._number(x, {}) for x in e[1:]]
                need(sorted(x[0] for x in terms) == ["#", *["given"] * len(e[2:])], "not an interval of a fluent")
                return "and", *((op, x, y) if x[0] == "#" else (TURNED[op], y, x) for x, y in pairwise(terms))
        return None

    def _initial(self, items: Sexp) -> list[tuple[Fraction, Formula]]:  # (time, effect); what is not timed has time -1
        result = list[tuple[Fraction, Formula]]()
        for e in items:
            if said := self._statement(e): self.statements.append(said); continue
            timed = isinstance(e, tuple) and len(e) == 3 and e[0] == "at" and isinstance(e[2], tuple)
            result.append((number(e[1]), self._literal(e[2])) if timed else (Fraction(-1), self._literal(e)))
            need(result[-1][0] >= 0 or not timed, "a negative time")
        done = dict[Any, Any]()  # (time, fact or fluent) -> what happens to it
        for time, (kind, fact, *rest) in result:
            key, value = ((time, fact), rest) if kind == "assign" else ((time, fact, *rest), [kind])
            need(done.setdefault(key, value) == value, "a fact and its negation, or two values, at one time")
        return result

def plain(f: Formula) -> Formula:  # connectives inside their like count as one, and one with a single part as that part
    match f:
        case ("not", ("not", g)): return plain(g)
        case (("not" | "imply" | "always") as op, *fs): return op, *map(plain, fs)
        case (("forall" | "exists") as op, v, objects, g): return op, v, objects, plain(g)
        case (("and" | "or") as op, *fs):
            parts = [h for g in map(plain, fs) for h in (g[1:] if g[0] == op else (g,))]
            return parts[0] if len(parts) == 1 else (op, *parts)
    return f

def split(f: Formula, params: Domains, trajectory: bool = False) -> Iterator[tuple[Domains, Formula]]:
    match f:  # the parts of a required (plain) formula, each with its parameters
        case ("not", ("not", g)): yield from split(g, params, trajectory)
        case ("not", ("imply", g, h)): yield from split(("and", g, ("not", h)), params, trajectory)
        case ("not", (("and" | "or") as op, *fs)):
            yield from split((DUAL[op], *(("not", g) for g in fs)), params, trajectory)
        case ("not", (("forall" | "exists") as op, v, objects, g)):
            yield from split((DUAL[op], v, objects, ("not", g)), params, trajectory)
        case ("and", *fs):
            for g in fs: yield from split(g, params, trajectory)
        case ("forall", v, o, g) if v not in dict(params): yield from split(g, (*params, (v, o)), trajectory)
        case ("always", g) if trajectory: yield from ((inner, ("always", h)) for inner, h in split(g, params))
        case _: yield params, f

def trajectory(name: str, params: Domains, f: Formula) -> Rule:
    parts = list[Part]()
    for inner, g in split(plain(f), params, True):
        occurs = g[0] == "always" and not operators(g[1]) & {*FUTURE, *WHOLE}
        parts.append(("occurrence", inner, g[1]) if occurs else ("whole", inner, g))
    return Rule(name, params, [], parts)

def constraints(f: Formula, params: Domains = ()) -> Iterator[tuple[Domains, Formula]]:
    match f:  # the conjuncts of a PDDL constraint, each with its outer variables; preferences are not among them
        case ("and", *fs) if not params or "preference" in operators(f):
            for g in fs: yield from constraints(g, params)
        case ("forall", v, objects, g) if v not in dict(params): yield from constraints(g, (*params, (v, objects)))
        case _ if f[0] != "preference": yield params, f

def specification(task: Task, text: str, opened: set[Fact], said: list[Formula]) -> Iterator[Rule]:
    names = set[str]()  # the text is expanded; ``opened`` gets the facts of open predicates, ``said`` the invariants
    sections = definition(read(text, True), "safety", ":domain :vocabulary", " ".join((*KEYS, ":open")))
    opened.update(fact for body in sections.pop(":open", []) for e in body for fact in task.opened(e))
    for kind, bodies in sections.items():
        for body in bodies if kind in KEYS else ():
            need(body and isinstance(body[0], str) and NAME.fullmatch(body[0]), "a rule without name")
            need(body[0] not in names, "a rule declared twice"); names.add(body[0])
            keys = keywords(body[1:], KEYS[kind] + META)
            if kind == ":invariant": said.append(task.invariant(keys))
            else: yield _rule(task, kind, body[0], keys)

def _rule(task: Task, kind: str, name: str, keys: dict[str, Sexp]) -> Rule:
    env = task.known(keys.get(":parameters", ()))
    if kind == ":trajectory":
        return trajectory(name, task.ranges(env), task.formula(keys.get(":formula", ""), env, "top"))
    if kind == ":obligation":
        both = [task.formula(keys.get(k, ""), env, "past") for k in (":when", ":then")]
        f = ("always-within", number(keys[":within"]), *both) if ":within" in keys else ("sometime-after", *both)
        return Rule(name, task.ranges(env), [], [("whole", task.ranges(env), f)])
    about, patterns, declared = [(STEPS[k], keys[k]) for k in keys if k in STEPS], list[tuple[str, ...]](), {*env}
    table = {a: action.params for a, action in task.actions.items()}
    for mode, step in about:
        steps = step[1:] if step[:1] == ("or",) and all(isinstance(x, tuple) for x in step[1:]) else (step,)
        need(all(isinstance(s, tuple) and s and isinstance(s[0], str) for s in steps), "not a step")
        for s in steps:
            for x, types in zip(s[1:], table.get(s[0], {}).values(), strict=False):
                if x[:1] == "?" and x not in declared: env[x] = env.get(x, ()) + types
        known = {x: types if x in declared else () for x, types in env.items()}  # others fit: the steps type them
        patterns += [(mode, *task.terms(s, table, known, "_")) for s in steps]
    when, parts = task.formula(keys.get(":when", ()), env, "past"), list[Part]()
    asks = [k for k in keys if k.startswith((":forbid", ":require"))]
    after = about and about[0][0] != "action-during"
    need(asks and len(about) < 2, "a rule that asks nothing, or is about two steps")
    need(after or not any(k.endswith("after") for k in asks), "nothing to come after")
    for key, f in ((k, task.formula(keys[k], env, "past")) for k in asks):
        for params, g in split(plain(("not", f) if key.startswith(":forbid") else f), task.ranges(env)):
            part = "match" if about else "end" if kind == ":termination" else "occurrence"
            parts.append((part, params, ("imply", when, ("next", g) if key.endswith("after") else g)))
    return Rule(name, task.ranges(env), patterns, parts)
