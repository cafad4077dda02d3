"""Measure the code base and draw its imports: statements, import edges, complexity of functions.

usage: python -m bench.import_graph [--svg FILE] [ROOT]

Prints for the shipped code: statements of the syntax tree by package, import cycles (imports for annotations included),
functions above a complexity of 15 and 25, imports from a higher layer, and uses of private names of other modules.
With ``--svg`` it draws the import graph instead: layers, packages with the first line of their ``__init__``,
and an arrow for each import between packages that no path of other arrows implies.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

from plansafe.verifier.model.garbage_collection import paused_garbage_collection

FOLDERS = ("grammar", "verifier", "specs", "domains", "llm", "align", "app")
# The layers from top to bottom. An entry is a package or a module.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("app",),
    ("align",),
    ("llm",),
    ("domains",),
    ("specs.lint", "specs"),
    ("verifier.diagnose",),
    ("verifier.repair",),
    ("verifier.planning",),
    ("verifier.api",),
    ("verifier.symbolic",),
    ("verifier.reporting",),
    ("verifier.execution",),
    ("verifier.rules",),
    ("verifier.elaborate", "verifier.compile"),
    ("verifier.model", "verifier.extras"),
    ("grammar", "verifier.kernel"),
)
PACKAGES = tuple(package for layer in LAYERS for package in layer)


class Module(NamedTuple):
    """A module: its dotted name without ``plansafe.``, its syntax tree, and the modules that it imports."""

    name: str
    tree: ast.Module
    imports: frozenset[str]


def read_modules(root: Path) -> dict[str, Module]:
    """All shipped modules, by dotted name without ``plansafe.``."""
    files = {}
    for folder in FOLDERS:
        package_folder = root / folder / "plansafe"
        for file in sorted(package_folder.rglob("*.py")):
            parts = file.relative_to(package_folder).with_suffix("").parts
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    with paused_garbage_collection():
        trees = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in files.items()}
    packages = {name for name, file in files.items() if file.name == "__init__.py"}
    return {
        name: Module(name, tree, frozenset(_find_imports(name, tree, trees, packages)) - {name})
        for name, tree in trees.items()
    }


def _find_imports(name: str, tree: ast.Module, modules: Mapping[str, object], packages: set[str]) -> Iterator[str]:
    """The modules that a module imports, also inside functions and under ``TYPE_CHECKING``."""
    for node in _walk_statements(tree):
        if isinstance(node, ast.Import):
            names = [alias.name.removeprefix("plansafe.") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").removeprefix("plansafe.")
            if node.level:
                parent = name.split(".")[: len(name.split(".")) - node.level + (name in packages)]
                base = ".".join([*parent, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules else base for alias in node.names]
        else:
            continue
        yield from [module for module in names if module in modules]


def _walk_statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements of a file; expressions, which are most of its nodes, hold no imports."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            pending += getattr(node, part, ())


def find_import_cycles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Groups of at least two nodes that reach each other, each sorted; the largest first (Tarjan 1972)."""
    index: dict[str, int] = {}
    low_link: dict[str, int] = {}
    stack: list[str] = []
    cycles: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low_link[node] = len(index)
        stack.append(node)
        for imported in graph[node]:
            if imported not in index:
                visit(imported)
                low_link[node] = min(low_link[node], low_link[imported])
            elif imported in stack:
                low_link[node] = min(low_link[node], index[imported])
        if low_link[node] == index[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                cycles.append(sorted(group))

    for node in graph:
        if node not in index:
            visit(node)
    return sorted(cycles, key=len, reverse=True)


def find_package(module: str) -> str:
    """The package that contains a module."""
    return max(
        [package for package in PACKAGES if module == package or module.startswith(f"{package}.")]
        or [module.split(".")[0]],
        key=len,
    )


def find_package_imports(files: Mapping[str, Module]) -> dict[str, set[str]]:
    """The packages that each package imports from."""
    imports: dict[str, set[str]] = {name: set() for name in PACKAGES}
    for module in files.values():
        for imported in module.imports:
            if find_package(imported) != find_package(module.name):
                imports[find_package(module.name)].add(find_package(imported))
    return imports


def find_upward_imports(files: Mapping[str, Module]) -> list[tuple[str, str]]:
    """Imports from a higher layer, as pairs of modules."""
    layer_of = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    pairs = [(module.name, imported) for module in files.values() for imported in module.imports]
    return sorted(
        [
            (name, imported)
            for name, imported in pairs
            if layer_of.get(find_package(imported), 0) < layer_of.get(find_package(name), 0)
        ]
    )


def compute_complexity(function: ast.AST) -> int:
    """The number of branches of a function plus one (McCabe 1976), without nested functions."""
    count, pending = 1, list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If | ast.For | ast.While | ast.ExceptHandler):
            count += 1
        elif isinstance(node, ast.Match):
            count += len(node.cases) - 1
        pending += ast.iter_child_nodes(node)
    return count


def count_private_uses(files: Mapping[str, Module]) -> int:
    """The number of uses of private names of other modules and objects."""
    count = 0
    for module in files.values():
        own_names = {node.name for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__"):
                is_own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls", "other", *own_names}
                count += not is_own and node.attr not in ("_replace", "_asdict", "_fields", "_make")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("plansafe"):
                count += len([alias for alias in node.names if alias.name.startswith("_")])
    return count


def format_figures(root: Path) -> str:
    """All figures as text."""
    files = read_modules(root)
    statements: Counter[str] = Counter()
    for module in files.values():
        statements[find_package(module.name)] += sum([isinstance(node, ast.stmt) for node in ast.walk(module.tree)])
    complexities = [
        compute_complexity(node)
        for module in files.values()
        if find_package(module.name) != "verifier.kernel"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef)
    ]
    lines = [f"{count:7,}  {name}" for name, count in sorted(statements.items())]
    kernel = statements["verifier.kernel"]
    lines.append(f"{statements.total() - kernel:7,}  statements without the kernel")
    cycles = find_import_cycles({name: sorted(module.imports) for name, module in files.items()})
    lines.append(f"{len(cycles):7,}  import cycles: {[len(group) for group in cycles]}")
    lines.append(f"{len(find_upward_imports(files)):7,}  imports from a higher layer")
    for limit in (15, 25):
        count = sum([complexity > limit for complexity in complexities])
        lines.append(f"{count:7,}  functions above complexity {limit}")
    lines.append(f"{count_private_uses(files):7,}  uses of private names of others")
    return "\n".join(lines)


# -- drawing ----------------------------------------------------------------------------------------------------------

WIDTH, ROW, BOX_HEIGHT, LEFT, GAP = 940, 74, 46, 90, 20


def reduce_transitively(graph: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """The transitive reduction of an acyclic graph, as edges."""

    def find_reachable(start: str) -> set[str]:
        reachable: set[str] = set()
        pending = list(graph[start])
        while pending:
            node = pending.pop()
            if node not in reachable:
                reachable.add(node)
                pending += graph[node]
        return reachable

    reachable_from = {node: find_reachable(node) for node in graph}
    edges = [(node, successor) for node in graph for successor in graph[node]]
    return sorted(
        [
            (node, successor)
            for node, successor in edges
            if not any([successor in reachable_from[sibling] for sibling in graph[node] - {successor}])
        ]
    )


def _format_arrow(start: str, end: str, path: str) -> str:
    return (
        f'<path data-from="{start}" data-to="{end}" d="{path}" fill="none" stroke="#57606a" marker-end="url(#arrow)"/>'
    )


def draw_graph(files: Mapping[str, Module]) -> str:
    """The import graph. The same imports give the same text."""
    boxes: dict[str, tuple[float, float, float]] = {}
    for index, layer in enumerate(LAYERS):
        width = (WIDTH - 2 * LEFT - GAP * (len(layer) - 1)) / len(layer)
        if len(layer) == 1 and layer[0] not in ("app",):
            width = (WIDTH - 2 * LEFT) * 0.72
        for column, name in enumerate(layer):
            x = (WIDTH - width) / 2 if len(layer) == 1 else LEFT + column * (width + GAP)
            boxes[name] = (x, 16 + index * ROW, width)
    height = 16 + len(LAYERS) * ROW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        "<title>Import graph: layers, packages, and who imports whom</title>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" orient="auto">',
        '<path d="M0 0 8 4 0 8z" fill="#57606a"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    edges = reduce_transitively(find_package_imports(files))
    layer_of = {name: index for index, layer in enumerate(LAYERS) for name in layer}
    spans = {(start, end): layer_of[end] - layer_of[start] for start, end in edges}
    short_edges = [edge for edge in edges if spans[edge] == 1]
    entering, leaving = Counter([end for _, end in short_edges]), Counter([start for start, _ in short_edges])
    ports_used: Counter[tuple[str, bool]] = Counter()

    def place_port(name: str, at_bottom: bool, total: int) -> float:
        ports_used[name, at_bottom] += 1
        x, _, width = boxes[name]
        return x + width * ports_used[name, at_bottom] / (total + 1)

    for start, end in short_edges:
        x1, y1 = place_port(start, True, leaving[start]), boxes[start][1] + BOX_HEIGHT
        x2, y2 = place_port(end, False, entering[end]), boxes[end][1]
        bend = (y1 + y2) / 2
        curve = f"M{x1:.0f} {y1:.0f} C{x1:.0f} {bend:.0f} {x2:.0f} {bend:.0f} {x2:.0f} {y2 - 1:.0f}"
        parts.append(_format_arrow(start, end, curve))
    # Edges over several layers run next to the boxes, each in its own lane, the longest outermost.
    lanes: Counter[bool] = Counter()
    for start, end in sorted([edge for edge in edges if spans[edge] > 1], key=lambda edge: spans[edge]):
        left = any([boxes[name][0] + boxes[name][2] / 2 < WIDTH / 2 for name in (start, end)])
        lane = lanes[left]
        lanes[left] += 1
        x = LEFT - 8 - 7 * lane if left else WIDTH - LEFT + 8 + 7 * lane
        x1, x2 = [boxes[name][0] + (0 if left else boxes[name][2]) for name in (start, end)]
        y1, y2 = boxes[start][1] + BOX_HEIGHT - 8 - 2 * (lane % 8), boxes[end][1] + 8 + 2 * (lane % 8)
        line = f"M{x1:.0f} {y1:.0f} H{x} V{y2:.0f} H{x2 + (-1 if left else 1):.0f}"
        parts.append(_format_arrow(start, end, line))
    for name, (x, y, width) in boxes.items():
        fill = "#fff8c5" if name == "verifier.kernel" else "#ddf4ff" if name.startswith("verifier") else "#eaeef2"
        summary = (ast.get_docstring(files[name].tree) or "").split("\n\n")[0].replace("``", "")
        parts.append(
            f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{BOX_HEIGHT}" rx="6" fill="{fill}"'
            ' stroke="#57606a"/>'
        )
        parts.append(f'<text x="{x + 10:.0f}" y="{y + 17}" font-size="14" font-weight="bold">{escape(name)}</text>')
        lines = wrap(" ".join(summary.split()), int(width / 5.6))
        for index, line in enumerate(lines[:2]):
            more = " .." if index == 1 and len(lines) > 2 else ""
            parts.append(f'<text x="{x + 10:.0f}" y="{y + 29 + 11 * index}" font-size="10">{escape(line)}{more}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Print the figures or write the drawing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--svg", type=Path)
    arguments = parser.parse_args()
    if arguments.svg is not None:
        arguments.svg.write_text(draw_graph(read_modules(arguments.root)), encoding="utf-8")
    else:
        print(format_figures(arguments.root))


if __name__ == "__main__":
    main()
