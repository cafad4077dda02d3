"""Boolean circuits: hash-consed conjunctions over inputs, with constants folded.

A *literal* is ``2 * node + sign``; node 0 is false, so :data:`FALSE` is 0, :data:`TRUE` is 1, and ``literal ^ 1`` is
the negation. A gate's children have smaller numbers than the gate, so ascending order is an order of evaluation.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

FALSE, TRUE = 0, 1
PAIRWISE = 4
"""So many literals of which one is true at most are said in pairs."""
SMALL = 8
"""Conjunctions of up to this many literals are merged into those above them."""
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
            found = self._known[key] = self._conjunction(key)
        return found

    def either(self, a: Literal, b: Literal) -> Literal:
        """Disjunction of two."""
        return self.both(a ^ 1, b ^ 1) ^ 1

    def conjunction(self, parts: Iterable[Literal]) -> Literal:
        """Conjunction of any number; empty is true."""
        key = tuple(sorted(set(parts)))
        if len(key) == 1:
            return key[0]
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._conjunction(key)
        return found

    def _conjunction(self, parts: tuple[Literal, ...]) -> Literal:
        """Conjunction, simplified by what is seen one level below.

        Small conjunctions among the parts are merged into it. A negated conjunction ``not (a and b)`` is true where
        ``not a`` is a part, and ``not b`` where ``a`` is. This is what makes the state after a step fold: what was
        sorted out is not there any more, without asking a solver.
        """
        gates = self.gates
        out: set[Literal] = set()
        for part in parts:
            children = None if part & 1 else gates[part >> 1]
            if children is None or len(children) > SMALL:
                out.add(part)
            else:
                out.update(children)
        out.discard(TRUE)
        again = True
        while again:
            again = False
            if FALSE in out:
                return FALSE
            negated = []
            for part in out:
                if part & 1:
                    if part ^ 1 in out:
                        return FALSE
                    if gates[part >> 1] is not None:
                        negated.append(part)
            for part in negated:
                inner = gates[part >> 1]
                assert inner is not None
                for child in inner:
                    if child ^ 1 in out:
                        out.discard(part)
                        break
                else:
                    if not out.isdisjoint(inner):
                        out.discard(part)
                        out.add(self.conjunction([child for child in inner if child not in out]) ^ 1)
                        again = True
        if len(out) < 2:
            return next(iter(out), TRUE)
        key = tuple(sorted(out))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = 2 * len(gates)
            gates.append(key)
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
        """At most one of the literals is true; linear in their number, in depth logarithmic.

        A literal that is given twice counts twice. Two halves clash if one is true in each.
        """
        return self._counted(list(parts))[1]

    def exactly_one(self, parts: Iterable[Literal]) -> Literal:
        """Exactly one of the literals is true; as :meth:`at_most_one`."""
        return self.both(*self._counted(list(parts)))

    def _counted(self, layer: list[Literal]) -> tuple[Literal, Literal]:
        """Whether some, and whether at most one, of the literals is true."""
        clashes: list[Literal] = []
        if len(layer) <= PAIRWISE:
            clashes = [self.both(a, b) for number, a in enumerate(layer) for b in layer[:number]]
            layer = [self.disjunction(layer)]
        while len(layer) > 1:
            above = []
            for number in range(1, len(layer), 2):
                clashes.append(self.both(layer[number - 1], layer[number]))
                above.append(self.either(layer[number - 1], layer[number]))
            layer = above + layer[len(layer) - len(layer) % 2 :]
        return layer[0] if layer else FALSE, self.conjunction([clash ^ 1 for clash in clashes])

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
