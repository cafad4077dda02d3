"""The OpenAPI document of the service, made of the table of its ways: what a generator of clients reads.

Schemas of commands have definitions of their own (``$defs``), which generators do not find inside a component: here
each is a component, shared where two schemas say the same.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import Any

from plansafe.app.interfaces.agents.answer_schemas import answer_schema
from plansafe.app.interfaces.agents.request_fields import schema
from plansafe.app.interfaces.http.routes import V1, WAYS, Way
from plansafe.app.system.version import version

_INSIDE = "#/$defs/"
_COMPONENTS = "#/components/schemas/"
_SENTENCE = re.compile(r"(?<=[.?:]) ")
_OF_A_FILE = ("$schema", "$id", "$defs")
_REFUSALS = {
    400: "the request is not understood",
    401: "no key, or a wrong one",
    404: "nothing of that name is there",
    405: "the path does not take this method",
    408: "the body came too slowly",
    409: "the session stands at another position",
    410: "the session has ended",
    413: "the body is too large",
    415: "the body is no JSON",
    422: "a task that cannot be worked with",
    500: "a bug, or a process that ended",
    503: "a limit of the service; ask again later",
    504: "the limit of time was reached",
    507: "the limit of memory was reached",
}
_HEALTH = {"type": "object", "properties": {"ok": {"const": True}}, "required": ["ok"], "additionalProperties": False}


def document(locked: bool) -> dict[str, Any]:
    """The OpenAPI document (3.1, whose schemas are JSON Schema 2020-12)."""
    paths: dict[str, Any] = {}
    for way in WAYS:
        paths.setdefault(way.path, {})[way.method.lower()] = _described(way, locked)
    paths["/health"] = {
        "get": {
            "operationId": "health",
            "summary": "Whether it runs",
            "tags": ["service"],
            "security": [],
            "responses": {"200": _content("it runs", "health")},
        }
    }
    keys = {
        "key": {"type": "http", "scheme": "bearer"},
        "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    names = sorted({way.operation.answer for way in WAYS} | {"error"})
    schemas = components({name: answer_schema(name) for name in names})
    return {
        "openapi": "3.1.0",
        "info": {"title": "safecheck", "version": version(), "description": "Plans and robots, checked for safety."},
        "paths": paths,
        "components": {
            "schemas": {**schemas, "health": _HEALTH},
            **({"securitySchemes": keys} if locked else {}),
        },
        **({"security": [{"key": []}, {"header": []}]} if locked else {}),
    }


def components(schemas: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Schemas with their definitions beside them. A name of two things has that of its schema before it."""
    meanings: dict[str, set[str]] = defaultdict(set)
    for name, found in schemas.items():
        meanings[name].add(f"the schema {name}")
        for inner in found.get("$defs", {}):
            meanings[inner].add(_whole(inner, found["$defs"]))
    out: dict[str, Any] = {}
    for name, found in schemas.items():
        inside = found.get("$defs", {})
        own = {inner: inner if len(meanings[inner]) == 1 else f"{name}_{inner}" for inner in inside}
        out[name] = _moved({key: value for key, value in found.items() if key not in _OF_A_FILE}, own)
        out.update({own[inner]: _moved(value, own) for inner, value in inside.items()})
    return dict(sorted(out.items()))


def _whole(name: str, inside: dict[str, Any]) -> str:
    """A definition with all that it refers to, as one text."""
    found: dict[str, Any] = {}
    left = [name]
    while left:
        one = left.pop()
        if one not in found:
            found[one] = inside[one]
            left += [other for other in inside if f'"{_INSIDE}{other}"' in json.dumps(inside[one])]
    return json.dumps(found, sort_keys=True)


def _moved(value: Any, names: dict[str, str]) -> Any:
    """A schema whose references lead to components."""
    if isinstance(value, list):
        return [_moved(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str) and reference.startswith(_INSIDE):
        value = {**value, "$ref": _COMPONENTS + names[reference.removeprefix(_INSIDE)]}
    return {key: _moved(item, names) for key, item in value.items()}


def _described(way: Way, locked: bool) -> dict[str, Any]:
    given = dict(way.fixed)
    left = tuple([field for field in way.operation.fields if field.name not in given])
    in_path = [field for field in left if f"{{{field.name}}}" in way.path]
    others = tuple([field for field in left if field not in in_path])
    parameters = [{"name": f.name, "in": "path", "required": True, "schema": f.schema()} for f in in_path]
    refusals = {status: why for status, why in _REFUSALS.items() if locked or status != 401}
    first = _SENTENCE.split(way.operation.about, maxsplit=1)[0]
    out: dict[str, Any] = {
        "operationId": "_".join([way.operation.name, *[value for _, value in way.fixed]]),
        "summary": first.rstrip(".:"),
        "description": way.operation.about,
        "tags": [_tag(way)],
        "responses": {
            "200": _content("what was asked for", way.operation.answer),
            **{str(status): _content(why, "error") for status, why in refusals.items()},
        },
    }
    if way.method == "GET":
        parameters += [{"name": f.name, "in": "query", "required": False, "schema": f.schema()} for f in others]
    elif way.method == "POST":
        out["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema(others)}}}
    return {**out, **({"parameters": parameters} if parameters else {})}


def _tag(way: Way) -> str:
    if way.path.startswith(f"{V1}/sessions"):
        return "sessions"
    return "plans" if way.method == "POST" else "shipped"


def _content(about: str, name: str) -> dict[str, Any]:
    where = {"$ref": f"{_COMPONENTS}{name}"}
    return {"description": about, "content": {"application/json": {"schema": where}}}
