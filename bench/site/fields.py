"""The fields of the JSON outputs as pages, from the schemas that are shipped."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from bench.site.markdown import cell, code

Schema = dict[str, Any]


def schemas() -> dict[str, Schema]:
    """The shipped schemas, by the names of their files without the ending."""
    folder = files("plansafe.app") / "schema"
    found = sorted([path for path in folder.iterdir() if path.name.endswith(".json")], key=lambda path: path.name)
    return {path.name.removesuffix(".json"): json.loads(path.read_text(encoding="utf-8")) for path in found}


def kind(schema: Schema) -> str:
    """What values a schema takes, in Markdown."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})" if name else "this object"
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if "enum" in schema:
        return ", ".join([code(json.dumps(value)) for value in schema["enum"]])
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join([kind(part) for part in schema[word]])
    types = schema.get("type", "any")
    types = " or ".join(types) if isinstance(types, list) else types
    if types == "array":
        return f"list of {kind(schema['items'])}" if "items" in schema else "list"
    if types == "object" and "properties" not in schema and isinstance(schema.get("additionalProperties"), dict):
        return f"object; each value: {kind(schema['additionalProperties'])}"
    limits = [f"{sign} {schema[word]}" for word, sign in (("minimum", "≥"), ("maximum", "≤")) if word in schema]
    limits += [f"like {code(schema['pattern'])}"] if "pattern" in schema else []
    return ", ".join([types, *limits])


def _rows(schema: Schema, before: str = "") -> list[str]:
    """A row for each key, and for the keys of objects that have no name of their own."""
    rows = []
    for key, value in schema.get("properties", {}).items():
        needed = "" if key in schema.get("required", ()) else "optional; "
        rows.append(f"| {code(before + key)} | {kind(value)} | {needed}{cell(value.get('description', ''))} |")
        parts = [value, *value.get("anyOf", ()), *value.get("oneOf", ())]
        for part in parts:
            rows += _rows(part, f"{before}{key}.")
            rows += _rows(part["items"], f"{before}{key}[].") if isinstance(part.get("items"), dict) else []
    return rows


def page(name: str, schema: Schema) -> str:
    """The page of one schema: the object itself, then those that it is made of."""
    lines = [f"# {name}.json", "", f"{cell(schema.get('title', ''))}. {cell(schema.get('description', ''))}", ""]
    heading = ["| key | value | |", "|---|---|---|"]
    lines += [*heading, *_rows(schema), ""]
    for part, inner in schema.get("$defs", {}).items():
        rows = _rows(inner)
        lines += [f"## {part}", "", cell(inner.get("description", "")), ""]
        lines += [*heading, *rows, ""] if rows else [kind(inner), ""]
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """A page for each schema."""
    found = schemas()
    lines = [
        "# JSON fields",
        "",
        "Made from the schemas that are shipped with safecheck.",
        "",
        "| schema | |",
        "|---|---|",
    ]
    lines += [f"| [{name}.json]({name}.md) | {cell(schema.get('description', ''))} |" for name, schema in found.items()]
    return {"index.md": "\n".join(lines) + "\n"} | {f"{name}.md": page(name, schema) for name, schema in found.items()}
