"""Large partially ordered plans with known verdicts, for measurements and tests.

``kitchen``: a cook switches a stove on and off in rounds, and a host comes and leaves; each round is attended.
``shifts``: robots work in overlapping shifts, and the stove is used at any time between the first and the last.
``crossing``: robots unlock, pass and lock one door. ``mutex``: robots share one tool, in an order that the plan leaves
open. The rest of each plan is independent work, in chains that are not ordered among each other.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import GroundAction, IllFormed

DOMAIN = """(define (domain large)
  (:types robot item - object)
  (:predicates (on) (attended) (here ?r - robot) (open) (free) (has ?r - robot) (holds ?r - robot)
    (done ?i - item) (ready ?i - item))
  (:action switch-on :effect (on))
  (:action switch-off :precondition (on) :effect (not (on)))
  (:action come :effect (attended))
  (:action leave :effect (not (attended)))
  (:action arrive :parameters (?r - robot) :effect (here ?r))
  (:action depart :parameters (?r - robot) :effect (not (here ?r)))
  (:action unlock :parameters (?r - robot) :effect (open))
  (:action pass :parameters (?r - robot) :precondition (open) :effect (has ?r))
  (:action lock :parameters (?r - robot) :effect (not (open)))
  (:action take :parameters (?r - robot) :precondition (free) :effect (and (holds ?r) (not (free))))
  (:action use :parameters (?r - robot ?i - item) :precondition (holds ?r) :effect (done ?i))
  (:action put :parameters (?r - robot) :precondition (holds ?r) :effect (and (not (holds ?r)) (free)))
  (:action prepare :parameters (?i - item) :effect (ready ?i))
  (:action finish :parameters (?i - item) :precondition (ready ?i) :effect (and (not (ready ?i)) (done ?i))))
"""
SAFETY = """(define (safety large)
  (:process never-alone :forbid (and (on) (not (attended)) (not (exists (?r - robot) (here ?r)))))
  (:process one-tool :parameters (?a ?b - robot) :forbid (and (holds ?a) (holds ?b) (not (= ?a ?b))))
  (:process locked-while-hot :forbid (and (on) (open) (not (attended)) (not (free))))
  (:process nobody-else :parameters (?a ?b - robot)
    :forbid (and (has ?a) (has ?b) (not (= ?a ?b)) (on) (not (attended)))))
"""


class LargePlan(NamedTuple):
    """A plan; ``expected`` has the values of executable and safe, ``writers`` counts the steps that write one fact."""

    name: str
    steps: list[str]
    pairs: list[tuple[int, int]]
    writers: int
    expected: tuple[str, str]

    def compiled(self) -> tuple[Checker, list[GroundAction | IllFormed]]:
        """Compile the task with its rules, and resolve the steps."""
        count = len(self.steps)
        problem = (
            f"(define (problem p) (:domain large) (:objects {' '.join(f'r{k}' for k in range(count))} - robot "
            f"{' '.join(f'i{k}' for k in range(count))} - item) (:init (free)) (:goal (and)))"
        )
        checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", problem), [Source("s.safe", SAFETY)])
        assert checker.ok, checker.diagnostics
        return checker, list(checker.read(Source("plan", "\n".join(self.steps))).steps)


class _PlanBuilder:
    def __init__(self) -> None:
        self.steps: list[str] = []
        self.pairs: list[tuple[int, int]] = []

    def add_step(self, text: str, *before: int) -> int:
        """Add a step after the steps with the numbers ``before``, and return its number."""
        self.steps.append(text)
        self.pairs += [(predecessor, len(self.steps)) for predecessor in before]
        return len(self.steps)

    def add_independent_steps(self, size: int, chains: int = 8) -> None:
        """Add steps that prepare and finish items, in chains that are not ordered among each other."""
        last = [0] * chains
        item = 0
        while len(self.steps) + 2 <= size:
            chain = item % chains
            first = self.add_step(f"(prepare i{item})", *([last[chain]] if last[chain] else []))
            last[chain] = self.add_step(f"(finish i{item})", first)
            item += 1


def kitchen(size: int, rounds: int, ordered: bool) -> LargePlan:
    """Two chains of writers; if not ``ordered``, the host may leave during one round."""
    plan = _PlanBuilder()
    cook = host = 0
    for number in range(rounds):
        arrival = plan.add_step("(come)", *([host] if host else []))
        on = plan.add_step("(switch-on)", arrival, *([cook] if cook else []))
        cook = plan.add_step("(switch-off)", on)
        may_leave_early = not ordered and number == rounds // 2
        host = plan.add_step("(leave)", arrival, *([] if may_leave_early else [cook]))
        if may_leave_early:
            plan.pairs.append((cook, plan.add_step("(prepare i0)")))
    plan.add_independent_steps(size)
    return LargePlan("kitchen", plan.steps, plan.pairs, 2 * rounds, ("ALL", "ALL" if ordered else "SOME"))


def shifts(size: int, rounds: int, ordered: bool) -> LargePlan:
    """A robot is present from the first shift to the last, and the stove is used between them.

    If not ``ordered``, one shift may end before the next begins.
    """
    plan = _PlanBuilder()
    first_arrival = arrival = plan.add_step("(arrive r0)")
    cook = 0
    for number in range(1, rounds + 1):
        departure = plan.add_step(f"(depart r{number - 1})", arrival)
        arrival = plan.add_step(f"(arrive r{number})", first_arrival, arrival)
        if ordered or number != rounds // 2:
            plan.pairs.append((arrival, departure))
        on = plan.add_step("(switch-on)", first_arrival, *([cook] if cook else []))
        cook = plan.add_step("(switch-off)", on)
    plan.add_step(f"(depart r{rounds})", arrival, cook)
    plan.add_independent_steps(size)
    return LargePlan("shifts", plan.steps, plan.pairs, 2 * rounds, ("ALL", "ALL" if ordered else "SOME"))


def crossing(size: int, robots: int, ordered: bool) -> LargePlan:
    """Robots unlock, pass and lock one after the other; if not ``ordered``, a robot may lock before another passes."""
    plan = _PlanBuilder()
    last = 0
    for robot in range(robots):
        unlocked = plan.add_step(f"(unlock r{robot})", *([last] if last and (ordered or robot != robots // 2) else []))
        passed = plan.add_step(f"(pass r{robot})", unlocked)
        last = plan.add_step(f"(lock r{robot})", passed)
    plan.add_independent_steps(size)
    return LargePlan("crossing", plan.steps, plan.pairs, 2 * robots, ("ALL" if ordered else "SOME", "ALL"))


def mutex(size: int, robots: int, possible: bool) -> LargePlan:
    """A robot puts the tool back before another takes it; if not ``possible``, two robots wait for each other."""
    plan = _PlanBuilder()
    takes = [plan.add_step(f"(take r{robot})") for robot in range(robots)]
    uses = [plan.add_step(f"(use r{robot} i{robot})", takes[robot]) for robot in range(robots)]
    puts = [plan.add_step(f"(put r{robot})", uses[robot]) for robot in range(robots)]
    if not possible:
        plan.pairs += [(takes[0], puts[1]), (takes[1], puts[0])]
    plan.add_independent_steps(size)
    return LargePlan("mutex", plan.steps, plan.pairs, 2 * robots, ("SOME" if possible else "NONE", "ALL"))


FAMILIES = {"kitchen": kitchen, "shifts": shifts, "crossing": crossing, "mutex": mutex}
