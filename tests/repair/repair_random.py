"""Seeded random tasks with a plan that is mostly unsafe and mostly repairable by one or two edits.

A random walk makes a plan, its end the goal; rules are drawn so that most are kept by the walk and some are broken by
the damage that follows: a few random edits, some to steps that do not exist. ``task(seed, number)`` is a function of
its arguments.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from random import Random

from repair_oracle import GOOD, KernelTask, list_edit_counts
from repair_task import UNIT, Cost, Sexp, Task, normal, parameters, read, write

from plansafe.verifier.kernel import Finding
from plansafe.verifier.rules.verdict_criteria import SEVERITIES

Scope = dict[str, str]  # variables with their types

TYPES = (("item", "object"), ("place", "object"), ("cup", "item"))
PREDICATES = {
    "on": ("item",),
    "clean": ("item",),
    "held": ("item",),
    "fit": ("item",),
    "open": ("place",),
    "here": ("place",),
    "in": ("item", "place"),
    "free": (),
}
STATIC = ("fit",)
DERIVED = """
(:derived (lit) (exists (?x - item) (on ?x)))
(:derived (tidy ?x - item) (and (clean ?x) (not (held ?x))))
(:derived (lit) (and (free) (exists (?y - place) (open ?y))))
(:derived (tidy ?x - item) (or (not (on ?x)) (and (free) (tidy ?x))))
"""
POOL = """
(turn-on (?x - item) (not (on ?x)) (on ?x))
(turn-on (?x - item) (and (fit ?x) (not (on ?x))) (on ?x))
(turn-off (?x - item) (on ?x) (not (on ?x)))
(flip (?x - item) (fit ?x) (and (when (on ?x) (not (on ?x))) (when (not (on ?x)) (on ?x))))
(wash (?x - item) (held ?x) (clean ?x))
(wash (?x - cup) (and (held ?x) (fit ?x)) (and (clean ?x) (not (on ?x))))
(wash (?x - item) (or (held ?x) (on ?x)) (clean ?x))
(soil (?x - item) (clean ?x) (and (not (clean ?x)) (on ?x)))
(grab (?x - item) (and (free) (not (held ?x))) (and (held ?x) (not (free))))
(grab (?x - item ?y - place) (and (free) (in ?x ?y)) (and (held ?x) (not (free)) (not (in ?x ?y))))
(drop (?x - item) (held ?x) (and (not (held ?x)) (free)))
(drop (?x - item ?y - place) (held ?x) (and (not (held ?x)) (free) (in ?x ?y)))
(drop (?x - item ?y - place) (and (held ?x) (here ?y)) (and (not (held ?x)) (free) (in ?x ?y)))
(open (?y - place) (and (free) (not (open ?y))) (open ?y))
(close (?y - place) (open ?y) (not (open ?y)))
(go (?y - place) (not (here ?y)) (and (here ?y) (forall (?z - place) (when (here ?z) (not (here ?z))))))
(go (?y - place) (or (free) (open ?y)) (and (here ?y) (forall (?z - place) (not (here ?z)))))
(reset () (exists (?x - item) (on ?x)) (forall (?x - item) (not (on ?x))))
(air () (and (free) (forall (?x - item) (not (on ?x)))) (forall (?y - place) (open ?y)))
(rest () (imply (free) (exists (?x - item) (clean ?x))) (and (free) (forall (?x - item) (not (held ?x)))))
(bless (?x - item ?z - item) (and (clean ?x) (not (= ?x ?z))) (and (clean ?z) (not (on ?x))))
(bless (?x - item ?z - item) (and (on ?x) (not (on ?z))) (and (on ?z) (not (on ?x))))
"""
WITH_DERIVED = """
(wash (?x - item) (and (held ?x) (lit)) (clean ?x))
(reset () (lit) (forall (?x - item) (not (on ?x))))
(drop (?x - item) (and (held ?x) (not (lit))) (and (not (held ?x)) (free)))
(soil (?x - item) (tidy ?x) (and (not (clean ?x)) (on ?x)))
(rest () (forall (?x - item) (tidy ?x)) (free))
"""
WITH_NUMBERS = """
(fill () (< (level) 3) (increase (level) 1))
(wash (?x - item) (> (level) 0) (and (clean ?x) (decrease (level) 1)))
(pour (?y - place) (>= (level) 2) (and (open ?y) (assign (level) 0)))
(load (?x - item) (<= (+ (level) (size ?x)) 3) (and (on ?x) (increase (level) (size ?x))))
(unload (?x - item) (on ?x) (and (not (on ?x)) (decrease (level) (size ?x))))
"""
WEIGHTS: tuple[tuple[tuple[Cost, ...], Cost], ...] = (
    ((2, 1, 1, 1), 2),
    ((1, 2, 1, 1), 2),
    ((1, 1, 2, 1), 2),
    ((1, 1, 1, 2), 2),
    ((1, 3, 3, 1), 2),
    ((Fraction(1, 2), 2, 1, Fraction(3, 2)), 1),
    ((1, Fraction(1, 2), Fraction(3, 2), 1), Fraction(3, 2)),
    ((2, 3, 3, 2), 5),
)
OPERATORS = (
    *("at-end", "always", "sometime", "within", "at-most-once", "sometime-after", "sometime-before"),
    *("always-within", "hold-during", "hold-after"),
)
MOST_SCRIPTS = 40_000


def parse_expressions(text: str) -> list[Sexp]:
    """The expressions of a text, one per line."""
    return [read(line) for line in text.strip().splitlines()]


def task(seed: int, number: int, judge: str = "all", min_severity: str = "low", exempt: bool = False) -> Task:
    """The task with this number and these criteria of the verdict; ``exempt`` exempts about half of the rules."""
    attempt = 0
    while True:
        generated = _Generator(Random(f"repair {seed} {number} {attempt}"), judge, min_severity).task()
        if generated is not None and estimate_script_count(generated) <= MOST_SCRIPTS:
            random = Random(f"exempt {seed} {number}")
            chosen = [str(rule[1]) for rule in generated.rules if random.random() < 0.5]
            return generated._replace(exempt=frozenset(chosen)) if exempt else generated
        attempt += 1


def estimate_script_count(candidate: Task) -> int:
    """An estimate of the number of edit scripts that cost at most the bound."""
    step_count, action_count = len(candidate.plan), len(candidate.ground_steps())
    total = 0
    for level in list_edit_counts(candidate).values():
        for inserted, deleted, substituted, moved in level:
            places = 1
            for k in range(inserted + moved):
                places *= step_count - deleted - moved + 1 + k
            lost = comb(step_count, deleted) * comb(step_count, substituted) * comb(step_count, moved)
            total += lost * action_count**substituted * comb(action_count + inserted - 1, inserted) * places
    return total


class _Generator:
    def __init__(self, random: Random, judge: str, min_severity: str) -> None:
        self.random = random
        self.judge = judge
        self.min_severity = min_severity
        self.style = random.choice(("strips", "strips", "adl", "adl", "adl", "derived", "numbers"))
        shape = random.choice(((2, 1), (2, 1), (3, 0), (2, 2), (1, 2), (1, 1)))
        cup = random.random() < 0.7
        items = [(f"i{k}", "cup" if cup and k == 1 else "item") for k in range(1, shape[0] + 1)]
        self.objects = (*items, *[(f"r{k}", "place") for k in range(1, shape[1] + 1)])
        self.above = {"item": ("item",), "cup": ("cup", "item"), "place": ("place",)}
        self.actions: tuple[Sexp, ...] = ()
        self.names: dict[str, list[str]] = {}  # of actions, with their parameters' types

    def task(self) -> Task | None:
        """A task, or None if this attempt failed."""
        self.actions = self.some_actions()
        base = self.bare()
        if not 4 <= len(base.ground_steps()) <= 14:
            return None
        self.names = {str(action[1]): [kind for _, kind in parameters(action[3])] for action in self.actions}
        walk = self.walk(base)
        if walk is None:
            return None
        world, plan = walk
        base = base._replace(plan=tuple(plan), goal=self.goal(world, plan))
        base = base._replace(plan=self.damage_plan(base, self.random.choice((1, 1, 1, 2, 2, 2, 2, 2, 2, 3))))
        draft = self.finish_task(self.with_rules(base, plan))
        safe = KernelTask(draft).kernel.audit(draft.plan_text()).headline in GOOD
        return None if safe and self.random.random() < 0.8 else draft

    def bare(self) -> Task:
        """The task without goal, rules and plan."""
        predicates: list[Sexp] = [
            (
                name,
                *[word for variable, kind in zip(("?x", "?y"), kinds, strict=False) for word in (variable, "-", kind)],
            )
            for name, kinds in PREDICATES.items()
        ]
        axioms: list[Sexp] = []
        if self.style == "derived":
            for head in ("lit", "tidy"):
                both = [axiom for axiom in parse_expressions(DERIVED) if axiom[1][0] == head]
                axioms += self.random.sample(both, self.random.choice((1, 1, 2)))
            predicates += [("lit",), ("tidy", "?x", "-", "item")]
        init: list[Sexp] = []
        for name, kinds in PREDICATES.items():
            chance = {"free": 0.8, "fit": 0.7, "here": 0.5, "in": 0.5}.get(name, 0.25)
            init += [(name, *objects) for objects in self.tuples(kinds) if self.random.random() < chance]
        functions: tuple[Sexp, ...] = ()
        if self.style == "numbers":
            functions = (("level",), ("size", "?x", "-", "item"))
            init.append(("=", ("level",), self.random.choice(("0", "1", "2"))))
            init += [("=", ("size", name), self.random.choice(("1", "2"))) for name in self.of_type("item")]
        return Task(
            types=TYPES,
            objects=self.objects,
            predicates=tuple(predicates),
            functions=functions,
            axioms=tuple(axioms),
            actions=self.actions,
            init=tuple(init),
            goal=("and",),
            constraints=(),
            rules=(),
            plan=(),
        )

    def tuples(self, kinds: tuple[str, ...]) -> list[tuple[str, ...]]:
        """All objects of these types."""
        out: list[tuple[str, ...]] = [()]
        for kind in kinds:
            out = [(*objects, last) for objects in out for last in self.of_type(kind)]
        return out

    def of_type(self, kind: str) -> list[str]:
        """The objects of a type."""
        return [name for name, object_type in self.objects if kind in self.above[object_type]]

    # -- the domain ---------------------------------------------------------------------------------------------------

    def some_actions(self) -> tuple[Sexp, ...]:
        """Three to five actions, from the pool or made at random."""
        pool = [line for line in parse_expressions(POOL) if self.style != "strips" or self.plain(line)]
        special = {"derived": WITH_DERIVED, "numbers": WITH_NUMBERS}.get(self.style, "")
        chosen: dict[str, Sexp] = {}
        for line in self.random.sample(parse_expressions(special), 2) if special else []:
            chosen[str(line[0])] = line
        size = self.random.choice((3, 3, 4, 4, 5))
        while len(chosen) < size:
            line = self.random.choice(pool) if self.random.random() < 0.75 else self.invented(len(chosen))
            chosen.setdefault(str(line[0]), line)
        return tuple(
            (":action", name, ":parameters", declared, ":precondition", condition, ":effect", effect)
            for name, declared, condition, effect in chosen.values()
        )

    def plain(self, line: Sexp) -> bool:
        """Whether an action of the pool has conjunctions of literals alone."""
        words = write(line).replace("(", " ").replace(")", " ").split()
        return not {"or", "imply", "forall", "exists", "when", "="} & set(words)

    def invented(self, number: int) -> Sexp:
        """A random action."""
        kinds = self.random.choice(((), ("item",), ("item",), ("place",), ("item", "place")))
        scope = dict(zip(("?x", "?y"), kinds, strict=False))
        declared = tuple(word for variable, kind in scope.items() for word in (variable, "-", kind))
        effects = [self.literal(scope, changing=True) for _ in range(self.random.choice((1, 1, 2, 3)))]
        if self.style != "strips" and self.random.random() < 0.3:
            effects[-1] = ("when", self.literal(scope), effects[-1])
        depth = 1 if self.style == "strips" else self.random.choice((1, 2))
        condition: Sexp = ("and", *[self.literal(scope) for _ in range(self.random.choice((0, 1, 2)))])
        if depth == 2:
            condition = ("and", *condition[1:], self.state(1, scope, local=True))
        return (f"do-{number}", declared, condition, ("and", *effects))

    # -- formulas -----------------------------------------------------------------------------------------------------

    def atom(self, scope: Scope, changing: bool = False, local: bool = True) -> Sexp:
        """An atom with variables in scope; unless ``local``, also with objects of the problem."""
        names = [name for name in PREDICATES if not (changing and name in STATIC)]
        if self.style == "derived" and not changing:
            names += ["lit", "tidy"]
        while True:
            name = self.random.choice(names)
            terms = []
            for kind in {"lit": (), "tidy": ("item",)}.get(name) or PREDICATES.get(name, ()):
                options = [variable for variable, object_type in scope.items() if kind in self.above[object_type]]
                if not local and (not options or self.random.random() < 0.25):
                    options = options + self.of_type(kind)
                terms.append(self.random.choice(options) if options else "")
            if "" not in terms:
                return (name, *terms)

    def literal(self, scope: Scope, changing: bool = False, local: bool = True) -> Sexp:
        """An atom or its negation."""
        atom = self.atom(scope, changing, local)
        return ("not", atom) if self.random.random() < 0.4 else atom

    def state(self, depth: int, scope: Scope, local: bool = False) -> Sexp:
        """A condition."""
        roll = self.random.random()
        if depth == 0 or roll < 0.4:
            if self.style == "numbers" and roll < 0.15:
                return (self.random.choice(("<", ">=", ">")), ("level",), self.random.choice(("1", "2", "3")))
            return self.literal(scope, local=local)
        if roll < 0.75:
            op = self.random.choice(("and", "or", "or", "imply"))
            return (op, self.state(depth - 1, scope, local), self.state(depth - 1, scope, local))
        if roll < 0.9:
            kind = self.random.choice(("item", "item", "place", "cup"))
            variable = f"?q{len(scope)}"
            op = self.random.choice(("forall", "exists"))
            return (op, (variable, "-", kind), self.state(depth - 1, {**scope, variable: kind}, local))
        terms = [name for name, kind in scope.items() if kind != "place"]
        if not local:
            terms += self.of_type("item")
        if len(terms) < 2:
            return ("not", self.state(depth - 1, scope, local))
        return ("=", *self.random.sample(terms, 2))

    def past(self, depth: int, scope: Scope) -> Sexp:
        """A past formula."""
        roll = self.random.random()
        if depth == 0 or roll < 0.35:
            return self.action(scope) if roll < 0.08 else self.state(min(depth, 1), scope)
        if roll < 0.55:
            op = self.random.choice(("and", "or", "imply"))
            return (op, self.past(depth - 1, scope), self.past(depth - 1, scope))
        if roll < 0.7:
            return ("since", self.past(depth - 1, scope), self.past(depth - 1, scope))
        op = self.random.choice(("once", "once", "historically", "yesterday", "weak-yesterday", "not"))
        return (op, self.past(depth - 1, scope))

    def future(self, depth: int, scope: Scope) -> Sexp:
        """A formula of LTLf."""
        roll = self.random.random()
        if depth == 0 or roll < 0.25:
            return self.action(scope) if roll < 0.06 else self.state(min(depth, 1), scope)
        if roll < 0.45:
            op = self.random.choice(("and", "or", "imply"))
            return (op, self.future(depth - 1, scope), self.future(depth - 1, scope))
        if roll < 0.65:
            op = self.random.choice(("until", "release", "sometime-after"))
            return (op, self.future(depth - 1, scope), self.future(depth - 1, scope))
        op = self.random.choice(("next", "weak-next", "always", "sometime", "sometime", "not"))
        return (op, self.future(depth - 1, scope))

    def action(self, scope: Scope) -> Sexp:
        """A formula that holds if an action is taken."""
        name = self.random.choice([*self.names])
        terms = []
        for kind in self.names[name]:
            options = [
                variable for variable, object_type in scope.items() if kind in self.above[object_type]
            ] + self.of_type(kind)
            terms.append(self.random.choice([*options, "_"]))
        return ("action", (name, *terms))

    def operator(self, scope: Scope) -> Sexp:
        """A PDDL3 operator over conditions."""
        name = self.random.choice(OPERATORS)
        first_condition, second_condition = self.state(1, scope), self.state(1, scope)
        bound = self.random.randint(1, 5)
        match name:
            case "at-end":
                return ("at", "end", first_condition)
            case "within" | "hold-after":
                return (name, str(bound), first_condition)
            case "hold-during":
                return (name, str(bound - 1), str(bound + self.random.randint(0, 3)), first_condition)
            case "always-within":
                return (name, str(bound), first_condition, second_condition)
            case "sometime-after" | "sometime-before":
                return (name, first_condition, second_condition)
        return (name, first_condition)

    # -- rules --------------------------------------------------------------------------------------------------------

    def rule(self, name: str) -> Sexp:
        """A rule of any kind."""
        kind = self.random.choice(("state", "state", "step", "step", "end", "end", "duty", "whole", "ltl"))
        scope: Scope = {}
        for variable in ("?a", "?b")[: self.random.choice((0, 1, 1, 1, 2))]:
            scope[variable] = self.random.choice(("item", "item", "place", "cup"))
        declared: Sexp = tuple(word for name, object_type in scope.items() for word in (name, "-", object_type))
        head: tuple[Sexp, ...] = (name, ":parameters", declared) if scope else (name,)
        match kind:
            case "state":
                return (":process", *head, *self.demands(scope, (":forbid", ":require")))
            case "end":
                return (":termination", *head, *self.demands(scope, (":forbid", ":require"), 1))
            case "duty":
                within: tuple[Sexp, ...] = (":within", str(self.random.randint(0, 4)))
                both = [self.past(self.random.choice((0, 0, 1)), scope) for _ in range(2)]
                duty = (":obligation", *head, ":when", both[0], ":then", both[1])
                return (*duty, *within) if self.random.random() < 0.6 else duty
            case "whole":
                return (":trajectory", *head, ":formula", self.operator(scope))
            case "ltl":
                return (":trajectory", *head, ":formula", self.future(self.random.choice((1, 2, 3)), scope))
        name = self.random.choice([*self.names])
        terms = []
        for i, kind in enumerate(self.names[name]):
            fitting = [variable for variable, object_type in scope.items() if kind in self.above[object_type]]
            roll = self.random.random()
            if fitting and roll < 0.5:
                terms.append(self.random.choice(fitting))
            elif roll < 0.85:
                terms.append(f"?w{i}")
                scope[f"?w{i}"] = kind
            else:
                terms.append(self.random.choice([*self.of_type(kind), "_"]))
        demand = self.demands(scope, (":forbid", ":require", ":forbid-after", ":require-after"))
        return (":process", *head, ":on", (name, *terms), *demand)

    def demands(self, scope: Scope, keys: tuple[str, ...], depth: int = 2) -> list[Sexp]:
        """The condition of a rule, sometimes with a guard."""
        out: list[Sexp] = []
        for key in self.random.sample(keys, self.random.choice((1, 1, 1, 2))):
            out += [key, self.past(self.random.randint(0, depth), scope)]
        if self.random.random() < 0.35:
            out += [":when", self.past(self.random.choice((0, 0, 1)), scope)]
        return out

    def with_rules(self, damaged: Task, plan: list[str]) -> Task:
        """Rules and constraints that the walk mostly satisfies, preferably ones that the damaged plan violates."""
        rules = [self.rule(f"rule-{i}") for i in range(9)]
        constraints = [self.operator({}) for _ in range(2)]
        if self.min_severity != "low":
            rules = [(*rule, ":severity", self.random.choice(SEVERITIES)) for rule in rules]
        full = damaged._replace(
            rules=tuple(rules), constraints=tuple(constraints), judge=self.judge, min_severity=self.min_severity
        )
        world = KernelTask(full)
        texts = ["\n".join(plan), full.plan_text()]
        generated = [
            [finding for finding in world.kernel.audit(text).findings if "halt" in finding.readings] for text in texts
        ]
        if self.judge == "introduced":
            return full._replace(rules=self._early(rules, *generated), constraints=())
        before, after = [{finding.rule for finding in findings} for findings in generated]
        telling = [rule for rule in rules if rule[1] not in before and rule[1] in after]
        kept_rules = [rule for rule in rules if rule[1] not in before and rule[1] not in after]
        broken = [rule for rule in rules if rule[1] in before]
        out = self.random.sample(telling, min(len(telling), self.random.choice((0, 1, 1, 2))))
        out += self.random.sample(kept_rules, min(len(kept_rules), self.random.choice((0, 1, 1, 2))))
        out += self.random.sample(broken, min(len(broken), int(self.random.random() < 0.07)))
        laws = [
            law
            for i, law in enumerate(constraints, 1)
            if self.random.random() < (0.02 if f"constraint-{i}" in before else 0.3)
        ]
        return full._replace(rules=tuple(out), constraints=tuple(laws))

    def _early(self, rules: list[Sexp], before: list[Finding], after: list[Finding]) -> tuple[Sexp, ...]:
        """Rules, some violated before the plan and some by the damaged plan."""
        old = [
            rule for rule in rules if rule[1] in {finding.rule for finding in before if finding.blame != "introduced"}
        ]
        new = [rule for rule in rules if rule[1] not in {finding.rule for finding in before}]
        new = [rule for rule in new if rule[1] in {finding.rule for finding in after}] or new
        out = self.random.sample(old, min(len(old), self.random.choice((0, 1, 1, 2))))
        return (*out, *self.random.sample(new, min(len(new), self.random.choice((0, 1, 1)))))

    # -- the plan -----------------------------------------------------------------------------------------------------

    def walk(self, base: Task) -> tuple[KernelTask, list[str]] | None:
        """A random executable plan; None if no step is possible. States are seldom visited twice."""
        world = KernelTask(base)
        state, plan, visited = world.start or 0, list[str](), {world.start}
        for _ in range(self.random.choice((1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 8))):
            codes = list(range(len(world.actions)))
            self.random.shuffle(codes)
            options = [(code, after) for code in codes if (after := world.after(state, code)) >= 0]
            new_states = [option for option in options if option[1] not in visited]
            if not options:
                break
            code, state = (new_states or options)[0]
            visited.add(state)
            plan.append(world.actions[code])
        return (world, plan) if plan else None

    def goal(self, world: KernelTask, plan: list[str]) -> Sexp:
        """A goal that the walk reached: a few literals, some of them inside other conditions."""
        letters = world.kernel.states("\n".join(plan))
        first, last = letters[0], letters[-1]
        basic = [fact for fact in sorted(first | last) if fact[0] in PREDICATES]
        changes: list[Sexp] = [
            fact if fact in last else ("not", fact) for fact in basic if (fact in first) != (fact in last)
        ]
        unchanged: list[Sexp] = [fact for fact in basic if fact in first and fact in last and fact[0] not in STATIC]
        count = self.random.choice((1, 1, 2, 2, 3))
        parts = self.random.sample(changes, min(len(changes), count))
        parts += self.random.sample(unchanged, min(len(unchanged), self.random.choice((0, 0, 1))))
        if self.style != "strips" and parts and self.random.random() < 0.4:
            parts[0] = ("or", parts[0], self.state(1, {}))
        if self.random.random() < 0.05:
            parts = []
        return ("and", *parts)

    def damage_plan(self, base: Task, edits: int) -> tuple[str, ...]:
        """The plan after some random edits."""
        plan, steps = list(base.plan), base.ground_steps()
        for _ in range(edits):
            roll = self.random.random()
            place = self.random.randrange(len(plan)) if plan else -1
            if place < 0 or roll < 0.2:
                plan.insert(self.random.randint(0, len(plan)), self.random.choice(steps))
            elif roll < 0.5:
                plan.pop(place)
            elif roll < 0.65:
                plan[place] = self.random.choice(steps)
            elif roll < 0.88:
                plan.insert(self.random.randint(0, len(plan)), plan.pop(place))
            else:
                plan[place] = self.make_ill_formed_step(plan[place])
        return tuple(plan[:8])

    def make_ill_formed_step(self, step: str) -> str:
        """An ill-formed step."""
        name, *arguments = normal(step)[1:-1].split()
        objects = [name for name, _ in self.objects]
        match self.random.randrange(4):
            case 0:
                return write((name + "s", *arguments))
            case 1:
                return write((name, *arguments, self.random.choice(objects)))
            case 2 if arguments:
                return write((name, "nothing", *arguments[1:]))
        return write((name, *[self.random.choice(objects) for _ in arguments])) if arguments else "(no-such)"

    def finish_task(self, draft: Task) -> Task:
        """The task with weights, protected steps and irregular spelling of the plan."""
        plan = list(draft.plan)
        if plan and self.random.random() < 0.1:
            i = self.random.randrange(len(plan))
            plan[i] = plan[i].upper().replace(" ", "  ")
        protected = frozenset[int]()
        if plan and self.random.random() < 0.12:
            protected = frozenset(
                self.random.sample(range(1, len(plan) + 1), self.random.choice((1, min(2, len(plan)))))
            )
        weights, bound = self.random.choice(WEIGHTS) if self.random.random() < 0.2 else (UNIT, 2)
        return draft._replace(plan=tuple(plan), weights=weights, bound=bound, protected=protected)
