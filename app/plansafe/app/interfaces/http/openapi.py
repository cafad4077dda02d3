"""Build the OpenAPI document of the service from its routes, for client generators.

The schemas of commands have local definitions (``$defs``), which generators do not find inside a component. Each
definition becomes a component, and equal definitions share one component.

The routes of the HTTP service: a method and a path for each operation.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import Any, NamedTuple

from plansafe.app.interfaces.agents import operation_fields
from plansafe.app.interfaces.agents.answer_schemas import answer_schema
from plansafe.app.interfaces.agents.operation_fields import Operation
from plansafe.app.interfaces.agents.request_fields import schema
from plansafe.app.system.version import version

_LOCAL_PREFIX = "#/$defs/"
_COMPONENTS = "#/components/schemas/"
_SENTENCE = re.compile(r"(?<=[.?:]) ")
_FILE_KEYS = ("$schema", "$id", "$defs")
_REFUSALS = {
    400: "the request is malformed",
    401: "the API key is missing or wrong",
    404: "the name or path does not exist",
    405: "the path does not support this method",
    408: "the body did not arrive in time",
    409: "the session is at another position",
    410: "the session has ended",
    413: "the body is too large",
    415: "the body is not JSON",
    422: "the task is not usable",
    500: "a bug, or a worker process ended",
    503: "a limit of the service is reached; try again later",
    504: "the time limit was reached",
    507: "the memory limit was reached",
}
_TAGS = {
    "plans": "Audit, repair and diagnose plans, and write rules.",
    "shipped": "The shipped rules, domains and worlds, and explanations of codes.",
    "sessions": "Monitor a robot: one session for each robot.",
    "service": "The service itself.",
}
_HEALTH = {"type": "object", "properties": {"ok": {"const": True}}, "required": ["ok"], "additionalProperties": False}


def document(locked: bool) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document, whose schemas are JSON Schema 2020-12."""
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation_object(route, locked)
    paths["/health"] = {
        "get": {
            "operationId": "health",
            "summary": "Check whether the service is running",
            "tags": ["service"],
            "security": [],
            "responses": {"200": _content("the service is running", "health")},
        }
    }
    keys = {
        "key": {"type": "http", "scheme": "bearer"},
        "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    names = sorted({route.operation.answer for route in ROUTES} | {"error"})
    schemas = components({name: answer_schema(name) for name in names})
    return {
        "openapi": "3.1.0",
        "info": {"title": "safecheck", "version": version(), "description": "Safety checks for plans and robots."},
        "tags": [{"name": name, "description": about} for name, about in _TAGS.items()],
        "paths": paths,
        "components": {"schemas": {**schemas, "health": _HEALTH}, **({"securitySchemes": keys} if locked else {})},
        **({"security": [{"key": []}, {"header": []}]} if locked else {}),
    }


def components(schemas: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the schemas and their definitions as components. Ambiguous definition names get a prefix."""
    meanings: dict[str, set[str]] = defaultdict(set)
    for name, root_schema in schemas.items():
        meanings[name].add(f"the schema {name}")
        for inner in root_schema.get("$defs", {}):
            meanings[inner].add(_closure_text(inner, root_schema["$defs"]))
    out: dict[str, Any] = {}
    for name, root_schema in schemas.items():
        definitions = root_schema.get("$defs", {})
        component_names = {inner: inner if len(meanings[inner]) == 1 else f"{name}_{inner}" for inner in definitions}
        out[name] = _with_component_references(
            {key: value for key, value in root_schema.items() if key not in _FILE_KEYS}, component_names
        )
        out.update(
            {
                component_names[inner]: _with_component_references(value, component_names)
                for inner, value in definitions.items()
            }
        )
    return dict(sorted(out.items()))


def _closure_text(name: str, definitions: dict[str, Any]) -> str:
    """Return a definition and all definitions that it refers to, as one text."""
    closure: dict[str, Any] = {}
    queue = [name]
    while queue:
        definition = queue.pop()
        if definition not in closure:
            closure[definition] = definitions[definition]
            text = json.dumps(definitions[definition])
            queue += [reference for reference in definitions if f'"{_LOCAL_PREFIX}{reference}"' in text]
    return json.dumps(closure, sort_keys=True)


def _with_component_references(value: Any, names: dict[str, str]) -> Any:
    """Return a schema with references to components instead of local definitions."""
    if isinstance(value, list):
        return [_with_component_references(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str) and reference.startswith(_LOCAL_PREFIX):
        value = {**value, "$ref": _COMPONENTS + names[reference.removeprefix(_LOCAL_PREFIX)]}
    return {key: _with_component_references(item, names) for key, item in value.items()}


def _operation_object(route: ServiceRoute, locked: bool) -> dict[str, Any]:
    fixed = dict(route.fixed)
    free_fields = tuple([field for field in route.operation.fields if field.name not in fixed])
    in_path = [field for field in free_fields if f"{{{field.name}}}" in route.path]
    other_fields = tuple([field for field in free_fields if field not in in_path])
    parameters = [{"name": f.name, "in": "path", "required": True, "schema": f.schema()} for f in in_path]
    refusals = {status: why for status, why in _REFUSALS.items() if locked or status != 401}
    first = _SENTENCE.split(route.operation.about, maxsplit=1)[0]
    out: dict[str, Any] = {
        "operationId": "_".join([route.operation.name, *[value for _, value in route.fixed]]),
        "summary": first.rstrip(".:"),
        "description": route.operation.about,
        "tags": [_tag(route)],
        "responses": {
            "200": _content("the result", route.operation.answer),
            **{str(status): _content(why, "error") for status, why in refusals.items()},
        },
    }
    if route.method == "GET":
        parameters += [{"name": f.name, "in": "query", "required": False, "schema": f.schema()} for f in other_fields]
    elif route.method == "POST":
        out["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema(other_fields)}}}
    return {**out, **({"parameters": parameters} if parameters else {})}


def _tag(route: ServiceRoute) -> str:
    if route.path.startswith(f"{V1}/sessions"):
        return "sessions"
    return "plans" if route.method == "POST" else "shipped"


def _content(about: str, name: str) -> dict[str, Any]:
    where = {"$ref": f"{_COMPONENTS}{name}"}
    return {"description": about, "content": {"application/json": {"schema": where}}}


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
