"""Mutate plans: drop, swap, repeat and move steps, replace actions and arguments. A seed gives the same mutants."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

STEP = re.compile(r"^\s*(?:(?P<time>[\d.]+)\s*:)?\s*\((?P<call>[^()]*)\)\s*(?:\[(?P<duration>[\d.]+)\])?\s*$")
OBJECTS = re.compile(r"\(:(?:objects|constants)([^()]*(?:\([^()]*\)[^()]*)*)\)", re.IGNORECASE)


@dataclass(frozen=True)
class Step:
    """One line of a plan; ``time`` and ``duration`` are kept as they were written."""

    action: str
    arguments: tuple[str, ...]
    time: str | None = None
    duration: str | None = None

    def __str__(self) -> str:
        call = f"({' '.join((self.action, *self.arguments))})"
        start = "" if self.time is None else f"{self.time}: "
        return start + call + ("" if self.duration is None else f" [{self.duration}]")


Plan = tuple[Step, ...]


@dataclass(frozen=True)
class Pool:
    """The parts for mutations: the original steps by action, all objects, and the objects by action and position."""

    steps_of_action: dict[str, tuple[Step, ...]]
    objects: tuple[str, ...]
    arguments_at: dict[tuple[str, int], tuple[str, ...]]


def read_plan(text: str) -> Plan:
    """Read a plan with one step per line. Raises ValueError for a line that is neither a step nor a comment."""
    steps = []
    for line in text.splitlines():
        line = line.partition(";")[0]
        if not line.strip():
            continue
        match = STEP.match(line)
        if match is None:
            raise ValueError(f"not a step: {line!r}")
        action, *arguments = match["call"].split()
        steps.append(Step(action, tuple(arguments), match["time"], match["duration"]))
    return tuple(steps)


def object_names(*texts: str) -> tuple[str, ...]:
    """Return the names declared in the ``:objects`` and ``:constants`` of the texts, without types."""
    names: set[str] = set()
    for text in texts:
        for section in OBJECTS.findall(text):
            untyped = re.sub(r"\s-\s*(\([^()]*\)|\S+)", " ", section)
            names.update(untyped.lower().split())
    return tuple(sorted(names))


def make_pool(plan: Plan, objects: tuple[str, ...]) -> Pool:
    """Return the pool of a plan and of the objects of its task."""
    arguments_at: dict[tuple[str, int], set[str]] = {}
    for step in plan:
        for position, argument in enumerate(step.arguments):
            arguments_at.setdefault((step.action, position), set()).add(argument)
    return Pool(
        {step.action: tuple([similar for similar in plan if similar.action == step.action]) for step in plan},
        objects,
        {place: tuple(sorted(names)) for place, names in arguments_at.items()},
    )


def drop(plan: Plan, _: Pool, rng: random.Random) -> Plan:
    """Drop one step."""
    index = rng.randrange(len(plan))
    return plan[:index] + plan[index + 1 :]


def swap(plan: Plan, _: Pool, rng: random.Random) -> Plan:
    """Exchange two steps, in half of the cases neighbours; the times stay in place."""
    if len(plan) < 2:
        return plan
    first = rng.randrange(len(plan) - 1)
    second = first + 1 if rng.random() < 0.5 else rng.randrange(first + 1, len(plan))
    steps = list(plan)
    steps[first] = replace(plan[second], time=plan[first].time)
    steps[second] = replace(plan[first], time=plan[second].time)
    return tuple(steps)


def duplicate(plan: Plan, _: Pool, rng: random.Random) -> Plan:
    """Repeat a step directly after itself, or at the place and time of another step."""
    step = rng.choice(plan)
    index = plan.index(step) if rng.random() < 0.5 else rng.randrange(len(plan))
    return (*plan[: index + 1], replace(step, time=plan[index].time), *plan[index + 1 :])


def replace_argument(plan: Plan, pool: Pool, rng: random.Random) -> Plan:
    """Replace an argument, usually by an object from the same position of the action, sometimes by any object."""
    places = [(i, j) for i, step in enumerate(plan) for j in range(len(step.arguments))]
    if not places:
        return plan
    index, position = rng.choice(places)
    step = plan[index]
    names = pool.arguments_at[step.action, position] if rng.random() < 0.7 else pool.objects
    arguments = (*step.arguments[:position], rng.choice(names), *step.arguments[position + 1 :])
    return (*plan[:index], replace(step, arguments=arguments), *plan[index + 1 :])


def replace_action(plan: Plan, pool: Pool, rng: random.Random) -> Plan:
    """Replace the action of a step, usually together with arguments that the plan has for the new action."""
    index = rng.randrange(len(plan))
    action = rng.choice(sorted(pool.steps_of_action))
    template = rng.choice(pool.steps_of_action[action])
    arguments = template.arguments if rng.random() < 0.7 else plan[index].arguments
    changed = Step(action, arguments, plan[index].time, template.duration)
    return (*plan[:index], changed, *plan[index + 1 :])


def retime(plan: Plan, _: Pool, rng: random.Random) -> Plan:
    """Move a step of a timed plan to another time, by quarters of a unit, or change its duration."""
    timed = [i for i, step in enumerate(plan) if step.time is not None]
    if not timed:
        return plan
    index = rng.choice(timed)
    step = plan[index]
    amount = rng.randint(-8, 8) * 0.25
    if step.duration is not None and rng.random() < 0.3:
        changed = replace(step, duration=f"{max(0.25, float(step.duration) + amount):.5g}")
    else:
        changed = replace(step, time=f"{max(0.0, float(step.time or 0) + amount):.5g}")
    return (*plan[:index], changed, *plan[index + 1 :])


MUTATIONS: tuple[Callable[[Plan, Pool, random.Random], Plan], ...] = (
    drop,
    swap,
    duplicate,
    replace_argument,
    replace_action,
    retime,
)


def mutants(plan: Plan, objects: tuple[str, ...], count: int, seed: str, prefixes: bool = False) -> Iterator[str]:
    """Yield at most ``count`` different mutants of a plan or of its prefixes; one in four has two mutations."""
    rng = random.Random(seed)
    pool = make_pool(plan, objects)
    yielded = {plan}
    for _ in range(count * 20):
        mutant = plan[: rng.randint(1, len(plan))] if prefixes else plan
        for _ in range(1 if rng.random() < 0.75 else 2):
            if mutant:
                mutant = rng.choice(MUTATIONS)(mutant, pool, rng)
        if mutant not in yielded:
            yielded.add(mutant)
            yield "".join(f"{step}\n" for step in mutant)
            if len(yielded) > count:
                return
