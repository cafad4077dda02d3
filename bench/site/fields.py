"""Reference pages of the JSON outputs, from the shipped schemas."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from bench.site.markdown import index_page, inline_code, table, table_cell

Schema = dict[str, Any]


def read_schemas() -> dict[str, Schema]:
    """The shipped schemas, by file name without ``.json``."""
    folder = files("plansafe.app") / "schema"
    schema_files = sorted(
        [path for path in folder.iterdir() if path.name.endswith(".json")], key=lambda path: path.name
    )
    return {path.name.removesuffix(".json"): json.loads(path.read_text(encoding="utf-8")) for path in schema_files}


def allowed_values(schema: Schema) -> str:
    """The values that a schema allows, in Markdown."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})" if name else "this object"
    if "const" in schema:
        return inline_code(json.dumps(schema["const"]))
    if "enum" in schema:
        return ", ".join([inline_code(json.dumps(value)) for value in schema["enum"]])
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join([allowed_values(part) for part in schema[word]])
    types = schema.get("type", "any")
    types = " or ".join(types) if isinstance(types, list) else types
    if types == "array":
        return f"list of {allowed_values(schema['items'])}" if "items" in schema else "list"
    if types == "object" and "properties" not in schema and isinstance(schema.get("additionalProperties"), dict):
        return f"object; each value: {allowed_values(schema['additionalProperties'])}"
    limits = [f"{sign} {schema[word]}" for word, sign in (("minimum", "≥"), ("maximum", "≤")) if word in schema]
    limits += [f"like {inline_code(schema['pattern'])}"] if "pattern" in schema else []
    return ", ".join([types, *limits])


def _field_rows(schema: Schema, prefix: str = "") -> list[tuple[str, str, str]]:
    """A table row for each key, also for the keys of unnamed inner objects."""
    rows = []
    for field, field_schema in schema.get("properties", {}).items():
        remarks = [] if field in schema.get("required", ()) else ["optional"]
        remarks += [table_cell(field_schema["description"])] if field_schema.get("description") else []
        rows.append((inline_code(prefix + field), allowed_values(field_schema), "; ".join(remarks)))
        alternatives = [field_schema, *field_schema.get("anyOf", ()), *field_schema.get("oneOf", ())]
        for alternative in alternatives:
            rows += _field_rows(alternative, f"{prefix}{field}.")
            rows += (
                _field_rows(alternative["items"], f"{prefix}{field}[].")
                if isinstance(alternative.get("items"), dict)
                else []
            )
    return rows


def schema_page(name: str, schema: Schema) -> str:
    """The page of one schema: the object, then its named definitions."""
    lines = [
        f"# {name}.json",
        "",
        f"{table_cell(schema.get('title', ''))}. {table_cell(schema.get('description', ''))}",
        "",
    ]
    header = ("key", "value", "remarks")
    rows = _field_rows(schema)
    lines += [*table(header, rows), ""] if rows else []
    for definition_name, definition in schema.get("$defs", {}).items():
        rows = _field_rows(definition)
        lines += [f"## {definition_name}", "", table_cell(definition.get("description", "")), ""]
        lines += [*table(header, rows), ""] if rows else [allowed_values(definition), ""]
    return "\n".join(lines)


def schema_pages() -> dict[str, str]:
    """A page for each schema, and an index."""
    all_schemas = read_schemas()
    rows = [
        (f"[{name}.json]({name}.md)", table_cell(schema.get("description", ""))) for name, schema in all_schemas.items()
    ]
    introduction = "Generated from the schemas that are part of safecheck."
    return {"index.md": index_page("JSON fields", introduction, ("schema", "content"), rows)} | {
        f"{name}.md": schema_page(name, schema) for name, schema in all_schemas.items()
    }
