"""Older, newer and looser PDDL, rewritten on the tree into standard PDDL (docs/language.md, Dialects).

Dialects of single nodes are handled where they are read (typed lists, ``:init``, names); this module rewrites whole
sections. Generated lists record their source, so that diagnostics point at the user's text.
"""

from __future__ import annotations

from plansafe.grammar.sexpr import Node, parse_number
from plansafe.verifier.elaborate.context import (
    Context,
    Place,
    all_tokens,
    is_name,
    is_object_name,
    is_variable,
    token_text,
)
from plansafe.verifier.elaborate.symbols import Symbols

PRIVATE = frozenset((":predicates", ":functions", ":constants", ":objects"))
"""The sections that may have ``(:private ..)`` blocks."""
TOTAL_COST = "total-cost"
_OWNED_BY_NAME = frozenset((":constants", ":objects"))
"""The sections whose private blocks name their owner; in the others a block begins with a typed variable."""


def merge_sections(context: Context, first: Place, second: Place) -> Place:
    """Two sections of one kind as one."""
    message = f"section `{first.node[0]}` occurs several times"
    text, help = "merged with the first", "write one section"
    related = (Place(first.node, 0), "first here")
    context.note_dialect("sections", message, Place(second.node, 0), text, help=help, related=related)
    return Place(generated_list(context, [*close_typed_list(_children(first.node), 1), *_children(second.node)[1:]]))


def inline_private_blocks(context: Context, at: Place, factored: bool, *, is_reported: bool = True) -> Place:
    """A section with the contents of its ``(:private ..)`` blocks in their place.

    ``factored``: the domain requires ``:factored-privacy``, so that blocks have no owner. ``is_reported``: with a
    warning.
    """
    node = at.node
    if not any([isinstance(child, list) and child[:1] == [":private"] for child in node]):
        return at
    children: list[Place] = []
    for child, block in enumerate(node):
        if not isinstance(block, list) or block[:1] != [":private"]:
            children.append(Place(node, child))
            continue
        message = "`:private` declares for one agent"
        if is_reported:
            report_several_agents(context, message, Place(block, 0), "read as declared for all")
        start = 1
        owned_by_name = token_text(node[0]) in _OWNED_BY_NAME
        if owned_by_name:
            has_owner = len(block) > 1 and is_object_name(block[1]) and block[2:3] != ["-"]
            start = 2 if has_owner and not factored else 1
        elif len(block) > 1 and is_variable(block[1]):
            after_owner = token_text(block[2]) if len(block) > 2 else ""
            start = 4 if after_owner == "-" else 3 if after_owner.startswith("-") else 2
        contents = _children(block)[start:]
        if owned_by_name:
            children, contents = close_typed_list(children, 1), close_typed_list(contents)
        children = [*children, *contents]
    return Place(generated_list(context, children))


def report_several_agents(context: Context, message: str, at: Place, text: str) -> None:
    """Report, once, that the agents of a domain are checked as one."""
    context.note_dialect("agents", message, at, text, help="all agents are checked together; privacy is not checked")


def split_agent(context: Context, node: list[Node]) -> tuple[list[Place], list[Node]]:
    """The typed variables of an action's ``:agent``, and the action without it."""
    if ":agent" not in node:
        return [], node
    start = node.index(":agent")
    report_several_agents(context, "an action with an `:agent`", Place(node, start), "read as its first parameter")
    end = start + 1
    while end < len(node) and not str(node[end]).startswith(":"):
        end += 1
    if end == start + 1:
        context.report_malformed("`:agent` has no value", Place(node, start), "expected a value after this")
    children = _children(node)
    value = node[start + 1] if end == start + 2 else None
    agent = _children(value) if isinstance(value, list) else children[start + 1 : end]
    return agent, generated_list(context, [*children[:start], *children[end:]])


def find_all_parameters(context: Context, agent: list[Place], parameters: Place | None) -> Place | None:
    """The parameters of an action, its agent first."""
    if not agent:
        return parameters
    listed: Node = [] if parameters is None else parameters.subtree
    if not isinstance(listed, list):  # reported where it is read
        return parameters
    generated = generated_list(context, [*close_typed_list(agent), *_children(listed)])
    return Place(context.record_origin([generated], agent[0]), 0)


def close_typed_list(children: list[Place], start: int = 0) -> list[Place]:
    """A typed list to which another can be appended: names at its end without a type get type ``object``."""
    if len(children) <= start:
        return children
    last = children[-1].subtree
    is_typed = isinstance(last, list) or last.startswith("-")
    if len(children) > start + 1:
        is_typed = is_typed or children[-2].subtree == "-"
    return children if is_typed else [*children, Place(["-"], 0), Place(["object"], 0)]


def generated_list(context: Context, children: list[Place]) -> list[Node]:
    """A list of nodes from other places; each keeps its place in diagnostics."""
    generated: list[Node] = []
    for number, at in enumerate(children):
        generated.append(at.subtree)
        context.replaced[id(generated), number] = at
    return context.record_origin(generated, Place(children[0].node) if children else Place([]))


def _children(node: list[Node]) -> list[Place]:
    return [Place(node, child) for child in range(len(node))]


# ---- functions without values, values without functions -------------------------------------------------------------


def is_total_cost_unread(tops: tuple[list[Node], ...]) -> bool:
    """True if only increases and the metric name ``total-cost``. Linear in the texts."""
    stack: list[Node] = []
    for form in [top[0] for top in tops]:
        sections = form[2:] if isinstance(form, list) else []
        stack += [s for s in sections if isinstance(s, list) and s[:1] not in ([":functions"], [":metric"])]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            if part == TOTAL_COST:
                return False
        elif part[:1] == ["increase"] and len(part) == 3 and part[1] in (TOTAL_COST, [TOTAL_COST]):
            stack.append(part[2])
        else:
            stack += part
    return True


def find_assigned_function(fact: Node) -> str | None:
    """The function that ``(= (function object ..) number)`` gives a value to; ``None`` for any other node."""
    match fact:
        case ["=", [str(name), *arguments], str(value)] if is_name(name) and all(map(is_object_name, arguments)):
            return name if parse_number(value) is not None else None
    return None


def find_unread_functions(symbols: Symbols, tops: tuple[list[Node], list[Node]]) -> frozenset[str]:
    """The names that occur in both texts only as functions to which ``:init`` gives values. Linear in the texts.

    Empty if ``total-cost`` gets its value by default: one of the names could be a misspelling of it.
    """
    names: set[str] = set()
    other_nodes: list[Node] = [*tops[0]]
    for section in tops[1][0] if isinstance(tops[1][0], list) else ():
        if not isinstance(section, list) or section[:1] != [":init"]:
            other_nodes.append(section)
            continue
        facts = section[1:]
        while facts:
            fact = facts.pop()
            name = find_assigned_function(fact)
            if name is not None:
                names.add(name)
            elif isinstance(fact, list) and fact[:1] == ["and"]:
                facts += fact[1:]
            else:
                other_nodes.append(fact)
    if TOTAL_COST in symbols.function_index and TOTAL_COST not in names:
        return frozenset()
    return frozenset(names) - all_tokens(other_nodes) - {TOTAL_COST}
