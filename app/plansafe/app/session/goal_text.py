"""Replace the goal in the text of a problem. The rest of the text and the places in it stay the same."""

from __future__ import annotations

from plansafe.app.session.option_values import BadOption
from plansafe.grammar.node_places import SpanNode, parse_spans
from plansafe.grammar.sexpr import find_syntax_errors, format_node, parse_nodes, parse_source
from plansafe.grammar.source import Source

FLAG = "--goal"
NOTHING = "(and)"
"""A goal that every state satisfies."""
_FORM = "one condition in PDDL, such as '(and (on cup table) (not (dirty cup)))'"


def read_goal(text: str) -> str:
    """Normalise a condition to one line without comments. Raises :class:`BadOption` if it is not a condition."""
    source = Source(FLAG, text)
    nodes = parse_nodes(source)
    if nodes is None:
        wrong = next(iter(find_syntax_errors(source)), None)
        raise BadOption(f"{FLAG} cannot be read{f': {wrong.message}' if wrong is not None else ''}", f"write {_FORM}")
    if len(nodes) != 1 or not isinstance(nodes[0], list):
        raise BadOption(f"{FLAG} takes {_FORM}")
    return format_node(nodes[0])


def with_goal(problem: Source, goal: str) -> Source:
    """Set the goal of a problem. An empty ``goal`` keeps the goal of the problem, or adds an empty one.

    A text that is not a problem stays the same; its reader reports the errors.
    """
    nodes = parse_source(problem).nodes
    if nodes is None or len(nodes) != 1 or not isinstance(nodes[0], list) or nodes[0][:1] != ["define"]:
        return problem
    tree = parse_spans(problem)[0]
    assert isinstance(tree, SpanNode)
    text = problem.text
    for node, place in zip(nodes[0], tree.children, strict=True):
        if isinstance(node, list) and node[:1] == [":goal"] and isinstance(place, SpanNode):
            if not goal:
                return problem
            return Source(problem.name, f"{text[: place.span.start]}(:goal {goal}){text[place.span.end :]}")
    end = tree.span.end - 1
    return Source(problem.name, f"{text[:end]} (:goal {goal or NOTHING}){text[end:]}")
