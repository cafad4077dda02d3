"""The shipped schemas themselves: each stands alone, is strict, and says the same of the same things."""

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


def test_there_is_one_for_each_output() -> None:
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
def test_it_stands_alone(name: str) -> None:
    whole = schema(name)
    jsonschema.Draft202012Validator.check_schema(whole)
    assert whole["$id"] == f"urn:plansafe:{name}"
    used = {node["$ref"] for node in nodes(whole) if isinstance(node.get("$ref"), str)}
    assert used == {f"#/$defs/{key}" for key in whole["$defs"]}, "each is in it, and none is idle"


@pytest.mark.parametrize("name", NAMES)
def test_it_is_strict(name: str) -> None:
    """An object has known keys or known values; what is always there is required."""
    for node in nodes(schema(name)):
        if node.get("type") == "object":
            assert ("properties" in node) == (node.get("additionalProperties") is False), node
            assert "properties" in node or isinstance(node["additionalProperties"], dict), node
            assert set(node.get("required", ())) <= set(node.get("properties", ())), node
        if node.get("type") == "array":
            assert "items" in node or "prefixItems" in node, node


@pytest.mark.parametrize("name", NAMES)
def test_shared_definitions_are_those_of_the_report(name: str) -> None:
    """``UPDATE_GOLDEN=1`` copies them from ``report-1.json``, which is where they are changed."""
    whole, report = json.loads(json.dumps(schema(name))), schema("report-1")
    shared = {key: report["$defs"][key] for key in whole["$defs"] if key in report["$defs"]}
    if "report" in whole["$defs"]:
        body = {key: value for key, value in report.items() if key not in HEAD}
        shared = {"report": body, **report["$defs"]}
    if os.environ.get("UPDATE_GOLDEN"):
        whole["$defs"].update(shared)
        Path(SCHEMAS / f"{name}.json").write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", "utf-8")
    assert {key: whole["$defs"].get(key) for key in shared} == shared


def test_a_row_of_a_run_is_a_report_with_more() -> None:
    """``UPDATE_GOLDEN=1`` copies the keys of the report."""
    row, report = json.loads(json.dumps(schema("run-1"))), schema("report-1")
    own = [key for key in row["properties"] if key not in report["properties"]]
    if os.environ.get("UPDATE_GOLDEN"):
        headline = row["properties"]["headline"]
        row["properties"] = {**{key: row["properties"][key] for key in own}, **report["properties"]}
        row["properties"]["headline"] = headline
        row["required"] = [*own, *report["required"]]
        Path(SCHEMAS / "run-1.json").write_text(json.dumps(row, indent=2, ensure_ascii=False) + "\n", "utf-8")
    assert own == ["id", "number", "columns", "seconds", "taxonomy", "kept", "script"]
    own_headline = {*row["properties"]["headline"]["enum"]}
    assert own_headline == {*report["properties"]["headline"]["enum"], "NOT CHECKED"}
    shared = report["properties"].keys() - {"headline"}
    assert {key: row["properties"][key] for key in shared} == {key: report["properties"][key] for key in shared}
    assert row["required"] == [*own, *report["required"]]
