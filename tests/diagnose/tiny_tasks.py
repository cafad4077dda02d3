"""Tiny random tasks with rules of every kind, whose safe plans can all be listed, and indices by this list alone.

Every action burns fuel, so a task has finitely many plans. The kernel decides which whole plans are safe; the engine
only enumerates the executable plans. Run as a program, this compares more tasks than the suite:

    python tests/diagnose/tiny_tasks.py --tasks 5000 --seed 7
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from random import Random
from time import perf_counter
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.localise import Localisation, localise
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.kernel import Kernel
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import Planner

MAX_PLANS = 260
UNARY = ("p", "q")
NULLARY = ("n", "m")
Plan = tuple[str, ...]


class Tiny(NamedTuple):
    """A task as text, and a plan for it."""

    domain: str
    problem: str
    safety: str
    fuel: int


def tiny(random: Random, endless: bool = False) -> Tiny:
    """A random task: two or three objects, two or three actions, up to three rules; ``endless``: nothing burns fuel."""
    fuel = random.choice((2, 3, 3, 4))
    objects = ["a", "b"] if fuel > 2 or random.random() < 0.6 else ["a", "b", "c"]
    words = _Words(random, objects)
    actions = {name: words.scope(random.choice((0, 1, 1, 1))) for name in ("go", "do", "put")[: random.choice((2, 3))]}
    burn = "" if endless else " ".join(f"(when (f{n}) (and (not (f{n})) (f{n - 1})))" for n in range(1, fuel + 1))
    texts = []
    for name, scope in actions.items():
        condition = words.state(random.choice((0, 1, 1)), scope) if random.random() < (0.9 if endless else 0.6) else ""
        effects = " ".join(words.effect(scope) for _ in range(random.choice((1, 2, 2, 3))))
        texts.append(
            f"(:action {name} :parameters ({words.typed(scope)}) :precondition (and (not (f0)) {condition})"
            f" :effect (and {effects} {burn}))"
        )
    tank = " ".join(f"(f{n})" for n in range(fuel + 1))
    predicates = f"(p ?x - t) (q ?x - t) (n) (m) {tank}"
    head = f"(define (domain tiny) (:types t) (:constants {' '.join(objects)} - t) (:predicates {predicates})"
    domain = "\n ".join([head, *texts]) + ")"
    init = " ".join(atom for atom in words.atoms() if random.random() < 0.4)
    goal = " ".join(words.wish() for _ in range(random.choice((1, 1, 2))))
    problem = f"(define (problem tiny) (:domain tiny) (:init (f{fuel}) {init}) (:goal (and {goal})))"
    rules = [words.rule(f"r{n}", actions) for n in range(random.choice((0, 1, 1, 2, 2, 3)))]
    safety = "(define (safety tiny)\n " + "\n ".join(rules) + ")" if rules else ""
    return Tiny(domain, problem, safety, fuel)


class _Words:
    """Random formulas, effects and rules."""

    def __init__(self, random: Random, objects: list[str]) -> None:
        self.random = random
        self.objects = objects
        self.effect_literals: list[str] = []

    def scope(self, count: int) -> list[str]:
        return ["?x", "?y"][:count]

    def typed(self, scope: list[str]) -> str:
        return " ".join(f"{v} - t" for v in scope)

    def atoms(self) -> list[str]:
        return [f"({predicate} {name})" for predicate in UNARY for name in self.objects] + [
            f"({predicate})" for predicate in NULLARY
        ]

    def atom(self, scope: list[str]) -> str:
        if self.random.random() < 0.3:
            return f"({self.random.choice(NULLARY)})"
        term = self.random.choice(scope) if scope and self.random.random() < 0.8 else self.random.choice(self.objects)
        return f"({self.random.choice(UNARY)} {term})"

    def literal(self, scope: list[str]) -> str:
        atom = self.atom(scope)
        return f"(not {atom})" if self.random.random() < 0.35 else atom

    def wish(self) -> str:
        """Mostly a literal of some effect."""
        if not self.effect_literals or self.random.random() < 0.2:
            return self.literal([])
        wish = self.random.choice(self.effect_literals)
        for variable in ("?x", "?z"):
            wish = wish.replace(variable, self.random.choice(self.objects))
        return wish

    def state(self, depth: int, scope: list[str]) -> str:
        if depth == 0:
            return self.literal(scope)
        roll = self.random.random()
        if roll < 0.3 and len(scope) < 2:
            return f"({self.random.choice(('forall', 'exists'))} (?z - t) {self.state(depth - 1, [*scope, '?z'])})"
        if roll < 0.4:
            return f"(not {self.state(depth - 1, scope)})"
        word = self.random.choice(("and", "or", "or", "imply"))
        return f"({word} {self.state(depth - 1, scope)} {self.state(depth - 1, scope)})"

    def effect(self, scope: list[str]) -> str:
        roll = self.random.random()
        literal = self.literal([*scope, "?z"] if roll < 0.25 else scope)
        self.effect_literals.append(literal)
        if roll < 0.15:
            return f"(forall (?z - t) {literal})"
        if roll < 0.25:
            return f"(forall (?z - t) (when {self.literal(['?z'])} {literal}))"
        if roll < 0.4:
            return f"(when {self.state(1, scope)} {literal})"
        return literal

    def past(self, scope: list[str], actions: dict[str, list[str]]) -> str:
        random = self.random
        leaf = self.literal(scope)
        if random.random() < 0.3:
            name = random.choice([*actions])
            terms = [random.choice([*scope, "_", *self.objects]) for _ in actions[name]]
            leaf = f"(action ({' '.join([name, *terms])}))"
        operator = random.choice(("once", "historically", "yesterday", "weak-yesterday", "since", ""))
        if not operator:
            return leaf
        if operator == "since":
            return f"(since {self.literal(scope)} {leaf})"
        return f"({operator} {leaf})" if random.random() < 0.7 else f"(not ({operator} {leaf}))"

    def trajectory(self, scope: list[str], actions: dict[str, list[str]]) -> str:
        random, f, g = self.random, self.state(1, scope), self.literal(scope)
        if random.random() < 0.2:
            f = self.past(scope, actions)
        return random.choice(
            (
                f"(always {f})",
                f"(sometime {f})",
                f"(at end {f})",
                f"(within {random.choice((0, 1, 2, 3))} {f})",
                f"(at-most-once {f})",
                f"(sometime-after {f} {g})",
                f"(sometime-before {f} {g})",
                f"(always-within {random.choice((0, 1, 2))} {f} {g})",
                f"(hold-during {random.choice((0, 1))} {random.choice((1, 2, 3))} {f})",
                f"(hold-after {random.choice((0, 1, 2))} {f})",
                f"(or (sometime {f}) (at-most-once {g}))",
                f"(not (at-most-once {f}))",
                f"(until {f} {g})",
                f"(release {f} {g})",
                f"(always (imply {f} (next {g})))",
                f"(sometime (and {f} (weak-next (always {g}))))",
            )
        )

    def rule(self, name: str, actions: dict[str, list[str]]) -> str:
        random = self.random
        scope = self.scope(random.choice((0, 1)))
        head = f"{name} :parameters ({self.typed(scope)})"
        word = random.choice((":forbid", ":require"))
        match random.choice(
            ("state", "state", "on", "on", "on", "trajectory", "trajectory", "trajectory", "end", "owe")
        ):
            case "state":
                body = self.past(scope, actions) if random.random() < 0.4 else self.state(1, scope)
                return f"(:process {head} {word} {body})"
            case "on":
                step = random.choice([*actions])
                inner = list(dict.fromkeys([*scope, *(["?x"] if actions[step] else [])]))
                terms = [random.choice(("?x", "?x", "_"))] if actions[step] else []
                if "_" in terms and "?x" not in scope:
                    inner = scope
                body = self.past(inner, actions) if random.random() < 0.5 else self.state(1, inner)
                guard = f":when {self.state(0, inner)}" if random.random() < 0.4 else ""
                after = "-after" if random.random() < 0.3 else ""
                return f"(:process {head} :on ({' '.join([step, *terms])}) {guard} {word}{after} {body})"
            case "trajectory":
                return f"(:trajectory {head} :formula {self.trajectory(scope, actions)})"
            case "end":
                body = self.past(scope, actions) if random.random() < 0.3 else self.state(1, scope)
                return f"(:termination {head} {word} {body})"
            case _:
                within = f":within {random.choice((0, 1, 2))}" if random.random() < 0.6 else ""
                return f"(:obligation {head} :when {self.state(0, scope)} :then {self.literal(scope)} {within})"


class Case(NamedTuple):
    """A task with its executable plans, its safe plans, and a plan to localise."""

    task: Tiny
    checker: Checker
    executable: tuple[Plan, ...]
    safe: frozenset[Plan]
    plan: Plan
    kernel: Kernel


def cases(seed: str, count: int) -> Iterator[tuple[str, Case]]:
    """Draw cases with their seeds; most cases without a safe plan are skipped."""
    number = 0
    while count:
        number += 1
        case_seed = f"{seed} {number}"
        drawn_case = case(case_seed)
        if drawn_case is None or (not drawn_case.safe and number % 4):
            continue
        count -= 1
        yield case_seed, drawn_case


def case(seed: str) -> Case | None:
    """Draw the case of a seed; ``None`` if it has too many plans."""
    random = Random(seed)
    task = tiny(random)
    domain, problem, safety = [Source(n, t) for n, t in zip("dps", task[:3], strict=True)]
    checker = Checker(domain, problem, [safety] if task.safety else [])
    simulation = Execution(checker.engine)
    executable: list[Plan] = []
    reaching: list[Plan] = []

    def explore(plan: Plan) -> bool:
        executable.append(plan)
        if checker.engine.evaluate_goal(simulation.state):
            reaching.append(plan)
        for step in list(simulation.legal()):
            if len(executable) > MAX_PLANS:
                return False
            simulation.take(step)
            fits = explore((*plan, step_text(step, simulation.task.objects)))
            simulation.undo()
            if not fits:
                return False
        return True

    if not explore(()):
        return None
    kernel = Kernel(task.domain, task.problem, [task.safety] if task.safety else [])
    safe = frozenset(_safe_plans(kernel, reaching))
    return Case(task, checker, tuple(executable), safe, _plan(random, executable, sorted(safe)), kernel)


def _safe_plans(kernel: Kernel, plans: list[Plan]) -> Iterator[Plan]:
    """The plans that the kernel finds safe. Continuations of a prefix with a violation are not audited."""
    lost: set[Plan] = set()
    for plan in [(), *sorted(plans, key=len)]:
        if any(plan[:length] in lost for length in range(len(plan) + 1)):
            continue
        verdict = kernel.audit("\n".join(plan))
        # A letter contains the next action, so a violation at letter i may be caused by step i + 1.
        lost |= {
            plan[: finding.step + 1] for finding in verdict.findings if not finding.at_end and finding.step < len(plan)
        }
        if verdict.headline in ("SAFE", "VALID"):
            yield plan


def _plan(random: Random, executable: list[Plan], safe: list[Plan]) -> Plan:
    """Draw an executable plan, or a safe plan with a fault; sometimes with steps that cannot be taken."""
    plan = list(random.choice(safe if safe and random.random() < 0.5 else executable))
    all_steps = sorted({step for plan in executable for step in plan})
    for _ in range(random.choice((0, 1, 1, 2))):
        place = random.randint(0, len(plan))
        match random.choice(("insert", "replace", "delete", "cut", "misspell")):
            case "insert" if all_steps:
                plan.insert(place, random.choice(all_steps))
            case "replace" if all_steps and place < len(plan):
                plan[place] = random.choice(all_steps)
            case "delete" if place < len(plan):
                del plan[place]
            case "cut":
                plan = plan[:place]
            case "misspell" if random.random() < 0.3:
                plan.insert(place, "(jump)")
            case _:
                pass
    return tuple(plan)


class Expected(NamedTuple):
    """The indices according to the list of all safe plans."""

    point_of_no_return: int
    regret: tuple[int | None, ...]


def expected(case: Case) -> Expected:
    """The point of no return and the regret, by definition."""
    costs = []
    for length in range(len(case.plan) + 1):
        prefix = case.plan[:length]
        lengths = [len(safe) - length for safe in case.safe if safe[:length] == prefix]
        if not lengths:
            break
        costs.append(min(lengths))
    regret = [1 + costs[i] - costs[i - 1] if i < len(costs) else None for i in range(1, len(case.plan) + 1)]
    return Expected(len(costs) - 1, tuple(regret))


def calls_allowed(steps: int) -> int:
    """ceil(log2(n + 2))."""
    return (steps + 1).bit_length()


def differences(case: Case, planner: Planner) -> list[str]:
    """Describe the differences between the localisation of a case and the expected indices."""
    location = localise(case.checker, Source("plan", "\n".join(case.plan)), planner=planner, regret=True)
    expected_point, expected_regret = expected(case)
    problems = []
    if location.last_safe != expected_point:
        problems.append(f"point of no return {location.point_of_no_return}, not {expected_point}; {location.detail}")
    elif location.regret != expected_regret:
        problems.append(f"regret {location.regret}, not {expected_regret}")
    if location.planner_calls > calls_allowed(len(case.plan)):
        problems.append(f"{location.planner_calls} calls for {len(case.plan)} steps")
    fatal = expected_point + 1 if expected_point < len(case.plan) else None
    if not problems and location.fatal != fatal:
        problems.append(f"fatal step {location.fatal}, not {fatal}")
    return problems + _indices(case, location)


def _indices(case: Case, location: Localisation) -> list[str]:
    """Compare the first violated rule and the first inexecutable step with the kernel."""
    verdict = case.kernel.audit("\n".join(case.plan))
    failed = min([*verdict.ill_formed, *verdict.failed_steps["halt"]], default=None)
    out = [] if location.inexecutable == failed else [f"inexecutable {location.inexecutable}, not {failed}"]
    findings = [finding for finding in verdict.findings if "halt" in finding.readings]
    # A violation at the end does not count if the plan stops before.
    sure = [finding.step for finding in findings if not (failed and finding.at_end)]
    possible = bool(sure) or any(not finding.exact_step for finding in findings)
    missed = location.violated is None and bool(sure)
    late = location.violated is not None and bool(sure) and location.violated > min(sure)
    if missed or late or (location.violated is not None and not possible):
        out.append(f"violated {location.violated}, not {min(sure, default=None)}")
    return out


def main() -> int:
    """Compare many cases, and print those that differ."""
    parser = argparse.ArgumentParser(description="localisation against exhaustive search on tiny random tasks")
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    planner, counts, began, bad = ForwardSearch(), Counter[str](), perf_counter(), 0
    for seed, drawn_case in cases(str(arguments.seed), arguments.tasks):
        point = expected(drawn_case).point_of_no_return
        counts["nothing safe" if point < 0 else "all of it" if point == len(drawn_case.plan) else "in between"] += 1
        wrong = differences(drawn_case, planner)
        if wrong:
            bad += 1
            print(f"-- {seed}: {wrong}", *drawn_case.task[:3], *drawn_case.plan, sep="\n")
    print(f"{dict(counts)}, {bad} differ, {perf_counter() - began:.1f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
