"""Which examples a step sees, and with which learning rate: functions of the step alone.

So a run that was stopped goes on as if it had not been, with nothing to restore. Steps count from 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from plansafe.align.config import Config


class Order:
    """Epochs over ``count`` examples, each in an order of its own, cut into steps of ``size``.

    An epoch that does not fill its last step goes on with the next: no example is seen more often than another by more
    than one.
    """

    def __init__(self, count: int, size: int, seed: int) -> None:
        self._count = count
        self._size = size
        self._seed = seed
        self._epochs: dict[int, list[int]] = {}

    def at(self, step: int) -> list[int]:
        """Numbers of the examples of a step."""
        start = (step - 1) * self._size
        return [self._epoch(place // self._count)[place % self._count] for place in range(start, start + self._size)]

    def epoch(self, step: int) -> float:
        """How many times all examples were seen when the step is done."""
        return step * self._size / self._count

    def _epoch(self, number: int) -> list[int]:
        if number not in self._epochs:
            if len(self._epochs) > 4:
                self._epochs.clear()
            drawn = list(range(self._count))
            Random(f"order/{self._seed}/{number}").shuffle(drawn)
            self._epochs[number] = drawn
        return self._epochs[number]


def shares(numbers: Sequence[int], size: int, parts: int) -> list[list[list[int]]]:
    """The examples of a step by process, and for each by forward pass: ``size`` in a pass, all processes alike."""
    passes = [list(numbers[at : at + size]) for at in range(0, len(numbers), size)]
    return [passes[part::parts] for part in range(parts)]


def learning_rate(config: Config, step: int) -> float:
    """The rate of a step: a rise over the warm-up, then as ``schedule`` says down to 0 behind the last step."""
    warm = math.ceil(config.warmup_ratio * config.max_steps)
    if step <= warm:
        return config.lr * step / warm
    left = (config.max_steps - step + 1) / (config.max_steps - warm + 1)
    match config.schedule:
        case "constant":
            return config.lr
        case "linear":
            return config.lr * left
        case "cosine":
            return config.lr * 0.5 * (1 + math.cos(math.pi * (1 - left)))
