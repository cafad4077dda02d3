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

TRUE, FALSE, NONEMPTY, EMPTY = range(4)
"""The formulas that every table has."""


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


def get_dual_operator(operator: NormalOperator) -> NormalOperator:
    """Return the operator that, applied to the negated operands, gives the negation."""
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
    """A table of residual formulas, shared by all instances of a rule. A formula is the number of its node."""

    def __init__(self) -> None:
        self.nodes: list[Node] = [Node("true"), Node("false"), Node("nonempty"), Node("empty")]
        self._number_by_node: dict[Node, int] = {node: number for number, node in enumerate(self.nodes)}
        self._residuals: dict[tuple[int, int], int] = {}

    def make_temporal(self, operator: NormalOperator, *operands: int) -> int:
        """Return a temporal formula."""
        return self._number_node(Node(operator, operands))

    def _number_node(self, node: Node) -> int:
        """Return the number of a node, a new one for a node that the table lacks."""
        number = self._number_by_node.get(node)
        if number is None:
            number = self._number_by_node[node] = len(self.nodes)
            self.nodes.append(node)
        return number

    def make_literal(self, bit: int, positive: bool) -> int:
        """Return the formula that a bit of the letter is 1, or 0 unless ``positive``."""
        return self._number_node(Node("bit", bit=bit, positive=positive))

    def make_conjunction(self, parts: list[int]) -> int:
        """Return a conjunction, flattened, with absorption and constants folded."""
        return self._combine(parts, "and", TRUE, FALSE)

    def make_disjunction(self, parts: list[int]) -> int:
        """Return a disjunction, flattened, with absorption and constants folded."""
        return self._combine(parts, "or", FALSE, TRUE)

    def _combine(self, parts: list[int], kind: Literal["and", "or"], unit: int, zero: int) -> int:
        """Return a conjunction or disjunction; ``unit`` is its value without parts, ``zero`` decides it."""
        operands: set[int] = set()
        for part in parts:
            node = self.nodes[part]
            if node.kind == kind:
                operands |= node.parts
            else:
                operands.add(part)
        operands.discard(unit)
        if zero in operands or (NONEMPTY in operands and EMPTY in operands):
            return zero
        opposite = "or" if kind == "and" else "and"
        operands = {
            part for part in operands if not (self.nodes[part].kind == opposite and self.nodes[part].parts & operands)
        }
        if not operands:
            return unit
        if len(operands) == 1:
            return operands.pop()
        return self._number_node(Node(kind, parts=frozenset(operands)))

    def make_normal_form(
        self,
        formula: Formula,
        positive: bool,
        find_bit: Callable[[Formula], int | None],
        list_instances: Callable[[Quantified], Iterable[Formula]],
    ) -> int:
        """Return a formula, or its negation unless ``positive``, in negation normal form.

        ``find_bit`` gives the bit with the truth of a formula (state formulas and past formulas have one), ``None`` if
        it has none; ``list_instances`` gives the body of a quantifier for each object.
        """

        def convert(part: Formula, positive: bool) -> int:
            return self.make_normal_form(part, positive, find_bit, list_instances)

        if isinstance(formula, Truth):
            return TRUE if formula.value == positive else FALSE
        bit = find_bit(formula)
        if bit is not None:
            return self.make_literal(bit, positive)
        match formula:
            case Not():
                return convert(formula.body, not positive)
            case And() | Or():
                parts = [convert(part, positive) for part in formula.parts]
                combine = self.make_conjunction if isinstance(formula, And) == positive else self.make_disjunction
                return combine(parts)
            case Quantified():
                parts = [convert(instance, positive) for instance in list_instances(formula)]
                return self.make_conjunction(parts) if formula.universal == positive else self.make_disjunction(parts)
            case Temporal():
                operator = future_operator(formula)
                if operator != "sometime-after":
                    operands = [convert(operand, positive) for operand in formula.operands]
                    return self.make_temporal(operator if positive else get_dual_operator(operator), *operands)
                premise, conclusion = formula.operands
                if positive:
                    answer = self.make_temporal("sometime", convert(conclusion, True))
                    return self.make_temporal("always", self.make_disjunction([convert(premise, False), answer]))
                no_answer = self.make_temporal("always", convert(conclusion, False))
                return self.make_temporal("sometime", self.make_conjunction([convert(premise, True), no_answer]))
            case Atom() | Equal() | Compare():
                raise AssertionError("state formulas are leaves")
            case _:
                assert_never(formula)

    def progress(self, formula: int, letter: int) -> int:
        """Return the residual of a formula after ``letter`` (an integer of bits) has been read."""
        key = (formula, letter)
        residual = self._residuals.get(key)
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
                residual = self.make_conjunction([self.progress(p, letter) for p in node.parts])
            case "or":
                residual = self.make_disjunction([self.progress(p, letter) for p in node.parts])
            case "next":
                residual = self.make_conjunction([NONEMPTY, node.operands[0]])
            case "weak-next":
                residual = self.make_disjunction([EMPTY, node.operands[0]])
            case "always":
                residual = self.make_conjunction([self.progress(node.operands[0], letter), formula])
            case "sometime":
                residual = self.make_disjunction([self.progress(node.operands[0], letter), formula])
            case "until":
                continued = self.make_conjunction([self.progress(node.operands[0], letter), formula])
                residual = self.make_disjunction([self.progress(node.operands[1], letter), continued])
            case "release":
                released = self.make_disjunction([self.progress(node.operands[0], letter), formula])
                residual = self.make_conjunction([self.progress(node.operands[1], letter), released])
            case _:
                assert_never(node.kind)
        self._residuals[key] = residual
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
