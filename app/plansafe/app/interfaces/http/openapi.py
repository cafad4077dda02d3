"""Build the OpenAPI document of the service from its routes, for client generators.

The schemas of commands have local definitions (``$defs``), which generators do not find inside a component. Each
definition becomes a component, and equal definitions share one component.

The routes of the HTTP service: a method and a path for each operation.

The page ``/docs``: the OpenAPI document as HTML, without scripts and without requests to other machines.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from typing import Any, NamedTuple

from plansafe.app.interfaces.agents import operation_fields
from plansafe.app.interfaces.agents.operation_fields import Operation, answer_schema
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


_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --text: #111; --page: #fff; --link: #0b57c2; }
@media (prefers-color-scheme: dark) { :root { --text: #eee; --page: #121212; --link: #8ab4f8; } }
html { background: var(--page); color: var(--text); }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { margin-bottom: 0; }
h2 { margin: 2rem 0 .25rem; }
a { color: var(--link); }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .75rem; overflow-x: auto; border-radius: 4px; }
details { border: 1px solid var(--line); border-radius: 4px; margin: .5rem 0; }
summary { cursor: pointer; padding: .5rem .75rem; }
summary b { display: inline-block; min-width: 4rem; }
details > div { padding: 0 .75rem .75rem; border-top: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .5rem .25rem 0; border-bottom: 1px solid var(--line); }
td:first-child { min-width: 9.5rem; }
@media (max-width: 40rem) { table, tbody, tr, td { display: block; } th { display: none; } td { border: 0; padding: 0; }
  tr { border-bottom: 1px solid var(--line); padding: .4rem 0; display: block; } }
"""
POLICY = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy of the page: only its own style."""


def page(document: Mapping[str, Any]) -> str:
    """Render an OpenAPI document of :func:`plansafe.app.interfaces.http.openapi.document`."""
    info = document["info"]
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{escape(info['title'])} HTTP API</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n",
            f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>\n<p>{escape(info['description'])} ",
            'For client generators: <a href="openapi.json">openapi.json</a>.</p>\n',
            *_access(document),
            *[part for tag in document["tags"] for part in _group_section(tag, document)],
            "<h2>Schemas</h2>\n",
            *[_schema(name, schema) for name, schema in document["components"]["schemas"].items()],
            "</main>\n</body>\n</html>\n",
        ]
    )


def _access(document: Mapping[str, Any]) -> Iterator[str]:
    if "security" in document:
        yield (
            "<p>Requests need the API key: <code>Authorization: Bearer KEY</code> or <code>X-API-Key: KEY</code>.</p>\n"
        )


def _group_section(tag: Mapping[str, str], document: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h2>{escape(tag['name'].capitalize())}</h2>\n<p>{escape(tag['description'])}</p>\n"
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if tag["name"] in operation["tags"]:
                yield from _operation(method.upper(), path, operation)


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    summary = f"<b>{method}</b> <code>{escape(path)}</code> {escape(operation['summary'])}"
    about = escape(operation.get("description", operation["summary"]))
    yield f'<details id="{escape(operation["operationId"])}">\n<summary>{summary}</summary>\n<div>\n<p>{about}</p>\n'
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    rows = [_row(p["name"], p["schema"], p["required"], f" ({p['in']})") for p in operation.get("parameters", ())]
    required = body.get("required", ())
    rows += [_row(name, schema, name in required) for name, schema in body.get("properties", {}).items()]
    if rows:
        yield f"<table>\n<tr><th>Field</th><th>Type</th><th>Meaning</th></tr>\n{''.join(rows)}</table>\n"
    command = f"curl -X {method} http://127.0.0.1:8731{path}"
    if body:
        example = json.dumps(dict.fromkeys(required, "..."))
        command += f" -H 'Content-Type: application/json' -d '{example}'"
    yield f'<pre tabindex="0">{escape(command)}</pre>\n'
    yield "<table>\n<tr><th>Status</th><th>Meaning</th><th>Schema</th></tr>\n"
    for status, response in operation["responses"].items():
        name = response["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        link = f'<a href="#schema-{escape(name)}">{escape(name)}</a>'
        yield f"<tr><td>{escape(status)}</td><td>{escape(response['description'])}</td><td>{link}</td></tr>\n"
    yield "</table>\n</div>\n</details>\n"


def _row(name: str, schema: Mapping[str, Any], is_required: bool, place: str = "") -> str:
    kind = _type(schema)
    default = f"; default <code>{escape(json.dumps(schema['default']))}</code>" if "default" in schema else ""
    needed = "; required" if is_required else ""
    about = escape(schema.get("description", ""))
    return f"<tr><td><code>{escape(name)}</code>{place}</td><td>{kind}{needed}{default}</td><td>{about}</td></tr>\n"


def _type(schema: Mapping[str, Any]) -> str:
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if "enum" in schema:
        return " or ".join([f"<code>{escape(str(value))}</code>" for value in schema["enum"]])
    return escape(str(schema.get("type", "any")))


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    text = escape(json.dumps(schema, indent=2))
    return (
        f'<details id="schema-{escape(name)}">\n<summary><code>{escape(name)}</code></summary>\n'
        f'<div>\n<pre tabindex="0">{text}</pre>\n</div>\n</details>\n'
    )
