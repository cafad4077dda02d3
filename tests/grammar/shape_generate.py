"""Random well-formed tasks with every feature: a domain, a problem, a plan and a specification that fit together.

Names are declared and used with their number of arguments, and variables are of type `object`, so that the
generated texts have no errors. Keywords are used as names wherever docs/language.md allows it.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple, TypeAlias

Maker: TypeAlias = Callable[[], str]

TYPES = ("room", "item", "at", "either", "start", "number", "über")
OBJECTS = (
    "kitchen",
    "r2d2",
    "5",
    "7.5",
    "2nd",
    "at",
    "start",
    "end",
    "all",
    "and",
    "define",
    "within",
    "a[1]",
    "été",
    "a#b",
)
PREDICATES = {
    "at": 2,
    "over": 1,
    "clear": 0,
    "holds": 1,
    "start": 2,
    "next": 2,
    "once": 1,
    "action": 1,
    "linked": 3,
    "unknown": 1,
    "oneof": 2,
}
DERIVED = {"reach": 2}
FUNCTIONS = {"total-cost": 0, "level": 1, "distance": 2, "end": 0}
ACTIONS = {"move": 2, "and": 1, "at": 2, "define": 0}
DURATIVE = {"heat": 2, "until": 1}


class GeneratedTask(NamedTuple):
    """One generated task."""

    domain: str
    problem: str
    plan: str
    specification: str


class Generator:
    """Writes texts from a random source; ``depth`` bounds the nesting of formulas."""

    def __init__(self, random: Random, depth: int = 3) -> None:
        self.random = random
        self.depth = depth

    # -- helpers ------------------------------------------------------------------------------------------------------

    def choose(self, *options: str) -> str:
        return self.random.choice(options)

    def make_one(self, *makers: Maker) -> str:
        return self.random.choice(makers)()

    def repeat(self, make: Maker, low: int = 0, high: int = 3) -> str:
        return " ".join([make() for _ in range(self.random.randint(low, high))])

    def vary_layout(self, text: str) -> str:
        """The text, sometimes with another case, other line ends and comments."""
        if self.random.random() < 0.2:
            text = text.replace("\n", self.choose("\r\n", "\r", "\n; (a comment\n", "\n;\ud8ff\n"))
        return (
            "".join([c.upper() if self.random.random() < 0.02 else c for c in text])
            if self.random.random() < 0.3
            else text
        )

    def shuffle(self, *parts: str) -> str:
        shuffled = [part for part in parts if part]
        self.random.shuffle(shuffled)
        return "\n  ".join(shuffled)

    def maybe(self, text: str, chance: float = 0.7) -> str:
        return text if self.random.random() < chance else ""

    # -- terms and lists ----------------------------------------------------------------------------------------------

    def number(self) -> str:
        return self.choose("0", "5", "2.50", "+1", "-3", ".5", "-.25", "100000000000000000000.1")

    def time(self) -> str:
        return self.number().replace("-", "")

    def type(self) -> str:
        return self.choose("object", *TYPES, f"(either {self.choose(*TYPES)} {self.choose(*TYPES)})")

    def variables(self, count: int, prefix: str = "v", typed: bool = True) -> tuple[str, list[str]]:
        names = [f"?{prefix}{i}" for i in range(count)]
        if not typed or self.random.random() < 0.3:
            return " ".join(names), names
        cut = self.random.randint(0, count)
        text = " ".join(names[:cut]) + (" - object " if cut else " ") + " ".join(names[cut:])
        return (text + " - object" if count > cut and self.random.random() < 0.5 else text), names

    def term(self, scope: list[str]) -> str:
        return self.random.choice(scope) if scope and self.random.random() < 0.7 else self.random.choice(OBJECTS)

    def applied(self, table: dict[str, int], scope: list[str]) -> str:
        name = self.random.choice(list(table))
        return "(" + " ".join([name, *[self.term(scope) for _ in range(table[name])]]) + ")"

    # -- conditions ---------------------------------------------------------------------------------------------------

    def expression(self, scope: list[str], depth: int, duration: bool = False) -> str:
        if depth <= 0 or self.random.random() < 0.4:
            return self.choose(
                self.number(), "total-cost", self.applied(FUNCTIONS, scope), "?duration" if duration else "end"
            )
        parts = [self.expression(scope, depth - 1, duration) for _ in range(self.random.randint(2, 3))]
        return self.choose(
            f"({self.choose('+', '*', '-')} {' '.join(parts)})", f"(- {parts[0]})", f"(/ {parts[0]} {parts[1]})"
        )

    def comparison(self, scope: list[str]) -> str:
        if self.random.random() < 0.3:
            return f"(= {self.term(scope)} {self.term(scope)})"
        left = self.choose(self.applied(FUNCTIONS, scope), self.expression(scope, 1))
        return f"({self.choose('<', '>', '<=', '>=', '=')} (+ {left} 1) {self.expression(scope, 1)})"

    def atom(self, scope: list[str]) -> str:
        return self.applied(PREDICATES | DERIVED, scope)

    def leaf(self, scope: list[str]) -> str:
        return self.make_one(
            lambda: self.choose("()", "(and)", "(or)"), lambda: self.comparison(scope), *[lambda: self.atom(scope)] * 3
        )

    def formula(self, scope: list[str], depth: int | None = None, layer: str = "state") -> str:
        """A formula of a layer: ``state``, ``goal`` (with preferences), ``past``, ``future`` or ``trajectory``."""
        depth = self.depth if depth is None else depth
        if depth <= 0:
            return self.leaf(scope)
        strict = "state" if layer == "goal" else layer

        def inner(part_layer: str) -> str:
            return self.formula(scope, depth - 1, part_layer)

        def quantified(quantifier: str) -> str:
            return self.quantified(quantifier, scope, depth, lambda names: self.formula(names, depth - 1, layer))

        options: list[Maker] = [
            lambda: self.leaf(scope),
            lambda: f"(and {self.repeat(lambda: inner(layer))})",
            lambda: quantified("forall"),
            lambda: f"(or {self.repeat(lambda: inner(strict))})",
            lambda: f"(not {inner(strict)})",
            lambda: f"(imply {inner(strict)} {inner(strict)})",
        ]
        if layer == "goal":
            options.append(lambda: f"(preference {self.maybe(self.choose('p1', 'and', '5'))} {inner(strict)})")
        else:
            options.append(lambda: quantified("exists"))
        if layer in ("past", "future", "trajectory"):
            # `once`, `next` and `action` are predicates here, so the operators of these names cannot be generated.
            options += [
                lambda: f"({self.choose('yesterday', 'weak-yesterday', 'historically')} {inner('past')})",
                lambda: f"(since {inner('past')} {inner('past')})",
                lambda: f"(action-{self.choose('end', 'during')} {self.step(DURATIVE, scope)})",
            ]
        if layer in ("future", "trajectory"):
            options += [
                lambda: f"({self.choose('always', 'sometime', 'weak-next')} {inner('future')})",
                lambda: f"({self.choose('sometime-after', 'until', 'release')} {inner('future')} {inner('future')})",
            ]
        if layer == "trajectory":
            options += [lambda: self.whole_trace(lambda: inner("past"))] * 2
        return self.make_one(*options)

    def quantified(self, quantifier: str, scope: list[str], depth: int, body: Callable[[list[str]], str]) -> str:
        variables, names = self.variables(self.random.randint(0, 2), f"q{depth}")
        return f"({quantifier} ({variables}) {body([*scope, *names])})"

    def whole_trace(self, operand: Maker) -> str:
        """An operator about the whole trace."""
        return self.make_one(
            lambda: f"(at end {operand()})",
            lambda: f"(at-most-once {operand()})",
            lambda: f"(sometime-before {operand()} {operand()})",
            lambda: f"({self.choose('within', 'hold-after')} {self.time()} {operand()})",
            lambda: f"(always-within {self.time()} {operand()} {operand()})",
            lambda: f"(hold-during {self.time()} {self.time()} {operand()})",
        )

    def step(self, table: dict[str, int], scope: list[str]) -> str:
        name = self.random.choice(list(table))
        return "(" + " ".join([name, *[self.choose("_", self.term(scope)) for _ in range(table[name])]]) + ")"

    # -- constraints --------------------------------------------------------------------------------------------------

    def constraint(self, scope: list[str], depth: int, top: bool) -> str:
        def operand() -> str:
            return self.formula(scope, 1)

        def inner(top: bool = False) -> str:
            return self.constraint(scope, depth - 1, top)

        options: list[Maker] = [
            *[lambda: self.whole_trace(operand)] * 3,
            lambda: f"({self.choose('always', 'sometime')} {operand()})",
            lambda: f"(sometime-after {operand()} {operand()})",
        ]
        if depth > 0:
            options += [
                lambda: f"(or {inner()} {inner()})",
                lambda: f"(not {inner()})",
                lambda: f"(imply {inner()} {inner()})",
                lambda: f"(and {inner(top)} {inner(top)})",
                lambda: self.choose("(and)", "()"),
                lambda: self.quantified("exists", scope, depth, lambda names: self.constraint(names, depth - 1, False)),
                lambda: self.quantified("forall", scope, depth, lambda names: self.constraint(names, depth - 1, top)),
            ]
            if top:
                options.append(lambda: f"(preference {self.maybe('kept')} {inner()})")
        return self.make_one(*options)

    # -- effects ------------------------------------------------------------------------------------------------------

    def effect(self, scope: list[str], depth: int, duration: bool = False) -> str:
        def change() -> str:
            fluent = self.choose("total-cost", self.applied(FUNCTIONS, scope))
            operator = self.choose("assign", "increase", "decrease", "scale-up", "scale-down")
            return f"({operator} {fluent} {self.expression(scope, 2, duration)})"

        def inner(names: list[str]) -> str:
            return self.effect(names, depth - 1, duration)

        options: list[Maker] = [
            lambda: self.applied(PREDICATES, scope),
            lambda: f"(not {self.applied(PREDICATES, scope)})",
            change,
        ]
        if depth > 0:
            options += [
                lambda: "()",
                lambda: f"(and {self.repeat(lambda: inner(scope))})",
                lambda: self.quantified("forall", scope, depth, inner),
                lambda: f"(when {self.formula(scope, 1)} {inner(scope)})",
                lambda: f"(oneof {self.repeat(lambda: inner(scope), 1)})",
            ]
        return self.make_one(*options)

    def timed_effect(self, scope: list[str], depth: int) -> str:
        moment = self.choose("start", "end")

        def simple() -> str:
            return f"(at {moment} {self.effect(scope, 1, True)})"

        def inner(names: list[str]) -> str:
            return self.timed_effect(names, depth - 1)

        options: list[Maker] = [simple]
        if depth > 0:
            options += [
                lambda: "()",
                lambda: f"(and {self.repeat(lambda: inner(scope))})",
                lambda: self.quantified("forall", scope, depth, inner),
                lambda: f"(when {self.formula(scope, 1)} {inner(scope)})",
                lambda: f"(when (at {moment} {self.formula(scope, 1)}) {simple()})",
                lambda: f"(oneof {self.repeat(lambda: inner(scope), 1)})",
            ]
        return self.make_one(*options)

    def timed_condition(self, scope: list[str], depth: int) -> str:
        def inner(names: list[str]) -> str:
            return self.timed_condition(names, depth - 1)

        options: list[Maker] = [lambda: f"({self.choose('at start', 'at end', 'over all')} {self.formula(scope, 1)})"]
        if depth > 0:
            options += [
                lambda: "()",
                lambda: f"(and {self.repeat(lambda: inner(scope))})",
                lambda: self.quantified("forall", scope, depth, inner),
            ]
        return self.make_one(*options)

    def duration(self, scope: list[str], depth: int) -> str:
        options: list[Maker] = [lambda: f"({self.choose('=', '<=', '>=')} ?duration {self.expression(scope, 1)})"]
        if depth > 0:
            options += [
                lambda: "()",
                lambda: f"(and {self.repeat(lambda: self.duration(scope, depth - 1))})",
                lambda: f"(at {self.choose('start', 'end')} {self.duration(scope, 0)})",
            ]
        return self.make_one(*options)

    # -- files --------------------------------------------------------------------------------------------------------

    def domain(self) -> str:
        predicates = "\n    ".join(
            [f"({name} {self.variables(count)[0]})" for name, count in (PREDICATES | DERIVED).items()]
        )
        functions = "".join(
            [f"({name} {self.variables(n)[0]}) {self.maybe('- number')} " for name, n in FUNCTIONS.items()]
        )
        parts = [
            self.maybe(
                f"(:requirements {self.repeat(lambda: self.choose(':strips', ':adl', ':typing', ':nobody-knows'))})"
            ),
            f"(:types {' '.join(TYPES[:3])} {self.maybe('- object')} {' '.join(TYPES[3:])})",
            f"(:constants {OBJECTS[0]} - object {' '.join(OBJECTS[1:])})",
            f"(:predicates {predicates})",
            f"(:functions {functions})",
            self.maybe(f"(:constraints {self.constraint([], 2, True)})"),
        ]
        variables, names = self.variables(2, typed=False)
        body = self.choose(
            self.nonrecursive_condition(names), f"(exists (?z) {self.nonrecursive_condition([*names, '?z'])})"
        )
        parts.append(f"(:derived (reach {variables}) {body})")
        for name, count in ACTIONS.items():
            variables, names = self.variables(count)
            fields = self.shuffle(
                f":parameters ({variables})",
                self.maybe(f":precondition {self.formula(names, layer='goal')}"),
                self.maybe(f":effect {self.effect(names, 2)}"),
            )
            parts.append(f"(:action {name} {fields})")
        for name, count in DURATIVE.items():
            variables, names = self.variables(count)
            # The elaborator binds parameters at every position.
            fields = self.shuffle(
                f":parameters ({variables})",
                f":duration {self.duration(names, 2)}",
                self.maybe(f":condition {self.timed_condition(names, 2)}"),
                self.maybe(f":effect {self.timed_effect(names, 2)}"),
            )
            parts.append(f"(:durative-action {name} {fields})")
        return self.vary_layout(f"(define (domain {self.choose('home', 'domain', '5')})\n  {self.shuffle(*parts)})\n")

    def nonrecursive_condition(self, scope: list[str]) -> str:
        """A condition of a derived predicate, which does not read the predicate."""
        return (
            f"(or {self.applied(PREDICATES, scope)} (not {self.applied(PREDICATES, scope)}) {self.comparison(scope)})"
        )

    def initial_statement(self) -> str:
        atom = self.applied(PREDICATES, [])
        time = self.choose("5", "0", "2.5", ".5")
        fluent = self.choose(self.applied(FUNCTIONS, []), "total-cost")
        return self.choose(
            atom,
            atom,
            f"(at {time} {atom})",
            f"(at {time} (not {atom}))",
            f"(at {time} (= {fluent} {self.number()}))",
            self.unknown_statement(atom, fluent),
            self.unknown_statement(atom, fluent),
        )

    def unknown_statement(self, atom: str, fluent: str) -> str:
        """A statement that makes a fact or fluent unknown."""
        low, high = sorted([self.number(), self.number()], key=float)
        values = self.maybe(f"(= {fluent} {self.number()})", 0.4)

        def literal() -> str:
            fact = self.applied(PREDICATES, [])
            return self.choose(fact, f"(not {fact})")

        def alternative() -> str:
            # Each fact once: an alternative may not contradict itself.
            return self.choose(values or atom, f"(and {literal()} {values})")

        return self.choose(
            f"(unknown {atom})",
            f"(unknown {fluent if fluent[0] == '(' else f'({fluent})'})",  # a bare name is an object for the predicate
            f"(or {literal()} (and {literal()}) {atom})",
            f"(oneof {self.repeat(alternative, 1)})",
            f"({self.choose('<', '<=')} {low} {fluent} {high})",
            f"({self.choose('>', '>=', '<')} {self.choose(f'{fluent} {low}', f'{high} {fluent}')})",
        )

    def problem(self) -> str:
        fluents = "(= (level at) -1.5) (= total-cost 0)"
        objects = f"{' '.join(OBJECTS[1:2] + OBJECTS[3:8])} - object {' '.join(OBJECTS[8:])}"
        metric = self.choose("(is-violated p9)", "total-time", "(total-time)", "(total-cost)", self.expression([], 2))
        parts = [
            "(:domain home)",
            f"(:objects {objects})",
            f"(:init {fluents} {self.repeat(self.initial_statement, 0, 8)})",
            f"(:goal (and {self.formula([], layer='goal')} (preference p9 {self.formula([], 1)})))",
            self.maybe(f"(:constraints {self.constraint([], 2, True)})"),
            self.maybe(f"(:metric {self.choose('minimize', 'maximize')} {metric})"),
            self.maybe("(:length (:serial 5) (:parallel 7))", 0.2),
        ]
        return self.vary_layout(f"(define (problem {self.choose('p', 'problem', '1')})\n  {self.shuffle(*parts)})\n")

    def plan(self) -> str:
        form = self.choose("lines", "timed", "define", "define timed", "define ordered")
        count = self.random.randint(0, 5)
        steps: list[str] = []
        names: list[str] = []
        for _ in range(count):
            durative = "timed" in form and self.random.random() < 0.5
            name = self.choose(*(DURATIVE if durative else ACTIONS))
            arguments = [self.choose(*OBJECTS) for _ in range((DURATIVE if durative else ACTIONS)[name])]
            arguments = [a if "[" not in a else "kitchen" for a in arguments]
            step = f"({' '.join([name, *arguments])})"
            time = self.choose("0", "1.5", ".25", "12")
            duration = f"{self.choose('1', '2.5')}" if durative else self.choose("", "0")
            tolerance = self.choose("", "0", ".5", "+1") if duration else ""
            if form == "timed":
                plus_minus = self.choose("+-", " +- ", "±", " ± ")
                within = f"{duration}{plus_minus}{tolerance}" if tolerance else duration
                step = f"{time}{self.choose(':', ' :')} {step}" + (f" [{within}]" if duration else "")
            elif form == "define timed":
                step = f"(at {time} {step} {duration} {tolerance})"
            elif form == "define ordered" and self.random.random() < 0.7:
                names.append(self.choose("s", "at", "ordering", "<", "2nd") + str(len(steps)) * bool(names))
                step = f"({names[-1]} {step})"
            else:
                names.append(str(len(steps) + 1))
            steps.append(step)
        if form in ("lines", "timed"):
            if steps and steps[0].startswith("(define"):
                steps.insert(0, "(move 5 5)")
            return self.vary_layout(self.choose("\n", " ").join(steps))
        parts = [
            f"(:steps {' '.join(steps)})",
            self.maybe('(:domain "a b.pddl")'),
            self.maybe("(:problem ../home/p.pddl)"),
        ]
        if form == "define ordered":
            before_pairs = [f"(< {' '.join(sorted(self.random.sample(names, 2), key=names.index))})" for _ in names[1:]]
            total_order = [f"(< {' '.join(names)})"] if count > 1 else []
            parts.append(f"(:ordering {' '.join(self.random.choice((before_pairs, total_order, [])))})")
        return self.vary_layout(f"(define (plan mine)\n  {self.shuffle(*parts)})")

    def metadata_fields(self) -> list[str]:
        return [
            self.maybe(f":hazard {self.choose('fire', 'cut', 'and')}", 0.3),
            self.maybe(f":target {self.choose('human', '(human property)', 'robot')}", 0.3),
            self.maybe(f":severity {self.choose('critical', 'high', 'medium', 'low')}", 0.3),
            self.maybe(
                f""":{self.choose("message", "rationale", "source", "fix")} {self.choose('""', '"it is; (so"')}""", 0.4
            ),
        ]

    def rule(self, name: str) -> str:
        kind = self.choose("process", "process on", "trajectory", "termination", "obligation")
        variables, names = self.variables(self.random.randint(0, 2), "r")
        parts = [*self.metadata_fields(), f":parameters ({variables})"]

        def past() -> str:
            return self.formula(names, 2, "past")

        if kind == "trajectory":
            parts.append(f":formula {self.formula(names, 3, 'trajectory')}")
        elif kind == "obligation":
            parts += [f":when {past()}", f":then {past()}", self.maybe(f":within {self.time()}")]
        else:
            parts += [self.maybe(f":when {past()}", 0.3), self.choose(f":forbid {past()}", f":require {past()}")]
        if kind == "process on":
            steps = [self.step(DURATIVE, names) for _ in range(2)]
            parts.append(
                f":{self.choose('on', 'at-end', 'during')} {self.choose(steps[0], f'(or {steps[0]} {steps[1]})')}"
            )
            parts.append(self.maybe(f":{self.choose('forbid-after', 'require-after')} {past()}"))
        return f"(:{kind.split()[0]} {name} {self.shuffle(*parts)})"

    def open_predicate(self) -> str:
        name = self.choose(*PREDICATES)
        variables, names = self.variables(PREDICATES[name], "o")
        return f"({name} {self.choose(variables, ' '.join(names[:1] * len(names)))})"

    def invariant(self) -> str:
        variables, names = self.variables(self.random.randint(0, 2), "i")
        counted = [*names, "?counted", "?other"]
        holds = f":holds {self.formula(names, 2)}"
        kind, atoms = (
            self.choose("exactly-one", "at-most-one"),
            self.repeat(lambda: self.applied(PREDICATES, counted), 1),
        )
        count = f":{kind} ({atoms})"
        fields = self.shuffle(self.choose(holds, count), f":parameters ({variables})")
        return f"(:invariant {self.choose('inv', '5', 'and')} {fields})"

    def specification(self) -> str:
        parts = [
            self.maybe("(:domain home)"),
            self.maybe(
                "(:vocabulary (:types room item - object) (:constants kitchen) "
                "(:predicates (at ?a ?b - object) (clear))"
                " (:functions (level ?x)) (:actions (move ?a ?b)))"
            ),
            f"(:define (far ?x - object ?y) {self.formula(['?x', '?y'], 2, 'past')})",
            """(:template forbidden ($p $q $f $n)
                 (:obligation $name :parameters (?x - $q) :when ($p ?x) :then $f :within $n))""",
            (
                f"(:apply forbidden made-1 holds {self.choose('item', 'room')} "
                f"{self.formula([], 2, 'past')} {self.time()})"
            ),
            "(:process uses-far :parameters (?x) :require (far ?x 5))",
            self.maybe(f"(:open {self.repeat(self.open_predicate)})", 0.4),
            self.maybe(self.invariant(), 0.5),
            *[self.rule(f"r{i}") for i in range(self.random.randint(0, 4))],
        ]
        header, (macro, template), sections = self.shuffle(*parts[:2]), parts[2:4], self.shuffle(*parts[4:])
        return self.vary_layout(f"(define (safety mine)\n  {header} {macro} {template} {sections})\n")


def generate_task(seed: int) -> GeneratedTask:
    """The task of a seed."""
    generator = Generator(Random(seed))
    return GeneratedTask(generator.domain(), generator.problem(), generator.plan(), generator.specification())
