"""JSON schemas of the answers of operations."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

_SHIPPED = {"report": "report-1", "repair": "repair-1", "formalise": "formalise-1"}
_STRING, _FLAG, _COUNT = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
_STRINGS = {"type": "array", "items": _STRING}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_OPTIONAL_STRING = {"type": ["string", "null"]}
_BREAKS = _list(
    _object(
        rule=_STRING,
        binding={"type": "object", "additionalProperties": _STRING},
        message=_STRING,
        hazard=_OPTIONAL_STRING,
        severity=_STRING,
    )
)
_PLACE = {**_object(offset=_COUNT, line=_COUNT, column=_COUNT), "type": ["object", "null"]}
_DIAGNOSTIC = _object(
    code=_STRING,
    severity={"enum": ["error", "warning", "note"]},
    message=_STRING,
    labels=_list(_object(span=_object(source=_STRING, start=_PLACE, end=_PLACE), text=_STRING, primary=_FLAG)),
    notes=_STRINGS,
    help=_OPTIONAL_STRING,
)
_SAFE_CONTINUATION = _object(answer={"type": ["boolean", "null"]}, continuation=_STRINGS, detail=_STRING)
_STEP = _object(step=_STRING, safe=_FLAG, breaks=_BREAKS)
_STEP["properties"]["ahead"] = _SAFE_CONTINUATION
ANSWERS: dict[str, dict[str, Any]] = {
    "error": _object(error=_DIAGNOSTIC, diagnostics=_list(_DIAGNOSTIC)),
    "page": _object(name=_STRING, title=_STRING, text=_STRING),
    "catalogue": _object(
        rules=_STRINGS,
        domains=_list(_object(name=_STRING, rules=_STRINGS)),
        worlds=_list(_object(name=_STRING, title=_STRING)),
    ),
    "hazards": _object(
        domain=_STRING,
        rules=_COUNT,
        applicable=_COUNT,
        taxonomies=_list(
            _object(
                name=_STRING,
                title=_STRING,
                categories=_list(_object(name=_STRING, title=_STRING, rules=_STRINGS, reason=_OPTIONAL_STRING)),
            )
        ),
    ),
    "session": _object(
        session=_STRING,
        position=_COUNT,
        rules=_STRINGS,
        deciding=_COUNT,
        objects=_COUNT,
        actions=_STRINGS,
        diagnostics=_list(_DIAGNOSTIC),
    ),
    "advice": _object(
        position=_COUNT, allowed=_FLAG, executable=_FLAG, taken=_FLAG, reasons=_STRINGS, breaks=_BREAKS, deciding=_COUNT
    ),
    "difference": _object(
        position=_COUNT,
        unexpected=_STRINGS,
        missing=_STRINGS,
        numbers=_list(_object(fluent=_STRING, predicted=_STRING, seen=_STRING)),
        breaks=_BREAKS,
    ),
    "steps": _object(position=_COUNT, legal=_COUNT, safe=_COUNT, may_end=_FLAG, steps=_list(_STEP)),
    "state": _object(
        position=_COUNT,
        verdicts={"type": "object", "additionalProperties": _STRING},
        may_end=_FLAG,
        facts={"type": ["array", "null"], "items": _STRING},
    ),
    "closed": _object(closed=_FLAG),
}
"""The answers that no command prints; those that one does have schemas of their own, in ``app/schema``."""


def answer_schema(name: str) -> dict[str, Any]:
    """The schema of an answer."""
    if name not in _SHIPPED:
        return ANSWERS[name]
    text = (files("plansafe.app") / "schema" / f"{_SHIPPED[name]}.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
