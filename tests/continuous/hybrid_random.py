"""Random tasks with processes, events and continuous effects, with plans and rules, as texts.

Rates, thresholds and times are small, so that conditions often change at one moment, at a happening, or are touched
and not crossed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import NamedTuple

FACTS = ("(b0)", "(b1)", "(b2)", "(on o1)", "(on o2)")
LEVELS = ("(y)", "(z)", "(x o1)", "(x o2)")
CONSTANTS = ("(k)", "(c o1)", "(c o2)")
RATES = ("1", "2", "0.5", "1", "3", "(k)", "1.5")
FACTORS = ("0.5", "1", "0.25", "0.1", "2")
THRESHOLDS = ("0", "1", "2", "3", "4", "-1", "2.5", "6")
HEAD = """(:requirements :typing :fluents :time :durative-actions :continuous-effects :negative-preconditions)
  (:types thing - object)
  (:predicates (b0) (b1) (b2) (on ?o - thing))
  (:functions (x ?o - thing) (c ?o - thing) (y) (z) (k) (clock))
  (:process passing :parameters () :precondition () :effect (increase (clock) (* #t 1)))"""


class HybridCase(NamedTuple):
    """A task, its rules, and a plan. Each element of a field can be left out (``shrink``)."""

    structures: tuple[str, ...]
    init: tuple[str, ...]
    constraints: tuple[str, ...]
    rules: tuple[str, ...]
    steps: tuple[str, ...]
    goal: str = "()"
    head: str = HEAD

    def domain(self) -> str:
        """Return the text of the domain."""
        return "\n  ".join(["(define (domain hybrid)", self.head, *self.structures]) + ")\n"

    def problem(self) -> str:
        """Return the text of the problem."""
        constraints = f"\n  (:constraints (and {' '.join(self.constraints)}))" if self.constraints else ""
        init = " ".join(self.init)
        return (
            "(define (problem one) (:domain hybrid) (:objects o1 o2 - thing)\n"
            f"  (:init {init})\n  (:goal {self.goal}){constraints})\n"
        )

    def safety(self) -> str:
        """Return the text of the specification; empty without rules."""
        return "\n  ".join(["(define (safety limits)", *self.rules]) + ")\n" if self.rules else ""

    def plan(self) -> str:
        """Return the text of the plan."""
        return "".join(step + "\n" for step in self.steps)

    def texts(self) -> str:
        """Return all texts, to print them."""
        return "\n".join([self.domain(), self.problem(), self.safety(), self.plan()])

    def reductions(self) -> Iterator[HybridCase]:
        """Yield the cases without one of the elements."""
        for field in ("steps", "rules", "constraints", "structures", "init"):
            elements = getattr(self, field)
            for i in range(len(elements)):
                yield self._replace(**{field: elements[:i] + elements[i + 1 :]})


class _Writer:
    """Writes the parts of one random case. ``smooth``: only constant rates; ``linear``: also rates with levels."""

    def __init__(self, random: Random, smooth: bool, linear: bool) -> None:
        self.random = random
        self.smooth = smooth
        self.linear = linear
        self.flags = 0

    def fact(self) -> str:
        return self.random.choice(FACTS)

    def literal(self) -> str:
        fact = self.fact()
        return fact if self.random.random() < 0.6 else f"(not {fact})"

    def comparison(self, levels: tuple[str, ...] = (*LEVELS, "(clock)")) -> str:
        level = self.random.choice(levels)
        op = self.random.choice((">=", "<=", ">", "<", ">=", "<="))
        roll = self.random.random()
        if roll < 0.1:
            return f"({op} (- {level} {self.random.choice(LEVELS)}) {self.random.choice(THRESHOLDS)})"
        if roll < 0.15:
            return f"(= {level} {self.random.choice(THRESHOLDS)})"
        if roll < 0.2 and not self.smooth:
            return f"({op} (* {level} {self.random.choice(LEVELS)}) {self.random.choice(THRESHOLDS)})"
        if roll < 0.3:
            return f"({op} {level} {self.random.choice(CONSTANTS)})"
        return f"({op} {level} {self.random.choice(THRESHOLDS)})"

    def condition(self, depth: int = 2) -> str:
        roll = self.random.random()
        if depth and roll < 0.3:
            return f"(and {self.condition(depth - 1)} {self.condition(depth - 1)})"
        if depth and roll < 0.45:
            return f"(or {self.condition(depth - 1)} {self.condition(depth - 1)})"
        if depth and roll < 0.5:
            return f"(not {self.condition(depth - 1)})"
        if depth and roll < 0.54:
            kind = self.random.choice(("exists", "forall"))
            op = self.random.choice(("<", "<=", ">", ">="))
            return f"({kind} (?q - thing) ({op} (x ?q) {self.random.choice(THRESHOLDS)}))"
        return self.comparison() if roll < 0.8 else self.literal()

    def rate(self, level: str) -> str:
        """Return the rate of a level: a number, or a polynomial in the clock and in levels that come before it.

        A linear rate also reads the level, or another one that may read it.
        """
        if self.linear and self.random.random() < 0.75:
            return self.linear_rate(level)
        roll = self.random.random()
        number = self.random.choice(RATES)
        if self.smooth or roll < 0.6:
            return number
        if roll < 0.8:
            return f"(- (* {self.random.choice(('1', '2'))} (clock)) {self.random.choice(('2', '4', '3', '1'))})"
        if roll < 0.9 and LEVELS.index(level):
            return f"(* {number} {LEVELS[self.random.randrange(LEVELS.index(level))]})"
        return f"(- (* (clock) (clock)) {self.random.choice(('1', '4', '2'))})"

    def linear_rate(self, level: str) -> str:
        roll = self.random.random()
        factor = self.random.choice(FACTORS)
        if roll < 0.5:
            return f"(* {factor} (- {self.random.choice(THRESHOLDS)} {level}))"
        if roll < 0.75:
            return f"(* {factor} (- {self.random.choice(LEVELS)} {level}))"
        if roll < 0.85:
            return f"(* {self.random.choice(('0.5', '-1', '0.2'))} {level})"
        if roll < 0.95:
            return f"(- (* {factor} (clock)) {level})"
        return f"(+ {self.random.choice(LEVELS)} {self.random.choice(('(k)', '1', level))})"

    def flow(self) -> str:
        level = self.random.choice(LEVELS)
        return f"({self.random.choice(('increase', 'decrease'))} {level} (* #t {self.rate(level)}))"

    def discrete_effect(self) -> str:
        roll = self.random.random()
        if roll < 0.55:
            return self.literal()
        level = self.random.choice(LEVELS)
        if roll < 0.75:
            return f"(assign {level} {self.random.choice(THRESHOLDS)})"
        if roll < 0.8:
            return f"(assign (k) {self.random.choice(('1', '2'))})"
        return f"({self.random.choice(('increase', 'decrease'))} {level} {self.random.choice(('1', '2', '0.5'))})"

    def process(self, i: int) -> str:
        if self.random.random() < 0.3:
            sign = self.random.choice(("increase", "decrease"))
            guard = self.random.choice(("(on ?o)", "(and (on ?o) (< (x ?o) 4))", "(or (on ?o) (b0))"))
            rates = ("1", "(c ?o)", "2", *(("(* 0.5 (- (c ?o) (x ?o)))", "(- 6 (x ?o))") if self.linear else ()))
            return (
                f"(:process p{i} :parameters (?o - thing) :precondition {guard}"
                f" :effect ({sign} (x ?o) (* #t {self.random.choice(rates)})))"
            )
        guard = self.random.choice((self.literal(), self.condition(), "()"))
        effects = " ".join(self.flow() for _ in range(self.random.choice((1, 1, 2))))
        return f"(:process p{i} :parameters () :precondition {guard} :effect (and {effects}))"

    def event(self, i: int) -> str:
        """Write an event that mostly ends its own condition."""
        roll = self.random.random()
        if roll < 0.5:
            fact = self.fact()
            if self.random.random() < 0.5:
                guard, ends = fact, f"(not {fact})"
            else:
                guard, ends = f"(not {fact})", fact
            trigger = self.condition(1) if self.random.random() < 0.85 else "()"
            return (
                f"(:event e{i} :parameters () :precondition (and {guard} {trigger})"
                f" :effect (and {ends} {self.discrete_effect()}))"
            )
        if roll < 0.75:
            level, threshold = self.random.choice(LEVELS), self.random.choice(("2", "3", "4", "6"))
            return (
                f"(:event e{i} :parameters () :precondition (>= {level} {threshold})"
                f" :effect (and (assign {level} {self.random.choice(('0', '1'))}) {self.discrete_effect()}))"
            )
        if roll < 0.95:
            threshold = self.random.choice("234")
            return (
                f"(:event e{i} :parameters (?o - thing) :precondition (and (on ?o) (>= (x ?o) {threshold}))"
                f" :effect (and (not (on ?o)) {self.discrete_effect()}))"
            )
        return f"(:event e{i} :parameters () :precondition {self.condition()} :effect {self.discrete_effect()})"

    def action(self, i: int) -> str:
        effects = " ".join(self.discrete_effect() for _ in range(self.random.choice((1, 2))))
        condition = self.condition(1) if self.random.random() < 0.1 else "()"
        return f"(:action a{i} :parameters () :precondition {condition} :effect (and {effects}))"

    def durative(self, i: int) -> str:
        conditions = []
        if self.random.random() < 0.07:
            conditions.append(f"(at start {self.condition(1)})")
        if self.random.random() < 0.35:
            conditions.append(f"(over all {self.condition(1)})")
        if self.random.random() < 0.05:
            conditions.append(f"(at end {self.condition(1)})")
        effects = [self.flow()] if self.random.random() < 0.8 else []
        effects += [
            f"(at {phase} {self.discrete_effect()})" for phase in ("start", "end") if self.random.random() < 0.35
        ]
        duration = self.random.choice(("(>= ?duration 0.5)", "(and (>= ?duration 0.5) (<= ?duration 8))"))
        return (
            f"(:durative-action d{i} :parameters () :duration {duration}"
            f" :condition (and {' '.join(conditions)}) :effect (and {' '.join(effects)}))"
        )

    def constraint(self) -> str:
        f, g = self.condition(1), self.condition(1)
        t, u = sorted(self.random.sample((1, 2, 3, 4, 5, 6), 2))
        return self.random.choice(
            (
                f"(always {f})",
                f"(always {f})",
                f"(sometime {f})",
                f"(within {t} {f})",
                f"(at-most-once {f})",
                f"(sometime-after {f} {g})",
                f"(sometime-before {f} {g})",
                f"(always-within {t} {f} {g})",
                f"(hold-during {t} {u} {f})",
                f"(hold-after {t} {f})",
                f"(at end {f})",
            )
        )

    def rule(self, i: int) -> str:
        f, g, h = self.condition(1), self.condition(1), self.condition(1)
        number = self.random.choice("234")
        past = self.random.choice(
            (f, f, f"(once {f})", f"(historically {f})", f"(since {f} {g})", f"(and {h} (once {f}))")
        )
        return self.random.choice(
            (
                f"(:process r{i} :forbid {past})",
                f"(:process r{i} :require {past})",
                f"(:process r{i} :parameters (?o - thing) :when (on ?o) :forbid (> (x ?o) {number}))",
                f"(:process r{i} :when {h} :require {past})",
                f"(:trajectory r{i} :formula (always {f}))",
                f"(:trajectory r{i} :formula (until {f} {g}))",
                f"(:trajectory r{i} :formula (release {f} {g}))",
                f"(:trajectory r{i} :formula (sometime-after {f} {g}))",
                f"(:termination r{i} :forbid {f})",
                f"(:obligation r{i} :when {f} :then {g})",
                f"(:obligation r{i} :when {f} :then {g} :within {self.random.choice('123')})",
            )
        )

    def time(self) -> str:
        return decimal(self.random.choice((Fraction(1), Fraction(1, 2), Fraction(1, 4))) * self.random.randint(0, 12))


def decimal(value: Fraction) -> str:
    """Return a fraction with a finite decimal expansion as text."""
    digits = 0
    while (value * 10**digits).denominator > 1:
        digits += 1
    text = f"{int(value * 10**digits):0{digits + 1}d}"
    return f"{text[:-digits]}.{text[-digits:]}" if digits else text


def generate_case(seed: int, number: int, rules: bool = True, linear: float = 0) -> HybridCase:
    """Return a random case; half of the cases have constant rates only. ``linear``: the share with linear rates."""
    random = Random(f"{seed}/{number}")
    writer = _Writer(random, random.random() < 0.5, Random(f"{seed}/{number}/linear").random() < linear)
    structures = [writer.process(i) for i in range(random.choice((1, 1, 2, 3)))]
    structures += [writer.event(i) for i in range(random.choice((0, 1, 1, 2, 3)))]
    n_actions, n_durative = random.choice((1, 2)), random.choice((0, 1, 1))
    structures += [writer.action(i) for i in range(n_actions)]
    structures += [writer.durative(i) for i in range(n_durative)]
    init = [fact for fact in FACTS if random.random() < 0.4]
    init += [f"(= {level} {random.choice(('0', '1', '2', '0', '3.5'))})" for level in (*LEVELS, *CONSTANTS)]
    init.append("(= (clock) 0)")
    if random.random() < 0.2:
        init.append(f"(at {random.randint(1, 5)} {writer.literal()})")
    steps = [f"{writer.time()}: (a{random.randrange(n_actions)})" for _ in range(random.choice((1, 2, 3)))]
    if n_durative:
        steps += [
            f"{writer.time()}: (d0) [{random.choice(('1', '2', '3', '2.5', '4'))}]"
            for _ in range(random.choice((1, 2)))
        ]
    constraints = [writer.constraint() for _ in range(random.choice((0, 1, 1, 2)))] if rules else []
    specification = [writer.rule(i) for i in range(random.choice((0, 1, 2)))] if rules else []
    goal = writer.condition(1) if random.random() < 0.15 else "()"
    return HybridCase(tuple(structures), tuple(init), tuple(constraints), tuple(specification), tuple(steps), goal)
