"""Boolean circuits: hash-consed conjunctions over inputs, with constants folded.

A *literal* is ``2 * node + sign``; node 0 is false, so :data:`FALSE` is 0, :data:`TRUE` is 1, and ``literal ^ 1`` is
the negation. A gate's children have smaller numbers than the gate, so ascending order is an order of evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

FALSE, TRUE = 0, 1
MAX_PAIRWISE_LITERALS = 4
"""Maximum number of literals for which "at most one is true" is a conjunction over all pairs."""
MAX_MERGED_LITERALS = 8
"""Maximum size of a conjunction that is merged into the conjunctions that contain it."""
Literal = int


class Circuit:
    """A growing circuit. ``gates[n]`` are the children of a conjunction, or ``None`` for an input (and node 0)."""

    def __init__(self) -> None:
        self.gates: list[tuple[Literal, ...] | None] = [None]
        self.keys: dict[int, Hashable] = {}
        """Input node -> its meaning, for example a fact of the initial state."""
        self._inputs: dict[tuple[type, Hashable], Literal] = {}
        self._conjunction_literals: dict[tuple[Literal, ...], Literal] = {}

    def input(self, key: Hashable) -> Literal:
        """Return the input with the meaning ``key``, created on first use."""
        typed_key = type(key), key  # named tuples of different classes are equal if their fields are
        literal = self._inputs.get(typed_key)
        if literal is None:
            node = len(self.gates)
            self.gates.append(None)
            self.keys[node] = key
            literal = self._inputs[typed_key] = 2 * node
        return literal

    def both(self, first: Literal, second: Literal) -> Literal:
        """Return the conjunction of two literals."""
        if first == second or second == TRUE:
            return first
        if first == TRUE:
            return second
        if first == FALSE or second == FALSE or first ^ second == 1:
            return FALSE
        key = (first, second) if first < second else (second, first)
        literal = self._conjunction_literals.get(key)
        if literal is None:
            literal = self._conjunction_literals[key] = self._conjunction(key)
        return literal

    def either(self, first: Literal, second: Literal) -> Literal:
        """Return the disjunction of two literals."""
        return self.both(first ^ 1, second ^ 1) ^ 1

    def conjunction(self, parts: Iterable[Literal]) -> Literal:
        """Return the conjunction of any number of literals; true if there is none."""
        key = tuple(sorted(set(parts)))
        if len(key) == 1:
            return key[0]
        literal = self._conjunction_literals.get(key)
        if literal is None:
            literal = self._conjunction_literals[key] = self._conjunction(key)
        return literal

    def _conjunction(self, parts: tuple[Literal, ...]) -> Literal:
        """Create a conjunction, simplified by looking one level below.

        Small conjunctions among the parts are merged into it. A negated conjunction ``not (a and b)`` becomes true
        where ``not a`` is a part, and ``not b`` where ``a`` is. So the state after a step is simplified: cases that an
        earlier step excluded disappear without a solver call.
        """
        gates = self.gates
        conjuncts: set[Literal] = set()
        for part in parts:
            if part & 1 or (children := gates[part >> 1]) is None or len(children) > MAX_MERGED_LITERALS:
                conjuncts.add(part)
            else:
                conjuncts.update(children)
        conjuncts.discard(TRUE)
        has_changed = True
        while has_changed:
            has_changed = False
            negations = {part ^ 1 for part in conjuncts}
            if FALSE in conjuncts or not negations.isdisjoint(conjuncts):
                return FALSE
            decided_literals = conjuncts | negations
            for part in [part for part in conjuncts if part & 1]:
                children = gates[part >> 1]
                if children is None or decided_literals.isdisjoint(children):
                    continue
                if not negations.isdisjoint(children):
                    conjuncts.discard(part)
                elif not conjuncts.isdisjoint(children):
                    conjuncts.discard(part)
                    conjuncts.add(self.conjunction([child for child in children if child not in conjuncts]) ^ 1)
                    has_changed = True
        if len(conjuncts) < 2:
            return next(iter(conjuncts), TRUE)
        key = tuple(sorted(conjuncts))
        literal = self._conjunction_literals.get(key)
        if literal is None:
            literal = self._conjunction_literals[key] = 2 * len(gates)
            gates.append(key)
        return literal

    def disjunction(self, parts: Iterable[Literal]) -> Literal:
        """Return the disjunction of any number of literals; false if there is none."""
        return self.conjunction([part ^ 1 for part in parts]) ^ 1

    def choose(self, condition: Literal, then: Literal, otherwise: Literal) -> Literal:
        """Return a literal that equals ``then`` where the condition holds, else ``otherwise``."""
        if then == otherwise:
            return then
        return self.either(self.both(condition, then), self.both(condition ^ 1, otherwise))

    def equal(self, first: Literal, second: Literal) -> Literal:
        """Return a literal that is true where two literals have the same value."""
        return self.choose(first, second, second ^ 1)

    def at_most_one(self, parts: Iterable[Literal]) -> Literal:
        """Return a literal that is true where at most one of the literals is true.

        Its size is linear in their number, its depth logarithmic. A repeated literal counts once per occurrence.
        """
        _, at_most_one = self._encode_count_up_to_one(list(parts))
        return at_most_one

    def exactly_one(self, parts: Iterable[Literal]) -> Literal:
        """Return a literal that is true where exactly one of the literals is true, as large as :meth:`at_most_one`."""
        return self.both(*self._encode_count_up_to_one(list(parts)))

    def _encode_count_up_to_one(self, layer: list[Literal]) -> tuple[Literal, Literal]:
        """Return the literals "some literal is true" and "at most one is true".

        Two halves clash if each has a true literal.
        """
        clashes: list[Literal] = []
        if len(layer) <= MAX_PAIRWISE_LITERALS:
            clashes = [self.both(first, second) for number, first in enumerate(layer) for second in layer[:number]]
            layer = [self.disjunction(layer)]
        while len(layer) > 1:
            next_layer = []
            for first, second in zip(layer[::2], layer[1::2], strict=False):
                clashes.append(self.both(first, second))
                next_layer.append(self.either(first, second))
            if len(layer) % 2:
                next_layer.append(layer[-1])
            layer = next_layer
        return layer[0] if layer else FALSE, self.conjunction([clash ^ 1 for clash in clashes])

    def list_conjuncts(self, literal: Literal) -> list[Literal]:
        """Return the literals whose conjunction a literal is, as far as its gates show; none for a true literal."""
        conjuncts: list[Literal] = []
        stack, seen_literals = [literal], {TRUE}
        while stack:
            part = stack.pop()
            if part not in seen_literals:
                seen_literals.add(part)
                children = None if part & 1 else self.gates[part >> 1]
                if children is None:
                    conjuncts.append(part)
                else:
                    stack.extend(children)
        return conjuncts

    def find_cone(
        self, roots: Iterable[Literal], expand_input: Callable[[int], Iterable[Literal]] | None = None
    ) -> list[int]:
        """Return the nodes that the roots depend on, inputs included, in ascending order, without node 0.

        ``expand_input``: the literals that an input node depends on, of smaller nodes; it is called once for each.
        """
        gates, cone = self.gates, list[int]()
        needed_flags = bytearray(len(gates))
        for root in roots:
            needed_flags[root >> 1] = 1
        node = needed_flags.rfind(1, 1)
        while node > 0:
            cone.append(node)
            children: Iterable[Literal] | None = gates[node]
            if children is None:
                children = () if expand_input is None else expand_input(node)
            for child in children:
                needed_flags[child >> 1] = 1
            node = needed_flags.rfind(1, 1, node)
        cone.reverse()
        return cone

    def find_inputs(self, roots: Iterable[Literal]) -> list[int]:
        """Return the input nodes that the roots depend on."""
        return [node for node in self.find_cone(roots) if self.gates[node] is None]

    def substitute(self, root: Literal, replacements: Mapping[int, Literal]) -> Literal:
        """Return the root with literals in place of some input nodes."""
        substituted: dict[int, Literal] = {0: FALSE}
        for node in self.find_cone([root]):
            children = self.gates[node]
            if children is None:
                substituted[node] = replacements.get(node, 2 * node)
            else:
                substituted[node] = self.conjunction([substituted[child >> 1] ^ (child & 1) for child in children])
        return substituted[root >> 1] ^ (root & 1)
