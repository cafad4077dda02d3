"""Test the shipped schemas: each is complete and strict, and shared definitions are equal."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from format_checks import SCHEMAS, schema

NAMES = sorted(path.stem for path in SCHEMAS.glob("*.json"))
HEAD = ("$schema", "$id", "title", "$defs")


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from nodes(value)
    elif isinstance(node, list):
        for value in node:
            yield from nodes(value)


def test_each_output_has_a_schema() -> None:
    assert NAMES == [
        "formalise-1",
        "gaps-1",
        "lint-1",
        "plan-1",
        "repair-1",
        "report-1",
        "run-1",
        "run-manifest-1",
        "scenario-check-1",
        "scenario-fix-1",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_references_are_defined(name: str) -> None:
    contents = schema(name)
    jsonschema.Draft202012Validator.check_schema(contents)
    assert contents["$id"] == f"urn:plansafe:{name}"
    used = {node["$ref"] for node in nodes(contents) if isinstance(node.get("$ref"), str)}
    assert used == {f"#/$defs/{key}" for key in contents["$defs"]}, "references and definitions are the same"


@pytest.mark.parametrize("name", NAMES)
def test_schema_is_strict(name: str) -> None:
    """An object has known keys or known types of values; an array has a type of items."""
    for node in nodes(schema(name)):
        if node.get("type") == "object":
            assert ("properties" in node) == (node.get("additionalProperties") is False), node
            assert "properties" in node or isinstance(node["additionalProperties"], dict), node
            assert set(node.get("required", ())) <= set(node.get("properties", ())), node
        if node.get("type") == "array":
            assert "items" in node or "prefixItems" in node, node


@pytest.mark.parametrize("name", NAMES)
def test_shared_definitions_are_those_of_the_report(name: str) -> None:
    """``UPDATE_GOLDEN=1`` copies them from ``report-1.json``, where they are edited."""
    contents, report = json.loads(json.dumps(schema(name))), schema("report-1")
    shared = {key: report["$defs"][key] for key in contents["$defs"] if key in report["$defs"]}
    if "report" in contents["$defs"]:
        body = {key: value for key, value in report.items() if key not in HEAD}
        shared = {"report": body, **report["$defs"]}
    if os.environ.get("UPDATE_GOLDEN"):
        contents["$defs"].update(shared)
        Path(SCHEMAS / f"{name}.json").write_text(json.dumps(contents, indent=2, ensure_ascii=False) + "\n", "utf-8")
    assert {key: contents["$defs"].get(key) for key in shared} == shared


def test_row_of_a_run_is_a_report_with_more_keys() -> None:
    """``UPDATE_GOLDEN=1`` copies the keys of the report."""
    row, report = json.loads(json.dumps(schema("run-1"))), schema("report-1")
    row_keys = [key for key in row["properties"] if key not in report["properties"]]
    if os.environ.get("UPDATE_GOLDEN"):
        headline = row["properties"]["headline"]
        row["properties"] = {**{key: row["properties"][key] for key in row_keys}, **report["properties"]}
        row["properties"]["headline"] = headline
        row["required"] = [*row_keys, *report["required"]]
        Path(SCHEMAS / "run-1.json").write_text(json.dumps(row, indent=2, ensure_ascii=False) + "\n", "utf-8")
    assert row_keys == ["id", "number", "columns", "seconds", "taxonomy", "kept", "script"]
    own_headline = {*row["properties"]["headline"]["enum"]}
    assert own_headline == {*report["properties"]["headline"]["enum"], "NOT CHECKED"}
    shared = report["properties"].keys() - {"headline"}
    assert {key: row["properties"][key] for key in shared} == {key: report["properties"][key] for key in shared}
    assert row["required"] == [*row_keys, *report["required"]]
