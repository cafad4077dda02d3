"""Boolean circuits: hash-consed conjunctions over inputs, with constants folded.

A *literal* is ``2 * node + sign``; node 0 is false, so :data:`FALSE` is 0, :data:`TRUE` is 1, and ``literal ^ 1`` is
the negation. A gate's children have smaller numbers than the gate, so ascending order is an order of evaluation.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

FALSE, TRUE = 0, 1
Literal = int


class Circuit:
    """A growing circuit. ``gates[n]`` are the children of a conjunction, or ``None`` for an input (and node 0)."""

    def __init__(self) -> None:
        self.gates: list[tuple[Literal, ...] | None] = [None]
        self.keys: dict[int, Hashable] = {}
        """Node -> what the input stands for."""
        self._inputs: dict[tuple[type, Hashable], Literal] = {}
        self._known: dict[tuple[Literal, ...], Literal] = {}

    def input(self, key: Hashable) -> Literal:
        """The input that stands for ``key``; made at first use."""
        kind = type(key), key  # named tuples of two sorts are equal where their fields are
        found = self._inputs.get(kind)
        if found is None:
            node = len(self.gates)
            self.gates.append(None)
            self.keys[node] = key
            found = self._inputs[kind] = 2 * node
        return found

    def both(self, a: Literal, b: Literal) -> Literal:
        """Conjunction of two."""
        if a == b or b == TRUE:
            return a
        if a == TRUE:
            return b
        if a == FALSE or b == FALSE or a ^ b == 1:
            return FALSE
        key = (a, b) if a < b else (b, a)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = 2 * len(self.gates)
            self.gates.append(key)
        return found

    def either(self, a: Literal, b: Literal) -> Literal:
        """Disjunction of two."""
        return self.both(a ^ 1, b ^ 1) ^ 1

    def conjunction(self, parts: Iterable[Literal]) -> Literal:
        """Conjunction of any number; empty is true."""
        children = set(parts)
        children.discard(TRUE)
        if FALSE in children:
            return FALSE
        if len(children) < 2:
            return next(iter(children), TRUE)
        for child in children:
            if child ^ 1 in children:
                return FALSE
        key = tuple(sorted(children))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = 2 * len(self.gates)
            self.gates.append(key)
        return found

    def disjunction(self, parts: Iterable[Literal]) -> Literal:
        """Disjunction of any number; empty is false."""
        return self.conjunction([part ^ 1 for part in parts]) ^ 1

    def choose(self, condition: Literal, then: Literal, otherwise: Literal) -> Literal:
        """``then`` where the condition holds, else ``otherwise``."""
        if then == otherwise:
            return then
        return self.either(self.both(condition, then), self.both(condition ^ 1, otherwise))

    def equal(self, a: Literal, b: Literal) -> Literal:
        """Whether two literals have the same value."""
        return self.choose(a, b, b ^ 1)

    def at_most_one(self, parts: Iterable[Literal]) -> Literal:
        """At most one of the literals is true; linear in their number."""
        some, clash = FALSE, []
        for part in parts:
            clash.append(self.both(some, part))
            some = self.either(some, part)
        return self.disjunction(clash) ^ 1

    def exactly_one(self, parts: list[Literal]) -> Literal:
        """Exactly one of the literals is true; linear in their number."""
        return self.both(self.disjunction(parts), self.at_most_one(parts))

    # -- looking at it ------------------------------------------------------------------------------------------------

    def cone(self, roots: Iterable[Literal]) -> list[int]:
        """The nodes that the roots depend on, inputs included, in ascending order; node 0 is left out."""
        seen: set[int] = set()
        stack = [root >> 1 for root in roots]
        gates = self.gates
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            children = gates[node]
            if children:
                stack.extend([child >> 1 for child in children])
        seen.discard(0)
        return sorted(seen)

    def inputs(self, roots: Iterable[Literal]) -> list[int]:
        """The input nodes that the roots depend on."""
        return [node for node in self.cone(roots) if self.gates[node] is None]

    def evaluate(self, roots: list[Literal], values: Mapping[int, bool]) -> list[bool]:
        """The values of literals, given the value of each input node (missing ones are false)."""
        found: dict[int, bool] = {0: False}
        for node in self.cone(roots):
            children = self.gates[node]
            if children is None:
                found[node] = values.get(node, False)
            else:
                found[node] = all([found[child >> 1] != (child & 1) for child in children])
        return [found[root >> 1] != (root & 1) for root in roots]

    def substitute(self, roots: list[Literal], values: Mapping[int, Literal]) -> list[Literal]:
        """The roots with literals for some input nodes."""
        found: dict[int, Literal] = {0: FALSE}
        for node in self.cone(roots):
            children = self.gates[node]
            if children is None:
                found[node] = values.get(node, 2 * node)
            else:
                found[node] = self.conjunction([found[child >> 1] ^ (child & 1) for child in children])
        return [found[root >> 1] ^ (root & 1) for root in roots]
