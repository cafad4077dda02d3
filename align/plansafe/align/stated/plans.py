"""Shortest orders of the actions of a task, with the moves to their objects."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import NamedTuple


class Act(NamedTuple):
    """An action other than a move, and the room it is done in."""

    verb: str
    objects: tuple[str, ...]
    room: str

    @property
    def target(self) -> str:
        """The object that the robot must be near."""
        return self.objects[1] if self.verb in ("put", "give") else self.objects[0]

    @property
    def text(self) -> str:
        """The action as a line of a plan."""
        return f"({' '.join([self.verb, *self.objects])})"


Order = tuple[Act, Act]
"""The first action comes before the second."""


def shortest_plan(acts: Sequence[Act], orders: Collection[Order]) -> tuple[Act, ...]:
    """The shortest plan that does all acts in an admissible order, moves included.

    Among plans of the same length, the one whose acts come earliest in ``acts``. The robot has one hand: it takes a
    thing only after it has laid down the last one.
    """
    number = {act: at for at, act in enumerate(acts)}
    needs = [0] * len(acts)
    for first, second in orders:
        needs[number[second]] |= 1 << number[first]
    takes = {act.objects[0]: at for at, act in enumerate(acts) if act.verb == "take"}
    drops = {act.objects[0]: at for at, act in enumerate(acts) if act.verb in ("put", "give")}

    def is_hand_free(done: int) -> bool:
        return not any(done >> takes[item] & 1 and not done >> drops[item] & 1 for item in takes)

    @cache
    def best(done: int, near: str) -> tuple[int, int]:
        """The fewest further steps, and the next act."""
        cheapest = (1_000, -1)
        for at, act in enumerate(acts):
            if done >> at & 1 or needs[at] & ~done or (act.verb == "take" and not is_hand_free(done)):
                continue
            steps = 1 + (act.target != near) + best(done | 1 << at, act.target)[0]
            if steps < cheapest[0]:
                cheapest = (steps, at)
        return cheapest if cheapest[1] >= 0 or done != (1 << len(acts)) - 1 else (0, -1)

    plan: list[Act] = []
    done, near = 0, ""
    while (at := best(done, near)[1]) >= 0:
        act = acts[at]
        if act.target != near:
            plan.append(Act("go", (act.target,), act.room))
        plan.append(act)
        done, near = done | 1 << at, act.target
    return tuple(plan)
