"""Write runs as Parquet (extra ``parquet``): one line for each plan, in columns with standard types.

A first pass over the rows determines the types of extra columns. A second pass converts and writes the rows in groups.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO, Any

from plansafe.app.runs.rates import is_caused_by_plan, is_finding
from plansafe.app.runs.run_reader import BadRun, Run

_GROUP_ROWS = 4096
"""Number of rows in a row group, and in memory at once."""
_MAX_COLUMNS = 1000
_INT_LIMIT = 1 << 63


def write(runs: list[Run], file: IO[bytes], with_json: bool) -> int:
    """Write the rows of runs and return their number. ``with_json`` adds each row as JSON.

    Raises ``ImportError`` and :class:`BadRun`.
    """
    import pyarrow  # noqa: PLC0415 - an extra, slow to import
    import pyarrow.parquet  # noqa: PLC0415

    kinds = _column_kinds(runs)
    schema = _schema(pyarrow, kinds, with_json)
    count = 0
    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as out:
        rows = (_flatten_row(run, row, kinds, with_json) for run in runs for row in run.rows())
        while group := list(islice(rows, _GROUP_ROWS)):
            try:
                table = pyarrow.Table.from_pylist(group, schema)
            except (pyarrow.ArrowException, TypeError, OverflowError):
                raise BadRun("a row has a value of an unexpected type", "audit the plans again") from None
            out.write_table(table)
            count += len(group)
    return count


def _column_kinds(runs: Iterable[Run]) -> dict[str, str]:
    """The types of extra columns: ``bool``, ``int``, ``float``, ``text``, or empty if all values are null."""
    kinds: dict[str, str] = {}
    for run in runs:
        for row in run.rows():
            for name, value in (row.get("columns") or {}).items():
                if value is not None:
                    kinds[name] = _common_kind(kinds.get(name), _kind(value))
                elif name not in kinds:
                    kinds[name] = ""
            if len(kinds) > _MAX_COLUMNS:
                raise BadRun(
                    f"{run.path} has more than {_MAX_COLUMNS} kept columns", "keep fewer in the table of plans"
                )
    return kinds


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int" if -_INT_LIMIT <= value < _INT_LIMIT else "text"
        case float():
            return "float"
        case _:
            return "text"


def _common_kind(first: str | None, second: str) -> str:
    if not first or first == second:
        return second
    return "float" if {first, second} == {"int", "float"} else "text"


def _schema(pyarrow: Any, kinds: dict[str, str], with_json: bool) -> Any:
    text, names = pyarrow.string(), pyarrow.list_(pyarrow.string())
    whole_number = pyarrow.int64()
    finding = {
        "code": text,
        "class": text,
        "rule": text,
        "hazard": text,
        "targets": names,
        "severity": text,
        "blame": text,
        "step": whole_number,
        "at_end": pyarrow.bool_(),
        "message": text,
    }
    diagnostic = {"severity": text, "code": text, "message": text}
    types = {"bool": pyarrow.bool_(), "int": whole_number, "float": pyarrow.float64(), "text": text, "": text}
    fields = {
        "run": text,
        "id": text,
        "number": whole_number,
        "plan": text,
        "headline": text,
        "exit_code": whole_number,
        "executable": text,
        "goal": text,
        "safe": text,
        "steps": whole_number,
        "seconds": pyarrow.float64(),
        "rules": names,
        "hazards": names,
        "kept": names,
        "findings": pyarrow.list_(pyarrow.struct(list(finding.items()))),
        "diagnostics": pyarrow.list_(pyarrow.struct(list(diagnostic.items()))),
    }
    fields |= {f"columns.{name}": types[kind] for name, kind in kinds.items()}
    return pyarrow.schema([*fields.items(), *([("row", text)] if with_json else [])])


def _flatten_row(run: Run, row: dict[str, Any], kinds: dict[str, str], with_json: bool) -> dict[str, Any]:
    """Convert a row to the fields of the schema. Fields that the schema does not name are dropped later."""
    findings = [f for f in row["findings"] if is_finding(f) and is_caused_by_plan(f)]
    out = {
        **row,
        "run": run.path,
        "rules": list(_unique(f["rule"] for f in findings)),
        "hazards": list(_unique(f["hazard"] for f in findings if f["hazard"])),
    }
    for name, value in (row.get("columns") or {}).items():
        texts = kinds[name] == "text" and value is not None and not isinstance(value, str)
        out[f"columns.{name}"] = json.dumps(value) if texts else value
    if with_json:
        out["row"] = json.dumps(row)
    return out


def _unique(names: Iterable[str]) -> Iterator[str]:
    yield from dict.fromkeys(names)
