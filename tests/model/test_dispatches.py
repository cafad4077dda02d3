"""A match over kinds of nodes names all of them, so that the type checker reports each match that lacks a new kind.

Without ``assert_never`` at the end of a match, a new kind of formula could be ignored, which is unsound. The last case
may also pass all other kinds to an operation that ends in ``assert_never``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from plansafe.verifier.model import nodes

FORMULAS = frozenset([node.__name__ for node in nodes.Formula.__args__])
EXPRESSIONS = frozenset([node.__name__ for node in nodes.Expression.__args__])
CLOSING_OPERATIONS = frozenset(
    ("assert_never", "children", "map_children", "push_negation", "list_ground_parts", "fold_formula")
)
"""The operations of :mod:`plansafe.verifier.model.operations` that the last case may call for all other kinds."""
OPERATORS = frozenset(
    word for family in (nodes.PastOperator, nodes.FutureOperator, nodes.TraceOperator) for word in get_args(family)
)
MAX_DISTINGUISHED = 2
"""A function may test for this many kinds: a test for atoms is not a dispatch."""
FOLDERS = ("verifier", "specs", "domains", "llm", "align", "app")


def modules(root: Path) -> Iterator[tuple[Path, ast.Module]]:
    """The files that import the model's nodes."""
    for folder in FOLDERS:
        for file in sorted((root / folder / "plansafe").rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            if (
                "verifier.model.nodes import" in text
                or "verifier.model import nodes" in text
                or file.name == "nodes.py"
            ):
                yield file, ast.parse(text)


def names_in(node: ast.AST) -> set[str]:
    """The last parts of all names in a tree."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def node_kinds(names: set[str]) -> set[str]:
    """The names of formula nodes or of expression nodes, whichever are more."""
    return max(names & FORMULAS, names & EXPRESSIONS, key=len)


def matched_kinds(match: ast.Match) -> set[str]:
    """The kinds of nodes in the cases of a match."""
    return node_kinds(set().union(*[names_in(case.pattern) for case in match.cases]))


def is_closed(match: ast.Match) -> bool:
    """Whether a match ends in ``assert_never`` or in an operation on all other kinds."""
    last = match.cases[-1]
    everything = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
    return everything and any([names_in(statement) & CLOSING_OPERATIONS for statement in last.body])


def kinds_tested_by_isinstance(function: ast.AST) -> set[str]:
    """The kinds of nodes for which a function has an ``isinstance`` branch."""
    tested_kinds: set[str] = set()
    for node in ast.walk(function):
        test = node.test if isinstance(node, ast.If | ast.IfExp) else None
        if isinstance(test, ast.Call) and names_in(test.func) == {"isinstance"}:
            tested_kinds |= node_kinds(names_in(test.args[1]))
    return tested_kinds


def test_matches_over_nodes_are_closed(root: Path) -> None:
    open_matches = []
    matches = 0
    for file, tree in modules(root):
        for match in [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Match) and len(matched_kinds(node)) > MAX_DISTINGUISHED
        ]:
            matches += 1
            if not is_closed(match):
                open_matches.append(f"{file.relative_to(root)}:{match.lineno}")
    assert matches > 30, "the test does not find the matches"
    assert not open_matches


def matched_operators(match: ast.Match) -> set[str]:
    """The temporal operators that are cases of a match."""
    operators: set[str] = set()
    for case in match.cases:
        alternatives = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
        values = [part.value for part in alternatives if isinstance(part, ast.MatchValue)]
        operators |= {str(value.value) for value in values if isinstance(value, ast.Constant)} & OPERATORS
    return operators


def test_matches_over_temporal_operators_are_closed(root: Path) -> None:
    open_matches = []
    matches = 0
    for folder in FOLDERS:
        for file in sorted((root / folder / "plansafe").rglob("*.py")):
            if file.parent.name == "kernel":
                continue  # has its own nodes, and dispatches by tables
            text = file.read_text(encoding="utf-8")
            tree = ast.parse(text if "match " in text else "")
            for match in [
                n for n in ast.walk(tree) if isinstance(n, ast.Match) and len(matched_operators(n)) > MAX_DISTINGUISHED
            ]:
                matches += 1
                if not is_closed(match) and not isinstance(match.cases[-1].body[-1], ast.Raise):
                    open_matches.append(f"{file.relative_to(root)}:{match.lineno}")
    assert matches > 15, "the test does not find the matches"
    assert not open_matches


def test_no_function_dispatches_by_isinstance(root: Path) -> None:
    chains = [
        f"{file.relative_to(root)}:{function.lineno} {function.name}"
        for file, tree in modules(root)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and len(kinds_tested_by_isinstance(function)) > MAX_DISTINGUISHED
    ]
    assert not chains
