"""Partially ordered plans in which many steps write the same fact.

``rounds`` (STRIPS, a state rule): a person comes, switches a stove on and off, and leaves, repeatedly; unrelated work
is not ordered relative to this. ``doors`` (STRIPS, the rule is not triggered): a passage is opened, passed and closed
again. ``interlock`` (conditional effects, a state rule): coming and leaving are not ordered relative to cooking, but
the stove turns on only if a person is present, and turns off when the person leaves. ``shifts`` (STRIPS, a state rule
with a quantifier): persons replace each other, so one is present whenever the stove can be on.
"""

from __future__ import annotations

from bench.worlds.task import INVALID, SAFE, UNSAFE, Answer, Task, problem_text

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


class _PartialOrder:
    """A partially ordered plan under construction; steps are numbered from 1."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.ordering: list[tuple[int, int]] = []

    def add_step(self, text: str, *predecessors: int) -> int:
        """Add a step after the given steps (0: none); returns its number."""
        self.steps.append(text)
        self.ordering += [(predecessor, len(self.steps)) for predecessor in predecessors if predecessor]
        return len(self.steps)

    def add_unrelated_work(self, size: int, chains: int = 8) -> None:
        """Add unrelated work: each item is prepared and finished, in chains without an order between them."""
        last_steps = [0] * chains
        item = 0
        while len(self.steps) + 2 <= size:
            chain = item % chains
            last_steps[chain] = self.add_step(
                f"(finish i{item})", self.add_step(f"(prepare i{item})", last_steps[chain])
            )
            item += 1

    def build_task(self, size: int, people: int, expected: Answer) -> Task:
        self.add_unrelated_work(size)
        items = sum([step.startswith("(prepare") for step in self.steps])
        steps = "\n  ".join([f"(s{number} {text})" for number, text in enumerate(self.steps, 1)])
        ordering_text = " ".join([f"(< s{first} s{second})" for first, second in self.ordering])
        objects_by_type = {"person": [f"p{i}" for i in range(max(1, people))], "item": [f"i{i}" for i in range(items)]}
        goal = " ".join([f"(done i{i})" for i in range(items)])
        plan = f"(define (plan work)\n (:steps\n  {steps})\n (:ordering {ordering_text}))\n"
        return Task(DOMAIN, problem_text("house", objects_by_type, [], goal), RULES, plan, expected)


def _round_count(size: int) -> int:
    return max(10, size // 20)


def rounds_task(size: int, *, safe: bool) -> Task:
    """If not ``safe``, one person can leave before the stove is off."""
    plan, last_leave, count = _PartialOrder(), 0, _round_count(size)
    for index in range(count):
        come = plan.add_step("(come)", last_leave)
        switch_off = plan.add_step("(switch-off)", plan.add_step("(switch-on)", come))
        last_leave = plan.add_step("(leave)", switch_off if safe or index != count // 2 else come)
        if not safe and index == count // 2:
            last_leave = plan.add_step("(come)", switch_off, last_leave)
    return plan.build_task(size, 0, SAFE if safe else UNSAFE)


def doors_task(size: int, *, safe: bool) -> Task:
    """If not ``safe``, one person finds the passage closed in some orders."""
    plan, last_close, count = _PartialOrder(), 0, _round_count(size)
    for index in range(count):
        open_step = plan.add_step("(open-door)", last_close if safe or index != count // 2 else 0)
        last_close = plan.add_step("(close-door)", plan.add_step(f"(pass p{index})", open_step))
    return plan.build_task(size, count, SAFE if safe else INVALID)


def interlock_task(size: int, *, safe: bool) -> Task:
    """If not ``safe``, the device that switches the stove off can be armed too late."""
    plan, count = _PartialOrder(), _round_count(size)
    arm, last_host_step, last_try = plan.add_step("(arm)"), 0, 0
    for _ in range(count):
        last_host_step = plan.add_step("(quit)", plan.add_step("(come)", last_host_step), arm if safe else 0)
        last_try = plan.add_step("(try)", last_try)
    return plan.build_task(size, 0, SAFE if safe else UNSAFE)


def shifts_task(size: int, *, safe: bool) -> Task:
    """If not ``safe``, one person can depart before the next one arrives."""
    plan, count = _PartialOrder(), _round_count(size)
    first_arrival = last_arrival = plan.add_step("(arrive p0)")
    last_cook = previous_arrival = 0
    for index in range(count):
        departure = plan.add_step(f"(depart p{index})", last_arrival)
        last_arrival = plan.add_step(f"(arrive p{index + 1})", first_arrival, previous_arrival)
        if safe or index != count // 2:
            plan.ordering.append((last_arrival, departure))
        previous_arrival = last_arrival
        last_cook = plan.add_step("(switch-off)", plan.add_step("(switch-on)", first_arrival, last_cook))
    plan.add_step(f"(depart p{count})", last_arrival, last_cook)
    return plan.build_task(size, count + 1, SAFE if safe else UNSAFE)
