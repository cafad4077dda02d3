"""The modal truth criterion agrees with all linear extensions."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from orders_cases import allows

from plansafe.verifier.symbolic.orders.partial_order import (
    END,
    PartialOrder,
    Writers,
    find_failing_order,
    holds_in_every_order,
)


def random_order(random: Random, size: int) -> PartialOrder:
    shuffled = random.sample(range(1, size + 1), size)
    density = random.choice((0.1, 0.3, 0.5))
    return PartialOrder(
        size,
        [
            (first, second)
            for i, first in enumerate(shuffled)
            for second in shuffled[i + 1 :]
            if random.random() < density
        ],
    )


def value_at(writers: Writers, order: tuple[int, ...], time_point: int) -> bool:
    is_true = bool(writers.initial)
    for step in order:
        if step == time_point:
            break
        is_true = (is_true or bool(writers.making_steps >> step & 1)) and not writers.breaking_steps >> step & 1
    return is_true


def test_the_transitive_closure_agrees_with_all_linear_extensions() -> None:
    random = Random(1)
    for _ in range(100):
        order = random_order(random, random.randint(1, 5))
        extensions = [sequence for sequence in permutations(range(1, order.size + 1)) if allows(order, sequence)]
        assert order.find_linear_extension() in extensions
        for a in range(1, order.size + 1):
            for b in range(1, order.size + 1):
                always = a != b and all(sequence.index(a) < sequence.index(b) for sequence in extensions)
                assert bool(order.after[a] >> b & 1) == always == bool(order.before[b] >> a & 1)


def test_a_cycle_is_refused() -> None:
    with pytest.raises(ValueError, match="cyclic"):
        PartialOrder(4, [(1, 2), (2, 3), (3, 2), (3, 4)])
    with pytest.raises(ValueError, match="cyclic"):
        PartialOrder(1, [(1, 1)])


def test_the_criterion_is_exact_for_unconditional_writes() -> None:
    random = Random(2)
    seen_truths = set()
    for _ in range(1500):
        order = random_order(random, random.randint(1, 5))
        kinds = {step: random.choice("-+ ") for step in range(1, order.size + 1)}
        makes = sum(1 << step for step, kind in kinds.items() if kind == "+")
        breaks = sum(1 << step for step, kind in kinds.items() if kind == "-")
        writers = Writers(random.random() < 0.5, makes, breaks, makes, breaks)
        time_point = random.randint(END, order.size)
        fact_value = random.random() < 0.5
        extensions = [sequence for sequence in permutations(range(1, order.size + 1)) if allows(order, sequence)]
        truth = all(value_at(writers, sequence, time_point) is fact_value for sequence in extensions)
        assert holds_in_every_order(order, writers, time_point, fact_value) is truth
        failing_order = find_failing_order(order, writers, time_point, fact_value)
        assert (failing_order is None) is truth
        assert failing_order is None or (
            failing_order in extensions and value_at(writers, failing_order, time_point) is not fact_value
        )
        seen_truths.add(truth)
    assert seen_truths == {True, False}


def test_the_criterion_is_sound_for_conditional_writes() -> None:
    random = Random(3)
    certain_count = 0
    for _ in range(800):
        order = random_order(random, random.randint(1, 4))
        steps = range(1, order.size + 1)
        certain_kinds = {step: random.choice("-+  ") for step in steps}
        possible_kinds = {step: kind if kind != " " else random.choice("-+  ") for step, kind in certain_kinds.items()}
        masks = [
            sum(1 << step for step, kind in kinds.items() if kind == sign)
            for kinds in (certain_kinds, possible_kinds)
            for sign in "+-"
        ]
        initial = random.choice((True, False, None))
        writers = Writers(initial, *masks)
        time_point, fact_value = random.randint(END, order.size), random.random() < 0.5
        if not holds_in_every_order(order, writers, time_point, fact_value):
            continue
        certain_count += 1
        open_steps = [step for step in steps if certain_kinds[step] != possible_kinds[step]]
        for sequence in permutations(steps):
            if not allows(order, sequence):
                continue
            for step_mask in range(1 << len(open_steps)):
                writing_steps = {step for i, step in enumerate(open_steps) if step_mask >> i & 1}
                writing_steps |= {step for step in steps if certain_kinds[step] != " "}
                makes = sum(1 << step for step in writing_steps if possible_kinds[step] == "+")
                breaks = sum(1 << step for step in writing_steps if possible_kinds[step] == "-")
                for start in (True, False) if initial is None else (initial,):
                    assert value_at(Writers(start, makes, breaks, makes, breaks), sequence, time_point) is fact_value
    assert certain_count > 100
