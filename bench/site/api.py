"""The Python API as pages: what the pages import, from the sources. Nothing is imported, so that no extra is needed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bench.site.markdown import block, cell, code

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("app", "align", "llm", "domains", "specs", "verifier", "grammar")


class Name(NamedTuple):
    """What a page imports: the module that it names, and what of it."""

    module: str
    name: str


def imported(pages: Iterable[Path]) -> list[Name]:
    """Every name of ours that a block of Python in these pages imports: what we say is to be used."""
    found = set()
    for page in pages:
        for text in _python(page.read_text(encoding="utf-8")):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("plansafe"):
                    found.update([Name(node.module or "", alias.name) for alias in node.names])
    return sorted(found)


def _python(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def _source(module: str) -> Path:
    folder = module.split(".")[1]
    path = ROOT / folder / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def definition(name: Name) -> tuple[str, ast.stmt, str]:
    """The module where a name is defined, its definition, and the text of that module. Raises ``LookupError``."""
    path = _source(name.module)
    if not path.is_file():
        raise LookupError(f"no module {name.module}")
    text = path.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        match node:
            case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef() if node.name == name.name:
                return name.module, node, text
            case ast.AnnAssign(target=ast.Name(id=target)) if target == name.name:
                return name.module, node, text
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name.name:
                return name.module, node, text
            case ast.ImportFrom(level=level):
                package = name.module if path.name == "__init__.py" else name.module.rpartition(".")[0]
                module = ".".join([package, node.module or ""][: 1 if not node.module else 2]) if level else node.module
                for alias in node.names:
                    if (alias.asname or alias.name) == name.name and (module or "").startswith("plansafe"):
                        return definition(Name(module or "", alias.name))
    if _source(f"{name.module}.{name.name}").is_file():
        return (
            f"{name.module}.{name.name}",
            ast.parse(_source(f"{name.module}.{name.name}").read_text("utf-8")).body[0],
            "",
        )
    raise LookupError(f"{name.module} has no {name.name}")


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str = "") -> str:
    """How a function is called; of a method (of ``owner``) without the object, and a property as it is read."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    name, parts = node.name, [ast.unparse(part) for part in _each(node.args)]
    if owner and parts[:1] in (["self"], ["cls"]):
        del parts[0]
    if owner and _is_property(node):
        return f"{name}{returns.replace(' -> ', ': ')}"
    if name == "__init__":
        name, returns = owner, ""
    if node.args.kwonlyargs and not node.args.vararg:
        parts.insert(len(parts) - len(node.args.kwonlyargs), "*")
    whole = f"{name}({', '.join(parts)}){returns}"
    return whole if len(whole) <= 88 else f"{name}(\n    " + ",\n    ".join(parts) + f",\n){returns}"


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(["property" in ast.unparse(decorator) for decorator in node.decorator_list])


def _each(arguments: ast.arguments) -> list[ast.arguments]:
    """Each argument by itself, with its default."""
    empty = {"posonlyargs": [], "args": [], "kwonlyargs": [], "kw_defaults": [], "defaults": []}
    places = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(places) - len(arguments.defaults)) + [*arguments.defaults]
    made = [
        ast.arguments(**{**empty, "args": [place], "defaults": [default] if default else []})
        for place, default in zip(places, defaults, strict=True)
    ]
    if arguments.vararg:
        made.append(ast.arguments(**empty, vararg=arguments.vararg))
    for place, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        made.append(ast.arguments(**{**empty, "args": [place], "defaults": [default] if default else []}))
    return made


def _said(node: ast.AST) -> list[str]:
    """The docstring in Markdown: what is marked as in reStructuredText becomes code."""
    text = ast.get_docstring(node) or ""  # type: ignore[arg-type]  # a definition or a module
    text = (
        text.replace("``", "`").replace(":class:", "").replace(":func:", "").replace(":meth:", "").replace(":mod:", "")
    )
    return ["" if not part.strip() else part for part in [*text.splitlines(), ""]]


def section(name: Name) -> str:
    """What a page says of a name."""
    module, node, text = definition(name)
    lines = [f"### {name.name}", ""]
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            lines += [block("python", f"from {name.module} import {name.name}\n\n{_signature(node)}"), *_said(node)]
        case ast.ClassDef():
            bases = f"({', '.join([ast.unparse(base) for base in node.bases])})" if node.bases else ""
            made = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            begin = [_signature(part, node.name) for part in made if part.name == "__init__"]
            head = f"from {name.module} import {name.name}\n\nclass {node.name}{bases}"
            lines += [block("python", "\n".join([head, *begin])), *_said(node), *_fields(node, text)]
            for part in made:
                if part.name[0] != "_":
                    kind = " (property)" if _is_property(part) else ""
                    lines += [f"**{part.name}**{kind}", "", block("python", _signature(part, node.name)), *_said(part)]
        case ast.Assign() | ast.AnnAssign():
            written = ast.unparse(node)
            written = written if len(written) < 300 else written[:300] + " .."
            lines.append(block("python", f"from {name.module} import {name.name}\n\n{written}"))
        case _:
            lines.append(block("python", f"import {module}"))
    return "\n".join(lines)


def _fields(node: ast.ClassDef, text: str) -> list[str]:
    """The fields of a record, or the members of an enumeration, with the comment behind each."""
    source = text.splitlines()
    rows = []
    for part in node.body:
        match part:
            case ast.AnnAssign(target=ast.Name(id=field)) if field[0] != "_":
                default = f" = {ast.unparse(part.value)}" if part.value else ""
                rows.append((field, ast.unparse(part.annotation) + default, part))
            case ast.Assign(targets=[ast.Name(id=field)]) if field[0] != "_":
                rows.append((field, ast.unparse(part.value), part))
    if not rows:
        return []
    lines = ["| field | | |", "|---|---|---|"]
    for field, kind, part in rows:
        comment = source[(part.end_lineno or 1) - 1][part.end_col_offset or 0 :].strip()
        lines.append(f"| {code(field)} | {code(kind)} | {cell(comment.lstrip('# ')) if comment[:1] == '#' else ''} |")
    return [*lines, ""]


def pages(docs: Iterable[Path]) -> dict[str, str]:
    """A page for each folder of the code, and a table of all names."""
    names = imported(docs)
    index = ["# Python API", "", "What the pages of this documentation import, from the sources.", ""]
    index += ["| name | module |", "|---|---|"]
    made: dict[str, str] = {}
    for folder in FOLDERS:
        here = [name for name in names if name.module.split(".")[1] == folder]
        if not here:
            continue
        lines = [f"# plansafe.{folder}"]
        for module in dict.fromkeys(name.module for name in here):
            lines += ["", f"## {module}", ""]
            for name in [name for name in here if name.module == module]:
                lines.append(section(name))
                index.append(f"| [{name.name}]({folder}.md#{name.name.lower()}) | {code(name.module)} |")
        made[f"{folder}.md"] = "\n".join(lines) + "\n"
    return {"index.md": "\n".join(index) + "\n"} | made
