"""Semantic mutants of a Python module: one expression or statement changed, the rest of the text kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


class Mutant(NamedTuple):
    """A change of the text ``before`` in lines ``line`` to ``last`` (from 1) of the file ``path`` to ``after``."""

    path: str
    kind: str
    line: int
    last: int
    start: int
    end: int
    before: str
    after: str
    source_line: str
    """The first changed line, without its indentation."""

    @property
    def change(self) -> str:
        """The file, the line's text, the kind of change, and the first line of both texts, as in `equivalent.txt`."""
        before, after = [text.splitlines()[0] for text in (self.before, self.after)]
        return f"{self.path}: {self.source_line}: {self.kind}: `{before}` -> `{after}`"

    @property
    def name(self) -> str:
        """A unique name: the place and the change."""
        return f"{self.line}:{self.start}:{self.change}"

    def source(self, text: str) -> str:
        """The mutated text of the module."""
        data = text.encode()
        return (data[: self.start] + self.after.encode() + data[self.end :]).decode()


def draw(root: Path, packages: tuple[str, ...], number: int, seed: int) -> list[Mutant]:
    """Draw mutants, from each package in proportion to the mutants that it has."""
    pools = [_in_package(root, package) for package in packages]
    total = sum([len(pool) for pool in pools])
    sample: list[Mutant] = []
    for package, pool in zip(packages, pools, strict=True):
        share = round(number * len(pool) / total)
        sample += Random(f"{seed}/{package}").sample(pool, min(share, len(pool)))
    return sample


def _in_package(root: Path, package: str) -> list[Mutant]:
    files = sorted((root / package).rglob("*.py"))
    return [mutant for file in files for mutant in mutants_of(file.read_text(), str(file.relative_to(root)))]


def mutants_of(text: str, path: str) -> list[Mutant]:
    """All mutants of a module, in the order of its syntax tree."""
    starts = [0]
    lines = text.encode().splitlines(keepends=True)
    for line in lines:
        starts.append(starts[-1] + len(line))
    mutants = []
    for kind, node, after in _changes(ast.parse(text), in_function=False):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before = text.encode()[start:end].decode()
        source_line = lines[node.lineno - 1].decode().strip()
        last = node.end_lineno or node.lineno
        mutants.append(Mutant(path, kind, node.lineno, last, start, end, before, after, source_line))
    return mutants


def _changes(node: ast.AST, in_function: bool) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """The changes in and below ``node``; only code of functions is changed, and no annotation, text or assertion."""
    if in_function:
        yield from _own_changes(node)
    inside = in_function or isinstance(node, ast.FunctionDef)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr | ast.Assert | ast.Raise):
                yield from _changes(child, inside)


def _own_changes(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=comparators):
            changed = ast.Compare(left, [_COMPARISONS[type(operator)]()], comparators)
            yield "comparison", node, f"({ast.unparse(changed)})"
        case ast.BoolOp(op=operator, values=values):
            changed_operator = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield "boolean", node, f"({ast.unparse(ast.BoolOp(changed_operator, values))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "boolean", node, f"({ast.unparse(operand)})"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if isinstance(
            test, ast.Name | ast.Attribute | ast.Call | ast.Subscript
        ):
            yield "boolean", test, f"(not {ast.unparse(test)})"
        case ast.Constant(value=bool() as truth):
            yield "boolean", node, str(not truth)
        case ast.Constant(value=int() as number):
            yield "off by one", node, str(number + 1)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            yield "operator", node, f"({ast.unparse(ast.BinOp(left, _OPERATORS[type(operator)](), right))})"
        case ast.Call(func=ast.Name(id="isinstance")):
            pass
        case ast.Call(func=function, args=[first, second, *remaining], keywords=keywords) if ast.dump(
            first
        ) != ast.dump(second) and not any([isinstance(value, ast.Starred) for value in (first, second)]):
            yield "swapped arguments", node, ast.unparse(ast.Call(function, [second, first, *remaining], keywords))
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield "dropped statement", node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "dropped statement", node, "pass"
        case _:
            pass
