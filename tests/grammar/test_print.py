"""print(parse(x)): what is written reads back as the same tree."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from shape_corpus import shipped
from shape_generate import texts

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


def same(a: Node | None, b: Node | None) -> bool:
    """Equality of trees of any depth (that of lists recurses)."""
    stack = [(a, b)]
    while stack:
        one, other = stack.pop()
        if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            stack += zip(one, other, strict=True)
        elif isinstance(one, list) or one != other:
            return False
    return True


def read(text: str) -> list[Node] | None:
    return parse_nodes(Source("x", text))


@settings(max_examples=300)
@given(tree=TREES)
def test_every_tree_reads_back(tree: list[Node]) -> None:
    assert read(format_node(tree)) == [tree]


@settings(derandomize=True, max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_generated_texts_read_back(seed: int) -> None:
    for text in texts(seed):
        tree = read(text)
        assert tree is not None
        assert same(read("\n".join([format_node(node) for node in tree])), tree)


def test_shipped_texts_read_back() -> None:
    for entry in shipped():
        tree = read(entry.text)
        if tree is not None and entry.kind != "plan":
            assert same(read("\n".join([format_node(node) for node in tree])), tree), entry.name


@settings(derandomize=True, max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_places_have_the_shape_of_the_tree(seed: int) -> None:
    for text in texts(seed):
        tree = read(text)
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
