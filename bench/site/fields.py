"""Reference pages of the JSON outputs, from the shipped schemas."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable
from importlib.resources import files
from typing import Any

from bench.site.markdown import index_page, inline_code, table, table_cell

Schema = dict[str, Any]
SHARED = "shared.md"
HEADER = ("key", "value", "remarks")


def read_schemas() -> dict[str, Schema]:
    """The shipped schemas, by file name without ``.json``."""
    folder = files("plansafe.app") / "schema"
    schema_files = sorted(
        [path for path in folder.iterdir() if path.name.endswith(".json")], key=lambda path: path.name
    )
    return {path.name.removesuffix(".json"): json.loads(path.read_text(encoding="utf-8")) for path in schema_files}


def shared_definitions(schemas: Iterable[Schema]) -> Schema:
    """The definitions that several schemas have in common, by name."""
    by_name: dict[str, list[Schema]] = {}
    for schema in schemas:
        for name, definition in schema.get("$defs", {}).items():
            by_name.setdefault(name, []).append(definition)
    return {name: same[0] for name, same in by_name.items() if len(same) > 1 and all(part == same[0] for part in same)}


def allowed_values(schema: Schema, shared: Container[str]) -> str:
    """The values that a schema allows, in Markdown; ``shared`` are the definitions on the page of shared objects."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}]({SHARED if name in shared else ''}#{name.lower()})" if name else "this object"
    if "const" in schema:
        return inline_code(json.dumps(schema["const"]))
    if "enum" in schema:
        return ", ".join([inline_code(json.dumps(value)) for value in schema["enum"]])
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join([allowed_values(part, shared) for part in schema[word]])
    types = schema.get("type", "any")
    types = " or ".join(types) if isinstance(types, list) else types
    if types == "array":
        return f"list of {allowed_values(schema['items'], shared)}" if "items" in schema else "list"
    if types == "object" and "properties" not in schema and isinstance(schema.get("additionalProperties"), dict):
        return f"object; each value: {allowed_values(schema['additionalProperties'], shared)}"
    limits = [f"{sign} {schema[word]}" for word, sign in (("minimum", "≥"), ("maximum", "≤")) if word in schema]
    limits += [f"like {inline_code(schema['pattern'])}"] if "pattern" in schema else []
    return ", ".join([types, *limits])


def _field_rows(schema: Schema, shared: Container[str], prefix: str = "") -> list[tuple[str, str, str]]:
    """A table row for each key, also for the keys of unnamed inner objects."""
    rows = []
    for field, field_schema in schema.get("properties", {}).items():
        remarks = [] if field in schema.get("required", ()) else ["optional"]
        remarks += [table_cell(field_schema["description"])] if field_schema.get("description") else []
        rows.append((inline_code(prefix + field), allowed_values(field_schema, shared), "; ".join(remarks)))
        alternatives = [field_schema, *field_schema.get("anyOf", ()), *field_schema.get("oneOf", ())]
        for alternative in alternatives:
            rows += _field_rows(alternative, shared, f"{prefix}{field}.")
            rows += (
                _field_rows(alternative["items"], shared, f"{prefix}{field}[].")
                if isinstance(alternative.get("items"), dict)
                else []
            )
    return rows


def schema_page(name: str, schema: Schema, shared: Container[str]) -> str:
    """The page of one schema: the object, then its own named definitions."""
    lines = [
        f"# {name}.json",
        "",
        f"{table_cell(schema.get('title', ''))}. {table_cell(schema.get('description', ''))}",
        "",
    ]
    rows = _field_rows(schema, shared)
    lines += [*table(HEADER, rows), ""] if rows else []
    definitions = {name: definition for name, definition in schema.get("$defs", {}).items() if name not in shared}
    return "\n".join(lines + _definitions(definitions, shared))


def _definitions(definitions: Schema, shared: Container[str]) -> list[str]:
    lines = []
    for name, definition in definitions.items():
        rows = _field_rows(definition, shared)
        lines += [f"## {name}", "", table_cell(definition.get("description", "")), ""]
        lines += [*table(HEADER, rows), ""] if rows else [allowed_values(definition, shared), ""]
    return lines


def schema_pages() -> dict[str, str]:
    """A page for each schema, a page of the objects that several schemas share, and an index."""
    schemas = read_schemas()
    shared = shared_definitions(schemas.values())
    rows = [
        (f"[{name}.json]({name}.md)", table_cell(schema.get("description", ""))) for name, schema in schemas.items()
    ]
    rows.append((f"[shared objects]({SHARED})", "Objects that several of these schemas define in the same way."))
    introduction = "Generated from the schemas that are part of safecheck."
    pages = {f"{name}.md": schema_page(name, schema, shared) for name, schema in schemas.items()}
    pages[SHARED] = "\n".join(["# Shared objects", "", rows[-1][1], "", *_definitions(shared, shared)])
    return {"index.md": index_page("JSON fields", introduction, ("schema", "content"), rows)} | pages
