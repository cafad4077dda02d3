"""How many of some formulas hold, as a formula.

PDDL has no counting quantifier, and BDDL's ``forn`` and ``forpairs`` count. The encoding splits the formulas in halves:
at least k of them hold iff at least i of the first half and k - i of the second do, for some i. Halves are shared, so
the result is a graph of O(n k) nodes; written out it is a tree, of size n^O(log n) at worst, and small for the handful
of objects that activities count (:func:`written_size` says how large).
"""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.grammar.sexpr import Node


def at_least(count: int, formulas: Sequence[Node]) -> Node:
    """Build a formula that holds iff at least ``count`` of ``formulas`` do. Nodes are shared, not copied."""
    return _Threshold(formulas).at_least(count, 0, len(formulas))


def exactly(count: int, formulas: Sequence[Node]) -> Node:
    """Build a formula that holds iff ``count`` of ``formulas`` do, no more and no fewer."""
    if count > len(formulas) or count < 0:
        return ["or"]
    threshold = _Threshold(formulas)
    enough = threshold.at_least(count, 0, len(formulas))
    if count == len(formulas):
        return enough
    few: Node = ["not", threshold.at_least(count + 1, 0, len(formulas))]
    return few if count == 0 else ["and", enough, few]


class _Threshold:
    def __init__(self, formulas: Sequence[Node]) -> None:
        self.formulas = formulas
        self.cache: dict[tuple[int, int, int], Node] = {}

    def at_least(self, count: int, start: int, end: int) -> Node:
        """At least ``count`` of the formulas from ``start`` to ``end``. The recursion is as deep as log2 of them."""
        size = end - start
        if count <= 0:
            return ["and"]
        if count > size:
            return ["or"]
        if size == 1:
            return self.formulas[start]
        key = (count, start, end)
        formula = self.cache.get(key)
        if formula is None:
            if count == size:
                formula = ["and", *self.formulas[start:end]]
            elif count == 1:
                formula = ["or", *self.formulas[start:end]]
            else:
                formula = ["or", *self._splits(count, start, end)]
            self.cache[key] = formula
        return formula

    def _splits(self, count: int, start: int, end: int) -> list[Node]:
        middle = (start + end) // 2
        splits: list[Node] = []
        for left in range(max(0, count - (end - middle)), min(count, middle - start) + 1):
            parts = [(left, start, middle), (count - left, middle, end)]
            sides = [self.at_least(*part) for part in parts if part[0] > 0]
            splits.append(sides[0] if len(sides) == 1 else ["and", *sides])
        return splits


def written_size(formula: Node, limit: int) -> int:
    """How many tokens ``formula`` has when shared nodes are written out; more than ``limit`` is not counted exactly.

    Linear in the number of distinct nodes.
    """
    sizes: dict[int, int] = {}
    stack = [formula]
    while stack:
        node = stack[-1]
        if isinstance(node, str) or id(node) in sizes:
            stack.pop()
            continue
        waiting = [child for child in node if isinstance(child, list) and id(child) not in sizes]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        total = 2 + sum([1 if isinstance(child, str) else sizes[id(child)] for child in node])
        sizes[id(node)] = min(total, limit + 1)
    return 1 if isinstance(formula, str) else sizes[id(formula)]
