"""Large partially ordered plans whose verdicts are known, for measurements and for tests at size.

``kitchen``: a cook switches a stove on and off in rounds, and a host comes and goes; each round is attended.
``shifts``: robots relieve each other, and the stove is used at any time while they do. ``crossing``: robots unlock,
pass and lock one door. ``mutex``: robots share one tool, in an order that the plan leaves open. The rest of each plan
is independent work, in chains that are not ordered among each other.
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
    """A plan; ``expected`` are executable and safe, ``writers`` how many steps write one fact."""

    name: str
    steps: list[str]
    pairs: list[tuple[int, int]]
    writers: int
    expected: tuple[str, str]

    def compiled(self) -> tuple[Checker, list[GroundAction | IllFormed]]:
        """The task with its rules, and the steps."""
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

    def step(self, text: str, *before: int) -> int:
        """A step after others; its number."""
        self.steps.append(text)
        self.pairs += [(b, len(self.steps)) for b in before]
        return len(self.steps)

    def fill(self, size: int, chains: int = 8) -> None:
        """Independent work: items are prepared and finished, in chains that are not ordered among each other."""
        last = [0] * chains
        item = 0
        while len(self.steps) + 2 <= size:
            chain = item % chains
            first = self.step(f"(prepare i{item})", *([last[chain]] if last[chain] else []))
            last[chain] = self.step(f"(finish i{item})", first)
            item += 1


def kitchen(size: int, rounds: int, ordered: bool) -> LargePlan:
    """Two chains of writers; unordered, one round may be left alone."""
    plan = _PlanBuilder()
    cook = host = 0
    for number in range(rounds):
        came = plan.step("(come)", *([host] if host else []))
        on = plan.step("(switch-on)", came, *([cook] if cook else []))
        cook = plan.step("(switch-off)", on)
        slack = not ordered and number == rounds // 2
        host = plan.step("(leave)", came, *([] if slack else [cook]))
        if slack:
            plan.pairs.append((cook, plan.step("(prepare i0)")))
    plan.fill(size)
    return LargePlan("kitchen", plan.steps, plan.pairs, 2 * rounds, ("ALL", "ALL" if ordered else "SOME"))


def shifts(size: int, rounds: int, ordered: bool) -> LargePlan:
    """Somebody is there from the first shift to the last, and the stove is used somewhere in between.

    Unordered, one shift may end before the next begins.
    """
    plan = _PlanBuilder()
    first = came = plan.step("(arrive r0)")
    cook = 0
    for number in range(1, rounds + 1):
        left = plan.step(f"(depart r{number - 1})", came)
        came = plan.step(f"(arrive r{number})", first, came)
        if ordered or number != rounds // 2:
            plan.pairs.append((came, left))
        on = plan.step("(switch-on)", first, *([cook] if cook else []))
        cook = plan.step("(switch-off)", on)
    plan.step(f"(depart r{rounds})", came, cook)
    plan.fill(size)
    return LargePlan("shifts", plan.steps, plan.pairs, 2 * rounds, ("ALL", "ALL" if ordered else "SOME"))


def crossing(size: int, robots: int, ordered: bool) -> LargePlan:
    """As many conditions as writers of a fact; unordered, one section may clash with the next."""
    plan = _PlanBuilder()
    last = 0
    for robot in range(robots):
        unlocked = plan.step(f"(unlock r{robot})", *([last] if last and (ordered or robot != robots // 2) else []))
        passed = plan.step(f"(pass r{robot})", unlocked)
        last = plan.step(f"(lock r{robot})", passed)
    plan.fill(size)
    return LargePlan("crossing", plan.steps, plan.pairs, 2 * robots, ("ALL" if ordered else "SOME", "ALL"))


def mutex(size: int, robots: int, possible: bool) -> LargePlan:
    """Whoever has the tool has to put it back first; if that is not ``possible``, two robots wait for each other."""
    plan = _PlanBuilder()
    takes = [plan.step(f"(take r{robot})") for robot in range(robots)]
    uses = [plan.step(f"(use r{robot} i{robot})", takes[robot]) for robot in range(robots)]
    puts = [plan.step(f"(put r{robot})", uses[robot]) for robot in range(robots)]
    if not possible:
        plan.pairs += [(takes[0], puts[1]), (takes[1], puts[0])]
    plan.fill(size)
    return LargePlan("mutex", plan.steps, plan.pairs, 2 * robots, ("SOME" if possible else "NONE", "ALL"))


FAMILIES = {"kitchen": kitchen, "shifts": shifts, "crossing": crossing, "mutex": mutex}
