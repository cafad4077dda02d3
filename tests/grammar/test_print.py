"""Printed trees read back as the same trees."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from shape_corpus import shipped
from shape_generate import generate_task

from plansafe.grammar.node_places import SpanNode, parse_spans
from plansafe.grammar.sexpr import Node, Span, format_node, parse_nodes
from plansafe.grammar.source import Source

TOKENS = (
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters='();"'), min_size=1)
    .filter(lambda token: not any(c.isspace() for c in token))
    .map(str.lower)
)
STRINGS = st.text(st.characters(exclude_categories=("Cs",))).map(
    lambda s: '"' + s.replace("\\", "\\\\").replace('"', '\\"') + '"'
)
TREES: st.SearchStrategy[list[Node]] = st.recursive(
    st.lists(TOKENS | STRINGS, max_size=4), lambda inner: st.lists(TOKENS | STRINGS | inner, max_size=4), max_leaves=30
)


def is_same_tree(first: Node | None, second: Node | None) -> bool:
    """Whether two trees of any depth are equal; ``==`` of lists is recursive."""
    stack = [(first, second)]
    while stack:
        left, right = stack.pop()
        if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
            stack += zip(left, right, strict=True)
        elif isinstance(left, list) or left != right:
            return False
    return True


def read_nodes(text: str) -> list[Node] | None:
    return parse_nodes(Source("x", text))


@settings(max_examples=300)
@given(tree=TREES)
def test_every_tree_reads_back(tree: list[Node]) -> None:
    assert read_nodes(format_node(tree)) == [tree]


@settings(derandomize=True, max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_generated_texts_read_back(seed: int) -> None:
    for text in generate_task(seed):
        tree = read_nodes(text)
        assert tree is not None
        assert is_same_tree(read_nodes("\n".join([format_node(node) for node in tree])), tree)


def test_shipped_texts_read_back() -> None:
    for entry in shipped():
        tree = read_nodes(entry.text)
        if tree is not None and entry.kind != "plan":
            assert is_same_tree(read_nodes("\n".join([format_node(node) for node in tree])), tree), entry.name


@settings(derandomize=True, max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_places_have_the_shape_of_the_tree(seed: int) -> None:
    for text in generate_task(seed):
        tree = read_nodes(text)
        assert tree is not None
        stack: list[tuple[Node, Span | SpanNode]] = list(zip(tree, parse_spans(Source("x", text)), strict=True))
        while stack:
            node, place = stack.pop()
            if isinstance(node, list):
                assert isinstance(place, SpanNode)
                stack += zip(node, place.children, strict=True)
            else:
                assert isinstance(place, Span)
                written = text[place.start : place.end]
                assert node == (written if written.startswith('"') else written.lower())
