"""Older, younger and looser PDDL, rewritten on the tree into what it stands for (docs/language.md, Dialects).

What a reader can take on its way is read there (typed lists, ``:init``, single names); here is what changes the shape
of a section. Lists that are made remember what they were made from, so diagnostics point at the user's text.
"""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import (
    Context,
    Place,
    all_tokens,
    is_name,
    is_object_name,
    is_variable,
    token_text,
)
from plansafe.verifier.elaborate.symbols import Symbols, parse_number

PRIVATE = frozenset((":predicates", ":functions", ":constants", ":objects"))
"""The sections that may have ``(:private ..)`` blocks."""
TOTAL_COST = "total-cost"
_OWNED_BY_NAME = frozenset((":constants", ":objects"))


def united(context: Context, first: Place, second: Place) -> Place:
    """Two sections of one kind as one."""
    message = f"section `{first.node[0]}` occurs several times"
    text, help = "merged with the first", "write one section"
    other = (Place(first.node, 0), "first here")
    context.dialect("sections", message, Place(second.node, 0), text, help=help, other=other)
    children = typed_apart([Place(first.node, child) for child in range(len(first.node))], 1)
    return Place(rebuilt(context, [*children, *[Place(second.node, child) for child in range(1, len(second.node))]]))


def without_privacy(context: Context, at: Place, factored: bool) -> Place:
    """A section with the contents of its ``(:private ..)`` blocks in their place.

    ``factored``: whether the domain says that blocks have no owner.
    """
    node = at.node
    if not any([isinstance(child, list) and child[:1] == [":private"] for child in node]):
        return at
    children: list[Place] = []
    for child in range(len(node)):
        block = node[child]
        if not isinstance(block, list) or block[:1] != [":private"]:
            children.append(Place(node, child))
            continue
        message = "`:private` declares for one agent"
        several_agents(context, message, Place(block, 0), "read as declared for all")
        start = 1
        objects = token_text(node[0]) in _OWNED_BY_NAME
        if objects:
            named = len(block) > 1 and is_object_name(block[1]) and block[2:3] != ["-"]
            start = 2 if named and not factored else 1
        elif len(block) > 1 and is_variable(block[1]):
            kind = token_text(block[2]) if len(block) > 2 else ""
            start = 4 if kind == "-" else 3 if kind.startswith("-") else 2
        inside = [Place(block, inner) for inner in range(start, len(block))]
        children = [*typed_apart(children, 1), *typed_apart(inside)] if objects else [*children, *inside]
    return Place(rebuilt(context, children))


def several_agents(context: Context, message: str, at: Place, text: str) -> None:
    """Say once that the agents of a domain are judged as one."""
    context.dialect("agents", message, at, text, help="all agents are checked together; privacy is not checked")


def split_agent(context: Context, node: list[Node]) -> tuple[list[Place], list[Node]]:
    """The typed variables of an action's ``:agent``, and the action without it."""
    if ":agent" not in node:
        return [], node
    start = node.index(":agent")
    several_agents(context, "an action with an `:agent`", Place(node, start), "read as its first parameter")
    end = start + 1
    while end < len(node) and not str(node[end]).startswith(":"):
        end += 1
    if end == start + 1:
        context.error(SC.STRUCTURE, "`:agent` has no value", Place(node, start), "expected a value after this")
    listed = node[start + 1] if end == start + 2 else None
    if isinstance(listed, list):
        agent = [Place(listed, child) for child in range(len(listed))]
    else:
        agent = [Place(node, child) for child in range(start + 1, end)]
    return agent, rebuilt(context, [Place(node, child) for child in range(len(node)) if not start <= child < end])


def all_parameters(context: Context, agent: list[Place], parameters: Place | None) -> Place | None:
    """The parameters of an action, its agent first."""
    if not agent:
        return parameters
    given: Node = [] if parameters is None or parameters.child is None else parameters.node[parameters.child]
    if not isinstance(given, list):  # wrong, and said to be so where it is read
        return parameters
    made = rebuilt(context, [*typed_apart(agent), *[Place(given, child) for child in range(len(given))]])
    return Place(context.made([made], agent[0]), 0)


def typed_apart(children: list[Place], start: int = 0) -> list[Place]:
    """A typed list behind which another one may stand: names at its end without a type are objects."""
    if len(children) <= start:
        return children
    last, before = _item(children[-1]), _item(children[-2]) if len(children) > start + 1 else None
    typed = before == "-" or isinstance(last, list) or last.startswith("-")
    return children if typed else [*children, Place(["-"], 0), Place(["object"], 0)]


def _item(at: Place) -> Node:
    assert at.child is not None
    return at.node[at.child]


def free_cost(symbols: Symbols, tops: tuple[list[Node], ...]) -> int | None:
    """``total-cost``, if nothing but increases and the metric name it; linear in the texts."""
    function = symbols.function_index.get(TOTAL_COST)
    if function is None or symbols.functions[function].types:
        return None
    stack: list[Node] = [section for top in tops for section in _sections(top)]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            if part == TOTAL_COST:
                return None
        elif part[:1] == ["increase"] and len(part) == 3 and part[1] in (TOTAL_COST, [TOTAL_COST]):
            stack.append(part[2])
        else:
            stack += part
    return function


def valued(fact: Node) -> str | None:
    """The function that ``(= (function object ..) number)`` gives a value to; ``None`` of anything else."""
    match fact:
        case ["=", [str(name), *arguments], str(value)] if is_name(name) and all(map(is_object_name, arguments)):
            return name if parse_number(value) is not None else None
    return None


def unread_functions(symbols: Symbols, tops: tuple[list[Node], list[Node]]) -> frozenset[str]:
    """The names that occur in a problem nowhere but as what ``:init`` gives a value to. Linear in the texts.

    None if ``total-cost`` gets its value by default: one of the names could be a misspelling of it.
    """
    names: set[str] = set()
    others: list[Node] = [*tops[0]]
    for section in tops[1][0] if isinstance(tops[1][0], list) else ():
        if not isinstance(section, list) or section[:1] != [":init"]:
            others.append(section)
            continue
        facts = section[1:]
        while facts:
            fact = facts.pop()
            name = valued(fact)
            if name is not None:
                names.add(name)
            elif isinstance(fact, list) and fact[:1] == ["and"]:
                facts += fact[1:]
            else:
                others.append(fact)
    if TOTAL_COST in symbols.function_index and TOTAL_COST not in names:
        return frozenset()
    return frozenset(names) - all_tokens(others) - {TOTAL_COST}


def _sections(top: list[Node]) -> list[Node]:
    """The sections of a definition that may not name ``total-cost``."""
    form = top[0]
    sections = form[2:] if isinstance(form, list) else []
    return [s for s in sections if isinstance(s, list) and s[:1] not in ([":functions"], [":metric"])]


def rebuilt(context: Context, children: list[Place]) -> list[Node]:
    """A list of nodes that stand elsewhere; each keeps its place."""
    made: list[Node] = []
    for number, at in enumerate(children):
        made.append(_item(at))
        context.replaced[id(made), number] = at
    return context.made(made, Place(children[0].node) if children else Place([]))
