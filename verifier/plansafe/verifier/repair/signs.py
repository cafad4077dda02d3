"""With which value each fact that a formula reads helps it to become true, or false; temporal operators included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Compare,
    Equal,
    Fluent,
    Formula,
    Not,
    Operator,
    Or,
    Quantified,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import expression_fluents


def signed_reads(formula: Formula, wanted: bool | None) -> Iterator[tuple[Atom | Fluent, bool | None]]:
    """Each atom and fluent of a formula, with the value that may give the formula the value ``wanted``.

    ``None``: any change may. An atom that is read both ways comes twice.
    """
    stack: list[tuple[Formula, bool | None]] = [(formula, wanted)]
    while stack:
        part, sign = stack.pop()
        match part:
            case Atom():
                yield part, sign
            case Compare():
                for expression in (part.left, part.right):
                    yield from [(fluent, None) for fluent in expression_fluents(expression)]
            case Not():
                stack.append((part.body, _times(sign, False)))
            case And() | Or():
                stack += [(inner, sign) for inner in part.parts]
            case Quantified():
                stack.append((part.body, sign))
            case Temporal():
                signs = _signs(part.operator)
                stack += [(inner, _times(sign, own)) for inner, own in zip(part.operands, signs, strict=True)]
            case Truth() | Equal():
                pass
            case _:
                assert_never(part)


def _times(sign: bool | None, own: bool | None) -> bool | None:
    return None if sign is None or own is None else sign is own


def _signs(operator: Operator) -> tuple[bool | None, ...]:
    """For each operand, whether its truth at more letters helps (or hinders); ``None``: it may do either."""
    match operator:
        case "always" | "historically" | "sometime" | "once" | "within" | "at-end":
            return (True,)
        case "next" | "weak-next" | "yesterday" | "weak-yesterday" | "hold-after" | "hold-during":
            return (True,)
        case "until" | "release" | "since":
            return True, True
        case "sometime-after" | "sometime-before" | "always-within":
            return False, True
        case "at-most-once":
            return (None,)
        case _:
            assert_never(operator)
