"""The routes of the HTTP service in one table, and the schemas of the answers."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, NamedTuple

from plansafe.app.interfaces.agents import operation_fields
from plansafe.app.interfaces.agents.operation_fields import Operation

V1 = "/v1"


class ServiceRoute(NamedTuple):
    """A method and path with its operation. ``path`` can have fields in braces; ``session`` selects a session."""

    method: str
    path: str
    operation: Operation
    fixed: tuple[tuple[str, str], ...] = ()


ROUTES = (
    ServiceRoute("POST", f"{V1}/audit", operation_fields.AUDIT),
    ServiceRoute("POST", f"{V1}/repair", operation_fields.REPAIR),
    ServiceRoute("POST", f"{V1}/diagnose", operation_fields.DIAGNOSE),
    ServiceRoute("POST", f"{V1}/formalise", operation_fields.FORMALISE),
    ServiceRoute("GET", f"{V1}/explain/{{code}}", operation_fields.EXPLAIN),
    ServiceRoute("GET", f"{V1}/hazards", operation_fields.HAZARDS),
    ServiceRoute("GET", f"{V1}/catalogue", operation_fields.CATALOGUE),
    ServiceRoute("GET", f"{V1}/rules/{{name}}", operation_fields.SHOW, (("what", "rules"),)),
    ServiceRoute("GET", f"{V1}/domains/{{name}}", operation_fields.SHOW, (("what", "domain"),)),
    ServiceRoute("GET", f"{V1}/worlds/{{name}}", operation_fields.SHOW, (("what", "world"),)),
    ServiceRoute("POST", f"{V1}/sessions", operation_fields.OPEN),
    ServiceRoute("POST", f"{V1}/sessions/{{session}}/allowed", operation_fields.ALLOWED),
    ServiceRoute("POST", f"{V1}/sessions/{{session}}/take", operation_fields.TAKE),
    ServiceRoute("POST", f"{V1}/sessions/{{session}}/observe", operation_fields.OBSERVE),
    ServiceRoute("POST", f"{V1}/sessions/{{session}}/next", operation_fields.NEXT),
    ServiceRoute("POST", f"{V1}/sessions/{{session}}/state", operation_fields.STATE),
    ServiceRoute("DELETE", f"{V1}/sessions/{{session}}", operation_fields.CLOSE),
)
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
        position=_COUNT,
        allowed=_FLAG,
        executable=_FLAG,
        taken=_FLAG,
        reasons=_STRINGS,
        breaks=_BREAKS,
        deciding=_COUNT,
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
"""Schemas of answers that are not the output of a command; the others are in ``app/schema``."""


def answer_schema(name: str) -> dict[str, Any]:
    """Return the JSON schema of an answer."""
    if name not in _SHIPPED:
        return ANSWERS[name]
    text = (files("plansafe.app") / "schema" / f"{_SHIPPED[name]}.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
