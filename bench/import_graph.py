"""Measure the code base and draw its imports: statements, import edges, complexity of functions.

usage: python -m bench.import_graph [--svg FILE] [ROOT]

Prints for the shipped code: statements of the syntax tree by package, circles of files (with annotations), functions
above a complexity of 15 and 25, imports that point upwards, and private names that are taken from elsewhere.
With ``--svg`` it draws the import graph instead: layers, packages with the first line of their ``__init__``,
and an arrow for each import between packages that no other path of arrows stands for.
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
# The layers from the top to the ground; packages of one layer stand side by side. A package is a package or a file.
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
    """A file: its dotted name below ``plansafe``, its tree, and the modules that it imports."""

    name: str
    tree: ast.Module
    imports: frozenset[str]


def modules(root: Path) -> dict[str, Module]:
    """All shipped files, by dotted name without ``plansafe.``."""
    files = {}
    for folder in FOLDERS:
        home = root / folder / "plansafe"
        for file in sorted(home.rglob("*.py")):
            parts = file.relative_to(home).with_suffix("").parts
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    with paused_garbage_collection():
        trees = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in files.items()}
    packages = {name for name, file in files.items() if file.name == "__init__.py"}
    return {
        name: Module(name, tree, frozenset(_imported(name, tree, trees, packages)) - {name})
        for name, tree in trees.items()
    }


def _imported(name: str, tree: ast.Module, known: Mapping[str, object], packages: set[str]) -> Iterator[str]:
    """The files that one imports, wherever in it: functions and ``TYPE_CHECKING`` included."""
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            found = [alias.name.removeprefix("plansafe.") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").removeprefix("plansafe.")
            if node.level:
                here = name.split(".")[: len(name.split(".")) - node.level + (name in packages)]
                base = ".".join([*here, *([node.module] if node.module else [])])
            found = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names]
        else:
            continue
        yield from [module for module in found if module in known]


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements of a file; expressions, which are most of its nodes, hold no imports."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            todo += getattr(node, part, ())


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Groups of at least two nodes that reach each other, each sorted; the largest first (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    out: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                out.append(sorted(group))

    for node in graph:
        if node not in index:
            visit(node)
    return sorted(out, key=len, reverse=True)


def package(module: str) -> str:
    """The package in which a file lies."""
    return max([r for r in PACKAGES if module == r or module.startswith(f"{r}.")] or [module.split(".")[0]], key=len)


def doors(files: Mapping[str, Module]) -> dict[str, set[str]]:
    """Which packages each package imports from."""
    out: dict[str, set[str]] = {name: set() for name in PACKAGES}
    for module in files.values():
        for other in module.imports:
            if package(other) != package(module.name):
                out[package(module.name)].add(package(other))
    return out


def upward(files: Mapping[str, Module]) -> list[tuple[str, str]]:
    """Imports that point to a higher layer."""
    level = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    pairs = [(module.name, other) for module in files.values() for other in module.imports]
    return sorted([(a, b) for a, b in pairs if level.get(package(b), 0) < level.get(package(a), 0)])


def complexity(function: ast.AST) -> int:
    """One more than the branches of a function (McCabe 1976), nested functions left to themselves."""
    count, todo = 1, list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If | ast.For | ast.While | ast.ExceptHandler):
            count += 1
        elif isinstance(node, ast.Match):
            count += len(node.cases) - 1
        todo += ast.iter_child_nodes(node)
    return count


def private(files: Mapping[str, Module]) -> int:
    """How often a name with an underscore is taken from something that is neither ``self`` nor ``cls``."""
    count = 0
    for module in files.values():
        own = {node.name for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__"):
                known = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls", "other", *own}
                count += not known and node.attr not in ("_replace", "_asdict", "_fields", "_make")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("plansafe"):
                count += len([alias for alias in node.names if alias.name.startswith("_")])
    return count


def figures(root: Path) -> str:
    """All figures as text."""
    files = modules(root)
    statements: Counter[str] = Counter()
    for module in files.values():
        statements[package(module.name)] += sum([isinstance(node, ast.stmt) for node in ast.walk(module.tree)])
    functions = [
        (complexity(node), module.name, node.name)
        for module in files.values()
        if package(module.name) != "verifier.kernel"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef)
    ]
    lines = [f"{count:7,}  {name}" for name, count in sorted(statements.items())]
    kernel = statements["verifier.kernel"]
    lines.append(f"{statements.total() - kernel:7,}  statements without the kernel")
    found = circles({name: sorted(module.imports) for name, module in files.items()})
    lines.append(f"{len(found):7,}  circles of files: {[len(group) for group in found]}")
    lines.append(f"{len(upward(files)):7,}  imports that point upwards")
    lines.append(f"{len([f for f in functions if f[0] > 15]):7,}  functions above complexity 15")
    lines.append(f"{len([f for f in functions if f[0] > 25]):7,}  functions above complexity 25")
    lines.append(f"{private(files):7,}  private names taken from elsewhere")
    return "\n".join(lines)


# -- the picture ------------------------------------------------------------------------------------------------------

WIDTH, ROW, TALL, LEFT, GAP = 940, 74, 46, 90, 20


def reduced(graph: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """The edges of an acyclic graph that no other path stands for."""

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        todo = list(graph[start])
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += graph[node]
        return seen

    beyond = {node: reach(node) for node in graph}
    return sorted([(a, b) for a in graph for b in graph[a] if not any([b in beyond[c] for c in graph[a] - {b}])])


def _arrow(a: str, b: str, way: str) -> str:
    return f'<path data-from="{a}" data-to="{b}" d="{way}" fill="none" stroke="#57606a" marker-end="url(#arrow)"/>'


def svg(files: Mapping[str, Module]) -> str:
    """The import graph. The same imports give the same text."""
    place: dict[str, tuple[float, float, float]] = {}
    for number, layer in enumerate(LAYERS):
        width = (WIDTH - 2 * LEFT - GAP * (len(layer) - 1)) / len(layer)
        if len(layer) == 1 and layer[0] not in ("app",):
            width = (WIDTH - 2 * LEFT) * 0.72
        for column, name in enumerate(layer):
            x = (WIDTH - width) / 2 if len(layer) == 1 else LEFT + column * (width + GAP)
            place[name] = (x, 16 + number * ROW, width)
    height = 16 + len(LAYERS) * ROW
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        "<title>Import graph: layers, packages, and who imports whom</title>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" orient="auto">',
        '<path d="M0 0 8 4 0 8z" fill="#57606a"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    edges = reduced(doors(files))
    level = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    short = [(a, b) for a, b in edges if level[b] - level[a] == 1]
    entering, leaving = Counter([b for _, b in short]), Counter([a for a, _ in short])
    used: Counter[tuple[str, bool]] = Counter()

    def port(name: str, below: bool, total: int) -> float:
        used[name, below] += 1
        x, _, width = place[name]
        return x + width * used[name, below] / (total + 1)

    for a, b in short:
        x1, y1 = port(a, True, leaving[a]), place[a][1] + TALL
        x2, y2 = port(b, False, entering[b]), place[b][1]
        bend = (y1 + y2) / 2
        out.append(_arrow(a, b, f"M{x1:.0f} {y1:.0f} C{x1:.0f} {bend:.0f} {x2:.0f} {bend:.0f} {x2:.0f} {y2 - 1:.0f}"))
    # Longer ways run next to the boxes, each in a lane of its own: the longest outside.
    far = sorted([(a, b) for a, b in edges if level[b] - level[a] > 1], key=lambda e: level[e[1]] - level[e[0]])
    lanes: Counter[bool] = Counter()
    for a, b in far:
        left = place[a][0] + place[a][2] / 2 < WIDTH / 2 or place[b][0] + place[b][2] / 2 < WIDTH / 2
        lane = lanes[left]
        lanes[left] += 1
        x = LEFT - 8 - 7 * lane if left else WIDTH - LEFT + 8 + 7 * lane
        x1, x2 = [place[n][0] + (0 if left else place[n][2]) for n in (a, b)]
        y1, y2 = place[a][1] + TALL - 8 - 2 * (lane % 8), place[b][1] + 8 + 2 * (lane % 8)
        out.append(_arrow(a, b, f"M{x1:.0f} {y1:.0f} H{x} V{y2:.0f} H{x2 + (-1 if left else 1):.0f}"))
    for name, (x, y, width) in place.items():
        fill = "#fff8c5" if name == "verifier.kernel" else "#ddf4ff" if name.startswith("verifier") else "#eaeef2"
        said = (ast.get_docstring(files[name].tree) or "").split("\n\n")[0].replace("``", "")
        out.append(
            f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{TALL}" rx="6" fill="{fill}" stroke="#57606a"/>'
        )
        out.append(f'<text x="{x + 10:.0f}" y="{y + 17}" font-size="14" font-weight="bold">{escape(name)}</text>')
        lines = wrap(" ".join(said.split()), int(width / 5.6))
        for number, line in enumerate(lines[:2]):
            more = " .." if number == 1 and len(lines) > 2 else ""
            out.append(f'<text x="{x + 10:.0f}" y="{y + 29 + 11 * number}" font-size="10">{escape(line)}{more}</text>')
    return "\n".join([*out, "</svg>", ""])


def main() -> None:
    """Print the figures, or draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--svg", type=Path)
    arguments = parser.parse_args()
    if arguments.svg is not None:
        arguments.svg.write_text(svg(modules(arguments.root)), encoding="utf-8")
    else:
        print(figures(arguments.root))


if __name__ == "__main__":
    main()
