"""LTLf by formula progression, hash-consed (Bacchus and Kabanza 2000; finite traces as De Giacomo and Vardi 2013).

Formulas are over numbered bits of letters and in negation normal form. A residual is the formula that the rest of the
trace must satisfy. ``NONEMPTY`` and ``EMPTY`` hold if there is, or is not, a further letter, so strong and weak next
differ at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias, assert_never

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.model.nodes import And, Atom, Compare, Equal, Formula, Not, Or, Quantified, Temporal, Truth
from plansafe.verifier.model.operations import future_operator

# Every other operator is rewritten to these.
NormalOperator: TypeAlias = Literal["next", "weak-next", "until", "release", "always", "sometime"]
Kind: TypeAlias = Literal["true", "false", "nonempty", "empty", "bit", "and", "or"] | NormalOperator

TRUE = 0
FALSE = 1
NONEMPTY = 2
EMPTY = 3


class Node(NamedTuple):
    """A formula, with the numbers of its subformulas.

    ``parts``: of a conjunction or disjunction, without order. ``operands``: of a temporal operator. ``bit`` and
    ``positive``: of a literal.
    """

    kind: Kind
    operands: tuple[int, ...] = ()
    parts: frozenset[int] = frozenset()
    bit: int = 0
    positive: bool = True


def find_dual_operator(operator: NormalOperator) -> NormalOperator:
    """The operator that, applied to the negated operands, gives the negation."""
    match operator:
        case "always":
            return "sometime"
        case "sometime":
            return "always"
        case "next":
            return "weak-next"
        case "weak-next":
            return "next"
        case "until":
            return "release"
        case "release":
            return "until"
        case _:
            assert_never(operator)


class Progression:
    """A table of residual formulas, shared by all instances of a rule. Node numbers are stable."""

    def __init__(self) -> None:
        self.nodes: list[Node] = [Node("true"), Node("false"), Node("nonempty"), Node("empty")]
        self._index: dict[Node, int] = {node: number for number, node in enumerate(self.nodes)}
        self._progressed: dict[tuple[int, int], int] = {}

    def make(self, operator: NormalOperator, *operands: int) -> int:
        """The number of a temporal formula."""
        return self._number(Node(operator, operands))

    def _number(self, node: Node) -> int:
        number = self._index.get(node)
        if number is None:
            number = self._index[node] = len(self.nodes)
            self.nodes.append(node)
        return number

    def literal(self, bit: int, positive: bool) -> int:
        """The value of a letter's bit."""
        return self._number(Node("bit", bit=bit, positive=positive))

    def conjunction(self, parts: list[int]) -> int:
        """``and``, flattened, with absorption and constants folded."""
        return self._combine(parts, "and", TRUE, FALSE)

    def disjunction(self, parts: list[int]) -> int:
        """``or``, flattened, with absorption and constants folded."""
        return self._combine(parts, "or", FALSE, TRUE)

    def _combine(self, parts: list[int], word: Literal["and", "or"], unit: int, zero: int) -> int:
        operands: set[int] = set()
        for part in parts:
            node = self.nodes[part]
            if node.kind == word:
                operands |= node.parts
            else:
                operands.add(part)
        operands.discard(unit)
        if zero in operands or (NONEMPTY in operands and EMPTY in operands):
            return zero
        opposite = "or" if word == "and" else "and"
        operands = {
            part for part in operands if not (self.nodes[part].kind == opposite and self.nodes[part].parts & operands)
        }
        if not operands:
            return unit
        if len(operands) == 1:
            return operands.pop()
        return self._number(Node(word, parts=frozenset(operands)))

    def normal(
        self,
        formula: Formula,
        positive: bool,
        leaf: Callable[[Formula], int | None],
        instances: Callable[[Quantified], Iterable[Formula]],
    ) -> int:
        """The node of a formula, or of its negation, in negation normal form.

        ``leaf`` gives the bit with the truth of a formula (state formulas and past formulas have one), ``None`` if it
        has none; ``instances`` the body of a quantifier for each object.
        """

        def node(part: Formula, positive: bool) -> int:
            return self.normal(part, positive, leaf, instances)

        if isinstance(formula, Truth):
            return TRUE if formula.value == positive else FALSE
        bit = leaf(formula)
        if bit is not None:
            return self.literal(bit, positive)
        match formula:
            case Not():
                return node(formula.body, not positive)
            case And() | Or():
                parts = [node(part, positive) for part in formula.parts]
                return self.conjunction(parts) if isinstance(formula, And) == positive else self.disjunction(parts)
            case Quantified():
                parts = [node(instance, positive) for instance in instances(formula)]
                return self.conjunction(parts) if formula.universal == positive else self.disjunction(parts)
            case Temporal():
                operator = future_operator(formula)
                if operator != "sometime-after":
                    operands = [node(operand, positive) for operand in formula.operands]
                    return self.make(operator if positive else find_dual_operator(operator), *operands)
                premise, conclusion = formula.operands
                answer = self.make("sometime" if positive else "always", node(conclusion, positive))
                trigger = node(premise, not positive)
                if positive:
                    return self.make("always", self.disjunction([trigger, answer]))
                return self.make("sometime", self.conjunction([trigger, answer]))
            case Atom() | Equal() | Compare():
                raise AssertionError("state formulas are leaves")
            case _:
                assert_never(formula)

    def progress(self, formula: int, letter: int) -> int:
        """The residual of a formula after ``letter`` (an integer of bits) has been read."""
        key = (formula, letter)
        residual = self._progressed.get(key)
        if residual is not None:
            return residual
        node = self.nodes[formula]
        match node.kind:
            case "true" | "nonempty":
                residual = TRUE
            case "false" | "empty":
                residual = FALSE
            case "bit":
                residual = TRUE if bool(letter >> node.bit & 1) == node.positive else FALSE
            case "and":
                residual = self.conjunction([self.progress(p, letter) for p in node.parts])
            case "or":
                residual = self.disjunction([self.progress(p, letter) for p in node.parts])
            case "next":
                residual = self.conjunction([NONEMPTY, node.operands[0]])
            case "weak-next":
                residual = self.disjunction([EMPTY, node.operands[0]])
            case "always":
                residual = self.conjunction([self.progress(node.operands[0], letter), formula])
            case "sometime":
                residual = self.disjunction([self.progress(node.operands[0], letter), formula])
            case "until":
                stay = self.conjunction([self.progress(node.operands[0], letter), formula])
                residual = self.disjunction([self.progress(node.operands[1], letter), stay])
            case "release":
                leave = self.disjunction([self.progress(node.operands[0], letter), formula])
                residual = self.conjunction([self.progress(node.operands[1], letter), leave])
            case _:
                assert_never(node.kind)
        self._progressed[key] = residual
        return residual

    def accepts_empty(self, formula: int) -> bool:
        """Whether a residual is satisfied if the trace ends here."""
        node = self.nodes[formula]
        match node.kind:
            case "true" | "empty" | "always" | "release":
                return True
            case "and":
                return all([self.accepts_empty(p) for p in node.parts])
            case "or":
                return any([self.accepts_empty(p) for p in node.parts])
            case "false" | "nonempty" | "bit" | "next" | "weak-next" | "sometime" | "until":
                return False
            case _:
                assert_never(node.kind)
