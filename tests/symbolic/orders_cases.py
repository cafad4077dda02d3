"""Generate small partially ordered plans, and replay all their orders.

``strips`` and ``effects`` are small tasks whose steps depend on each other; the other streams are from
``tests/property``, and their rules use all forms of rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from random import Random
from typing import NamedTuple

import generate
from case import plan_text

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.symbolic.orders.explicit_orders import OrderVerdict, replay_order
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder

STREAMS = ("strips", "effects", "numbers", *[s for s in generate.STREAMS if s not in ("timed", "clashes")])
MAX_STEPS = 6


class OrderCase(NamedTuple):
    """A task, its rules, and steps with ordered pairs (numbers from 1)."""

    name: str
    domain: str
    problem: str
    safety: str
    plan: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]

    def checker(self) -> Checker:
        """Compile the task."""
        specs = [Source("s.safe", self.safety)] if self.safety else []
        return Checker(Source("d.pddl", self.domain), Source("p.pddl", self.problem), specs)

    def describe_case(self) -> str:
        """The whole case, to reproduce a difference."""
        return "\n".join([self.name, self.domain, self.problem, self.safety, *self.plan, str(self.pairs)])


def generate_order_case(stream: str, seed: int, number: int) -> OrderCase:
    """The case with this number."""
    random = Random(f"{stream} {seed} {number}")
    if stream in ("strips", "effects", "numbers"):
        domain, problem, safety, plan = _SmallTaskGenerator(random, stream).task()
    else:
        generated = generate.case(stream, seed, number, rules=random.choice((0, 1, 1, 2)), plans=8)
        plans = [p for p in generated.plans if len(p) > 1]
        words = plan_text(random.choice(plans)).splitlines() if plans else []
        start = random.randrange(max(1, len(words) - MAX_STEPS + 1))
        plan = tuple(words[start : start + MAX_STEPS])
        domain, problem, safety = generated.domain_text(), generated.problem_text(), generated.safety_text()
    return OrderCase(f"{stream}-{seed}-{number}", domain, problem, safety, plan, _random_pairs(random, len(plan)))


def _random_pairs(random: Random, size: int) -> tuple[tuple[int, int], ...]:
    """Pairs that mostly follow the list, so that a plan that is executable as a list has an executable order."""
    sequence = [*range(1, size + 1)]
    if random.random() < 0.3:
        random.shuffle(sequence)
    density = random.choice((0.0, 0.1, 0.2, 0.4))
    return tuple((a, b) for i, a in enumerate(sequence) for b in sequence[i + 1 :] if random.random() < density)


class _SmallTaskGenerator:
    """Generates tasks with few facts, whose steps achieve and delete each other's conditions."""

    def __init__(self, random: Random, stream: str) -> None:
        self.random = random
        self.conditional = stream != "strips"
        self.numeric = stream == "numbers"
        self.facts = [f"({name})" for name in "pqrst"[: random.randint(2, 5)]]
        self.true: set[str] = set()
        self.size = 0

    def literal(self) -> str:
        fact = self.random.choice(self.facts)
        return fact if self.random.random() < 0.6 else f"(not {fact})"

    def state(self, depth: int = 1) -> str:
        roll = self.random.random()
        if self.numeric and roll < 0.3:
            operator = self.random.choice(("<", "<=", "=", ">="))
            return f"({operator} ({self.random.choice('fg')}) {self.random.randint(0, 3)})"
        if not depth or roll < 0.6:
            return self.literal()
        if roll < 0.7:
            return f"(not {self.state(depth - 1)})"
        return f"({self.random.choice(('and', 'or'))} {self.state(depth - 1)} {self.state(depth - 1)})"

    def effect(self) -> str:
        roll = self.random.random()
        literal = self.literal()
        if self.numeric and roll < 0.4:
            kind = self.random.choice(("increase", "increase", "decrease", "assign", "scale-up"))
            amount = self.random.choice(("1", "1", "2", "(g)")) if kind != "scale-up" else "2"
            literal = f"({kind} ({self.random.choice('fg')}) {amount})"
        if self.conditional and self.random.random() < 0.4:
            return f"(when {self.state()} {literal})"
        return literal

    def action(self, number: int) -> str:
        if self.conditional:
            condition = " ".join(self.state() for _ in range(self.random.choice((0, 0, 1, 1))))
        else:
            condition = " ".join(self.literal() for _ in range(self.random.choice((0, 1, 1, 2))))
        # Most conditions hold in the order of the list, like the conditions of a plan.
        if not self.conditional and self.random.random() < 0.75:
            true_conditions = [f for f in self.facts if f in self.true] + [
                f"(not {f})" for f in self.facts if f not in self.true
            ]
            condition = " ".join(
                self.random.sample(true_conditions, min(len(true_conditions), self.random.choice((0, 1, 1, 2))))
            )
        effects = [self.effect() for _ in range(self.random.choice((1, 1, 2, 3)))]
        if not self.conditional:
            self.true -= {e[5:-1] for e in effects if e.startswith("(not")}
            self.true |= {e for e in effects if not e.startswith("(not")}
        return f"(:action a{number} :precondition (and {condition}) :effect (and {' '.join(effects)}))"

    def temporal(self, depth: int, past: bool) -> str:
        """A formula about the past, or about the whole trace."""
        roll = self.random.random()
        if not depth or roll < 0.15:
            return self.state()
        if roll < 0.3:
            return f"(action (a{self.random.randint(1, self.size)}))"
        if roll < 0.4:
            return f"(not {self.temporal(depth - 1, past)})"
        if roll < 0.5:
            word = self.random.choice(("and", "or"))
            return f"({word} {self.temporal(depth - 1, past)} {self.temporal(depth - 1, past)})"
        past = past or roll < 0.65
        unary_operators = (
            ("yesterday", "weak-yesterday", "once", "historically")
            if past
            else ("next", "weak-next", "always", "sometime")
        )
        binary_operators = ("since",) if past else ("until", "release", "sometime-after")
        operator = self.random.choice((*unary_operators, *binary_operators))
        operands = [self.temporal(depth - 1, past) for _ in range(2 if operator in binary_operators else 1)]
        return f"({operator} {' '.join(operands)})"

    def trace_formula(self) -> str:
        """A PDDL3 operator over the trace."""
        formula, second_formula = self.temporal(1, True), self.temporal(1, True)
        low, high = sorted(self.random.choice((0, 1, 2, 3, 4, 2.5)) for _ in range(2))
        return self.random.choice(
            (
                f"(at end {formula})",
                f"(within {low} {formula})",
                f"(at-most-once {formula})",
                f"(sometime-before {formula} {second_formula})",
                f"(always-within {low} {formula} {second_formula})",
                f"(hold-during {low} {high} {formula})",
                f"(hold-after {low} {formula})",
                f"(or (at-most-once {formula}) (not (within {high} {second_formula})))",
            )
        )

    def rule(self, number: int) -> str:
        step = f"(a{self.random.randint(1, self.size)})"
        state = self.state
        return self.random.choice(
            (
                f"(:process r{number} :forbid (and {state()} {state()}))",
                f"(:process r{number} :forbid (and {state()} {state()}))",
                f"(:process r{number} :require {self.temporal(2, True)})",
                f"(:process r{number} :on {step} :require {state()})",
                f"(:process r{number} :on {step} :when {state()} :require-after {self.temporal(1, True)})",
                f"(:process r{number} :on {step} :require {self.temporal(2, True)})",
                f"(:process r{number} :on {step} :when {self.temporal(1, True)} :forbid-after {state()})",
                f"(:trajectory r{number} :formula {self.temporal(2, False)})",
                f"(:trajectory r{number} :formula {self.temporal(3, False)})",
                f"(:trajectory r{number} :formula {self.trace_formula()})",
                f"(:trajectory r{number} :formula {self.trace_formula()})",
                f"(:obligation r{number} :when {self.temporal(1, True)} :then {state()})",
                f"(:termination r{number} :require {self.temporal(1, True)})",
            )
        )

    def task(self) -> tuple[str, str, str, tuple[str, ...]]:
        random = self.random
        init = [fact for fact in self.facts if random.random() < 0.5]
        self.true = set(init)
        size = self.size = random.randint(2, MAX_STEPS)
        actions = [self.action(number) for number in range(1, size + 1)]
        numbers = ["(= (f) 0)", "(= (g) 1)"] if self.numeric else []
        functions = "(:functions (f) (g))" if self.numeric else ""
        goal = " ".join(self.state() for _ in range(random.choice((0, 1, 1, 2))))
        rules = [self.rule(number) for number in range(random.choice((0, 1, 1, 2)))]
        head = f"(define (domain d) (:predicates {' '.join(self.facts)}) {functions}"
        return (
            "\n  ".join([head, *actions]) + ")\n",
            f"(define (problem p) (:domain d) (:init {' '.join([*init, *numbers])}) (:goal (and {goal})))\n",
            "(define (safety s)\n  " + "\n  ".join(rules) + ")\n" if rules else "",
            tuple(f"(a{number})" for number in range(1, size + 1)),
        )


def resolve_steps(case: OrderCase, checker: Checker) -> list[GroundAction | IllFormed]:
    """The resolved steps."""
    return list(checker.read(Source("plan", "\n".join(case.plan))).steps)


def all_orders(order: PartialOrder) -> Iterator[tuple[int, ...]]:
    """All linear extensions."""
    return (sequence for sequence in permutations(range(1, order.size + 1)) if allows(order, sequence))


def combine_verdicts(verdicts: set[OrderVerdict]) -> tuple[Worlds, Worlds, Worlds]:
    """The shares of orders in which each property holds (docs/worlds.md, section 2)."""
    shares = []
    for property_number in range(3):
        property_values = {verdict[property_number] for verdict in verdicts}
        if {True, False} <= property_values:
            shares.append(Worlds.SOME)
        elif None in property_values:
            shares.append(Worlds.UNKNOWN)
        else:
            shares.append(Worlds.ALL if True in property_values else Worlds.NONE)
    return shares[0], shares[1], shares[2]


def replay_all_orders(case: OrderCase, checker: Checker) -> set[OrderVerdict]:
    """The verdicts of all orders, by the engine."""
    steps = resolve_steps(case, checker)
    return {replay_order(checker.engine, steps, order) for order in all_orders(PartialOrder(len(steps), case.pairs))}


def allows(order: PartialOrder, sequence: Sequence[int]) -> bool:
    """Whether a sequence of all steps respects every pair."""
    place = {step: number for number, step in enumerate(sequence)}
    return len(place) == order.size and all(place[first] < place[second] for first, second in order.pairs)
