"""Older, newer and looser PDDL, rewritten on the tree into standard PDDL (docs/language.md, Dialects).

Dialects of single nodes are handled where they are read (typed lists, ``:init``, names); this module rewrites whole
sections. Generated lists record their source, so that diagnostics point at the user's text.
"""

from __future__ import annotations

from plansafe.grammar.sexpr import Node, parse_number
from plansafe.verifier.elaborate.context import (
    Context,
    Place,
    collect_tokens,
    format_token,
    is_name,
    is_object_name,
    is_variable,
)
from plansafe.verifier.elaborate.symbols import Symbols

PRIVATE = frozenset((":predicates", ":functions", ":constants", ":objects"))
"""The sections that may have ``(:private ..)`` blocks."""
TOTAL_COST = "total-cost"
_OWNED_BY_NAME = frozenset((":constants", ":objects"))
"""The sections whose private blocks name their owner; in the others a block begins with a typed variable."""


def merge_sections(context: Context, first: Place, second: Place) -> Place:
    """Join two sections of one kind."""
    message = f"section `{first.node[0]}` occurs several times"
    text, help = "merged with the first", "write one section"
    related = (Place(first.node, 0), "first here")
    context.report_dialect("sections", message, Place(second.node, 0), text, help=help, related=related)
    return Place(
        generate_list(context, [*close_typed_list(_list_children(first.node), 1), *_list_children(second.node)[1:]])
    )


def is_factored(domain_top: list[Node]) -> bool:
    """Whether a text has several domains, and each requires ``:factored-privacy``."""
    return len(domain_top) > 1 and all([_requires_factored_privacy(form) for form in domain_top])


def _requires_factored_privacy(form: Node) -> bool:
    sections = form[2:] if isinstance(form, list) and form[:1] == ["define"] else []
    flags = [s for s in sections if isinstance(s, list) and s[:1] == [":requirements"]]
    return any([":factored-privacy" in section for section in flags])


def inline_private_blocks(context: Context, at: Place, is_factored: bool, *, is_reported: bool = True) -> Place:
    """Replace the ``(:private ..)`` blocks of a section by their contents.

    ``is_factored``: the domain requires ``:factored-privacy``, so that blocks have no owner. ``is_reported``: with a
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
        if format_token(node[0]) in _OWNED_BY_NAME:
            has_owner = not is_factored and len(block) > 1 and is_object_name(block[1]) and block[2:3] != ["-"]
            contents = close_typed_list(_list_children(block)[2 if has_owner else 1 :])
            children = close_typed_list(children, 1)
        else:
            contents = _list_children(block)[_find_end_of_owner(block) :]
        children = [*children, *contents]
    return Place(generate_list(context, children))


def _find_end_of_owner(block: list[Node]) -> int:
    """Return the number of the child of a ``(:private ..)`` after its owner: ``?a``, ``?a - type`` or ``?a -type``."""
    if len(block) < 2 or not is_variable(block[1]):
        return 1
    token_after_owner = format_token(block[2]) if len(block) > 2 else ""
    if token_after_owner == "-":
        return 4
    return 3 if token_after_owner.startswith("-") else 2


def report_several_agents(context: Context, message: str, at: Place, text: str) -> None:
    """Report, once, that the agents of a domain are checked as one."""
    context.report_dialect("agents", message, at, text, help="all agents are checked together; privacy is not checked")


def split_agent(context: Context, node: list[Node]) -> tuple[list[Place], list[Node]]:
    """Return the typed variables of an action's ``:agent``, and the action without it."""
    if ":agent" not in node:
        return [], node
    start = node.index(":agent")
    report_several_agents(context, "an action with an `:agent`", Place(node, start), "read as its first parameter")
    end = start + 1
    while end < len(node) and not str(node[end]).startswith(":"):
        end += 1
    if end == start + 1:
        context.report_malformed("`:agent` has no value", Place(node, start), "expected a value after this")
    children = _list_children(node)
    value = node[start + 1] if end == start + 2 else None
    agent = _list_children(value) if isinstance(value, list) else children[start + 1 : end]
    return agent, generate_list(context, [*children[:start], *children[end:]])


def join_agent_parameters(context: Context, agent: list[Place], parameters: Place | None) -> Place | None:
    """Return the parameters of an action, its agent first."""
    if not agent:
        return parameters
    listed: Node = [] if parameters is None else parameters.subtree
    if not isinstance(listed, list):  # reported where it is read
        return parameters
    all_parameters = generate_list(context, [*close_typed_list(agent), *_list_children(listed)])
    return Place(context.record_origin([all_parameters], agent[0]), 0)


def close_typed_list(children: list[Place], start: int = 0) -> list[Place]:
    """Return a typed list to which another can be appended: names at its end without a type get type ``object``."""
    if len(children) <= start:
        return children
    last = children[-1].subtree
    has_type = isinstance(last, list) or last.startswith("-")
    if len(children) > start + 1:
        has_type = has_type or children[-2].subtree == "-"
    return children if has_type else [*children, Place(["-"], 0), Place(["object"], 0)]


def generate_list(context: Context, children: list[Place]) -> list[Node]:
    """Return a list of nodes from other places; each keeps its place in diagnostics."""
    nodes: list[Node] = []
    for number, at in enumerate(children):
        nodes.append(at.subtree)
        context.replaced[id(nodes), number] = at
    return context.record_origin(nodes, Place(children[0].node) if children else Place([]))


def _list_children(node: list[Node]) -> list[Place]:
    return [Place(node, child) for child in range(len(node))]


# ---- functions without values, values without functions -------------------------------------------------------------


def is_total_cost_unread(tops: tuple[list[Node], ...]) -> bool:
    """Whether only increases and the metric name ``total-cost``. Linear in the texts."""
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
    """Return the function that ``(= (function object ..) number)`` gives a value to; ``None`` for any other node."""
    match fact:
        case ["=", [str(name), *arguments], str(value)] if is_name(name) and all(map(is_object_name, arguments)):
            return name if parse_number(value) is not None else None
    return None


def find_unread_functions(symbols: Symbols, tops: tuple[list[Node], list[Node]]) -> frozenset[str]:
    """Return the names that occur in both texts only as functions to which ``:init`` gives values. Linear in the texts.

    There are none if ``total-cost`` gets its value by default: one of the names could be a misspelling of it.
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
    return frozenset(names) - collect_tokens(other_nodes) - {TOTAL_COST}
