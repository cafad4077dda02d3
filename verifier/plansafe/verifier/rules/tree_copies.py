"""Copies of syntax trees with tokens replaced: each remembers what it stands for, and all together are bounded."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, Place, token_text
from plansafe.verifier.model.limits import LimitKind, LimitReached

MAX_NODES = 1_000_000


class TreeCopier:
    """Makes trees for one expansion. Any method raises ``LimitReached`` beyond ``MAX_NODES`` nodes in all."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._nodes = 0
        self._serial = 0

    def made(self, made: list[Node], origin: list[Node]) -> list[Node]:
        """Note what a list that was made stands for."""
        self.context.record_origin(made, Place(origin))
        self._count(len(made))
        return made

    def copy(self, node: Node, values: dict[str, Node], places: dict[str, Place]) -> Node:
        """A copy with tokens replaced by ``values``.

        Diagnostics about a replaced token point to its entry in ``places``.
        """
        self._count(1)
        if isinstance(node, str):
            return values[node] if node in values else _filled(node, values)
        made: list[Node] = [self.copy(child, values, places) for child in node]
        self.context.record_origin(made, Place(node))
        for number, child in enumerate(node):
            if isinstance(child, str) and child in places:
                self.context.replaced[id(made), number] = places[child]
        return made

    def values(
        self, use: list[Node], arguments: list[Node], parameters: list[str], body: Node
    ) -> dict[str, Node] | None:
        """What parameters stand for where a body is used, and new names for what it binds; or a diagnostic."""
        if len(parameters) != len(arguments):
            message = f"`{token_text(use[0])}` takes {len(parameters)} arguments, not {len(arguments)}"
            self.context.error(SC.ARITY, message, Place(use), f"{len(arguments)} given")
            return None
        self._serial += 1
        values: dict[str, Node] = dict(zip(parameters, arguments, strict=True))
        for name in _bound(body):
            values.setdefault(name, self.fresh(name))
        return values

    def fresh(self, name: str) -> str:
        """A variable that no text can name, the same for a name throughout one use."""
        return f"{name}~{self._serial}"

    def _count(self, more: int) -> None:
        self._nodes += more
        if self._nodes > MAX_NODES:
            raise LimitReached(LimitKind.NODES)


def without_types(nodes: list[Node]) -> list[Node]:
    """A typed list without its types."""
    out: list[Node] = []
    skip = False
    for node in nodes:
        if skip:
            skip = False
        elif node == "-":
            skip = True
        else:
            out.append(node)
    return out


def _filled(token: str, values: dict[str, Node]) -> str:
    """A token with template parameters inside it (``left-$name``) replaced, the longest first; strings stay."""
    if "$" not in token or token.startswith('"'):
        return token
    for name in sorted(values, key=len, reverse=True):
        value = values[name]
        if name.startswith("$") and isinstance(value, str):
            token = token.replace(name, value)
    return token


def _bound(node: Node) -> set[str]:
    """The variables that quantifiers in a formula bind."""
    out: set[str] = set()
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            if len(part) == 3 and part[0] in ("forall", "exists") and isinstance(part[1], list):
                out.update([token_text(token) for token in without_types(part[1])])
            stack.extend(part)
    return out
