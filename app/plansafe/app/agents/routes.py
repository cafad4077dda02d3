"""The ways of the HTTP service: a path for each operation, in one table, and the OpenAPI document made of it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, NamedTuple

from plansafe.app.agents import asking
from plansafe.app.agents.asking import Operation
from plansafe.app.agents.fields import schema
from plansafe.app.render import version

V1 = "/v1"


class Way(NamedTuple):
    """A path, and what it does. ``path`` may name fields in braces; of ``session`` they are asked of that session."""

    method: str
    path: str
    operation: Operation
    fixed: tuple[tuple[str, str], ...] = ()


WAYS = (
    Way("POST", f"{V1}/audit", asking.AUDIT),
    Way("POST", f"{V1}/repair", asking.REPAIR),
    Way("POST", f"{V1}/diagnose", asking.DIAGNOSE),
    Way("POST", f"{V1}/formalise", asking.FORMALISE),
    Way("GET", f"{V1}/explain/{{code}}", asking.EXPLAIN),
    Way("GET", f"{V1}/hazards", asking.HAZARDS),
    Way("GET", f"{V1}/catalogue", asking.CATALOGUE),
    Way("GET", f"{V1}/rules/{{name}}", asking.SHOW, (("what", "rules"),)),
    Way("GET", f"{V1}/domains/{{name}}", asking.SHOW, (("what", "domain"),)),
    Way("GET", f"{V1}/worlds/{{name}}", asking.SHOW, (("what", "world"),)),
    Way("POST", f"{V1}/sessions", asking.OPEN),
    Way("POST", f"{V1}/sessions/{{session}}/allowed", asking.ALLOWED),
    Way("POST", f"{V1}/sessions/{{session}}/take", asking.TAKE),
    Way("POST", f"{V1}/sessions/{{session}}/observe", asking.OBSERVE),
    Way("POST", f"{V1}/sessions/{{session}}/next", asking.NEXT),
    Way("POST", f"{V1}/sessions/{{session}}/state", asking.STATE),
    Way("DELETE", f"{V1}/sessions/{{session}}", asking.CLOSE),
)
_SHIPPED = {"report": "report-1", "repair": "repair-1", "formalise": "formalise-1"}
_STRING, _FLAG, _COUNT = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
_STRINGS = {"type": "array", "items": _STRING}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_MAYBE = {"type": ["string", "null"]}
_BREAKS = _list(
    _object(
        rule=_STRING,
        binding={"type": "object", "additionalProperties": _STRING},
        message=_STRING,
        hazard=_MAYBE,
        severity=_STRING,
    )
)
_DIAGNOSTIC = _object(
    code=_STRING,
    severity=_STRING,
    message=_STRING,
    labels={"type": "array", "items": {"type": "object"}},
    notes=_STRINGS,
    help=_MAYBE,
)
_AHEAD = _object(answer={"type": ["boolean", "null"]}, continuation=_STRINGS, detail=_STRING)
_STEP = _object(step=_STRING, safe=_FLAG, breaks=_BREAKS)
_STEP["properties"]["ahead"] = _AHEAD
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
                categories=_list(_object(name=_STRING, title=_STRING, rules=_STRINGS, reason=_MAYBE)),
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
"""The answers that no command prints; those that one does have schemas of their own, in ``app/schema``."""
_REFUSALS = {
    400: "the request is not understood",
    401: "no key, or a wrong one",
    404: "nothing of that name is there",
    408: "the body came too slowly",
    409: "the session stands at another position",
    410: "the session has ended",
    413: "the body is too large",
    415: "the body is no JSON",
    422: "a task that cannot be worked with",
    503: "a limit of the service; ask again later",
    504: "the limit of time was reached",
    507: "the limit of memory was reached",
}


def answer_schema(name: str) -> dict[str, Any]:
    """The schema of an answer."""
    if name not in _SHIPPED:
        return ANSWERS[name]
    text = (files("plansafe.app") / "schema" / f"{_SHIPPED[name]}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def document(locked: bool) -> dict[str, Any]:
    """The OpenAPI document (3.1, whose schemas are JSON Schema 2020-12)."""
    names = sorted({way.operation.answer for way in WAYS} | {"error"})
    paths: dict[str, Any] = {}
    for way in WAYS:
        paths.setdefault(way.path, {})[way.method.lower()] = _described(way)
    key = {"key": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "safecheck", "version": version(), "description": "Plans and robots, checked for safety."},
        "paths": paths,
        "components": {
            "schemas": {name: answer_schema(name) for name in names},
            **({"securitySchemes": key} if locked else {}),
        },
        **({"security": [{"key": []}]} if locked else {}),
    }


def _described(way: Way) -> dict[str, Any]:
    given = dict(way.fixed)
    left = tuple([field for field in way.operation.fields if field.name not in given])
    in_path = [field for field in left if f"{{{field.name}}}" in way.path]
    others = tuple([field for field in left if field not in in_path])
    parameters = [{"name": f.name, "in": "path", "required": True, "schema": f.schema()} for f in in_path]
    out: dict[str, Any] = {
        "operationId": "_".join([way.operation.name, *[value for _, value in way.fixed]]),
        "summary": way.operation.about,
        "responses": {
            "200": _content("what was asked for", way.operation.answer),
            **{str(status): _content(why, "error") for status, why in _REFUSALS.items()},
        },
    }
    if way.method == "GET":
        parameters += [{"name": f.name, "in": "query", "required": False, "schema": f.schema()} for f in others]
    elif way.method == "POST":
        out["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema(others)}}}
    return {**out, **({"parameters": parameters} if parameters else {})}


def _content(about: str, name: str) -> dict[str, Any]:
    where = {"$ref": f"#/components/schemas/{name}"}
    return {"description": about, "content": {"application/json": {"schema": where}}}
