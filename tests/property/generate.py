"""Seeded random cases: a small typed domain, rules of every kind, and plans that wander through it.

Each stream stresses one part of the language; ``case(stream, seed, number)`` is a function of its arguments.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

from case import PREDICATES, Case, Plan, Sexp, Step
from formulas import Formulas, Scope, Style, heads, related

STREAMS = ("pddl3", "ltl", "past", "steps", "ends", "mixed", "timed", "clashes")
RULES = 24
PLANS = 4
LENGTHS = (0, 1, 2, 3, 4, 5, 6, 8, 12, 20, 30, 50)
LITERALS = ("0", "1", "2.25", "3.25", "4", "6.75", "9")  # times of timed literals


def case(stream: str, seed: int, number: int, rules: int = RULES, plans: int = PLANS) -> Case:
    """The case of a stream with this number."""
    return _Generator(stream, Random(f"{stream} {seed} {number}")).case(f"{stream}-{seed}-{number}", rules, plans)


class _Generator:
    def __init__(self, stream: str, random: Random) -> None:
        self.stream = stream
        self.random = random
        objects = [("c1", "cup"), ("c2", "cup"), ("p1", "pan")]
        objects += [("a1", "agent")] if random.random() < 0.7 else [("c3", "cup")] if random.random() < 0.3 else []
        random.shuffle(objects)
        self.objects = dict(objects)
        self.constants = frozenset(name for name in self.objects if random.random() < 0.5)
        loose = stream in ("mixed", "timed")
        self.style = Style(
            numeric=random.random() < (0.8 if self.clashes else 0.5 if loose else 0.25),
            partial=random.random() < 0.25,
            derived=random.random() < (0.7 if self.clashes else 0.4 if loose else 0.2),
            actions=stream != "pddl3" and random.random() < 0.6,
            timed=self.timed,
        )
        self.formulas = Formulas(random, self.objects, self.style)
        self.in_domain = Formulas(
            random, {name: self.objects[name] for name in self.objects if name in self.constants}, self.style
        )

    @property
    def clashes(self) -> bool:
        """Whether steps come at one time or nearly so, and read and write the same."""
        return self.stream == "clashes"

    @property
    def timed(self) -> bool:
        """Whether steps have times."""
        return self.stream == "timed" or self.clashes

    def case(self, name: str, rules: int, plans: int) -> Case:
        structures = [*self.axioms(), *self.free_actions(), *self.actions()]
        init = self.initial()
        goal: Sexp = ("and",) if self.random.random() < 0.6 else self.formulas.formula(2, {})
        laws = [self.constraint(self.in_domain) for _ in range(self.random.choice((0, 0, 1, 2)))]
        many = self.stream in ("pddl3", "mixed") or self.timed
        count = self.random.choice((1, 2, 3, 4, 5) if many else (0, 0, 1))
        constraints = [self.constraint(self.formulas) for _ in range(count)]
        specification = [self.rule(f"rule-{i}") for i in range(rules - len(laws) - len(constraints))]
        return Case(
            name,
            tuple(self.objects.items()),
            self.constants,
            tuple(structures),
            tuple(init),
            goal,
            tuple(laws),
            tuple(constraints),
            tuple(specification),
            tuple(self.plan() for _ in range(plans)),
        )

    # -- the domain ---------------------------------------------------------------------------------------------------

    def axioms(self) -> list[Sexp]:
        """Derived predicates: one over basic facts alone, one recursive, one that may use both."""
        if not self.style.derived:
            return []
        plain = Formulas(self.random, self.in_domain.objects, self.style._replace(derived=False))
        path = ("exists", ("?z", "-", "object"), ("and", ("r", "?x", "?z"), ("e", "?z", "?y")))
        return [
            (":derived", ("d", "?x", "-", "object"), plain.formula(2, {"?x": "object"})),
            (":derived", ("e", "?x", "?y", "-", "object"), ("or", ("r", "?x", "?y"), path)),
        ]

    def free_actions(self) -> list[Sexp]:
        """Actions without precondition that set and clear each basic predicate, so that plans wander freely."""
        out: list[Sexp] = []
        for name in ("p", "q", "r", "s", "n"):
            declared = PREDICATES[name]
            atom = (name, *[word for word in declared[1:] if word.startswith("?")])
            effects: list[tuple[str, Sexp]] = [("set", atom), ("clear", ("not", atom))]
            for verb, effect in effects:
                out.append((":action", f"{verb}-{name}", ":parameters", declared[1:], ":effect", effect))
                self.declare(f"{verb}-{name}", heads(declared))
        if self.random.random() < 0.4:
            out.append((":action", "set-some", ":parameters", (), ":effect", self.named_objects({})))
            self.declare("set-some", [])
        if self.style.numeric:
            for verb in ("assign", "increase", "decrease", "scale-down"):
                amount = self.random.choice(("0", "1", "2", "0.5")) if verb != "scale-down" else "2"
                change: Sexp = (verb, ("f", "?x"), amount)
                out.append((":action", f"{verb}-f", ":parameters", ("?x", "-", "object"), ":effect", change))
                self.declare(f"{verb}-f", ["object"])
        return out

    def declare(self, name: str, types: list[str]) -> None:
        """An action that formulas and plans may name."""
        self.formulas.actions[name] = types
        self.in_domain.actions[name] = types

    def actions(self) -> list[Sexp]:
        """Actions with random preconditions and effects; timed cases also have durative actions."""
        out: list[Sexp] = []
        for name in ("do", "make", "turn")[: self.random.randint(1, 3)]:
            scope, declared = self.parameters(self.random.choice((0, 1, 1, 2)))
            effect = ("and", *[self.effect(scope, 2) for _ in range(self.random.randint(0, 4))])
            parts: list[Sexp] = [":action", name, ":parameters", declared, ":effect", effect]
            if self.random.random() < 0.7:
                condition = self.in_domain.formula(2, scope)
                if self.clashes and self.random.random() < 0.3:
                    wish = ("preference", f"wish-{self.random.randint(1, 3)}", self.in_domain.formula(1, scope))
                    condition = ("and", condition, wish)
                parts += [":precondition", condition]
            out.append(tuple(parts))
            self.declare(name, [*scope.values()])
        if self.timed:
            out += [self.durative(name) for name in ("heat", "wait")]
        return out

    def durative(self, name: str) -> Sexp:
        scope, declared = self.parameters(self.random.choice((0, 1, 1, 2)))
        low, high = self.random.choice((("1", "3"), ("0.5", "4"), ("2", "2")))
        if self.clashes:
            low = high if low == high else "0"
        duration: Sexp = ("and", (">=", "?duration", low), ("<=", "?duration", high))
        if low == high:
            duration = ("=", "?duration", low)
        if self.clashes and self.style.numeric and self.random.random() < 0.4:
            bound: Sexp = (self.random.choice(("<=", ">=")), "?duration", self.in_domain.number(scope))
            duration = ("and", duration, ("at", self.random.choice(("start", "end")), bound))
        condition: list[Sexp] = []
        for phase, chance in ((("at", "start"), 0.3), (("over", "all"), 0.3), (("at", "end"), 0.2)):
            if self.random.random() < chance:
                condition.append((*phase, self.in_domain.formula(1, scope)))
            if self.clashes and self.random.random() < 0.08:
                inner = {**scope, "?z": "thing"} if self.random.random() < 0.3 else scope
                wish: Sexp = (*phase, self.in_domain.formula(1, inner))
                wish = ("preference", f"wish-{self.random.randint(1, 3)}", wish)
                condition.append(wish if inner is scope else ("forall", ("?z", "-", "thing"), wish))
        effect: list[Sexp] = [("at", self.random.choice(("start", "end")), self.effect(scope, 1)) for _ in range(3)]
        if self.clashes and self.random.random() < 0.6:
            effect.append(self.late_effect(scope))
        self.declare(name, [*scope.values()])
        self.formulas.durative.append(name)
        head: tuple[Sexp, ...] = (":durative-action", name, ":parameters", declared, ":duration", duration)
        return (*head, ":condition", ("and", *condition), ":effect", ("and", *effect))

    def late_effect(self, scope: Scope) -> Sexp:
        """An effect at the end, under a condition at the start, and perhaps one at the end; for one thing or all."""
        inner = {**scope, "?z": "thing"} if self.random.random() < 0.4 else scope
        conditions: list[Sexp] = [("at", "start", self.in_domain.formula(1, inner))]
        if self.random.random() < 0.5:
            conditions.append(("at", "end", self.in_domain.formula(1, inner)))
        effect: Sexp = ("when", ("and", *conditions), ("at", "end", self.effect(inner, 0)))
        return effect if inner is scope else ("forall", ("?z", "-", "thing"), effect)

    def parameters(self, count: int) -> tuple[Scope, Sexp]:
        """Variables ?x ?y with types."""
        scope = {v: self.random.choice(("object", "object", "thing", "cup", "agent")) for v in ("?x", "?y")[:count]}
        return scope, tuple(word for v, kind in scope.items() for word in (v, "-", kind))

    def effect(self, scope: Scope, depth: int) -> Sexp:
        """An effect: a literal, change, condition or quantifier."""
        if depth and self.random.random() < 0.1:
            return self.named_objects(scope)
        roll = self.random.random()
        if depth and roll < 0.15:
            return ("when", self.in_domain.formula(1, scope), self.effect(scope, depth - 1))
        if depth and roll < 0.3:
            kind = self.random.choice(("object", "thing", "cup"))
            return ("forall", ("?z", "-", kind), self.effect({**scope, "?z": kind}, depth - 1))
        if self.style.numeric and roll < 0.45:
            verb = self.random.choice(("increase", "decrease", "assign", "scale-up", "scale-down"))
            return (verb, self.in_domain.fluent(scope), self.in_domain.number(scope))
        atom = self.in_domain.atom(scope, self.in_domain.basic)
        return ("not", atom) if self.random.random() < 0.5 else atom

    def named_objects(self, scope: Scope) -> Sexp:
        """An effect on the objects that a condition names; the outcomes of a ``oneof`` below ``forall`` become such."""
        random, kind = self.random, self.random.choice(("object", "thing", "cup"))
        inner = {**scope, "?z": kind}
        terms = [*scope, *self.in_domain.objects] or ["?z"]
        condition: Sexp = ("or", *[("=", "?z", random.choice(terms)) for _ in range(random.choice((1, 2, 2, 3)))])
        if random.random() < 0.2:
            condition = ("not", condition)
        if random.random() < 0.3:
            condition = ("and", condition, self.in_domain.formula(0, inner))
        effects = [("when", condition, self.effect({"?z": kind}, 0)) for _ in range(random.choice((1, 1, 2)))]
        return ("forall", ("?z", "-", kind), effects[0] if len(effects) == 1 else ("and", *effects))

    def initial(self) -> list[Sexp]:
        """Facts, some numbers, and in timed cases timed literals."""
        ground = Formulas(self.random, self.objects, self.style)
        out: list[Sexp] = [*{ground.atom({}, ground.basic) for _ in range(self.random.randint(0, 8))}]
        out.sort()
        if self.style.numeric:
            fluents = [*[("f", name) for name in self.objects], ("g",)]
            defined = [fluent for fluent in fluents if not self.style.partial or self.random.random() < 0.8]
            out += [("=", fluent, self.random.choice(("0", "1", "2", "-1", "0.5"))) for fluent in defined]
        if self.timed:
            for _ in range(self.random.randint(0, 4)):
                fact: Sexp = ground.atom({}, ground.basic)
                if self.random.random() < 0.4:
                    fact = ("not", fact)
                elif self.style.numeric and self.random.random() < 0.3:
                    fact = ("=", ground.fluent({}), "1")
                times = ("0", "1", "1.5", "2.0005", "3", "4.0005", "5") if self.clashes else LITERALS
                time = self.random.choice(times)
                opposite = fact[1] if fact[0] == "not" else ("not", fact)
                if ("at", time, opposite) not in out:  # contradictions are rejected
                    out.append(("at", time, fact))
        return out

    # -- rules --------------------------------------------------------------------------------------------------------

    def constraint(self, formulas: Formulas) -> Sexp:
        """A PDDL constraint: operators over state formulas, conjunctions, quantifiers and preferences around."""
        scope: Scope = {}
        variables: list[Sexp] = []
        for _ in range(self.random.choice((0, 0, 1, 1, 2))):
            kind = self.random.choice(("object", "thing", "cup", "agent"))
            variables.append((f"?v{len(scope)}", "-", kind))
            scope[f"?v{len(scope)}"] = kind
        body = formulas.operator(self.random.randint(0, 2), scope, "state")
        roll = self.random.random()
        if roll < 0.12:
            body = ("and", body, formulas.operator(1, scope, "state"))
        elif roll < 0.2:
            body = ("preference", f"wish-{self.random.randint(1, 3)}", body)
        for variable in reversed(variables):
            body = ("forall", variable, body)
        return body

    def rule(self, name: str) -> Sexp:
        """A rule of a kind that the stream favours."""
        kinds = {
            "pddl3": ("pddl3",),
            "ltl": ("ltl",),
            "past": ("process", "process", "always-past", "always-past", "pddl3-past"),
            "steps": ("step",),
            "ends": ("termination", "obligation"),
            "mixed": ("top", "process", "step", "termination", "obligation", "pddl3-past"),
            "timed": ("timed-step", "step", "pddl3-past", "process", "top", "termination", "obligation"),
            "clashes": ("timed-step", "step", "process", "obligation"),
        }[self.stream]
        kind = self.random.choice(kinds)
        scope, declared = self.rule_parameters()
        head: tuple[Sexp, ...] = (name, ":parameters", declared) if scope else (name,)
        formulas, depth = self.formulas, self.random.randint(1, 4)
        match kind:
            case "pddl3" | "pddl3-past":
                level = "state" if kind == "pddl3" else "past"
                return (":trajectory", *head, ":formula", formulas.operator(min(depth - 1, 2), scope, level))
            case "ltl":
                return (":trajectory", *head, ":formula", formulas.formula(depth, scope, "future"))
            case "always-past":
                return (":trajectory", *head, ":formula", ("always", formulas.formula(depth - 1, scope, "past")))
            case "top":
                return (":trajectory", *head, ":formula", formulas.top(depth, scope))
            case "process" | "termination":
                return (f":{kind}", *head, *self.demands(scope, min(depth, 3), (":forbid", ":require")))
            case "obligation":
                within: tuple[Sexp, ...] = (":within", formulas.bound()) if self.random.random() < 0.6 else ()
                both = [formulas.formula(self.random.randint(0, 2), scope, "past") for _ in range(2)]
                return (":obligation", *head, ":when", both[0], ":then", both[1], *within)
            case _:
                return self.step_rule(head, scope, kind == "timed-step")

    def rule_parameters(self) -> tuple[Scope, Sexp]:
        """Parameters ?x ?y with types, alternatives among them."""
        scope: Scope = {}
        words: list[Sexp] = []
        for variable in ("?x", "?y")[: self.random.choice((0, 1, 1, 1, 2))]:
            kind = self.random.choice(("object", "thing", "cup", "agent", "cup|agent"))
            scope[variable] = kind
            words += [variable, "-", ("either", *kind.split("|")) if "|" in kind else kind]
        return scope, tuple(words)

    def demands(self, scope: Scope, depth: int, keys: tuple[str, ...]) -> list[Sexp]:
        """Some of the keys with formulas, and a condition at times."""
        out: list[Sexp] = []
        for key in self.random.sample(keys, self.random.choice((1, 1, 1, 2))):
            out += [key, self.formulas.formula(depth, scope, "past")]
        if self.random.random() < 0.4:
            out += [":when", self.formulas.formula(self.random.randint(0, 2), scope, "past")]
        return out

    def step_rule(self, head: tuple[Sexp, ...], scope: Scope, timed: bool) -> Sexp:
        """A process rule about a step, its variables declared or taken from the action."""
        formulas = self.formulas
        key, names = ":on", [*formulas.actions]
        if timed:
            key, names = self.random.choice((":on", ":at-end", ":during")), formulas.durative
        inner = dict(scope)

        def pattern() -> Sexp:
            name = self.random.choice(names)
            words = [name]
            for kind in formulas.actions[name]:
                fitting = [
                    v for v, declared in inner.items() if declared == kind or (v in scope and related(declared, kind))
                ]
                roll = self.random.random()
                if fitting and roll < 0.55:
                    words.append(self.random.choice(fitting))
                elif roll < 0.85:
                    variable = f"?w{len(inner)}"
                    inner[variable] = kind
                    words.append(variable)
                else:
                    words.append(formulas.term(kind, {}) or "_" if roll < 0.93 else "_")
            return tuple(words)

        step = pattern()
        if self.random.random() < 0.15:
            # The second alternative may only name variables that the first binds.
            bound = {*step, *scope}
            alternative = pattern()
            fresh = {word for word in alternative if isinstance(word, str) and word.startswith("?")} - bound
            if not fresh and step[0] != alternative[0]:
                step = ("or", step, alternative)
            else:
                inner = {v: kind for v, kind in inner.items() if v in bound}
        keys = (":forbid", ":require", ":forbid-after", ":require-after")
        demands = self.demands(inner, self.random.randint(0, 3), keys if key != ":during" else keys[:2])
        return (":process", *head, key, step, *demands)

    # -- plans --------------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        """A random walk; some steps have preconditions, and a few are ill-formed."""
        length = self.random.choice(LENGTHS)
        risk = 0.5 if self.clashes else self.random.choice((0, 0, 0, 0.03, 0.1, 0.3))
        free = [action for action in self.formulas.actions if "-" in action]
        risky = [action for action in self.formulas.actions if "-" not in action]
        steps: list[Step] = []
        time = Fraction(self.random.choice((0, 1, 1)))
        for _ in range(length):
            name = self.random.choice(risky if self.random.random() < risk else free)
            if self.timed and self.random.random() < 0.3:
                name = self.random.choice(self.formulas.durative)
            objects = [self.formulas.term(kind, {}) for kind in self.formulas.actions[name]]
            if None in objects:
                continue
            words = (name, *[argument for argument in objects if argument is not None])
            if self.random.random() < 0.002:
                words = self.random.choice(((*words, "c1"), ("no-such-action",), ("set-q", "nothing")))
            if not self.timed:
                steps.append(Step(words))
                continue
            duration = Fraction(self.random.choice(("1", "2", "2", "2.5", "3", "0.5")))
            if self.clashes:
                duration = Fraction(self.random.choice(("0", "0.0005", "0.5", "1", "1.5", "2", "2")))
            steps.append(Step(words, time, duration if name in self.formulas.durative else None))
            if self.clashes:
                time += Fraction(self.random.choice(("0", "0", "0", "0.0005", "0.5", "0.5", "1")))
                continue
            time += Fraction(self.random.choice(("0.25", "0.5", "0.75", "1", "1", "1.5", "3")))
            if self.random.random() < 0.05:
                time = max(steps[-1].time or Fraction(0), time - Fraction(self.random.choice(("1", "0.9995"))))
        return tuple(steps)
