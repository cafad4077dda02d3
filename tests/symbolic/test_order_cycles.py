"""Cycles of a plan's order and chosen pairs, compared with networkx."""

from __future__ import annotations

from itertools import combinations
from random import Random

import networkx as nx
import pytest

from plansafe.verifier.symbolic.orders.partial_order import PartialOrder, Precedence
from plansafe.verifier.symbolic.orders.world_search import find_cycles


def _random_choice(seed: int) -> tuple[PartialOrder, list[Precedence]]:
    """An order of a few steps, and pairs of other steps with a chosen direction."""
    random = Random(seed)
    size = random.randint(3, 9)
    pairs = list(combinations(range(1, size + 1), 2))
    order = PartialOrder(size, random.sample(pairs, random.randint(0, size - 1)))
    unordered = [(a, b) for a, b in pairs if not (order.after[a] | order.before[a]) >> b & 1]
    drawn = random.sample(unordered, random.randint(0, min(len(unordered), 2 * size)))
    return order, [(a, b) if random.random() < 0.5 else (b, a) for a, b in drawn]


def _graph(order: PartialOrder, chosen: list[Precedence]) -> nx.DiGraph[int]:
    steps = range(1, order.size + 1)
    before = [(a, b) for a in steps for b in steps if order.after[a] >> b & 1]
    return nx.DiGraph([*before, *chosen])


@pytest.mark.parametrize("block", range(4))
def test_cycles_are_cycles_and_the_short_ones_are_found(block: int) -> None:
    long_cycles = 0
    for seed in range(500 * block, 500 * block + 500):
        order, chosen = _random_choice(seed)
        graph = _graph(order, chosen)
        if nx.is_directed_acyclic_graph(graph):
            continue
        cycles = find_cycles(order, chosen)
        assert cycles
        for cycle in cycles:
            assert all([graph.has_edge(*pair) for pair in cycle])
            assert [second for _, second in cycle] == [first for first, _ in cycle[1:]] + [cycle[0][0]]
        lengths = [nx.shortest_path_length(graph, b, a) + 1 for a, b in chosen if nx.has_path(graph, b, a)]
        assert min(map(len, cycles)) == min(lengths)
        if min(lengths) > 3:
            long_cycles += 1
            assert sorted(map(len, cycles)) == sorted([length for length in lengths if length <= min(lengths) + 1])
    assert long_cycles > 5, long_cycles
