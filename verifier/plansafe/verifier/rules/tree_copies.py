"""Copies of syntax trees with tokens replaced: each keeps the place of its original; their total size is bounded."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, Place, collect_tokens, format_token
from plansafe.verifier.model.limits import LimitKind, LimitReached

MAX_NODES = 1_000_000
"""Maximum number of nodes that one expansion copies."""


class TreeCopier:
    """Makes the trees of one expansion. Any method raises ``LimitReached`` beyond ``MAX_NODES`` nodes in total."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._node_count = 0
        self._bound_variables: dict[int, tuple[Node, set[str]]] = {}
        """By identity, each body of a macro or of an entry, with the variables that it binds."""
        self._types: dict[int, list[Node]] = {}
        """By identity, each list ``(either t u)`` without parameters, which copies share."""
        self._use_count = 0
        """The number of uses of macros and of entries of mappings."""

    def record_origin(self, tree: list[Node], origin: list[Node]) -> list[Node]:
        """Record that a new list is made from ``origin``, whose place diagnostics use; return the new list."""
        self.context.record_origin(tree, Place(origin))
        self._count_nodes(len(tree))
        return tree

    def copy(self, node: Node, values: dict[str, Node], places: dict[str, Place]) -> Node:
        """Copy a tree with tokens replaced by ``values``.

        Diagnostics about a replaced token point to its entry in ``places``.
        """
        if isinstance(node, str):
            return values[node] if node in values else _replace_parameters(node, values)
        self._count_nodes(1 + len(node))
        if node and node[0] == "either":  # the types of many variables have this list
            if id(node) not in self._types and not any(
                ["$" in token or token in values for token in collect_tokens(node)]
            ):
                self._types[id(node)] = node
            if id(node) in self._types:
                return node
        tree: list[Node] = [
            self.copy(child, values, places) if isinstance(child, list) or "$" in child else values.get(child, child)
            for child in node
        ]
        self.context.record_origin(tree, Place(node))
        for number, child in enumerate(node):
            if isinstance(child, str) and child in places:
                self.context.replaced[id(tree), number] = places[child]
        return tree

    def bind_parameters(
        self, use: list[Node], arguments: list[Node], parameters: list[str], body: Node
    ) -> dict[str, Node] | None:
        """Map parameters to arguments, and bound variables of ``body`` to new names; ``None`` after a diagnostic."""
        if len(parameters) != len(arguments):
            message = f"`{format_token(use[0])}` takes {len(parameters)} arguments, not {len(arguments)}"
            self.context.error(SC.ARITY, message, Place(use), f"{len(arguments)} given")
            return None
        self._use_count += 1
        values: dict[str, Node] = dict(zip(parameters, arguments, strict=True))
        cached = self._bound_variables.get(id(body))
        if cached is None:
            cached = self._bound_variables[id(body)] = body, _find_bound_variables(body)
        for name in cached[1]:
            values.setdefault(name, self.make_variable(name))
        return values

    def make_variable(self, name: str) -> str:
        """Return a variable that no text can name, because of ``~`` and the number of the current use.

        Within one use of a macro or of an entry, equal names give equal variables.
        """
        return f"{name}~{self._use_count}"

    def _count_nodes(self, count: int) -> None:
        self._node_count += count
        if self._node_count > MAX_NODES:
            raise LimitReached(LimitKind.NODES)


def remove_types(nodes: list[Node]) -> list[Node]:
    """Remove the dashes and types from a typed list."""
    names: list[Node] = []
    remaining_nodes = iter(nodes)
    for node in remaining_nodes:
        if node == "-":
            next(remaining_nodes, None)  # the type
        else:
            names.append(node)
    return names


def _replace_parameters(token: str, values: dict[str, Node]) -> str:
    """Replace template parameters inside a token (``left-$name``).

    The longest name is replaced first, because a name may begin with another name. Strings stay unchanged.
    """
    if "$" not in token or token.startswith('"'):
        return token
    for name in sorted(values, key=len, reverse=True):
        value = values[name]
        if name.startswith("$") and isinstance(value, str):
            token = token.replace(name, value)
    return token


def _find_bound_variables(node: Node) -> set[str]:
    """Return the variables that quantifiers in a tree bind."""
    names: set[str] = set()
    stack = [node]
    while stack:
        tree = stack.pop()
        if isinstance(tree, list):
            if len(tree) == 3 and tree[0] in ("forall", "exists") and isinstance(tree[1], list):
                names.update([format_token(token) for token in remove_types(tree[1])])
            stack.extend(tree)
    return names
