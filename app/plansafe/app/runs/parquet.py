"""Runs as Parquet (extra ``parquet``): a line for each plan, in columns with types that all tools for tables read.

What a kept column holds is found by a first reading; rows are read again, converted and written some thousand at a
time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO, Any

from plansafe.app.runs.rates import brought_about, is_finding
from plansafe.app.runs.run_reader import BadRun, Run

_GROUP = 4096
"""Rows that are in memory at once, and in a row group."""
_MOST_COLUMNS = 1000
_MOST_INT = 1 << 63


def write(runs: list[Run], file: IO[bytes], whole: bool) -> int:
    """Write the rows of runs; how many. ``whole``: with each row's JSON. Raises ``ImportError``, :class:`BadRun`."""
    import pyarrow  # noqa: PLC0415 - an extra, and heavy
    import pyarrow.parquet  # noqa: PLC0415

    kinds = _kinds(runs)
    schema = _schema(pyarrow, kinds, whole)
    count = 0
    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as out:
        rows = (_flat(run, row, kinds, whole) for run in runs for row in run.rows())
        while group := list(islice(rows, _GROUP)):
            try:
                table = pyarrow.Table.from_pylist(group, schema)
            except (pyarrow.ArrowException, TypeError, OverflowError):
                raise BadRun("a row has something else than what belongs there", "judge the plans again") from None
            out.write_table(table)
            count += len(group)
    return count


def _kinds(runs: Iterable[Run]) -> dict[str, str]:
    """What kept columns hold: ``bool``, ``int``, ``float``, or else ``text``."""
    kinds: dict[str, str] = {}
    for run in runs:
        for row in run.rows():
            for name, value in (row.get("columns") or {}).items():
                if value is not None:
                    kinds[name] = _both(kinds.get(name), _kind(value))
                elif name not in kinds:
                    kinds[name] = ""
            if len(kinds) > _MOST_COLUMNS:
                raise BadRun(
                    f"{run.path} has more than {_MOST_COLUMNS} kept columns", "keep fewer in the table of plans"
                )
    return kinds


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int" if -_MOST_INT <= value < _MOST_INT else "text"
        case float():
            return "float"
        case _:
            return "text"


def _both(first: str | None, second: str) -> str:
    if not first or first == second:
        return second
    return "float" if {first, second} == {"int", "float"} else "text"


def _schema(pyarrow: Any, kinds: dict[str, str], whole: bool) -> Any:
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
    return pyarrow.schema([*fields.items(), *([("row", text)] if whole else [])])


def _flat(run: Run, row: dict[str, Any], kinds: dict[str, str], whole: bool) -> dict[str, Any]:
    """A row by the names of the schema, which leaves out what else is in it."""
    mine = [f for f in row["findings"] if is_finding(f) and brought_about(f)]
    out = {
        **row,
        "run": run.path,
        "rules": list(_once(f["rule"] for f in mine)),
        "hazards": list(_once(f["hazard"] for f in mine if f["hazard"])),
    }
    for name, value in (row.get("columns") or {}).items():
        texts = kinds[name] == "text" and value is not None and not isinstance(value, str)
        out[f"columns.{name}"] = json.dumps(value) if texts else value
    if whole:
        out["row"] = json.dumps(row)
    return out


def _once(names: Iterable[str]) -> Iterator[str]:
    yield from dict.fromkeys(names)
