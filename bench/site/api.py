"""Reference pages of the Python API: the names that the documentation imports. Sources are parsed, not imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bench.site.markdown import code_block, index_page, inline_code, table, table_cell

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("app", "align", "llm", "domains", "specs", "verifier", "grammar")


class ImportedName(NamedTuple):
    """A name that a page imports, with the module that it is imported from."""

    module: str
    name: str


def documented_names(pages: Iterable[Path]) -> list[ImportedName]:
    """The safecheck names that Python blocks in these pages import: the documented API."""
    names = set()
    for page in pages:
        for text in _python_blocks(page.read_text(encoding="utf-8")):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("plansafe"):
                    names.update([ImportedName(node.module or "", alias.name) for alias in node.names])
    return sorted(names)


def _python_blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def _source_path(module: str) -> Path:
    folder = module.split(".")[1]
    path = ROOT / folder / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def find_definition(name: ImportedName) -> tuple[str, ast.stmt, str]:
    """The module that defines a name, the definition, and the text of that module. Raises ``LookupError``."""
    path = _source_path(name.module)
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
                        return find_definition(ImportedName(module or "", alias.name))
    if _source_path(f"{name.module}.{name.name}").is_file():
        return (
            f"{name.module}.{name.name}",
            ast.parse(_source_path(f"{name.module}.{name.name}").read_text("utf-8")).body[0],
            "",
        )
    raise LookupError(f"{name.module} has no {name.name}")


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str = "") -> str:
    """The signature of a function, of a method of ``owner`` without ``self``, or of a property."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    name, parts = node.name, [ast.unparse(part) for part in _separate_arguments(node.args)]
    if owner and parts[:1] in (["self"], ["cls"]):
        del parts[0]
    if owner and _is_property(node):
        return f"{name}{returns.replace(' -> ', ': ')}"
    if name == "__init__":
        name, returns = owner, ""
    if node.args.kwonlyargs and not node.args.vararg:
        parts.insert(len(parts) - len(node.args.kwonlyargs), "*")
    one_line = f"{name}({', '.join(parts)}){returns}"
    return one_line if len(one_line) <= 88 else f"{name}(\n    " + ",\n    ".join(parts) + f",\n){returns}"


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(["property" in ast.unparse(decorator) for decorator in node.decorator_list])


def _separate_arguments(arguments: ast.arguments) -> list[ast.arguments]:
    """Each argument as a separate ``ast.arguments``, with its default."""

    def separate(argument: ast.arg, default: ast.expr | None) -> ast.arguments:
        defaults = [default] if default else []
        return ast.arguments(posonlyargs=[], args=[argument], kwonlyargs=[], kw_defaults=[], defaults=defaults)

    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults)) + [*arguments.defaults]
    parts = [separate(*pair) for pair in zip(positional, defaults, strict=True)]
    if arguments.vararg:
        vararg = arguments.vararg
        parts.append(ast.arguments(posonlyargs=[], args=[], vararg=vararg, kwonlyargs=[], kw_defaults=[], defaults=[]))
    return parts + [separate(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]


def _docstring_lines(node: ast.AST) -> list[str]:
    """The docstring as Markdown lines, with reStructuredText markup converted to code."""
    text = ast.get_docstring(node) or ""  # type: ignore[arg-type]  # a definition or a module
    text = (
        text.replace("``", "`").replace(":class:", "").replace(":func:", "").replace(":meth:", "").replace(":mod:", "")
    )
    return ["" if not part.strip() else part for part in [*text.splitlines(), ""]]


def name_section(name: ImportedName) -> str:
    """The section of a page about one name."""
    module, node, text = find_definition(name)
    lines = [f"### {name.name}", ""]
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            lines += [
                code_block("python", f"from {name.module} import {name.name}\n\n{_signature(node)}"),
                *_docstring_lines(node),
            ]
        case ast.ClassDef():
            bases = f"({', '.join([ast.unparse(base) for base in node.bases])})" if node.bases else ""
            methods = [method for method in node.body if isinstance(method, ast.FunctionDef)]
            constructor = [_signature(method, node.name) for method in methods if method.name == "__init__"]
            class_header = f"from {name.module} import {name.name}\n\nclass {node.name}{bases}"
            lines += [
                code_block("python", "\n".join([class_header, *constructor])),
                *_docstring_lines(node),
                *_field_table(node, text),
            ]
            for method in methods:
                if method.name[0] != "_":
                    kind = " (property)" if _is_property(method) else ""
                    lines += [
                        f"**{method.name}**{kind}",
                        "",
                        code_block("python", _signature(method, node.name)),
                        *_docstring_lines(method),
                    ]
        case ast.Assign() | ast.AnnAssign():
            source_line = ast.unparse(node)
            source_line = source_line if len(source_line) < 300 else source_line[:300] + " .."
            lines.append(code_block("python", f"from {name.module} import {name.name}\n\n{source_line}"))
        case _:
            lines.append(code_block("python", f"import {module}"))
    return "\n".join(lines)


def _field_table(node: ast.ClassDef, text: str) -> list[str]:
    """A table of the fields of a record or the members of an enumeration, with their comments."""
    source = text.splitlines()
    fields = []
    for part in node.body:
        match part:
            case ast.AnnAssign(target=ast.Name(id=field)) if field[0] != "_":
                default = f" = {ast.unparse(part.value)}" if part.value else ""
                fields.append((field, ast.unparse(part.annotation) + default, part))
            case ast.Assign(targets=[ast.Name(id=field)]) if field[0] != "_":
                fields.append((field, ast.unparse(part.value), part))
    if not fields:
        return []
    rows = []
    for field, kind, part in fields:
        comment = source[(part.end_lineno or 1) - 1][part.end_col_offset or 0 :].strip()
        meaning = table_cell(comment.lstrip("# ")) if comment[:1] == "#" else ""
        rows.append((inline_code(field), inline_code(kind), meaning))
    return [*table(("field", "type and default", "meaning"), rows), ""]


def api_pages(docs: Iterable[Path]) -> dict[str, str]:
    """A page for each folder of the code, and an index of all names."""
    names = documented_names(docs)
    index = []
    texts: dict[str, str] = {}
    for folder in FOLDERS:
        folder_names = [name for name in names if name.module.split(".")[1] == folder]
        if not folder_names:
            continue
        lines = [f"# plansafe.{folder}"]
        for module in dict.fromkeys(name.module for name in folder_names):
            lines += ["", f"## {module}", ""]
            for name in [name for name in folder_names if name.module == module]:
                lines.append(name_section(name))
                index.append((f"[{name.name}]({folder}.md#{name.name.lower()})", inline_code(name.module)))
        texts[f"{folder}.md"] = "\n".join(lines) + "\n"
    introduction = "The names that the pages of this documentation import, from the sources."
    return {"index.md": index_page("Python API", introduction, ("name", "module"), index)} | texts
