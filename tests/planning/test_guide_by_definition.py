"""The guide's answer for each step agrees with the list of all states."""

from __future__ import annotations

from collections import Counter, deque
from random import Random

import pytest
from endless_tasks import endless

from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.planning import best_first_search
from plansafe.verifier.planning.continuations import Steps
from plansafe.verifier.planning.guide import Guide

STATES = 250
FAR = 1_000


class Listed:
    """All states of a task that can be reached safely, with the number of steps to a good end, by definition."""

    def __init__(self, checker: Checker) -> None:
        self.start = Execution.initial(checker.engine)
        before: dict[object, list[object]] = {self.start.key(): []}
        ends: list[object] = []
        queue = deque([] if self.start.broken else [self.start])
        while queue and len(before) <= STATES:
            now = queue.popleft()
            if now.accepted:
                ends.append(now.key())
            for step in now.legal():
                after = now.after(step)
                assert after is not None
                if after.broken:
                    continue
                if after.key() not in before:
                    before[after.key()] = []
                    queue.append(after)
                before[after.key()].append(now.key())
        self.is_complete = not queue
        self.left = dict.fromkeys(ends, 0)
        back = deque(ends)
        while back:
            key = back.popleft()
            for earlier in before[key]:
                if earlier not in self.left:
                    self.left[earlier] = self.left[key] + 1
                    back.append(earlier)

    def distance(self, now: Execution | None) -> int:
        """The number of steps to a good end; :data:`FAR` if no good end is reachable."""
        return FAR if now is None or now.broken else self.left.get(now.key(), FAR)


def arrives(now: Execution, steps: Steps) -> bool:
    trial = now.fork()
    return all([trial.take(step) and not trial.broken for step in steps]) and trial.accepted


def walked(number: int, statistics: Counter[str], *, complete: bool) -> None:
    """Simulate random steps of a task, and ask the guide about each legal step with some bound."""
    checker, random = endless(number), Random(number)
    listed = Listed(checker)
    if not listed.is_complete:
        return
    guide, now = Guide(checker.compiled, max_states=100_000, time_limit_s=60), listed.start
    visited_keys = {now.key()}
    for _ in range(4):
        continuation = guide.continuation()
        assert (continuation.exists is True) == (listed.distance(now) < FAR), number
        for option in guide.options():
            after = now.after(option.step)
            assert after is not None
            assert guide.returns_to_visited_state(option.step) == (after.key() in visited_keys), number
            for within in random.sample([None, 0, 1, 2, 3, 4, 6], 3):
                most, least = FAR - 1 if within is None else within, listed.distance(after)
                continuation = guide.allows(option.step, within)
                assert continuation.exists is (least <= most) or (continuation.exists is None and not complete), (
                    number,
                    within,
                )
                if continuation.exists:
                    assert arrives(after, continuation.steps), number
                    assert len(continuation.steps) <= most, number
                statistics[str(continuation.exists)] += 1
        steps = [option.step for option in guide.options() if not option.broken]
        if not steps:
            return
        step = random.choice(steps)
        guide.take(step, guide.allows(step) if random.random() < 0.5 else None)
        assert now.take(step)
        visited_keys.add(now.key())


@pytest.mark.slow
def test_only_allowed_steps_can_reach_the_goal() -> None:
    statistics = Counter[str]()
    for number in [*range(120), 1475]:
        walked(number, statistics, complete=True)
    assert statistics["True"] > 300, statistics
    assert statistics["False"] > 300, statistics


def test_only_allowed_steps_can_reach_the_goal_without_the_relaxation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_first_search, "MAX_GROUNDINGS", -1)
    statistics = Counter[str]()
    for number in range(120, 200):
        walked(number, statistics, complete=False)
    assert statistics["True"] > 200, statistics
    assert statistics["False"] > 50, statistics
