"""Plans whose order is partly left open, with many writers of one fact.

``rounds`` (STRIPS, a state rule): somebody comes, switches a stove on and off, and leaves, again and again, while
others work on the rest of the house. ``doors`` (STRIPS, nothing for the rule to do): a door is opened, passed and
closed again. ``interlock`` (conditional effects, a state rule): who comes and leaves and who cooks are not ordered at
all, but the stove goes on only if somebody is there, and off when they leave. ``shifts`` (STRIPS, a state rule with a
quantifier): people relieve each other, so that one of them is there whenever the stove may be on.
"""

from __future__ import annotations

from bench.worlds.task import INVALID, SAFE, UNSAFE, Answer, Task, problem_of

DOMAIN = """(define (domain house)
  (:types person item)
  (:predicates (on) (attended) (open) (armed) (here ?p - person) (passed ?p - person)
    (ready ?i - item) (done ?i - item))
  (:action come :effect (attended))
  (:action leave :effect (not (attended)))
  (:action arrive :parameters (?p - person) :effect (here ?p))
  (:action depart :parameters (?p - person) :effect (not (here ?p)))
  (:action switch-on :effect (on))
  (:action switch-off :precondition (on) :effect (not (on)))
  (:action arm :effect (armed))
  (:action try :effect (when (attended) (on)))
  (:action quit :effect (and (not (attended)) (when (armed) (not (on)))))
  (:action open-door :effect (open))
  (:action pass :parameters (?p - person) :precondition (open) :effect (passed ?p))
  (:action close-door :effect (not (open)))
  (:action prepare :parameters (?i - item) :effect (ready ?i))
  (:action finish :parameters (?i - item)
    :precondition (ready ?i)
    :effect (and (not (ready ?i)) (done ?i))))
"""
RULES = """(define (safety house)
  (:process never-alone :forbid (and (on) (not (attended)) (not (exists (?p - person) (here ?p))))))
"""


class _Plan:
    """Steps are numbered from 1; each says which steps come before it."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.pairs: list[tuple[int, int]] = []

    def step(self, text: str, *before: int) -> int:
        self.steps.append(text)
        self.pairs += [(b, len(self.steps)) for b in before if b]
        return len(self.steps)

    def fill(self, size: int, chains: int = 8) -> None:
        """Work beside: each item is prepared and finished, in chains that are not ordered among each other."""
        last = [0] * chains
        item = 0
        while len(self.steps) + 2 <= size:
            chain = item % chains
            last[chain] = self.step(f"(finish i{item})", self.step(f"(prepare i{item})", last[chain]))
            item += 1

    def task(self, size: int, people: int, expected: Answer) -> Task:
        self.fill(size)
        items = sum([step.startswith("(prepare") for step in self.steps])
        steps = "\n  ".join([f"(s{number} {text})" for number, text in enumerate(self.steps, 1)])
        pairs = " ".join([f"(< s{first} s{second})" for first, second in self.pairs])
        names = {"person": [f"p{i}" for i in range(max(1, people))], "item": [f"i{i}" for i in range(items)]}
        goal = " ".join([f"(done i{i})" for i in range(items)])
        plan = f"(define (plan work)\n (:steps\n  {steps})\n (:ordering {pairs}))\n"
        return Task(DOMAIN, problem_of("house", names, [], goal), RULES, plan, expected)


def _rounds(size: int) -> int:
    return max(10, size // 20)


def rounds(size: int, *, safe: bool) -> Task:
    """Not ``safe``: one of them may leave before the stove is off."""
    plan, left, count = _Plan(), 0, _rounds(size)
    for number in range(count):
        came = plan.step("(come)", left)
        off = plan.step("(switch-off)", plan.step("(switch-on)", came))
        left = plan.step("(leave)", off if safe or number != count // 2 else came)
        if not safe and number == count // 2:
            left = plan.step("(come)", off, left)
    return plan.task(size, 0, SAFE if safe else UNSAFE)


def doors(size: int, *, safe: bool) -> Task:
    """Not ``safe``: somebody may come to a closed door, in some orders."""
    plan, closed, count = _Plan(), 0, _rounds(size)
    for number in range(count):
        opened = plan.step("(open-door)", closed if safe or number != count // 2 else 0)
        closed = plan.step("(close-door)", plan.step(f"(pass p{number})", opened))
    return plan.task(size, count, SAFE if safe else INVALID)


def interlock(size: int, *, safe: bool) -> Task:
    """Not ``safe``: the device that switches the stove off may be armed too late."""
    plan, count = _Plan(), _rounds(size)
    armed, host, cook = plan.step("(arm)"), 0, 0
    for _ in range(count):
        host = plan.step("(quit)", plan.step("(come)", host), armed if safe else 0)
        cook = plan.step("(try)", cook)
    return plan.task(size, 0, SAFE if safe else UNSAFE)


def shifts(size: int, *, safe: bool) -> Task:
    """Not ``safe``: one of them may depart before the next has arrived."""
    plan, count = _Plan(), _rounds(size)
    first = here = plan.step("(arrive p0)")
    cook = before = 0
    for number in range(count):
        left = plan.step(f"(depart p{number})", here)
        here = plan.step(f"(arrive p{number + 1})", first, before)
        if safe or number != count // 2:
            plan.pairs.append((here, left))
        before = here
        cook = plan.step("(switch-off)", plan.step("(switch-on)", first, cook))
    plan.step(f"(depart p{count})", here, cook)
    return plan.task(size, count + 1, SAFE if safe else UNSAFE)
