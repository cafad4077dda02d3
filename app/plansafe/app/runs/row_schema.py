"""What a row of a run has to hold, so that whoever counts can rely on it: a file may be anybody's, or damaged."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any

_Types = type | tuple[type, ...]
_NAME = (str, NoneType)
_ROW: dict[str, _Types] = {
    "id": str, "number": int, "columns": dict, "seconds": (int, float), "taxonomy": dict, "plan": str,
    "headline": _NAME, "exit_code": int, "executable": str, "safe": _NAME, "steps": int, "findings": list,
    "suppressed": int, "diagnostics": list, "inputs": list,
}  # fmt: skip
_FINDING: dict[str, _Types] = {
    "class": str, "message": str, "step": (int, NoneType), "at_end": bool, "rule": _NAME, "readings": list,
    "blame": _NAME, "hazard": _NAME, "targets": list, "severity": _NAME,
}  # fmt: skip
_DIAGNOSTIC: dict[str, _Types] = {"code": str, "severity": str, "message": str}
_INPUT: dict[str, _Types] = {"role": str, "path": str, "sha256": _NAME}
_CELL = (str, int, float, NoneType)


def is_row(row: Any) -> bool:
    """Whether JSON is a row of a run, as far as anything is counted of it."""
    return (
        _has(row, _ROW)
        and all([isinstance(cell, _CELL) for cell in row["columns"].values()])
        and all([_has(one, _FINDING) and _names(one["readings"]) and _names(one["targets"]) for one in row["findings"]])
        and all([_has(one, _DIAGNOSTIC) for one in row["diagnostics"]])
        and all([_has(one, _INPUT) for one in row["inputs"]])
        and all([isinstance(of, dict) and all(map(_names, of.values())) for of in row["taxonomy"].values()])
        and _names(row.get("script", []))
        and isinstance(row.get("rules", []), list)
        and all([_has(rule, {"instances": int}) for rule in row.get("rules", ())])
    )


def is_manifest(manifest: Any) -> bool:
    """Whether JSON is the manifest of a run, as far as it is read."""
    known: dict[str, _Types] = {"complete": bool, "plans": int}
    return _has(manifest, known) and manifest["plans"] >= 0 and isinstance(manifest.get("settings", {}), dict)


def _has(given: Any, wanted: Mapping[str, _Types]) -> bool:
    return isinstance(given, dict) and all([name in given and isinstance(given[name], wanted[name]) for name in wanted])


def _names(given: Any) -> bool:
    return isinstance(given, list) and all([isinstance(name, str) for name in given])
