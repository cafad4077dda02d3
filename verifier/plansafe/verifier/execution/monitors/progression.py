"""LTLf by formula progression, hash-consed (Bacchus and Kabanza 2000; finite traces as De Giacomo and Vardi 2013).

Formulas are over numbered letters bits and in negation normal form. A residual is what must hold of the rest of the
trace; ``NONEMPTY``
and ``EMPTY`` say that there is, or is not, a further letter, which is how strong and weak next differ at the end.
"""

from __future__ import annotations

Node = tuple[object, ...]
TRUE = 0
FALSE = 1
NONEMPTY = 2
EMPTY = 3


class Progression:
    """A table of residual formulas, shared by all instances of a rule. Node numbers are stable."""

    def __init__(self) -> None:
        self.nodes: list[Node] = [("true",), ("false",), ("nonempty",), ("empty",)]
        self._index: dict[Node, int] = {node: number for number, node in enumerate(self.nodes)}
        self._progressed: dict[tuple[int, int], int] = {}

    def make(self, *node: object) -> int:
        """The number of a node."""
        found = self._index.get(node)
        if found is None:
            found = self._index[node] = len(self.nodes)
            self.nodes.append(node)
        return found

    def literal(self, bit: int, positive: bool) -> int:
        """The value of a letter's bit."""
        return self.make("bit", bit, positive)

    def conjunction(self, parts: list[int]) -> int:
        """``and``, flattened, with absorption and constants folded."""
        return self._junction(parts, "and", TRUE, FALSE)

    def disjunction(self, parts: list[int]) -> int:
        """``or``, likewise."""
        return self._junction(parts, "or", FALSE, TRUE)

    def _junction(self, parts: list[int], word: str, unit: int, zero: int) -> int:
        flat: set[int] = set()
        for part in parts:
            node = self.nodes[part]
            if node[0] == word:
                flat |= node[1]  # type: ignore[arg-type]
            else:
                flat.add(part)
        flat.discard(unit)
        if zero in flat or (NONEMPTY in flat and EMPTY in flat):
            return zero
        dual = "or" if word == "and" else "and"
        flat = {part for part in flat if not (self.nodes[part][0] == dual and self.nodes[part][1] & flat)}  # type: ignore[operator]
        if not flat:
            return unit
        if len(flat) == 1:
            return flat.pop()
        return self.make(word, frozenset(flat))

    def progress(self, formula: int, letter: int) -> int:
        """What must hold of the rest once ``letter`` (an integer of bits) has been read."""
        key = (formula, letter)
        found = self._progressed.get(key)
        if found is not None:
            return found
        node = self.nodes[formula]
        match node[0]:
            case "true" | "nonempty":
                out = TRUE
            case "false" | "empty":
                out = FALSE
            case "bit":
                out = TRUE if bool(letter >> node[1] & 1) == node[2] else FALSE  # type: ignore[operator]
            case "and":
                out = self.conjunction([self.progress(p, letter) for p in node[1]])  # type: ignore[attr-defined]
            case "or":
                out = self.disjunction([self.progress(p, letter) for p in node[1]])  # type: ignore[attr-defined]
            case "next":
                out = self.conjunction([NONEMPTY, node[1]])  # type: ignore[list-item]
            case "weak-next":
                out = self.disjunction([EMPTY, node[1]])  # type: ignore[list-item]
            case "always":
                out = self.conjunction([self.progress(node[1], letter), formula])  # type: ignore[arg-type]
            case "sometime":
                out = self.disjunction([self.progress(node[1], letter), formula])  # type: ignore[arg-type]
            case "until":
                stay = self.conjunction([self.progress(node[1], letter), formula])  # type: ignore[arg-type]
                out = self.disjunction([self.progress(node[2], letter), stay])  # type: ignore[arg-type]
            case _:
                leave = self.disjunction([self.progress(node[1], letter), formula])  # type: ignore[arg-type]
                out = self.conjunction([self.progress(node[2], letter), leave])  # type: ignore[arg-type]
        self._progressed[key] = out
        return out

    def accepts_empty(self, formula: int) -> bool:
        """Whether a residual is satisfied if the trace ends here."""
        node = self.nodes[formula]
        match node[0]:
            case "true" | "empty" | "always" | "release":
                return True
            case "and":
                return all([self.accepts_empty(p) for p in node[1]])  # type: ignore[attr-defined]
            case "or":
                return any([self.accepts_empty(p) for p in node[1]])  # type: ignore[attr-defined]
            case _:
                return False
