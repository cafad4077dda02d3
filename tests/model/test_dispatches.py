"""Whoever distinguishes the kinds of nodes names them all, so that the type checker leads from a new one to each place.

A match that does not end in ``assert_never`` would let a new kind of formula read nothing, which is unsound. What may
stand in its place hands all other kinds to an operation that ends so itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from plansafe.verifier.model import nodes

FORMULAS = frozenset([node.__name__ for node in nodes.Formula.__args__])
EXPRESSIONS = frozenset([node.__name__ for node in nodes.Expression.__args__])
GENERIC = frozenset(("assert_never", "children", "map_children", "push_negation", "ground_parts", "fold_formula"))
"""The operations of :mod:`plansafe.verifier.model.operations` that may stand in the last case, for all other kinds."""
OPERATORS = frozenset(
    word for family in (nodes.PastOperator, nodes.FutureOperator, nodes.TraceOperator) for word in get_args(family)
)
FEW = 2
"""Kinds that may be told from all others: ``is this an atom`` is no dispatch."""
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


def named(node: ast.AST) -> set[str]:
    """The last parts of all names in a tree."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def kinds(names: set[str]) -> set[str]:
    """Those of the names that are kinds of nodes, of the one union or the other."""
    return max(names & FORMULAS, names & EXPRESSIONS, key=len)


def matched(match: ast.Match) -> set[str]:
    """The kinds that a match tells apart."""
    return kinds(set().union(*[named(case.pattern) for case in match.cases]))


def closed(match: ast.Match) -> bool:
    """Whether nothing gets through a match in silence."""
    last = match.cases[-1]
    everything = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
    return everything and any([named(statement) & GENERIC for statement in last.body])


def told_apart(function: ast.AST) -> set[str]:
    """The kinds that the branches of a function tell apart by ``isinstance``, one after the other."""
    found: set[str] = set()
    for node in ast.walk(function):
        test = node.test if isinstance(node, ast.If | ast.IfExp) else None
        if isinstance(test, ast.Call) and named(test.func) == {"isinstance"}:
            found |= kinds(named(test.args[1]))
    return found


def test_matches_over_nodes_are_closed(root: Path) -> None:
    open_ends = []
    found = 0
    for file, tree in modules(root):
        for match in [node for node in ast.walk(tree) if isinstance(node, ast.Match) and len(matched(node)) > FEW]:
            found += 1
            if not closed(match):
                open_ends.append(f"{file.relative_to(root)}:{match.lineno}")
    assert found > 30, "the test finds no matches any more"
    assert not open_ends


def operators(match: ast.Match) -> set[str]:
    """The temporal operators that are cases of a match."""
    found: set[str] = set()
    for case in match.cases:
        alternatives = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
        values = [part.value for part in alternatives if isinstance(part, ast.MatchValue)]
        found |= {str(value.value) for value in values if isinstance(value, ast.Constant)} & OPERATORS
    return found


def test_matches_over_temporal_operators_are_closed(root: Path) -> None:
    open_ends = []
    found = 0
    for folder in FOLDERS:
        for file in sorted((root / folder / "plansafe").rglob("*.py")):
            if file.parent.name == "kernel":
                continue  # it has its own nodes, and dispatches by tables
            text = file.read_text(encoding="utf-8")
            tree = ast.parse(text if "match " in text else "")
            for match in [n for n in ast.walk(tree) if isinstance(n, ast.Match) and len(operators(n)) > FEW]:
                found += 1
                if not closed(match) and not isinstance(match.cases[-1].body[-1], ast.Raise):
                    open_ends.append(f"{file.relative_to(root)}:{match.lineno}")
    assert found > 15, "the test finds no matches any more"
    assert not open_ends


def test_nobody_dispatches_by_isinstance(root: Path) -> None:
    chains = [
        f"{file.relative_to(root)}:{function.lineno} {function.name}"
        for file, tree in modules(root)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and len(told_apart(function)) > FEW
    ]
    assert not chains
