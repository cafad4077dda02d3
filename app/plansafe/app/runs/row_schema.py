"""Validate the rows and the manifest of a run: a file may be damaged or written by another program."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any

_FieldTypes = type | tuple[type, ...]
_NAME = (str, NoneType)
_ROW: dict[str, _FieldTypes] = {
    "id": str, "number": int, "columns": dict, "seconds": (int, float), "taxonomy": dict, "plan": str,
    "headline": _NAME, "exit_code": int, "executable": str, "safe": _NAME, "steps": int, "findings": list,
    "suppressed": int, "diagnostics": list, "inputs": list,
}  # fmt: skip
_FINDING: dict[str, _FieldTypes] = {
    "class": str, "message": str, "step": (int, NoneType), "at_end": bool, "rule": _NAME, "readings": list,
    "blame": _NAME, "hazard": _NAME, "targets": list, "severity": _NAME,
}  # fmt: skip
_DIAGNOSTIC: dict[str, _FieldTypes] = {"code": str, "severity": str, "message": str}
_INPUT: dict[str, _FieldTypes] = {"role": str, "path": str, "sha256": _NAME}
_CELL = (str, int, float, NoneType)


def is_row(row: Any) -> bool:
    """Whether a JSON value is a row of a run. Checks the fields that statistics use."""
    return (
        _has_fields(row, _ROW)
        and all([isinstance(cell, _CELL) for cell in row["columns"].values()])
        and all(
            [
                _has_fields(item, _FINDING) and _is_name_list(item["readings"]) and _is_name_list(item["targets"])
                for item in row["findings"]
            ]
        )
        and all([_has_fields(item, _DIAGNOSTIC) for item in row["diagnostics"]])
        and all([_has_fields(item, _INPUT) for item in row["inputs"]])
        and all(
            [
                isinstance(by_taxonomy, dict) and all(map(_is_name_list, by_taxonomy.values()))
                for by_taxonomy in row["taxonomy"].values()
            ]
        )
        and _is_name_list(row.get("script", []))
        and isinstance(row.get("rules", []), list)
        and all([_has_fields(rule, {"instances": int}) for rule in row.get("rules", ())])
    )


def is_manifest(manifest: Any) -> bool:
    """Whether a JSON value is the manifest of a run. Checks the fields that are read."""
    fields: dict[str, _FieldTypes] = {"complete": bool, "plans": int}
    return _has_fields(manifest, fields) and manifest["plans"] >= 0 and isinstance(manifest.get("settings", {}), dict)


def _has_fields(value: Any, fields: Mapping[str, _FieldTypes]) -> bool:
    return isinstance(value, dict) and all([name in value and isinstance(value[name], fields[name]) for name in fields])


def _is_name_list(value: Any) -> bool:
    return isinstance(value, list) and all([isinstance(name, str) for name in value])
