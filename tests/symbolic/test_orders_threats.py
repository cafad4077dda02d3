"""The modal truth criterion against all linear extensions."""

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


def some_order(random: Random, size: int) -> PartialOrder:
    shuffled = random.sample(range(1, size + 1), size)
    density = random.choice((0.1, 0.3, 0.5))
    return PartialOrder(
        size,
        [(a, b) for i, a in enumerate(shuffled) for b in shuffled[i + 1 :] if random.random() < density],
    )


def value(writers: Writers, order: tuple[int, ...], moment: int) -> bool:
    now = bool(writers.initial)
    for step in order:
        if step == moment:
            break
        now = (now or bool(writers.making >> step & 1)) and not writers.breaking >> step & 1
    return now


def test_the_closure_and_the_extensions() -> None:
    random = Random(1)
    for _ in range(100):
        order = some_order(random, random.randint(1, 5))
        linear = [p for p in permutations(range(1, order.size + 1)) if allows(order, p)]
        assert order.linear_extension() in linear
        for a in range(1, order.size + 1):
            for b in range(1, order.size + 1):
                always = a != b and all(p.index(a) < p.index(b) for p in linear)
                assert bool(order.after[a] >> b & 1) == always == bool(order.before[b] >> a & 1)


def test_a_cycle_is_refused() -> None:
    with pytest.raises(ValueError, match="cyclic"):
        PartialOrder(4, [(1, 2), (2, 3), (3, 2), (3, 4)])
    with pytest.raises(ValueError, match="cyclic"):
        PartialOrder(1, [(1, 1)])


def test_the_criterion_is_exact_where_writes_are_plain() -> None:
    random = Random(2)
    seen = set()
    for _ in range(1500):
        order = some_order(random, random.randint(1, 5))
        kinds = {step: random.choice("-+ ") for step in range(1, order.size + 1)}
        makes = sum(1 << step for step, kind in kinds.items() if kind == "+")
        breaks = sum(1 << step for step, kind in kinds.items() if kind == "-")
        writers = Writers(random.random() < 0.5, makes, breaks, makes, breaks)
        moment = random.randint(END, order.size)
        wanted = random.random() < 0.5
        linear = [p for p in permutations(range(1, order.size + 1)) if allows(order, p)]
        truth = all(value(writers, p, moment) is wanted for p in linear)
        assert holds_in_every_order(order, writers, moment, wanted) is truth
        found = find_failing_order(order, writers, moment, wanted)
        assert (found is None) is truth
        assert found is None or (found in linear and value(writers, found, moment) is not wanted)
        seen.add(truth)
    assert seen == {True, False}


def test_the_criterion_is_sound_where_writes_are_conditional() -> None:
    random = Random(3)
    found = 0
    for _ in range(800):
        order = some_order(random, random.randint(1, 4))
        steps = range(1, order.size + 1)
        certainly = {step: random.choice("-+  ") for step in steps}
        perhaps = {step: kind if kind != " " else random.choice("-+  ") for step, kind in certainly.items()}
        masks = [
            sum(1 << step for step, kind in kinds.items() if kind == sign)
            for kinds in (certainly, perhaps)
            for sign in "+-"
        ]
        initial = random.choice((True, False, None))
        writers = Writers(initial, *masks)
        moment, wanted = random.randint(END, order.size), random.random() < 0.5
        if not holds_in_every_order(order, writers, moment, wanted):
            continue
        found += 1
        open_steps = [step for step in steps if certainly[step] != perhaps[step]]
        for p in permutations(steps):
            if not allows(order, p):
                continue
            for chosen in range(1 << len(open_steps)):
                fires = {step for i, step in enumerate(open_steps) if chosen >> i & 1}
                fires |= {step for step in steps if certainly[step] != " "}
                makes = sum(1 << step for step in fires if perhaps[step] == "+")
                breaks = sum(1 << step for step in fires if perhaps[step] == "-")
                for start in (True, False) if initial is None else (initial,):
                    assert value(Writers(start, makes, breaks, makes, breaks), p, moment) is wanted
    assert found > 100
